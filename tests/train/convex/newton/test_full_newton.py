"""Newton's method in memory: every shape and scale converges, however the rows are stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from linsep import LinearSVC, LogisticRegression
from linsep.parallel import Pool
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.newton.full_newton import FullNewton, suits
from linsep.train.convex.newton.full_sums import FullSums
from linsep.train.convex.newton.newton_run import CLOSED, HINGE, LOGISTIC, SQUARED, NewtonRun

LOSSES = {"logistic": Logistic(), "hinge": Hinge(), "squared_hinge": SquaredHinge()}
KINDS = {"logistic": LOGISTIC, "hinge": HINGE, "squared_hinge": SQUARED}


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


@pytest.mark.parametrize("free", [True, False])
def test_the_logistic_optimum_is_that_of_a_general_minimiser(free):
    X, y = rows(200, 5)

    def objective(u):
        z = y * (X @ u[:-1] + free * u[-1])
        return 0.5 * u[:-1] @ u[:-1] + np.logaddexp(0, -z).sum()

    best = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-8})
    made = LogisticRegression(tol=1e-7, fit_intercept=free).fit(X, y)
    assert made.objective_ == pytest.approx(best.fun, rel=2e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_does_not_matter_to_the_objective(loss):
    X, y = rows(2500, 6, seed=3)
    values = []
    for seed in range(3):
        p = np.random.default_rng(seed).permutation(len(y))
        values.append(learner(loss, 1e-5).fit(X[p], y[p]).objective_)
    assert max(values) <= min(values) * (1 + 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_and_listeners_change_no_byte(loss):
    X, y = rows(9000, 90, seed=1)
    assert suits(X)
    ends = set()
    for n_jobs in (1, 2, 1):
        solver = FullNewton(X, y, loss=loss, n_jobs=n_jobs)
        ends.add(drive(solver, Goal(1e-5)).w.tobytes())
    assert len(ends) == 1
    X, y = X[:300, :5], y[:300]
    plain = drive(FullNewton(X, y, loss=loss), Goal(1e-5))
    told = []
    heard = FullNewton(X, y, loss=loss, watched=True)
    assert drive(heard, Goal(1e-5, listener=told.append)).w.tobytes() == plain.w.tobytes()
    assert len(told) >= plain.n_iter - 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_sums_are_those_of_the_formulas(loss, layout):
    X, y = rows(50, 7)
    sums = FullSums(layout(X), y.astype(float), np.full(50, 2.0), LOSSES[loss], Pool(1))
    u = np.linspace(-1, 1, 8)
    z = y * (X @ u[:-1] + u[-1])
    np.testing.assert_allclose(sums.margins(u), z, atol=1e-12)
    smooth = SquaredHinge() if loss == "hinge" else LOSSES[loss]
    p = sums.at(u, z, np.zeros(50), 0.0, smooth)
    alpha = np.array([-2.0 * smooth.slope(one) for one in z])
    D = np.array([2.0 * smooth.curvature(one) for one in z])
    np.testing.assert_allclose(p.alpha, alpha, atol=1e-12)
    v, H = sums.gather(p)
    Z = np.column_stack([X, np.ones(50)])
    np.testing.assert_allclose(v[0], (alpha * y)[y > 0] @ Z[y > 0], atol=1e-10)
    np.testing.assert_allclose(np.tril(H[:8, :8]), np.tril(Z.T @ (D[:, None] * Z)), atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_whole_run_closes_the_gap_in_one_call(loss):
    X, y = rows(80, 4)
    sums = FullSums(X, y.astype(float), np.ones(80), LOSSES[loss], Pool(1))
    run = NewtonRun(KINDS[loss], sums.rows, sums.y, sums.caps, np.append(np.ones(4), 0.0), True)
    assert run.go(1e-6, 0.0, 200, 2.0) == CLOSED
    assert abs(run.primal - run.dual) <= 1e-6 * run.primal
    assert abs(float(run.alpha @ y)) <= 1e-9 * run.alpha.sum()
