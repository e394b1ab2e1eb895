"""Newton's method of proportional odds, against the likelihood written out."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit

from linsep.train.convex.coordinates import columns_of
from linsep.train.convex.designs.design import Design
from linsep.train.convex.solvers.ordinal_newton import OrdinalNewton


def likelihood(X, levels, caps, penalised):
    """P(w, θ) = ½‖w‖² − Σ Cᵢ log(F(θ above − s) − F(θ below − s))"""

    def value(u):
        w, theta = u[: X.shape[1]], u[X.shape[1] :]
        edges = np.concatenate([[-np.inf], theta, [np.inf]])
        s = X @ w
        p = expit(edges[levels + 1] - s) - expit(edges[levels] - s)
        return 0.5 * penalised * w @ w - caps @ np.log(p)

    return value


def solved(X, levels, caps, penalised, tol=1e-12):
    solver = OrdinalNewton(Design(X, columns_of(X, True)), levels, caps, penalised)
    with solver.pool:
        for seen in solver.candidates():
            if seen.within(tol):
                break
    return seen, solver.solution()


@pytest.mark.parametrize("penalised", [True, False])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_it_ends_where_the_likelihood_is_level(K, penalised):
    rng = np.random.default_rng(K)
    X = rng.normal(size=(200, 3))
    z = X @ [1.0, -0.5, 0.0] + rng.logistic(size=200)
    levels = np.digitize(z, np.quantile(z, np.arange(1, K) / K))
    caps = rng.uniform(0.5, 2.0, 200)
    seen, end = solved(X, levels, caps, penalised)
    value = likelihood(X, levels, caps, penalised)
    u = np.concatenate([np.ravel(end.w), -np.ravel(end.b)])
    assert seen.primal == pytest.approx(value(u), rel=1e-12)
    assert np.abs(approx_fprime(u, value, 1e-6)).max() < 1e-3
    other = minimize(value, u + 0.01 * np.arange(len(u)), method="BFGS")
    assert value(u) <= other.fun + 1e-9 * abs(other.fun)


def test_it_begins_at_the_shares_of_the_levels():
    levels = np.repeat([0, 1, 2], [10, 30, 60])
    solver = OrdinalNewton(Design(np.zeros((100, 1))), levels, np.ones(100), True)
    with solver.pool:
        first = next(iter(solver.candidates()))
    assert first.primal == pytest.approx(-(10 * np.log(0.1) + 30 * np.log(0.3) + 60 * np.log(0.6)))
