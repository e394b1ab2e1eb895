"""The objective of two-class logistic regression over many short sparse rows.

What `linsep.train.convex.blockwise.logistic_problem` is for dense rows, without samples: every pass
with a Hessian costs little more than one without.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.blockwise.logistic_problem import Problem
from linsep.train.convex.blockwise.logistic_sums import Sums
from linsep.train.convex.blockwise.sparse_sums import SparseRows, columns_of
from linsep.train.convex.blockwise.sparse_sums import suits as _suits
from linsep.train.convex.coordinates import Columns

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

NARROW = 256  # features up to which a Hessian costs next to nothing, however few the rows
LONGEST = 32  # entries a row, on average, up to which their products cost less than more passes


def suits(X: Any) -> bool:
    """Whether Newton's method is the way for a CSR matrix: short rows, and many or narrow ones."""
    n, d = X.shape
    return _suits(X, LONGEST) or (d <= min(n, NARROW) and bool(X.nnz <= LONGEST * n))


class LogisticRows:
    """The losses of labelled sparse rows as a function of (u, b), as `LogisticSums` gives them."""

    def __init__(self, rows: SparseRows) -> None:
        self.blocks, self.signs, self.c, self.pool = rows, rows.signs, rows.c, rows.pool

    def at(self, u: Floats, curved: bool = False) -> Sums:
        """One pass at (u, b), b last in `u`; with the Hessian where asked for."""
        return self.blocks.at(u, curved)

    def misjudged(self, u: Floats, step: Floats, least: float, most: int) -> tuple[Array, Floats]:
        """No losses of sparse rows are kept, however far they are moved."""
        return np.empty(0, np.int64), np.empty(0)

    def extremes(self, u: Floats) -> tuple[float, float]:
        """The smallest and largest zᵢ among rows that count."""

        def one(k: int) -> tuple[float, float]:
            _, signs, c = self.blocks.part(k)
            z = (signs * self.blocks.scores(k, u))[np.broadcast_to(c > 0, signs.shape)]
            return float(z.min(initial=np.inf)), float(z.max(initial=-np.inf))

        ends = self.pool.map(one, self.blocks.parts)
        return min(low for low, _ in ends), max(high for _, high in ends)

    def widest(self, whiten: Floats) -> float:
        """maxᵢ ‖x̃ᵢᵀ whiten‖² among rows that count."""
        M = np.ascontiguousarray(whiten @ whiten.T)

        def one(k: int) -> float:
            _, _, c = self.blocks.part(k)
            return float(np.max(np.where(c > 0, self.blocks.lengths(k, M), 0.0)))

        return max(self.pool.map(one, self.blocks.parts))


class SparseProblem(Problem):
    """F = P / (C Σcᵢ) over the rows of a CSR matrix in prepared coordinates."""

    sampled = False

    def _prepared(self, X: Any, penalty: float, careful: bool) -> Columns:
        return columns_of(X, self.fit_intercept, penalty, careful)

    def _summed(self, X: Any, signs: Array, c: Floats, pool: Pool) -> Any:
        return LogisticRows(SparseRows(X, self.columns, signs, c, pool))
