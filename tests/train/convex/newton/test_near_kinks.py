"""Steps by a model that keeps the losses of rows near their kinks."""

import numpy as np
import pytest
import scipy.optimize

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive, solve
from linsep.train.convex.losses import Logistic, SmoothedHinge, SquaredHinge
from linsep.train.convex.newton import newton_cg
from linsep.train.convex.newton.near_kinks import NearKinks, pieces, settle
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.newton.row_products import RowProducts

LOSSES = (SquaredHinge(), SmoothedHinge(0.5))


def rare(n=3000, d=60, seed=0):
    """Pixels of 0 to 255, most of them zero in nearly all rows, and classes that nearly part."""
    rng = np.random.default_rng(seed)
    often = np.geomspace(0.5, 2e-3, d)
    X = np.where(rng.random((n, d)) < often, rng.integers(1, 256, (n, d)), 0).astype(np.float32)
    noise = 40.0 * rng.normal(size=n)
    return X, np.where(X @ rng.normal(size=d) + noise > 0.0, 1, -1)


@pytest.mark.parametrize("loss", LOSSES)
def test_multipliers_and_curvatures_are_those_of_the_loss(loss):
    z, U = np.linspace(-3.0, 3.0, 41) + 0.01, np.full(41, 1.5)
    parts = pieces(loss)
    assert parts.value(z, U) == pytest.approx([1.5 * loss.value(t) for t in z])
    assert parts.alpha(z, U) == pytest.approx([-1.5 * loss.slope(t) for t in z])
    assert parts.curvature(z, U) == pytest.approx([1.5 * loss.curvature(t) for t in z])
    near = parts.distance(z)
    for t, far in zip(z, near, strict=True):
        ends = [loss.curvature(t + 0.999 * far), loss.curvature(t - 0.999 * far)]
        beyond = [loss.curvature(t + 1.001 * far), loss.curvature(t - 1.001 * far)]
        assert ends[0] == ends[1] != min(beyond, key=lambda c: c == ends[0])


def test_a_smooth_loss_has_no_pieces():
    assert pieces(Logistic()) is None


@pytest.mark.parametrize("loss", LOSSES)
def test_with_all_rows_near_the_model_is_the_objective(loss):
    rng = np.random.default_rng(3)
    B, U = rng.normal(size=(200, 6)), rng.uniform(0.5, 2.0, 200)
    u = rng.normal(size=6)

    def P(v):
        return 0.5 * v @ v + sum(c * loss.value(t) for c, t in zip(U, B @ v, strict=True))

    parts, z = pieces(loss), B @ u
    g = u - B.T @ parts.alpha(z, U)
    H = np.eye(6) + B.T @ (B * parts.curvature(z, U)[:, None])
    step, falls = settle(g, H, NearKinks(B, z, U), parts, -np.linalg.solve(H, g))
    lowest = scipy.optimize.minimize(P, np.zeros(6), tol=1e-12).fun
    assert P(u + step) == pytest.approx(lowest, rel=1e-9)
    assert falls == pytest.approx(P(u) - lowest, rel=1e-9)


def test_with_no_row_near_it_is_newtons_step():
    H, g = np.diag([2.0, 4.0]), np.array([2.0, -4.0])
    none = NearKinks(np.zeros((0, 2)), np.zeros(0), np.zeros(0))
    step, falls = settle(g, H, none, pieces(SquaredHinge()), np.array([-1.0, 1.0]))
    assert step == pytest.approx([-1.0, 1.0])
    assert falls == pytest.approx(3.0)


@pytest.mark.parametrize("most", [7, 10_000])
def test_rows_near_are_those_that_the_step_takes_across_first(most):
    X, y = rare(400, 20)
    caps, loss = np.linspace(1.0, 2.0, len(y)), SquaredHinge()
    products = RowProducts(X, y.astype(np.int8), caps, Pool(1))
    u, step = np.full(21, 1e-3), np.linspace(-0.01, 0.01, 21)
    products.evaluate(u, loss, loss)
    near = products.near_kinks(pieces(loss), step, 2.0, most)
    signed = np.hstack([X, np.ones((len(X), 1))]) * y[:, None]
    part = np.abs(1.0 - signed @ u) / np.abs(signed @ step)
    wanted = np.flatnonzero(part <= 2.0)
    wanted = np.sort(wanted[np.argsort(part[wanted])[: most + 1]])
    assert np.array_equal(near.rows, signed[wanted])
    assert near.z == pytest.approx(signed[wanted] @ u)
    assert np.array_equal(near.caps, caps[wanted])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("free", [True, False])
def test_rare_features_need_few_steps(loss, free, monkeypatch):
    X, y = rare()
    settings = {"loss": loss, "fit_intercept": free, "tol": 1e-6}
    settled = solve(NewtonCG, X, y, **settings)
    monkeypatch.setattr(newton_cg, "pieces", lambda loss: None)
    shortened = solve(NewtonCG, X, y, **settings)
    assert settled.status is Status.converged
    assert settled.primal == pytest.approx(shortened.primal, rel=2e-6)
    assert settled.n_iter < shortened.n_iter


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_run_that_settles_goes_on_with_the_same_bytes(loss):
    X, y = rare()
    whole = solve(NewtonCG, X, y, loss=loss, tol=1e-6)
    for steps in range(2, whole.n_iter, 3):
        first, again = (NewtonCG(X, y, loss=loss) for _ in range(2))
        drive(first, Goal(1e-6, steps))
        again.restore(first.state())
        after = drive(again, Goal(1e-6, 10_000))
        assert after.w.tobytes() == whole.w.tobytes()
        assert after.n_iter == whole.n_iter
