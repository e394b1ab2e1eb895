"""The rows near the corner of the hinge, held in memory, the others by their sums.

A row far below the corner costs 1 − z, which is linear in the weights, and one far above costs
nothing; both stay so while the weights move little. So the machine of all rows is, near a point,
one of the rows about the corner and a linear term:

    P(u) = ½uᵀRu + Σ_low cᵢ(1 − zᵢ) + Σ_band cᵢℓ(zᵢ)

Steps on the band cost next to nothing. Where they lead is looked at with all rows, and a new band
taken there: rows that crossed the corner unseen only cost another round.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.blockwise.kink_descent import Objective
from linsep.train.convex.blockwise.line_minimum import Line
from linsep.train.convex.blockwise.smoothed_hinge import SparseTallRows, TallRows, TallSums

Floats = npt.NDArray[np.float64]
Tall = TallRows | SparseTallRows

ROOM = 1 << 25  # bytes of rows in a band


class Band:
    """`TallRows` that speak for all rows, as long as those outside do not cross the corner.

    Parameters
    ----------
    inside : the rows of the band
    below : the sums of rows below it
    """

    def __init__(self, inside: Tall, below: TallSums) -> None:
        self.inside, self.below = inside, below

    def at(self, u: Floats, h: float, curved: bool = True) -> TallSums:
        """The sums at (u, b), b last in `u`, with the corner rounded over a width of `h`."""
        s, below = self.inside.at(u, h, curved), self.below
        scores = below.v @ u[:-1] + float(u[-1]) * below.weight * np.array([1.0, -1.0])
        loss = below.weight - scores  # Σ c(1 − z)
        return s._replace(
            v=s.v + below.v,
            loss=s.loss + loss,
            weight=s.weight + below.weight,
            rounded=s.rounded + float(loss.sum()),
            active=s.active + below.active,
        )

    def line(self, u: Floats, step: Floats, t: Floats | None = None) -> Line:
        """The line u − s·step, as all rows see it; the t of those inside may be known."""
        sides, below = np.array([1.0, -1.0]), self.below
        slope = below.v @ step[:-1] + float(step[-1]) * below.weight * sides
        return self.inside.line(u, step, t)._replace(slope=float(slope.sum()))

    def along(self, u: Floats, step: Floats, h: float, sizes: Floats) -> Floats:
        """Σ cᵢφ(tᵢ) at u − t·step for each size t."""
        sides, below = np.array([1.0, -1.0]), self.below
        level = below.weight - below.v @ u[:-1] - float(u[-1]) * below.weight * sides
        slope = below.v @ step[:-1] + float(step[-1]) * below.weight * sides
        return self.inside.along(u, step, h, sizes) + level.sum() + sizes * slope.sum()


def band_of(
    rows: Tall,
    u: Floats,
    h: float,
    sums: TallSums,
    entries: float,
    astray: Sequence[Floats] = (),
    sample: Objective | None = None,
) -> Band | None:
    """The rows nearest to the corner at (u, b), of width `h`, where `sums` were found.

    Near is a row that a small change of the weights brings there: a long one crosses a wide space.
    Nearest are those that met the corner on the way to a point of `astray`, where earlier bands led
    that did without them. A `sample` says how long rows are, feature by feature for its spread, and
    those of it that are not near stand for all others: what crosses the corner from outside is then
    right on average. None where there is no sample and the rows within the corner are too many for
    memory; a row has so many `entries`.
    """
    most = max(2, int(ROOM / (12 * (entries + 4))))
    near, reach = _nearest(rows, _Corner(u, h, astray, sample), most)
    if not near.any() or not reach > 0.0:
        return None

    def piece(k: int) -> tuple[Any, Any, Any]:
        return rows.piece(k, near)

    pieces = rows.pool.map(piece, rows.parts)
    if sample is not None and reach < math.inf:
        pieces += _others(sample.rows, _Corner(u, h, astray, sample), reach, most)
    inside = rows.joined([one for one in pieces if len(one[1])])
    own = inside.at(u, h, curved=False)
    below = sums._replace(
        v=sums.v - own.v, weight=sums.weight - own.weight, active=sums.active - own.active
    )
    return Band(inside, below)


class _Corner:
    """Where the corner is, and what counts as near."""

    def __init__(
        self, u: Floats, h: float, astray: Sequence[Floats], sample: Objective | None
    ) -> None:
        self.u, self.astray = u, astray
        # Rows within the corner have to be in the band, unless others can stand for them.
        self.h, self.M = h, np.ones(len(u))
        if sample is not None:
            squares = sample.squares
            self.h, self.M = 0.0, np.where(squares > 0.0, 1.0, 1e300)
            np.divide(1.0, squares, out=self.M, where=squares > 1e-300)

    def distances(self, rows: Tall, k: int) -> Floats:
        """Of the rows of block k."""
        return rows.distances(k, self.u, self.h, self.astray, self.M)


def _others(sample: Tall, corner: _Corner, reach: float, most: int) -> list[tuple[Any, Any, Any]]:
    """Rows of a sample that are as far as `reach`, about `most` of them at most."""
    far = np.concatenate([corner.distances(sample, k) for k in sample.parts]) >= reach
    every = -(-int(far.sum()) // most)
    if every > 1:
        far[np.flatnonzero(far)[np.arange(int(far.sum())) % every > 0]] = False
    pieces = [sample.piece(k, far) for k in sample.parts]
    return [(X, signs, max(1, every) * c) for X, signs, c in pieces]


def _nearest(rows: Tall, corner: _Corner, most: int) -> tuple[Any, float]:
    """Which rows are nearest, at most so many, and how far from the corner all others are at least.

    Rows that met it on the way to where an earlier band led are at a distance of zero.
    """
    far: list[Floats] = []
    places: list[Any] = []
    reach, first = math.inf, 0

    def distances(k: int) -> Floats:
        return corner.distances(rows, k)

    for mine in rows.pool.in_order(distances, rows.parts):
        near = mine < reach
        first += len(mine)
        if not near.any():
            continue
        far.append(mine[near])
        places.append(np.flatnonzero(near) + (first - len(mine)))
        if sum(map(len, far)) > most:
            reach = float(np.partition(np.concatenate(far), most // 2)[most // 2])
            kept = [one < reach for one in far]
            places = [one[some] for one, some in zip(places, kept, strict=True) if some.any()]
            far = [one[some] for one, some in zip(far, kept, strict=True) if some.any()]
    chosen = np.zeros(first, np.bool_)
    for place in places:
        chosen[place] = True
    return chosen, reach
