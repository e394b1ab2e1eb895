"""Objectives of the second-order methods: values, gradients and curvature by differences."""

import numpy as np
import pytest

from linsep.errors import DataError
from linsep.parallel import Pool
from linsep.train.convex.blockwise.logistic_problem import Problem, Sample
from linsep.train.convex.solvers.lbfgs import Memory


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
        step = problem.quadratic(at.sums, u).curvature.solve(at.gradient)
        assert np.allclose(H @ step, at.gradient)
        zero = problem.point(np.zeros(5))
        assert zero.gap >= zero.value - at.value  # a gap is never below what can be gained


def test_one_class_alone_has_no_log_odds():
    X, signs, _ = data()
    with Pool(1) as pool, pytest.raises(DataError, match="one class"):
        Problem(X, np.ones_like(signs), None, 1.0, True, pool, careful=False)


def test_a_rare_feature_of_one_class_is_not_overshot():
    # Its rows lie far beyond doubt, where their losses have no curvature to step by.
    X, signs, rng = data(100_000)
    rare = np.zeros(len(X))
    rare[rng.choice(np.flatnonzero(signs < 0), 100, replace=False)] = 30.0
    X = np.column_stack([X, rare])
    with Pool(1) as pool:
        problem = Problem(X, signs, None, 1.0, True, pool, careful=False)
        sample = Sample(problem, X, signs, np.full(len(X), 1 / len(X)))
        best = problem.point(sample.solve(np.zeros(6), None, 1e-16))
        u = best.u.copy()
        u[4] *= 2.5
        p = problem.point(u)
        q = problem.point(sample.follow(p, None, Memory(8)))
    assert p.value < best.value * (1 + 2e-5)
    assert q.value - best.value < 1e-2 * (p.value - best.value)
