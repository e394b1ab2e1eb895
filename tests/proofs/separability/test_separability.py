"""Verdicts against an exact linear programme, margins against exact geometry, and hard inputs."""

import gzip
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
from linsep.proofs.separability.linear_separability import separability
from proofs.rational_lp import kind, whole_rows


def small_problem(rng):
    """Points of a coarse grid: ties, duplicates, collinear points, zeros, n < d, 2-4 classes."""
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 6))
    X = rng.integers(-int(rng.integers(1, 4)), 3, (n, d)).astype(float)
    kind_of_data = rng.integers(5)
    if kind_of_data == 0:
        X[:, rng.integers(d)] = 0
    elif kind_of_data == 1:
        X[:, rng.integers(d)] = X[:, 0]
    elif kind_of_data == 2:
        X = np.outer(X[:, 0], rng.integers(-2, 3, d)) + X[0]
    elif kind_of_data == 3:
        X = X * 0.1 + rng.integers(0, 2, d)
    y = rng.integers(0, 2 if rng.random() < 0.75 else 4, n)
    if len(set(y.tolist())) < 2:
        y[0], y[-1] = 0, 1
    return X, y


def assert_right(X, y):
    found = separability(X, y)
    assert found.kind == kind(whole_rows(X, y))
    assert found.verify(X, y)
    n_classes, d = len(np.unique(y)), X.shape[1]
    if found.separable:
        assert found.margin <= found.margin_upper <= found.margin * (1 + 2e-6)
    else:
        assert found.quasi_separable is not None
        assert len(found.rows) <= (n_classes - 1) * (d + 1) + 1
        assert sum(found.multipliers) == 1
    return found


