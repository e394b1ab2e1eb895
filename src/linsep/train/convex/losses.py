"""Losses as functions of the margin z = y(⟨w, x⟩ + b): value, slope, curvature and dual term.

Each is a NamedTuple of its parameter; kernels know it by its `kind`, a number (the arithmetic is in
kernels/convex/losses.hpp). The dual term −ℓ*(−a) belongs to the multiplier a = −ℓ′(z): for every z
and every allowed a (Fenchel's inequality)

    ℓ(z) + a z ≥ −ℓ*(−a),    with equality where a = −ℓ′(z).

`kinked` says whether it has a corner; `rounded(h)` is then the same with that rounded.
"""

import math
from typing import NamedTuple


class Logistic(NamedTuple):
    """ℓ(z) = log(1 + e^{−sz}), the negative log-likelihood of a sigmoid; s is `scale`.

    >>> loss = Logistic()
    >>> loss.value(0.0) == math.log(2), loss.slope(0.0), loss.curvature(0.0)
    (True, -0.5, 0.25)
    >>> loss.value(1e4), loss.value(-1e4)
    (0.0, 10000.0)
    """

    scale: float = 1.0

    @property
    def kind(self) -> int:
        return 0

    @property
    def kinked(self) -> bool:
        return False

    def value(self, z):  # type: ignore[no-untyped-def]
        t = self.scale * z
        return math.log1p(math.exp(-abs(t))) + max(0.0, -t)

    def slope(self, z):  # type: ignore[no-untyped-def]
        t = self.scale * z
        tail = math.exp(-abs(t))
        return -self.scale * (tail if t > 0 else 1.0) / (1.0 + tail)

    def curvature(self, z):  # type: ignore[no-untyped-def]
        tail = math.exp(-abs(self.scale * z))
        return self.scale * self.scale * tail / ((1.0 + tail) * (1.0 + tail))

    def dual(self, a):  # type: ignore[no-untyped-def]
        u = a / self.scale
        if u <= 0.0 or u >= 1.0:
            return 0.0
        return -u * math.log(u) - (1.0 - u) * math.log1p(-u)

    def most(self):  # type: ignore[no-untyped-def]
        return self.scale


class Hinge(NamedTuple):
    """ℓ(z) = max(0, m − z): no charge once the margin reaches m (`margin`).

    >>> [Hinge().value(z) for z in (-1.0, 1.0, 2.0)]
    [2.0, 0.0, 0.0]
    """

    margin: float = 1.0

    @property
    def kind(self) -> int:
        return 1

    @property
    def kinked(self) -> bool:
        return True

    def rounded(self, h: float) -> "SmoothedHinge":
        """This loss with its kink rounded over a width of h."""
        return SmoothedHinge(h)

    def value(self, z):  # type: ignore[no-untyped-def]
        return max(0.0, self.margin - z)

    def slope(self, z):  # type: ignore[no-untyped-def]
        return -1.0 if z < self.margin else 0.0

    def curvature(self, z):  # type: ignore[no-untyped-def]
        return 0.0

    def dual(self, a):  # type: ignore[no-untyped-def]
        return self.margin * a

    def most(self):  # type: ignore[no-untyped-def]
        return 1.0


class SquaredHinge(NamedTuple):
    """ℓ(z) = max(0, m − z)²: the hinge without its corner.

    >>> [SquaredHinge().value(z) for z in (-1.0, 1.0, 2.0)]
    [4.0, 0.0, 0.0]
    """

    margin: float = 1.0

    @property
    def kind(self) -> int:
        return 2

    @property
    def kinked(self) -> bool:
        return False

    def value(self, z):  # type: ignore[no-untyped-def]
        lack = max(0.0, self.margin - z)
        return lack * lack

    def slope(self, z):  # type: ignore[no-untyped-def]
        return -2.0 * max(0.0, self.margin - z)

    def curvature(self, z):  # type: ignore[no-untyped-def]
        return 2.0 if z < self.margin else 0.0

    def dual(self, a):  # type: ignore[no-untyped-def]
        return self.margin * a - 0.25 * a * a

    def most(self):  # type: ignore[no-untyped-def]
        return math.inf


class SmoothedHinge(NamedTuple):
    """max(0, 1 − z), and (1 − z + h)²/4h where |1 − z| < h.

    >>> [SmoothedHinge(0.5).value(z) for z in (0.0, 0.5, 1.0, 1.5)]
    [1.0, 0.5, 0.125, 0.0]
    """

    h: float

    @property
    def kind(self) -> int:
        return 3

    @property
    def kinked(self) -> bool:
        return False

    def value(self, z):  # type: ignore[no-untyped-def]
        t = 1.0 - z
        return (t + self.h) * (t + self.h) / (4.0 * self.h) if abs(t) < self.h else max(0.0, t)

    def slope(self, z):  # type: ignore[no-untyped-def]
        return -min(1.0, max(0.0, (1.0 - z + self.h) / (2.0 * self.h)))

    def curvature(self, z):  # type: ignore[no-untyped-def]
        return 1.0 / (2.0 * self.h) if abs(1.0 - z) < self.h else 0.0


Loss = Logistic | Hinge | SquaredHinge
