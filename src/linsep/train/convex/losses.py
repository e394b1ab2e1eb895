"""Losses as functions of margins z = y(⟨w, x⟩ + b), numbers or arrays.

A loss is whatever has value, slope, curvature and dual. The dual term −ℓ*(−a) belongs to the
multiplier a = −ℓ′(z): for every z and every allowed a (Fenchel's inequality)

    ℓ(z) + a z ≥ −ℓ*(−a),    with equality where a = −ℓ′(z).

`most` is the largest a allowed, `steepest` the largest curvature. A loss that is `kinked` has a
corner; `rounded(h)` is then the same with that rounded, and knows the loss that is `meant`. One of
quadratic `pieces` tells their bend, the corner and the largest multiplier: −ℓ′(z) is bend·(corner −
z) between zero and that one. Those here have a `kind` besides, by which kernels know them
(kernels/convex/losses.hpp has their arithmetic once more); `linsep.train.convex.parts.row_terms`
serves losses that have none.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import special


class _Scaled(NamedTuple):
    scale: float = 1.0


class _Margin(NamedTuple):
    margin: float = 1.0


class _Width(NamedTuple):
    h: float


class Logistic(_Scaled):
    """ℓ(z) = log(1 + e^{−sz}), the negative log-likelihood of a sigmoid; s is `scale`.

    >>> loss = Logistic()
    >>> bool(loss.value(0.0) == math.log(2)), float(loss.slope(0.0)), float(loss.curvature(0.0))
    (True, -0.5, 0.25)
    >>> loss.value(np.array([1e4, -1e4]))
    array([    0., 10000.])
    """

    kind, kinked = 0, False

    def value(self, z: Any) -> Any:
        return np.logaddexp(0.0, -self.scale * z)

    def slope(self, z: Any) -> Any:
        return -self.scale * special.expit(-self.scale * z)

    def curvature(self, z: Any) -> Any:
        t = self.scale * z
        return self.scale**2 * special.expit(t) * special.expit(-t)

    def dual(self, a: Any) -> Any:
        u = np.clip(a / self.scale, 0.0, 1.0)
        return -special.xlogy(u, u) - special.xlog1py(1.0 - u, -u)

    def most(self) -> float:
        return self.scale

    @property
    def steepest(self) -> float:
        return 0.25 * self.scale**2


class Hinge(_Margin):
    """ℓ(z) = max(0, m − z): no charge once the margin reaches m (`margin`).

    >>> Hinge().value(np.array([-1.0, 1.0, 2.0]))
    array([2., 0., 0.])
    """

    kind, kinked = 1, True
    steepest = 1.0  # what a step may count on, although the corner has no curvature

    def rounded(self, h: float) -> "SmoothedHinge":
        """This loss with its kink rounded over a width of h."""
        return SmoothedHinge(h)

    def value(self, z: Any) -> Any:
        return np.maximum(0.0, self.margin - z)

    def slope(self, z: Any) -> Any:
        return np.where(z < self.margin, -1.0, 0.0)

    def curvature(self, z: Any) -> Any:
        return np.zeros_like(z, np.float64)

    def dual(self, a: Any) -> Any:
        return self.margin * a

    def most(self) -> float:
        return 1.0


class SquaredHinge(_Margin):
    """ℓ(z) = max(0, m − z)²: the hinge without its corner.

    >>> SquaredHinge().value(np.array([-1.0, 1.0, 2.0]))
    array([4., 0., 0.])
    """

    kind, kinked, steepest = 2, False, 2.0

    @property
    def pieces(self) -> tuple[float, float, float]:
        return 2.0, self.margin, math.inf

    def value(self, z: Any) -> Any:
        return np.maximum(0.0, self.margin - z) ** 2

    def slope(self, z: Any) -> Any:
        return -2.0 * np.maximum(0.0, self.margin - z)

    def curvature(self, z: Any) -> Any:
        return np.where(z < self.margin, 2.0, 0.0)

    def dual(self, a: Any) -> Any:
        return self.margin * a - 0.25 * a * a

    def most(self) -> float:
        return math.inf


class SmoothedHinge(_Width):
    """max(0, 1 − z), and (1 − z + h)²/4h where |1 − z| < h.

    >>> SmoothedHinge(0.5).value(np.array([0.0, 0.5, 1.0, 1.5]))
    array([1.   , 0.5  , 0.125, 0.   ])
    """

    kind, kinked, meant = 3, False, Hinge()

    @property
    def steepest(self) -> float:
        return 0.5 / self.h

    @property
    def pieces(self) -> tuple[float, float, float]:
        return 0.5 / self.h, 1.0 + self.h, 1.0

    def value(self, z: Any) -> Any:
        lack = np.clip(1.0 - z + self.h, 0.0, 2.0 * self.h)
        return lack * lack / (4.0 * self.h) + np.maximum(0.0, 1.0 - z - self.h)

    def slope(self, z: Any) -> Any:
        return -np.clip((1.0 - z + self.h) / (2.0 * self.h), 0.0, 1.0)

    def curvature(self, z: Any) -> Any:
        return np.where(abs(1.0 - z) < self.h, 0.5 / self.h, 0.0)

    def dual(self, a: Any) -> Any:
        return a * (1.0 + self.h) - self.h * a * a

    def most(self) -> float:
        return 1.0


Loss = Logistic | Hinge | SquaredHinge