@pytest.mark.parametrize("seed", range(10))
def test_verdicts_on_small_problems_are_those_of_an_exact_linear_programme(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        assert_right(*small_problem(rng))


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


@given(st.lists(st.tuples(st.floats(-1e300, 1e300), st.booleans()), min_size=2, max_size=6))
def test_numbers_on_a_line_are_separable_when_the_classes_do_not_overlap(numbers):
    X = np.array([[x] for x, _ in numbers])
    y = np.array([label for _, label in numbers])
    if y.all() or not y.any():
        y[0] = not y[0]
    low, high = X[~y], X[y]
    separable = low.max() < high.min() or high.max() < low.min()
    found = separability(X, y)
    assert found.separable == separable
    assert found.verify(X, y)


def wild_points(rng):
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    sort = int(rng.integers(5))
    if sort == 0:
        X = rng.choice([0, 5e-324, 1e-323, -5e-324, 1e-320], (n, d))
    elif sort == 1:
        X = rng.choice([0, 1e300, -1e300, 1e-300, 1.0, 1e308, -1.7e308], (n, d))
    elif sort == 2:
        X = rng.standard_normal((n, d)) * 10.0 ** rng.choice([-300, -150, 0, 150, 300], d)
    elif sort == 3:
        X = 1e15 + rng.integers(0, 3, (n, d))
    else:
        X = 1.0 + rng.integers(0, 3, (n, d)) * 2.0**-52
    y = rng.integers(0, 2 if rng.random() < 0.8 else 3, n)
    y[0], y[-1] = 0, 1
    return X, y


@pytest.mark.parametrize("seed", range(4))
def test_huge_tiny_and_nearly_equal_numbers_do_not_break_exactness(seed):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        X, y = wild_points(rng)
        found = separability(X, y)
        assert found.kind == kind(whole_rows(X, y))
        assert found.verify(X, y)


def test_where_floats_cannot_express_a_separator_fractions_do():
    X = np.array([[1.0, 1.0], [1.0 + 2.0**-52, 1.0], [1.0, 1.0 + 2.0**-52]])
    y = np.array([0, 1, 1])
    found = separability(X * 3, y)
    assert found.separable
    assert found.verify(X * 3, y)


def squared_distance(p, a, b):
    """From the point p to the segment from a to b, in fractions."""
    direction = [v - u for u, v in zip(a, b, strict=True)]
    square = sum(c * c for c in direction)
    t = sum((u - v) * c for u, v, c in zip(p, a, direction, strict=True)) / square if square else 0
    t = min(max(t, 0), 1)
    return sum((u - v - t * c) ** 2 for u, v, c in zip(p, a, direction, strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_the_bounds_enclose_half_the_distance_of_the_convex_hulls(seed):
    """In the plane, hulls that do not meet are nearest at a point of one and an edge of another."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(0, 1, (5, 2)), rng.normal((5, 1), 1, (6, 2))])
    y = np.repeat([0, 1], [5, 6])
    found = separability(X, y)
    exact = [[Fraction(v) for v in row] for row in X.tolist()]
    groups = exact[:5], exact[5:]
    square = min(
        squared_distance(p, a, b)
        for one, other in (groups, groups[::-1])
        for p in one
        for a, b in [*combinations(other, 2), *((q, q) for q in other)]
    )
    assert found.separable
    assert Fraction(found.margin) ** 2 <= square / 4 <= Fraction(found.margin_upper) ** 2
    assert found.margin_upper <= found.margin * (1 + 1e-6)


def test_adding_points_never_makes_inseparable_data_separable():
    rng = np.random.default_rng(0)
    for _ in range(8):
        X = rng.integers(-2, 3, (14, 3)).astype(float)
        y = np.append([0, 1], rng.integers(0, 2, 12))
        verdicts = [separability(X[:n], y[:n]).separable for n in range(2, 15)]
        assert verdicts == sorted(verdicts, reverse=True)


def test_a_witness_of_part_of_the_rows_is_one_of_all_rows():
    X, y = toys.overlapping(n=300, seed=1)
    found = separability(X, y)
    assert found.separable is False
    part = found.rows
    again = separability(np.asarray(X)[part], np.asarray(y)[part])
    assert again.separable is False


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, sp.coo_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, np.uint8])
def test_layout_and_type_of_the_same_numbers_do_not_change_the_proof(layout, dtype):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (30, 3))
    for y in (X[:, 0] > 4, rng.integers(0, 2, 30)):
        found = separability(layout(X.astype(dtype)), y)
        plain = separability(X.astype(float), y)
        assert found.kind == plain.kind
        assert found.fingerprint == plain.fingerprint
        assert found.verify(X, y)


def test_more_columns_than_rows_are_separable_unless_rows_contradict_each_other():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 60))
    y = np.append([0, 1], rng.integers(0, 2, 18))
    assert separability(X, y).separable
    X[7] = X[3]
    y[7], y[3] = 0, 1
    found = separability(X, y)
    assert found.separable is False
    assert sorted(found.rows.tolist()) == [3, 7]
    assert found.verify(X, y)


def test_negative_zero_and_zero_are_the_same_row():
    found = separability([[0.0, 1.0], [-0.0, 1.0], [3.0, 3.0]], [0, 1, 1])
    assert sorted(found.rows.tolist()) == [0, 1]


def kesler(X, codes, n_classes):
    """Kesler's rows written out, with a row of the opposite sign for each: two classes."""
    rows = []
    for x, y in zip(X, codes, strict=True):
        for k in range(n_classes):
            if k != y:
                z = np.zeros((n_classes, len(x) + 1))
                z[y], z[k] = [*x, 1.0], [-v for v in [*x, 1.0]]
                rows.append(z.reshape(-1))
    Z = np.array(rows)
    return np.vstack([Z, -Z]), np.repeat([1, 0], len(Z))


@pytest.mark.parametrize("seed", range(15))
def test_many_classes_are_the_two_class_problem_of_keslers_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (9, 2)).astype(float)
    y = np.append([0, 1, 2], rng.integers(0, 3, 6))
    found, expanded = separability(X, y), separability(*kesler(X, y, 3))
    assert found.separable == expanded.separable
    if found.separable:
        # rows z and -z: the widest separator needs no bias; ‖z‖ counts √2, and the constants too
        assert found.margin >= 0.999 * expanded.margin / np.sqrt(2)


def test_a_pinwheel_is_separable_in_pairs_of_classes_but_not_all_together():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    arm = np.array([[-4.0, -4.0], [-3.0, 3.0]])
    X = np.vstack([arm @ np.linalg.matrix_power(turn, k).T for k in range(4)])
    y = np.repeat(range(4), 2)
    for a, b in combinations(range(4), 2):
        pair = (y == a) | (y == b)
        assert separability(X[pair], y[pair]).separable
    found = assert_right(X, y)
    assert found.separable is False
    assert set(found.rivals.tolist()) == {0, 1, 2, 3}
    assert f": {len(set(found.rows.tolist()))} of the 8 rows in 2 dimensions" in found.verdict


def test_a_row_that_meets_several_rivals_is_counted_once():
    X, y = np.zeros((3, 1)), np.array([0, 1, 2])
    found = replace(
        separability(X, y),
        rows=np.array([0, 0, 1, 2]),
        rivals=np.array([1, 2, 0, 0]),
        multipliers=(Fraction(1, 4),) * 4,
    )
    assert found.verify(X, y)
    assert "3 of the 3 rows" in found.verdict


def test_a_separator_of_many_classes_ranks_the_right_class_first():
    X, y = toys.three_classes(n=60, spread=0.2)
    found = separability(X, y)
    assert found.separable
    scores = np.asarray(X) @ found.weights.T + found.bias
    assert (found.classes[scores.argmax(axis=1)] == y).all()
    lead = np.sort(scores, axis=1)
    least = (lead[:, -1] - lead[:, -2]).min() / np.linalg.norm(found.weights) / np.sqrt(2)
    assert found.margin == pytest.approx(least, rel=1e-9)


def test_two_classes_and_the_same_through_kesler_have_one_margin():
    """w₁ = -w₀ = w/2 is the best machine of two planes: √2 ‖W‖ = ‖w‖."""
    X, y = toys.three_points()
    found = separability(X, y)
    W = np.array([-found.weights, found.weights]) / 2
    assert np.sqrt(2) * np.linalg.norm(W) == pytest.approx(np.linalg.norm(found.weights))


def test_no_time_means_undecided_with_bounds_and_never_a_wrong_proof():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30))
    y = rng.integers(0, 2, 400)
    found = separability(X, y, time_limit=0)
    assert found.separable is None
    assert found.kind == "undecided"
    assert found.margin == 0
    assert 0 < found.margin_upper < np.inf
    assert not found.verify(X, y)
    assert "Undecided" in found.verdict


