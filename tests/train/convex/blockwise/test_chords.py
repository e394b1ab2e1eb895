"""Hessians that are right about the rows that a step would move too far."""

import numpy as np

from linsep.parallel import Pool
from linsep.train.convex.blockwise.logistic import HessianNewton
from linsep.train.convex.blockwise.logistic_problem import Problem
from linsep.train.convex.chords import steepest


def rows(n=3000, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ np.arange(d) + rng.logistic(size=n) > 0, 1, -1).astype(np.int8)


def test_a_row_that_crosses_zero_bends_at_least_as_the_chord_up_to_there():
    assert steepest(-185.0, 900.0, 2.0, 0.0) == (2.0 - 1.0) / 185.0
    assert steepest(40.0, -200.0, 1.0, 0.0) >= 0.5 / 40.0 - 1e-12


def test_no_row_bends_less_than_before():
    for z in (-8.0, 0.0, 3.0):
        for step in (-50.0, -2.0, 2.0, 50.0):
            curved = 1 / ((1 + np.exp(z)) * (1 + np.exp(-z)))
            assert steepest(z, step, 1.0, curved) >= curved


def test_a_mended_step_lowers_an_objective_that_newtons_step_raises():
    """One row in a thousand has the last column to itself, far on the wrong side."""
    X, y = rows()
    X = np.column_stack([X, np.zeros(len(X))])
    X[:3, -1] = 1.0
    with Pool(1) as pool:
        problem = Problem(X, y, None, 1e3, True, pool, False)
        w, b = np.array([0.0, 1.0, 2.0, 3.0, 0.0]), 0.0
        w[-1] = -30.0 if y[0] > 0 else 30.0
        u = np.append(*problem.columns.inside(w, b))
        p = problem.point(u, curved=True)
        step = problem.curvature(p.sums).solve(p.gradient)
        mended = problem.mended(p, step)
        assert problem.point(u - step).value > p.value
        assert problem.point(u - mended).value < p.value


def test_a_step_that_moves_no_row_far_is_kept():
    X, y = rows()
    with Pool(1) as pool:
        problem = Problem(X, y, None, 1.0, True, pool, False)
        p = problem.point(np.zeros(5), curved=True)
        step = 1e-3 * problem.curvature(p.sums).solve(p.gradient)
        assert problem.mended(p, step) is step


def test_newton_gets_far_from_a_bad_start_in_few_passes():
    X, y = rows()
    X = np.column_stack([X, np.zeros(len(X))])
    X[:3, -1] = 1.0
    start = np.array([0.0, 1.0, 2.0, 3.0, -30.0 * y[0]]), 0.0
    solver = HessianNewton(X, y, None, 1e3, start=start)
    with solver.pool:
        last = next(seen for seen in solver.candidates() if seen.within(1e-4))
    assert last.n_iter <= 12
