"""Dense rows in fixed blocks for batch solvers: threads, column shifts and scales, fixed sums.

Every sum over rows is cut into the blocks of `linsep.data.blocks.blocks`; one thread works on a
block, and the parts are added along a binary tree over block numbers. Matrix products inside a
block use one thread. So the bytes of a result do not depend on how many threads there are.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK, on_cluster
from linsep.data.blocks.page_release import PageRelease, rows_of

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

TOO_LARGE = (
    "X has entries so large that sums over its rows overflow, even after scaling its columns. "
    "Divide it by a constant."
)
"""What is said where sums leave the range of floats."""
GLANCED_AT = 512
"""Rows that show that the columns of an ordinary array are tame."""
LOOKED_AT = 4096
"""Rows looked at for the centre and spread of the columns of a long array."""


class Columns(NamedTuple):
    """x′ = (x − shift) · scale, column by column; empty arrays stand for no change.

    Scales are powers of two, so that they cost no digit.
    """

    shift: Array
    scale: Array

    def inside(self, w: Floats, b: Any) -> tuple[Floats, Any]:
        """Weights of the data as weights of x′."""
        if not self.scale.size:
            return w, b
        shift = self.shift.astype(np.float64) if self.shift.size else 0.0
        return w / self.scale, b + (w * shift).sum(axis=-1)

    def outside(self, u: Floats, b: Any) -> tuple[Floats, Any]:
        """Weights of x′ as weights of the data."""
        if not self.scale.size:
            return u, b
        w = u * self.scale.astype(np.float64)
        shift = self.shift.astype(np.float64) if self.shift.size else 0.0
        return w, b - (w * shift).sum(axis=-1)


class Spread(NamedTuple):
    """Centre and spread of each column."""

    mean: Floats
    deviation: Floats


class Blocks:
    """The rows of a C-contiguous array, block by block, as x′ = (x − shift) · scale.

    Tame columns are handed out as they stand, without a copy.
    """

    def __init__(self, X: Array, columns: Columns) -> None:
        self.X = X
        self.columns = columns
        self.pages = PageRelease(X)
        self.n_rows, self.n_features = X.shape

    def __len__(self) -> int:
        return -(-self.n_rows // BLOCK)

    @property
    def plain(self) -> bool:
        """Whether blocks are views of the data."""
        return not self.columns.scale.size

    def span(self, k: int) -> tuple[int, int]:
        """First and last-plus-one row of block k."""
        return k * BLOCK, min(self.n_rows, (k + 1) * BLOCK)

    def __getitem__(self, which: Any) -> Array:
        return self.rows(which)

    def rows(self, which: Any) -> Array:
        """Some rows of x′: a block's slice, or an array of row numbers."""
        if isinstance(which, slice):
            part = self.X[which]
            self.pages.advance(len(part))
        else:
            part = rows_of(self.X, which)
        if self.plain:
            return part
        part = part * self.columns.scale  # exact, and safe from overflow in the difference
        if self.columns.shift.size:
            part -= self.columns.shift * self.columns.scale
        return part


def spread(X: Any, careful: bool = False) -> Spread:
    """Centre and spread of the columns, from all rows (`careful`) or from evenly spaced ones."""
    n = len(X)
    count = n if careful else min(n, LOOKED_AT)
    rows = np.arange(count) * n // count
    if on_cluster(X):
        X, rows = (X.in_one_place if careful else X[rows]), np.arange(count)
    most = np.zeros(X.shape[1])
    parts = [rows[k : k + BLOCK] for k in range(0, count, BLOCK)]
    for part in parts:
        np.maximum(most, np.abs(rows_of(X, part)).max(axis=0), out=most)
    _, exponent = np.frexp(most)
    # Sums of huge entries overflow, squares of tiny ones vanish: bring each column near one first.
    unit = np.ldexp(1.0, np.clip(-exponent, -1000, 1000))
    first = X[rows[0]] * unit  # a constant column has variance zero exactly
    mean = first + sum((rows_of(X, part) * unit - first).sum(axis=0) for part in parts) / count
    variance = sum(((rows_of(X, part) * unit - mean) ** 2).sum(axis=0) for part in parts)
    return Spread(mean / unit, np.sqrt(variance / count) / unit)


