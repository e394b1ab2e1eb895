"""Rows and some of their columns, and the products with them that a working set needs."""

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep.data.blocks.blocks import BLOCK, spans
from linsep.data.blocks.page_release import PageRelease
from linsep.parallel import Pool, add_up
from linsep.rows.rows import CSR, Dense, Rows, add, as_rows, dot

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CACHED = 1 << 16  # numbers of dense rows that are multiplied at a time
PARTS = 8  # sums over sparse rows are made in so many parts; fixed, so that threads change no byte
# a matrix of dense rows is made where it costs less than sweeps over their columns; the units are
# what a sweep over a matrix costs for each of its numbers
SWEEPS = 60  # that a minimum takes, about
SWEPT = 3.0  # a sweep over columns, for each entry
MULTIPLIED, MADE = 0.1, 15.0  # a matrix, for each product, and for each number
SPARSE_MATRIX = 1024  # the same of sparse rows
REPEATED = 20  # sweeps over the columns that a matrix spares
FEWEST = 1 << 14  # pairs of entries that are worth a part of their own
TILE = 32
NOWHERE = 0xFFFFFFFF


class Part(Protocol):
    """Some columns A of the rows."""

    def total(self, v: Floats) -> Floats:
        """Aᵀv"""

    def scores(self, a: Floats) -> Floats:
        """Aa"""

    def matrix(self, curved: Floats) -> Floats | None:
        """AᵀDA where that is cheap; None where sweeps over columns are cheaper."""

    def products(self, rows: Array, weights: Floats) -> tuple[Floats, Floats]:
        """Σ cᵢ aᵢaᵢᵀ and Σ cᵢ aᵢ over a few rows."""

    def columns(self, root: Floats) -> Rows:
        """The columns of D^½A, one after the other."""


class Design(Protocol):
    """All columns."""

    def total(self, v: Floats) -> Floats:
        """Xᵀv"""

    def scores(self, w: Floats) -> Floats:
        """Xw"""

    def part(self, chosen: Array) -> Part:
        """Some of the columns."""


def design_of(X: Any, pool: Pool) -> Design:
    """The design of checked rows."""
    return _SparseDesign(X, pool) if sp.issparse(X) else _DensePart(X, pool)


