"""Losses of whole score vectors: slopes are derivatives, bounds are bounds, intercepts are best."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.penalties import Elastic, highest
from linsep.train.convex.steps.score_losses import Planes, Softmax

SMOOTH = [Planes(Logistic()), Planes(SquaredHinge()), Softmax(4)]
rng = np.random.default_rng(0)
CODES = rng.integers(0, 4, 50)
S = rng.normal(size=(50, 4)) * 2


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_the_residual_is_the_derivative_of_the_loss(loss):
    R, h = loss.residual(S, CODES), 1e-6
    for k in range(4):
        step = h * (np.arange(4) == k)
        slope = (loss.losses(S + step, CODES) - loss.losses(S - step, CODES)) / (2 * h)
        np.testing.assert_allclose(R[:, k], slope, atol=1e-8)


@pytest.mark.parametrize("loss", [Planes(Logistic()), Planes(SquaredHinge())], ids=str)
def test_the_bend_is_the_second_derivative_and_its_bound_holds(loss):
    z, h = np.linspace(-5, 5, 101) + 1e-3, 1e-4
    second = (loss.loss.slope(z + h) - loss.loss.slope(z - h)) / (2 * h)
    bend = loss.loss.curvature(z)
    np.testing.assert_allclose(bend, second, atol=1e-7)
    assert (bend <= loss.bend + 1e-12).all()


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_loss_and_dual_term_meet_at_the_residual(loss):
    """Fenchel: ℓ(s) − ⟨R, s⟩ is the dual term exactly where R is the slope at s."""
    R = loss.residual(S, CODES)
    met = loss.losses(S, CODES) - (R * S).sum(axis=1)
    np.testing.assert_allclose(loss.dual(R, CODES, 1.0), met, atol=1e-12)


@pytest.mark.parametrize("loss", [Planes(Logistic()), Planes(SquaredHinge()), Planes(Hinge())],
                         ids=str)  # fmt: skip
def test_the_best_intercept_beats_a_search(loss):
    c = rng.random(50)
    s, codes = S[:, :1], (CODES > 1).astype(int)
    b = loss.best_bias(s, codes, c, np.zeros(1))
    found = minimize_scalar(lambda t: c @ loss.losses(s + t, codes), (-2.0, 2.0), tol=1e-12)
    assert c @ loss.losses(s + b, codes) <= found.fun * (1 + 1e-12)


def test_the_best_intercepts_of_a_softmax_balance_every_class():
    c = rng.random(50)
    b = Softmax(4).best_bias(S, CODES, c, np.zeros(4))
    np.testing.assert_allclose(c @ Softmax(4).residual(S + b, CODES), 0.0, atol=1e-13)


@pytest.mark.parametrize(
    "penalty", [Elastic(0.0, 1.0), Elastic(0.3, 0.7), Elastic(1.0, 0.0)], ids=str
)
def test_a_penalty_and_its_conjugate_bound_every_product(penalty):
    V = rng.normal(size=6)
    V = V * penalty.room(V)
    for _ in range(200):
        w = rng.normal(size=6) * 10.0 ** rng.integers(-2, 3)
        assert w @ V <= penalty.value(w) + penalty.conjugate(V) + 1e-9
    best, bound = highest(lambda s: 10 * s, penalty, V * 50)
    assert 0 <= best <= penalty.room(V * 50)
    assert bound >= 0
