"""Crammer and Singer's machine by Newton's method on a softened loss."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import choose
from linsep.train.convex.joint.descent.crammer_singer import CrammerSinger
from linsep.train.convex.joint.interior_point import JointInteriorPoint
from linsep.train.convex.joint.softened import softened_newton
from linsep.train.convex.joint.softened.softened_newton import SoftenedNewton, SoftRows


def classes(n=200, d=5, K=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return rng.standard_normal((n, d)) + rng.standard_normal((K, d))[y], y


def solve(X, y, weights=None, C=1.0, tol=1e-6, **more):
    return drive(SoftenedNewton(X, y, weights, C, n_classes=int(y.max()) + 1, **more), Goal(tol))


def softened(W, X, y, caps, epsilon):
    own = np.arange(len(y)), y
    z = X @ W.T + 1.0
    z[own] -= 1.0
    z -= (X @ W.T)[own][:, None]
    return 0.5 * (W**2).sum() + caps @ (epsilon * np.log(np.exp(z / epsilon).sum(axis=1)))


def rows_at(W, X, y, epsilon):
    caps = np.linspace(0.5, 2.0, len(y))
    rows = SoftRows(X, y, caps, np.ones(X.shape[1]), len(W), Pool(1))
    rows.evaluate(W, epsilon)
    return rows, caps


def test_the_gradient_is_the_slope_and_the_drift_how_it_changes_with_epsilon():
    X, y = classes(60)
    rng = np.random.default_rng(4)
    W, D, h = rng.standard_normal((4, 5)), rng.standard_normal((4, 5)), 1e-5
    rows, caps = rows_at(W, X, y, 0.7)
    up, down = (softened(W + s * h * D, X, y, caps, 0.7) for s in (1, -1))
    assert np.vdot(rows.gradient, D) == pytest.approx((up - down) / (2 * h), rel=1e-6)
    above, below = (rows_at(W, X, y, 0.7 + s * h)[0].gradient for s in (1, -1))
    assert rows.drift() == pytest.approx((above - below) / (2 * h), rel=1e-5, abs=1e-5)


def test_a_step_ends_where_its_line_is_flat():
    X, y = classes(60)
    rows, _ = rows_at(np.zeros((4, 5)), X, y, 0.3)
    step = -rows.gradient
    t = rows.length(step)
    after, _ = rows_at(t * step, X, y, 0.3)
    assert abs(np.vdot(after.gradient, step)) <= 0.1 * (step**2).sum()
    assert rows.length(-step) == 0.0


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_it_ends_at_the_optimum_of_the_machine(C):
    X, y = classes()
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    got = solve(X, y, weights, C)
    other = JointInteriorPoint(X, y, weights, C, n_classes=4, fit_intercept=False)
    assert got.status is Status.converged
    assert got.primal == pytest.approx(drive(other, Goal(1e-8)).primal, rel=2e-6)
    assert not got.alpha[weights == 0.0].any()
    assert abs(got.alpha.sum(axis=1)).max() < 1e-9 * C


def test_a_sample_comes_first_and_threads_change_no_byte(monkeypatch):
    monkeypatch.setattr(softened_newton, "SAMPLE", 300)
    monkeypatch.setattr(softened_newton, "PART", 128)
    X, y = classes(1500)
    one, two = (solve(X.astype(np.float32), y, n_jobs=jobs) for jobs in (1, 2))
    assert one.status is Status.converged
    assert one.w.tobytes() == two.w.tobytes()
    assert one.alpha.tobytes() == two.alpha.tobytes()


def test_columns_of_any_scale_and_multipliers_to_begin_with():
    X, y = classes()
    X *= np.array([1e-4, 1.0, 1e4, 1.0, 30.0])
    first = solve(X, y, tol=1e-4)
    again = solve(X, y, tol=1e-4, start=(first.alpha, first.b))
    assert first.status is Status.converged
    assert again.status is Status.converged


def test_it_is_for_rows_too_many_to_be_written_out(monkeypatch):
    X, y = classes()
    monkeypatch.setattr(choose, "WRITTEN", 500)
    known = {"n_classes": 4, "max_iter": 100}
    picked = choose.joint_solver(X, y, None, 1.0, fit_intercept=False, **known)
    assert isinstance(picked, Handover)
    assert picked.name == "newton"
    free = choose.joint_solver(X, y, None, 1.0, fit_intercept=True, **known)
    assert isinstance(free, CrammerSinger)
