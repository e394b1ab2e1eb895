"""The result of every linear learner: hyperplanes, and what they say of new rows.

Needs neither the compiler nor scikit-learn.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.chunks import threads

Array = npt.NDArray[Any]

SHARE = 1 << 19  # entries of sparse rows that are worth a thread


@dataclass(frozen=True, eq=False)
class LinearModel:
    """One hyperplane for two classes, one per class for more.

    Attributes
    ----------
    weights : (K, d) array, with K = 1 for two classes
    intercept : (K,) array
    """

    weights: Array
    intercept: Array

    def scores(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each row: a vector for two classes, a column per class for more."""
        s = product(X, np.ascontiguousarray(self.weights).T)
        s += self.intercept.astype(s.dtype, copy=False)
        return s.ravel() if s.shape[1] == 1 else s


def product(X: Any, W: Array) -> Array:
    """XW; of many sparse entries by all cores, as dense products are.

    Each row is summed by one thread in the order of its entries: the same bytes for any number.
    """
    sparse = getattr(X, "format", "") == "csr"
    parts = min(threads(None), X.nnz // SHARE) if sparse else 1
    if parts < 2:
        return np.asarray(X @ W)
    from concurrent.futures import ThreadPoolExecutor

    cuts = np.searchsorted(X.indptr, np.arange(1, parts) * (X.nnz // parts))
    cuts = np.concatenate([[0], cuts, [X.shape[0]]])
    with ThreadPoolExecutor(parts - 1) as pool:
        later = [pool.submit(_of_rows, X, W, a, e) for a, e in pairwise(cuts[1:])]
        first = _of_rows(X, W, cuts[0], cuts[1])
        return np.concatenate([first, *(part.result() for part in later)])


def _of_rows(X: Any, W: Array, start: int, stop: int) -> Array:
    """XW for a run of rows, none of them copied."""
    pointers = X.indptr[start : stop + 1]
    entries = slice(pointers[0], pointers[-1])
    known = (X.data[entries], X.indices[entries], pointers - pointers[0])
    return np.asarray(type(X)(known, shape=(stop - start, X.shape[1]), copy=False) @ W)


def labels(scores: Array, classes: Array) -> Array:
    """The class of each row. A score of exactly zero is positive; ties go to the first."""
    if scores.ndim == 1:
        return classes[(scores >= 0).astype(np.intp)]
    return classes[scores.argmax(axis=1)]


def ranked(scores: Array, classes: Array) -> Array:
    """All classes for each row, best first."""
    if scores.ndim == 1:
        positive = (scores >= 0).astype(np.intp)
        return classes[np.stack([positive, 1 - positive], axis=1)]
    return classes[np.argsort(-scores, axis=1, kind="stable")]
