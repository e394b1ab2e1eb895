"""Products with the rows of X, dense or sparse, as Newton's method by conjugate gradients asks.

    scores  sᵢ = ⟨w, xᵢ⟩ + b        pull  Σ aᵢyᵢx̃ᵢ        curve  Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ       x̃ = (x, 1)

Rows are cut into a fixed number of lanes, whatever the number of threads: each lane is summed in
the order of its rows, and lanes are added in their order, so that threads never change a byte.
Entries are read once for a product, in the type they have; sums are carried in float64.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import by_type, kernel
from linsep.data.blocks.page_release import PageRelease
from linsep.parallel import Pool

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LANES = 4
"""Parts that rows are cut into where they are many."""
STRETCH = 1 << 16
"""Rows after which mapped pages are given back."""
ALONE = 1 << 15
"""Entries up to which all rows are one part: handing parts over costs more."""


class Dense(NamedTuple):
    """Rows of an array, as kernels see them."""

    X: Any

    def dot(self, i, u):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(self.X.shape[1]):
            s += self.X[i, j] * u[j]
        return s

    def add(self, i, a, out):  # type: ignore[no-untyped-def]
        for j in range(self.X.shape[1]):
            out[j] += a * self.X[i, j]

    def add_squares(self, i, a, out):  # type: ignore[no-untyped-def]
        for j in range(self.X.shape[1]):
            x = np.float64(self.X[i, j])
            out[j] += a * x * x


class Sparse(NamedTuple):
    """Rows of a CSR matrix, as kernels see them."""

    data: Any
    indices: Any
    indptr: Any

    def dot(self, i, u):  # type: ignore[no-untyped-def]
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * u[self.indices[e]]
        return s

    def add(self, i, a, out):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            out[self.indices[e]] += a * self.data[e]

    def add_squares(self, i, a, out):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            x = np.float64(self.data[e])
            out[self.indices[e]] += a * x * x


class RowProducts:
    """The rows of a checked array or CSR matrix.

    Examples
    --------
    >>> rows = RowProducts(np.array([[1.0, 2.0], [3.0, 4.0]]), Pool(1))
    >>> rows.scores(np.array([1.0, 0.0, 0.5]))
    array([1.5, 3.5])
    >>> rows.pull(np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    array([[ 1.,  2.,  1.],
           [-6., -8., -2.]])
    """

    def __init__(self, X: Any, pool: Pool) -> None:
        self.X, self.pool = X, pool
        self.n, self.d = X.shape
        self.entries = int(X.nnz) if sp.issparse(X) else self.n * self.d
        count = 1 if self.entries <= ALONE else LANES
        self._lanes = list(pairwise(int(k * self.n // count) for k in range(count + 1)))
        self._pages = PageRelease(X)
        if sp.issparse(X):
            places = X.indices.astype(np.int32, copy=False).view(np.uint32)
            self._rows: Any = Sparse(X.data, places, X.indptr.astype(np.uint64))
        else:
            self._rows = Dense(np.asarray(X))

    def scores(self, u: Floats) -> Floats:
        """⟨w, xᵢ⟩ + b of all rows, b last in `u`."""
        out = np.empty(self.n)
        self._walk(_scores, [(u, out)] * len(self._lanes))
        return out

    def pull(self, a: Floats, signs: Floats) -> Floats:
        """Σ aᵢyᵢx̃ᵢ over the rows of either class, +1 first."""
        parts = np.zeros((len(self._lanes), 2, self.d + 1))
        self._walk(_pull, [(a, signs, part) for part in parts])
        return np.asarray(parts.sum(axis=0))

    def curve(self, D: Floats, p: Floats) -> Floats:
        """Σ Dᵢ⟨p, x̃ᵢ⟩x̃ᵢ: the Hessian of the losses times p."""
        parts = np.zeros((len(self._lanes), self.d + 1))
        self._walk(_curve, [(D, p, part) for part in parts])
        return np.asarray(parts.sum(axis=0))

    def squares(self, D: Floats) -> Floats:
        """Σ Dᵢx̃ᵢ², column by column: the diagonal of the Hessian of the losses."""
        parts = np.zeros((len(self._lanes), self.d + 1))
        self._walk(_squares, [(D, part) for part in parts])
        return np.asarray(parts.sum(axis=0))

    def _walk(self, sums: Any, given: list[tuple[Any, ...]]) -> None:
        """Run a kernel over each lane, stretch by stretch; mapped pages are given back."""

        def one(first: int, last: int, *arguments: Any) -> None:
            for start in range(first, last, STRETCH):
                stop = min(last, start + STRETCH)
                sums(self._rows, start, stop, *arguments)
                self._pages.advance(stop - start)

        self.pool.run(one, [(*lane, *g) for lane, g in zip(self._lanes, given, strict=True)])

    def products(self, some: Array, D: Floats, real: Any = np.float64) -> Floats:
        """Σ Dᵢx̃ᵢx̃ᵢᵀ over some rows, in the type `real`; D has a number for each of them."""
        part = self.X[some]
        part = part.toarray() if sp.issparse(part) else part
        B = np.empty((len(some), self.d + 1), real)
        _weigh(part, D, B)
        return np.asarray(B.T @ B, np.float64)


@by_type
def dot(rows, i, u):  # type: ignore[no-untyped-def]
    """⟨xᵢ, u⟩ without the intercept"""
    return rows.dot(i, u)


@by_type
def add(rows, i, a, out):  # type: ignore[no-untyped-def]
    """out ← out + a·xᵢ"""
    return rows.add(i, a, out)


@by_type
def add_squares(rows, i, a, out):  # type: ignore[no-untyped-def]
    """out ← out + a·xᵢ², column by column"""
    return rows.add_squares(i, a, out)


@kernel
def _scores(rows, first, last, u, out):  # type: ignore[no-untyped-def]
    b = u[u.shape[0] - 1]
    for i in range(first, last):
        out[i] = dot(rows, i, u) + b


@kernel
def _pull(rows, first, last, a, signs, out):  # type: ignore[no-untyped-def]
    plus = minus = 0.0
    for i in range(first, last):
        if a[i] == 0.0:
            continue
        if signs[i] > 0.0:
            add(rows, i, a[i], out[0])
            plus += a[i]
        else:
            add(rows, i, -a[i], out[1])
            minus -= a[i]
    out[0, out.shape[1] - 1] += plus
    out[1, out.shape[1] - 1] += minus


@kernel
def _curve(rows, first, last, D, p, out):  # type: ignore[no-untyped-def]
    b, total = p[p.shape[0] - 1], 0.0
    for i in range(first, last):
        if D[i] != 0.0:
            a = D[i] * (dot(rows, i, p) + b)
            add(rows, i, a, out)
            total += a
    out[out.shape[0] - 1] += total


@kernel
def _squares(rows, first, last, D, out):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(first, last):
        if D[i] != 0.0:
            add_squares(rows, i, D[i], out)
            total += D[i]
    out[out.shape[0] - 1] += total


@kernel
def _weigh(X, D, B):  # type: ignore[no-untyped-def]
    """√Dᵢ (xᵢ, 1), so that BᵀB is the sum of their products"""
    n, d = X.shape
    for i in range(n):
        root = np.sqrt(D[i])
        for j in range(d):
            B[i, j] = root * X[i, j]
        B[i, d] = root
