"""Probabilities of classes and what is summed up from them are those of NumPy's formulas."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import softmax as kernels
from linsep.rows.rows import as_rows


def scored(n, K, dtype=np.float64, spread=3.0):
    rng = np.random.default_rng(n + K)
    S = (spread * rng.standard_normal((K, n))).astype(dtype)
    return S, rng.integers(0, K, n).astype(np.int32), rng.uniform(0.0, 2.0, n)


def exact(S):
    T = np.exp(S.astype(float) - S.max(axis=0))
    return T / T.sum(axis=0)


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "K"), [(1, 1), (255, 2), (600, 7)])
def test_scores_become_probabilities_and_residuals(n, K, dtype, one):
    S, codes, c = scored(n, K, dtype)
    c = c[:1] if one else c
    P, each, sums = exact(S), np.broadcast_to(c, n), np.empty(1 + 2 * K)
    own = P[codes, np.arange(n)]
    kernels.shares(S, codes, c, sums)
    rtol = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(S, P, rtol=10 * rtol, atol=rtol)
    expected = [-each @ np.log(own), *(P @ each), *((P * (1 - P)) @ each)]
    np.testing.assert_allclose(sums, expected, rtol=10 * rtol, atol=10 * rtol)
    kernels.residuals(S, codes, c)
    np.testing.assert_allclose(S, each * (P - np.eye(K)[codes].T), atol=10 * rtol)


def test_the_own_class_has_what_the_others_have_to_the_last_digit():
    P = np.array([[1.0], [3e-20], [1e-25]])
    kernels.residuals(P, np.array([0], np.int32), np.array([2.0]))
    assert P[:, 0].tolist() == [-(6e-20 + 2e-25), 6e-20, 2e-25]


def test_scores_far_apart_neither_overflow_nor_lose_the_loss():
    S, sums = np.array([[1e300, -800.0], [-1e300, 800.0]]), np.empty(5)
    kernels.shares(S, np.array([0, 0], np.int32), np.ones(2), sums)
    assert S[:, 0].tolist() == [1.0, pytest.approx(0.0, abs=1e-300)]
    assert sums[0] == pytest.approx(1600.0)


def test_foretold_probabilities_are_those_of_the_linear_model_on_the_simplex():
    S, _, c = scored(300, 4)
    P, dS = exact(S), 0.8 * scored(300, 4)[0][::-1].copy()
    wanted = np.maximum(0.0, P * (1.0 + dS - (P * dS).sum(axis=0)))
    wanted /= wanted.sum(axis=0)
    entropy = kernels.foretold(P, dS, c)
    np.testing.assert_allclose(P, wanted, atol=1e-14)
    plogp = wanted * np.log(np.where(wanted > 0.0, wanted, 1.0))
    assert entropy == pytest.approx(float(plogp.sum(axis=0) @ c))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("K", [1, 3, 4, 30])
def test_products_of_sparse_rows_serve_all_classes(dtype, K):
    rng = np.random.default_rng(K)
    X = sp.random(80, 50, 0.1, "csr", dtype, rng=rng)
    width = -(-K // 4) * 4
    W, b, R = np.zeros((50, width)), np.zeros(width), rng.standard_normal((K, 80))
    W[:, :K], b[:K] = rng.standard_normal((50, K)), rng.standard_normal(K)
    S, V = np.empty((K, 80)), W.copy()
    kernels.wide_scores(as_rows(X), W, b, S)
    kernels.add_wide(as_rows(X), R, V)
    full = X.toarray().astype(float)
    np.testing.assert_allclose(S, (full @ W + b)[:, :K].T, atol=1e-12)
    np.testing.assert_allclose(V[:, :K], W[:, :K] + full.T @ R.T, atol=1e-12)


def test_codes_that_are_no_classes_and_wrong_shapes_are_refused():
    S, codes, c = scored(20, 3)
    with pytest.raises(ValueError, match="numbers of classes"):
        kernels.shares(S, codes + 1, c, np.empty(7))
    with pytest.raises(ValueError, match="number for each row"):
        kernels.residuals(S, codes[1:], c)
    with pytest.raises(ValueError, match="multiple of four"):
        kernels.add_wide(as_rows(sp.csr_array((20, 5))), S, np.zeros((5, 3)))


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pairs_of_classes_and_features_make_the_hessian(dtype, free):
    S, _, c = scored(300, 4)
    X = np.random.default_rng(0).standard_normal((300, 3)).astype(dtype)
    P, Z = exact(S), np.c_[X.astype(float), np.ones(300)][:, : 3 + free]
    D = Z.shape[1]
    V, Q, H = np.empty((10, 300)), np.empty((300, D * (D + 1) // 2)), np.empty((4 * D, 4 * D))
    kernels.pair_weights(c * P, V)
    kernels.feature_pairs(X, Q)
    kernels.spread_pairs(V @ Q, H, 4)
    bent = c * (np.eye(4)[:, :, None] * P - P[:, None] * P)
    expected = np.einsum("kli,ij,ih->kjlh", bent, Z, Z).reshape(4 * D, 4 * D)
    np.testing.assert_allclose(H, expected, atol=1e-11)
    with pytest.raises(ValueError, match="each pair"):
        kernels.spread_pairs(V @ Q, H, 2)
