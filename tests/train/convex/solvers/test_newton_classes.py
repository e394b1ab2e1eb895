"""Newton's method in memory for several classes: the optimum, what a step foretells, endings."""

import numpy as np
import pytest

from linsep import LogisticRegression
from linsep.status import Status
from linsep.train.convex.classes.class_sums import ClassProblem
from linsep.train.convex.drive import Goal, drive, solve
from linsep.train.convex.several_classes import softmax_solver
from linsep.train.convex.solvers import newton_classes
from linsep.train.convex.solvers.newton_classes import NewtonClasses, sample_of_classes


def classes(n=300, d=4, K=3, seed=0, strength=1.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (strength * X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y


def fit(X, y, C=1.0, weights=None, tol=1e-6, fit_intercept=True, **more):
    problem = ClassProblem.of(X, y, weights, C, int(y.max()) + 1, fit_intercept)
    return drive(NewtonClasses(problem, **more), Goal(tol, 100))


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_it_ends_at_the_optimum_and_its_multipliers_are_feasible(free, C):
    X, y = classes()
    weights = np.random.default_rng(1).integers(0, 3, len(y)) + (np.arange(len(y)) < 3.0)
    ours = fit(X, y, C, weights, fit_intercept=free)
    best = solve(softmax_solver, X, y, weights, C, n_classes=3, fit_intercept=free, tol=1e-12)
    assert ours.status is Status.converged
    assert ours.dual * (1 - 1e-12) <= best.primal <= ours.primal * (1 + 1e-12)
    p = np.eye(3)[y] - ours.alpha / np.maximum(C * weights, 1e-300)[:, None]
    assert (p[weights > 0] >= 0).all()
    np.testing.assert_allclose(ours.alpha.sum(axis=1), 0, atol=1e-12 * C)
    if free:
        np.testing.assert_allclose(ours.alpha.sum(axis=0), 0, atol=1e-9 * C * len(y))


def opened(X, y, C):
    return NewtonClasses(ClassProblem.of(X, y, None, C, 3, True))


def test_a_step_foretells_a_bound_of_third_order():
    X, y = classes()
    solver, errors = opened(X, y, 1e6 / 300), []
    solver._u = np.zeros((3, 5))
    for _ in range(6):
        solver._look()
        du, decrement2 = solver._newton()
        bound = solver._foretold(solver._u, du)
        solver._u = solver._u + du
        solver._look()
        errors.append((solver._value - bound, decrement2))
    assert all(gap >= -1e-14 for gap, _ in errors)
    assert errors[3][0] < 1e-2 * errors[3][1]  # the gap falls faster than what is left to gain


@pytest.mark.parametrize("off", [1e-6, 1e-3, 0.1, 1.0])
def test_shares_out_of_balance_claim_no_bound_above_the_optimum(off):
    X, y = classes()
    y[3:] = np.where(np.arange(297) % 10 == 0, y[3:], 0)  # one class has nearly all rows
    C = 1e-6
    u = np.zeros((3, 5))
    u[:, -1] = (1 - off) * np.log(np.bincount(y) / len(y))  # shares lie towards equal ones
    best = fit(X, y, C, tol=1e-9).primal / (C * len(y))
    assert opened(X, y, C)._foretold(u, np.zeros_like(u)) <= best


@pytest.mark.parametrize("kind", ["units", "offset", "separable", "rare class", "constant"])
@pytest.mark.parametrize("order", range(3))
def test_ordinary_tables_converge_whatever_the_order_of_rows(kind, order):
    X, y = classes(400, 5, 4, seed=3)
    if kind == "units":
        X = X * np.geomspace(1e-3, 1e3, 5)
    elif kind == "offset":
        X = X + 1e6
    elif kind == "separable":
        X = X + 9 * np.eye(5)[y]
    elif kind == "rare class":
        y = np.where((y == 3) & (np.arange(400) > 4), 0, y)
    else:
        X[:, 2] = 7.0
    places = np.random.default_rng(order).permutation(400)
    learner = LogisticRegression(tol=1e-4).fit(X[places], y[places])
    assert (learner.status_, learner.solver_) == (Status.converged, "newton")
    assert learner.gap_ <= 1e-4
    finest = solve(softmax_solver, X, y, C=1.0, n_classes=4, tol=1e-10)
    assert learner.objective_ <= finest.primal * (1 + 1e-4)


def test_a_sample_saves_steps_with_all_rows_and_holds_every_class(monkeypatch):
    X, y = classes(9000, 3, 6, seed=4)
    y[y == 5] = 0
    y[100:110] = 5
    rows, weights = sample_of_classes(y, 6, 500)
    np.testing.assert_allclose(np.bincount(y[rows], weights), np.bincount(y))
    sampled = fit(X, y)
    monkeypatch.setattr(newton_classes, "WORTH", 10**9)
    whole = fit(X, y)
    assert sampled.n_iter < whole.n_iter
    assert sampled.primal == pytest.approx(whole.primal, rel=1e-6)


def test_threads_change_no_byte():
    X, y = classes(6000, 8, 12, seed=5)
    one, two = (fit(X, y, n_jobs=jobs) for jobs in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.alpha.tobytes() == two.alpha.tobytes()


def test_a_looser_tolerance_takes_no_more_steps():
    X, y = classes(500, 6, 5, seed=6)
    steps = [fit(X, y, tol=tol).n_iter for tol in (1e-2, 1e-4, 1e-6)]
    assert steps == sorted(steps)