class _DensePart:
    """Dense rows, of all columns or of some."""

    def __init__(self, X: Array, pool: Pool) -> None:
        self.X, self.pool = X, pool
        self._spans = spans(len(X))
        self._pages = PageRelease(X)

    def part(self, chosen: Array) -> "_DensePart":
        if len(chosen) == self.X.shape[1]:
            return self
        return _DensePart(np.ascontiguousarray(self.X[:, chosen]), self.pool)

    def total(self, v: Floats) -> Floats:
        parts = np.zeros((len(self._spans), self.X.shape[1]))

        def one(k: int) -> None:
            start, stop = self._spans[k]
            _combine(self.X[start:stop], v[start:stop], parts[k])
            self._pages.advance(stop - start)

        if len(parts) == 1:
            one(0)
            return parts[0]
        self.pool.map(one, range(len(parts)))
        return np.asarray(add_up(parts))

    def scores(self, a: Floats) -> Floats:
        S = np.empty(len(self.X))

        def one(k: int) -> None:
            start, stop = self._spans[k]
            _scores(self.X[start:stop], a, S[start:stop])
            self._pages.advance(stop - start)

        if len(self._spans) == 1:
            one(0)
        else:
            self.pool.map(one, range(len(self._spans)))
        return S

    def matrix(self, curved: Floats) -> Floats | None:
        n, m = self.X.shape
        if SWEEPS * SWEPT * n < m * (MULTIPLIED * n + MADE + SWEEPS):
            return None
        few = max(128, CACHED // max(1, m), min(m, BLOCK))

        def one(span: tuple[int, int]) -> Floats:
            total: Any = None
            for first in range(span[0], span[1], few):
                last = min(span[1], first + few)
                B = self.X[first:last] * np.sqrt(curved[first:last])[:, None]
                total = B.T @ B if total is None else total + B.T @ B
            return np.asarray(total)

        return self.pool.sum(one, self._spans)

    def products(self, rows: Array, weights: Floats) -> tuple[Floats, Floats]:
        A = self.X[rows].astype(np.float64, copy=False)
        weighted = A * weights[:, None]
        return A.T @ weighted, weighted.sum(axis=0)

    def columns(self, root: Floats) -> Rows:
        return Dense(np.ascontiguousarray(self.X.T * root))


class _SparseDesign:
    """All columns of sparse rows, one after the other."""

    def __init__(self, X: Any, pool: Pool) -> None:
        turned = sp.csr_array(X).tocsc()
        self.n_rows, self.pool, self.by_row = X.shape[0], pool, as_rows(X)
        data = turned.data.astype(np.float64, copy=False)
        columns = as_rows(sp.csr_array((data, turned.indices, turned.indptr), turned.shape[::-1]))
        assert isinstance(columns, CSR)
        self.rows = columns

    def total(self, v: Floats) -> Floats:
        return self.part(np.arange(len(self.rows.indptr) - 1)).total(v)

    def scores(self, w: Floats) -> Floats:
        used = np.flatnonzero(w)
        return self.part(used).scores(w[used])

    def part(self, chosen: Array) -> "_SparsePart":
        return _SparsePart(self, chosen)


class _SparsePart:
    """Some columns of sparse rows, read where they are."""

    def __init__(self, design: _SparseDesign, chosen: Array) -> None:
        self.design, self.chosen = design, chosen
        self.rows, self.by_row, self.pool = design.rows, design.by_row, design.pool
        self.n_rows, m = design.n_rows, len(chosen)
        lengths = np.diff(self.rows.indptr)[chosen]
        self.ends = np.zeros(m + 1, np.int64)  # where columns lie in a copy
        np.cumsum(lengths, out=self.ends[1:])
        entries = int(self.ends[-1])
        alone = self.pool.size == 1 or entries < BLOCK * PARTS
        self._cuts, self._spans = [(0, m)], [(0, self.n_rows)]  # what no sum goes across
        if not alone:
            cuts = np.searchsorted(self.ends, np.linspace(0, entries, PARTS + 1)).clip(0, m)
            cuts[0], cuts[-1] = 0, m
            self._cuts = list(pairwise(cuts.tolist()))
            self._spans = spans(self.n_rows, -(-self.n_rows // PARTS))
        self._work: float | None = None

    def total(self, v: Floats) -> Floats:
        g = np.empty(len(self.chosen))
        self.pool.map(lambda cut: _dots(self.rows, self.chosen, *cut, v, g), self._cuts)
        return g

    def scores(self, a: Floats) -> Floats:
        S = np.zeros(self.n_rows)
        if 2 * self.ends[-1] < len(self.rows.data):  # what is chosen, or all of it by two threads
            _scatter(self.rows, self.chosen, a, S)
            return S
        w = np.zeros(len(self.rows.indptr) - 1)
        w[self.chosen] = a
        self.pool.map(lambda span: _row_scores(self.by_row, *span, w, S), self._spans)
        return S

    def matrix(self, curved: Floats) -> Floats | None:
        m, entries = len(self.chosen), int(self.ends[-1])
        if m > SPARSE_MATRIX:
            return None
        if self._work is None:
            self._places = np.full(len(self.rows.indptr) - 1, NOWHERE, np.uint32)
            self._places[self.chosen] = np.arange(m)
            counts = np.zeros(self.n_rows, np.int32)
            self._work = float(_pairs(self.rows, self.chosen, counts))
        if self._work > 2 * REPEATED * entries or PARTS * m * m > 1e7 + 4 * self._work:
            return None
        # each part has a matrix of its own to fill with zeros and to add: fewer where that is dear
        parts = max(1, min(PARTS, int(self._work) // max(FEWEST, 2 * m * m)))

        def one(span: tuple[int, int]) -> Floats:
            H = np.zeros(m * m)
            _products(self.by_row, *span, self._places, curved, m, H)
            return H

        H = self.pool.sum(one, spans(self.n_rows, -(-self.n_rows // parts))).reshape(m, m)
        _mirror(H)
        return H

    def products(self, rows: Array, weights: Floats) -> tuple[Floats, Floats]:
        m = len(self.chosen)
        H, h = np.zeros((m, m)), np.zeros(m)
        _some_products(self.by_row, rows, self._places, weights, m, H.reshape(-1), h)
        _mirror(H)
        return H, h

    def columns(self, root: Floats) -> Rows:
        entries = int(self.ends[-1])
        copy = CSR(np.empty(entries), np.empty(entries, np.uint32), self.ends)
        self.pool.map(lambda cut: _copy(self.rows, self.chosen, *cut, root, copy), self._cuts)
        return copy


@kernel
def _dots(rows, chosen, first, last, v, g):  # type: ignore[no-untyped-def]
    for k in range(first, last):
        g[k] = dot(rows, chosen[k], v)


@kernel
def _scatter(rows, chosen, a, S):  # type: ignore[no-untyped-def]
    for k in range(chosen.shape[0]):
        if a[k] != 0.0:
            add(rows, chosen[k], a[k], S)


@kernel
def _row_scores(rows, first, last, w, S):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        S[i] = dot(rows, i, w)


@kernel
def _copy(rows, chosen, first, last, root, copy):  # type: ignore[no-untyped-def]
    """Some columns side by side, each entry times the root of its row"""
    for k in range(first, last):
        start = rows.indptr[chosen[k]]
        for e in range(copy.indptr[k], copy.indptr[k + 1]):
            i = rows.indices[start + e - copy.indptr[k]]
            copy.indices[e] = i
            copy.data[e] = rows.data[start + e - copy.indptr[k]] * root[i]


@kernel
def _pairs(columns, chosen, counts):  # type: ignore[no-untyped-def]
    """The pairs of chosen entries, over all rows; `counts` becomes the entries of each row"""
    total = 0
    for k in range(chosen.shape[0]):
        for e in range(columns.indptr[chosen[k]], columns.indptr[chosen[k] + 1]):
            i = columns.indices[e]
            total += 2 * counts[i] + 1  # (c + 1)² − c²
            counts[i] += 1
    return total


@kernel
def _mirror(H):  # type: ignore[no-untyped-def]
    """The sum of both triangles in each of them, a few rows and columns at a time"""
    m = H.shape[0]
    for first in range(0, m, TILE):
        for second in range(0, first + 1, TILE):
            for j in range(first, min(m, first + TILE)):
                for k in range(second, min(j, second + TILE)):
                    H[j, k] = H[k, j] = H[j, k] + H[k, j]


@kernel
def _products(rows, first, last, places, curved, m, H):  # type: ignore[no-untyped-def]
    """Σ Dᵢ xxᵀ over the m chosen columns, each pair of them in one of the triangles"""
    at, x = np.empty(m + 1, np.uint64), np.empty(m + 1)
    for i in range(first, last):
        count = 0
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            j = places[rows.indices[e]]
            at[count], x[count] = j, rows.data[e]
            count += j != NOWHERE  # a branch takes longer
        for e in range(count):
            a = curved[i] * x[e]
            own = at[e] * np.uint64(m)
            for f in range(e + 1):
                H[own + at[f]] += a * x[f]


@kernel
def _some_products(rows, some, places, weights, m, H, h):  # type: ignore[no-untyped-def]
    """The same over a few rows, and Σ cᵢxᵢ"""
    at, x = np.empty(m + 1, np.uint64), np.empty(m + 1)
    for i in range(some.shape[0]):
        count = 0
        for e in range(rows.indptr[some[i]], rows.indptr[some[i] + 1]):
            j = places[rows.indices[e]]
            at[count], x[count] = j, rows.data[e]
            count += j != NOWHERE
        for e in range(count):
            a = weights[i] * x[e]
            h[at[e]] += a
            own = at[e] * np.uint64(m)
            for f in range(e + 1):
                H[own + at[f]] += a * x[f]


@kernel
def _scores(X, a, S):  # type: ignore[no-untyped-def]
    """Sᵢ ← ⟨a, xᵢ⟩, four rows at a time"""
    n, d = X.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        s0 = s1 = s2 = s3 = 0.0
        for j in range(d):
            s0 += X[i, j] * a[j]
            s1 += X[i + 1, j] * a[j]
            s2 += X[i + 2, j] * a[j]
            s3 += X[i + 3, j] * a[j]
        S[i], S[i + 1], S[i + 2], S[i + 3] = s0, s1, s2, s3
    for i in range(whole, n):
        s0 = 0.0
        for j in range(d):
            s0 += X[i, j] * a[j]
        S[i] = s0


@kernel
def _combine(X, v, g):  # type: ignore[no-untyped-def]
    """g ← g + Σ vᵢxᵢ, four rows at a time"""
    n, d = X.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(d):
            g[j] += v0 * X[i, j] + v1 * X[i + 1, j] + v2 * X[i + 2, j] + v3 * X[i + 3, j]
    for i in range(whole, n):
        for j in range(d):
            g[j] += v[i] * X[i, j]
