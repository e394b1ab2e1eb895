"""An approximate inverse Hessian of multinomial logistic regression, from a sample of the rows.

    Hₖ = ridge + Σ cᵢ pᵢₖ(1 − pᵢₖ) (xᵢ − mₖ)(xᵢ − mₖ)ᵀ        one block for each class

First all classes share one covariance. Where that is not enough, later guesses are made at the
point reached: a factor for each class where these need no more memory than a part of the rows,
otherwise the shared one again, corrected for each class.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.convex.lbfgs import Preconditioner
from linsep.train.convex.softmax import shared_covariance
from linsep.train.convex.softmax.passes import SoftmaxPasses
from linsep.train.convex.softmax.shared_covariance import SharedCovariance

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ROWS = 4  # for each feature, looked at for the factor of a class
ALL = 1 << 23  # rows times classes up to which every row may be drawn
FRESH = 10.0  # passes at least, before another guess: each forgets the steps before it
LOOKED_AT = 2  # rows, for each one drawn, where there are more
LARGEST = 1 << 27  # numbers that the factors of all classes may hold


def _own(passes: SoftmaxPasses, stage: int) -> bool:
    """Whether the guess of a stage has a factor for each class: they must fit, and pay."""
    n, d, K = passes.blocks.n_rows, passes.blocks.n_features, passes.n_classes
    fit = K * min(d, n) * d <= min(LARGEST, max(1 << 24, n * d // 2))
    return stage > 0 and fit and _own_cost(passes, 1) <= 2 * _shared_wait(passes)


def _rows(passes: SoftmaxPasses, stage: int) -> int:
    """Rows for the factor of a class: more each time."""
    n, d = passes.blocks.n_rows, passes.blocks.n_features
    return min(n, max(2048, (ROWS << (stage - 1)) * d))


def _own_cost(passes: SoftmaxPasses, stage: int) -> float:
    """What a factor for each class costs to make, in passes."""
    n, d, K = passes.blocks.n_rows, passes.blocks.n_features, passes.n_classes
    rows = _rows(passes, stage)
    return (rows * d * K * 2.0 + K * d * d * (rows + d / 3)) / (4.0 * n * d * K)


def _shared_wait(passes: SoftmaxPasses) -> float:
    return FRESH + shared_covariance.cost(passes)


def rebuilding_cost(passes: SoftmaxPasses, stage: int) -> float:
    """Passes to wait for before the guess of a stage is made: what making it costs, or more."""
    if not _own(passes, stage):
        return _shared_wait(passes)
    return max(FRESH, _own_cost(passes, stage))


class Curvature:
    """H⁻¹ of gradients (K, d + 1), the last column of which belongs to the biases.

    Attributes
    ----------
    doubt : Σ cᵢpᵢₖ(1 − pᵢₖ) by class, the curvature in each bias, as the last pass saw it
    scale : by which all steps are multiplied
    """

    doubt: Floats

    def __init__(
        self, inverse: Preconditioner | SharedCovariance, stage: int, free: bool, scale: float
    ) -> None:
        self._inverse, self._stage, self._free, self.scale = inverse, stage, free, scale

    @classmethod
    def at(
        cls,
        passes: SoftmaxPasses,
        ridge: Floats,
        W: Floats,
        b: Floats,
        free: bool,
        stage: int = 0,
        scale: float = 1.0,
    ) -> "Curvature":
        """From probabilities at (W, b)."""
        n = passes.blocks.n_rows
        if not ridge.all():  # without a penalty some is needed here: a little of the curvature
            sizes = float(np.mean(np.square(passes.blocks.rows(slice(0, min(n, 4096))))))
            ridge = np.full(len(ridge), 1e-4 * sizes / passes.n_classes + 1e-300)
        if not _own(passes, stage):
            return cls(SharedCovariance(passes, ridge, W, b, free), stage, free, scale)
        wanted = _rows(passes, stage)
        seen = n if n * passes.n_classes <= ALL else min(n, LOOKED_AT * wanted)
        rows = None if seen == n else np.arange(seen) * n // seen
        P, c = passes.probabilities(rows, W, b), np.broadcast_to(passes.c, n)
        c = (c if rows is None else c[rows]).astype(np.float64) * (n / seen)
        inverse = Preconditioner(
            passes.blocks if rows is None else passes.blocks.rows(rows), P, c, ridge, wanted,
            passes.pool, centre=free, shared=False, diagonal=passes.diagonal(W, b),
        )  # fmt: skip
        return cls(inverse, stage, free, 1.0)

    def __call__(self, G: Floats) -> Floats:
        """H⁻¹G, the biases following the weights; no step is the same for all classes."""
        G = G - G.mean(axis=0)
        centres = self._inverse.centres
        step = np.zeros_like(G)
        g = G[:, -1:]
        step[:, :-1] = self._inverse(G[:, :-1] - g * centres if self._free else G[:, :-1])
        if self._free:
            step[:, -1] = G[:, -1] / np.maximum(self.doubt, 1e-3 * self.doubt.mean() + 1e-300) - (
                centres * step[:, :-1]
            ).sum(axis=1)
        step -= step.mean(axis=0)
        return self.scale * step

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
        return Curvature.at(passes, ridge, W, b, self._free, self.next, self.scale)
