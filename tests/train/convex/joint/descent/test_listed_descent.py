"""Crammer and Singer's machine by descent on listed multipliers."""

import itertools

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.joint import choose
from linsep.train.convex.joint.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.joint.descent import listed_descent
from linsep.train.convex.joint.descent.crammer_singer import CrammerSinger
from linsep.train.convex.joint.descent.listed_descent import ListedDescent
from linsep.train.convex.joint.descent.listed_sweep import (
    combine_pairs,
    lack_of_pairs,
    list_classes,
    sweep_listed,
)
from linsep.train.convex.joint.primal_dual import PrimalDual
from linsep.train.run.state import copied


def classes(n=120, d=30, K=25, seed=0, apart=0.6):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, n - K))
    return rng.standard_normal((n, d)) + apart * rng.standard_normal((K, d))[y], y


def solve(X, y, C=1.0, weights=None, tol=1e-8, kind=ListedDescent, **more):
    solver = kind(X, y, weights, C, n_classes=int(y.max()) + 1, **more)
    return drive(solver, Goal(tol, 5000))


def whole(X, y, C, W):
    z = X @ W.T + 1.0
    z[np.arange(len(y)), y] -= 1.0
    return 0.5 * np.sum(W**2) + np.sum(C * (z.max(axis=1) - z[np.arange(len(y)), y]))


@pytest.mark.parametrize("seed", range(3))
def test_it_comes_to_the_optimum_of_descent_over_all_classes(seed):
    X, y = classes(seed=seed)
    one = solve(X, y)
    other = solve(X, y, kind=CrammerSinger, fit_intercept=False)
    assert one.status.name == "converged"
    assert one.primal == pytest.approx(other.primal, rel=3e-8)
    assert one.primal == pytest.approx(whole(X, y, 1.0, one.w), rel=1e-12)


def test_multipliers_are_feasible_and_add_up_to_the_weights():
    X, y = classes(seed=5)
    C = np.linspace(0.0, 2.0, len(y))
    one = solve(X, y, weights=C)
    A, own = one.alpha.copy(), np.arange(len(y))
    assert np.abs(A.sum(axis=1)).max() <= 1e-12
    assert (A[own, y] <= C + 1e-12).all()
    dual = A[own, y].sum() - 0.5 * np.sum((A.T @ X) ** 2)
    assert dual == pytest.approx(one.dual, rel=1e-9)
    A[own, y] = 0.0
    assert (A <= 0.0).all()


def test_float32_rows_with_next_to_no_loss_reach_the_gap_that_is_asked_for():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 40, 400)
    X = (rng.standard_normal((40, 60))[y] + 0.5 * rng.standard_normal((400, 60))).astype("f4")
    one = solve(X, y, tol=1e-5)
    assert one.status.name == "converged"
    W = one.w
    assert whole(X.astype(float), y, 1.0, W) - one.dual <= 1.01e-5 * one.primal


def test_a_start_at_the_optimum_is_enough():
    X, y = classes(seed=1)
    one = solve(X, y)
    again = solve(X, y, tol=1e-6, start=(one.alpha, np.zeros(25)))
    assert again.n_iter <= 3


def test_threads_and_stopping_in_between_change_no_byte(monkeypatch):
    monkeypatch.setattr(listed_descent, "LOOKED", 16)
    X, y = classes(seed=3)

    def run(jobs):
        solver = ListedDescent(X, y, n_classes=25, n_jobs=jobs)
        with Pool(jobs) as solver.pool:
            for _ in itertools.islice(solver.candidates(), 6):
                pass
            return solver

    one, two = run(1), run(2)
    assert np.array_equal(one.solution().alpha, two.solution().alpha)
    later = ListedDescent(X, y, n_classes=25)
    later.restore(copied(one.state()))
    restored = later.candidates()
    assert next(restored).gap == one.solution().gap
    one._restored = True
    going = one.candidates()
    next(going)
    assert [next(going) for _ in range(3)] == [next(restored) for _ in range(3)]


def test_a_row_lists_its_own_class_those_above_zero_and_the_best_of_the_others():
    S = np.array([[0.0, 3.0, 5.0, -9.0, 4.0]])
    codes, caps, pointers = np.array([0]), np.ones(1), np.array([0, 3])
    held, a = np.array([0, 1, 3], np.int32), np.array([0.0, 1.0, 0.0])
    counts, room = np.zeros(1, np.int64), np.array([0, 5])
    listed, kept = np.zeros(5, np.int32), np.zeros(5)
    list_classes(
        S, 0, codes, caps, pointers, held, a, room, 1, 0.0, counts, listed, kept
    )  # fmt: skip
    assert listed[: counts[0]].tolist() == [0, 1, 2]
    assert kept[: counts[0]].tolist() == [0.0, 1.0, 0.0]


def test_a_pass_lets_the_dual_rise_and_keeps_the_weights_what_multipliers_add_up_to():
    X, y = classes(n=40, d=6, K=5, seed=4)
    n, K = len(y), 5
    pointers, held = np.arange(0, n * K + 1, K), np.tile(np.arange(K, dtype=np.int32), n)
    a = (held == np.repeat(y, K)) * 1.0
    own, W, caps = held == np.repeat(y, K), np.zeros((K, 6)), np.ones(n)

    def dual():
        return float((1.0 - a[own]).sum()) - 0.5 * float(np.sum(W**2))

    values = [dual()]
    for _ in range(3):
        squares = (X**2).sum(axis=1)
        sweep_listed(X, y, caps, squares, np.arange(n), 0.0, pointers, held, a, W, np.empty(K))
        values.append(dual())
    assert (np.diff(values) > 0.0).all()
    V = np.zeros_like(W)
    combine_pairs(X, pointers, held, own - a, 0, n, V)
    np.testing.assert_allclose(V, W, atol=1e-12)
    sums = np.zeros(2)
    lack_of_pairs(X, y, caps, pointers, held, a, W, 0, n, sums)
    primal = 0.5 * np.sum(W**2) + sums[0]
    assert primal == pytest.approx(whole(X, y, 1.0, W))
    assert primal - dual() == pytest.approx(sums[1])


def test_it_begins_where_weights_are_far_more_than_rows(monkeypatch):
    def first(X, K, free):
        y = np.arange(len(X)) % K
        solver = choose.joint_solver(X, y, None, 1.0, n_classes=K, fit_intercept=free, max_iter=100)
        assert isinstance(solver, Handover)
        return type(solver._first)

    wide = np.random.default_rng(0).standard_normal((400, 200))
    assert first(wide, 100, False) is ListedDescent
    assert first(wide, 100, True) is AugmentedLagrangian
    assert first(np.tile(wide, (40, 1)), 100, False) is PrimalDual
