"""What a row with the margin z = y(⟨w, x⟩ + b) is charged: value, slope and curvature.

Each loss is a function of z alone, positive where the row is on its own side. All take numbers and
arrays; the hinges and the logistic loss are those that solvers know.

    ZeroOne       1 where z ≤ 0, else 0: what one wants, but flat, so that no slope shows the way
    Perceptron    max(0, −z): only rows on the wrong side count
    Hinge         max(0, 1 − z): support vector machines
    SquaredHinge  max(0, 1 − z)²: the hinge without its corner
    Logistic      log(1 + e⁻ᶻ) = −log σ(z): logistic regression
    Squared       (1 − z)² = (y − s)² for labels ±1: least squares, which charges rows right by far

Examples
--------
>>> from linsep import losses
>>> losses.Hinge().value([-1.0, 0.0, 2.0])
array([2., 1., 0.])
>>> losses.Logistic().slope(0.0), losses.Squared().curvature(3.0)
(-0.5, 2.0)
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._arguments import numbers_of
from linsep.train.convex import losses as minimised

Array = npt.NDArray[np.float64]

__all__ = ["Hinge", "Logistic", "Perceptron", "Squared", "SquaredHinge", "ZeroOne", "sigmoid"]


def sigmoid(z: Any) -> Any:
    """σ(z) = 1/(1 + e⁻ᶻ), the probability that stands for the score z.

    Its slope is σ(1 − σ), and 1 − σ(z) = σ(−z).

    >>> sigmoid(0.0), sigmoid([-1000.0, 1000.0]).tolist()
    (0.5, [0.0, 1.0])
    """
    z = numbers_of("z", z)
    tail = np.exp(-np.abs(z))
    return _plain(np.where(z >= 0, 1.0, tail) / (1.0 + tail))


class _Loss:
    """A loss by three functions of one number."""

    def value(self, z: Any) -> Any:
        """ℓ(z)"""
        return _each(self._value, z)

    def slope(self, z: Any) -> Any:
        """ℓ′(z); at a corner the slope that learning uses."""
        return _each(self._slope, z)

    def curvature(self, z: Any) -> Any:
        """ℓ″(z), zero at a corner."""
        return _each(self._curvature, z)

    def _value(self, z: float) -> float:
        raise NotImplementedError

    def _slope(self, z: float) -> float:
        raise NotImplementedError

    def _curvature(self, z: float) -> float:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Minimised(_Loss):
    """A loss that solvers minimise."""

    _meant: Any

    def value(self, z: Any) -> Any:
        return _plain(self._meant.value(numbers_of("z", z)))

    def slope(self, z: Any) -> Any:
        return _plain(self._meant.slope(numbers_of("z", z)))

    def curvature(self, z: Any) -> Any:
        return _plain(self._meant.curvature(numbers_of("z", z)))


class Perceptron(_Loss):
    """ℓ(z) = max(0, −z), the perceptron criterion; a row on the boundary still counts as wrong.

    >>> Perceptron().value([-2.0, 0.0, 3.0]), Perceptron().slope([-2.0, 0.0, 3.0])
    (array([2., 0., 0.]), array([-1., -1.,  0.]))
    """

    def _value(self, z: float) -> float:
        return max(0.0, -z)

    def _slope(self, z: float) -> float:
        return -1.0 if z <= 0.0 else 0.0

    def _curvature(self, z: float) -> float:
        return 0.0


class Hinge(_Minimised):
    """ℓ(z) = max(0, 1 − z): no charge once the margin is one."""

    _meant = minimised.Hinge()


class SquaredHinge(_Minimised):
    """ℓ(z) = max(0, 1 − z)²: the hinge without its corner."""

    _meant = minimised.SquaredHinge()


class Logistic(_Minimised):
    """ℓ(z) = log(1 + e⁻ᶻ) = −log σ(z), the negative log-likelihood of a sigmoid."""

    _meant = minimised.Logistic()


class ZeroOne(_Loss):
    """ℓ(z) = 1 where z ≤ 0, else 0: a mistake counts one. Its slope is zero everywhere.

    >>> ZeroOne().value([-2.0, 0.0, 3.0])
    array([1., 1., 0.])
    """

    def _value(self, z: float) -> float:
        return 0.0 if z > 0 else 1.0

    def _slope(self, z: float) -> float:
        return 0.0

    def _curvature(self, z: float) -> float:
        return 0.0


class Squared(_Loss):
    """ℓ(z) = (1 − z)², the squared error (y − s)² of a score s for labels y = ±1."""

    def _value(self, z: float) -> float:
        return (1.0 - z) ** 2

    def _slope(self, z: float) -> float:
        return -2.0 * (1.0 - z)

    def _curvature(self, z: float) -> float:
        return 2.0


def _each(function: Any, z: Any) -> Any:
    """The function of every entry; of a number, a number."""
    z = numbers_of("z", z)
    values = np.array([function(one) for one in z.ravel().tolist()], np.float64)
    return _plain(values.reshape(z.shape))


def _plain(values: Array) -> Any:
    return values if values.ndim else float(values)
