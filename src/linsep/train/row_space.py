"""Fewer rows than features: the same problem in as many coordinates as there are rows.

The best weights are a combination of the rows (less any one vector, where the bias is free), so
X − shift = ZQᵀ with orthonormal columns Q turns the problem in w into one in u with rows Z, the
same penalty ‖w‖ = ‖Qu‖ = ‖u‖, and at most n coordinates.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg as sl

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class RowSpace(NamedTuple):
    """Rows Z with X = ZQᵀ + shift."""

    Z: Floats
    Q: Floats
    shift: Floats

    def inside(self, w: Floats, b: Any) -> tuple[Floats, Any]:
        """Weights for X as weights for Z; what no row can see is left out."""
        return w @ self.Q, b + w @ self.shift

    def outside(self, u: Floats, b: Any) -> tuple[Floats, Any]:
        """Weights for Z as weights for X."""
        w = u @ self.Q.T
        return w, b - w @ self.shift


def worth_it(X: Array) -> bool:
    """Whether going to the row space saves work and its copy of X is small."""
    n, d = X.shape
    return n < d and X.size <= 1 << 24


def row_space(X: Array, centre: bool) -> RowSpace:
    """The rows in coordinates of their own.

    >>> space = row_space(np.array([[3.0, 4.0, 0.0]]), centre=False)
    >>> abs(space.Z).round(12)
    array([[5.]])
    """
    X = X.astype(np.float64, copy=False)
    most = float(np.abs(X).max())
    unit = float(np.ldexp(1.0, int(np.clip(-np.frexp(most)[1], -1000, 1000))))
    X = X * unit  # a power of two: exact, and no square overflows
    shift = X.mean(axis=0) if centre else np.zeros(X.shape[1])
    Q, R = sl.qr((X - shift).T, mode="economic", check_finite=False)
    # Centred rows depend on each other: what rounding left of the lost dimensions must not count.
    turn, R, order = sl.qr(R, pivoting=True, check_finite=False)
    size = np.abs(R.diagonal())
    rank = max(1, int(np.sum(size > len(X) * np.finfo(np.float64).eps * size[0])))
    Z = np.empty((len(X), rank))
    Z[order] = R[:rank].T
    return RowSpace(Z / unit, Q @ turn[:, :rank], shift / unit)
