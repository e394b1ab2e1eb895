"""Sums in pairs of doubles: about 106 bits, whatever the order and the size of what is added.

A pair (high, low) stands for high + low without rounding it. Two numbers are added, and multiplied,
without any error (Knuth; Dekker, "A floating-point technique for extending the available
precision", 1971); long sums are added along a tree. Where a product leaves the range of floats,
what comes out is no number, and proves nothing.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FINE = 2.0**-98
"""The relative error of a sum, for each number added up to some thousands, with room to spare."""
LEAST = 2.0**-960
"""What a product may lose below the range of floats."""
HALF = 134217729.0  # 2²⁷ + 1 cuts a float in two halves


class Pair(NamedTuple):
    """high + low, entry by entry."""

    high: Any
    low: Any

    def __neg__(self) -> "Pair":
        return Pair(-self.high, -self.low)

    def __add__(self, other: Any) -> "Pair":
        high, low = other if isinstance(other, Pair) else (other, 0.0)
        s, e = _sum(self.high, high)
        return _tidy(s, e + (self.low + low))

    def times(self, other: Any) -> "Pair":
        """The product with numbers, or with a pair."""
        high, low = other if isinstance(other, Pair) else (other, 0.0)
        p, e = _product(self.high, high)
        return _tidy(p, e + (self.high * low + self.low * high))

    def over(self, other: "Pair") -> "Pair":
        """The quotient, one step of long division after another."""
        first = self.high / other.high
        rest = self + -other.times(first)
        second = rest.high / other.high
        rest = rest + -other.times(second)
        return Pair(*_sum(first, second)) + rest.high / other.high

    def of(self, rows: Any) -> "Pair":
        """Some entries."""
        return Pair(self.high[rows], self.low[rows])

    @property
    def rounded(self) -> Any:
        """As floats."""
        return self.high + self.low


def products(X: Any, a: Any) -> Pair:
    """xᵢⱼaⱼ, exactly."""
    return Pair(*_product(X, a))


def total(terms: Pair) -> Pair:
    """The sum over the first axis."""
    high, low = terms
    if not len(high):
        return Pair(np.zeros(high.shape[1:]), np.zeros(high.shape[1:]))
    while len(high) > 1:
        odd = len(high) % 2
        rest = Pair(high[-odd:], low[-odd:]) if odd else None
        m = len(high) - odd
        added = Pair(high[:m:2], low[:m:2]) + Pair(high[1:m:2], low[1:m:2])
        high, low = added if rest is None else map(np.concatenate, zip(added, rest, strict=True))
    return Pair(high[0], low[0])


def added(values: Any) -> float:
    """A sum, rounded once; no number where it leaves the range of floats."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def added_pair(values: Floats) -> Pair:
    """A sum, rounded once, and what that rounding took."""
    high = added(values)
    return Pair(high, added([*values.tolist(), -high]))


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _tidy(s: Any, e: Any) -> Pair:
    high = s + e
    return Pair(high, e - (high - s))


def _halves(a: Any) -> tuple[Any, Any]:
    c = HALF * a
    upper = c - (c - a)
    return upper, a - upper


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2