def prepare(
    X: Array, about: Spread, fit_intercept: bool, penalty: float, careful: bool = False
) -> Columns:
    """The shift and scale that make sums over rows of X safe; none where X is tame.

    Columns far from zero for their spread are centred (a free bias takes up the shift): scores
    would lose the digits that the offset has. Columns of extreme scale are brought near one.
    """
    nothing = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
    mean, deviation = about
    size = np.where(deviation > 0, deviation, np.abs(mean))
    size[size == 0] = 1.0
    far = fit_intercept & (deviation > 0) & (np.abs(mean) > 32 * deviation)
    wild = (size > 2.0**20) | (size < 2.0**-20)
    if not (careful or np.any(far | wild)):
        return nothing
    limit = 1000 if X.dtype == np.float64 else 100
    exponent = -np.round(np.log2(size))
    if penalty > 0:  # the penalty of a scaled weight is penalty · scale²: keep it finite
        exponent = np.minimum(exponent, math.floor(330 - math.log2(penalty) / 2))
    scale = np.ldexp(1.0, np.clip(exponent, -limit, limit).astype(np.int64)).astype(X.dtype)
    shift = np.where(far, mean, 0.0).astype(X.dtype) if far.any() else np.empty(0, X.dtype)
    return Columns(shift, scale)


def columns_of(X: Any, free: bool) -> Columns:
    """The shift and scale that bring dense columns of extreme scale near one; none for others."""
    nothing = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
    if sp.issparse(X):
        return nothing
    with np.errstate(over="ignore"):  # as squares of huge entries do: such columns are not tame
        if _tame(rows_of(X, np.arange(0, len(X), max(1, len(X) // GLANCED_AT)))):
            return nothing
        return prepare(X, spread(X), free, 1.0)


def moderate(X: Any, free: bool) -> tuple[Any, Columns]:
    """X in columns of moderate scale: itself, or a copy where dense columns are extreme."""
    columns = columns_of(X, free)
    if not columns.scale.size:
        return X, columns
    return Blocks(X, columns).rows(slice(0, len(X))), columns


def tamed(X: Any, free: bool) -> tuple[Any, Columns]:
    """X in float64, its largest entries about one, and what columns were scaled by."""
    X = X.astype(np.float64)
    if sp.issparse(X):
        largest = abs(X).max(axis=0).toarray().ravel()
        columns = Columns(np.empty(0), np.ldexp(1.0, -np.frexp(largest)[1]))
        return sp.csr_array(X @ sp.diags_array(columns.scale)), columns
    columns = prepare(X, spread(X, True), free, 1.0, careful=True)
    return Blocks(X, columns).rows(slice(0, len(X))), columns


def _tame(X: Array) -> bool:
    """Whether columns are clearly of moderate scale, and not far from zero for their spread."""
    mean = X.mean(axis=0, dtype=np.float64)
    square = np.square(X, dtype=np.float64).mean(axis=0)
    sound = (square > 2.0**-38) & (square < 2.0**38) & (mean * mean < 0.99 * square)
    return bool(np.all(sound | (square == 0.0)))


def middle(X: Any) -> Floats:
    """A centre of the rows that no outlier moves: the median of some of them."""
    some = X[:: max(1, X.shape[0] // 255)]
    some = some.toarray() if sp.issparse(some) else some
    return np.asarray(np.median(some.astype(np.float64), axis=0))


def unit_of(largest: float) -> float:
    """The power of two that brings entries up to the largest near one."""
    return 2.0 ** float(np.clip(np.ceil(np.log2(largest)), -400, 400)) if largest > 0.0 else 1.0
