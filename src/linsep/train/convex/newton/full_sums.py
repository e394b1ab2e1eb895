"""Losses, gradient and Hessian of rows in memory, and Newton's equations, in a few compiled calls.

    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   αᵢ = −Uᵢφ′(zᵢ),   Dᵢ = Uᵢφ″(zᵢ)
    vₛ = Σ_{i in class s} αᵢyᵢx̃ᵢ,   H = Σ Dᵢx̃ᵢx̃ᵢᵀ,      x̃ = (x, 1)

Margins are kept from step to step: those of a step are added to them, so that a line search does
not read the rows.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import inline, kernel
from linsep.parallel import Pool
from linsep.train.convex.losses import Logistic
from linsep.train.convex.newton.row_layouts import GROUP, VECTOR, as_rows, dot, gather
from linsep.train.convex.newton.row_terms import (
    SUMS,
    add_along,
    add_hinge,
    add_logistic,
    chunk,
    foretell,
)

Floats = npt.NDArray[np.float64]

SHARED = 4e7
"""Products of a walk over the rows from which a second thread is worth waking."""


def shared(X: Any) -> bool:
    """Whether a walk over the rows, with products of features, is worth several threads."""
    entries = int(X.nnz) if sp.issparse(X) else X.size
    return bool(entries * entries / X.shape[0] > SHARED)


class Point(NamedTuple):
    """Weights and what the rows say there.

    Attributes
    ----------
    u, z : weights and intercept; margins
    smooth : the loss that has the derivatives
    alpha, D : −Uφ′ and Uφ″ of each row
    sums : see `SUMS`
    """

    u: Floats
    z: Floats
    smooth: Any
    alpha: Floats
    D: Floats
    sums: Floats


class FullSums:
    """Labelled rows in memory, cut into parts by their number alone: threads change no byte.

    Parameters
    ----------
    X : array or CSR matrix
    y : −1.0 or 1.0 for each row
    caps : Uᵢ
    loss : ℓ
    pool : threads
    """

    def __init__(self, X: Any, y: Floats, caps: Floats, loss: Any, pool: Pool) -> None:
        self.n, self.d = X.shape
        self.y, self.caps, self.loss, self.pool = y, caps, loss, pool
        entries = int(X.nnz) if sp.issparse(X) else X.size
        self.rows = as_rows(X)
        cuts = list(pairwise(self.n * k // 4 for k in range(5)))
        whole = [(0, self.n)]
        self._cuts = cuts if shared(X) else whole
        self._light = cuts if 4 * entries + 16 * self.n > SHARED else whole
        parts, width = len(self._cuts), -(-(self.d + 2) // VECTOR) * VECTOR
        self._v, self._H = np.empty((parts, 2, self.d + 1)), np.empty((parts, self.d + 2, width))
        self._groups = [np.empty((GROUP + 1, width)) for _ in self._cuts]
        self._sums = np.empty((len(self._light), SUMS))
        self._chunks = [chunk() for _ in self._light]

    def margins(self, u: Floats) -> Floats:
        """y(⟨w, x⟩ + b) of each row, b last in `u`."""
        out = np.empty(self.n)
        self.pool.run(margins, [(self.rows, self.y, u, *cut, out) for cut in self._light])
        return out

    def at(self, u: Floats, z: Floats, dz: Floats, t: float, smooth: Any) -> Point:
        """Losses, multipliers and curvatures at u, where margins are z + t·dz."""
        m, alpha, D = np.empty(self.n), np.empty(self.n), np.empty(self.n)
        shared = z, dz, t, self.y, self.caps
        parts = zip(self._light, self._sums, self._chunks, strict=True)
        if isinstance(smooth, Logistic):
            calls: list[Any] = [
                (*shared, *cut, m, alpha, D, *chunk, sums) for cut, sums, chunk in parts
            ]
            self.pool.run(logistic_terms, calls)
        else:
            losses = smooth, self.loss
            calls = [(*losses, *shared, *cut, m, alpha, D, sums) for cut, sums, _ in parts]
            self.pool.run(hinge_terms, calls)
        return Point(u, m, smooth, alpha, D, self._sums.sum(axis=0))

    def gather(self, p: Point) -> tuple[Floats, Floats]:
        """Σ αyx̃ of either class, +1 first, and the lower triangle of Σ Dx̃x̃ᵀ."""
        calls = [
            (self.rows, self.y, p.alpha, p.D, *cut, group, v, H)
            for cut, group, v, H in zip(self._cuts, self._groups, self._v, self._H, strict=True)
        ]
        self.pool.run(sums, calls)
        if len(calls) == 1:
            return self._v[0], self._H[0]
        return self._v.sum(axis=0), self._H.sum(axis=0)


@inline(shared=True)
def add_margins(rows, y, u, first, last, out):  # type: ignore[no-untyped-def]
    """outᵢ ← yᵢ(⟨w, xᵢ⟩ + b), b last in u"""
    b = u[u.shape[0] - 1]
    for i in range(first, last):
        out[i] = y[i] * (dot(rows, i, u) + b)


@inline(shared=True)
def solve_newton(H, ridge, gradient, free, L, scale, step):  # type: ignore[no-untyped-def]
    """step ← −(H + ridge)⁻¹∇, by Cholesky's factor of the matrix scaled to a unit diagonal.

    Returns Newton's decrement squared; −1 where the matrix is singular to the digits it has.
    """
    n = gradient.shape[0]
    size = n if free else n - 1
    for j in range(size):
        a = H[j, j] + ridge[j]
        scale[j] = np.divide(1.0, np.sqrt(a)) if a > 0.0 else 0.0
    least = 1.0
    for j in range(size):
        for k in range(j):
            s = H[j, k] * scale[j] * scale[k]
            for m in range(k):
                s -= L[j, m] * L[k, m]
            L[j, k] = np.divide(s, L[k, k])
        s = 1.0 + 1e-15
        for m in range(j):
            s -= L[j, m] * L[j, m]
        if not s > 0.0:
            return -1.0
        L[j, j] = np.sqrt(s)
        least = min(least, s)
    if not least > 1e-15 * size:
        return -1.0
    for j in range(size):
        s = -gradient[j] * scale[j]
        for m in range(j):
            s -= L[j, m] * step[m]
        step[j] = np.divide(s, L[j, j])
    decrement2 = 0.0
    for j in range(size):
        decrement2 += step[j] * step[j]
    for k in range(size):
        j = size - 1 - k
        step[j] = np.divide(step[j], L[j, j])
        for m in range(j):
            step[m] -= step[j] * L[j, m]
    for j in range(size):
        step[j] *= scale[j]
    if not free:
        step[size] = 0.0
    return decrement2


@kernel
def margins(rows, y, u, first, last, out):  # type: ignore[no-untyped-def]
    add_margins(rows, y, u, first, last, out)


@kernel
def hinge_terms(smooth, loss, z, dz, t, y, caps, first, last, to, alpha, D, sums):  # type: ignore[no-untyped-def]
    add_hinge(smooth, loss, z, dz, t, y, caps, first, last, to, alpha, D, sums)


@kernel
def logistic_terms(z, dz, t, y, caps, first, last, to, alpha, D, room, whole, sums):  # type: ignore[no-untyped-def]
    add_logistic(z, dz, t, y, caps, first, last, to, alpha, D, room, whole, sums)


@kernel
def sums(rows, y, alpha, D, first, last, group, v, H):  # type: ignore[no-untyped-def]
    gather(rows, y, alpha, D, first, last, group, v, H)


@kernel
def newton_step(H, ridge, gradient, free, L, scale, step):  # type: ignore[no-untyped-def]
    return solve_newton(H, ridge, gradient, free, L, scale, step)


@kernel
def foretold(loss, alpha, D, dz, caps, out):  # type: ignore[no-untyped-def]
    return foretell(loss, alpha, D, dz, caps, out)


@kernel
def along(smooth, z, dz, t, caps, slopes):  # type: ignore[no-untyped-def]
    add_along(smooth, z, dz, t, caps, slopes)
