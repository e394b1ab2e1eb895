"""The intercepts that make a sum of losses smallest for given scores: where its slope is zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.kernels import softmax as kernels

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Slopes = Callable[[float], tuple[float, float]]

STEPS = 200  # of Newton's, at most
FARTHEST = 1e100  # an intercept beyond it means that one class has all the weight
NEAR = 1e-9  # of 1 + |b|: nearer than this is there


def best_smooth_intercept(slopes: Slopes, b: float) -> float:
    """Of Σ Uℓ(y(s + b)) by Newton's steps from b on, kept between the last b of either sign.

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


def best_class_intercepts(
    S: Floats, codes: Array, c: Floats, b: Floats, enough: float, free: bool = True
) -> tuple[float, Floats, Floats]:
    """Of Σ c × softmax loss of scores S, (K, n): the losses, the probabilities, and b.

    By Newton's method, with steps halved until the losses fall, until no class is out of balance by
    more than `enough`. Intercepts that are not `free` are looked at only.

    >>> S, codes = np.zeros((2, 4)), np.array([0, 1, 1, 1], np.int32)
    >>> loss, P, b = best_class_intercepts(S, codes, np.full(4, 0.25), np.zeros(2), 1e-14)
    >>> P[:, 0].round(12), round(float(b[1] - b[0]), 12) == round(float(np.log(3.0)), 12)
    (array([0.25, 0.75]), True)
    """
    K, codes = len(S), codes.astype(np.int32, copy=False)

    def look(b: Floats) -> tuple[float, Floats, Floats]:
        P, sums = S + b[:, None], np.empty(1 + 2 * K)
        kernels.shares(P, codes, c, sums)
        return float(sums[0]), P, sums[1 : 1 + K]

    loss, P, taken = look(b)
    share = np.bincount(codes, c, minlength=K)
    for _ in range(60 if free else 0):
        slope = taken - share
        if not float(np.abs(slope).max()) > enough:
            break
        H = np.diag(taken) - (P * c) @ P.T
        step = np.clip(np.linalg.pinv(H, rcond=1e-12, hermitian=True) @ slope, -5.0, 5.0)
        if float(np.abs(step).max()) <= 1e-15 * (1.0 + float(np.abs(b).max())):
            break
        for _ in range(60):  # too long: such steps may go round in circles
            then = b - step - (b - step).mean()
            seen = look(then)
            if seen[0] <= loss * (1.0 + 1e-14):
                break
            step *= 0.5
        b, (loss, P, taken) = then, seen
    return loss, P, b
