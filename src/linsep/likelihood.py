"""Maximum likelihood: the distribution under which a sample is most likely.

For independent draws the likelihood is a product of densities, L(θ) = Π f(xᵢ; θ), and its
logarithm a sum, l(θ) = Σ log f(xᵢ; θ), which has its maximum at the same θ. Each distribution here
knows both, the slope of the second, its maximum in closed form (`most_likely`), and the way there
by descent on −l/N (`descend`).

Examples
--------
>>> from linsep.likelihood import Gaussian
>>> x = [1.0, 2.0, 3.0, 6.0]
>>> Gaussian.most_likely(x)
Gaussian(mean=3.0, deviation=1.8708286933869707)
>>> fitted, path = Gaussian(0.0, 1.0).descend(x)
>>> round(fitted.mean, 4), round(fitted.deviation**2, 4), len(path) > 2
(3.0, 3.5, True)
"""

import math
from dataclasses import astuple, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linsep._arguments import numbers_of, require_number
from linsep.errors import DataError, ParameterError

Array = npt.NDArray[np.float64]

__all__ = ["Bernoulli", "Distribution", "Exponential", "Gaussian", "Poisson"]


class Distribution:
    """What the four distributions share."""

    def log_density(self, x: Any) -> Array:
        """log f(x; θ) of each number."""
        return self._log_density(self._sample(x))

    def density(self, x: Any) -> Array:
        """f(x; θ) of each number: a density, or for whole numbers a probability."""
        return np.exp(self.log_density(x))

    def log_likelihood(self, x: Any) -> float:
        """l(θ) = Σ log f(xᵢ; θ)"""
        return float(self.log_density(x).sum())

    def likelihood(self, x: Any) -> float:
        """L(θ) = Π f(xᵢ; θ); of many numbers it leaves the range of floats, its logarithm not."""
        return math.exp(self.log_likelihood(x))

    def slope(self, x: Any) -> Array:
        """∂l/∂θ, one number for each parameter."""
        return self._slope(self._sample(x))

    @classmethod
    def most_likely(cls, x: Any) -> Self:
        """The maximum of the likelihood, in closed form."""
        return cls._most_likely(cls._sample(x))

    def descend(
        self, x: Any, *, eta0: float = 0.5, max_iter: int = 1000, tol: float = 1e-12
    ) -> tuple[Self, list[Self]]:
        """Go from here along the slope of l/N until it gains less than `tol`.

        A step that leaves the parameters' range, or gains less than its slope promises, is halved.

        Returns
        -------
        the last distribution, and all of them from this one on
        """
        if not (eta0 > 0 and tol > 0 and max_iter >= 1):
            raise ParameterError(
                f"eta0 is {eta0!r}, tol {tol!r} and max_iter {max_iter!r}; all must be > 0."
            )
        x = self._sample(x)
        path = [self]
        here, value, eta = self, self._log_density(x).mean(), eta0
        for _ in range(max_iter):
            theta, slope = np.array(here._parameters()), here._slope(x) / len(x)
            eta *= 2.0
            while True:
                there = self._at(theta + eta * slope)
                new = -np.inf if there is None else there._log_density(x).mean()
                still = eta * np.abs(slope).max() < 1e-15 * (1 + np.abs(theta).max())
                if still or new >= value + 0.3 * eta * float(slope @ slope):
                    break
                eta /= 2.0
            if there is None or not new > value:
                break
            gained, here, value = new - value, there, new
            path.append(here)
            if gained < tol:
                break
        return here, path

    def _parameters(self) -> tuple[float, ...]:
        return astuple(self)  # type: ignore[call-overload]

    def _at(self, theta: Array) -> Self | None:
        """The distribution with these parameters, or None where there is none."""
        try:
            return type(self)(*theta.tolist())
        except ParameterError:
            return None

    @classmethod
    def _sample(cls, x: Any) -> Array:
        x = numbers_of("x", x).ravel()
        if not x.size or not np.isfinite(x).all():
            raise DataError(f"x holds {x.size} numbers; give at least one, all finite.")
        if not cls._possible(x):
            raise DataError(f"x holds numbers that no {cls.__name__} gives; {cls._wanted}.")
        return x

    _wanted = ""

    @classmethod
    def _possible(cls, x: Array) -> bool:
        return True

    @classmethod
    def _most_likely(cls, x: Array) -> Self:
        raise NotImplementedError

    def _log_density(self, x: Array) -> Array:
        raise NotImplementedError

    def _slope(self, x: Array) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class Gaussian(Distribution):
    """f(x; μ, σ) = exp(−(x − μ)²/(2σ²)) / √(2πσ²); most likely at the mean and variance (1/N)."""

    mean: float = 0.0
    deviation: float = 1.0

    def __post_init__(self) -> None:
        _within("deviation", self.deviation, 0.0, math.inf)
        _within("mean", self.mean, -math.inf, math.inf)

    @classmethod
    def _most_likely(cls, x: Array) -> Self:
        if np.ptp(x) == 0:
            raise DataError("x holds one number alone; no normal distribution is most likely.")
        return cls(float(x.mean()), float(x.std()))

    def _log_density(self, x: Array) -> Array:
        z = (x - self.mean) / self.deviation
        return -0.5 * math.log(2 * math.pi) - math.log(self.deviation) - 0.5 * z * z

    def _slope(self, x: Array) -> Array:
        off, s = x - self.mean, self.deviation
        return np.array([off.sum() / s**2, -len(x) / s + (off**2).sum() / s**3])


