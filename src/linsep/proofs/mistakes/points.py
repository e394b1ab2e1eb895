"""Rows as distinct points: how many of either label on each, and which columns tell them apart."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]


def distinct_points(X: Any, signs: Array, fit_intercept: bool = True) -> tuple[Array, Array, int]:
    """The first row of every distinct point, its net label Σ yᵢ, and the losses nobody avoids.

    Through the origin a row of zeros is on every plane: a loss, and no point.

    >>> X, signs = np.array([[1.0], [0.0], [1.0], [0.0], [1.0]]), np.array([1, -1, -1, 1, 1])
    >>> places, net, losses = distinct_points(X, signs, fit_intercept=False)
    >>> places.tolist(), net.tolist(), losses
    ([0], [1], 3)
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
    if not fit_intercept:
        zero = np.asarray(abs(X[places]).sum(axis=1)).ravel() == 0
        kept &= ~zero
        losses = np.where(zero, positive + negative, losses)
    return np.array(places)[kept], (positive - negative)[kept], int(losses.sum())


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
