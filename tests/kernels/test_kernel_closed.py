"""Sums that closed forms are made of: those of plain NumPy, and exact for whole numbers."""

import numpy as np
import pytest

from linsep.kernels import closed
from linsep.train.closed.gram import symmetric, tiles


def data(n, d, t, kind, weighted):
    rng = np.random.default_rng(n + d)
    X, Y = rng.integers(-5, 6, (n, d)).astype(kind), rng.integers(-5, 6, (n, t)).astype(float)
    weights = rng.integers(0, 3, n).astype(float) ** 2 if weighted else np.empty(0)
    return X, Y, weights, weights if weighted else np.ones(n)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "t"), [(1, 1, 1), (5, 11, 2), (300, 25, 3)])
def test_sums_over_rows_are_those_of_the_matrix_products(n, d, t, kind, weighted):
    X, Y, given, w = data(n, d, t, kind, weighted)
    shift, level, unit = np.full(d, 2.0), np.full(t, -1.0), np.ones(d)
    x, y = X - 2.0, Y + 1.0
    z = np.hstack([x, y, np.ones((n, 1))])
    Z, G = tiles(d + t + 1, np.float64)
    closed.products(X, Y, shift, unit, level, given, Z, G)
    assert symmetric(G, d + t + 1).tolist() == ((z.T * w) @ z).tolist()
    Z, G = tiles(d, np.float32)
    closed.products(X, np.empty((0, 0)), shift, unit, np.empty(0), given, Z, G)
    assert symmetric(G, d).tolist() == ((x.T * w) @ x).tolist()
    own, first, cross, total = np.zeros(d + t), np.zeros(d + t), np.zeros((t, d)), np.zeros(1)
    closed.border(X, Y, shift, level, given, own, first, cross, total)
    assert own.tolist() == (w @ np.square(z[:, :-1])).tolist() and total[0] == w.sum()
    assert first.tolist() == (w @ z[:, :-1]).tolist() and cross.tolist() == ((y.T * w) @ x).tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_taken_about_the_means_of_their_classes(kind, weighted):
    X, _, given, w = data(40, 6, 1, kind, weighted)
    codes, scale = (np.arange(40) % 3).astype(np.int32), 2.0 ** np.arange(6)
    top, sums, counts = np.zeros(6), np.zeros((3, 6)), np.zeros(3)
    closed.sizes_and_sums(X, codes, given, top, sums, counts)
    own = np.equal.outer(np.arange(3), codes) * w
    assert top.tolist() == np.abs(X[w > 0]).max(axis=0).tolist()
    assert sums.tolist() == (own @ X).tolist() and counts.tolist() == own.sum(axis=1).tolist()
    means, left, Z = np.arange(18.0).reshape(3, 6), np.zeros((3, 6)), np.empty((40, 6))
    none = np.empty((0, 0))
    closed.centred_rows(X, codes, given, scale, means, none, left, Z)
    rows = X * scale - means[codes]
    assert left.tolist() == (own @ rows).tolist()
    assert Z.tolist() == (rows * np.sqrt(w)[:, None]).tolist()
    closed.centred_rows(X, codes, given, scale, means, means, none, Z)
    assert Z.tolist() == ((rows - means[codes]) * np.sqrt(w)[:, None]).tolist()


def test_arrays_that_do_not_go_with_the_rows_are_refused():
    X, Y, none, _ = data(9, 3, 1, np.float64, False)
    Z, G = tiles(3, np.float64)
    wide = np.zeros(20)
    with pytest.raises(ValueError, match="a number for each column"):
        closed.products(X, Y, wide, wide, np.zeros(1), none, Z, G)
    with pytest.raises(ValueError, match="one for each row"):
        closed.products(X, Y, np.zeros(3), np.ones(3), np.zeros(1), np.ones(8), Z, G)
    with pytest.raises(ValueError, match="numbers of classes"):
        codes = np.full(9, 3, np.int32)
        closed.sizes_and_sums(X, codes, none, np.zeros(3), np.zeros((3, 3)), np.zeros(3))
