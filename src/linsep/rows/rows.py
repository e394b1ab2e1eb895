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

from linsep.data.blocks.page_release import widened
from linsep.data.check.arrays import frozen

Array = npt.NDArray[Any]

LANES = 4
"""The weights of a sparse feature are filled up to a multiple of this."""
WIDEST = 24
"""The most classes that one visit to a sparse entry serves."""


class Dense(NamedTuple):
    """Rows of a C-contiguous array."""

    X: Array

    def part(self, start: int, stop: int) -> "Dense":
        """Rows start..stop, without a copy."""
        return Dense(self.X[start:stop])

    def weights(self, n_classes: int, n_features: int) -> Array:
        """Zero weights in this layout's own order."""
        return aligned((n_classes, n_features), self.X.dtype)

    def by_class(self, W: Array, n_classes: int) -> Array:
        """Weights as (K, d), whatever this layout's own order."""
        return W


class CSR(NamedTuple):
    """Compressed sparse rows. Indices are unsigned: a signed one costs a guard at each access."""

    data: Array
    indices: Array
    indptr: Array
    n_features: int = 0

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
