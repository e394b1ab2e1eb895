"""A bfloat16 copy V of sparse weights W, whose scores settle most rows without a look at W.

V holds the first eight binary digits of W: a quarter of the bytes are read in a third of the time,
and most rows are so clearly right that they tell. The others are scored again by W, so that the
answer never changes.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel, upper_half
from linsep.rows.rows import aligned, bf16_magnitude, round_to_bf16, square
from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.problem import NO_WEIGHTS, Problem

Array = npt.NDArray[Any]

LARGE = 1 << 20  # bytes of sparse weights: fewer are near enough not to need a copy
RANGE = 1e37  # where norm bounds leave the range of float32


class Bf16Screen(NamedTuple):
    """The rounded weights V, bounds on ‖wₖ‖R, and R = max ‖x‖."""

    V: Array
    norm_bounds: Array
    radius: float


NO_SCREEN = Bf16Screen(np.empty((0, 0), np.uint16), NO_WEIGHTS, 0.0)


class WeightScreen:
    """When a rounded copy of the weights is kept, and the copy.

    Parameters
    ----------
    planes : whose weights
    problem : the rows, which have to repay the copy
    """

    def __init__(self, planes: Hyperplanes, problem: Problem) -> None:
        W = planes.W
        several = planes.sparse and W.shape[1] > 1
        worth_it = several and W.nbytes > LARGE and problem.entries > W.size // 8
        self._radius = problem.radius if worth_it else 0.0
        self._screen: Bf16Screen | None = None

    def make(self, planes: Hyperplanes) -> None:
        """Have a copy, if it is worth it: kernels keep it up to date from then on."""
        if self._screen is None:
            self._screen = bf16_screen(planes.W, len(planes.b), self._radius)

    def drop(self) -> None:
        """Forget the copy: the weights have moved without it."""
        self._screen = None

    @property
    def given(self) -> Bf16Screen | None:
        """What kernels are given; of weights that need no copy they know when they are compiled."""
        return (self._screen or NO_SCREEN) if self._radius > 0.0 else None

    @property
    def bounded(self) -> bool:
        """Whether no score can be anywhere near the end of the range of floats."""
        bounds = NO_WEIGHTS if self._screen is None else self._screen.norm_bounds
        return bounds.size > 0 and bool((bounds < RANGE).all())


def bf16_screen(W: Array, classes: int, radius: float) -> Bf16Screen:
    """W rounded, for rows of norm at most `radius`, if that is in range."""
    if not 1e-30 < radius < 1e30:
        return NO_SCREEN
    V = aligned(W.shape, np.uint16)
    squares = np.zeros(W.shape[1])
    round_all(W, V, squares)
    bounds = 1.0001 * radius * np.sqrt(squares[:classes])
    bounds = np.maximum(bounds, 1e-30 * (1 + radius))
    return Bf16Screen(V, np.where(bounds < RANGE, bounds, np.inf), radius)


@inline
def relative_error(entries):  # type: ignore[no-untyped-def]
    """How far ⟨v, x⟩ in float32 can be from ⟨w, x⟩, as a share of ‖w‖ max‖x‖.

    By Cauchy-Schwarz: 2⁻⁸ for the digits that v lacks, and 2⁻²⁴ for each rounding of the sum.
    """
    return 0.00391 + 6.2e-8 * (entries + 8)


@inline
def error_bound(rows, i, k, relative, screen):  # type: ignore[no-untyped-def]
    """How far ⟨vₖ, xᵢ⟩ in float32 can be from ⟨wₖ, xᵢ⟩, from the products themselves.

    Each digit lost is lost in proportion to |vⱼxⱼ|, and most weights have no part in a row: ten
    times closer than Cauchy-Schwarz. What follows the sum is for numbers too small for float32.
    """
    if not (screen.norm_bounds[k] < np.inf and screen.radius > 1e-15):
        return np.inf
    magnitude = bf16_magnitude(rows, i, screen.V, k) + 1e-30 * (1.0 + screen.radius)
    return relative * magnitude + 1e-12 * screen.norm_bounds[k]


@kernel
def round_all(W, V, squares):  # type: ignore[no-untyped-def]
    """V ← W rounded to bfloat16, and squaresₖ ← ‖wₖ‖²."""
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            V[j, k] = upper_half(W[j, k])
            squares[k] += float(W[j, k]) * float(W[j, k])


@inline
def update_screen(rows, i, a, was, W, screen):  # type: ignore[no-untyped-def]
    """After wₖ ← wₖ + aₖx: V follows W, and bounds stay at least ‖wₖ‖R; `was` has ⟨wₖ, x⟩ before.

    Beyond the range of float32 nothing is clear: the bound is infinite.
    """
    bounds, radius = screen.norm_bounds, screen.radius
    squared = square(rows, i)
    for k in range(a.shape[0]):
        if a[k] != 0.0:
            round_to_bf16(rows, i, W, screen.V, k)
            before, step = (bounds[k] / radius) ** 2, a[k] * a[k] * squared
            cross = 2.0 * a[k] * was[k]  # ‖w + ax‖² = ‖w‖² + 2a⟨w, x⟩ …
            lost = 2.5e-7 * (before + abs(cross) + step)  # more than rounding can lose
            new = radius * np.sqrt(max(0.0, before + cross + step) + lost)
            bounds[k] = max(new, 1e-30 * (1.0 + radius)) if new < 1e37 else np.inf
