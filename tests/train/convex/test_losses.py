"""Losses of a margin: derivatives, convexity and Fenchel's inequality."""

import math

import numpy as np
import pytest

from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge

LOSSES = [Logistic(), Logistic(2.5), Hinge(), Hinge(0.3), SquaredHinge()]
SMOOTH = [Logistic(), Logistic(2.5), SquaredHinge()]
POINTS = [-40.0, -3.0, -0.21, 0.4, 0.95, 2.5, 30.0]


@pytest.mark.parametrize("loss", LOSSES)
def test_slope_is_the_derivative_of_value(loss):
    for z in POINTS:
        difference = (loss.value(z + 1e-6) - loss.value(z - 1e-6)) / 2e-6
        assert loss.slope(z) == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
def test_curvature_is_the_derivative_of_slope(loss):
    for z in POINTS:
        difference = (loss.slope(z + 1e-6) - loss.slope(z - 1e-6)) / 2e-6
        assert loss.curvature(z) == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_fenchels_inequality_holds_with_equality_at_the_slope(loss):
    for z in POINTS:
        a = -loss.slope(z)
        assert loss.value(z) + a * z == pytest.approx(loss.dual(a), abs=1e-12)
        for other in np.linspace(0, min(loss.most(), 5.0), 11):
            assert loss.value(z) + other * z >= loss.dual(other) - 1e-12


def test_logistic_loss_neither_overflows_nor_loses_its_tail():
    assert Logistic().value(1e4) == 0.0
    assert Logistic().value(-1e4) == 1e4
    assert Logistic().value(40.0) == pytest.approx(math.exp(-40), rel=1e-12)
