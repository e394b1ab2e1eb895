"""The exact minimum of the perceptron criterion along a line."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def best_step(z: Array, dz: Array, weights: Array, margin: float) -> float:
    """The step η > 0 that minimises Σ cᵢ max(0, margin − (zᵢ + η dzᵢ)), exactly.

    The sum is convex and piecewise linear in η: its slope grows by cᵢ|dzᵢ| at the point where row
    i crosses the margin, so sorting the crossings finds the minimum. Where the minimum is flat the
    middle of the flat piece is taken, and 0 where no positive step lowers the sum.

    Parameters
    ----------
    z : signed scores of the rows
    dz : their change per unit of step
    weights : weight of each row, or an empty array
    margin : the margin asked for

    Examples
    --------
    >>> best_step(np.array([-1.0, 2.0]), np.array([1.0, -0.25]), np.empty(0), 0.0)
    4.5
    """
    c = weights if weights.size else np.ones(len(z))
    active = (z < margin) | ((z == margin) & (dz < 0))
    slope = -float(np.sum((c * dz)[active]))
    if slope >= 0:
        return 0.0
    moving = dz != 0
    with np.errstate(over="ignore"):
        crossing = (margin - z[moving]) / dz[moving]
    ahead = crossing > 0
    crossing, gain = crossing[ahead], np.abs(c * dz)[moving][ahead]
    if not gain.any():
        return 0.0
    points, place = np.unique(crossing[gain > 0], return_inverse=True)
    slopes = slope + np.cumsum(np.bincount(place, gain[gain > 0]))  # to the right of each point
    rounding = 1e-12 * gain.sum()
    k = int(np.argmax(slopes >= -rounding))  # where the slope is no longer negative
    if slopes[k] > rounding:
        return float(points[k])
    return 0.5 * float(points[k] + points[k + 1]) if k + 1 < len(points) else 2.0 * float(points[k])
