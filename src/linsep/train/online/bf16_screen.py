"""The first digits of sparse weights, which tell most scores well enough to leave a row alone.

V holds the first eight binary digits of W: a quarter of the bytes are read in a third of the time,
and most rows are so clearly right that they tell. The others are scored again by W, so that the
answer never changes.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel, piece, upper_half
from linsep.rows.rows import aligned, breadth, shorten, square
from linsep.train.problem import NO_WEIGHTS

Array = npt.NDArray[Any]


class Short(NamedTuple):
    """The first digits V of the weights, bounds on ‖wₖ‖R, and R."""

    V: Array
    reach: Array
    radius: float


NO_SHORT = Short(np.empty((0, 0), np.uint16), NO_WEIGHTS, 0.0)


def shortened(W: Array, classes: int, radius: float) -> Short:
    """The first digits of W for rows of norm at most `radius`, if that is in range."""
    if not 1e-30 < radius < 1e30:
        return NO_SHORT
    V = aligned(W.shape, np.uint16)
    squares = np.zeros(W.shape[1])
    shorten_all(W, V, squares)
    reach = 1.0001 * radius * np.sqrt(squares[:classes])
    reach = np.maximum(reach, 1e-30 * (1 + radius))
    return Short(V, np.where(reach < 1e37, reach, np.inf), radius)


@piece
def doubt(entries):  # type: ignore[no-untyped-def]
    """How far ⟨v, x⟩ in float32 can be from ⟨w, x⟩, as a share of ‖w‖ max‖x‖: see `follow`.

    By Cauchy-Schwarz: 2⁻⁸ for the digits that v lacks, and 2⁻²⁴ for each rounding of the sum.
    """
    return 0.00391 + 6.2e-8 * (entries + 8)


@piece
def closer(rows, i, k, near, short):  # type: ignore[no-untyped-def]
    """How far ⟨vₖ, xᵢ⟩ in float32 can be from ⟨wₖ, xᵢ⟩, from the products themselves.

    Each digit lost is lost in proportion to |vⱼxⱼ|, and most weights have no part in a row: ten
    times closer than Cauchy-Schwarz. What follows the sum is for numbers too small for float32.
    """
    if not (short.reach[k] < np.inf and short.radius > 1e-15):
        return np.inf
    exact = breadth(rows, i, short.V, k) + 1e-30 * (1.0 + short.radius)
    return near * exact + 1e-12 * short.reach[k]


@kernel
def shorten_all(W, V, squares):  # type: ignore[no-untyped-def]
    """V ← the first digits of W, and squaresₖ ← ‖wₖ‖²."""
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            V[j, k] = upper_half(W[j, k])
            squares[k] += float(W[j, k]) * float(W[j, k])


@piece
def follow(rows, i, a, was, W, short):  # type: ignore[no-untyped-def]
    """After wₖ ← wₖ + aₖx: V follows W, and reachₖ stays at least ‖wₖ‖R; `was` has ⟨wₖ, x⟩ before.

    Beyond the range of float32 nothing is clear: reachₖ is infinite.
    """
    reach, radius = short.reach, short.radius
    squared = square(rows, i)
    for k in range(a.shape[0]):
        if a[k] != 0.0:
            shorten(rows, i, W, short.V, k)
            before, step = (reach[k] / radius) ** 2, a[k] * a[k] * squared
            turn = 2.0 * a[k] * was[k]  # ‖w + ax‖² = ‖w‖² + 2a⟨w, x⟩ …
            lost = 2.5e-7 * (before + abs(turn) + step)  # more than rounding can lose
            new = radius * np.sqrt(max(0.0, before + turn + step) + lost)
            reach[k] = max(new, 1e-30 * (1.0 + radius)) if new < 1e37 else np.inf
