"""Dense rows rounded to eight bits, whose scores settle most rows without a look at them.

Row x is rounded to m q/127 with m = max |xⱼ| and whole numbers q from −127 to 127. By
Cauchy-Schwarz the score of the rounded row is off by at most ‖w‖ ‖x − m q/127‖, and by what
floating point adds. Where that cannot change what a rule decides, the row itself, four or eight
times as many bytes, need not be read. Where it can, it is: a screen never changes an answer.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import by_type, kernel
from linsep.data.blocks.blocks import spans
from linsep.parallel import in_order

Array = npt.NDArray[Any]

FEWEST, MOST = 1 << 21, 1 << 28  # numbers in the rows, between which a screen is made of them
NARROW = 32  # features below which it would save nothing


class Int8Screen(NamedTuple):
    """Rounded rows: whole numbers, the unit m/127, and the error bound per unit of ‖w‖."""

    Q: Array
    unit: Array
    error: Array

    def screens(self):  # type: ignore[no-untyped-def]
        return True

    def int8_score(self, i, w):  # type: ignore[no-untyped-def]
        s = w.dtype.type(0)
        for j in range(w.shape[0]):
            s += w.dtype.type(self.Q[i, j]) * w[j]
        return self.unit[i] * s

    def error_bound(self, i, norm):  # type: ignore[no-untyped-def]
        return self.error[i] * norm

    def norm_bound(self, w):  # type: ignore[no-untyped-def]
        total = 0.0
        for j in range(w.shape[0]):
            total += float(w[j]) * float(w[j])
        norm = 1.0001 * np.sqrt(total)
        return max(norm, 1e-30) if norm < 1e30 else np.inf

    def part(self, start: int, stop: int) -> "Int8Screen":
        """Of rows start..stop, without a copy."""
        return Int8Screen(self.Q[start:stop], self.unit[start:stop], self.error[start:stop])


class NoScreen(NamedTuple):
    """Rows without a screen: each is read."""

    nothing: int = 0

    def screens(self):  # type: ignore[no-untyped-def]
        return False

    def int8_score(self, i, w):  # type: ignore[no-untyped-def]
        return 0.0

    def error_bound(self, i, norm):  # type: ignore[no-untyped-def]
        return 0.0

    def norm_bound(self, w):  # type: ignore[no-untyped-def]
        return 0.0


@by_type
def screens(screen):  # type: ignore[no-untyped-def]
    """Whether there are rounded rows; known when a kernel is compiled"""
    return screen.screens()


@by_type
def int8_score(screen, i, w):  # type: ignore[no-untyped-def]
    """⟨w, xᵢ rounded⟩"""
    return screen.int8_score(i, w)


@by_type
def error_bound(screen, i, norm):  # type: ignore[no-untyped-def]
    """How far `int8_score` may be from ⟨w, xᵢ⟩ if ‖w‖ is at most `norm`"""
    return screen.error_bound(i, norm)


@by_type
def norm_bound(screen, w):  # type: ignore[no-untyped-def]
    """At least ‖w‖, or infinity where scores could leave the range of float32"""
    return screen.norm_bound(w)


@kernel
def _round(X, bits, mask, Q, unit, unit_bits, error):  # type: ignore[no-untyped-def]
    """Round rows. Both arrays of bits are other views of the arrays before them."""
    real = X.dtype.type
    rounding = 1.3e-7 * (X.shape[1] + 8)  # of the sums that make either score
    for i in range(X.shape[0]):
        top = bits.dtype.type(0)
        for j in range(X.shape[1]):
            top = max(top, bits[i, j] & mask)  # magnitudes are ordered as their bits are
        unit_bits[i] = top
        largest = unit[i]
        if not 1e-30 < largest < 1e30:
            unit[i], error[i] = real(0), np.inf
            continue
        unit[i] = largest / real(127)
        scale = real(127) / largest
        left = square = real(0)
        for j in range(X.shape[1]):
            x = X[i, j] * scale
            q = np.rint(x)
            Q[i, j] = np.int32(q)
            left += (x - q) * (x - q)
            square += x * x
        off = 1.001 * np.sqrt(left) + rounding * np.sqrt(square)  # in units, whose squares exist
        error[i] = float(unit[i]) * float(off)


def int8_screen(X: Array, n_jobs: int) -> Int8Screen | NoScreen:
    """A screen of the rows of an array, or none if it is too small, narrow or large."""
    n, d = X.shape
    if not FEWEST <= X.size <= MOST or d < NARROW:
        return NoScreen()
    whole = np.uint32 if X.dtype == np.float32 else np.uint64
    screen = Int8Screen(np.empty((n, d), np.int8), np.empty(n, X.dtype), np.empty(n))

    def one(span: tuple[int, int]) -> None:
        rows, (Q, unit, error) = X[slice(*span)], screen.part(*span)
        mask = whole(np.iinfo(whole).max >> 1)
        _round(rows, rows.view(whole), mask, Q, unit, unit.view(whole), error)

    for _ in in_order(one, spans(n), n_jobs):
        pass
    return screen
