"""What each class looks like column by column, and rows that occur in two classes.

Both are cheap looks over all rows before any search: a column on which two classes do not overlap
separates them by itself, and two equal rows with different labels cannot be separated at all.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.kernels import halfspaces as kernels
from linsep.rows.rows import as_rows

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Ranges(NamedTuple):
    """The least and largest entry of every column, class by class: arrays of shape (K, d)."""

    low: Floats
    high: Floats

    def largest(self) -> Floats:
        """max |xⱼ| for every column."""
        return np.maximum(np.abs(self.low).max(axis=0), np.abs(self.high).max(axis=0))


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
    sparse = sp.issparse(X)
    seen = np.zeros((n_classes, X.shape[1]) if sparse else (0, 0), np.int64)
    kernels.ranges(as_rows(X), np.ascontiguousarray(codes, np.int32), low, high, seen)
    if not sparse:
        return Ranges(low, high)
    missing = seen < np.bincount(codes, minlength=n_classes)[:, None]
    low[missing] = np.minimum(low[missing], 0)  # entries that are not stored are zeros
    high[missing] = np.maximum(high[missing], 0)
    return Ranges(low, high)


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
    kernels.row_keys(as_rows(X), factors, keys)
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
