"""Rows x̃ = (x, 1) in columns of moderate scale: a dense or sparse matrix, a file, or a cluster.

    product(W) = ⟨wₖ, xᵢ⟩ + bₖ,   back_product(R) = Σ Rₖᵢ x̃ᵢ,   gram(D) = Σ Dᵢ x̃ᵢx̃ᵢᵀ

Weights of one number more than there are features hold the intercept last. Sums over rows are cut
into spans by row numbers alone; a span is read once for all that is asked of it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster, sum_spans
from linsep.data.blocks.page_release import PageRelease, rows_of
from linsep.kernels import designs as kernels
from linsep.parallel import Pool
from linsep.rows.rows import CSR, Dense, Rows, as_rows
from linsep.train.convex.coordinates import Columns

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALONE = 1 << 17  # entries up to which one thread does all
PACKED, TILE = 64, 8  # of kernels/convex/designs.cpp: rows of room, and what widths are filled to
PLAIN = Columns(np.empty(0), np.empty(0))


class Design:
    """X as products and sums over rows.

    Parameters
    ----------
    X : checked array or CSR matrix, in memory, in a file or on a cluster
    columns : shifts and scales of columns, applied to a span when it is read; sparse rows have none

    Attributes
    ----------
    n, d : rows and features
    sparse : whether rows are sparse
    entries : numbers in them
    spans : the first and last-plus-one row of each part of a sum
    """

    def __init__(self, X: Any, columns: Columns = PLAIN) -> None:
        self.X, self.columns = X, columns
        self.n, self.d = X.shape
        self.sparse = sp.issparse(X)
        self.entries = int(X.nnz) if self.sparse else self.n * self.d
        few = 0 < self.entries <= ALONE
        self.spans = [(0, self.n)] if few else sum_spans(self.n, self.d, self.entries)
        self._pages = PageRelease(X)
        shaped = self.sparse and not on_cluster(X)
        self._whole: Any = as_rows(X) if shaped else None

    def __getstate__(self) -> dict[str, Any]:
        """What goes to the workers of a cluster: not the list of all spans."""
        return {**self.__dict__, "spans": None}

    def rows(self, span: tuple[int, int]) -> Rows:
        """Rows start..stop as kernels see them."""
        start, stop = span
        if self._whole is not None:
            self._pages.advance(stop - start)
            return self._whole.part(start, stop)  # type: ignore[no-any-return]
        if self.sparse:  # on a cluster
            data, places, ends = self.X.entries(start, stop)
            places = places.astype(np.int32, copy=False).view(np.uint32)
            return CSR(data, places, ends.astype(np.int64), self.d)
        part = self.X[start:stop]
        self._pages.advance(stop - start)
        return Dense(self._inside(part))

    def _inside(self, part: Any) -> Any:
        """Dense rows in the columns of the design."""
        scale, shift = self.columns.scale, self.columns.shift
        if not scale.size:
            return part
        part = part * scale  # exact, and safe from overflow in the difference
        if shift.size:
            part -= shift * scale
        return part

    def some(self, which: Array) -> "Design":
        """Rows of these numbers, in memory."""
        return Design(rows_of(self.X, which), self.columns)

    def columns_of(self, which: Array) -> "Design":
        """The same rows with these columns alone, copied."""
        scale, shift = (a[which] if a.size else a for a in (self.columns.scale, self.columns.shift))
        part = self.X[:, which]
        part = part if self.sparse else np.ascontiguousarray(part)
        return Design(part, Columns(shift, scale))

    def sum(self, part: Callable[[tuple[int, int]], Floats], pool: Pool) -> Floats:
        """The sum over spans of what `part` makes of each, along a fixed tree."""
        if len(self.spans) == 1 and not on_cluster(self.X):
            return part(self.spans[0])
        return np.asarray(pool.sum(part, self.spans))

    def product(self, W: Floats, pool: Pool) -> Floats:
        """Scores of each plane and row, (K, n)."""
        parts = pool.map(lambda span: scores(self.rows(span), W), self.spans)
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

    def back_product(self, R: Floats, pool: Pool) -> Floats:
        """Σ Rₖᵢx̃ᵢ, (K, d + 1)."""

        def part(span: tuple[int, int]) -> Floats:
            return combined(self.rows(span), R[:, slice(*span)], self.d + 1)

        return self.sum(part, pool)

    def gram(self, D: Floats, pool: Pool) -> Floats:
        """Σ Dᵢx̃ᵢx̃ᵢᵀ"""
        return self.sum(lambda span: gram(self.rows(span), D[slice(*span)], self.d + 1), pool)

    def squares(self, D: Floats, pool: Pool) -> Floats:
        """Σ Dᵢx̃ᵢⱼ² of each column j"""

        def part(span: tuple[int, int]) -> Floats:
            h = np.empty(self.d + 1)
            kernels.squares(self.rows(span), np.ascontiguousarray(D[slice(*span)]), h)
            return h

        return self.sum(part, pool)

    def distances(self, centre: Floats, unit: Floats, span: tuple[int, int]) -> Floats:
        """Σⱼ unitⱼ²(xᵢⱼ − centreⱼ)² of some rows; of sparse ones about zero."""
        s = np.empty(span[1] - span[0])
        kernels.distances(self.rows(span), centre, unit, s)
        return s


def scores(rows: Rows, W: Floats) -> Floats:
    """⟨wₖ, xᵢ⟩ + bₖ of some rows, (K, m)."""
    S = np.empty((len(W), _count(rows)))
    kernels.product(rows, np.ascontiguousarray(W), S)
    return S


def combined(rows: Rows, R: Floats, size: int) -> Floats:
    """Σ Rₖᵢx̃ᵢ over some rows, (K, size)."""
    V = np.empty((len(R), size))
    kernels.back_product(rows, np.ascontiguousarray(R), V)
    return V


def gram(rows: Rows, D: Floats, size: int) -> Floats:
    """Σ Dᵢx̃ᵢx̃ᵢᵀ over some rows, (size, size)."""
    width = -(-size // TILE) * TILE
    H = np.empty((size, size))
    kernels.gram(rows, np.ascontiguousarray(D), H, np.empty((PACKED + width, width)))
    return H


def _count(rows: Rows) -> int:
    return len(rows.X) if isinstance(rows, Dense) else len(rows.indptr) - 1
