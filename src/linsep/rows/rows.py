"""Examples as rows: the only two layouts a kernel ever sees.

Dense rows keep one weight vector per class as a row of a (K, d) array. Sparse rows keep the
weights feature-major, (d, K) with K filled up to a multiple of four, so that one visit to a
non-zero entry serves all classes with a few vector loads. Sums are carried in the type of the
weights: float32 data stay float32.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import (
    by_type,
    fetch,
    inline,
    weighted_add,
    weighted_sum,
)
from linsep.data.blocks.page_release import widened
from linsep.data.check.arrays import frozen

Array = npt.NDArray[Any]

LANES = 4
"""The weights of a sparse feature are filled up to a multiple of this."""
WIDEST = 24
"""The most classes that one visit to a sparse entry serves."""


@inline
def _scores(data, indices, start, stop, W, s):
    """s ← Σ x · W[j] over the entries of one row."""
    k = 0
    while W.shape[1] - k >= WIDEST:
        weighted_sum(data, indices, start, stop, W, k, 24, s)
        k += WIDEST
    left = W.shape[1] - k
    if left == 20:
        weighted_sum(data, indices, start, stop, W, k, 20, s)
    elif left == 16:
        weighted_sum(data, indices, start, stop, W, k, 16, s)
    elif left == 12:
        weighted_sum(data, indices, start, stop, W, k, 12, s)
    elif left == 8:
        weighted_sum(data, indices, start, stop, W, k, 8, s)
    elif left == 4:
        weighted_sum(data, indices, start, stop, W, k, 4, s)


@inline
def _add_all(data, indices, start, stop, W, a):
    """W[j] ← W[j] + x · a over the entries of one row."""
    k = 0
    while W.shape[1] - k >= WIDEST:
        weighted_add(data, indices, start, stop, W, k, 24, a)
        k += WIDEST
    left = W.shape[1] - k
    if left == 20:
        weighted_add(data, indices, start, stop, W, k, 20, a)
    elif left == 16:
        weighted_add(data, indices, start, stop, W, k, 16, a)
    elif left == 12:
        weighted_add(data, indices, start, stop, W, k, 12, a)
    elif left == 8:
        weighted_add(data, indices, start, stop, W, k, 8, a)
    elif left == 4:
        weighted_add(data, indices, start, stop, W, k, 4, a)


@inline
def _score(data, indices, start, stop, W):
    """Σ x · W[j, 0] over the entries of one row."""
    s = W.dtype.type(0)
    for e in range(start, stop):
        s += data[e] * W[indices[e], 0]
    return s


@inline(shared=True, strict=True)
def picked(data, indices, start, stop, w):
    """Σ x · w[j] over the entries of one row, one after the other.

    Left to reorder the sum, the compiler gathers weights into vectors: twice as slow where weights
    are in the cache, on processors whose gathers are no faster than single loads.
    """
    s = w.dtype.type(0)
    for e in range(start, stop):
        s += data[e] * w[indices[e]]
    return s


@inline(shared=True)
def bring_entries(data, indices, start, stop):
    """Ask for the memory of one row, to be there when the row is visited."""
    for e in range(np.int64(start), np.int64(stop), 64 // data.itemsize):
        fetch(data, e)
    for e in range(np.int64(start), np.int64(stop), 16):
        fetch(indices, e)


class Dense(NamedTuple):
    """Rows of a C-contiguous array."""

    X: Array

    def dot(self, i, w):
        s = w.dtype.type(0)
        for j in range(self.X.shape[1]):
            s += self.X[i, j] * w[j]
        return s

    def add(self, i, a, w):
        scale = w.dtype.type(a)
        for j in range(self.X.shape[1]):
            w[j] += scale * self.X[i, j]

    def square(self, i):
        s = 0.0
        for j in range(self.X.shape[1]):
            s += self.X[i, j] * self.X[i, j]
        return s

    def scores(self, i, W, s):
        for k in range(W.shape[0]):
            total = W.dtype.type(0)
            for j in range(W.shape[1]):
                total += self.X[i, j] * W[k, j]
            s[k] = total

    def add_to(self, i, a, W, k):
        scale = W.dtype.type(a)
        for j in range(W.shape[1]):
            W[k, j] += scale * self.X[i, j]

    def part(self, start: int, stop: int) -> "Dense":
        """Rows start..stop, without a copy."""
        return Dense(self.X[start:stop])

    def weights(self, n_classes: int, n_features: int) -> Array:
        """Zero weights in this layout's own order."""
        return np.zeros((n_classes, n_features), self.X.dtype)

    def by_class(self, W: Array, n_classes: int) -> Array:
        """Weights as (K, d), whatever this layout's own order."""
        return W


