"""Sums of products of columns, and of columns with targets, about a middle of the rows."""

from operator import iadd
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import rows_of
from linsep.data.check.fingerprint import spread_rows
from linsep.kernels import closed
from linsep.parallel import sum_over
from linsep.rows.rows import CSR
from linsep.train.closed.moments import Floats
from linsep.train.closed.pieces import ALONE, sum_pieces
from linsep.train.problem import Block, Problem

SAMPLE = 64  # rows whose mean is subtracted
TOGETHER = 127  # rows multiplied at a time; odd, so that panels share no cache sets
WIDEST_SPARSE = 2048  # columns of sparse rows whose products are summed entry by entry


class Border(NamedTuple):
    """What `Gram` has outside the products of different columns.

    Attributes
    ----------
    own : (d + t,) Σ w z² of each column and target
    first : (d + t,) Σ w z
    cross : (d, t) Σ w (x − shift)(y − level)
    total : Σ w
    shift, level : those of `Gram`
    """

    own: Floats
    first: Floats
    cross: Floats
    total: float
    shift: Floats
    level: Floats


class Gram(NamedTuple):
    """Σ wᵢ zzᵀ for the rows z = (x − shift, y − level, 1).

    Attributes
    ----------
    matrix : (d + t + 1, d + t + 1)
    shift : (d,) near the mean of x; zero without an intercept, and for sparse rows
    level : (t,) near the mean of y
    """

    matrix: Floats
    shift: Floats
    level: Floats

    @property
    def border(self) -> Border:
        """The sums that need no product of two columns."""
        G, d = self.matrix, len(self.shift)
        return Border(
            G.diagonal()[:-1], G[-1, :-1], G[:d, d:-1], float(G[-1, -1]), self.shift, self.level
        )


def products_suit(X: Any) -> bool:
    """Whether the products of these columns with each other are cheap to make."""
    n, d = X.shape
    if not sp.issparse(X):
        return True
    return bool(d <= WIDEST_SPARSE and X.nnz / max(1, n) * X.nnz <= 1e10)


def gram(problem: Problem, Y: Floats, fit_intercept: bool) -> Gram:
    """One pass over the rows; entries that are not finite leave the matrix not finite."""
    n, d = problem.X.shape
    shift, level = middle_of(problem, Y, fit_intercept)
    if sp.issparse(problem.X):
        many = float(problem.entries) * problem.entries / n > ALONE
        parts = spans(n, max(1, -(-n // 8))) if many else [(0, n)]
        lower = sum_over(
            lambda span: _sparse_part(problem, Y - level, span),
            parts,
            iadd,
            problem.n_jobs if many else 1,
        )
        matrix = np.tril(lower) + np.tril(lower, -1).T
    else:
        width = d + Y.shape[1] + 1

        unit = np.ones(d)

        def of(block: Block, first: int, last: int) -> Floats:
            Z, G = tiles(width, np.float64)
            X: Any = block.rows.X  # type: ignore[union-attr]
            rows = slice(block.start + first, block.start + last)
            weights = block.weights[first:last] if block.weights.size else block.weights
            targets = np.ascontiguousarray(Y[rows])
            closed.products(X[first:last], targets, shift, unit, level, weights, Z, G)
            return np.asarray(G)

        lower = sum_pieces(problem, of, iadd, width, float(n) * width**2, chunked=True)
        matrix = symmetric(lower, width)
    return Gram(matrix, shift, level)


def middle_of(problem: Problem, Y: Floats, fit_intercept: bool) -> tuple[Floats, Floats]:
    """Numbers near the means of the columns (zero for sparse rows) and of the targets."""
    n, d = problem.X.shape
    if not fit_intercept:
        return np.zeros(d), np.zeros(Y.shape[1])
    some = spread_rows(n, max(1, -(-256 * n // SAMPLE)))[:: max(1, min(n, 256) // SAMPLE)]
    level = _middle(np.asarray(Y[some], np.float64))
    if sp.issparse(problem.X):
        return np.zeros(d), level
    return _middle(np.asarray(rows_of(problem.X, some), np.float64)), level


def _middle(values: Floats) -> Floats:
    """A mean that is a constant column's own number, to the last digit."""
    return np.asarray(values[0] + (values - values[0]).sum(axis=0) / len(values))


def _sparse_part(problem: Problem, Y: Floats, span: tuple[int, int]) -> Floats:
    d, t = problem.n_features, Y.shape[1]
    G = np.zeros((d + t + 1, d + t + 1))
    rows = problem.rows
    assert isinstance(rows, CSR)
    weights = problem.weights if problem.weights.size else np.empty(0)
    closed.sparse_products(rows, *span, weights, np.ascontiguousarray(Y), G)
    return G


def tiles(width: int, dtype: Any) -> tuple[Any, Any]:
    """Room for rows of so many columns in panels of 96 bytes, and zeros for their products.

    BLAS multiplies large matrices; here rows are short, and many. Those of a panel are read one
    after the other while the products of its columns stay in registers.
    """
    columns = 96 // np.dtype(dtype).itemsize
    count = -(-width // columns)
    return np.empty((count, TOGETHER, columns), dtype), np.zeros((count * columns,) * 2, dtype)


def symmetric(G: Any, width: int) -> Any:
    """The whole matrix of so many columns, of which `products` makes the lower half."""
    lower = np.tril(G[:width, :width])
    return lower + np.tril(lower, -1).T
