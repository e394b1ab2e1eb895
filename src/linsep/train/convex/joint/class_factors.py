"""A preconditioner for Newton steps of Crammer and Singer's machine, from some of the rows.

First one factor serves all classes, H averaged over them. Where that takes too many products, each
class has its own, of the rows that have it among several with multipliers above zero. What classes
have in common, −1/m between each two of a row's m, is left to conjugate gradients.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.coordinates import Blocks
from linsep.train.convex.joint.smoothed_rows import SmoothedRows
from linsep.train.convex.lbfgs import Preconditioner

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PER_FEATURE = 6  # rows of a factor for each feature
LARGEST = 1 << 26  # numbers that factors of all classes may have
# Costs in nanoseconds of one core: estimates, of which only the ratios matter.
PAIR, PRODUCT, SYSTEM, SOLVE = 0.25, 0.05, 0.05, 0.3  # pairs·d; n·d², d³, d² of a factor


class ClassFactors:
    """H⁻¹ of gradients (K, d + 1), about; the last column belongs to the intercepts.

    Parameters
    ----------
    rows : at the weights where it is made
    ridge : curvature that each weight has besides, (d + 1,)
    free : whether intercepts are free, or zero
    shared : whether one factor serves all classes
    """

    def __init__(self, rows: SmoothedRows, ridge: Floats, free: bool, shared: bool) -> None:
        self._free = free
        counts = rows.counts[rows.rows]
        diagonal = rows.squares()
        bent = diagonal[:, -1] + ridge[-1]
        self._bent = np.maximum(bent, 1e-3 * bent.mean() + 1e-300)
        diagonal = diagonal[:, :-1]
        self._inverse = Preconditioner(
            _Chosen(rows.blocks, rows.rows), (rows.P[rows.rows] > 0.0) / counts[:, None],
            rows.curved * counts, ridge[:-1], _wanted(rows), rows.pool, centre=free, shared=shared,
            diagonal=diagonal.mean(axis=0, keepdims=True) if shared else diagonal,
        )  # fmt: skip

    def __call__(self, G: Floats) -> Floats:
        """About H⁻¹G; intercepts keep the scores of what rows have in common."""
        step = np.zeros_like(G)
        if not self._free:
            step[:, :-1] = self._inverse(G[:, :-1])
            return step
        centres = self._inverse.centres
        step[:, :-1] = self._inverse(G[:, :-1] - G[:, -1:] * centres)
        step[:, -1] = G[:, -1] / self._bent - (centres * step[:, :-1]).sum(axis=1)
        return step


def _wanted(rows: SmoothedRows) -> int:
    return min(len(rows.rows), max(1024, PER_FEATURE * rows.d))


def worth_another(rows: SmoothedRows, products: int) -> bool:
    """Whether a step that took so many products would pay for a factor of each class."""
    K, d = rows.K, rows.d
    one = PAIR * rows.pairs * d + SOLVE * d * d * K
    drawn = min(float(_wanted(rows)), rows.pairs / K)
    return products * one > K * (PRODUCT * drawn + SYSTEM * d) * d * d and K * d * d <= LARGEST


class _Chosen:
    """Some of the rows, by their places among these."""

    def __init__(self, blocks: Blocks, rows: Array) -> None:
        self._blocks, self._rows = blocks, rows

    def __getitem__(self, which: Array) -> Array:
        return self._blocks.rows(self._rows[which])
