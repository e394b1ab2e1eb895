"""Examples as rows: the only two layouts a kernel ever sees.

Dense rows keep one weight vector per class as a row of a (K, d) array. Sparse rows keep the
weights feature-major, (d, K) with K filled up to a multiple of eight, so that one visit to a
non-zero entry serves eight classes with one vector load. Sums are carried in the type of the
weights: float32 data stay float32.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import by_type, kernel, lanes
from linsep.data.arrays import frozen

Array = npt.NDArray[Any]

LANES = 8
_1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(k) for k in range(1, LANES + 1))


@lanes
def _eight(data, indices, start, stop, W, k, s):
    """s[k..k+7] ← Σ x · W[j, k..k+7] over the entries of one row; all indices unsigned."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = W.dtype.type(0)
    for e in range(start, stop):
        x = data[e]
        j = np.uint64(indices[e])
        s0 += x * W[j, k]
        s1 += x * W[j, k + _1]
        s2 += x * W[j, k + _2]
        s3 += x * W[j, k + _3]
        s4 += x * W[j, k + _4]
        s5 += x * W[j, k + _5]
        s6 += x * W[j, k + _6]
        s7 += x * W[j, k + _7]
    s[k], s[k + _1], s[k + _2], s[k + _3] = s0, s1, s2, s3
    s[k + _4], s[k + _5], s[k + _6], s[k + _7] = s4, s5, s6, s7


@kernel
def _one(data, indices, start, stop, W):
    """Σ x · W[j, 0] over the entries of one row."""
    s = W.dtype.type(0)
    for e in range(start, stop):
        s += data[e] * W[indices[e], 0]
    return s


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

    def dot(self, i, w):
        s = w.dtype.type(0)
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * w[self.indices[e]]
        return s

    def add(self, i, a, w):
        scale = w.dtype.type(a)
        for e in range(self.indptr[i], self.indptr[i + 1]):
            w[self.indices[e]] += scale * self.data[e]

    def square(self, i):
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * self.data[e]
        return s

    def scores(self, i, W, s):
        if W.shape[1] == 1:
            s[0] = _one(self.data, self.indices, self.indptr[i], self.indptr[i + 1], W)
            return
        for k in range(0, W.shape[1], LANES):
            _eight(self.data, self.indices, self.indptr[i], self.indptr[i + 1], W, np.uint64(k), s)

    def add_to(self, i, a, W, k):
        scale = W.dtype.type(a)
        for e in range(self.indptr[i], self.indptr[i + 1]):
            W[self.indices[e], k] += scale * self.data[e]

    def part(self, start: int, stop: int) -> "CSR":
        """Rows start..stop, without a copy: row pointers stay absolute."""
        return CSR(self.data, self.indices, self.indptr[start : stop + 1])

    def weights(self, n_classes: int, n_features: int) -> Array:
        """Zero weights in this layout's own order."""
        if n_classes == 1:
            return np.zeros((n_features, 1), self.data.dtype)
        return _aligned((n_features, -(-n_classes // LANES) * LANES), self.data.dtype)

    def by_class(self, W: Array, n_classes: int) -> Array:
        """Weights as (K, d), whatever this layout's own order."""
        return W[:, :n_classes].T


def _aligned(shape: tuple[int, int], dtype: Any) -> Array:
    """Zeros that begin on a cache line, so that the eight numbers of a load share one."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


Rows = Dense | CSR


def as_rows(X: Any) -> Rows:
    """Wrap checked data (see `linsep.data.arrays.check_rows`) for kernels, without a copy."""
    if not sp.issparse(X):
        return Dense(frozen(X))
    narrow = X.indices.dtype == np.int32  # wider only beyond 2³¹ entries
    indices = X.indices.view(np.uint32) if narrow else X.indices.astype(np.uint32)
    return CSR(frozen(X.data), frozen(indices), frozen(X.indptr.astype(np.int64, copy=False)))


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
def add_to(rows, i, a, W, k):
    """wₖ ← wₖ + a xᵢ for one class k"""
    rows.add_to(i, a, W, k)
