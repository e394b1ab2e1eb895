"""Dense and sparse rows as the kernels of Newton's methods see them, and sums over such rows.

Eight dense rows are added to a Hessian at a time, written out in float64 with their length rounded
up to whole vectors; of a sparse row, the products of its entries.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep._compile import by_type, inline
from linsep.data.check.arrays import frozen

GROUP = 8
"""Dense rows that are added to the Hessian together."""
VECTOR = 16
"""Numbers that a row of the Hessian is filled up to a multiple of."""


class Dense(NamedTuple):
    """Rows of an array, as kernels see them."""

    X: Any

    def dot(self, i, u):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(self.X.shape[1]):
            s += self.X[i, j] * u[j]
        return s

    def add(self, i, a, out):  # type: ignore[no-untyped-def]
        for j in range(self.X.shape[1]):
            out[j] += a * self.X[i, j]

    def add_squares(self, i, a, out):  # type: ignore[no-untyped-def]
        for j in range(self.X.shape[1]):
            x = np.float64(self.X[i, j])
            out[j] += a * x * x

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

    def add(self, i, a, out):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            out[self.indices[e]] += a * self.data[e]

    def add_squares(self, i, a, out):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            x = np.float64(self.data[e])
            out[self.indices[e]] += a * x * x

    def gather(self, y, alpha, D, first, last, group, v, H):  # type: ignore[no-untyped-def]
        _gather_sparse(self.data, self.indices, self.indptr, y, alpha, D, first, last, v, H)


@by_type
def dot(rows, i, u):  # type: ignore[no-untyped-def]
    """⟨xᵢ, u⟩ without the intercept"""
    return rows.dot(i, u)


@by_type
def add(rows, i, a, out):  # type: ignore[no-untyped-def]
    """out ← out + a·xᵢ"""
    return rows.add(i, a, out)


@by_type
def add_squares(rows, i, a, out):  # type: ignore[no-untyped-def]
    """out ← out + a·xᵢ², column by column"""
    return rows.add_squares(i, a, out)


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
