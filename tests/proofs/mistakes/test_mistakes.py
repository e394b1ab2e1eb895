"""The fewest mistakes are those of brute force, and nothing is claimed that is not so."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.data import toys
from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.fewest import fewest_mistakes
from linsep.proofs.mistakes.hitting_set import packing, propose, prove_none_below
from linsep.proofs.mistakes.local_search import few_mistakes
from proofs.partings import SETS, all_partings
from proofs.rational_lp import kind


def mistaken_rows(X, y, weights, bias):
    """Rows with y(⟨w, x⟩ + b) ≤ 0, in rationals."""
    w, b = [Fraction(v) for v in weights.tolist()], Fraction(bias)
    return [
        i
        for i, (x, sign) in enumerate(zip(np.asarray(X).tolist(), y, strict=True))
        if int(sign) * (sum(a * Fraction(v) for a, v in zip(w, x, strict=True)) + b) <= 0
    ]


@pytest.mark.parametrize("name", ["square", "square and centre", "grid", "flat in space"])
def test_every_labelling_of_a_small_set_agrees_with_brute_force(name):
    X = np.array(SETS[name], float)
    partings = all_partings(X)
    for labels in itertools.product([-1, 1], repeat=len(X)):
        if len(set(labels)) < 2:
            continue
        y = np.array(labels)
        found = fewest_mistakes(X, y)
        assert found.mistakes == found.lower_bound == (partings != y).sum(axis=1).min()
        assert found.rows.tolist() == mistaken_rows(X, y, found.weights, found.bias)


@pytest.mark.parametrize("seed", range(4))
def test_four_dimensions_agree_with_brute_force_too(seed):
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 3, (9, 4)), axis=0).astype(float)
    partings = all_partings(X)
    y = rng.choice([-1, 1], len(X))
    y[:2] = 1, -1
    found = fewest_mistakes(X, y, time_limit=20)
    assert found.optimal
    assert found.mistakes == (partings != y).sum(axis=1).min()
    assert found.rows.tolist() == mistaken_rows(X, y, found.weights, found.bias)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=2, max_size=8)
)
def test_duplicates_with_either_label_are_counted_row_by_row(rows):
    X, y = np.array([r[:2] for r in rows], float), np.array([1 if r[2] else -1 for r in rows])
    if len(set(y)) < 2:
        return
    points = np.unique(X, axis=0)
    which = np.array([np.flatnonzero((points == x).all(axis=1))[0] for x in X])
    partings = all_partings(points)[:, which]
    found = fewest_mistakes(X, y)
    assert found.mistakes == found.lower_bound == (partings != y).sum(axis=1).min()
    assert found.rows.tolist() == mistaken_rows(X, y, found.weights, found.bias)


def test_the_same_point_with_both_labels_costs_the_rarer_one():
    X, y = np.zeros((7, 2)), np.array([1, 1, 1, 1, -1, -1, -1])
    found = fewest_mistakes(X, y)
    assert (found.mistakes, found.lower_bound, found.optimal) == (3, 3, True)
    assert found.rows.tolist() == [4, 5, 6]


def test_separable_rows_need_no_mistake():
    X, y, _ = toys.separated(n=60, d=6, margin=0.1)
    found = fewest_mistakes(X, y)
    assert (found.mistakes, found.optimal, len(found.rows)) == (0, True, 0)
    assert "separate" in found.verdict


def test_planted_mistakes_in_six_dimensions_are_found_and_proved():
    X, y, _ = toys.separated(n=80, d=6, margin=0.5, seed=3)
    y = y.copy()
    y[[5, 17, 41]] *= -1
    found = fewest_mistakes(X, y, time_limit=30)
    assert found.mistakes <= 3
    assert found.optimal
    assert found.rows.tolist() == mistaken_rows(X, y, found.weights, found.bias)


def test_sparse_rows_and_other_labels_give_the_same_count():
    X, y = toys.overlapping(n=40, d=2, distance=1.0)
    plain = fewest_mistakes(X, y)
    other = fewest_mistakes(sp.csr_array(X), np.where(y > 0, "yes", "no"))
    assert plain.mistakes == other.mistakes
    assert plain.optimal
    assert other.optimal


def test_a_short_time_still_gives_honest_bounds():
    X, y = toys.overlapping(n=400, d=8, distance=1.0)
    found = fewest_mistakes(X, y, time_limit=0.5)
    assert 0 <= found.lower_bound <= found.mistakes
    assert found.mistakes == len(found.rows)
    assert found.rows.tolist() == mistaken_rows(X, y, found.weights, found.bias)
    assert found.optimal == (found.lower_bound == found.mistakes)


def test_many_rows_get_a_bound_from_disjoint_witnesses():
    X, y = toys.overlapping(n=3000, d=5, distance=1.0)
    X = X.round(1)
    found = fewest_mistakes(X, y, time_limit=3)
    assert 10 < found.lower_bound <= found.mistakes < 1000


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_magnitudes_leave_the_count_unchanged(scale):
    X, y = np.array(SETS["grid"], float), np.array([1, -1, 1, -1, 1, -1])
    assert fewest_mistakes(X * scale, y).lower_bound == fewest_mistakes(X, y).mistakes == 2


def test_three_classes_and_impossible_times_are_refused():
    with pytest.raises(DataError, match="3 classes"):
        fewest_mistakes(*toys.three_classes())
    with pytest.raises(ParameterError, match="time_limit"):
        fewest_mistakes(*toys.xor(), time_limit=0)


@st.composite
def covers(draw):
    n = draw(st.integers(2, 7))
    items = st.integers(0, n - 1)
    sets = draw(st.lists(st.frozensets(items, min_size=1, max_size=3), min_size=1, max_size=8))
    return sets, np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))


@settings(max_examples=60, deadline=None)
@given(covers())
def test_bounds_on_hitting_sets_agree_with_brute_force(problem):
    witnesses, cost = problem
    best = min(
        int(cost[list(chosen)].sum())
        for size in range(len(cost) + 1)
        for chosen in itertools.combinations(range(len(cost)), size)
        if all(w & set(chosen) for w in witnesses)
    )
    assert sum(packing(witnesses, cost)) <= best
    assert prove_none_below(witnesses, cost, best, lambda: False)
    assert not prove_none_below(witnesses, cost, best + 1, lambda: False)
    chosen = propose(witnesses, cost, 5.0)
    assert all(w & chosen for w in witnesses)
    assert int(cost[sorted(chosen)].sum()) == best


@pytest.mark.parametrize("seed", range(3))
def test_the_search_for_few_mistakes_counts_what_it_returns(seed):
    X, y = toys.overlapping(n=200, d=4, distance=2.0, seed=seed)
    w, b, cost = few_mistakes(X, y, np.ones(200), lambda: False, rounds=5, kicks=1)
    assert cost == np.sum(y * (X @ w + b) <= 0)
    assert cost <= np.sum(y * X[:, 0] <= 0)


def fewest_by_brute_force(X, y):
    """The fewest rows to leave out before a plane through the origin separates the rest."""
    Z = (X * y[:, None]).astype(int).tolist()
    for size in range(len(Z) + 1):
        for out in itertools.combinations(range(len(Z)), size):
            rest = [z for i, z in enumerate(Z) if i not in out]
            if not rest or kind(rest) == "separable":
                return size
    raise AssertionError("no rows are always separable")


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_through_the_origin_the_count_is_that_of_brute_force(seed, layout):
    """Zero rows, opposite rows, rows of one ray; one to five columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 8)), 1 + seed % 5
    X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.choice([-1, 1], n)
    y[:2] = 1, -1
    wanted = fewest_by_brute_force(X, y)
    scale = float(rng.choice([1.0, 0.1, 1e-300, 1e150]))
    found = fewest_mistakes(layout(X * scale), y, fit_intercept=False)
    assert found.mistakes == found.lower_bound == wanted
    assert found.bias == 0
    assert found.rows.tolist() == mistaken_rows(X * scale, y, found.weights, 0.0)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_constant_column_makes_up_for_the_intercept(d):
    X, y = toys.overlapping(n=40, d=d, distance=2.0, seed=d)
    X = X.round(1)
    free = fewest_mistakes(X, y)
    through = fewest_mistakes(np.column_stack([X, np.ones(40)]), y, fit_intercept=False)
    assert free.optimal
    assert through.optimal
    assert through.mistakes == free.mistakes


def test_rows_on_which_planes_differ_by_their_intercept():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0]]), [0, 1, 1]
    assert fewest_mistakes(X, y).mistakes == 0
    found = fewest_mistakes(X, y, fit_intercept=False)
    assert (found.mistakes, found.optimal, found.fit_intercept) == (1, True, False)
    assert "no separator through the origin makes fewer" in found.verdict
    zeros = fewest_mistakes(np.zeros((3, 2)), y, fit_intercept=False)
    assert (zeros.mistakes, zeros.lower_bound) == (3, 3)


def test_planted_mistakes_through_the_origin_in_six_dimensions_are_proved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    w = rng.standard_normal(6)
    y = np.sign(X @ w).astype(int)
    X += 0.1 * y[:, None] * w
    y[[5, 17, 41]] *= -1
    found = fewest_mistakes(X, y, time_limit=30, fit_intercept=False)
    assert found.optimal
    assert found.mistakes <= 3
    assert found.rows.tolist() == mistaken_rows(X, y, found.weights, 0.0)
