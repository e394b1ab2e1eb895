"""Losses of labelled sparse rows of few features, their gradient and Hessian, summed over blocks.

    zᵢ = yᵢ(⟨u, xᵢ⟩ + b),   αᵢ = cᵢσ(−zᵢ),   vₛ = Σ_{i in class s} αᵢ yᵢ xᵢ,   H = Σ αᵢσ(zᵢ) x̃ᵢx̃ᵢᵀ

A row with k entries adds k² products to the Hessian, which makes Newton's method on millions of
short rows (a few numbers, a few categories) cost little more than looks at them. Nothing is kept
for a row. Columns are scaled as they are read; those far from zero that have an entry in every row,
such as a time stamp, are also centred.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK, spans
from linsep.data.blocks.page_release import PageRelease, rows_of
from linsep.data.check.arrays import frozen
from linsep.parallel import Pool, sum_over
from linsep.rows.rows import CSR
from linsep.train.convex.blockwise.logistic_sums import Sums, gathered, summed
from linsep.train.convex.coordinates import LOOKED_AT, Columns, Spread, prepare
from linsep.train.convex.designs.design import scores

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

GROUP = 16 * BLOCK  # rows summed by one thread at a time; part of the definition of every sum
WIDEST = 1024  # features up to which a matrix of their products is cheap
FEWEST = 1 << 16  # rows from which it is cheap beside a pass over them


def suits(X: Any, most: int) -> bool:
    """Whether a CSR matrix has many rows, few features, and at most so many entries a row."""
    n, d = X.shape
    return n >= FEWEST and d <= WIDEST and bool(X.nnz <= most * n)


class SparseRows:
    """Labelled rows of a CSR matrix as x′ = (x − shift) · scale.

    Parameters
    ----------
    X : CSR matrix
    columns : scale of each column, and shift of those that have an entry in every row
    signs : int8 array of −1 and +1
    c : weight of each row, or one weight for all in an array of length one
    pool : threads that share the blocks
    """

    def __init__(self, X: Any, columns: Columns, signs: Array, c: Floats, pool: Pool) -> None:
        self.X, self.columns, self.signs, self.c, self.pool = X, columns, signs, c, pool
        self.n_rows, self.n_features = X.shape
        self._pages = PageRelease(X, signs)
        shift, scale = columns
        self._shift = shift.astype(np.float64) if shift.size else np.zeros(self.n_features)
        self._scale = scale.astype(np.float64) if scale.size else np.ones(self.n_features)

    @property
    def parts(self) -> range:
        """Groups, each by the number of its first row."""
        return range(0, self.n_rows, GROUP)

    def span(self, k: int) -> tuple[int, int]:
        """First and last-plus-one row of the group that begins with row k."""
        return k, min(self.n_rows, k + GROUP)

    def part(self, k: int) -> tuple[CSR, Array, Floats]:
        """Rows, signs and weights of a group."""
        start, stop = self.span(k)
        if hasattr(self.X, "entries"):  # some of the rows, on a worker of a cluster
            data, indices, indptr = self.X.entries(start, stop)
        else:
            data, indices, indptr = self.X.data, self.X.indices, self.X.indptr[start : stop + 1]
        first, last = int(indptr[0]), int(indptr[-1])
        places = indices[first:last].astype(np.int32, copy=False).view(np.uint32)
        values = data[first:last]
        if self.columns.scale.size:
            values = (values - self._shift[places]) * self._scale[places]
        ends = (indptr - first).astype(np.int64)
        rows = CSR(frozen(values), frozen(places), frozen(ends), self.n_features)
        return rows, self.signs[start:stop], self.c if len(self.c) == 1 else self.c[start:stop]

    def at(self, u: Floats, curved: bool) -> Sums:
        """One pass at (u, b), b last in `u`; with the Hessian where asked for."""

        def one(k: int) -> Floats:
            rows, signs, c = self.part(k)
            sums = summed(rows, signs, c, u, curved)
            start, stop = self.span(k)
            self._pages.advance(stop - start)
            return sums

        return gathered(self.pool.sum(one, self.parts), u, True, curved)

    def scores(self, k: int, u: Floats) -> Floats:
        """⟨u, x′⟩ + b for the rows of a group."""
        return np.asarray(scores(self.part(k)[0], u[None])[0])

    def lengths(self, k: int, M: Floats) -> Floats:
        """x̃ᵀMx̃ for the rows of a group."""
        rows, d = self.part(k)[0], self.n_features
        n = len(rows.indptr) - 1
        X = sp.csr_matrix((rows.data, rows.indices.view(np.int32), rows.indptr), (n, d))
        parts = []
        for start, stop in spans(n):
            some = X[start:stop]
            square = some.multiply(some @ M[:d, :d]).sum(axis=1)
            parts.append(np.ravel(square) + 2.0 * (some @ M[:d, d]) + M[d, d])
        return np.concatenate(parts)


def columns_of(X: Any, fit_intercept: bool, penalty: float, careful: bool) -> Columns:
    """The shift and scale that make sums over the rows safe, as `blocks.prepare` finds them."""
    n, d = X.shape
    few = rows_of(X, np.arange(0, n, max(1, n // LOOKED_AT)))
    columns = prepare(few, _spread(few), fit_intercept, penalty, careful)
    if not columns.shift.size:
        return columns
    pages = PageRelease(X)

    def filled(span: tuple[int, int]) -> Any:
        part = X[slice(*span)]
        pages.advance(span[1] - span[0])
        return np.bincount(part.indices, minlength=d)

    full = sum_over(filled, spans(n, GROUP), np.add, 1)
    return columns._replace(shift=np.where(full == n, columns.shift, 0.0).astype(X.dtype))


def _spread(X: Any) -> Spread:
    """Centre and spread of each column of a few sparse rows."""
    (n, d), x = X.shape, X.data.astype(np.float64)
    count = np.bincount(X.indices, minlength=d)
    mean = np.bincount(X.indices, x, minlength=d) / n
    squares = np.bincount(X.indices, (x - mean[X.indices]) ** 2, minlength=d)
    return Spread(mean, np.sqrt((squares + (n - count) * mean * mean) / n))
