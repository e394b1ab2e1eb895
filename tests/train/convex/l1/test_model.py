"""The quadratic model of a working set, and columns that are shifted and scaled first."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.l1.design import design_of
from linsep.train.convex.l1.loss_terms import terms_of
from linsep.train.convex.l1.model import Model
from linsep.train.convex.l1.prox_newton import LOGISTIC, ProxNewton
from linsep.train.convex.l1.scaled import ScaledProxNewton
from linsep.train.convex.penalties import LASSO, Elastic


def rows(n=60, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, 1, -1).astype(np.int8)


@pytest.mark.parametrize("penalty", [LASSO, Elastic(0.5, 2.0)], ids=["lasso", "elastic"])
def test_no_step_nearby_has_a_lower_value_of_the_model(penalty):
    (X, y), rng = rows(), np.random.default_rng(1)
    w, damping = np.array([0.5, -0.5, 0.0, 0.0, 0.1]), np.full(5, 1e-3)
    with Pool(1) as pool:
        terms = terms_of(LOGISTIC, X @ w, 0.2, y, np.ones(1), pool)
        part = design_of(X, pool).part(np.arange(5))
        g = -X.T @ terms.pull
        change, bias = Model(part, True, penalty).minimum(terms, g, w, 1e-12, damping)

    def value(a, b):
        moved = X @ a + b
        model = g @ a + terms.slope * b + 0.5 * terms.curved @ moved**2 + 0.5 * damping @ a**2
        return model + penalty.value(w + a)

    least = value(change, bias)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            step = size * rng.normal(size=6)
            assert value(change + step[:5], bias + step[5]) >= least - 1e-9


def test_shifted_and_scaled_columns_have_the_weights_of_their_own_units():
    X, y = rows()
    near = ProxNewton(X, y, None, 1.0, LASSO)
    far = ScaledProxNewton(X + 1e4, y, None, 1.0, LASSO)
    for solver in (near, far):
        solver.tol = 1e-10
        with solver.pool:
            for seen in solver.candidates():
                if seen.within(1e-10):
                    break
    expected, moved = near.solution(), far.solution()
    np.testing.assert_allclose(moved.w, expected.w, atol=1e-5)
    assert moved.b == pytest.approx(expected.b - 1e4 * expected.w.sum(), abs=0.2)


def test_many_columns_that_depend_on_each_other_take_few_steps():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9_000, 8)) @ rng.normal(size=(8, 1_100)) + rng.normal(size=(9_000, 1_100))
    signs = np.where(X @ rng.normal(size=1_100) + 100.0 * rng.normal(size=9_000) > 0, 1, -1)
    solver = ProxNewton(X, signs.astype(np.int8), None, 1.0, LASSO)
    found = drive(solver, Goal(1e-4, 30))
    assert found.status is Status.converged and found.n_iter < 10
