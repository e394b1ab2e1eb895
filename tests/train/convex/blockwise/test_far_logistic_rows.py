"""Steps that keep the losses of rows that Newton's step would move too far."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.convex.blockwise.far_rows import FarRows
from linsep.train.convex.blockwise.full_steps import FullSteps
from linsep.train.convex.blockwise.logistic import HessianNewton
from linsep.train.convex.blockwise.logistic_problem import Problem, Sample


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
    solver = HessianNewton(X, y, None, C, start=start)
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


def at(X, y, start, pool, C=1e3):
    problem = Problem(X, y, None, C, True, pool, False)
    p = problem.point(np.append(*problem.columns.inside(*start)), curved=True)
    return problem, p, problem.quadratic(p.sums, p.u)


def test_a_model_that_keeps_rows_lowers_an_objective_that_newtons_step_raises():
    X, y, start = rare()
    with Pool(1) as pool:
        problem, p, model = at(X, y, start, pool)
        step = model.curvature.solve(p.gradient)
        raised = problem.point(p.u - step).value - p.value
        far = FarRows(problem.sums, True)
        assert raised > 0 and far.add(p.u, step, raised)
        assert {0, 1, 2} & set(far.places)
        assert problem.point(p.u - far.step(p.gradient, model, p.u, 1e-9)).value < p.value


def test_with_all_rows_kept_the_model_is_the_objective_itself():
    X, y, start = rare(60)
    with Pool(1) as pool:
        problem, p, model = at(X, y, start, pool, C=1.0)
        far = FarRows(problem.sums, True)
        far.take(np.arange(60))
        best = problem.point(p.u - far.step(p.gradient, model, p.u, 1e-15))
        assert abs(best.gradient).max() < 1e-9
        again = far.step(best.gradient, model, best.u, 1e-9)  # a Hessian made elsewhere serves
        assert abs(again).max() < 1e-6


def test_without_an_intercept_nothing_moves_along_it():
    X, y, start = rare()
    with Pool(1) as pool:
        problem = Problem(X, y, None, 1e3, False, pool, False)
        p = problem.point(np.append(start[0], 0.0), curved=True)
        far = FarRows(problem.sums, False)
        far.take(np.arange(3))
        assert far.step(p.gradient, problem.quadratic(p.sums, p.u), p.u, 1e-9)[-1] == 0.0


def test_rows_that_a_step_does_not_move_far_are_not_kept():
    X, y = rows()
    with Pool(1) as pool:
        problem, p, model = at(X, y, (np.zeros(4), 0.0), pool, C=1.0)
        far = FarRows(problem.sums, True)
        assert not far.add(p.u, 1e-3 * model.curvature.solve(p.gradient), 1e-9)
        assert len(far) == 0


def test_rows_misjudged_are_those_whose_losses_differ_from_their_expansion():
    X, y = rows(200)
    with Pool(1) as pool:
        problem, p, _ = at(X, y, (np.arange(4.0), 0.5), pool)
        step = np.array([1.0, -3.0, 0.5, 2.0, 0.0])
        z = y * (X @ p.u[:-1] + p.u[-1])
        change = -y * (X @ step[:-1])
        alpha = 1 / (1 + np.exp(z))
        told = -alpha * change + 0.5 * alpha * (1 - alpha) * change**2
        error = np.abs(np.logaddexp(0, -z - change) - np.logaddexp(0, -z) - told) / 200
        places, errors = problem.sums.misjudged(p.u, step, 1e-4, 200)
        assert np.array_equal(places, np.flatnonzero((error > 1e-4) & (abs(change) > 1)))
        assert np.allclose(errors, error[places])
        few, _ = problem.sums.misjudged(p.u, step, 0.0, 5)
        assert len(few) <= 10 or len(problem.sums.blocks) == 1


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


@pytest.mark.parametrize("seed", [0, 3, 7])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_heavy_tails_do_not_shrink_steps_for_ever(seed, C, monkeypatch):
    """From here, where steps must not begin again without weights, chords in place of the rows'
    curvatures took 21 to more than 400 passes."""
    monkeypatch.setattr(Problem, "without_weights", np.inf)
    X, y = heavy(seed)
    w = np.random.default_rng(seed + 100).normal(size=X.shape[1])
    assert passes(X, y, C, start=(3.0 * w, 0.0)) <= 20


def test_a_sample_is_solved_by_keeping_rows():
    X, y, start = rare()
    with Pool(1) as pool:
        problem, p, _ = at(X, y, start, pool)
        sample = Sample(problem, X, y, np.full(len(X), 1 / len(X)))
        u = sample.solve(p.u, None, 1e-12)
        assert len(sample.far) and abs(problem.point(u).gradient).max() < 1e-5


def test_the_value_without_weights_is_that_of_the_shares():
    X, y = rows()
    for free in (True, False):
        with Pool(1) as pool:
            problem = Problem(X, y, None, 1.0, free, pool, False)
            u = np.append(np.zeros(4), problem.odds if free else 0.0)
            assert problem.point(u).value == pytest.approx(problem.without_weights, rel=1e-12)


def test_an_old_hessian_goes_on_serving_near_the_minimum():
    X, y = rows(20_000, 40)
    with Pool(1) as pool:
        problem = Problem(X, y, None, 1.0, True, pool, False)
        made = []

        def evaluate(u, curved):
            made.append(curved)
            return problem.point(u, curved)

        p = problem.point(np.zeros(41), curved=True)
        for _ in range(3):
            p = problem.point(
                p.u - problem.quadratic(p.sums, p.u).curvature.solve(p.gradient), True
            )
        model = problem.quadratic(p.sums, p.u)
        steps = FullSteps(FarRows(problem.sums, True), evaluate)
        seen = steps.ahead(p, model, model.curvature, False)
        with pytest.raises(StopIteration) as end:
            next(seen)
        q = end.value.value
        assert made == [False] and q.value <= p.value
        goal = 1e-9 * q.gap
        points = list(steps.go_on(p, q, model, model.curvature, goal))
        assert made == [False] * len(points) + [True]
        assert points[-1].gap <= q.gap
