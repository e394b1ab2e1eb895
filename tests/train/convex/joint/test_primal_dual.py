"""Crammer and Singer's machine by weights and multipliers in turn."""

import itertools

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import choose
from linsep.train.convex.joint.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.joint.descent.listed_descent import ListedDescent
from linsep.train.convex.joint.interior_point import JointInteriorPoint
from linsep.train.convex.joint.primal_dual import PrimalDual
from linsep.train.convex.joint.simplex import reflect
from linsep.train.convex.joint.smoothed_rows import SmoothedRows
from linsep.train.run.state import copied


def classes(n=90, d=5, K=4, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((K, d))[y], y


def solve(X, y, C=1.0, weights=None, tol=1e-6, kind=PrimalDual, **more):
    solver = kind(X, y, weights, C, n_classes=int(y.max()) + 1, **more)
    return drive(solver, Goal(tol, 20_000))


@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("apart", [0.3, 6.0])
def test_it_ends_where_interior_steps_end(C, apart):
    X, y = classes(apart=apart)
    weights = np.random.default_rng(2).integers(0, 3, len(y)) + (np.arange(len(y)) < 4)
    one = solve(X, y, C, weights, tol=1e-5, max_iter=20_000)
    inside = solve(X, y, C, weights, kind=JointInteriorPoint, fit_intercept=False)
    assert one.status is Status.converged
    assert one.dual <= inside.primal * (1 + 1e-9)
    assert inside.dual <= one.primal * (1 + 1e-9)


@pytest.mark.parametrize("units", [1e-3, 10.0, "each"])
def test_it_minds_no_units(units):
    X, y = classes(120, 30, 8)
    X = X * (np.geomspace(1e-2, 1e2, 30) if units == "each" else units)
    one = solve(X, y, tol=1e-4, max_iter=20_000)
    inside = solve(X, y, tol=1e-4, kind=JointInteriorPoint, fit_intercept=False)
    assert one.status is Status.converged
    assert one.primal == pytest.approx(inside.primal, rel=3e-4)


def test_multipliers_are_feasible_and_bound_the_optimum():
    X, y = classes(200, 40, 12, seed=5, apart=0.5)
    C = np.linspace(0.0, 2.0, len(y))
    one = solve(X, y, weights=C)
    A, own = one.alpha.copy(), np.arange(len(y))
    assert np.abs(A.sum(axis=1)).max() <= 1e-12
    assert (A[own, y] <= C + 1e-12).all()
    dual = A[own, y].sum() - 0.5 * np.sum((A.T @ X) ** 2)
    assert dual == pytest.approx(one.dual, rel=1e-9)
    z = X @ one.w.T + 1.0
    z[own, y] -= 1.0
    primal = 0.5 * np.sum(one.w**2) + C @ (z.max(axis=1) - z[own, y])
    assert primal == pytest.approx(one.primal, rel=1e-9)
    A[own, y] = 0.0
    assert (A <= 0.0).all()


def test_float32_scores_are_left_where_rounding_would_keep_the_gap_open():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 40, 400)
    X = (rng.standard_normal((40, 60))[y] + 0.5 * rng.standard_normal((400, 60))).astype("f4")
    solver = PrimalDual(X, y, n_classes=40)
    one = drive(solver, Goal(1e-5))
    assert one.status is Status.converged and not solver._single
    X, y = classes(600, 60, 8, apart=0.1)
    solver = PrimalDual(X.astype(np.float32), y, n_classes=8)
    assert drive(solver, Goal(1e-3)).status is Status.converged and solver._single


def test_a_start_at_the_optimum_is_enough():
    X, y = classes(200, 40, 12, apart=0.5)
    first = solve(X, y)
    again = solve(X, y, tol=1e-4, start=(first.alpha, first.b))
    assert again.n_iter < 0.3 * first.n_iter
    assert again.primal == pytest.approx(first.primal, rel=1e-4)


