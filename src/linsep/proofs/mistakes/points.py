"""Rows as distinct points: how many of either label on each, and which columns tell them apart."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]


class Points(NamedTuple):
    """A row of every distinct point, its net label Σ yᵢ, and the losses nobody avoids.

    The row is the first that has the sign of the label. `clashes` are two equal rows of different
    labels each, with the number of the rarer label.
    """

    places: Array
    net: Array
    clashes: list[tuple[tuple[int, ...], int]]


def distinct_points(X: Any, signs: Array, fit_intercept: bool = True) -> Points:
    """Rows that are equal as one point; where their labels cancel, no point is left.

    Through the origin a row of zeros is on every plane: a loss by itself, and no point.

    >>> X, signs = np.array([[1.0], [0.0], [1.0], [0.0], [1.0]]), np.array([1, -1, -1, 1, 1])
    >>> places, net, clashes = distinct_points(X, signs, fit_intercept=False)
    >>> places.tolist(), net.tolist(), clashes
    ([0], [1], [((0, 2), 1), ((1,), 1), ((3,), 1)])
    """
    codes: dict[bytes, int] = {}
    places: list[int] = []
    which = np.empty(X.shape[0], np.int64)
    for i, key in enumerate(_keys(X)):
        code = codes.setdefault(key, len(codes))
        if code == len(places):
            places.append(i)
        which[i] = code
    positive = np.bincount(which, signs > 0, len(places)).astype(np.int64)
    negative = np.bincount(which, signs < 0, len(places)).astype(np.int64)
    kept = positive != negative
    losses = np.minimum(positive, negative)
    zero = np.zeros(len(places), bool)
    if not fit_intercept:
        zero = ~np.asarray((X[places] != 0).sum(axis=1), bool).ravel()
        kept &= ~zero
    first: dict[tuple[int, bool], int] = {}
    for i, (point, plus) in enumerate(zip(which.tolist(), (signs > 0).tolist(), strict=True)):
        first.setdefault((point, plus), i)
    clashes: list[tuple[tuple[int, ...], int]] = [
        (tuple(sorted((first[k, False], first[k, True]))), int(losses[k]))
        for k in np.flatnonzero((losses > 0) & ~zero).tolist()
    ]
    clashes += [((i,), 1) for i in np.flatnonzero(zero[which]).tolist()]
    net = positive - negative
    own = [first[k, bool(net[k] > 0)] for k in np.flatnonzero(kept).tolist()]
    return Points(np.array(own, np.int64), net[kept], clashes)


def _keys(X: Any) -> Any:
    if sp.issparse(X):
        for i in range(X.shape[0]):
            part = slice(X.indptr[i], X.indptr[i + 1])
            stored = X.data[part] != 0  # an explicit zero is a zero
            yield X.indices[part][stored].tobytes() + X.data[part][stored].tobytes()
    else:
        for row in X:
            yield (row + 0.0).tobytes()  # -0.0 is 0.0


def telling_columns(points: Any, fit_intercept: bool = True) -> Array:
    """The columns that differ from each other and from a constant, or without intercept from 0."""
    if sp.issparse(points):
        points = points.toarray() if points.shape[1] <= 3 else None
    if points is None or points.shape[1] > 50:
        return np.arange(4)
    constant = points[0] if fit_intercept else 0.0
    varies = np.flatnonzero((points != constant).any(axis=0))
    _, first = np.unique(points[:, varies], axis=1, return_index=True)
    return np.sort(varies[first])
