"""Losses of labelled sparse rows of few features, their gradient and Hessian, summed over blocks.

    zᵢ = yᵢ(⟨u, xᵢ⟩ + b),   αᵢ = −cᵢℓ′(zᵢ),   vₛ = Σ_{i in class s} αᵢ yᵢ xᵢ,   H = Σ cᵢℓ″(zᵢ) x̃ᵢx̃ᵢᵀ

A row with k entries adds k² products to the Hessian, which makes Newton's method on millions of
short rows (a few numbers, a few categories) cost little more than looks at them. Nothing is kept
for a row. Columns are scaled as they are read; those far from zero that have an entry in every row,
such as a time stamp, are also centred.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.blocks.blocks import BLOCK, spans
from linsep.data.blocks.page_release import PageRelease, rows_of
from linsep.parallel import Pool, sum_over
from linsep.rows.rows import CSR
from linsep.train.convex.coordinates import LOOKED_AT, Columns, Spread, prepare
from linsep.train.convex.losses import curvature, slope, value

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

GROUP = 16 * BLOCK  # rows summed by one thread at a time; part of the definition of every sum
WIDEST = 1024  # features up to which a matrix of their products is cheap
FEWEST = 1 << 16  # rows from which it is cheap beside a pass over them


def suits(X: Any, most: int) -> bool:
    """Whether a CSR matrix has many rows, few features, and at most so many entries a row."""
    n, d = X.shape
    return n >= FEWEST and d <= WIDEST and bool(X.nnz <= most * n)


class SparseSums(NamedTuple):
    """What one pass found, class by class (+1 first) where there are two numbers.

    Attributes
    ----------
    v : (2, d), Σ αᵢyᵢxᵢ
    real : (2,), Σ cᵢℓ(zᵢ) with the loss that is asked for
    weight : (2,), Σ αᵢ
    square : (2,), Σ αᵢ²/4cᵢ
    loss : Σ cᵢℓ(zᵢ) with the loss that has the derivatives
    active : rows with αᵢ > 0
    mistakes : rows with zᵢ ≤ 0 and cᵢ > 0
    hessian : where asked for
    """

    v: Floats
    real: Floats
    weight: Floats
    square: Floats
    loss: float
    active: int
    mistakes: int
    hessian: Floats | None


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
        rows = CSR(data[first:last], places, (indptr - first).astype(np.uint64))
        return rows, self.signs[start:stop], self.c if len(self.c) == 1 else self.c[start:stop]

    def at(self, u: Floats, loss: Any, real: Any, curved: bool) -> SparseSums:
        """One pass at (u, b), b last in `u`, by the derivatives of `loss`."""
        d, w, b = self.n_features, np.ascontiguousarray(u[:-1]), float(u[-1])
        size = 2 * d + 9

        def one(k: int) -> Floats:
            out = np.zeros(size + (d + 1) ** 2 * curved)
            H = out[size:].reshape((d + 1, d + 1) if curved else (0, 0))
            _sum_up(*self.part(k), self._shift, self._scale, w, b, loss, real, H, out[:size])
            start, stop = self.span(k)
            self._pages.advance(stop - start)
            return out

        total = self.pool.sum(one, self.parts)
        s, H = total[2 * d : size], total[size:].reshape((d + 1, d + 1) if curved else (0, 0))
        return SparseSums(
            total[: 2 * d].reshape(2, d), s[0:2], s[2:4], s[4:6], float(s[6]), int(s[7]),
            int(s[8]), H + H.T if curved else None,
        )  # fmt: skip

    def scores(self, k: int, u: Floats) -> Floats:
        """⟨u, x′⟩ + b for the rows of a group."""
        rows, _, _ = self.part(k)
        scores = np.empty(len(rows.indptr) - 1)
        w = np.ascontiguousarray(u[:-1])
        _scores(rows, self._shift, self._scale, w, float(u[-1]), scores)
        return scores

    def lengths(self, k: int, M: Floats) -> Floats:
        """x̃ᵀMx̃ for the rows of a group."""
        rows, _, _ = self.part(k)
        lengths = np.empty(len(rows.indptr) - 1)
        _lengths(rows, self._shift, self._scale, M, lengths)
        return lengths


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


@kernel
def _sum_up(rows, signs, c, shift, scale, w, b, loss, real, H, out):  # type: ignore[no-untyped-def]
    """Add the sums of a group to `out`, and half of its symmetric Hessian to H unless empty."""
    d = w.shape[0]
    rest = out[2 * d :]
    curved = H.shape[0] > 0
    for i in range(signs.shape[0]):
        start, stop = rows.indptr[i], rows.indptr[i + 1]
        s = b
        for e in range(start, stop):
            j = rows.indices[e]
            s += (rows.data[e] - shift[j]) * scale[j] * w[j]
        weight = c[0 if c.shape[0] == 1 else i]
        y = 1.0 if signs[i] > 0 else -1.0
        k = 0 if signs[i] > 0 else 1
        z = y * s
        a = -slope(loss, z)
        rest[k] += weight * value(real, z)
        rest[6] += weight * value(loss, z)
        if z <= 0.0 and weight > 0.0:
            rest[8] += 1.0
        alpha = weight * a
        if alpha > 0.0:
            rest[2 + k] += alpha
            rest[4 + k] += 0.25 * alpha * a  # α²/4c
            rest[7] += 1.0
            step = alpha * y
            for e in range(start, stop):
                j = rows.indices[e]
                out[k * d + j] += step * ((rows.data[e] - shift[j]) * scale[j])
        D = weight * curvature(loss, z)
        if curved and D > 0.0:
            for e in range(start, stop):
                j = rows.indices[e]
                x = D * ((rows.data[e] - shift[j]) * scale[j])
                for f in range(start, e):
                    m = rows.indices[f]
                    H[j, m] += x * ((rows.data[f] - shift[m]) * scale[m])
                H[j, j] += 0.5 * x * ((rows.data[e] - shift[j]) * scale[j])
                H[d, j] += x
            H[d, d] += 0.5 * D


@kernel
def _scores(rows, shift, scale, w, b, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        s = b
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            j = rows.indices[e]
            s += (rows.data[e] - shift[j]) * scale[j] * w[j]
        out[i] = s


@kernel
def _lengths(rows, shift, scale, M, out):  # type: ignore[no-untyped-def]
    d = scale.shape[0]
    for i in range(out.shape[0]):
        start, stop = rows.indptr[i], rows.indptr[i + 1]
        total = M[d, d]
        for e in range(start, stop):
            j = rows.indices[e]
            x = (rows.data[e] - shift[j]) * scale[j]
            part = 2.0 * M[j, d] + M[j, j] * x
            for f in range(start, e):
                m = rows.indices[f]
                part += 2.0 * M[j, m] * ((rows.data[f] - shift[m]) * scale[m])
            total += x * part
        out[i] = total