class CSR(NamedTuple):
    """Compressed sparse rows. Indices are unsigned: a signed one costs a guard at each access."""

    data: Array
    indices: Array
    indptr: Array
    n_features: int = 0

    def dot(self, i, w):
        return picked(self.data, self.indices, self.indptr[i], self.indptr[i + 1], w)

    def add(self, i, a, w):
        scale = w.dtype.type(a)
        for e in range(self.indptr[i], self.indptr[i + 1]):
            w[self.indices[e]] += scale * self.data[e]

    def square(self, i):
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * self.data[e]
        return s

    def bring(self, i):
        bring_entries(self.data, self.indices, self.indptr[i], self.indptr[i + 1])

    def scores(self, i, W, s):
        if W.shape[1] == 1:
            s[0] = _score(self.data, self.indices, self.indptr[i], self.indptr[i + 1], W)
            return
        _scores(self.data, self.indices, self.indptr[i], self.indptr[i + 1], W, s)

    def add_to(self, i, a, W, k):
        scale = W.dtype.type(a)
        for e in range(self.indptr[i], self.indptr[i + 1]):
            W[self.indices[e], k] += scale * self.data[e]

    def add_all(self, i, a, W):
        _add_all(self.data, self.indices, self.indptr[i], self.indptr[i + 1], W, a)

    def part(self, start: int, stop: int) -> "CSR":
        """Rows start..stop, without a copy: row pointers stay absolute."""
        return self._replace(indptr=self.indptr[start : stop + 1])

    def weights(self, n_classes: int, n_features: int) -> Array:
        """Zero weights in this layout's own order."""
        if n_classes == 1:
            return np.zeros((n_features, 1), self.data.dtype)
        return aligned((n_features, -(-n_classes // LANES) * LANES), self.data.dtype)

    def by_class(self, W: Array, n_classes: int) -> Array:
        """Weights as (K, d), whatever this layout's own order."""
        return W[:, :n_classes].T


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros in cache lines of their own: loads do not straddle them, threads do not share them."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 192, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


Rows = Dense | CSR


def as_rows(X: Any) -> Rows:
    """Wrap checked data (see `linsep.data.check.arrays.check_rows`) for kernels, without a copy."""
    if not sp.issparse(X):
        return Dense(frozen(X))
    narrow = X.indices.dtype == np.int32  # wider only beyond 2³¹ entries
    indices = X.indices.view(np.uint32) if narrow else X.indices.astype(np.uint32)
    return CSR(
        frozen(X.data), frozen(indices), frozen(widened(X.indptr, np.int64)), int(X.shape[1])
    )


@by_type
def dot(rows, i, w):
    """⟨w, xᵢ⟩"""
    return rows.dot(i, w)


@by_type
def add(rows, i, a, w):
    """w ← w + a xᵢ"""
    rows.add(i, a, w)


@by_type
def square(rows, i):
    """‖xᵢ‖²"""
    return rows.square(i)


@by_type
def scores(rows, i, W, s):
    """sₖ ← ⟨wₖ, xᵢ⟩ for every class k; s is as wide as the layout's weights"""
    rows.scores(i, W, s)


@by_type
def bring(rows, i):
    """Ask for the memory of xᵢ ahead of its visit, where the layout gains by it."""
    rows.bring(i)


@by_type
def add_to(rows, i, a, W, k):
    """wₖ ← wₖ + a xᵢ for one class k"""
    rows.add_to(i, a, W, k)


@by_type
def add_all(rows, i, a, W):
    """wₖ ← wₖ + aₖ xᵢ for every class k; a is as wide as the layout's weights, and of their type"""
    rows.add_all(i, a, W)
