"""Choose rows that stand for all: each with a known chance, weighted by its inverse.

Sums over the chosen rows are then right on average. Rows far from the centre get larger chances:
they hold what an even sample misses, such as a feature that is zero in all but a few rows. The
chance draw is a function of the row number alone, so the choice is the same in every run.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks, Spread

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

TOGETHER = 8 * BLOCK  # rows looked at by one thread at a time


def pick(
    blocks: Blocks, about: Spread, c: Floats, wanted: int, pool: Pool
) -> tuple[npt.NDArray[np.int64], Floats]:
    """About `wanted` rows and the chance that each had.

    A row's chance grows with its weight and its distance from the centre (see `_distances`).
    """
    n, inverse = blocks.n_rows, _inverse(about)
    total = 1.0 if len(c) == 1 else float(c.sum())

    def some(start: int) -> tuple[npt.NDArray[np.int64], Floats]:
        stop = min(n, start + TOGETHER)
        q = _distances(blocks.X[start:stop], about.mean, inverse)
        blocks.pages.advance(stop - start)
        share = np.full(1, 1 / n) if len(c) == 1 else c[start:stop] / total
        chance = np.minimum(1.0, 0.5 * wanted * share * (1 + q))
        rows = np.flatnonzero(drawn(chance, start))
        return rows + start, chance[rows]

    parts = pool.map(some, range(0, n, TOGETHER))
    return np.concatenate([p for p, _ in parts]), np.concatenate([q for _, q in parts])


def _inverse(about: Spread) -> Floats:
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(about.deviation > 0, 1 / about.deviation, 1e150)


def scattered(n: int, count: int) -> npt.NDArray[np.int64]:
    """About `count` rows of n at random, the same ones each time (SplitMix64).

    Even steps would meet the same few rows again and again where rows repeat themselves.
    """
    drawn = np.sort((_number(np.arange(1, count + 1)) % np.uint64(n)).astype(np.int64))
    return drawn[np.append(True, drawn[1:] != drawn[:-1])[: len(drawn)]]  # np.unique is slow


def _distances(X: Array, mean: Floats, inverse: Floats) -> Floats:
    """‖(xᵢ − mean)/deviation‖²/d of rows: the diagonal part of their leverage, on average 1.

    A column that seemed constant makes every row in which it differs infinitely far.
    """
    Z = X - mean
    Z *= inverse
    return np.asarray(np.einsum("ij,ij->i", Z, Z) / Z.shape[1])


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
