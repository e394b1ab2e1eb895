"""The exact minimum of the perceptron criterion along a line."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.problem import Problem

Array = npt.NDArray[Any]


def exact_step(
    problem: Problem, planes: Hyperplanes, delta: Array, db: Array, margin: float
) -> float:
    """The step along (delta, db) that minimises the perceptron criterion of all rows."""
    z = signed(problem, problem.X @ planes.by_class(planes.W).T + planes.b)
    dz = signed(problem, problem.X @ planes.by_class(delta).T + db)
    weights = problem.weights
    if weights.size:
        weights = np.repeat(weights, z.shape[1])
    return best_step(z.ravel(), dz.ravel(), weights, margin)


def signed(problem: Problem, scores: Array) -> Array:
    """Signed scores, one column for each comparison that the rule makes of a row.

    Of two classes ± the score; of more the own score less each rival's.
    """
    own = np.arange(problem.n_classes) == problem.codes[:, None]
    if problem.binary:
        return scores * np.where(own[:, 1:], 1.0, -1.0)
    gaps = scores[own][:, None] - scores
    return gaps[~own].reshape(len(scores), -1)


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
