"""The intercept that makes Σ Uℓ(y(s + b)) smallest for given scores: where its slope is zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Slopes = Callable[[float], tuple[float, float]]

STEPS = 200  # of Newton's, at most
FARTHEST = 1e100  # an intercept beyond it means that one class has all the weight
NEAR = 1e-9  # of 1 + |b|: nearer than this is there


def best_smooth_intercept(slopes: Slopes, b: float) -> float:
    """By Newton's steps from b on, kept between the last b of either sign.

    `slopes` gives first and second derivative at an intercept. The first b is the answer where one
    class has all the weight.

    >>> round(best_smooth_intercept(lambda b: (2 * b - 3, 2.0), 40.0), 9)
    1.5
    """
    first, low, high = b, -np.inf, np.inf
    for _ in range(STEPS):
        slope, bend = slopes(b)
        if slope == 0.0:
            return b
        low, high = (low, b) if slope > 0.0 else (b, high)
        most = 4.0 * (1.0 + abs(b))
        to = b - (min(most, max(-most, slope / bend)) if bend > 0.0 else np.copysign(most, slope))
        if abs(to - b) <= NEAR * (1.0 + abs(b)):
            return float(to)
        if not low < to < high:
            to = 0.5 * (low + high)
        if abs(to) > FARTHEST:
            return first
        b = float(to)
    return b


def best_corner(corners: Floats, weights: Floats, up: float, b: float) -> float:
    """The same for hinges, whose slope rises by the weight of a row where b is its corner y − s.

    Below all corners the slope is −`up`, the weight of the class +1. The corners near b alone are
    put in order.

    >>> corners, weights = np.array([3.0, 1.0, 2.0]), np.ones(3)
    >>> [best_corner(corners, weights, up, 0.0) for up in (1.5, 2.5, 3.0)]
    [2.0, 3.0, 0.0]
    """
    if not 0.0 < up < float(weights.sum()):
        return b  # one class only: the slope never changes sign

    def below(t: float) -> float:
        return float((corners <= t) @ weights)

    step = 1e-3 * (1.0 + abs(b))
    low = high = b
    while below(low) >= up:
        low, step = low - step, 4.0 * step
    while below(high) < up:
        high, step = high + step, 4.0 * step
    between: Any = np.flatnonzero((corners > low) & (corners <= high))
    between = between[np.argsort(corners[between], kind="stable")]
    after = below(low) + np.cumsum(weights[between])
    return float(corners[between[min(int(np.searchsorted(after, up)), len(between) - 1)]])
