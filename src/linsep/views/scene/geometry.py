"""Polygons that half-planes leave of a box, and boxes around points."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Box(NamedTuple):
    """A rectangle with sides along the axes."""

    left: float
    right: float
    low: float
    high: float

    @property
    def corners(self) -> Array:
        """The four of them, in a circle."""
        x, y = (self.left, self.right), (self.low, self.high)
        return np.array([[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]])


def around(points: Array, room: float, shape: float, uneven: float = 4.0) -> Box:
    """A box around points with some room, `shape` times as wide as high.

    Both axes have one scale, unless one of them spans `uneven` times what the other does.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    if not span.any():
        span = np.ones(2)
    centre = (low + high) / 2
    across, up = span[0] / shape, span[1]
    if min(span) == 0 or max(across, up) <= uneven * min(across, up):
        across = up = max(across, up)
    half = (0.5 + room) * np.array([across * shape, up])
    return Box(centre[0] - half[0], centre[0] + half[0], centre[1] - half[1], centre[1] + half[1])


def region(A: Array, B: Array, C: Array, box: Box) -> Array:
    """What is left of a box where all Aᵢu + Bᵢv + Cᵢ > 0: the corners of a polygon, or none.

    The box is cut by the half-plane that some corner violates most, until none is violated.

    >>> region(np.array([1.0]), np.array([0.0]), np.array([0.0]), Box(-1, 1, -1, 1)).tolist()
    [[0.0, -1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 1.0]]
    """
    length = np.hypot(A, B)
    if (C[length == 0] <= 0).any():
        return np.empty((0, 2))  # a row that no weights of this plane place rightly
    some = length > 0
    A, B, C = A[some] / length[some], B[some] / length[some], C[some] / length[some]
    corners = box.corners
    least = -1e-9 * max(box.right - box.left, box.high - box.low)
    for _ in range(len(A)):
        sides = A[:, None] * corners[:, 0] + B[:, None] * corners[:, 1] + C[:, None]
        worst = int(sides.min(axis=1).argmin())
        if sides[worst].min() >= least:
            break
        corners = cut(corners, sides[worst])
        if len(corners) < 3:
            return np.empty((0, 2))
    return corners


def cut(corners: Array, sides: Array) -> Array:
    """The part of a polygon where `sides`, an affine function given at its corners, is positive."""
    kept: list[Array] = []
    for k in range(len(corners)):
        here, there, s, r = corners[k - 1], corners[k], sides[k - 1], sides[k]
        if (s > 0) != (r > 0):
            kept.append(here + (there - here) * (s / (s - r)))
        if r > 0:
            kept.append(there)
    return np.array(kept).reshape(-1, 2)
