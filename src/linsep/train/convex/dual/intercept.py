"""The intercept that makes P smallest for given weights: where its slope changes sign."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.dual import kernels as compiled
from linsep.train.convex.dual.dual_losses import DualLoss, Hinge, Logistic
from linsep.train.convex.dual.kernels import CAP, SIGN

Array = npt.NDArray[Any]

QUADRATIC = 3e-4  # a step of Newton's that leaves less than 1e-7


def best_intercept(loss: DualLoss, points: Array, scores: Array, b: float) -> float:
    """The best one for scores ⟨w, x − μ⟩, sought from b on; b itself where there is one class."""
    if not isinstance(loss, Hinge):
        # |ℓ‴| ≤ ℓ″ of the logistic loss: after a step of Newton's its square is left
        enough = QUADRATIC if isinstance(loss, Logistic) else 0.0
        return float(compiled.best_intercept(loss, points, scores, b, enough))
    first, start = b, compiled.tilt(loss, points, scores, b)
    if start == 0.0:
        return b
    step = float(-np.copysign(1e-3 * (1.0 + abs(b)), start))
    far = b + step
    while compiled.tilt(loss, points, scores, far) * start > 0.0:
        step *= 4.0
        b, far = far, far + step
        if abs(far) > 1e100:  # one class only: P falls for ever, or is flat
            return first
    return _best_corner(loss, points, scores, min(b, far), max(b, far))


def _best_corner(loss: Hinge, points: Array, scores: Array, low: float, high: float) -> float:
    """The same for the hinge, whose slope rises by U where b = y − ⟨w, x − μ⟩ of a row.

    It changes sign between `low` and `high`.
    """
    corners = points[:, SIGN] - scores
    between = np.flatnonzero((corners > low) & (corners <= high) & (points[:, CAP] > 0.0))
    if not len(between):
        return 0.5 * (low + high)
    between = between[np.argsort(corners[between], kind="stable")]
    slope = compiled.tilt(loss, points, scores, low)
    after = slope + np.cumsum(points[between, CAP])
    return float(corners[between[min(int(np.searchsorted(after, 0.0)), len(after) - 1)]])