@dataclass(frozen=True)
class Bernoulli(Distribution):
    """f(t; p) = pᵗ(1 − p)¹⁻ᵗ for t = 0 or 1; most likely at the share of ones."""

    p: float = 0.5
    _wanted = "give 0 and 1"

    def __post_init__(self) -> None:
        require_number("p", self.p, "a probability from 0 to 1")
        if not 0 <= self.p <= 1:
            raise ParameterError(f"p is {self.p!r}; give a probability from 0 to 1.")

    @classmethod
    def _possible(cls, x: Array) -> bool:
        return bool(np.isin(x, (0.0, 1.0)).all())

    @classmethod
    def _most_likely(cls, x: Array) -> Self:
        return cls(float(x.mean()))

    def _log_density(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(x == 1, np.log(self.p), np.log1p(-self.p)), np.float64)

    def _slope(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            terms = np.where(x == 1, 1 / np.float64(self.p), -1 / (1 - np.float64(self.p)))
        return np.array([terms.sum()])


@dataclass(frozen=True)
class Exponential(Distribution):
    """f(x; λ) = λe^{−λx} for x ≥ 0; most likely at one over the mean."""

    rate: float = 1.0
    _wanted = "give numbers >= 0"

    def __post_init__(self) -> None:
        _within("rate", self.rate, 0.0, math.inf)

    @classmethod
    def _possible(cls, x: Array) -> bool:
        return bool((x >= 0).all())

    @classmethod
    def _most_likely(cls, x: Array) -> Self:
        if not x.any():
            raise DataError("x holds zeros alone; no exponential distribution is most likely.")
        return cls(1 / float(x.mean()))

    def _log_density(self, x: Array) -> Array:
        return math.log(self.rate) - self.rate * x

    def _slope(self, x: Array) -> Array:
        return np.array([len(x) / self.rate - x.sum()])


@dataclass(frozen=True)
class Poisson(Distribution):
    """f(x; λ) = λˣe^{−λ}/x! for x = 0, 1, 2, …; most likely at the mean."""

    rate: float = 1.0
    _wanted = "give counts 0, 1, 2, ..."

    def __post_init__(self) -> None:
        _within("rate", self.rate, 0.0, math.inf)

    @classmethod
    def _possible(cls, x: Array) -> bool:
        return bool((x >= 0).all() and (x == np.floor(x)).all())

    @classmethod
    def _most_likely(cls, x: Array) -> Self:
        if not x.any():
            raise DataError("x holds zeros alone; no Poisson distribution is most likely.")
        return cls(float(x.mean()))

    def _log_density(self, x: Array) -> Array:
        factorials = np.array([math.lgamma(one + 1) for one in x.tolist()])
        return x * math.log(self.rate) - self.rate - factorials

    def _slope(self, x: Array) -> Array:
        return np.array([x.sum() / self.rate - len(x)])


def _within(name: str, value: float, low: float, high: float) -> None:
    wanted = "a finite number" if low < 0 else "a finite number > 0"
    require_number(name, value, wanted)
    if not low < value < high:
        raise ParameterError(f"{name} is {value!r}; give {wanted}.")
