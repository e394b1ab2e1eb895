"""The two products with X that a recount needs, block by block, in float64.

Dense rows are widened a block at a time and multiplied by the system's own matrix products. Sparse
rows are walked for a single hyperplane, and left to SciPy for several.
"""

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep.data.chunks import BLOCK, spans
from linsep.rows.rows import Rows, add, as_rows, dot

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDE = 1 << 17  # numbers of dense rows that are widened at a time: they stay in the cache
UNIT = 2.0**-53


class Part(Protocol):
    """A block of rows, ready for products."""

    size: float

    def scores(self, W: Floats) -> Floats:
        """⟨wₖ, xᵢ⟩ for the rows of the block, (K, m)."""

    def total(self, A: Floats) -> Floats:
        """Σ aₖᵢ xᵢ over the rows of the block, (K, d)."""


class Products:
    """X in fixed blocks; `terms` and `added` bound how many numbers make up one sum.

    Parameters
    ----------
    X : checked array or CSR matrix
    planes : how many hyperplanes are asked for at once
    """

    def __init__(self, X: Any, planes: int) -> None:
        n, d = X.shape
        self.X, self._alone = X, planes == 1
        self.sparse = sp.issparse(X)
        rows, self.terms = BLOCK, d
        self._few = max(64, WIDE // max(1, d))
        if self.sparse:
            steps = (np.diff(X.indptr[a : b + 1]).max() for a, b in spans(n))
            self.terms = int(max(steps, default=0))
            # A block of sums is as long as a row of weights: it must have more to add than that.
            blocks = max(1, min(-(-n // BLOCK), int(X.nnz) // (4 * max(1, d))))
            rows = self._few = -(-n // blocks)
            self._rows = as_rows(X)
        self.spans = spans(n, rows)
        longest = min(rows, self._few)
        self.added = longest + -(-rows // longest) + math.log2(max(1, len(self.spans)))

    def part(self, span: tuple[int, int]) -> Part:
        """The block of rows start..stop."""
        if not self.sparse:
            return _Dense(self.X[slice(*span)], self._few)
        if self._alone:
            return _Walked(self._rows, self.X, span)
        return _Multiplied(self.X, span)


@kernel
def _scores(rows, n, w, s):  # type: ignore[no-untyped-def]
    """s ← ⟨w, xᵢ⟩"""
    for i in range(n):
        s[i] = dot(rows, i, w)


@kernel
def _totals(rows, n, a, v):  # type: ignore[no-untyped-def]
    """v ← v + Σ aᵢxᵢ"""
    for i in range(n):
        if a[i] != 0.0:
            add(rows, i, a[i], v)


class _Walked:
    """Sparse rows for one hyperplane, entry by entry."""

    def __init__(self, rows: Rows, X: Any, span: tuple[int, int]) -> None:
        self._rows, self._n, self._d = rows.part(*span), span[1] - span[0], X.shape[1]
        self.size = _length(X.data[X.indptr[span[0]] : X.indptr[span[1]]])

    def scores(self, W: Floats) -> Floats:
        S = np.empty((len(W), self._n))
        for w, s in zip(W, S, strict=True):
            _scores(self._rows, self._n, w, s)
        return S

    def total(self, A: Floats) -> Floats:
        V = np.zeros((len(A), self._d))
        for a, v in zip(A, V, strict=True):
            _totals(self._rows, self._n, a, v)
        return V


class _Multiplied:
    """Sparse rows for several hyperplanes."""

    def __init__(self, X: Any, span: tuple[int, int]) -> None:
        start, stop = span
        first, last = int(X.indptr[start]), int(X.indptr[stop])
        data = X.data[first:last].astype(np.float64, copy=False)
        places = X.indices[first:last], X.indptr[start : stop + 1] - first
        self._X = sp.csr_matrix((data, *places), (stop - start, X.shape[1]), copy=False)
        self.size = _length(data)

    def scores(self, W: Floats) -> Floats:
        return np.asarray(self._X @ W.T).T

    def total(self, A: Floats) -> Floats:
        return np.asarray(self._X.T @ A.T).T


class _Dense:
    """Dense rows, a few at a time."""

    def __init__(self, X: Array, few: int) -> None:
        self._X = X
        self._cuts = [slice(*span) for span in spans(len(X), few)]
        self.size = _length(X.reshape(-1))

    def scores(self, W: Floats) -> Floats:
        S = np.empty((len(W), len(self._X)))
        for cut in self._cuts:
            np.matmul(W, self._wide(cut).T, out=S[:, cut])
        return S

    def total(self, A: Floats) -> Floats:
        V = np.zeros((len(A), self._X.shape[1]))
        for cut in self._cuts:
            V += A[:, cut] @ self._wide(cut)
        return V

    def _wide(self, cut: slice) -> Floats:
        return self._X[cut].astype(np.float64, copy=False)


def _length(entries: Array) -> float:
    """A bound on √Σx², even where that sum leaves the range of floats."""
    square = float(entries @ entries) * (1 + 8 * len(entries) * float(np.finfo(entries.dtype).eps))
    tiny = 1e-30 if entries.dtype == np.float32 else 1e-280
    if tiny < square < math.inf:
        return math.sqrt(square)
    largest = float(np.abs(entries).max(initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    return largest * math.sqrt(float(np.sum((entries / largest) ** 2, dtype=np.float64))) * 1.001
