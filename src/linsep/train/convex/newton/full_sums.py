"""Losses, gradient and Hessian of rows in memory, and Newton's equations, in a few compiled calls.

    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   αᵢ = −Uᵢφ′(zᵢ),   Dᵢ = Uᵢφ″(zᵢ)
    vₛ = Σ_{i in class s} αᵢyᵢx̃ᵢ,   H = Σ Dᵢx̃ᵢx̃ᵢᵀ,      x̃ = (x, 1)

Margins are kept from step to step: those of a step are added to them, so that a line search does
not read the rows. Eight dense rows are added to the Hessian at a time, written out in float64 with
their length rounded up to whole vectors; of a sparse row, the products of its entries.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import by_type, inline, kernel
from linsep.data.check.arrays import frozen
from linsep.parallel import Pool
from linsep.train.convex.losses import Logistic
from linsep.train.convex.newton.row_terms import (
    SUMS,
    add_along,
    add_hinge,
    add_logistic,
    chunk,
    foretell,
)

Floats = npt.NDArray[np.float64]

GROUP = 8
"""Dense rows that are added to the Hessian together."""
VECTOR = 16
"""Numbers that a row of the Hessian is filled up to a multiple of."""
SHARED = 4e7
"""Products of a walk over the rows from which a second thread is worth waking."""


class Dense(NamedTuple):
    """Rows of an array, as kernels see them."""

    X: Any

    def dot(self, i, u):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(self.X.shape[1]):
            s += self.X[i, j] * u[j]
        return s

    def gather(self, y, alpha, D, first, last, group, v, H):  # type: ignore[no-untyped-def]
        _gather_dense(self.X, y, alpha, D, first, last, group, v, H)


class Sparse(NamedTuple):
    """Rows of a CSR matrix, as kernels see them."""

    data: Any
    indices: Any
    indptr: Any

    def dot(self, i, u):  # type: ignore[no-untyped-def]
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * u[self.indices[e]]
        return s

    def gather(self, y, alpha, D, first, last, group, v, H):  # type: ignore[no-untyped-def]
        _gather_sparse(self.data, self.indices, self.indptr, y, alpha, D, first, last, v, H)


@by_type
def dot(rows, i, u):  # type: ignore[no-untyped-def]
    """⟨w, xᵢ⟩"""
    return rows.dot(i, u)


@by_type
def gather(rows, y, alpha, D, first, last, group, v, H):  # type: ignore[no-untyped-def]
    """v ← Σ αyx̃ of either class, H ← Σ Dx̃x̃ᵀ, its lower triangle"""
    rows.gather(y, alpha, D, first, last, group, v, H)


def as_rows(X: Any) -> Dense | Sparse:
    """An array or a CSR matrix as kernels see it."""
    if not sp.issparse(X):
        return Dense(frozen(X))
    places = X.indices.astype(np.int32, copy=False).view(np.uint32)
    return Sparse(frozen(X.data), frozen(places), frozen(X.indptr.astype(np.uint64)))


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
def _gather_dense(X, y, alpha, D, first, last, group, v, H):  # type: ignore[no-untyped-def]
    """v ← vₛ of either class, and the lower triangle of H; both are set to zero first"""
    d, weight = X.shape[1], group[GROUP]
    v[:] = 0.0
    H[:] = 0.0
    group[:GROUP] = 0.0
    held = 0
    p0 = p1 = p2 = q0 = q1 = q2 = first
    p = q = 0
    for i in range(first, last):
        if alpha[i] != 0.0:
            if y[i] > 0:
                v[0, d] += alpha[i]
                if p == 3:
                    _add_four(X, p0, p1, p2, i, alpha[p0], alpha[p1], alpha[p2], alpha[i], v[0])
                    p = 0
                else:
                    p0, p1, p2 = (i, p1, p2) if p == 0 else ((p0, i, p2) if p == 1 else (p0, p1, i))
                    p += 1
            else:
                v[1, d] -= alpha[i]
                if q == 3:
                    _add_four(X, q0, q1, q2, i, -alpha[q0], -alpha[q1], -alpha[q2], -alpha[i], v[1])
                    q = 0
                else:
                    q0, q1, q2 = (i, q1, q2) if q == 0 else ((q0, i, q2) if q == 1 else (q0, q1, i))
                    q += 1
        if D[i] > 0.0:
            weight[held] = D[i]
            for j in range(d):
                group[held, j] = X[i, j]
            group[held, d] = 1.0
            held += 1
            if held == GROUP:
                _add_products(group, weight, d, H)
                held = 0
    if p > 0:
        a1, a2 = alpha[p1] if p > 1 else 0.0, alpha[p2] if p > 2 else 0.0
        _add_four(X, p0, p1, p2, p0, alpha[p0], a1, a2, 0.0, v[0])
    if q > 0:
        a1, a2 = alpha[q1] if q > 1 else 0.0, alpha[q2] if q > 2 else 0.0
        _add_four(X, q0, q1, q2, q0, -alpha[q0], -a1, -a2, 0.0, v[1])
    if held > 0:
        for r in range(held, GROUP):
            weight[r] = 0.0
        _add_products(group, weight, d, H)


@inline(shared=True)
def _add_four(X, i, j, k, m, a, b, c, e, out):  # type: ignore[no-untyped-def]
    """out ← out + a·xᵢ + b·xⱼ + c·xₖ + e·xₘ"""
    for f in range(X.shape[1]):
        out[f] += a * X[i, f] + b * X[j, f] + c * X[k, f] + e * X[m, f]


@inline(shared=True)
def _add_products(G, w, d, H):  # type: ignore[no-untyped-def]
    """H ← H + Σ wᵣgᵣgᵣᵀ, two rows at a time, as far as the vector that the diagonal is in"""
    g0, g1, g2, g3, g4, g5, g6, g7 = G[0], G[1], G[2], G[3], G[4], G[5], G[6], G[7]
    for j in range(0, d + 1, 2):
        a0, a1, a2, a3 = w[0] * g0[j], w[1] * g1[j], w[2] * g2[j], w[3] * g3[j]
        a4, a5, a6, a7 = w[4] * g4[j], w[5] * g5[j], w[6] * g6[j], w[7] * g7[j]
        k = j + 1
        b0, b1, b2, b3 = w[0] * g0[k], w[1] * g1[k], w[2] * g2[k], w[3] * g3[k]
        b4, b5, b6, b7 = w[4] * g4[k], w[5] * g5[k], w[6] * g6[k], w[7] * g7[k]
        one, two = H[j], H[k]
        for m in range((k // VECTOR + 1) * VECTOR):
            x0, x1, x2, x3, x4, x5, x6, x7 = (
                g0[m], g1[m], g2[m], g3[m], g4[m], g5[m], g6[m], g7[m]
            )  # fmt: skip
            one[m] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5 + a6 * x6 + a7 * x7
            two[m] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5 + b6 * x6 + b7 * x7


@inline(shared=True)
def _gather_sparse(data, indices, indptr, y, alpha, D, first, last, v, H):  # type: ignore[no-untyped-def]
    """The same for sparse rows"""
    d = v.shape[1] - 1
    v[:] = 0.0
    H[:] = 0.0
    for i in range(first, last):
        k = 0 if y[i] > 0 else 1
        a = alpha[i] * y[i]
        start, stop = indptr[i], indptr[i + 1]
        if a != 0.0:
            for e in range(start, stop):
                v[k, indices[e]] += a * data[e]
            v[k, d] += a
        if D[i] > 0.0:
            for e in range(start, stop):
                j = indices[e]
                x = D[i] * data[e]
                for f in range(start, e):
                    m = indices[f]
                    if m < j:
                        H[j, m] += x * data[f]
                    else:
                        H[m, j] += x * data[f]
                H[j, j] += x * data[e]
                H[d, j] += x
            H[d, d] += D[i]


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
