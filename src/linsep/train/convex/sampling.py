"""Choose rows that stand for all: each with a known chance, weighted by its inverse.

Sums over the chosen rows are then right on average. Rows far from the centre get larger chances:
they hold what an even sample misses, such as a feature that is zero in all but a few rows. The
chance draw is a function of the row number alone, so the choice is the same in every run.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.rows.rows import Dense
from linsep.train.convex.coordinates import LOOKED_AT
from linsep.train.convex.designs.design import Design

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def pick(
    design: Design, weights: Floats, wanted: int, pool: Pool
) -> tuple[npt.NDArray[np.int64], Floats]:
    """About `wanted` rows and the chance that each had.

    A row's chance grows with its weight and its distance from the centre, ‖(xᵢ − mean)/deviation‖²,
    columns far from their mean by 1 on average: the diagonal part of its leverage. A column that
    seemed constant in the rows looked at makes every row in which it differs infinitely far.
    """
    n = design.n
    few = design.some(np.arange(0, n, max(1, n // LOOKED_AT)))
    rows = few.rows((0, few.n))
    if isinstance(rows, Dense):
        mean, square = rows.X.mean(axis=0, dtype=np.float64), rows.X.var(axis=0, dtype=np.float64)
    else:
        mean, square = np.zeros(design.d), few.squares(np.ones(few.n), Pool(1))[:-1] / few.n
    unit = np.full(design.d, 1e150)
    np.divide(1.0, np.sqrt(square), out=unit, where=square > 0.0)
    total = float(weights[0]) * n if len(weights) == 1 else float(weights.sum())

    def some(span: tuple[int, int]) -> Any:
        share = weights if len(weights) == 1 else weights[slice(*span)]
        far = 1.0 + design.distances(mean, unit, span) / design.d
        chance = np.minimum(1.0, 0.5 * wanted * far * (share / total))
        rows = np.flatnonzero(drawn(chance, span[0]))
        return np.array([span[0] + rows, chance[rows]])

    rows, chance = np.concatenate(pool.map(some, design.spans), axis=1)
    return rows.astype(np.int64), chance


def scattered(n: int, count: int) -> npt.NDArray[np.int64]:
    """About `count` rows of n at random, the same ones each time (SplitMix64).

    Even steps would meet the same few rows again and again where rows repeat themselves.
    """
    drawn = np.sort((_number(np.arange(1, count + 1)) % np.uint64(n)).astype(np.int64))
    return drawn[np.append(True, drawn[1:] != drawn[:-1])[: len(drawn)]]  # np.unique is slow


def _number(place: Array) -> npt.NDArray[np.uint64]:
    """SplitMix64 of whole numbers."""
    h = place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def drawn(chance: Floats, first: int) -> npt.NDArray[np.bool_]:
    """Whether row i is drawn: its number in [0, 1), SplitMix64 of first + i, is below its chance"""
    h = _number(np.arange(first + 1, first + 1 + len(chance)))
    return np.asarray((h >> np.uint64(11)) * 2.0**-53 < chance)
