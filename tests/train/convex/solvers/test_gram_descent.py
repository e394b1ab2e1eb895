"""Descent in a kernel's feature space: the values, the intercept, the optimum, kept rows."""

import numpy as np
import pytest

from linsep.rows.kernels import Kernel
from linsep.train.convex.solvers.gram_descent import (
    GramCache,
    GramDescent,
    best_bias,
    evaluate,
)


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(np.sum(X * X, axis=1) + 0.5 * rng.normal(size=n) > 1.5, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, n)


def primal(f, b, square, y, caps):
    return 0.5 * square + float(caps @ np.maximum(0.0, 1.0 - y * (f + b)))


@pytest.mark.parametrize("free", [True, False])
def test_steps_end_at_multipliers_that_meet_the_conditions(free):
    X, y, caps = data()
    kernel = Kernel("rbf", gamma=0.5)
    solver, K = GramDescent(GramCache(kernel, X, 1e6), y, caps, free), kernel(X, X)
    before = solver.evaluate().gap
    for _ in range(100):
        solver.step()
    beta, found = y * solver.alpha, solver.evaluate()
    assert solver.f == pytest.approx(K @ beta)
    assert ((solver.alpha >= 0.0) & (solver.alpha <= caps)).all()
    square = float(beta @ K @ beta)
    assert found.dual == pytest.approx(solver.alpha.sum() - 0.5 * square)
    assert found.primal == pytest.approx(primal(K @ beta, found.bias, square, y, caps))
    assert found.gap <= 1e-6 * found.primal < before
    assert beta.sum() == pytest.approx(0.0, abs=1e-9) if free else found.bias == 0.0


def test_the_intercept_is_the_best_and_bounds_enclose_the_optimum():
    _, y, caps = data()
    rng = np.random.default_rng(1)
    f = rng.normal(size=len(y))
    b = best_bias(f, y, caps)
    best = primal(f, b, 0.0, y, caps)
    assert best <= min(primal(f, at, 0.0, y, caps) for at in np.linspace(-4, 4, 801)) + 1e-12
    alpha = caps * rng.random(len(y))  # not in balance: the bound pays for it
    off = abs(float(y @ alpha) * b)
    assert evaluate(alpha, f, y, caps, True).dual == pytest.approx(
        alpha.sum() - 0.5 * float((y * alpha) @ f) - off
    )


def test_rows_that_were_let_go_are_computed_again():
    X = np.random.default_rng(0).normal(size=(1200, 2))
    kernel = Kernel("poly", degree=2, gamma=1.0, coef0=1.0)
    cache = GramCache(kernel, X, 0.0)
    assert len(cache.kept) < 1200
    for rows in (np.arange(300), np.arange(300, 600), np.arange(200, 400), np.arange(5)):
        places = cache.hold(rows)
        assert len(set(places.tolist())) == len(rows)
        assert cache.kept[places] == pytest.approx(kernel(X[rows], X))
