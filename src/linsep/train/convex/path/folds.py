"""Folds of cross-validation that share the work: each row is left out by one of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Folded(NamedTuple):
    """Every fold's model for every C, and what was proved of it.

    Attributes
    ----------
    W : (folds, m, d) weights
    b : (folds, m) intercepts
    gap : (folds, m) relative duality gaps
    scores : (n, m), what the model of the fold that leaves a row out says of it
    whole : (m, d + 1), models of all rows, the intercept last: a start for their fit
    """

    W: Floats
    b: Floats
    gap: Floats
    scores: Floats
    whole: Floats


def homes(folds: Sequence[tuple[Array, Array]], n_rows: int) -> Array | None:
    """The number of the fold that leaves each row out; None where that is not one for each row.

    >>> homes([(np.array([1, 2]), np.array([0])), (np.array([0]), np.array([1, 2]))], 3)
    array([0, 1, 1], dtype=int32)
    >>> homes([(np.array([1]), np.array([0])), (np.array([0]), np.array([1, 2]))], 3) is None
    True
    """
    home = np.full(n_rows, -1, np.int32)
    for f, (train, test) in enumerate(folds):
        kept = np.zeros(n_rows, bool)
        kept[train] = True
        whole = kept.sum() == len(train) and len(train) + len(test) == n_rows
        if not whole or kept[test].any() or (home[test] >= 0).any():
            return None
        home[test] = f
    return home if (home >= 0).all() else None
