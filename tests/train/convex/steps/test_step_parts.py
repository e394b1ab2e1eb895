"""First-order steps: slopes by differences, bounds below every objective."""

import numpy as np
import pytest

from linsep.status import Status
from linsep.train.convex.drive import Goal, drive, telling
from linsep.train.convex.losses import Hinge, Logistic
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.steps.score_descent import ScoreDescent
from linsep.train.convex.steps.score_losses import Planes, Softmax, SquaredError
from linsep.train.convex.steps.score_walks import Pace, Stepping, Steps
from linsep.train.convex.steps.squared_error import SquaredErrorSteps
from linsep.train.convex.steps.standardise import raw_lens
from linsep.train.problem import Problem


def data(K=2, n=120, d=4):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((n, d))
    codes = (X @ rng.standard_normal((d, K)) + rng.standard_normal((n, K))).argmax(axis=1)
    return X, codes.astype(np.int32), rng


def descent_of(loss, K, penalty, C=0.5, **settings):
    X, codes, rng = data(max(2, K))
    problem = Problem(X, codes, None, max(2, K))
    made = ScoreDescent(problem, loss, K, penalty, C, free=True, **{"scale": False, **settings})
    return X, codes, rng, made


@pytest.mark.parametrize("ratio", [0.0, 0.5])
@pytest.mark.parametrize(("loss", "K"), [(Planes(Logistic()), 1), (Softmax(3), 3)])
def test_a_look_has_the_objective_its_slope_and_a_bound_below(loss, K, ratio):
    penalty = Elastic(ratio, 1 - ratio)
    X, codes, rng, descent = descent_of(loss, K, penalty)
    values = []
    for size in (0.0, 0.1, 1.0):
        descent.a, descent.b = size * rng.standard_normal((K, 4)), size * rng.standard_normal(K)
        seen = descent.evaluate(descent.scores(descent.a))
        W, b = descent.outside(seen.a, seen.b)
        S = X @ W.T + b
        losses = loss.losses(S, codes).sum()
        assert seen.value * descent.unit == pytest.approx(penalty.value(W) + 0.5 * losses)
        values.append(seen)
        for k in range(K):
            for j in range(4):
                e = np.zeros((K, 4))
                e[k, j] = 1e-6
                low, high = (
                    loss.losses(X @ descent.outside(seen.a + s * e, seen.b)[0].T
                                + descent.outside(seen.a + s * e, seen.b)[1], codes).sum()
                    for s in (-1, 1)
                )  # fmt: skip
                assert seen.slope[k, j] == pytest.approx((high - low) / 2e-6 / len(X), abs=1e-4)
    assert max(seen.dual for seen in values) <= min(seen.value for seen in values) + 1e-12


@pytest.mark.parametrize("batch", [None, 10])
@pytest.mark.parametrize("loss", [Planes(Logistic()), Planes(Hinge())], ids=["logistic", "hinge"])
def test_walks_come_down_and_prove_how_near_they_are(loss, batch):
    *_, descent = descent_of(loss, 1, Elastic(0.0, 1.0), scale=True)
    first = descent.evaluate(descent.scores(descent.a)).value * descent.unit
    steps = Steps(batch, None, None, 0, True, False, Pace())
    heard, shown = [], []
    solver = Stepping(descent, steps, publish=lambda W, b: shown.append(W))
    solution = drive(solver, Goal(1e-2, 300, telling([heard.append])))
    assert solution.primal < first and solution.dual <= solution.primal
    assert len(heard) == solution.n_iter == len(shown) - 1  # once before the first pass
    assert solution.status in (Status.converged, Status.budget)


def regression(problem, Y, start="zero"):
    steps = Steps(None, 0.1, None, 3, True, False, Pace())
    how = {"free": True, "scale": False, "tol": 0.0, "absolute": False, "start": start}
    return SquaredErrorSteps(problem, Y, steps, **how)


def test_squared_error_has_its_slope_and_two_points_their_plane():
    X, _, rng = data()
    Y = X @ rng.standard_normal((4, 2)) + 1.0
    problem = Problem(X, np.zeros(len(X), np.int32), None, 1)
    solver = regression(problem, Y, "random")
    descent, run = solver.descent, solver.candidates()
    E = X @ descent.a.T + descent.b - descent.labels
    next(run)
    assert np.allclose(solver._start, (E**2).mean(axis=0).sum() / 2)
    E = X @ descent.a.T + descent.b - descent.labels
    seen = solver._walk.seen
    assert np.allclose(seen.slope, E.T @ X / len(X)) and np.allclose(seen.slope_b, E.mean(axis=0))
    assert seen.value < solver._start
    through = regression(problem, Y, "two-point").descent
    assert np.allclose(X[:2] @ through.a.T + through.b, through.labels[:2])
    assert raw_lens(4).of(X).tolist() == X.tolist()


def test_a_loss_of_numbers_meets_its_dual_term():
    rng = np.random.default_rng(5)
    S, T = rng.standard_normal((2, 9, 3))
    loss = SquaredError()
    R = loss.residual(S, T)
    met = loss.losses(S, T) - (R * S).sum(axis=1)
    np.testing.assert_allclose(loss.dual(R, T, 1.0), met, atol=1e-14)
    c = np.full(9, 1 / 9)
    b = loss.best_bias(S, T, c, np.zeros(3))
    np.testing.assert_allclose(c @ loss.residual(S + b, T), 0.0, atol=1e-15)
    np.testing.assert_allclose(c @ loss.balanced(R, c), 0.0, atol=1e-15)
