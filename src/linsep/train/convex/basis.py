"""The same problem in better coordinates: X = Z · lower + shift, w = lift · u.

Fewer rows than features: the best weights are a combination of the rows (less any one vector, where
the bias is free), so orthonormal coordinates of the row space leave at most n unknowns and the
penalty as it is, ‖w‖ = ‖u‖. Products of rows with each other tell them
(`linsep.train.convex.row_space`), or, to the last digit, an orthogonal factor of the rows.

No penalty: any basis will do, so take one in which the columns of Z are orthonormal. Then neither
units nor correlations of the features have a part in the optimisation, and scores come out the same
for every encoding of them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg as sl

from linsep.data.blocks.blocks import on_cluster
from linsep.train.convex.row_space import RowSpace
from linsep.train.convex.solution import require_range

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FEW_ROWS = 2048
"""Up to which products of rows with each other cost less than a solver's products with them."""
SMALL = 1 << 20
"""Entries up to which any coordinates cost next to nothing."""
COPIED = 1 << 24
"""Entries up to which X may be copied for an orthogonal factor."""


class Basis(NamedTuple):
    """Rows Z, with X = Z · lower + shift and lower · lift = 1."""

    Z: Floats
    lift: Floats
    lower: Floats
    shift: Floats

    def inside(self, w: Array, b: Any) -> tuple[Floats, Any]:
        """Weights for X as weights for Z; what no row can see is left out."""
        w = np.asarray(w, np.float64)
        return w @ self.lower.T, b + w @ self.shift

    def outside(self, u: Floats, b: Any) -> tuple[Floats, Any]:
        """Weights for Z as weights for X."""
        with np.errstate(all="ignore"):
            w = u @ self.lift.T
            b = b - w @ self.shift
        require_range(w, b)
        return w, b


def better_basis(X: Array, C: float, centre: bool) -> Basis | RowSpace | None:
    """Coordinates in which the problem is smaller or better posed, None where X will do."""
    whiten = math.isinf(C)
    if not whiten and not few_rows(X):
        return None
    if whiten and X.size > (COPIED if X.shape[0] < X.shape[1] else COPIED // 4):
        return None
    space = None if whiten else RowSpace.of(X, centre)
    if space is not None:
        return space
    if X.size > COPIED:
        return None
    with np.errstate(all="ignore"):
        return _decompose(X, centre, whiten)


def few_rows(X: Any) -> bool:
    """Whether coordinates of the space that dense rows span are worth their price."""
    n, d = X.shape
    if on_cluster(X) or sp.issparse(X):
        return False
    return bool(n < d and (n * d <= SMALL or (2 * n <= d and n <= FEW_ROWS)))


def _decompose(X: Array, centre: bool, whiten: bool) -> Basis:
    """From X − shift = U S Vᵀ: Z = U S and lift = V, or Z = U and lift = V S⁻¹ to `whiten`."""
    X = X.astype(np.float64, copy=False)
    exponent = -np.frexp(np.abs(X).max(axis=0 if whiten else None))[1]
    unit = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
    X = X * unit  # powers of two: exact, and no square overflows
    # About the first row: a constant column has its own value as mean, to the last digit.
    shift = X[0] + (X - X[0]).mean(axis=0) if centre else np.zeros(X.shape[1])
    A = X - shift
    size = np.ones(X.shape[1])
    if whiten:  # columns of one length, so that units have no part in what counts as zero
        length = np.sqrt(np.mean(A * A, axis=0))
        real = length > 4 * np.finfo(np.float64).eps * np.abs(shift)
        np.divide(1.0, length, out=size, where=real)
        size[~real] = 0.0
    U, S, Vt = _singular(A * size)
    # What rounding left of dimensions that are not there must not count as features.
    largest = float(S[0]) if whiten else max(float(S[0]), float(np.linalg.norm(shift)))
    rank = int(np.sum(4 * np.finfo(np.float64).eps * max(X.shape) * largest < S))
    if rank == 0:
        none = np.zeros((X.shape[1], 1))
        return Basis(np.zeros((len(X), 1)), none, none.T, shift / unit)
    U, S, Vt = U[:, :rank], S[:rank], Vt[:rank]
    if not whiten:
        return Basis(np.ascontiguousarray(U * S) / unit, Vt.T, Vt, shift / unit)
    Z, S = np.ascontiguousarray(U * math.sqrt(len(X))), S / math.sqrt(len(X))
    lift = (unit * size)[:, None] * (Vt.T / S)
    lower = np.zeros_like(lift.T)
    np.divide(Vt * S[:, None], size * unit, out=lower, where=size > 0)
    return Basis(Z, lift, lower, shift / unit)


def _singular(A: Floats) -> tuple[Floats, Floats, Floats]:
    """The thin singular value decomposition, by a triangular factor of the longer side first."""
    if len(A) < A.shape[1]:
        V, S, Ut = _singular(A.T)
        return Ut.T, S, V.T
    Q, R = sl.qr(A, mode="economic", overwrite_a=True, check_finite=False)
    U, S, Vt = sl.svd(R, full_matrices=False, check_finite=False, lapack_driver="gesdd")
    return Q @ U, S, Vt
