"""Rows and some of their columns, and the products with them that a working set needs."""

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
DENSE_MATRIX = 400  # columns up to which dense rows are summed to a matrix
QUICK = 3e8  # products of a matrix that are made in any case
SPARSE_MATRIX = 1024  # the same of sparse rows
REPEATED = 20  # sweeps over the columns that a matrix spares


class Part(Protocol):
    """Some columns A of the rows."""

    def total(self, v: Floats) -> Floats:
        """Aᵀv"""

    def scores(self, a: Floats) -> Floats:
        """Aa"""

    def matrix(self, curved: Floats) -> Floats | None:
        """AᵀDA where that is cheap; None where sweeps over columns are cheaper."""

    def columns(self, root: Floats) -> Rows:
        """The columns of D^½A, one after the other."""


class Design(Protocol):
    """All columns."""

    def total(self, v: Floats) -> Floats:
        """Xᵀv"""

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
        if m > DENSE_MATRIX and float(n) * m * m > QUICK:
            return None
        few = max(128, CACHED // max(1, m))

        def one(span: tuple[int, int]) -> Floats:
            total: Any = None
            for first in range(span[0], span[1], few):
                last = min(span[1], first + few)
                B = self.X[first:last] * np.sqrt(curved[first:last])[:, None]
                total = B.T @ B if total is None else total + B.T @ B
            return np.asarray(total)

        return self.pool.sum(one, self._spans)

    def columns(self, root: Floats) -> Rows:
        return Dense(np.ascontiguousarray(self.X.T * root))


class _SparseDesign:
    """All columns of sparse rows, one after the other."""

    def __init__(self, X: Any, pool: Pool) -> None:
        turned = sp.csr_array(X).tocsc()
        self.n_rows = X.shape[0]
        self.data = turned.data.astype(np.float64, copy=False)
        self.indices, self.indptr, self.pool = turned.indices, turned.indptr, pool
        self.rows = _turned(self.data, self.indices, self.indptr, self.n_rows)

    def total(self, v: Floats) -> Floats:
        return _dots_of(self.rows, v, self.pool)

    def part(self, chosen: Array) -> "_SparsePart":
        counts = np.diff(self.indptr)[chosen]
        indptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(counts, out=indptr[1:])
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], counts)
        return _SparsePart(self.data[places], self.indices[places], indptr, self.n_rows, self.pool)


class _SparsePart:
    """Some columns of sparse rows."""

    def __init__(
        self, data: Floats, indices: Array, indptr: Array, n_rows: int, pool: Pool
    ) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.n_rows, self.pool = n_rows, pool
        self.rows = _turned(data, indices, indptr, n_rows)
        self._by_row: Any = None

    def total(self, v: Floats) -> Floats:
        return _dots_of(self.rows, v, self.pool)

    def scores(self, a: Floats) -> Floats:
        S = np.zeros(self.n_rows)
        _scatter(self.rows, len(self.indptr) - 1, a, S)
        return S

    def matrix(self, curved: Floats) -> Floats | None:
        m = len(self.indptr) - 1
        if m > SPARSE_MATRIX:
            return None
        if self._by_row is None:
            turned = sp.csc_array((self.data, self.indices, self.indptr), (self.n_rows, m)).tocsr()
            lengths = np.diff(turned.indptr).astype(np.float64)
            self._work = float(lengths @ lengths)
            self._by_row = as_rows(turned)
        if self._work > 2 * REPEATED * len(self.data) or PARTS * m * m > 1e7 + 4 * self._work:
            return None

        def one(span: tuple[int, int]) -> Floats:
            H = np.zeros((m, m))
            _products(self._by_row, *span, curved, H)
            return H

        H = self.pool.sum(one, spans(self.n_rows, max(1, -(-self.n_rows // PARTS))))
        return np.asarray(np.tril(H) + np.tril(H, -1).T)

    def columns(self, root: Floats) -> Rows:
        return _turned(self.data * root[self.indices], self.indices, self.indptr, self.n_rows)


def _turned(data: Floats, indices: Array, indptr: Array, n_rows: int) -> CSR:
    rows = as_rows(sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_rows)))
    assert isinstance(rows, CSR)
    return rows


def _dots_of(rows: CSR, v: Floats, pool: Pool) -> Floats:
    d = len(rows.indptr) - 1
    g = np.empty(d)
    cuts = np.searchsorted(rows.indptr, np.linspace(0, rows.indptr[-1], PARTS + 1)).clip(0, d)
    cuts[0], cuts[-1] = 0, d
    if len(rows.data) < BLOCK * PARTS:
        cuts = np.array([0, d])
    pool.map(lambda k: _dots(rows, int(cuts[k]), int(cuts[k + 1]), v, g), range(len(cuts) - 1))
    return g


@kernel
def _dots(rows, first, last, v, g):  # type: ignore[no-untyped-def]
    for j in range(first, last):
        g[j] = dot(rows, j, v)


@kernel
def _scatter(rows, m, a, S):  # type: ignore[no-untyped-def]
    for j in range(m):
        if a[j] != 0.0:
            add(rows, j, a[j], S)


@kernel
def _products(rows, first, last, curved, H):  # type: ignore[no-untyped-def]
    """The lower triangle of Σ Dᵢ xxᵀ; the entries of a row are in order."""
    for i in range(first, last):
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            j, a = rows.indices[e], curved[i] * rows.data[e]
            for f in range(rows.indptr[i], e + 1):
                H[j, rows.indices[f]] += a * rows.data[f]


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
