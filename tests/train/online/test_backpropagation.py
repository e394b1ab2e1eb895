"""Back-propagation: slopes against differences, passes against NumPy, calls cut anywhere."""

import numpy as np
import pytest

from linsep.train.online import backpropagation
from linsep.train.online.backpropagation import Descent, Weights
from linsep.train.order import row_order


def problem(n=7, d=3, hidden=4):
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(n, d)), (np.arange(n) % 2).astype(float)
    share = np.arange(1.0, n + 1)
    shapes = (hidden, d), (hidden,), (1, hidden), (1,)
    return X, t, share / share.mean(), Weights(*(rng.normal(size=shape) for shape in shapes))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def loss(X, t, share, weights):
    V, c, u, a = weights
    z = (2 * t - 1) * (sigmoid(X @ V.T + c) @ u[0] + a[0])
    return float(np.average(np.logaddexp(0.0, -z), weights=share))


def step(X, t, share, weights, eta):
    """One step along the mean slope, in NumPy."""
    V, c, u, a = weights
    h = sigmoid(X @ V.T + c)
    top = share * (sigmoid(h @ u[0] + a[0]) - t) / len(X)
    below = top[:, None] * u * h * (1 - h)
    slopes = below.T @ X, below.sum(axis=0), (top @ h)[None], np.array([top.sum()])
    return Weights(*(part - eta * slope for part, slope in zip(weights, slopes, strict=True)))


def copy(weights):
    return Weights(*(part.copy() for part in weights))


def test_a_step_goes_against_the_derivatives_of_the_loss():
    X, t, share, start = problem()
    after, h = copy(start), 1e-6
    Descent(X, t, share, after, 1.0, 0).batch(1, 0.0)
    for k, part in enumerate(start):
        for place in np.ndindex(part.shape):
            up, down = copy(start), copy(start)
            up[k][place] += h
            down[k][place] -= h
            slope = (loss(X, t, share, up) - loss(X, t, share, down)) / (2 * h)
            assert part[place] - after[k][place] == pytest.approx(slope, abs=1e-7)


def test_batch_passes_are_those_of_numpy():
    X, t, share, start = problem()
    weights, known, losses = copy(start), start, []
    curve = Descent(X, t, share, weights, 0.5, 0).batch(20, 0.0)
    for _ in range(20):
        known = step(X, t, share, known, 0.5)
        losses.append(loss(X, t, share, known))
    np.testing.assert_allclose(curve, losses, rtol=1e-12)
    for part, wanted in zip(weights, known, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-10, atol=1e-12)


def test_online_passes_step_for_each_row_in_a_new_order():
    X, t, share, start = problem()
    weights, known, losses = copy(start), start, []
    curve = Descent(X, t, share, weights, 0.5, 3).online(5, 0.0)
    for epoch in range(1, 6):
        for i in row_order(len(X), 3, epoch, 0, True):
            one = slice(i, i + 1)
            known = step(X[one], t[one], share[one], known, 0.5)
        losses.append(loss(X, t, share, known))
    np.testing.assert_allclose(curve, losses, rtol=1e-11)


@pytest.mark.parametrize("rule", ["batch", "online"])
def test_passes_cut_into_calls_give_the_same_bytes(rule, monkeypatch):
    X, t, share, start = problem()
    once, cut = copy(start), copy(start)
    curve = getattr(Descent(X, t, share, once, 0.5, 1), rule)(9, 0.0).tolist()
    monkeypatch.setattr(backpropagation, "CALL", 2 * len(X) * 5)
    pieces, losses = Descent(X, t, share, cut, 0.5, 1), []
    while len(losses) < 9:
        part = getattr(pieces, rule)(9 - len(losses), 0.0).tolist()
        assert len(part) <= 2
        losses += part
    assert losses == curve
    assert [a.tobytes() for a in once] == [a.tobytes() for a in cut]


@pytest.mark.parametrize("rule", ["batch", "online"])
def test_they_end_below_the_tolerance(rule):
    X, t, share, start = problem()
    curve = getattr(Descent(X, t, share, start, 0.5, 1), rule)(5000, 0.1)
    assert len(curve) < 5000
    assert curve[-1] < 0.1 <= curve[-2]
