"""How convex solvers end before they are done: told to, interrupted, out of passes."""

import math
import threading

import numpy as np
import pytest

from linsep.status import Status
from linsep.train.convex.choose import logistic_solver
from linsep.train.convex.drive import solve, telling
from linsep.train.convex.losses import Hinge
from linsep.train.convex.several_classes import softmax_solver
from linsep.train.convex.solvers.dual_descent import DualDescent, posed
from linsep.train.run.loop import UNCOUNTED


def overlapping(n, d, K, seed):
    """Clouds about K centres that overlap, and the number of each row's centre."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n)
    return rng.normal(size=(n, d)) + rng.normal(size=(K, d))[codes], codes


def two(n, d, seed):
    X, codes = overlapping(n, d, 2, seed)
    return X, 2.0 * codes - 1.0


def hinges(X, y):
    return posed(X, y, None, 1.0, Hinge(), True)


def stop_at(number):
    """A listener that interrupts at its call of this number, and what it heard."""
    heard = []

    def listen(done):
        heard.append(done)
        if len(heard) == number:
            raise KeyboardInterrupt

    return listen, heard


def hinge(X, y, w, b):
    return 0.5 * w @ w + np.maximum(0, 1 - y * (X @ w + b)).sum()


def test_a_listener_can_stop_the_descent_on_the_dual():
    X, y = two(2000, 30, 5)
    seen = []
    found = solve(
        DualDescent,
        hinges(X, y),
        tol=1e-12,
        listener=lambda check: seen.append(check) or len(seen) == 2,
    )
    assert found.status is Status.stopped
    assert len(seen) == 2
    assert found.primal == seen[-1].primal


def test_an_interrupt_leaves_the_best_machine_so_far():
    X, y = two(2000, 30, 6)
    listener, heard = stop_at(2)
    found = solve(DualDescent, hinges(X, y), tol=1e-12, listener=listener)
    assert found.status is Status.interrupted
    assert found.primal <= heard[-1].primal
    assert found.primal == pytest.approx(hinge(X, y, found.w, found.b), rel=1e-12)


def test_another_thread_can_end_a_run():
    halt = threading.Event()
    halt.set()
    found = solve(DualDescent, hinges(*two(2000, 30, 7)), tol=1e-12, halt=halt)
    assert found.status is Status.interrupted
    assert found.n_iter == 1


def test_a_listener_hears_every_pass_of_newton_and_may_stop_it():
    X, signs = two(200, 3, 11)
    heard = []
    listener = telling([lambda done: heard.append(done) or done.epoch == 2])
    found = solve(logistic_solver, X, signs, tol=1e-12, listener=listener)
    assert [p.epoch for p in heard] == [1, 2]
    assert heard[0].loss > heard[1].loss > 0.0
    assert {p.mistakes for p in heard} == {UNCOUNTED}
    assert found.status is Status.stopped


def test_an_interrupt_keeps_the_best_point_so_far():
    listener, _ = stop_at(3)
    found = solve(logistic_solver, *two(200, 3, 12), tol=1e-12, listener=listener)
    assert found.status is Status.interrupted
    assert found.primal < 200 * math.log(2)


def test_an_interrupt_keeps_the_best_point_of_several_classes():
    listener, _ = stop_at(3)
    rows = overlapping(200, 3, 3, 12)
    found = solve(softmax_solver, *rows, n_classes=3, tol=1e-12, listener=listener)
    assert found.status is Status.interrupted
    assert found.primal < 200 * math.log(3)


def test_too_few_passes_are_said():
    found = solve(logistic_solver, *two(200, 3, 13), tol=1e-12, max_iter=2)
    assert found.status is Status.budget
    assert found.n_iter == 2
    assert found.gap > 1e-12 * found.primal
