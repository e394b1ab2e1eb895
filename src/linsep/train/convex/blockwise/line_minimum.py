"""The lowest point of a line, where margins of the rows are held in memory.

    ψ(s) = F(u − s·v),   ψ′(s) = Σ cᵢφ′(tᵢ + s·dᵢ)dᵢ + slope + s·bend,   tᵢ = 1 − zᵢ(u),  dᵢ = zᵢ(v)

ψ is convex and made of parabolas: Newton's method on ψ′, kept between a point below the lowest and
one above, needs a few sums over two numbers for each row. With steps that end there, Newton's
method on the smoothed hinge goes down whatever rows cross the kink on the way (Keerthi and DeCoste,
*A modified finite Newton method*, 2005).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_NEAR = 0.1  # of the slope at first, below which a point is as good as the lowest
_MOST = 40  # sums


class Line(NamedTuple):
    """What rows say of F along a line: t, d and c, and the slope of the terms that are linear."""

    t: Floats
    d: Floats
    c: Floats
    slope: float = 0.0

    def after(self, s: float) -> Floats:
        """The t of the rows where s leads."""
        return self.t + s * self.d


def line_of(rows: Any, u: Floats, step: Floats, t: Floats | None = None) -> Line:
    """The line u − s·step, as the rows see it, whose t may be known."""

    def scores(v: Floats) -> Floats:
        return np.concatenate(rows.pool.map(lambda k: rows.signed_scores(k, v), rows.parts))

    return Line(1.0 - scores(u) if t is None else t, scores(step), rows.c)


def lowest(line: Line, h: float, slope: float, bend: float) -> float:
    """The s ≥ 0 with the smallest ψ(s), at a kink of width h; the penalty has that slope and bend.

    >>> corner = Line(np.array([1.0]), np.array([-1.0]), np.array([1.0]))
    >>> round(lowest(corner, 0.5, 0.0, 0.0), 3)  # the loss ends where t = 1 − s = −h
    1.5
    """
    t, d, c, slope = line.t, line.d, line.c, slope + line.slope
    first = _slope(t, d, c, h, 0.0)[0] + slope
    if not first < 0.0:
        return 0.0
    low, high, s = 0.0, math.inf, 1.0
    for _ in range(_MOST):
        mine, curvature = _slope(t, d, c, h, s)
        mine, curvature = mine + slope + s * bend, curvature + bend
        if abs(mine) <= -_NEAR * first:
            break
        low, high = (low, s) if mine > 0.0 else (s, high)
        s = s - mine / curvature if curvature > 0.0 else math.inf
        if not low < s < high:
            s = 0.5 * (low + high) if high < math.inf else 2.0 * max(low, 1.0)
    return s


@kernel
def _slope(t, d, c, h, s):  # type: ignore[no-untyped-def]
    """Σ cᵢφ′(tᵢ + s·dᵢ)dᵢ and Σ cᵢφ″(tᵢ + s·dᵢ)dᵢ²; h = 0 stands for the squared hinge"""
    slope = curvature = 0.0
    one = c.shape[0] == 1
    if h == 0.0:
        for i in range(t.shape[0]):
            at = t[i] + s * d[i]
            part = (c[0] if one else c[i]) * d[i]
            slope += 2.0 * part * max(0.0, at)
            curvature += 2.0 * part * d[i] if at > 0.0 else 0.0
        return slope, curvature
    for i in range(t.shape[0]):
        at = (t[i] + s * d[i] + h) / (2.0 * h)
        part = (c[0] if one else c[i]) * d[i]
        slope += part * min(1.0, max(0.0, at))
        curvature += part * d[i] / (2.0 * h) if 0.0 < at < 1.0 else 0.0
    return slope, curvature
