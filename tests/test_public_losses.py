"""The losses of the lectures as public functions, and the sigmoid."""

import numpy as np
import pytest

from linsep import losses, sigmoid

NAMES = ["Hinge", "Logistic", "Perceptron", "Squared", "SquaredHinge", "ZeroOne"]
Z = np.array([-3.7, -1.2, -0.4, 0.3, 0.8, 1.7, 4.2])  # away from corners


@pytest.mark.parametrize("name", NAMES)
def test_slope_and_curvature_are_derivatives_of_the_value(name):
    loss, h = getattr(losses, name)(), 1e-6
    up, down = loss.value(Z + h), loss.value(Z - h)
    np.testing.assert_allclose(loss.slope(Z), (up - down) / (2 * h), atol=1e-8)
    rise = (loss.slope(Z + h) - loss.slope(Z - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(Z), rise, atol=1e-8)


def test_the_values_are_the_formulas_of_the_lectures():
    for z in Z.tolist():
        assert losses.Hinge().value(z) == max(0, 1 - z)
        assert losses.SquaredHinge().value(z) == max(0, 1 - z) ** 2
        assert losses.Perceptron().value(z) == max(0, -z)
        assert losses.ZeroOne().value(z) == (z <= 0)
        assert losses.Squared().value(z) == (1 - z) ** 2
        assert losses.Logistic().value(z) == pytest.approx(-np.log(1 / (1 + np.exp(-z))))


def test_every_loss_but_the_perceptrons_bounds_the_mistakes_from_above():
    mistakes = losses.ZeroOne().value(Z)
    for name in ("Hinge", "SquaredHinge", "Squared"):
        assert (getattr(losses, name)().value(Z) >= mistakes).all()
    assert (losses.Logistic().value(Z) / np.log(2) >= mistakes).all()
    assert not (losses.Perceptron().value(Z) >= mistakes).all()


def test_numbers_give_numbers_and_arrays_keep_their_shape():
    assert type(losses.Logistic().value(0.5)) is float
    assert losses.Hinge().value(np.zeros((2, 3))).shape == (2, 3)


def test_one_minus_the_sigmoid_is_the_sigmoid_of_the_negative():
    np.testing.assert_array_equal(1 - sigmoid(Z), 1 - 1 / (1 + np.exp(-Z)))
    np.testing.assert_allclose(1 - sigmoid(Z), sigmoid(-Z), rtol=1e-12)


def test_the_slope_of_the_sigmoid_is_f_times_one_minus_f():
    h = 1e-6
    slope = (sigmoid(Z + h) - sigmoid(Z - h)) / (2 * h)
    np.testing.assert_allclose(slope, sigmoid(Z) * (1 - sigmoid(Z)), rtol=1e-8)
    assert sigmoid([-1e4, 0.0, 1e4]).tolist() == [0.0, 0.5, 1.0]
