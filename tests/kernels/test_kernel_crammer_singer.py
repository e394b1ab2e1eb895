"""Walks over rows of Crammer and Singer's machine: those of plain NumPy, best places and slopes."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import crammer_singer as kernels
from linsep.rows.rows import CSR, aligned, as_rows

K = 5
LAYOUTS = [
    lambda X: X,
    lambda X: X.astype(np.float32),
    sp.csr_array,
    lambda X: sp.csr_array(X.astype(np.float32)),
]


def made(n=40, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)).astype(np.float32)
    return X.astype(np.float64), rng.integers(0, K, n), rng.random(n) * (rng.random(n) < 0.9)


def z_of(S, y):
    S = S + 1.0
    S[np.arange(len(y)), y] -= 1.0
    return S - S[np.arange(len(y)), y][:, None]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_visit_moves_the_multipliers_of_a_row_to_their_best_place(layout):
    X, y, caps = made()
    rows, rng = as_rows(layout(X)), np.random.default_rng(1)
    sparse = isinstance(rows, CSR)
    A, rest = np.zeros((len(y), K)), np.zeros((len(y), 2), np.int64)
    W, b = aligned((7, 8), np.float64) if sparse else np.zeros((K, 7)), rng.standard_normal(K)
    by_class = W[:, :K].T if sparse else W
    squares, order = (X**2).sum(axis=1) + 0.1, np.arange(len(y))
    for i in order:
        s, before = by_class @ X[i] + b, A[i].copy()
        lost = z_of(s[None], y[i : i + 1])[0]
        lacks = caps[i] * lost.max() + lost @ before
        lacking = kernels.sweep(
            rows, y, caps, squares, order[i : i + 1], 0.0, 0.0, A, W, b, rest
        )  # fmt: skip
        assert lacking == pytest.approx(lacks, abs=1e-12)
        others = caps[i] * (np.eye(K)[y[i]] - rng.dirichlet(np.full(K, 0.3), 200))
        moves = np.vstack([A[i], others]) - before
        worth = squares[i] / 2 * np.sum(moves**2, axis=1) + moves @ lost
        assert worth[0] <= worth.min() + 1e-12
    assert (A[caps == 0] == 0).all()
    np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(by_class, A.T @ X, atol=1e-10)
    again = np.zeros_like(W)
    kernels.combine(rows, A, again)
    np.testing.assert_allclose(again, W, atol=1e-10)
    lost = z_of(X @ by_class.T + b, y).max(axis=1)
    assert kernels.charge(rows, y, caps, W, b) == pytest.approx(caps @ lost)


def smoothed(seed=2):
    rng = np.random.default_rng(seed)
    X, y, caps = made(seed=seed)
    S, dS = rng.standard_normal((2, len(y), K))
    return X, y, caps, S, dS, rng.dirichlet(np.ones(K), len(y))


def test_projections_are_on_the_simplex_and_nearer_than_any_other_point_of_it():
    _, y, caps, S, dS, centre = smoothed()
    P, sums, there = np.empty_like(S), np.empty(4), S.copy()
    kernels.project(there, dS, 0.5, centre, y, caps, 0.7, P, sums)
    np.testing.assert_allclose(there, S + 0.5 * dS)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    z = z_of(there, y)
    for other in np.random.default_rng(3).dirichlet(np.full(K, 0.3), 100):  # an obtuse angle
        assert (((other - P) * (centre + z / 0.7 - P)).sum(axis=1) <= 1e-12).all()
    own = P[np.arange(len(y)), y]
    expected = [z.max(axis=1), 1 - own, (P * z).sum(axis=1), ((P - centre) ** 2).sum(axis=1)]
    np.testing.assert_allclose(sums, [caps @ one for one in expected])


def test_slopes_and_curvature_are_differences_of_the_smoothed_loss():
    X, y, caps, _, _, centre = smoothed()
    W, Q = np.random.default_rng(4).standard_normal((2, K, 8))
    ones, epsilon, h = np.c_[X, np.ones(len(y))], 0.9, 1e-6

    def at(W):
        P, sums, S = np.empty((len(y), K)), np.empty(4), ones @ W.T
        kernels.project(S, np.zeros_like(S), 0.0, centre, y, caps, epsilon, P, sums)
        own = np.eye(K)[y]
        return P, ((P - own) * caps[:, None]).T @ ones

    def value(t):
        out = np.empty(2)
        kernels.along(ones @ W.T, ones @ Q.T, t, centre, y, caps, epsilon, out)
        return out

    P, gradient = at(W)
    assert value(0.0)[1] == pytest.approx(np.vdot(gradient, Q))
    assert value(0.0)[1] == pytest.approx((value(h)[0] - value(-h)[0]) / (2 * h), rel=1e-6)
    rows = np.flatnonzero(np.count_nonzero(P, axis=1) > 1)
    places = np.append(0, np.cumsum(np.count_nonzero(P[rows], axis=1)))
    classes = np.nonzero(P[rows])[1].astype(np.int32)
    expected = (at(W + h * Q)[1] - at(W - h * Q)[1]) / (2 * h)
    for kind, real, close in ((float, float, 1e-5), ("f4", float, 1e-5), ("f4", "f4", 1e-4)):
        V = np.zeros((K, 8), real)
        given = X.astype(kind), rows, places, classes, caps[rows] / epsilon
        kernels.curve(*given, Q.astype(real), V)
        np.testing.assert_allclose(V, expected, rtol=close, atol=close)


def test_a_step_along_the_central_path_is_what_its_formula_says():
    rng, n = np.random.default_rng(5), 600
    y, caps = rng.integers(0, K, n), rng.random(n) + 0.1
    a = np.ascontiguousarray(rng.dirichlet(np.ones(K), n).T) * caps
    S, xi = rng.standard_normal((K, n)), np.full(n, 9.0)
    none = np.zeros((K, n))
    t, d, top, out = np.empty((K, n)), np.empty((K, n)), np.empty(n, np.int64), np.empty(3)
    kernels.arrive(S, a, xi, y, caps, none, none, np.zeros(n), 1.0, t, d, top, out)
    z = z_of(S.T, y).T
    np.testing.assert_allclose(t, xi - z)
    np.testing.assert_allclose(d, a / t)
    others = a.sum() - a[y, np.arange(n)].sum()
    np.testing.assert_allclose(out, [np.sum(a * t), caps @ z.max(axis=0), others])
    assert (d[top, np.arange(n)] == d.max(axis=0)).all()
    q, c, dxi, mu = np.empty((K, n)), np.empty(n), np.empty(n), 1e-3
    da, dt = 0.01 * rng.standard_normal((2, K, n))
    bend = da * dt
    kernels.aim(a, t, d, da, dt, mu, True, top, q, c)
    ds = rng.standard_normal((K, n))
    kernels.follow(ds, y, a, t, d, q, c, top, da, dt, dxi, out)
    np.testing.assert_allclose(a * dt + t * da, mu - bend - a * t, atol=1e-9)
    np.testing.assert_allclose(da.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(dt, dxi - (ds - ds[y, np.arange(n)]))
    least = min((da / a).min(), (dt / t).min())
    np.testing.assert_allclose(out, [least, np.sum(a * dt + t * da), np.sum(da * dt)])


def test_codes_and_lists_outside_their_range_are_refused():
    X, y, caps, S, dS, centre = smoothed()
    with pytest.raises(ValueError, match="codes"):
        kernels.along(S, dS, 0.0, centre, y + K, caps, 1.0, np.empty(2))
    lists = np.array([len(X)]), np.array([0, 2]), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="lists"):
        kernels.curve(X, *lists, np.ones(1), np.zeros((K, 8)), np.zeros((K, 8)))
