"""Steps that keep the losses of rows that Newton's step would move too far."""

import numpy as np
import pytest

from linsep.train.convex.losses import Hinge, Logistic
from linsep.train.convex.parts.dual_bounds import nothing
from linsep.train.convex.parts.kept_rows import kept
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.newton import Newton


def rows(n=3000, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ np.arange(d) + rng.logistic(size=n) > 0, 1, -1).astype(np.int8)


def rare(n=3000):
    """Three rows have the last column to themselves, and start far on the wrong side."""
    X, y = rows(n)
    X = np.column_stack([X, np.zeros(n)])
    X[:3, -1] = 1.0
    return X, y, (np.array([0.0, 1.0, 2.0, 3.0, -30.0 * y[0]]), 0.0)


def heavy(seed, n=3000, d=20):
    """Columns with tails so heavy that a few rows are all that speaks for a direction."""
    rng = np.random.default_rng(seed)
    X = np.exp(4.0 * rng.normal(size=(n, d))) * rng.choice([-1, 0, 0, 0, 1], size=(n, d))
    X /= X.std(axis=0)
    score = np.sign(X) @ rng.normal(size=d) + 0.3 * rng.logistic(size=n)
    flipped = rng.random(n) < 0.003
    return X, np.where((score > 0) != flipped, 1, -1).astype(np.int8)


def passes(X, y, C, start=None, most=400):
    solver = Newton(Problem.of(X, y, None, C, Logistic(), True), start=start)
    with solver.pool:
        for seen in solver.candidates():
            if seen.within(1e-4) or seen.n_iter >= most:
                break
    return seen.n_iter


def poor_start(X, y):
    """Weights of the right signs but of any size, not as bad as none."""
    rng = np.random.default_rng(0)
    w = (y @ np.sign(X)) / len(X) * np.exp(3.0 * rng.normal(size=X.shape[1]))
    for _ in range(200):
        if np.logaddexp(0, -y * (X @ w)).mean() < 0.65:
            break
        w /= 1.2
    return w


def begun(X, y, start, C=1e3, intercept=True):
    """A run, and where it begins."""
    run = Newton(Problem.of(X, y, None, C, Logistic(), intercept), start=start)
    run._digits = 0.0
    p = run._look(run.problem.inside(*start), 0.0)
    run._arrive(p)
    return run, p


def test_a_model_that_keeps_rows_lowers_an_objective_that_newtons_step_raises():
    X, y, start = rare()
    run, p = begun(X, y, start)
    step = run._direction(p, run._gradient(p))
    raised = run._look(p.u + step, 0.0).value - p.value
    assert raised > 0 and run._keep(p, step, raised)
    assert {0, 1, 2} & set(run._kept)
    decrement2 = -float(run._gradient(p) @ step)
    assert run._look(p.u + run._held(p, decrement2), 0.0).value < p.value


def test_rows_that_a_step_does_not_move_far_are_not_kept():
    X, y = rows()
    run, p = begun(X, y, (np.zeros(4), 0.0), C=1.0)
    step = run._direction(p, run._gradient(p))
    assert not run._keep(p, 1e-3 * step, 1e-3) and len(run._kept) == 0


def test_without_an_intercept_nothing_moves_along_it():
    X, y, start = rare()
    run, p = begun(X, y, start, intercept=False)
    run._kept = np.arange(3)
    assert run._held(p, 1.0)[-1] == 0.0


@pytest.mark.parametrize("loss", [Logistic(), Hinge().rounded(0.3)])
def test_a_problem_of_some_rows_is_as_steep_as_that_of_all_where_it_was_made(loss):
    X, y, start = rare(200)
    run = Newton(Problem.of(X, y, None, 2.0, loss, True))
    p = run._look(run.problem.inside(*start), 0.0)
    few, rest = kept(run.problem, np.arange(0, 200, 3), p.sums, p.u, loss)
    inner = Newton(few, rest=rest.plus(nothing(len(p.u))))
    same = inner._look(p.u, 0.0)
    assert same.value == pytest.approx(p.value, rel=1e-12)
    np.testing.assert_allclose(inner._gradient(same), run._gradient(p), atol=1e-9)
    step = run._direction(p, run._gradient(p))
    np.testing.assert_allclose(inner._direction(same, inner._gradient(same)), step, rtol=1e-6)


def test_rows_near_the_corner_bound_the_optimum_of_all():
    X, y = rows(6000)
    near, plain = (Newton(Problem.of(X, y, None, 1.0, Hinge(), True)) for _ in range(2))
    plain._among_near = lambda coarse: False
    ends = []
    for run in (near, plain):
        run.tol = 1e-6
        ends.append(next(seen for seen in run.candidates() if seen.within(1e-6)))
    assert near._reach > 0.0 and ends[0].n_iter < ends[1].n_iter
    assert ends[0].primal == pytest.approx(ends[1].primal, rel=2e-6)
    assert ends[0].dual <= ends[1].primal and ends[1].dual <= ends[0].primal


def test_newton_gets_far_from_a_bad_start_in_few_passes():
    X, y, start = rare()
    assert passes(X, y, 1e3, start) <= 12


@pytest.mark.parametrize("seed", [0, 3, 7])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_heavy_tails_take_few_passes_from_any_start(seed, C):
    X, y = heavy(seed)
    w = np.random.default_rng(seed + 100).normal(size=X.shape[1])
    cold = passes(X, y, C)
    assert cold <= 16
    assert passes(X, y, C, start=(3.0 * w, 0.0)) <= cold + 1  # worse than none: begun again
    assert passes(X, y, C, start=(poor_start(X, y), 0.0)) <= 40