def test_an_offset_far_larger_than_the_spread_does_not_hide_the_separator():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = X @ [1, -1, 2, 0] > 0.1
    near, far = separability(X, y), separability(X + 1e6, y)
    assert far.separable == near.separable
    assert far.margin == pytest.approx(near.margin, rel=1e-5)


def test_one_outlier_does_not_hide_the_witness():
    X, y = toys.overlapping(n=200, seed=2)
    X = np.asarray(X, float).copy()
    X[0] *= 1e12
    found = separability(X, y)
    assert found.separable is False
    assert found.verify(X, y)


def test_the_same_call_gives_the_same_certificate():
    X, y = toys.overlapping(n=150, seed=3)
    assert separability(X, y).to_json() == separability(X, y).to_json()


def test_the_lectures_examples():
    xor = separability(*toys.xor())
    assert xor.kind == "not separable"
    assert xor.multipliers == (Fraction(1, 4),) * 4
    X, y = toys.xor()
    product = np.column_stack([X, np.asarray(X)[:, 0] * np.asarray(X)[:, 1]])
    assert separability(product, y).separable  # Φ(u, v) = (u, v, uv)
    assert separability(*toys.two_groups()).separable


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "row 1, column 0"),
        ([[1.0], [2.0]], [0, 0], "one class"),
        ([[1.0], [2.0]], [0, 1, 1], "rows"),
        (np.array([[2**53 + 1], [0]]), [0, 1], "2\\*\\*53"),
    ],
)
def test_data_that_cannot_be_proved_about_are_refused(X, y, message):
    with pytest.raises(DataError, match=message):
        separability(X, y)


@pytest.mark.parametrize(
    "bad", [{"time_limit": -1}, {"time_limit": np.nan}, {"gap": 0}, {"gap": 1}, {"gap": np.nan}]
)
def test_parameters_that_make_no_sense_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        separability([[0.0], [1.0]], [0, 1], **bad)


def test_badly_scaled_columns_still_close_the_gap():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    found = separability(X, y)
    assert found.separable
    assert found.margin_upper <= found.margin * (1 + 1e-6)
    assert found.verify(X, y)


def test_a_larger_problem_is_excluded_by_few_of_its_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 60))
    y = (X[:, 0] + rng.standard_normal(3000) > 0).astype(int)
    found = separability(X, y)
    assert found.kind == "not separable"
    assert found.quasi_separable is False
    assert len(found.rows) <= 62
    assert found.verify(X, y)


def test_mnist_zeros_and_ones_are_separable(shared_data):
    folder = shared_data("mnist")
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as stream:
        X = np.frombuffer(stream.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as stream:
        y = np.frombuffer(stream.read(), np.uint8, offset=8)
    X, y = X[y < 2].astype(np.float32), y[y < 2]
    found = separability(X, y, gap=1e-6)
    assert found.separable
    assert found.margin == pytest.approx(108.252, abs=1e-3)
    assert found.margin_upper <= found.margin * (1 + 1e-6)
    assert found.verify(X, y)


def test_phishing_sites_contradict_each_other(shared_data):
    X, y = linsep.read(shared_data("phishing") / "phishing.gz").load()
    found = separability(X, y)
    assert found.kind == "quasi-separable"
    assert len(found.rows) == 2
    assert found.verify(X, y)


@pytest.mark.parametrize("seed", range(30))
def test_without_a_care_for_margins_the_verdict_is_the_same_and_proved(seed):
    X, y = small_problem(np.random.default_rng(seed))
    careful, careless = separability(X, y), separability(X, y, gap=np.inf)
    assert careless.kind == careful.kind
    assert careless.verify(X, y)
    if careful.separable:
        assert 0 < careless.margin <= careful.margin_upper
        assert careless.margin_upper is None or careless.margin_upper >= careful.margin


def test_many_rows_are_decided_from_few_and_proved_on_all():
    X, y, _ = toys.separated(n=20_000, d=6, margin=0.05, seed=1)
    found = separability(X, y, gap=np.inf)
    assert found.separable
    assert found.verify(X, y)
    flipped = y.copy()
    flipped[[5, 77, 1234]] *= -1
    assert separability(X, flipped, gap=np.inf).verify(X, flipped)
