"""Objectives of the second-order methods: values, gradients and curvature by differences."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import DataError
from linsep.parallel import Pool
from linsep.train.convex.newton.logistic_problem import Problem
from linsep.train.convex.newton.quasi_logistic import _Objective, fit_any
from linsep.train.convex.newton.squared_hinge import solve


def data(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signs = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1, -1)
    return X, signs, rng


def plain(X, signs, w, b, C):
    return 0.5 * w @ w + C * np.logaddexp(0, -signs * (X @ w + b)).sum()


def test_the_logistic_objective_has_its_slope_and_its_curvature():
    X, signs, rng = data()
    C = 0.7
    with Pool(1) as pool:
        problem = Problem(X, signs, None, C, True, pool, careful=False)
        u = 0.3 * rng.standard_normal(5)
        at = problem.point(u, curved=True)
        assert at.value * problem.unit == pytest.approx(plain(X, signs, u[:4], u[4], C))
        step = 1e-6 * np.eye(5)
        slope = [(problem.point(u + e).value - problem.point(u - e).value) / 2e-6 for e in step]
        assert np.allclose(at.gradient, slope, atol=1e-8)
        turned = [
            (problem.point(u + e).gradient - problem.point(u - e).gradient) / 2e-6 for e in step
        ]
        H = at.sums.hessian + np.diag(problem.ridge)
        assert np.allclose(H, turned, atol=1e-7)
        assert np.allclose(H @ problem.curvature(at.sums).solve(at.gradient), at.gradient)
        zero = problem.point(np.zeros(5))
        assert zero.gap >= zero.value - at.value  # a gap is never below what can be gained


def test_one_class_alone_has_no_log_odds():
    X, signs, _ = data()
    with Pool(1) as pool, pytest.raises(DataError, match="one class"):
        Problem(X, np.ones_like(signs), None, 1.0, True, pool, careful=False)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_the_quasi_newton_objective_has_its_slope_and_ends_at_its_least(layout):
    X, _, rng = data()
    codes, c = rng.integers(0, 3, 200), rng.uniform(0.5, 2.0, 200)
    of = _Objective(layout(X), codes, c, 0.3, 3, True)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    u = of.pack(W, b)
    back = of.unpack(u)
    assert np.allclose(back[0], W) and np.allclose(back[1], b)
    S = X @ W.T + b
    value = 0.5 * (W**2).sum() + 0.3 * c @ (
        np.logaddexp.reduce(S, axis=1) - S[np.arange(200), codes]
    )
    assert of(u)[0] == pytest.approx(value)
    slope = [(of(u + e)[0] - of(u - e)[0]) / 2e-6 for e in 1e-6 * np.eye(len(u))]
    assert np.allclose(of(u)[1], slope, atol=1e-4)
    solution = fit_any(
        layout(X), codes, c, 0.3, n_classes=3, fit_intercept=True, tol=1e-8, max_iter=500,
        listeners=[], start=None,
    )  # fmt: skip
    assert np.abs(of(of.pack(solution.w, solution.b))[1]).max() < 1e-3


@pytest.mark.parametrize("free", [True, False])
def test_newton_on_the_squared_hinge_ends_where_its_slope_vanishes(free):
    X, signs, _ = data()
    solution = solve(X, signs.astype(float), C=0.4, tol=1e-9, fit_intercept=free)
    z = signs * (X @ solution.w + solution.b)
    pull = 2 * 0.4 * np.maximum(0, 1 - z) * signs
    assert np.allclose(solution.w, pull @ X, atol=1e-6) and (solution.b == 0 or free)
    assert abs(pull.sum()) < 1e-6 or not free
    assert solution.relative_gap <= 1e-9
