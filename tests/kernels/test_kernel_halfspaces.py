"""Searches of the proofs in compiled code: the rules of plain Python, and exact arithmetic."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from linsep.kernels.turns import least_turns

from linsep.kernels import halfspaces, modular
from linsep.rows.rows import as_rows

LAYOUTS = [(kind, sparse) for kind in (np.float64, np.float32) for sparse in (False, True)]


def whole_rows(n, d, kind, sparse, seed=0):
    """Rows of whole numbers, so that every sum is exact in any order."""
    X = np.random.default_rng(seed).integers(-3, 4, (n, d)).astype(kind)
    return X, as_rows(sp.csr_array(X) if sparse else X)


@pytest.mark.parametrize(("kind", "sparse"), LAYOUTS)
def test_rosenblatts_rule_moves_weights_as_it_says(kind, sparse):
    X, rows = whole_rows(20, 5, kind, sparse)
    signs = np.where(np.arange(20) % 3, 1.0, -1.0)
    order = np.random.default_rng(1).permutation(20)
    w, touched = np.zeros(5), np.zeros(20, np.int64)
    b, mistakes = halfspaces.passes(rows, signs, order, w, 0.0, 2.0, touched, 0, 4)
    v, c, count, last = np.zeros(5), 0.0, 0, np.zeros(20, np.int64)
    for number in range(1, 5):
        count = 0
        for i in order:
            if signs[i] * (X[i] @ v + c) <= 0:
                v += signs[i] * X[i]
                c += 2.0 * signs[i]
                last[i] = number
                count += 1
        if count == 0:
            break
    assert (w.tolist(), b, mistakes) == (v.tolist(), c, count)
    assert touched.tolist() == last.tolist()


@pytest.mark.parametrize(("kind", "sparse"), LAYOUTS)
def test_keslers_rule_moves_the_own_class_and_the_best_rival(kind, sparse):
    X, rows = whole_rows(24, 5, kind, sparse)
    codes, order = (np.arange(24) % 3).astype(np.int32), np.arange(24)
    W = np.zeros((5, 4) if sparse else (3, 5))
    b, s, touched = np.zeros(3), np.zeros(4 if sparse else 3), np.zeros(72, np.int64)
    mistakes = halfspaces.kesler_passes(rows, codes, order, W, b, 2.0, s, touched, 0, 3)
    V, c, count = np.zeros((3, 5)), np.zeros(3), 0
    for _ in range(3):
        count = 0
        for i in order:
            scores = V @ X[i] + c
            y = codes[i]
            rival = max((k for k in range(3) if k != y), key=lambda k: (scores[k], -k))
            if scores[y] <= scores[rival]:
                V[y], V[rival] = V[y] + X[i], V[rival] - X[i]
                c[y], c[rival] = c[y] + 2.0, c[rival] - 2.0
                count += 1
    assert (W[:, :3].T if sparse else W).tolist() == V.tolist()
    assert b.tolist() == c.tolist() and mistakes == count


@pytest.mark.parametrize(("kind", "sparse"), LAYOUTS)
def test_hildreths_sweeps_end_at_the_widest_margin(kind, sparse):
    X = np.array([[3.0, 0.0], [1.0, 5.0], [-1.0, 2.0], [-4.0, 0.0]], kind)
    rows, signs = as_rows(sp.csr_array(X) if sparse else X), np.array([1.0, 1.0, -1.0, -1.0])
    squares = (X.astype(float) ** 2).sum(axis=1)
    alpha, w, order = np.zeros(4), np.zeros(2), np.arange(4)
    b = halfspaces.margin_sweeps(rows, signs, squares, order, 0.0, alpha, w, 0.0, 5000)
    assert b == 0.0 and (signs * (X @ w)).min() == pytest.approx(1.0)
    assert w @ w == pytest.approx(alpha.sum())  # no gap between the two problems
    codes = (signs < 0).astype(np.int32)
    alpha, W, v = np.zeros((4, 2)), np.zeros((2, 2)), np.zeros(2)
    for _ in range(5000):
        halfspaces.kesler_sweep(rows, codes, squares, order, 0.0, alpha, W, v, np.zeros(2))
    np.testing.assert_allclose(W[0], w / 2, atol=1e-9)
    np.testing.assert_allclose(W[1], -w / 2, atol=1e-9)


@pytest.mark.parametrize(("kind", "sparse"), LAYOUTS)
def test_ranges_are_those_of_the_columns_and_equal_rows_have_equal_keys(kind, sparse):
    X, rows = whole_rows(30, 4, kind, sparse)
    codes = (np.arange(30) % 2).astype(np.int32)
    low, high = np.full((2, 4), np.inf), np.full((2, 4), -np.inf)
    seen = np.zeros((2, 4), np.int64)
    halfspaces.ranges(rows, codes, low, high, seen)
    for k in range(2):
        own = X[codes == k]
        if sparse:
            own = np.where(own == 0, np.nan, own)
            assert seen[k].tolist() == np.count_nonzero(~np.isnan(own), axis=0).tolist()
        assert low[k].tolist() == np.nanmin(own, axis=0).tolist()
        assert high[k].tolist() == np.nanmax(own, axis=0).tolist()
    factors = np.random.default_rng(0).integers(1, 2**63, 4, dtype=np.uint64) * 2 + 1
    keys, again = np.empty(30, np.uint64), np.empty(30, np.uint64)
    halfspaces.row_keys(rows, factors, keys)
    halfspaces.row_keys(as_rows(np.where(X == 0, kind(-0.0), X)), factors, again)
    assert keys.tolist() == again.tolist()
    for i, j in itertools.combinations(range(30), 2):
        assert keys[i] == keys[j] or (X[i] != X[j]).any()


def test_a_walk_leaves_sums_alone_and_lets_an_entry_vanish_for_each_relation():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 4))
    relations = np.linalg.svd(rows.T)[2][4:].T.copy()  # rows.T @ relations = 0
    x, active = rng.random(9) + 0.1, np.ones(9, bool)
    before = x @ rows
    halfspaces.walk(relations, x, active)
    np.testing.assert_allclose(x @ rows, before, atol=1e-9)
    assert np.count_nonzero(x) == np.count_nonzero(active) == 4 and (x >= 0).all()


@pytest.mark.parametrize("p", [2, 3, 101, 2097143])
def test_elimination_and_inverses_are_those_of_whole_numbers(p):
    rng = np.random.default_rng(p)
    for n in (1, 2, 5, 12):
        A = rng.integers(0, p, (n, n))
        B = np.hstack([A, np.eye(n)]).astype(float)
        order, rows, columns = (np.empty(n, np.int64) for _ in range(3))
        rank = modular.eliminate(A.astype(float), float(p), order, rows, columns)
        assert modular.invert(B, float(p)) == (rank == n)
        if rank == n:
            inverse = B[:, n:].astype(np.int64).astype(object)
            assert (A.astype(object) @ inverse % p == np.eye(n, dtype=int)).all()
        else:
            assert len(set(rows[:rank].tolist())) == rank and (np.diff(columns[:rank]) > 0).all()
    double = np.vstack([A, A]).astype(float)
    order, rows, columns = (np.empty(24, np.int64) for _ in range(3))
    assert modular.eliminate(double, float(p), order, rows, columns) == rank


def test_a_turning_line_finds_the_cheapest_sides():
    rng = np.random.default_rng(0)
    for _ in range(20):
        V = rng.integers(-5, 6, (7, 2)).astype(float)
        V[(V == 0).all(axis=1)] = 1.0
        plus, minus = rng.integers(0, 4, 7), rng.integers(0, 4, 7)
        costs = np.empty(1, np.int64)
        least_turns(V[None], np.zeros((1, 7, 2)), True, -1, np.array([-1]), plus, minus, costs)
        angles = np.arctan2(V[:, 1], V[:, 0])
        best = math.inf
        for angle in np.concatenate([angles + s * 1e-6 for s in (-1, 1)]):
            for side in (1, -1):
                left = side * (V @ [-math.sin(angle), math.cos(angle)]) > 0
                best = min(best, int(np.where(left, minus, plus).sum()))
        assert costs[0] == best
    for wrong in (np.nan, np.inf):
        V[3] = wrong
        least_turns(
            V[None], np.full((1, 7, 2), 1e-9), False, -1, np.array([-1]), plus, minus, costs
        )
        assert costs[0] == -1


def test_what_does_not_belong_together_is_refused():
    X, rows = whole_rows(6, 3, np.float64, False)
    signs, touched, w = np.ones(6), np.zeros(6, np.int64), np.zeros(3)
    for order in ([6], [-1]):
        with pytest.raises(ValueError, match="numbers of rows"):
            halfspaces.passes(rows, signs, np.array(order), w, 0.0, 1.0, touched, 0, 1)
    codes = np.full(6, 2, np.int32)
    with pytest.raises(ValueError, match="numbers of classes"):
        halfspaces.ranges(rows, codes, np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((0, 0), "i8"))
    with pytest.raises(ValueError, match="residues"):
        modular.invert(np.hstack([X[:3], X[:3]]) + 0.5, 101.0)
