"""Offsets, weights of penalties and bounds: the certificate holds, whatever is proposed."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.gap.certificate import FittedProblem, certify_planes
from linsep.proofs.gap.joint_certificate import certify_softmax
from linsep.proofs.gap.moves import Told, least
from linsep.proofs.gap.penalty import Penalty
from linsep.proofs.gap.told import certify_regression, certify_told
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.parts.outputs import Softmax
from linsep.train.convex.penalties import Bounds, Elastic
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.prox_newton import ProxNewton

WIDE = {"low": np.full((1, 1), -np.inf), "high": np.full((1, 1), np.inf)}
LOSSES = {"logistic": Logistic(), "squared_hinge": SquaredHinge(), "hinge": Hinge()}
C = 0.5


def fitted(loss="logistic", weight=None, l1=0.0, seed=0, form=np.asarray, K=1, tol=1e-9):
    """A problem, its solution nearly without a gap, and what it looks like to a certificate."""
    rng, (n, d) = np.random.default_rng(seed), (200, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d) + (np.arange(d) == 2) * 50
    scores = (X / X.std(axis=0)) @ rng.normal(size=(d, K)) + 2 * rng.normal(size=(n, K))
    codes = scores.argmax(axis=1) if K > 1 else (scores[:, 0] > scores[:, 0].mean()).astype(int)
    offset, weight = rng.normal(size=(n, K)), np.ones(d) if weight is None else weight
    low = np.where(rng.random((K, d)) < 0.4, 0.0, -np.inf)
    high = np.where(rng.random((K, d)) < 0.2, 1e-3, np.inf)
    given = codes if K > 1 else 2 * codes - 1
    told = {"offset": offset.T if K > 1 else offset[:, 0], "bounds": Bounds(low, high)}
    kind = LOSSES[loss] if K == 1 else Softmax(K)
    problem = Problem.of(form(X), given, None, C, kind, True)
    problem = problem._replace(penalty=Elastic(l1, 1.0 - l1, weight), **told)
    found = solve(ProxNewton, problem, tol=1e-6 if loss == "hinge" else tol)
    W, b = np.atleast_2d(found.w), np.atleast_1d(found.b)
    known = Told(weight, low, high, offset if K > 1 else offset[:, 0])
    seen = FittedProblem(form(X), codes, C, W, b, True, Penalty(l1, 1.0 - l1), None, 1e-9, known)
    return found, seen


def certified(loss, problem, alpha):
    if len(problem.W) > 1:
        return certify_softmax(problem, alpha)
    return certify_planes(loss, problem, None if alpha is None else np.atleast_2d(alpha))


WEIGHTS = {"all": np.ones(6), "some": np.array([1.0, 0.0, 2.0, 0.0, 0.3, 1.0]), "none": np.zeros(6)}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("l1", [0.0, 0.5, 1.0])
def test_a_good_fit_is_proved_to_be_one(loss, weight, l1):
    found, problem = fitted(loss, WEIGHTS[weight], l1)
    count = certified(loss, problem, found.alpha)
    assert count.primal == pytest.approx(found.primal, rel=1e-11)
    assert count.gap <= 2e-6 if loss == "hinge" else count.gap <= 1e-8
    assert count.low <= found.primal * (1 + 1e-12)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("K", [3, 5])
def test_so_are_those_of_several_classes(weight, K):
    found, problem = fitted(weight=WEIGHTS[weight], K=K, l1=0.5)
    assert certified("logistic", problem, found.alpha).gap <= 1e-8
    assert certified("logistic", problem, None).gap <= 1e-7


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_is_proposed_lifts_the_bound_above_the_optimum(loss, seed):
    """Nor is the optimum of a hair less than what the solver found any proof against it."""
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.5, 1.0], 6)
    found, problem = fitted(loss, weight, rng.choice([0.0, 0.5, 1.0]), seed)
    for noise in (1e-3, 0.1, 1.0, 10.0):
        alpha = found.alpha * rng.uniform(0, 1 + noise, len(found.alpha)) + noise * C * rng.random(
            200
        )
        assert certified(loss, problem, alpha).low <= found.primal
        moved = problem._replace(W=problem.W * rng.uniform(1 - noise, 1 + noise, 6))
        count = certified(loss, moved, None)
        assert count.low <= found.primal and count.high >= found.dual


def test_dense_and_sparse_rows_have_the_same_certificate():
    for K in (1, 3):
        found, dense = fitted(weight=WEIGHTS["some"], K=K)
        sparse = dense._replace(X=sp.csr_array(dense.X))
        one, other = (certified("logistic", p, found.alpha) for p in (dense, sparse))
        assert one.low == pytest.approx(other.low, rel=1e-10)
        assert one.primal == pytest.approx(other.primal, rel=1e-12)


def test_weights_out_of_their_bounds_prove_nothing():
    found, problem = fitted()
    at = int(np.flatnonzero(np.isfinite(problem.told.low[0]))[0])
    W = problem.W.copy()
    W[0, at] = problem.told.low[0, at] - 1e-12
    assert certified("logistic", problem._replace(W=W), found.alpha).gap == 1.0


def test_columns_that_nothing_holds_and_that_depend_on_each_other_prove_nothing():
    found, problem = fitted(weight=WEIGHTS["some"])
    X, told = problem.X.copy(), problem.told
    X[:, 3] = X[:, 1]
    loose = told._replace(low=np.full((1, 6), -np.inf), high=np.full((1, 6), np.inf))
    assert certified("logistic", problem._replace(X=X, told=loose), found.alpha).low == 0.0


@pytest.mark.parametrize("v", [-3.0, -0.5, 0.0, 0.5, 3.0])
@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0.0, np.inf), (-1.0, 0.5), (1, 1)])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_the_least_of_one_variable_is_that_of_a_fine_grid(v, low, high, ridge):
    told = Told(np.ones(1), np.array([[low]], float), np.array([[high]], float))
    found = least(np.array([[v]]), np.array([[1.0]]), np.array([[ridge]]), told)[0, 0]
    grid = np.clip(np.linspace(-1e3, 1e3, 2_000_001), low, high)
    wanted = (np.abs(grid) + 0.5 * ridge * grid**2 - v * grid).min()
    if ridge == 0.0 and wanted < -100:
        assert found == -np.inf
    else:
        assert found == pytest.approx(wanted, abs=1e-6) and found <= wanted + 1e-12


def test_squared_errors_are_bounded_by_what_least_squares_reach():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)) + 100, rng.normal(size=(50, 1))
    A = np.column_stack([X, np.ones(50)])
    w, b = np.linalg.lstsq(A, y[:, 0], rcond=None)[0]
    best = 0.5 * float(np.square(A @ [w, b] - y[:, 0]).sum())
    told = Told(np.zeros(1), **WIDE)
    count = certify_regression(X, y, 1.0, np.array([[w]]), np.array([b]), True, told)
    assert count.gap <= 1e-10 and count.low <= best <= count.high
    far = certify_regression(X, y, 1.0, np.array([[w + 0.1]]), np.array([b]), True, told)
    assert far.low <= best


def test_a_plane_is_certified_without_a_proposal():
    found, problem = fitted()
    alone = certify_told("logistic", problem, problem.codes == 1)
    assert alone.gap <= 1e-8 and alone.low <= found.primal
