"""Newton's method on compiled kernels: the optimum of the objective, bounded from below."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.losses import Logistic, SquaredHinge
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton import Newton


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=["logistic", "squared hinge"])
def test_newton_ends_at_the_optimum_that_another_method_finds(loss, sparse):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 5)), np.where(rng.random(80) < 0.4, -1, 1)
    problem = Problem.of(sp.csr_array(X) if sparse else X, y, None, 0.5, loss, True)
    solution = drive(Newton(problem), Goal(tol=1e-10))

    def objective(u):
        z = y * (X @ u[:5] + u[5])
        lack = np.maximum(0.0, 1.0 - z)
        values = np.logaddexp(0.0, -z) if isinstance(loss, Logistic) else lack**2
        return 0.5 * u[:5] @ u[:5] + 0.5 * values.sum()

    best = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-9}).fun
    assert solution.status.name == "converged"
    assert solution.primal == pytest.approx(best, rel=1e-8)
    assert solution.dual <= best * (1 + 1e-9) and solution.gap <= 1e-10 * solution.primal


def test_columns_of_extreme_scale_give_the_weights_of_columns_near_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    X[:, 2] += 50.0
    y = np.where(X[:, 0] + X[:, 1] + rng.standard_normal(200) > 0, 1, -1)
    scale = np.array([2.0**30, 1.0, 2.0**-30])
    far = drive(Newton(Problem.of(X * scale, y, None, 2.0**40, Logistic(), True)), Goal(tol=1e-9))
    z = y * (X * scale @ far.w + far.b)
    primal = 0.5 * far.w @ far.w + 2.0**40 * np.logaddexp(0.0, -z).sum()
    assert far.status.name == "converged" and far.primal == pytest.approx(primal, rel=1e-12)
