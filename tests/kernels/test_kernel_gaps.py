"""The sums of a certificate where multipliers are extreme, and what its kernels refuse."""

import math

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import gaps
from linsep.rows.rows import as_rows


def sums_of(loss, alpha, C=1.0, shrink=1.0):
    X, alpha = np.zeros((len(alpha), 1)), np.array(alpha)
    second, sums = np.ones(len(alpha), bool), np.zeros(12)
    room = np.empty((1, 1)), np.zeros((1, 1)), sums
    caps, plane, b = np.array([C]), np.zeros((1, 1)), np.zeros(1)
    gaps.plane(loss, as_rows(X), second, caps, plane, b, alpha, shrink, *room)
    return sums


@pytest.mark.parametrize("u", [1e-320, 1e-200, 1e-20, 1e-3, 0.5, 0.7, 1 - 2.0**-53])
def test_entropies_have_all_digits_and_never_too_much(u):
    with mpmath.workdps(50):
        exact = mpmath.mpf(u)
        wanted = -(exact * mpmath.log(exact) + (1 - exact) * mpmath.log1p(-exact))
        E = sums_of(0, [u])[6]
        assert wanted * (1 + 1e-14) >= E
        assert u < 1e-300 or wanted * (1 - 1e-14) <= E


def test_multipliers_out_of_range_are_brought_back():
    assert sums_of(0, [-1.0, 2.0])[[6, 8]].tolist() == [0.0, 1.0]
    assert sums_of(1, [-1.0, 0.25, 2.0], shrink=0.5)[[6, 8]].tolist() == [0.625, 1.25]
    assert sums_of(2, [3.0], C=2.0)[6] == 3.0 - 9.0 / 8.0
    assert sums_of(2, [0.0], C=0.0)[6] == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("planes", [1, 3, 20, 27])
def test_products_of_several_planes(dtype, planes):
    rng = np.random.default_rng(planes)
    X = sp.random(40, 9, 0.3, "csr", dtype, random_state=1)
    W, A = (np.zeros((m, -(-planes // 4) * 4)) for m in (9, 40))
    W[:, :planes], A[:, :planes] = rng.normal(size=(9, planes)), rng.normal(size=(40, planes))
    S, V = np.empty((40, W.shape[1])), np.zeros(W.shape)
    gaps.all_scores(as_rows(X), W, S)
    gaps.all_totals(as_rows(X), A, V)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(S, exact @ W, atol=1e-14)
    np.testing.assert_allclose(V, exact.T @ A, atol=1e-14)


def test_shapes_that_do_not_belong_together_are_refused():
    rows, one = as_rows(np.zeros((3, 2))), np.zeros(1)
    W, v, sums, none = np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(12), np.empty(0)
    with pytest.raises(ValueError, match="for each row"):
        gaps.plane(0, rows, np.ones(2, bool), one, W, one, none, 1.0, v, v.copy(), sums)
    with pytest.raises(ValueError, match="one or two planes"):
        gaps.plane(0, rows, np.ones(3, bool), one, W[:, :1].copy(), one, none, 1.0, v, v, sums)
    with pytest.raises(ValueError, match="no such loss"):
        gaps.plane(3, rows, np.ones(3, bool), one, W, one, none, math.pi, v, v, sums)
