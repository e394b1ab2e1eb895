"""Crammer and Singer's machine: three ways to one optimum, and which of them runs."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.classes import class_hessian
from linsep.train.convex.classes.class_hessian import ClassHessian
from linsep.train.convex.classes.joint_face import Face
from linsep.train.convex.classes.joint_problem import JointProblem, even
from linsep.train.convex.classes.smoothed_rows import SmoothedRows
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import joint_solver
from linsep.train.convex.solvers import joint_descent
from linsep.train.convex.solvers.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.solvers.joint_descent import JointDescent
from linsep.train.convex.solvers.joint_interior_point import JointInteriorPoint, Path
from proofs.gap.flows import break_even

KINDS = [JointDescent, JointInteriorPoint, AugmentedLagrangian]


def classes(n=90, d=5, K=4, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((K, d))[y], y


def alike(seed, n=600, d=60, K=5):
    """Classes that overlap, in columns that say nearly the same."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(K, d))[codes]
    return X @ rng.normal(size=(d, d)) * 0.05 + 0.5, codes


def problem_of(X, y, C=1.0, weights=None, free=True):
    return JointProblem.of(X, y, weights, C, int(y.max()) + 1, free)


def solve(kind, X, y, C=1.0, weights=None, tol=1e-6, free=True, passes=20_000, **more):
    return drive(kind(problem_of(X, y, C, weights, free), **more), Goal(tol, passes))


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("apart", [0.3, 6.0])
def test_all_ways_end_at_the_same_optimum(kind, free, C, apart):
    X, y = classes(apart=apart)
    weights = np.random.default_rng(2).integers(0, 3, len(y)) + (np.arange(len(y)) < 4)
    steps = solve(kind, X, y, C, weights, tol=1e-5, free=free)
    descent = solve(JointDescent, X, y, C, weights, tol=1e-4, free=free)
    assert steps.status is descent.status is Status.converged
    assert steps.dual <= descent.primal * (1 + 1e-9)
    assert descent.dual <= steps.primal * (1 + 1e-9)
    if free:
        for one in (steps, descent):
            np.testing.assert_allclose(one.alpha.sum(axis=0), 0, atol=1e-9 * C * len(y))


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("units", [1e-4, 1e4, "each", "offset"])
def test_steps_mind_no_units(kind, units):
    X, y = classes(120, 6, 3)
    if units == "each":
        X = X * np.geomspace(1e-3, 1e3, 6)
    else:
        X = X + 1e3 if units == "offset" else X * units
    one, other = (solve(each, X, y, tol=1e-4) for each in (kind, JointInteriorPoint))
    assert one.status is Status.converged
    assert other.n_iter < 40
    assert one.primal == pytest.approx(other.primal, rel=3e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_begins_from_multipliers(kind):
    X, y = classes(300, 30, 5)
    first = solve(kind, X, y, tol=1e-5)
    again = solve(kind, X, y, tol=1e-4, start=(first.alpha, first.b))
    assert again.n_iter < first.n_iter
    assert again.primal == pytest.approx(first.primal, rel=2e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("free", [True, False])
def test_threads_change_no_byte(kind, free):
    X, y = classes(6000, 40 if kind is AugmentedLagrangian else 6, 12)
    one, two = (solve(kind, X, y, tol=1e-2, n_jobs=jobs, free=free) for jobs in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.alpha.tobytes() == two.alpha.tobytes()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_descent_takes_any_rows_and_an_offset(layout):
    X, y = classes(200, 100, 4)
    plain = solve(JointDescent, X, y, tol=1e-7, free=True)
    for other in (X.astype(np.float32), X + 100.0, X * 2.0**40):
        C = 1.0 if other.max() < 1e9 else 2.0**-80
        again = solve(JointDescent, layout(other), y, C, tol=1e-7)
        assert again.status is Status.converged
        assert again.primal / C == pytest.approx(plain.primal, rel=1e-5)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_columns_that_say_nearly_the_same_take_few_passes(layout, free):
    X, codes = alike(3)
    solution = solve(JointDescent, layout(X), codes, C=10.0, free=free, passes=40)
    assert solution.status is Status.converged


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_a_step_that_meets_no_bound_is_the_best_on_its_face(layout, rho, monkeypatch):
    monkeypatch.setattr("linsep.train.convex.classes.joint_face.PROGRESS", 0.0)
    X, _ = alike(0, n=12, d=100)
    rng = np.random.default_rng(1)
    a = rng.dirichlet(np.ones(5), 12) * 1e3
    a[:, 3] = 0.0
    a *= 1e3 / a.sum(axis=1)[:, None]
    s = rng.normal(size=(12, 5)) * 0.1
    face = Face(layout(X), a, s, np.full(12, 1e3), (X**2).sum(axis=1) + rho, rho)
    to, gain, met = face.step(face.direction(1e-7, 500)[0])
    assert gain > 0.0 and not met and not to[:, 3].any()
    np.testing.assert_allclose(to.sum(axis=1), 1e3)
    change = to - a
    left = (s - X @ (X.T @ change) - rho * change.sum(axis=0))[:, [0, 1, 2, 4]]
    mean = np.broadcast_to(left.mean(axis=1)[:, None], left.shape)
    np.testing.assert_allclose(left, mean, atol=1e-6)


def test_a_callback_can_end_it():
    X, y = classes()
    goal = Goal(1e-12, listener=lambda seen: True)
    found = drive(JointDescent(problem_of(X, y)), goal)
    assert (found.status, found.n_iter) == (Status.stopped, 1)


def test_a_step_keeps_the_sums_of_multipliers_though_caps_differ_by_ten_million():
    _, y = classes(60, 2, 3)
    caps = np.where(y == 0, 1e3, 1e-4)
    path = Path(y, caps, 3)
    path.arrive(0.0)
    path.aim(1e-9, False)
    longest, across, square = path.follow(np.random.default_rng(0).standard_normal((3, 60)))
    before = float((path.a * path.t).sum())
    size = min(1.0, 0.9 * longest)
    after = path.arrive(size)[0]
    np.testing.assert_allclose(path.a.sum(axis=0), caps, rtol=1e-15)
    np.testing.assert_allclose(path.da.sum(axis=0) / caps, 0, atol=1e-15)
    assert after == pytest.approx(before + size * across + size**2 * square, rel=1e-9)
    assert (path.a > 0).all() and (path.t > 0).all()


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


def test_a_factor_of_all_rows_inverts_what_classes_see_of_the_curvature_on_average():
    X, y = classes(200, 6, 5)
    W = np.random.default_rng(5).standard_normal((5, 7))
    rows = SmoothedRows(problem_of(X, y), Pool(1), np.float64)
    rows.scores(W, rows.S)
    rows.evaluate(2.0)
    each, Z = np.zeros((5, 7, 7)), np.c_[X, np.ones(200)]
    for i, h in zip(rows.rows, rows.curved, strict=True):
        count = np.count_nonzero(rows.P[i])
        for k in np.flatnonzero(rows.P[i]):
            each[k] += h * (1 - 1 / count) * np.outer(Z[i], Z[i])
    G = np.random.default_rng(6).standard_normal((5, 7))
    expected = np.linalg.solve(each.mean(axis=0) + np.eye(7), G.T).T
    found = rows.inverse(np.ones(7))(G)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_float32_rows_are_enough_until_more_digits_are_asked_for():
    X, y = classes(600, 200, 5, apart=0.2)
    X = X.astype(np.float32)
    few, many = (solve(AugmentedLagrangian, X, y, tol=tol) for tol in (1e-4, 1e-8))
    assert few.status is many.status is Status.converged
    assert few.primal == pytest.approx(many.primal, rel=1e-4)
    assert few.primal >= many.primal * (1 - 1e-6)


def test_the_solver_follows_from_what_each_would_cost():
    def solver(n, d, K, which="auto", sparse=False):
        X = sp.csr_array((n, d)) if sparse else np.zeros((n, d))
        return joint_solver(JointProblem.of(X, np.zeros(n, int), None, 1.0, K, True), which=which)

    assert isinstance(solver(150, 4, 3), JointInteriorPoint)
    assert isinstance(solver(150, 4, 3, "dual"), JointDescent)
    assert isinstance(solver(1797, 64, 10), Handover)
    assert isinstance(solver(11_000, 100_000, 20, sparse=True), JointDescent)
    wide = solver(6000, 784, 10)
    assert isinstance(wide, Handover) and wide.name == AugmentedLagrangian.name
    assert isinstance(solver(6000, 784, 10, "dual"), JointDescent)


def test_descent_that_is_too_slow_is_handed_over(monkeypatch):
    monkeypatch.setattr(joint_descent, "SOON", 10**6)
    rng = np.random.default_rng(0)
    X = rng.random((900, 40)) * 16
    y = (X @ rng.standard_normal((40, 8))).argmax(axis=1)
    solver = joint_solver(JointProblem.of(X, y, None, 1.0, 8, False), max_iter=400)
    assert isinstance(solver, Handover)
    solution = drive(solver, Goal(1e-4, 400))
    assert (solution.status, solution.solver) == (Status.converged, JointInteriorPoint.name)


def test_descent_goes_on_where_newton_steps_get_no_further():
    X, y = classes(300, 200, 4, apart=6.0)
    alone = solve(AugmentedLagrangian, X, y, C=100.0, passes=3)
    assert alone.status is Status.budget
    again = solve(JointDescent, X, y, C=100.0, tol=1e-4, start=(alone.alpha, alone.b))
    assert again.status is Status.converged


def test_multipliers_that_flow_in_circles_are_left_alone():
    A = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(even(A, np.arange(3)), A)


@pytest.mark.parametrize("seed", range(3))
def test_flows_break_even_over_classes_that_do_not_touch(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, 60)
    counts = rng.integers(0, 50, (60, 6)) * ((codes[:, None] + 1) % 6 == np.arange(6))
    before = counts.copy()
    A = -counts.astype(float)
    A[np.arange(60), codes] = counts.sum(axis=1)
    np.testing.assert_allclose(even(A, codes).sum(axis=0), 0, atol=1e-9)
    break_even(counts, codes)
    assert (counts <= before).all()
    assert counts.sum() > 0
    assert (np.bincount(codes, counts.sum(axis=1), 6) == counts.sum(axis=0)).all()
