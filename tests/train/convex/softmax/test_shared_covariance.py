"""One covariance for all classes: its parts, what it foretells of each class, and fits with it."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.softmax import curvature, shared_covariance
from linsep.train.convex.softmax.descent import SoftmaxDescent
from linsep.train.convex.softmax.passes import SoftmaxPasses
from linsep.train.convex.softmax.shared_covariance import SharedCovariance


def gaussian(n=6000, d=12, K=9, seed=0):
    """Rows, labels that a softmax of linear scores draws, and its weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) ** -0.6 + 0.3
    W = 2 * rng.standard_normal((K, d))
    W -= W.mean(axis=0)
    return X, (X @ W.T + rng.gumbel(size=(n, K))).argmax(axis=1), W


def passes_over(X, y, pool, c=None):
    c = np.array([1 / len(X)]) if c is None else c
    blocks = Blocks(X, Columns(np.empty(0, X.dtype), np.empty(0, X.dtype)))
    return SoftmaxPasses(blocks, y, c, int(y.max()) + 1, pool, X.dtype)


def probabilities(X, W, b):
    S = X @ W.T + b
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def block(X, q, centre, ridge):
    """Hₖ"""
    Z = X - centre
    return (q[:, None] * Z).T @ Z + np.diag(ridge)


def inverse_of(covariance, k, K, d):
    """The matrix that stands for Hₖ⁻¹."""
    columns = []
    for j in range(d):
        G = np.zeros((K, d))
        G[k, j] = 1.0
        columns.append(covariance(G)[k])
    return np.array(columns).T


@pytest.mark.parametrize("weighted", [False, True])
def test_tilts_are_the_sums_with_each_class_s_weights(weighted):
    X, y, W = gaussian(700, 5, 4)
    rng = np.random.default_rng(1)
    c = rng.random(700) / 350 if weighted else np.array([1 / 700])
    b = rng.standard_normal(4)
    with Pool(2) as pool:
        tilts = passes_over(X, y, pool, c).tilts(W, b)
    P, Z = probabilities(X, W, b), X @ W.T
    q = np.broadcast_to(c, 700)[:, None] * P * (1 - P)
    np.testing.assert_allclose(tilts.sums, q.T @ X, atol=1e-13)
    np.testing.assert_allclose(tilts.squares, q.sum(axis=1) @ X**2, atol=1e-13)
    np.testing.assert_allclose(tilts.weight, q.sum(axis=0), atol=1e-13)
    np.testing.assert_allclose(tilts.scores, (q * Z).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(tilts.score_squares, (q * Z**2).sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("centred", [True, False])
def test_where_all_probabilities_are_equal_it_is_the_inverse(centred):
    X, y, W = gaussian(2000, 6, 5)
    ridge, nothing = np.linspace(0.01, 0.3, 6), np.zeros_like(W)
    with Pool(1) as pool:
        covariance = SharedCovariance(passes_over(X, y, pool), ridge, nothing, np.zeros(5), centred)
        found = inverse_of(covariance, 2, 5, 6)
    centre = X.mean(axis=0) if centred else np.zeros(6)
    expected = np.linalg.inv(block(X, np.full(2000, 0.2 * 0.8 / 2000), centre, ridge))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("centred", [True, False])
def test_it_comes_near_the_block_of_every_class_of_gaussian_rows(centred):
    X, y, W = gaussian()
    (K, d), b, n = W.shape, np.zeros(len(W)), len(X)
    ridge = np.full(d, 1 / n)
    q = probabilities(X, W, b)
    q = q * (1 - q) / n
    with Pool(2) as pool:
        covariance = SharedCovariance(passes_over(X, y, pool), ridge, W, b, centred)
        for k in range(K):
            H = block(X, q[:, k], covariance.centres[k], ridge)
            stretched = np.linalg.eigvals(inverse_of(covariance, k, K, d) @ H).real
            assert stretched.min() > 0.1 and stretched.max() < 10.0


def test_scores_that_are_narrower_than_foretold_never_make_it_indefinite():
    X, y, W = gaussian(3000, 8, 6)
    W = 40 * W  # probabilities of zero and one: next to no variance along the weights
    G = np.random.default_rng(0).standard_normal((50, 6, 8))
    with Pool(2) as pool:
        covariance = SharedCovariance(
            passes_over(X, y, pool), np.full(8, 1e-6), W, np.zeros(6), True
        )
        assert all(np.vdot(one, covariance(one)) > 0 for one in G)


def test_a_feature_that_the_sample_misses_counts_as_much_as_it_should():
    X, y, _ = gaussian(30_000, 4, 3)
    X[:, 3] = 0.0
    X[17, 3] = 1000.0
    nothing, ridge = np.zeros((3, 4)), np.full(4, 1e-3)
    with Pool(1) as pool:
        covariance = SharedCovariance(passes_over(X, y, pool), ridge, nothing, np.zeros(3), True)
        found = inverse_of(covariance, 0, 3, 4)[3, 3]
    exact = 1 / (X[:, 3].var() * 2 / 9 + 1e-3)
    assert found == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_fits_with_it_alone_converge(C, monkeypatch):
    monkeypatch.setattr(curvature, "_own", lambda passes, stage: False)
    monkeypatch.setattr(shared_covariance, "FEWEST", 256)
    X, y, _ = gaussian(4000, 20, 12)
    X = X.astype(np.float32)
    solver = SoftmaxDescent(X, y, None, C, n_classes=12, tol=1e-4)
    assert drive(solver, Goal(tol=1e-4, max_iter=200)).status is Status.converged


def test_threads_change_no_byte_of_fits_with_it(monkeypatch):
    monkeypatch.setattr(curvature, "_own", lambda passes, stage: False)
    X, y, _ = gaussian(9000, 10, 7)
    ends = []
    for jobs in (1, 2):
        solver = SoftmaxDescent(X, y, None, 1.0, n_classes=7, tol=1e-6, n_jobs=jobs)
        ends.append(drive(solver, Goal(tol=1e-6, max_iter=200)))
    assert ends[0].w.tobytes() == ends[1].w.tobytes()
    assert ends[0].status is Status.converged
