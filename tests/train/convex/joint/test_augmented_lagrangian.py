"""Crammer and Singer's machine by an augmented Lagrangian: projections, products, the optimum."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import choose, class_factors, smoothed_rows
from linsep.train.convex.joint.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.joint.descent.crammer_singer import CrammerSinger
from linsep.train.convex.joint.interior_point import JointInteriorPoint
from linsep.train.convex.joint.simplex import along, project, threshold
from linsep.train.convex.joint.smoothed_rows import SmoothedRows

NOTHING = Columns(np.empty(0), np.empty(0))


def classes(n=90, d=5, K=4, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((K, d))[y], y


def solve(X, y, C=1.0, weights=None, tol=1e-6, kind=AugmentedLagrangian, **more):
    solver = kind(X, y, weights, C, n_classes=int(y.max()) + 1, **more)
    return drive(solver, Goal(tol, 2000))


def rows_at(W, X, y, epsilon=0.5, centre=None, pool=None):
    caps = np.linspace(0.5, 2.0, len(y))
    rows = SmoothedRows(
        Blocks(X, NOTHING), y.astype(np.int64), caps, len(W), pool or Pool(1), np.float64
    )
    rows.centre[:] = 1.0 / len(W) if centre is None else centre
    rows.scores(W, rows.S)
    return rows, rows.evaluate(epsilon)


@pytest.mark.parametrize("seed", range(4))
def test_a_projection_is_on_the_simplex_and_nearer_than_any_other_point_of_it(seed):
    rng = np.random.default_rng(seed)
    q = 3 * rng.standard_normal(6)
    beta = threshold(q, 6, q.max(), q.sum())
    p = np.maximum(0.0, q - beta)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    others = rng.dirichlet(np.full(6, 0.3), 200)
    assert ((others - p) @ (q - p) <= 1e-12).all()  # an obtuse angle with every way inside


def test_the_smoothed_loss_lies_between_the_largest_less_epsilon_and_the_largest():
    X, y = classes()
    W = np.random.default_rng(3).standard_normal((4, 6))
    rows, at = rows_at(W, X, y, epsilon=0.3)
    z = X @ W[:, :-1].T + W[:, -1] + 1.0
    own = np.arange(len(y)), y
    z[own] -= 1.0
    z -= z[own][:, None]
    assert at.charge == pytest.approx(rows.caps @ z.max(axis=1))
    assert at.mean == pytest.approx(rows.caps @ (rows.P * z).sum(axis=1))
    value, _ = rows.along(0.3, 0.0)
    assert at.charge - 0.3 * rows.caps.sum() <= value <= at.charge


def test_gradient_and_products_are_differences_of_the_function():
    X, y = classes(60)
    rng = np.random.default_rng(4)
    W, D, h = rng.standard_normal((4, 6)), rng.standard_normal((4, 6)), 1e-6
    centre = rng.dirichlet(np.ones(4), 60)

    def at(W):
        rows, bounds = rows_at(W, X, y, 0.7, centre)
        return rows, rows.along(0.7, 0.0)[0], -bounds.V

    rows, _, gradient = at(W)
    (_, up, above), (_, down, below) = at(W + h * D), at(W - h * D)
    assert np.vdot(gradient, D) == pytest.approx((up - down) / (2 * h), rel=1e-6)
    rows.scores(D, rows.dS)
    assert rows.along(0.7, 0.0)[1] == pytest.approx(np.vdot(gradient, D))
    np.testing.assert_allclose(rows.curve(D), (above - below) / (2 * h), rtol=1e-5, atol=1e-5)


def test_products_of_matrices_and_row_by_row_agree_and_have_the_diagonal(monkeypatch):
    X, y = classes(200, 6, 5)
    rows, _ = rows_at(np.random.default_rng(5).standard_normal((5, 7)), X, y, 2.0)
    Q = np.random.default_rng(6).standard_normal((5, 7))
    monkeypatch.setattr(smoothed_rows, "AT_LEAST", np.inf)
    by_rows = rows.curve(Q)
    monkeypatch.setattr(smoothed_rows, "AT_LEAST", -np.inf)
    np.testing.assert_allclose(rows.curve(Q), by_rows, rtol=1e-12, atol=1e-12)
    unit = np.zeros((5, 7))
    unit[2, 3] = 1.0
    assert rows.curve(unit)[2, 3] == pytest.approx(rows.squares()[2, 3])


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("apart", [0.3, 6.0])
def test_it_ends_where_interior_steps_end(free, C, apart):
    X, y = classes(apart=apart)
    weights = np.random.default_rng(2).integers(0, 3, len(y)) + (np.arange(len(y)) < 4)
    newton = solve(X, y, C, weights, tol=1e-5, fit_intercept=free)
    inside = solve(X, y, C, weights, kind=JointInteriorPoint, fit_intercept=free)
    assert newton.status is Status.converged
    assert newton.dual <= inside.primal * (1 + 1e-9)
    assert inside.dual <= newton.primal * (1 + 1e-9)
    if free:
        np.testing.assert_allclose(newton.alpha.sum(axis=0), 0, atol=1e-9 * C * len(y))


@pytest.mark.parametrize("units", [1e-4, 1e4, "each", "offset"])
def test_it_minds_no_units(units):
    X, y = classes(120, 6, 3, apart=1.0)
    if units == "each":
        X = X * np.geomspace(1e-3, 1e3, 6)
    else:
        X = X + 1e3 if units == "offset" else X * units
    solution = solve(X, y, tol=1e-4)
    assert solution.status is Status.converged
    inside = solve(X, y, tol=1e-4, kind=JointInteriorPoint)
    assert solution.primal == pytest.approx(inside.primal, rel=3e-4)


def test_float32_rows_are_enough_until_more_digits_are_asked_for():
    X, y = classes(600, 200, 5, apart=0.2)
    X = X.astype(np.float32)
    few, many = solve(X, y, tol=1e-4), solve(X, y, tol=1e-8)
    assert few.status is many.status is Status.converged
    assert few.primal == pytest.approx(many.primal, rel=1e-4)
    assert few.primal >= many.primal * (1 - 1e-6)


def test_a_factor_for_each_class_is_made_where_one_for_all_is_not_enough(monkeypatch):
    X, y = classes(400, 40, 4, apart=0.1)
    monkeypatch.setattr(class_factors, "PRODUCT", 0.0)
    monkeypatch.setattr(class_factors, "SYSTEM", 0.0)
    solver = AugmentedLagrangian(X, y, n_classes=4)
    own = drive(solver, Goal(1e-5))
    assert own.status is Status.converged and not solver._shared
    assert own.primal == pytest.approx(solve(X, y, tol=1e-5).primal, rel=2e-5)


def test_it_begins_from_multipliers():
    X, y = classes(300, 30, 5)
    first = solve(X, y, tol=1e-5)
    again = solve(X, y, tol=1e-4, start=(first.alpha, first.b))
    assert again.n_iter < first.n_iter
    assert again.primal == pytest.approx(first.primal, rel=1e-4)


def test_threads_change_no_byte():
    X, y = classes(6000, 40, 12)
    one, two = (solve(X, y, tol=1e-3, n_jobs=jobs) for jobs in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.alpha.tobytes() == two.alpha.tobytes()


def test_it_is_taken_for_many_wide_dense_rows():
    def solver(n, d, K, which="auto"):
        shared = {"n_classes": K, "fit_intercept": True, "max_iter": 1000}
        X, codes = np.zeros((n, d)), np.zeros(n, int)
        return choose.joint_solver(X, codes, None, 1.0, which=which, **shared)

    wide, narrow = solver(6000, 784, 10), solver(60_000, 54, 7)
    assert isinstance(wide, Handover) and wide.name == AugmentedLagrangian.name
    assert narrow.name == CrammerSinger.name
    assert isinstance(solver(6000, 784, 10, "dual"), CrammerSinger)


def test_descent_goes_on_where_it_gets_no_further():
    X, y = classes(300, 200, 4, apart=6.0)
    shared = {"n_classes": 4, "fit_intercept": True, "max_iter": 1000}
    first = AugmentedLagrangian(X, y, C=100.0, n_classes=4)
    alone = drive(first, Goal(1e-6, 3))
    assert alone.status is Status.budget
    again = drive(
        CrammerSinger(X, y, None, 100.0, start=(alone.alpha, alone.b), **shared), Goal(1e-4)
    )
    assert again.status is Status.converged


def test_compiled_projections_are_those_of_plain_python():
    rng = np.random.default_rng(7)
    S, dS = rng.standard_normal((9, 4)), rng.standard_normal((9, 4))
    centre, y, caps = rng.dirichlet(np.ones(4), 9), rng.integers(0, 4, 9), rng.random(9)
    results = []
    for function in (project, project.py_func):
        P, counts, sums, s = np.zeros((9, 4)), np.zeros(9, np.int64), np.zeros(4), S.copy()
        function(s, dS, 0.5, centre, y, caps, 2.0, 0, 9, P, counts, sums)
        both = np.zeros(2)
        (along if function is project else along.py_func)(
            S, dS, 0.5, centre, y, caps, 2.0, 0, 9, np.empty(4), both
        )
        results.append(np.concatenate([P.ravel(), counts, sums, s.ravel(), both]))
    np.testing.assert_allclose(*results, rtol=1e-12, atol=1e-12)
