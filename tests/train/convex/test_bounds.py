"""Offsets, weights of penalties and bounds are members of a problem: optima, KKT, other solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize

from linsep import Status
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.parts.outputs import Softmax
from linsep.train.convex.penalties import Bounds, Elastic
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton import Newton
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.convex.solvers.prox_newton import ProxNewton

C = 0.5


def drawn(n=300, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    z = (X / X.std(axis=0)) @ rng.normal(size=d) + 2 * rng.normal(size=n)
    low, high = np.where(rng.random(d) < 0.5, 0.0, -np.inf), np.full(d, np.inf)
    low[0], high[0], high[1] = 0.05, 0.5, -0.01
    low[1] = -np.inf
    return X, np.where(z > 0, 1, -1), rng.normal(size=n), Bounds(low, high), rng.uniform(0.2, 3, d)


def posed(X, y, loss, **members):
    return Problem.of(X, y, None, C, loss, True)._replace(**members)


def slopes(X, y, offset, loss, w, b, weight, l2):
    """Of the objective but for its corners, in each weight; and in the intercept."""
    z = y * (X @ w + b + offset)
    g = C * loss.slope(z) * y
    return X.T @ g + l2 * weight * w, g.sum()


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=["logistic", "squared_hinge"])
@pytest.mark.parametrize("l1", [0.0, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_bounded_weights_meet_the_conditions_of_their_optimum(loss, l1, form):
    X, y, offset, bounds, weight = drawn()
    weight[3] = 0.0
    told = {"offset": offset, "bounds": bounds, "penalty": Elastic(l1, 1.0, weight)}
    found = solve(ProxNewton, posed(form(X), y, loss, **told), tol=1e-11)
    assert found.status is Status.converged
    w, corner = found.w, l1 * weight
    slope, balance = slopes(X, y, offset, loss, w, found.b, weight, 1.0)
    assert (w >= bounds.low).all() and (w <= bounds.high).all()
    mu = bounds.multipliers(w, slope, corner)
    assert balance == pytest.approx(0.0, abs=1e-6)
    left = slope - mu
    held = (w == bounds.low) | (w == bounds.high)
    at_corner = w == 0.0
    np.testing.assert_allclose((left + corner * np.sign(w))[~at_corner], 0.0, atol=1e-4)
    assert (np.abs(left[at_corner]) <= corner[at_corner] + 1e-4).all()
    assert (mu[~held] == 0.0).all() and (mu != 0.0).any()


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=["logistic", "squared_hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_bounded_weights_are_those_of_scipy(loss, seed):
    X, y, offset, bounds, weight = drawn(seed=seed)

    def value(u):
        slope, balance = slopes(X, y, offset, loss, u[:-1], u[-1], weight, 1.0)
        loss_of = C * loss.value(y * (X @ u[:-1] + u[-1] + offset)).sum()
        return loss_of + 0.5 * (weight * u[:-1] ** 2).sum(), np.append(slope, balance)

    ends = [*zip(*bounds, strict=True), (None, None)]
    start = np.append(bounds.project(np.zeros(8)), 0.0)
    wanted = minimize(value, start, jac=True, method="L-BFGS-B", bounds=ends,
                      options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10_000})  # fmt: skip
    told = {"offset": offset, "bounds": bounds, "penalty": Elastic(0.0, 1.0, weight)}
    found = solve(ProxNewton, posed(X, y, loss, **told), tol=1e-11)
    assert found.primal == pytest.approx(wanted.fun, rel=1e-10)
    np.testing.assert_allclose(found.w, wanted.x[:-1], atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_hinge_with_bounds_and_corners_is_a_linear_program(seed):
    X, y, offset, (low, high), weight = drawn(seed=seed)
    (n, d), A = X.shape, -y[:, None] * X
    cost = np.concatenate([weight, weight, [0.0], np.full(n, C)])
    rows = np.column_stack([A, -A, -y, -np.eye(n)])  # 1 − y(⟨u − v, x⟩ + b + o) ≤ ξ
    rows = np.vstack([rows, np.eye(d, 2 * d + 1 + n) - np.eye(d, 2 * d + 1 + n, d),
                      np.eye(d, 2 * d + 1 + n, d) - np.eye(d, 2 * d + 1 + n)])  # fmt: skip
    right = np.concatenate([y * offset - 1, np.minimum(high, 1e6), np.minimum(-low, 1e6)])
    ends = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    wanted = linprog(cost, rows, right, bounds=ends)
    told = {"offset": offset, "bounds": Bounds(low, high), "penalty": Elastic(1.0, 0.0, weight)}
    found = solve(ProxNewton, posed(X, y, Hinge(), **told), tol=1e-6)
    assert found.status is Status.converged
    assert wanted.fun * (1 - 1e-9) <= found.primal <= wanted.fun * (1 + 1e-6)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Hinge()], ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_all_solvers_take_offsets_and_weights_of_penalties(loss, form):
    X, y, offset, _, weight = drawn()
    problem = posed(form(X), y, loss, offset=offset, penalty=Elastic(0.0, 1.0, weight))
    ends = [solve(one, problem, tol=1e-5) for one in (Newton, NewtonCG, ProxNewton)]
    for one in ends:
        assert one.status is Status.converged
        for other in ends:
            assert one.dual <= other.primal * (1 + 1e-12)


@pytest.mark.parametrize("l1", [0.0, 0.7])
def test_each_class_of_a_softmax_may_have_bounds_of_its_own(l1):
    rng, K = np.random.default_rng(3), 3
    X, offset = rng.normal(size=(200, 5)), rng.normal(size=(K, 200))
    codes = (X @ rng.normal(size=(5, K)) + rng.normal(size=(200, K))).argmax(axis=1)
    low, high = np.where(rng.random((K, 5)) < 0.5, 0.0, -np.inf), np.full((K, 5), np.inf)
    penalty = Elastic(l1, 1.0 - l1, np.array([1.0, 2.0, 0.0, 1.0, 0.5]))
    told = {"offset": offset, "bounds": Bounds(low, high), "penalty": penalty}
    found = solve(ProxNewton, posed(X, codes, Softmax(K), **told), tol=1e-11)
    S = X @ found.w.T + found.b + offset.T
    p = np.exp(S - S.max(axis=1, keepdims=True))
    slope = C * (p / p.sum(axis=1, keepdims=True) - np.eye(K)[codes]).T @ X
    slope += (1.0 - l1) * penalty.weight * found.w
    corner = l1 * penalty.weight
    left = slope - Bounds(low, high).multipliers(found.w, slope, corner)
    on = found.w != 0.0
    np.testing.assert_allclose((left + corner * np.sign(found.w))[on], 0.0, atol=1e-4)
    assert (np.abs(left) <= corner + 1e-4)[~on].all()
    assert found.status is Status.converged and (found.w >= low).all()


def test_bounds_that_do_not_bind_leave_the_bytes_as_they_are():
    X, y, _, _, _ = drawn()
    free = solve(ProxNewton, posed(X, y, Logistic()), tol=1e-9)
    wide = Bounds(np.full(8, -1e9), np.full(8, 1e9))
    bounded = solve(ProxNewton, posed(X, y, Logistic(), bounds=wide), tol=1e-9)
    assert bounded.w.tobytes() == free.w.tobytes()
