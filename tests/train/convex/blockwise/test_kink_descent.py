"""Newton's steps at narrower and narrower kinks."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.convex.blockwise.kink_descent import WIDTH, KinkDescent, Objective, finish
from linsep.train.convex.blockwise.smoothed_hinge import SQUARED, TallRows
from linsep.train.convex.coordinates import Blocks, Columns


@pytest.fixture
def objective():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    signs = np.where(X[:, 0] + rng.standard_normal(400) > 0, 1, -1).astype(np.int8)
    nothing = Columns(np.empty(0), np.empty(0))
    with Pool(1) as pool:
        rows = TallRows(Blocks(X, nothing), signs, np.array([1 / 400]), pool)
        yield Objective(rows, np.array([0.01, 0.01, 0.01, 0.0]), True)


@pytest.mark.parametrize("h", [0.5, SQUARED])
def test_the_gradient_is_that_of_the_value(objective, h):
    u = np.array([0.3, -0.1, 0.2, 0.05])
    at = objective.at(u, h)
    slope = [(objective.at(u + e, h).value - objective.at(u - e, h).value) / 2e-6
             for e in 1e-6 * np.eye(4)]  # fmt: skip
    assert np.allclose(at.gradient, slope, atol=1e-6)
    assert at.dual <= at.primal


@pytest.mark.parametrize("h", [WIDTH, SQUARED])
def test_steps_close_the_gap(objective, h):
    descent = KinkDescent(objective, 1e-6, 200)
    end = finish(descent.run(descent.evaluate(np.zeros(4), h)))
    assert descent.gap <= 1e-6 * descent.lowest.primal and descent.ended
    assert end.h < WIDTH or h == SQUARED


@pytest.mark.parametrize("h", [WIDTH, SQUARED])
def test_steps_to_the_lowest_points_of_their_lines_never_rise_at_a_width(objective, h):
    descent, values = KinkDescent(objective, 1e-6, 200), {}
    evaluate = descent.evaluate

    def kept(u, width):
        p = evaluate(u, width)
        values.setdefault(width, []).append(p.value)
        return p

    descent.evaluate = kept
    descent.settle(descent.evaluate(np.zeros(4), h))
    assert descent.gap <= 1e-6 * descent.lowest.primal
    for mine in values.values():
        assert (np.diff(mine) <= 1e-14).all()


def test_a_sample_tells_where_a_step_overshoots(objective):
    p = objective.at(np.array([0.3, -0.1, 0.2, 0.05]), 0.5)
    step = objective.step(p, 0.0)
    objective.sample = Objective(objective.rows, objective.ridge, True)
    assert not objective.overshoots(p, step)
    assert objective.overshoots(p, 10 * step)


def test_a_rare_feature_of_one_class_is_not_overshot():
    # Its rows lie beyond the corner, where nothing but the penalty says how far to go back.
    rng = np.random.default_rng(1)
    n = 20_000
    X = np.column_stack([rng.standard_normal((n, 2)), np.zeros(n)])
    signs = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, -1).astype(np.int8)
    X[rng.choice(np.flatnonzero(signs < 0), 100, replace=False), 2] = 30.0
    nothing = Columns(np.empty(0), np.empty(0))
    with Pool(1) as pool:
        objective, sample = (
            Objective(
                TallRows(Blocks(X[::k], nothing), signs[::k], np.array([k / n]), pool),
                np.array([1.0, 1.0, 1.0, 0.0]) / n,
                True,
            )
            for k in (1, 4)
        )
        descent = KinkDescent(objective, 1e-9, 200)
        best = finish(descent.run(descent.evaluate(np.zeros(4), SQUARED)))
        p = objective.at(best.u + np.array([0.05, 0.0, -0.2, 0.0]), SQUARED)
        step = objective.step(p, 0.0)
        assert objective.at(p.u - step, SQUARED).value > p.value
        objective.sample = sample
        q = objective.at(p.u - objective.tried(p, step), SQUARED)
    assert q.value - best.value < 0.1 * (p.value - best.value)


def test_a_sample_of_all_rows_leads_to_the_minimum_of_the_squared_hinge_at_once(objective):
    descent = KinkDescent(objective, 1e-9, 200)
    best = finish(descent.run(descent.evaluate(np.zeros(4), SQUARED)))
    p = objective.at(np.array([3.0, -1.0, 0.2, 0.05]), SQUARED)
    step = objective.step(p, 0.0)
    fell = p.value - objective.at(p.u - step, SQUARED).value
    assert abs(fell / float(p.gradient @ step) - 0.5) > 0.05  # no parabola
    objective.sample = Objective(objective.rows, objective.ridge, True)
    q = objective.at(p.u - objective.tried(p, step), SQUARED)
    assert q.value - best.value < 1e-3 * (p.value - best.value)


def test_steps_that_promise_little_are_taken_whatever_a_sample_says(objective, monkeypatch):
    monkeypatch.setattr(Objective, "overshoots", lambda self, p, step: True)
    descent = KinkDescent(objective, 1e-6)
    p = descent.evaluate(np.zeros(4), WIDTH)
    assert finish(descent.run(p, 2)) is p and descent.passes == 1
    finish(descent.run(p, 2, small=np.inf))
    assert descent.passes == 3
