"""Crammer and Singer's machine inside: matrices, steps, last digits, and which solver runs."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import choose, class_hessian
from linsep.train.convex.joint.balance import even
from linsep.train.convex.joint.central_path import CentralPath
from linsep.train.convex.joint.class_hessian import ClassHessian
from linsep.train.convex.joint.descent.crammer_singer import CrammerSinger
from linsep.train.convex.joint.interior_point import JointInteriorPoint
from linsep.train.convex.joint.last_digits import last_digits


def classes(n=90, d=5, K=4, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((K, d))[y], y


def by_steps(X, y, C=1.0, weights=None, tol=1e-6, **more):
    solver = JointInteriorPoint(X, y, weights, C, n_classes=int(y.max()) + 1, **more)
    return drive(solver, Goal(tol, 100))


def by_descent(X, y, C=1.0, weights=None, tol=1e-6, **more):
    solver = CrammerSinger(X, y, weights, C, n_classes=int(y.max()) + 1, max_iter=20_000, **more)
    return drive(solver, Goal(tol, 20_000))


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("some", [True, False])
def test_the_matrix_of_all_classes_is_what_its_formula_says(free, some, monkeypatch):
    monkeypatch.setattr(class_hessian, "CHUNK", 7)
    monkeypatch.setattr(class_hessian, "PART", 30)
    X, _ = classes(80, 3, 4)
    d = np.random.default_rng(1).random((4, 80))
    used = np.flatnonzero(d[0] > 0.4) if some else None
    with Pool(2) as pool:
        H = ClassHessian(X.astype(np.float32), 4, free, pool)
        once, again = H(d, used), H(d, used)
    Z = np.c_[X.astype(np.float32), np.ones(80)] if free else X.astype(np.float32)
    rows = range(80) if used is None else used
    expected = sum(
        np.kron(np.diag(d[:, i]) - np.outer(d[:, i], d[:, i]) / d[:, i].sum(), np.outer(Z[i], Z[i]))
        for i in rows
    )
    np.testing.assert_allclose(once, expected, rtol=1e-6, atol=1e-9)
    assert once.tobytes() == again.tobytes()


def test_a_step_keeps_the_sums_of_multipliers_though_caps_differ_by_ten_million():
    _, y = classes(60, 2, 3)
    caps = np.where(y == 0, 1e3, 1e-4)
    with Pool(1) as pool:
        path = CentralPath(y, caps, 3, pool)
        path.begin(8.0)
        path.evaluate(0.0)
        path.aim(1e-9, False)
        longest, across, square = path.follow(np.random.default_rng(0).standard_normal((3, 60)))
        before = float((path.a * path.t).sum())
        size = min(1.0, 0.9 * longest)
        after, _, _ = path.evaluate(size)
    np.testing.assert_allclose(path.a.sum(axis=0), caps, rtol=1e-15)
    np.testing.assert_allclose(path.da.sum(axis=0) / caps, 0, atol=1e-15)
    assert after == pytest.approx(before + size * across + size**2 * square, rel=1e-9)
    assert (path.a > 0).all() and (path.t > 0).all()


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("apart", [0.3, 6.0])
def test_steps_and_descent_end_at_the_same_optimum(free, C, apart):
    X, y = classes(apart=apart)
    weights = np.random.default_rng(2).integers(0, 3, len(y)) + (np.arange(len(y)) < 4)
    steps = by_steps(X, y, C, weights, fit_intercept=free)
    descent = by_descent(X, y, C, weights, tol=1e-4, fit_intercept=free)
    assert steps.status is Status.converged
    assert steps.dual <= descent.primal * (1 + 1e-9)
    assert descent.dual <= steps.primal * (1 + 1e-9)
    if free:
        np.testing.assert_allclose(steps.alpha.sum(axis=0), 0, atol=1e-9 * C * len(y))


@pytest.mark.parametrize("units", [1e-4, 1e4, "each", "offset"])
def test_steps_mind_no_units(units):
    X, y = classes(120, 6, 3, apart=1.0)
    if units == "each":
        X = X * np.geomspace(1e-3, 1e3, 6)
    else:
        X = X + 1e6 if units == "offset" else X * units
    for order in range(3):
        places = np.random.default_rng(order).permutation(len(y))
        solution = by_steps(X[places], y[places], tol=1e-5)
        assert solution.status is Status.converged
        assert solution.n_iter < 40
        assert by_steps(X, y, tol=1e-5).primal == pytest.approx(solution.primal, rel=3e-5)


def test_last_digits_follow_from_the_tight_bounds_and_a_wrong_guess_is_seen():
    X, y = classes(60, 3, 3)
    near = by_steps(X, y, tol=1e-4, fit_intercept=False)
    assert near.gap <= 1e-12 * near.primal
    np.testing.assert_allclose(near.alpha.T @ X, near.w, atol=1e-12)
    a = np.full((3, 60), 1 / 3)
    guess = last_digits(X, y, np.ones(60), np.ones(3), a, np.where(a > 0, 1e-3, 1.0))
    assert guess is None or not np.allclose(guess[0], near.w)


def test_steps_begin_from_multipliers_that_are_good_enough():
    X, y = classes(200, 30, 5)
    first = by_steps(X, y, tol=1e-5)
    again = by_steps(X, y, tol=1e-4, start=(first.alpha, first.b))
    assert again.n_iter == 1 < first.n_iter
    assert again.primal == pytest.approx(first.primal, rel=1e-4)


def test_threads_change_no_byte():
    X, y = classes(6000, 6, 12)
    one, two = (by_steps(X, y, tol=1e-3, n_jobs=jobs) for jobs in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.alpha.tobytes() == two.alpha.tobytes()


def test_the_solver_follows_from_what_each_would_cost():
    def solver(n, d, K, which="auto", sparse=False):
        X = sp.csr_array((n, d)) if sparse else np.zeros((n, d))
        shared = {"n_classes": K, "fit_intercept": True, "max_iter": 1000}
        return choose.joint_solver(X, np.zeros(n, int), None, 1.0, which=which, **shared)

    assert isinstance(solver(150, 4, 3), JointInteriorPoint)
    assert isinstance(solver(150, 4, 3, "dual"), CrammerSinger)
    assert isinstance(solver(1797, 64, 10), Handover)
    assert isinstance(solver(20_000, 16, 26), Handover)
    assert isinstance(solver(11_000, 100_000, 20, sparse=True), CrammerSinger)


def test_descent_that_is_too_slow_is_handed_over():
    rng = np.random.default_rng(0)
    X = rng.random((900, 40)) * 16
    y = (X @ rng.standard_normal((40, 8))).argmax(axis=1)
    shared = {"n_classes": 8, "fit_intercept": False, "max_iter": 400}
    solver = choose.joint_solver(X, y, None, 1.0, **shared)
    assert isinstance(solver, Handover)
    solution = drive(solver, Goal(1e-4, 400))
    assert (solution.status, solution.solver) == (Status.converged, "interior")


def test_multipliers_that_flow_in_circles_are_left_alone():
    A = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(even(A, np.arange(3)), A)
