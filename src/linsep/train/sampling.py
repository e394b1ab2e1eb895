"""Choose rows that stand for all: each with a known chance, weighted by its inverse.

Sums over the chosen rows are then right on average. Rows far from the centre get larger chances:
they hold what an even sample misses, such as a feature that is zero in all but a few rows. The
chance draw is a function of the row number alone, so the choice is the same in every run.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.chunks import BLOCK
from linsep.train.blocks import Blocks, Crew, Spread

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def pick(
    blocks: Blocks, about: Spread, c: Floats, wanted: int, crew: Crew
) -> tuple[npt.NDArray[np.int64], Floats]:
    """About `wanted` rows and the chance that each had.

    A row's chance grows with its weight and its squared distance from the centre, measured in
    standard deviations, the diagonal part of its leverage.
    """
    n = blocks.n_rows
    chance = np.empty(n)
    chosen = np.empty(n, np.bool_)
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(about.deviation > 0, 1 / about.deviation, 1e150)
    scale = 0.5 * wanted / (n if len(c) == 1 else float(c.sum()))
    c = np.ones(1) if len(c) == 1 else c

    def some(start: int) -> None:
        stop = min(n, start + 8 * BLOCK)
        _chances(blocks.X, about.mean, inverse, c, scale, start, stop, chance)
        chosen[start:stop] = _draws(start, stop) < chance[start:stop]

    crew.map(some, range(0, n, 8 * BLOCK))
    rows = np.flatnonzero(chosen)
    return rows, chance[rows]


def draw(chance: Floats, seed: int) -> npt.NDArray[np.int64]:
    """Rows drawn with the given chances, the same ones for the same seed.

    >>> draw(np.array([1.0, 0.0, 1.0]), seed=0)
    array([0, 2])
    """
    return np.flatnonzero(_draws(seed * len(chance), (seed + 1) * len(chance)) < chance)


@kernel
def _chances(X, mean, inverse, c, scale, start, stop, chance):  # type: ignore[no-untyped-def]
    """min(1, scale · cᵢ (1 + ‖(xᵢ − mean)/deviation‖²/d))"""
    d = X.shape[1]
    for i in range(start, stop):
        q = 0.0
        for j in range(d):
            t = (X[i, j] - mean[j]) * inverse[j]
            q += t * t
        weight = c[0] if c.shape[0] == 1 else c[i]
        chance[i] = min(1.0, scale * weight * (1.0 + np.divide(q, d)))


@kernel
def _draws(start, stop):  # type: ignore[no-untyped-def]
    """A number in [0, 1) for each row number (SplitMix64 of the row number)"""
    u = np.empty(stop - start)
    for i in range(start, stop):
        h = np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        h = h ^ (h >> np.uint64(31))
        u[i - start] = np.float64(h >> np.uint64(11)) * 2.0**-53
    return u
