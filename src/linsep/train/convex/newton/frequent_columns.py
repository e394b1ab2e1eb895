"""Sparse columns in the order of their use, and the Hessian of the most frequent ones.

In text, one-hot tables and click logs a few columns have most of the entries. Numbered first, their
weights lie together near the processor: a product with 200,000 rows of 24 entries in 262,144
hashed columns 33 -> 8 ms. And it is they that make conjugate gradients slow. With k of them

    H ≈ ⎡ H_kk   0   ⎤     H_kk = I + Σ Dᵢxᵢxᵢᵀ of these columns, by its Cholesky factor,
        ⎣  0   diag H⎦     and the diagonal of all others

is a preconditioner that leaves a half to a third of the products to make.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep._scipy import linalg as sl

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MOST = 0xFFFF  # entries beyond which columns count as equally frequent: sixteen bits sort quickly
ENTRY, PAIR, SYSTEM = 2.0, 3.0, 0.012  # ns of an entry in a product, of a pair of them, of k³


class ColumnOrder(NamedTuple):
    """How columns were numbered anew, and what the most frequent of them are good for.

    Attributes
    ----------
    old : the old number of each column, or None where numbers are as they were
    k : columns to factor
    price : of that, in products with all rows
    """

    old: Array | None
    k: int
    price: float

    def inside(self, w: Array) -> Array:
        """Weights in the new order."""
        return w if self.old is None else w[self.old]

    def outside(self, w: Array, d: int) -> Array:
        """Weights in the old order of d columns; those without entries have none."""
        if self.old is None:
            return w
        full = np.zeros(d)
        full[self.old] = w
        return full


NONE = ColumnOrder(None, 0, math.inf)


def by_use(X: Any) -> tuple[Any, ColumnOrder]:
    """X with its columns numbered anew, the most frequent first, those without entries left out.

    The entries are those of X; where its columns are in that order, so is the matrix.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X, order = by_use(sp.csr_matrix([[0.0, 0.0, 3.0], [5.0, 0.0, 7.0]]))
    >>> X.toarray(), order.old
    (array([[3., 0.],
           [7., 5.]]), array([2, 0]))
    """
    unsigned = X.indices.view(f"u{X.indices.itemsize}")
    counts = np.zeros(X.shape[1], np.int64)
    _count(unsigned, counts)
    use = np.minimum(counts, MOST).astype(np.uint16)
    if (use[:-1] >= use[1:]).all() and use[-1:].all():
        return X, ColumnOrder(None, *_worth(X, counts))
    old = np.argsort(MOST - use, kind="stable")[: np.count_nonzero(use)]
    numbers = np.zeros(X.shape[1], np.int32)
    numbers[old] = np.arange(len(old), dtype=np.int32)
    places = np.empty(len(X.indices), np.int32)
    _renumber(unsigned, numbers, places)
    near = type(X)((X.data, places, X.indptr), shape=(X.shape[0], len(old)))
    return near, ColumnOrder(old, *_worth(near, counts[old]))


def _worth(X: Any, counts: Array) -> tuple[int, float]:
    """How many of the first columns to factor, and what that costs in products with all rows.

    So many that solving with the factor, k² multiplications, costs about half of a product.
    """
    n, d = X.shape
    k = min(d, math.isqrt(X.nnz // 2))
    pairs = float(counts[:k].sum()) ** 2 / (2.0 * max(1, n))
    return k, (PAIR * pairs + SYSTEM * k**3) / (ENTRY * max(1, X.nnz))


def factored(H: Floats, diagonal: Floats) -> Callable[[Floats], Floats] | None:
    """The inverse of the preconditioner, or None where H is not positive to its digits.

    Parameters
    ----------
    H : upper triangle of the products of the first k columns and, last, the intercept
    diagonal : of all columns, the intercept last; ridges are in H and in it
    """
    k = len(H) - 1
    first = np.append(np.arange(k), len(diagonal) - 1)
    scale = 1.0 / np.sqrt(diagonal[first])
    A = H * scale * scale[:, None]
    A.flat[:: k + 2] = 1.0 + 4.0 * (k + 1) * float(np.finfo(np.float64).eps)
    factor, failed = sl.lapack.dpotrf(A.T, lower=1, overwrite_a=1)
    if failed:
        return None

    def solve(r: Floats) -> Floats:
        y = r / diagonal
        y[first] = scale * sl.lapack.dpotrs(factor, scale * r[first], lower=1)[0]
        return y

    return solve


@kernel
def _count(indices, counts):  # type: ignore[no-untyped-def]
    for e in range(indices.shape[0]):
        counts[indices[e]] += 1


@kernel
def _renumber(indices, numbers, places):  # type: ignore[no-untyped-def]
    for e in range(indices.shape[0]):
        places[e] = numbers[indices[e]]


@kernel
def add_products(rows, D, k, places, values, H):  # type: ignore[no-untyped-def]
    """H ← H + Σ Dᵢx̃ᵢx̃ᵢᵀ of the first k columns and the intercept, its upper triangle"""
    for i in range(D.shape[0]):
        if D[i] == 0.0:
            continue
        held = 0
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            if rows.indices[e] < k:
                places[held] = rows.indices[e]
                values[held] = rows.data[e]
                held += 1
        places[held] = k  # the intercept
        values[held] = 1.0
        for a in range(held + 1):
            x = D[i] * values[a]
            for b in range(a + 1):
                low, high = min(places[a], places[b]), max(places[a], places[b])
                H[low, high] += x * values[b]
