"""The two products with X that a certificate needs, block by block, in float64.

For several hyperplanes, dense rows are widened a few at a time and multiplied by the system's own
matrix products, and sparse rows are walked entry by entry. Those of a single one are walked by
`linsep.proofs.gap.plane_sums`, which is given the rows of a block.
"""

import math
from threading import Lock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster, spans, sum_spans
from linsep.data.check.arrays import frozen
from linsep.kernels import gaps
from linsep.kernels.tables import sum_of_squares
from linsep.parallel import sum_over
from linsep.proofs.gap.plane_sums import CHUNK
from linsep.rows.rows import CSR, LANES, Rows, aligned, as_rows

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
        self.entries = int(X.nnz) if self.sparse else n * d
        self._lock = Lock()
        self._last: tuple[Floats, Floats] | None = None
        self.terms, self.spans = d, spans(n)
        self._few = max(64, WIDE // max(1, d))
        self._rows: Any = None
        if self.sparse:
            # A block of sums is as long as a row of weights: it must have more to add than that.
            self.spans = sum_spans(n, d, int(X.nnz), 4 if self._alone else 16)
            self.terms = sum_over(_longest(X), self.spans, max, 1)
            self._few = n
            self._rows = None if on_cluster(X) else as_rows(X)
        elif self._alone:
            self._few = CHUNK
        rows = max([stop - start for start, stop in self.spans], default=1)
        longest = min(rows, self._few)
        self.added = longest + -(-rows // longest) + math.log2(max(1, len(self.spans)))

    @property
    def pointers(self) -> Array | None:
        """Where sparse rows begin, as kernels read it: a copy, which may lie in a file too."""
        return getattr(self._rows, "indptr", None)

    def rows(self, span: tuple[int, int]) -> Rows:
        """The block of rows start..stop as a kernel sees them."""
        return self._csr(span) if self.sparse else as_rows(self.X[slice(*span)])

    def _csr(self, span: tuple[int, int]) -> CSR:
        """Sparse rows start..stop, without a copy: on a worker out of those it has."""
        if self._rows is not None:
            return self._rows.part(*span)  # type: ignore[no-any-return]
        data, places, ends = self.X.entries(*span)
        places = places.astype(np.int32, copy=False).view(np.uint32)
        pointers = frozen(ends.astype(np.int64))
        return CSR(frozen(data), frozen(places), pointers, int(self.X.shape[1]))

    def size(self, span: tuple[int, int], square: float) -> float:
        """A bound on √Σx² of a block, given that sum as it was rounded."""
        if self.sparse:
            return _bound(_entries(self._csr(span)), square)
        return _bound(self.X[slice(*span)], square)

    def part(self, span: tuple[int, int]) -> Part:
        """The block of rows start..stop."""
        if not self.sparse:
            return _Dense(self.X[slice(*span)], self._few)
        return _Multiplied(self._csr(span), self.X.shape[1], self._turn)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to the workers of a cluster: not the list of all spans."""
        return {**self.__dict__, "spans": None, "_last": None}

    def _turn(self, W: Floats) -> Floats:
        """W with the weights of a feature side by side, made once."""
        with self._lock:
            if self._last is None or self._last[0] is not W:
                self._last = W, _side_by_side(W)
            return self._last[1]


def _longest(X: Any) -> Any:
    """The most entries in a row of a span."""
    if on_cluster(X):
        return lambda span: int(np.diff(X.entries(*span)[2]).max(initial=0))
    return lambda span: int(np.diff(X.indptr[span[0] : span[1] + 1]).max(initial=0))


class _Multiplied:
    """Sparse rows for several hyperplanes, all of them at each entry."""

    def __init__(self, rows: CSR, d: int, turned: Any) -> None:
        self._rows, self._n, self._d = rows, len(rows.indptr) - 1, d
        self.size = _length(_entries(rows))
        self._turned = turned

    def scores(self, W: Floats) -> Floats:
        turned = self._turned(W)
        S = np.empty((self._n, turned.shape[1]))
        gaps.all_scores(self._rows, turned, S)
        return S[:, : len(W)].T

    def total(self, A: Floats) -> Floats:
        V = _side_by_side(np.broadcast_to(0.0, (len(A), self._d)))
        gaps.all_totals(self._rows, _side_by_side(A), V)
        return V[:, : len(A)].T


def _side_by_side(W: Floats) -> Floats:
    """W turned, filled up to a multiple of four columns: kernels take so many at a time."""
    turned = aligned((W.shape[1], -(-len(W) // LANES) * LANES), np.float64)
    turned[:, : len(W)] = W.T
    return turned


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


def _entries(rows: CSR) -> Array:
    return rows.data[rows.indptr[0] : rows.indptr[-1]]


def _length(entries: Array) -> float:
    """A bound on √Σx², even where that sum leaves the range of floats."""
    # Not by the system's product, which leaves a thread spinning on a core that others need.
    return _bound(entries, sum_of_squares(entries))


def _bound(entries: Array, square: float) -> float:
    single = entries.dtype == np.float32
    square *= 1 + 8 * entries.size * (2.0**-23 if single else 2.0**-52)
    tiny = 1e-30 if single else 1e-280
    if tiny < square < math.inf:
        return math.sqrt(square)
    largest = float(np.abs(entries).max(initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    return largest * math.sqrt(float(np.sum((entries / largest) ** 2, dtype=np.float64))) * 1.001