def test_a_part_of_the_passes_is_left_for_who_takes_over():
    X, y = classes(200, 40, 12, apart=0.5)
    assert solve(X, y, tol=1e-12, max_iter=50).n_iter == 45


def test_threads_and_stopping_in_between_change_no_byte():
    X, y = classes(3000, 30, 12, seed=3, apart=0.3)

    def run(jobs):
        solver = PrimalDual(X.astype(np.float32), y, n_classes=12, n_jobs=jobs)
        with Pool(jobs) as solver.pool:
            for _ in itertools.islice(solver.candidates(), 6):
                pass
            return solver

    one, two = run(1), run(2)
    assert one.solution().w.tobytes() == two.solution().w.tobytes()
    assert one.solution().alpha.tobytes() == two.solution().alpha.tobytes()
    later = PrimalDual(X.astype(np.float32), y, n_classes=12)
    with Pool(2) as later.pool, Pool(1) as one.pool:
        later.restore(copied(one.state()))
        restored = later.candidates()
        assert next(restored).gap == one.solution().gap
        one._restored = True
        going = one.candidates()
        next(going)
        assert [next(going) for _ in range(3)] == [next(restored) for _ in range(3)]


def test_a_pass_looks_beyond_its_step_and_goes_on_by_more_than_it():
    rng = np.random.default_rng(7)
    S, dS = rng.standard_normal((9, 4)), rng.standard_normal((9, 4))
    centre, y, caps = rng.dirichlet(np.ones(4), 9), rng.integers(0, 4, 9), rng.random(9)
    results = []
    for function in (reflect, reflect.py_func):
        P, sums, s, c = np.zeros((9, 4)), np.zeros(5), S.copy(), centre.copy()
        function(s, dS, 0.3, 1.8, c, y, caps, 0, 9, P, sums)
        results.append(np.concatenate([P.ravel(), sums, s.ravel(), c.ravel()]))
    np.testing.assert_allclose(*results, rtol=1e-12, atol=1e-12)
    own = np.arange(9), y
    z = S + 2 * dS + 1.0
    z[own] -= 1.0
    q = centre + 0.3 * (z - z[own][:, None])
    others = rng.dirichlet(np.full(4, 0.3), (200, 9))
    assert (((others - P) * (q - P)).sum(axis=2) <= 1e-12).all()  # no point is nearer
    np.testing.assert_allclose(c, centre + 1.8 * (P - centre))
    np.testing.assert_allclose(s, S + 1.8 * dS)
    z = S + dS + 1.0
    z[own] -= 1.0
    assert sums[0] == pytest.approx(caps @ (z.max(axis=1) - z[own]))


def test_sums_over_parts_are_those_of_the_multipliers():
    X, y = classes(50)
    none = Columns(np.empty(0), np.empty(0))
    caps = np.linspace(0.5, 2.0, 50)
    rows = SmoothedRows(Blocks(X, none), y.astype(np.int64), caps, 4, Pool(1), np.float64)
    rows.centre[:] = 0.25
    sums, V = rows.reflect(0.3, 1.0)
    A = -rows.P * caps[:, None]
    A[np.arange(50), y] += caps
    np.testing.assert_allclose(V[:, :-1], A.T @ X, atol=1e-12)
    assert sums[1] == pytest.approx(A[np.arange(50), y].sum())


def test_it_is_taken_where_weights_are_about_as_many_as_rows():
    def solver(n, d, K, free=False):
        X, codes = np.broadcast_to(np.float32(0), (n, d)), np.zeros(n, int)
        shared = {"n_classes": K, "fit_intercept": free, "max_iter": 1000}
        return choose.joint_solver(X, codes, None, 1.0, **shared)

    def kind(*shape):
        chosen = solver(*shape)
        assert isinstance(chosen, Handover)
        return type(chosen._first)

    assert kind(50_000, 768, 100) is kind(50_000, 1536, 10) is PrimalDual
    assert kind(50_000, 768, 100, True) is kind(60_000, 784, 10) is AugmentedLagrangian
    assert kind(20_000, 768, 1000) is ListedDescent
