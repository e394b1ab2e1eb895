"""Newton's method with the full Hessian: every shape and scale converges, however rows are kept."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearSVC, LogisticRegression
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton import Newton

LOSSES = {"logistic": Logistic(), "hinge": Hinge(), "squared_hinge": SquaredHinge()}


def rows(n, d, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.4)
    y = np.where(X[:, 0] - X[:, -1] + 0.3 + rng.standard_normal(n) > 0, 1, -1)
    return X * scale ** np.linspace(-1, 1, d), y


def learner(loss, tol, free=True):
    if loss == "logistic":
        return LogisticRegression(tol=tol, fit_intercept=free)
    return LinearSVC(loss=loss, tol=tol, fit_intercept=free)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "d"), [(12, 3), (500, 8), (3000, 12), (60, 200)])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_every_shape_and_scale_reaches_the_gap_asked_for(loss, n, d, scale):
    X, y = rows(n, d, scale)
    fine = learner(loss, 1e-9).fit(X, y)
    for tol in (1e-2, 1e-4, 1e-6):
        for layout in (np.asarray, sp.csr_array):
            made = learner(loss, tol).fit(layout(X), y)
            assert made.status_.name == "converged" and made.gap_ <= tol
            assert made.objective_ <= fine.objective_ * (1 + tol) / (1 - 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_does_not_matter_to_the_objective(loss):
    X, y = rows(2500, 6, seed=3)
    values = []
    for seed in range(3):
        p = np.random.default_rng(seed).permutation(len(y))
        values.append(learner(loss, 1e-5).fit(X[p], y[p]).objective_)
    assert max(values) <= min(values) * (1 + 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_threads_and_listeners_change_no_byte(loss, layout):
    X, y = rows(9000, 90, seed=1)
    problem, told = Problem.of(layout(X), y, None, 1.0, LOSSES[loss], True), []
    ends = {drive(Newton(problem, jobs), Goal(1e-5)).w.tobytes() for jobs in (1, 2)}
    heard = drive(Newton(problem), Goal(1e-5, listener=told.append))
    assert ends == {heard.w.tobytes()} and len(told) == heard.n_iter
