"""Models with corners are minimised coordinate by coordinate, and multipliers kept in bounds."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import proximal as kernels
from linsep.rows.rows import Dense, as_rows
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge

M, N = 6, 40


def model(size=M, bounded=False):
    rng = np.random.default_rng(1)
    g, w = rng.normal(size=size) * 5, rng.normal(size=size) * (rng.random(size) < 0.5)
    corner, ridge, ends = (
        rng.uniform(0.5, 2.0, size),
        rng.uniform(0.0, 1.0, size),
        np.full(size, np.inf),
    )
    low, high = (np.minimum(w, -0.1), np.maximum(w, 0.2)) if bounded else (-ends, ends)
    return g, w, corner, ridge, low, high, np.ones(size)


def minimum(H, g, w, corner, ridge, low, high, size):
    """Sweeps of plain Python, until nothing moves."""
    d = np.zeros(len(g))
    for _ in range(4000):
        for j in range(len(g)):
            bend, x = H[j, j] + ridge[j], w[j] + d[j]
            to = x - (g[j] + H[j] @ d + ridge[j] * x) / bend
            best = np.sign(to) * max(0.0, abs(to) - corner[j] / bend)
            d[j] = np.clip(best, low[j], high[j]) - w[j]
    return d


def settled(cycle, known):
    d, worst = np.zeros(len(known[0])), np.zeros(2)
    for _ in range(400):
        cycle(*known, d, 1e-13, np.inf, worst)
        if worst[0] <= 1e-13:
            return d
    raise AssertionError(worst)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("layout", ["matrix", "dense", "sparse"])
def test_cycles_end_at_the_minimum(layout, bounded):
    B, known = np.random.default_rng(0).normal(size=(M, N)), model(bounded=bounded)
    h, h0, damping = B @ np.full(N, 0.5), float(N) / 4, np.linspace(0.0, 1.0, M)
    H = B @ B.T - np.outer(h, h) / h0 + np.diag(damping)
    if layout == "matrix":
        product = np.zeros(M)
        d = settled(lambda *one: kernels.cycle_matrix(H, product, *one), known)
        np.testing.assert_allclose(product, H @ d, atol=1e-11)
    else:
        columns = Dense(B) if layout == "dense" else as_rows(sp.csr_array(B))
        moved, given = np.zeros(N), (h, h0, damping, H.diagonal().copy())
        d = settled(lambda *one: kernels.cycle_columns(columns, *given, moved, *one), known)
        np.testing.assert_allclose(moved, d @ B, atol=1e-11)
    np.testing.assert_allclose(d, minimum(H, *known), atol=1e-9)


@pytest.mark.parametrize(("sparse", "bounded"), [(False, False), (True, False), (False, True)])
def test_cycles_over_classes_are_those_of_the_matrix_of_the_softmax(sparse, bounded):
    rng, K = np.random.default_rng(2), 3
    B, U = rng.normal(size=(M, N)), rng.uniform(0.5, 2.0, N)
    p = rng.dirichlet(np.ones(K), N).T.copy()
    H = np.einsum("ji,mi,kli,i->kjlm", B, B, np.eye(K)[:, :, None] * p - p[:, None] * p, U)
    H, known = H.reshape(K * M, K * M), model(K * M, bounded)
    columns = as_rows(sp.csr_array(B)) if sparse else Dense(B)
    moved, mean = np.zeros((K, N)), np.zeros(N)
    given = columns, U * p, 1 / U, H.diagonal().copy(), moved, mean
    d = settled(lambda *one: kernels.cycle_classes(*given, *one), known)
    np.testing.assert_allclose(d, minimum(H, *known), atol=1e-8)
    np.testing.assert_allclose(moved, d.reshape(K, M) @ B, atol=1e-11)
    np.testing.assert_allclose(mean, (p * moved).sum(axis=0), atol=1e-11)


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), SquaredHinge()], ids=str)
def test_multipliers_are_kept_within_their_bounds(loss):
    rng = np.random.default_rng(3)
    y, U = np.where(rng.random(N) < 0.4, 1, -1).astype(np.int8), rng.uniform(0.0, 2.0, N)
    pull, out, sums = rng.normal(size=N), np.empty(N), np.empty(2)
    kernels.clipped(loss, pull, y, U, out, sums)
    wanted = y * np.clip(pull * y, 0.0, U * loss.most())
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_allclose(sums, [wanted[y > 0].sum(), -wanted[y < 0].sum()])
    shares = 0.7 * np.abs(out) / U
    terms = U @ [loss.dual(one) for one in shares]
    assert kernels.dual_terms(loss, out, U, 0.7) == pytest.approx(terms, rel=1e-12)


def test_where_nothing_bends_a_weight_goes_to_its_bound_or_stays():
    d, ends = np.zeros(2), (np.array([-1.0, -np.inf]), np.array([3.0, np.inf]))
    given = np.full(2, -2.0), np.zeros(2), np.full(2, 0.5), np.zeros(2), *ends, np.ones(2)
    kernels.cycle_matrix(np.zeros((2, 2)), np.zeros(2), *given, d, 0.0, 1.0, np.zeros(2))
    assert d.tolist() == [3.0, 0.0]


def test_what_does_not_belong_together_is_refused():
    known, d = model(), np.zeros(M)
    with pytest.raises(ValueError, match="square"):
        kernels.cycle_matrix(np.eye(5), np.zeros(5), *known, d, 0.0, 1.0, np.zeros(2))
    with pytest.raises(ValueError, match="each row"):
        kernels.clipped(Logistic(), d, np.ones(5, np.int8), d, d, np.zeros(2))
