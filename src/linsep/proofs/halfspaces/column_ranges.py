"""What each class looks like column by column, and rows that occur in two classes.

Both are cheap looks over all rows before any search: a column on which two classes do not overlap
separates them by itself, and two equal rows with different labels cannot be separated at all.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Ranges(NamedTuple):
    """The least and largest entry of every column, class by class: arrays of shape (K, d)."""

    low: Floats
    high: Floats

    def largest(self) -> Floats:
        """max |xⱼ| for every column."""
        return np.maximum(np.abs(self.low).max(axis=0), np.abs(self.high).max(axis=0))


@kernel
def _dense_ranges(X, codes, low, high):  # type: ignore[no-untyped-def]
    for i in range(X.shape[0]):
        k = codes[i]
        for j in range(X.shape[1]):
            x = X[i, j]
            low[k, j] = min(low[k, j], x)
            high[k, j] = max(high[k, j], x)


@kernel
def _sparse_ranges(data, indices, indptr, codes, low, high, seen):  # type: ignore[no-untyped-def]
    for i in range(codes.shape[0]):
        k = codes[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            low[k, j] = min(low[k, j], data[e])
            high[k, j] = max(high[k, j], data[e])
            seen[k, j] += 1


def ranges(X: Any, codes: Array, n_classes: int) -> Ranges:
    """Least and largest entries by class and column.

    Examples
    --------
    >>> columns = ranges(np.array([[1.0, 5.0], [2.0, 3.0], [9.0, 4.0]]), np.array([0, 0, 1]), 2)
    >>> columns.low.tolist(), columns.high.tolist()
    ([[1.0, 3.0], [9.0, 4.0]], [[2.0, 5.0], [9.0, 4.0]])
    """
    low = np.full((n_classes, X.shape[1]), np.inf)
    high = -low
    if not sp.issparse(X):
        _dense_ranges(X, codes, low, high)
        return Ranges(low, high)
    seen = np.zeros((n_classes, X.shape[1]), np.int64)
    _sparse_ranges(X.data, X.indices, X.indptr, codes, low, high, seen)
    missing = seen < np.bincount(codes, minlength=n_classes)[:, None]
    low[missing] = np.minimum(low[missing], 0)  # entries that are not stored are zeros
    high[missing] = np.maximum(high[missing], 0)
    return Ranges(low, high)


@kernel
def _dense_keys(bits, factors, empty, keys):  # type: ignore[no-untyped-def]
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            b = np.uint64(bits[i, j])
            total += (np.uint64(0) if b == empty else b) * factors[j]  # -0.0 counts as 0.0
        keys[i] = total


@kernel
def _sparse_keys(bits, indices, indptr, factors, empty, keys):  # type: ignore[no-untyped-def]
    for i in range(keys.shape[0]):
        total = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            b = np.uint64(bits[e])
            total += (np.uint64(0) if b == empty else b) * factors[indices[e]]
        keys[i] = total


def contradiction(X: Any, codes: Array) -> tuple[int, int] | None:
    """Two equal rows with different labels, if there are any.

    Examples
    --------
    >>> contradiction(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]), np.array([0, 1, 1]))
    (0, 2)
    """
    n, d = X.shape
    factors = np.random.default_rng(1).integers(1, 2**63, d, dtype=np.uint64) * 2 + 1
    keys = np.empty(n, np.uint64)
    values = X.data if sp.issparse(X) else X
    bits = values.view(f"u{values.dtype.itemsize}")
    empty = np.uint64(1 << (8 * values.dtype.itemsize - 1))
    if sp.issparse(X):
        _sparse_keys(bits, X.indices, X.indptr, factors, empty, keys)
    else:
        _dense_keys(bits, factors, empty, keys)
    order = np.argsort(keys, kind="stable")
    key, code = keys[order], codes[order]
    for place in np.flatnonzero((key[1:] == key[:-1]) & (code[1:] != code[:-1])).tolist():
        i, j = sorted((int(order[place]), int(order[place + 1])))
        if _equal(X, i, j):
            return i, j
    return None


def _equal(X: Any, i: int, j: int) -> bool:
    if sp.issparse(X):
        return bool(np.array_equal(X[[i]].toarray(), X[[j]].toarray()))
    return bool(np.array_equal(X[i], X[j]))
