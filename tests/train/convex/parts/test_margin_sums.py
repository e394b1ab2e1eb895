"""One reading of the rows tells the losses, multipliers and curvatures that plain NumPy has."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.convex.losses import Logistic, SquaredHinge
from linsep.train.convex.parts.margin_sums import MarginSums
from linsep.train.convex.problem import Problem


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=["logistic", "squared hinge"])
def test_sums_over_rows_are_those_of_numpy(loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), np.where(rng.random(50) < 0.5, -1, 1)
    u, weights = rng.standard_normal(5), rng.random(50)
    problem = Problem.of(X, y, weights, 2.0, loss, True)
    with Pool(1) as pool:
        sums = MarginSums(problem, pool).at(u, loss)
    z = y * (X @ u[:4] + u[4])
    if isinstance(loss, Logistic):
        value, slope = np.logaddexp(0.0, -z), -1.0 / (1.0 + np.exp(z))
        bend = np.exp(z) / np.square(1.0 + np.exp(z))
    else:
        lack = np.maximum(0.0, 1.0 - z)
        value, slope, bend = lack**2, -2.0 * lack, 2.0 * (lack > 0)
    A, caps = np.column_stack([X, np.ones(50)]), 2.0 * weights
    assert sums.smooth == pytest.approx(float(caps @ value), rel=1e-12)
    pull = -(caps * slope * y) @ A
    np.testing.assert_allclose(sums.v[0] + sums.v[1], pull, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sums.hessian, (A.T * (caps * bend)) @ A, rtol=1e-11, atol=1e-11)
