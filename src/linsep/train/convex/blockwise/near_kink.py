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

    def along(self, u: Floats, step: Floats, h: float, sizes: Floats) -> Floats:
        """Σ cᵢφ(tᵢ) at u − t·step for each size t."""
        sides, below = np.array([1.0, -1.0]), self.below
        level = below.weight - below.v @ u[:-1] - float(u[-1]) * below.weight * sides
        slope = below.v @ step[:-1] + float(step[-1]) * below.weight * sides
        return self.inside.along(u, step, h, sizes) + level.sum() + sizes * slope.sum()


def band_of(
    rows: Tall, u: Floats, h: float, sums: TallSums, entries: float, astray: Sequence[Floats] = ()
) -> Band | None:
    """The rows nearest to the corner at (u, b), of width `h`, where `sums` were found.

    Near is a row that a small change of the weights brings there: a long one crosses a wide space.
    Nearest are those that met the corner on the way to a point of `astray`, where earlier bands led
    that did without them. None where the rows within the corner are too many for memory; a row has
    so many `entries`.
    """
    near, reach = _nearest(rows, u, h, max(2, int(ROOM / (12 * (entries + 4)))), astray)
    if not near.any() or not reach > 0.0:
        return None

    def piece(k: int) -> tuple[Any, Any, Any]:
        return rows.piece(k, near)

    pieces = rows.pool.map(piece, rows.parts)
    inside = rows.joined([one for one in pieces if len(one[1])])
    own = inside.at(u, h, curved=False)
    below = sums._replace(
        v=sums.v - own.v, weight=sums.weight - own.weight, active=sums.active - own.active
    )
    return Band(inside, below)


def _nearest(
    rows: Tall, u: Floats, h: float, most: int, astray: Sequence[Floats] = ()
) -> tuple[Any, float]:
    """Which rows are nearest, at most so many, and how far from the corner all others are at least.

    Rows within it, or that met it on the way to a point of `astray`, are at a distance of zero.
    """
    far: list[Floats] = []
    places: list[Any] = []
    reach, first = math.inf, 0

    def distances(k: int) -> Floats:
        return rows.distances(k, u, h, astray)

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
