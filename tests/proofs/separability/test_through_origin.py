"""Planes through the origin: verdicts of an exact linear programme, margins of exact geometry."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import linsep
from linsep.data import toys
from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.mistake_bound import mistake_bound
from linsep.proofs.separability.certificate import Separability
from linsep.proofs.separability.linear_separability import separability
from linsep.proofs.verify.separability import check
from proofs.rational_lp import kind, whole_rows


def through_origin(X, y, **options):
    return separability(X, y, fit_intercept=False, **options)


def small_problem(rng):
    """Few whole numbers: zero rows, opposite rows, rows of one ray; half of them separable."""
    n, d = int(rng.integers(2, 10)), int(rng.integers(1, 5))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    n_classes = int(rng.choice([2, 2, 3, 4]))
    y = rng.integers(0, n_classes, n)
    if rng.random() < 0.5:
        y = (X @ rng.integers(-2, 3, (d, n_classes))).argmax(axis=1)
    if len(set(y.tolist())) < 2:
        y[0], y[-1] = 0, 1
    return X, y


def assert_right(X, y):
    found = through_origin(X, y)
    n_classes, d = len(np.unique(y)), X.shape[1]
    assert found.kind == kind(whole_rows(X, y, fit_intercept=False))
    assert found.verify(X, y)
    assert found.verify(sp.csr_array(X), y)
    assert not np.any(found.bias)
    if found.separable:
        assert found.margin <= found.margin_upper <= found.margin * (1 + 2e-6)
    else:
        assert len(found.rows) <= (n_classes - 1) * d + 1
        assert sum(found.multipliers) == 1
    return found


@pytest.mark.parametrize("seed", range(8))
def test_verdicts_are_those_of_an_exact_linear_programme_without_the_constant(seed):
    rng = np.random.default_rng(seed)
    kinds = {assert_right(*small_problem(rng)).kind for _ in range(60)}
    assert kinds == {"separable", "quasi-separable", "not separable"}


@given(
    st.lists(
        st.tuples(st.floats(-2, 2, width=16), st.floats(-2, 2, width=16)), min_size=2, max_size=8
    ),
    st.integers(1, 254),
)
def test_verdicts_on_arbitrary_points_of_the_plane_are_exact(points, labels):
    y = np.array([labels >> i & 1 for i in range(len(points))])
    if len(set(y.tolist())) < 2:
        y[0] = 1 - y[0]
    assert_right(np.array(points), y)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_feature_makes_up_for_the_intercept(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        X, y = small_problem(rng)
        with_constant = np.column_stack([X, np.ones(len(X))])
        free, through = separability(X, y), through_origin(with_constant, y)
        assert free.kind == through.kind
        assert through.verify(with_constant, y)
        if through_origin(X, y).separable:
            assert free.separable


def test_numbers_of_all_sizes_do_not_break_exactness():
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.choice([-300, -150, 0, 150, 300], d)
        X[rng.random((n, d)) < 0.3] = rng.choice([0.0, 5e-324, 1e308])
        y = rng.integers(0, 2, n)
        y[0], y[-1] = 0, 1
        found = through_origin(X, y)
        assert found.kind == kind(whole_rows(X, y, fit_intercept=False))
        assert found.verify(X, y)


def test_rows_that_only_a_plane_beside_the_origin_separates():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [1.0, 1.5]]), [0, 1, 1, 0]
    assert separability(X, y).separable
    found = assert_right(X, np.array(y))
    assert found.separable is False
    assert "every plane through the origin" in found.verdict
    assert "through the origin" not in separability(X, y).verdict


def test_a_zero_row_and_opposite_rows_of_one_class_are_proofs_by_themselves():
    zero = through_origin([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]], [0, 1, 0])
    assert zero.rows.tolist() == [0]
    assert "1 of the 3 rows in 2 dimensions rules every plane through the origin out" in str(zero)
    opposite = through_origin([[1.0, 2.0], [-2.0, -4.0], [0.0, 1.0]], [1, 1, 0])
    assert opposite.rows.tolist() == [0, 1]
    assert opposite.multipliers == (Fraction(2, 3), Fraction(1, 3))


def squared_distance_from_origin(a, b):
    """From the origin to the segment from a to b, in fractions."""
    direction = [v - u for u, v in zip(a, b, strict=True)]
    square = sum(c * c for c in direction)
    t = -sum(u * c for u, c in zip(a, direction, strict=True)) / square if square else 0
    t = min(max(t, 0), 1)
    return sum((u + t * c) ** 2 for u, c in zip(a, direction, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_the_bounds_enclose_the_distance_of_the_hull_of_signed_rows_from_the_origin(seed):
    rng = np.random.default_rng(seed)
    y = np.append([-1, 1], rng.choice([-1, 1], 8))
    X = rng.normal((4, 1), 1, (10, 2)) * y[:, None]
    found = through_origin(X, y)
    assert found.separable
    signed = [[Fraction(v) for v in row] for row in (X * y[:, None]).tolist()]
    square = min(squared_distance_from_origin(a, b) for a, b in combinations(signed, 2))
    assert Fraction(found.margin) ** 2 <= square <= Fraction(found.margin_upper) ** 2
    assert found.margin_upper <= found.margin * (1 + 1e-6)
    rough = through_origin(X, y, gap=np.inf)
    assert rough.verify(X, y)
    assert 0 < rough.margin <= found.margin_upper
    assert found.margin <= rough.margin_upper


def test_three_classes_are_ranked_by_weights_alone():
    X, y = toys.three_classes(n=60, spread=0.2)
    X = np.asarray(X) - np.mean(X, axis=0)
    found = through_origin(X, y)
    assert found.separable
    assert found.bias.tolist() == [0.0, 0.0, 0.0]
    assert (found.classes[(X @ found.weights.T).argmax(axis=1)] == y).all()
    assert "3 planes through the origin have all 60 rows" in found.verdict


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_larger_problems_get_both_verdicts_in_every_layout(layout):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 20))
    scores = X @ rng.standard_normal(20)
    y = scores > 0
    found = through_origin(layout(X), y)
    assert found.separable
    assert found.verify(X, y)
    assert not np.any(found.bias)
    y[:300] = ~y[:300]
    found = through_origin(layout(X), y)
    assert found.separable is False
    assert len(found.rows) <= 21
    assert found.verify(X, y)


def test_very_wide_sparse_rows_have_a_margin_through_the_origin():
    X = sp.random(60, 6000, 0.01, format="csr", random_state=0)
    y = np.random.default_rng(0).integers(0, 2, 60)
    found = through_origin(X, y, gap=1e-3)
    assert found.separable
    assert found.verify(X, y)
    assert found.margin_upper <= found.margin * (1 + 2e-3)


def test_rows_from_a_file_are_proved_like_arrays(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,kind\n1,2,u\n2,1,v\n3,1,v\n1,5,u\n")
    X, y = linsep.read(path, target="kind").load()
    found = through_origin(X, y)
    assert found.separable
    assert found.verify([[1, 2], [2, 1], [3, 1], [1, 5]], ["u", "v", "v", "u"])


SEPARABLE = (np.array([[3.0, 1.0], [2.0, 3.0], [-1.0, -4.0], [-2.0, 1.0]]), np.array([1, 1, 0, 0]))
IMPOSSIBLE = (np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0], [1.0, 0.5]]), np.array([0, 1, 1, 0]))
TOUCHING = (np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0]]), np.array([0, 1, 1]))


@pytest.mark.parametrize("data", [SEPARABLE, IMPOSSIBLE, TOUCHING])
def test_the_certificate_says_which_planes_it_is_about_also_in_its_file(data):
    found = through_origin(*data)
    again = Separability.from_json(found.to_json())
    assert again.fit_intercept is False
    assert again.verify(*data)
    assert again.to_json() == found.to_json()
    with pytest.raises(DataError):
        Separability.from_json(found.to_json().replace('t": false', 't": null', 1))


def test_a_file_from_before_the_question_is_about_all_planes():
    from linsep.proofs.separability.certificate import _digest

    body = json.loads(separability(*SEPARABLE).to_json())
    del body["fit_intercept"], body["digest"]
    found = Separability.from_json(json.dumps({**body, "digest": _digest(body)}))
    assert found.fit_intercept is True
    assert found.verify(*SEPARABLE)


def test_a_bias_in_a_proof_about_the_origin_is_refused():
    found = through_origin(*SEPARABLE)
    assert "has a bias" in check(replace(found, bias=1e-300), *SEPARABLE)
    free = separability(*SEPARABLE)
    assert free.bias != 0
    assert "has a bias" in check(replace(free, fit_intercept=False), *SEPARABLE)
    part = (Fraction(1), Fraction(1), Fraction(1, 7))
    assert "has a bias" in check(replace(found, plane=(part,)), *SEPARABLE)


def test_multipliers_that_exclude_the_origin_do_not_exclude_all_planes():
    found = through_origin(*IMPOSSIBLE)
    assert found.separable is False
    assert separability(*IMPOSSIBLE).separable
    assert "do not balance" in check(replace(found, fit_intercept=True), *IMPOSSIBLE)
    wide = through_origin(*SEPARABLE)
    claim = replace(wide, fit_intercept=True)
    assert "margin_upper: the multipliers of the classes" in check(claim, *SEPARABLE)


def test_multipliers_and_weights_that_are_altered_are_refused():
    found = through_origin(*IMPOSSIBLE)
    first, *between, last = found.multipliers
    other = (first + Fraction(1, 10**30), *between, last - Fraction(1, 10**30))
    assert "annihilate" in check(replace(found, multipliers=other), *IMPOSSIBLE)
    found = through_origin(*SEPARABLE)
    assert "margin" in check(replace(found, margin=found.margin * 1.0000001), *SEPARABLE)
    assert "not on its side" in check(replace(found, weights=-found.weights), *SEPARABLE)


@pytest.mark.parametrize("seed", range(5))
def test_a_perceptron_without_intercept_stays_within_its_bound_with_several_classes(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 3))
    scores = X @ rng.standard_normal((3, 3))
    ordered = np.sort(scores, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 0.5
    X, y = X[clear], scores[clear].argmax(axis=1)
    bound = mistake_bound(X, y, fit_intercept=False)
    learner = linsep.Perceptron(fit_intercept=False, random_state=seed).fit(X, y)
    assert learner.score(X, y) == 1
    assert 0 < learner.mistakes_ <= bound.bound < np.inf
    assert not np.any(bound.bias)


def test_no_bound_where_no_plane_through_the_origin_separates():
    for X, y in (IMPOSSIBLE, (np.array([[1.0], [2.0], [3.0]]), [0, 1, 2])):
        assert mistake_bound(X, y, fit_intercept=False).bound == np.inf
    assert mistake_bound(*IMPOSSIBLE).bound < np.inf


def test_a_bound_takes_no_proof_about_other_planes():
    with pytest.raises(ParameterError, match="fit_intercept=True, and fit_intercept is False"):
        mistake_bound(*SEPARABLE, separability(*SEPARABLE), fit_intercept=False)
    proof = through_origin(*SEPARABLE)
    known = mistake_bound(*SEPARABLE, proof, fit_intercept=False)
    assert known.bound == mistake_bound(*SEPARABLE, fit_intercept=False).bound
