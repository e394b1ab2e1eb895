"""Bringing features to one size before a fit, and weights back to the units of the data after."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import PageRelease, room_for
from linsep.data.check.plain import is_sparse
from linsep.parallel import sum_over

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Frame(NamedTuple):
    """The map x → (x − centre) / scale, feature by feature.

    Examples
    --------
    >>> frame = measure(np.array([[1.0, 7.0], [3.0, 7.0]]), None, "min-max")
    >>> frame.apply(np.array([[2.0, 7.0]])).tolist()
    [[0.5, 0.0]]
    """

    centre: Floats
    scale: Floats

    def apply(self, X: Any) -> Any:
        """Rows in this frame, in their own layout and type; sparse rows are only divided."""
        if is_sparse(X):
            data = room_for(X.data, X)
            for start, stop in _stretches(X.data, data):
                data[start:stop] = X.data[start:stop] / self.scale[X.indices[start:stop]]
            return type(X)((data, X.indices, X.indptr), shape=X.shape, copy=False)
        made = room_for(X, X)
        for start, stop in _stretches(X, made):
            made[start:stop] = (X[start:stop] - self.centre) / self.scale
        return made


def measure(X: Any, weights: Floats | None, how: str, n_jobs: int | None = None) -> Frame:
    """The frame in which every feature of `X` has the same size.

    Parameters
    ----------
    X : checked array or CSR matrix
    weights : weight of each row, or None; rows of weight zero are as good as absent
    how : 'min-max' for the range 0 to 1; 'mean' for mean zero and standard deviation one
    n_jobs : threads; they never change the result

    Features without any spread are only centred. Sparse rows would be full after centring, so
    their centre is zero and only the size is brought to one.
    """
    if weights is not None and not weights.all():
        X, weights = X[weights > 0], weights[weights > 0]
    sparse = is_sparse(X)
    low, high = _range(X)
    half = high / 2 - low / 2  # the range itself may be beyond the largest float
    flat = half < np.finfo(np.float64).tiny
    half[flat] = 1.0
    centre, scale = low, half
    if how == "mean":
        centre, scale = _mean_and_deviation(X, weights, low, half, n_jobs)
        scale[flat] = 1.0
        centre[flat] = low[flat]
    else:
        scale = np.where(flat, 1.0, np.minimum(half, np.finfo(np.float64).max / 2) * 2)
    return Frame(np.zeros_like(centre) if sparse else centre, scale)


def _stretches(*arrays: Any) -> Iterator[tuple[int, int]]:
    """Blocks of rows of arrays of one length; pages of files are given back behind them."""
    pages = [PageRelease(one) for one in arrays]
    for start, stop in spans(arrays[0].shape[0]):
        yield start, stop
        for one in pages:
            one.advance(stop - start)


def _range(X: Any) -> tuple[Floats, Floats]:
    """The least and the largest value of each feature."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for start, stop in _stretches(X):
        part = X[start:stop]
        least, most = part.min(axis=0), part.max(axis=0)
        low = np.minimum(low, least.toarray().ravel() if is_sparse(X) else least)
        high = np.maximum(high, most.toarray().ravel() if is_sparse(X) else most)
    return low, high


def _mean_and_deviation(
    X: Any, weights: Floats | None, low: Floats, half: Floats, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """Mean and standard deviation from Σcu and Σcu² of u = (x − low)/half.

    u fills the range 0 to 2, so that these sums neither overflow nor cancel.
    """

    pages = PageRelease(X)

    def sums(span: tuple[int, int]) -> tuple[float, Floats, Floats]:
        pages.advance(span[1] - span[0])
        part = X[span[0] : span[1]]
        c = np.ones(part.shape[0]) if weights is None else weights[span[0] : span[1]]
        total = float(c.sum())
        if not is_sparse(part):
            u = part / half - low / half
            return total, c @ u, c @ np.square(u)
        u = part.data / half[part.indices] - (low / half)[part.indices]
        each = np.repeat(c, np.diff(part.indptr))
        d = part.shape[1]
        absent = total - np.bincount(part.indices, each, d)  # the weight of rows that hold a zero
        zero = -low / half
        first = np.bincount(part.indices, each * u, d) + absent * zero
        return total, first, np.bincount(part.indices, each * u * u, d) + absent * zero**2

    total, first, second = sum_over(
        sums, spans(X.shape[0]), lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]), n_jobs
    )
    mean = first / total
    deviation = np.sqrt(np.maximum(second / total - mean**2, 0.0))
    deviation[deviation == 0] = 1.0
    return low + mean * half, deviation * half
