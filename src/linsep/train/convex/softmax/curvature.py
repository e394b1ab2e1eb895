"""An approximate inverse Hessian of multinomial logistic regression, from a sample of the rows.

    Hₖ = ridge + Σ cᵢ pᵢₖ(1 − pᵢₖ) (xᵢ − m)(xᵢ − m)ᵀ        one block for each class

First all classes share one block, the mean over classes, which one factor serves. Where that is not
enough, later ones are made at the point reached: a block for each class where their factors need no
more memory than a part of the rows, otherwise the shared one with rows in doubt counting more.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.lbfgs import Preconditioner
from linsep.train.convex.softmax.passes import SoftmaxPasses

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ROWS = 4  # for each feature, looked at for a block
ALL = 1 << 23  # rows times classes up to which every row may be drawn
PASSES = 10.0  # at least, before another guess: each forgets the steps before it
LOOKED_AT = 2  # rows, for each one drawn, where there are more
LARGEST = 1 << 27  # numbers that the factors of all classes may hold


class Kind(NamedTuple):
    """Which guess: shared by all classes or not, and from how many rows."""

    shared: bool
    rows: int


def _kind(passes: SoftmaxPasses, stage: int) -> Kind:
    """The guess of a stage: more rows each time."""
    n, d, K = passes.blocks.n_rows, passes.blocks.n_features, passes.n_classes
    own = stage > 0 and K * min(d, n) * d <= min(LARGEST, max(1 << 24, n * d // 2))
    per_feature = ROWS << (stage - 1 if own else stage)
    return Kind(not own, min(n, max(2048, per_feature * d)))


def rebuilding_cost(passes: SoftmaxPasses, stage: int) -> float:
    """What the guess of a stage costs to make, in passes."""
    n, d, K = passes.blocks.n_rows, passes.blocks.n_features, passes.n_classes
    kind = _kind(passes, stage)
    blocks = 1 if kind.shared else K
    work = kind.rows * d * K * 2.0 + blocks * d * d * (kind.rows + d / 3)
    if kind.shared:  # it changes little from one point to the next
        return 20.0 + work / (4.0 * n * d * K)
    return max(PASSES, work / (4.0 * n * d * K))


class Curvature:
    """H⁻¹ of gradients (K, d + 1), the last column of which belongs to the biases.

    Attributes
    ----------
    doubt : Σ cᵢpᵢₖ(1 − pᵢₖ) by class, the curvature in each bias, as the last pass saw it
    """

    doubt: Floats

    def __init__(self, inverse: Preconditioner, stage: int, free: bool) -> None:
        self._inverse, self._stage, self._free = inverse, stage, free

    @classmethod
    def at(
        cls, passes: SoftmaxPasses, ridge: Floats, W: Floats, b: Floats, free: bool, stage: int = 0
    ) -> "Curvature":
        """From probabilities at (W, b)."""
        n, kind = passes.blocks.n_rows, _kind(passes, stage)
        few = kind.rows if kind.shared else LOOKED_AT * kind.rows
        seen = n if n * passes.n_classes <= ALL else min(n, few)
        rows = None if seen == n else np.arange(seen) * n // seen
        P, c = passes.probabilities(rows, W, b), np.broadcast_to(passes.c, n)
        c = (c if rows is None else c[rows]).astype(np.float64) * (n / seen)
        if not ridge.all():  # without a penalty some is needed here: a little of the curvature
            sizes = float(np.mean(np.square(passes.blocks.rows(slice(0, min(n, 4096))))))
            ridge = np.full(len(ridge), 1e-4 * sizes / passes.n_classes + 1e-300)
        inverse = Preconditioner(
            passes.blocks if rows is None else passes.blocks.rows(rows), P, c, ridge, kind.rows,
            passes.pool, centre=free, shared=kind.shared,
            diagonal=passes.diagonal(W, b, kind.shared),
        )  # fmt: skip
        return cls(inverse, stage, free)

    def __call__(self, G: Floats) -> Floats:
        """H⁻¹G, the biases following the weights."""
        centres = self._inverse.centres
        step = np.zeros_like(G)
        g = G[:, -1:]
        step[:, :-1] = self._inverse(G[:, :-1] - g * centres if self._free else G[:, :-1])
        if self._free:
            step[:, -1] = G[:, -1] / np.maximum(self.doubt, 1e-3 * self.doubt.mean() + 1e-300) - (
                centres * step[:, :-1]
            ).sum(axis=1)
        return step

    @property
    def next(self) -> int:
        """The stage of the guess that would follow."""
        return self._stage + 1

    @property
    def final(self) -> bool:
        """Whether another guess would hardly differ."""
        return self._stage >= 6

    def rebuilt(self, passes: SoftmaxPasses, ridge: Floats, W: Floats, b: Floats) -> "Curvature":
        """The next guess, at the point reached."""
        return Curvature.at(passes, ridge, W, b, self._free, self.next)
