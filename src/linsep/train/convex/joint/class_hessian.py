"""The matrix of second derivatives where all classes share a loss, by one product of matrices.

    H = Σᵢ (diag dᵢ − dᵢdᵢᵀ/sᵢ) ⊗ x̃ᵢx̃ᵢᵀ,   sᵢ = Σₖ dᵢₖ,   x̃ = (x, 1) or x

With probabilities p and weights c, softmax has dᵢ = cᵢpᵢ; a step inside the bounds of Crammer and
Singer's machine has multipliers divided by slacks. Block (k, l) is the sum of x̃x̃ᵀ weighted by one
number of each row. Pairs of classes are K(K + 1)/2 and pairs of features D(D + 1)/2, so that H is a
product of these many rows by these many columns: a quarter of what Σ(p ⊗ x̃)(p ⊗ x̃)ᵀ would take.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CHUNK = 512
"""Rows whose pairs are multiplied together."""
PART = 2048
"""Rows whose sum one thread makes."""
KEPT = 1 << 22
"""Products of features up to which they are kept from one matrix to the next."""


class ClassHessian:
    """H of some rows, for one dᵢ after the other.

    Parameters
    ----------
    X : rows, as an array or by slices of one
    n_classes : K
    free : whether x̃ ends with a one
    pool : threads; they change no byte

    Examples
    --------
    >>> H = ClassHessian(np.array([[3.0]]), 2, False, Pool(1))
    >>> H(np.array([[0.5], [0.5]]))
    array([[ 2.25, -2.25],
           [-2.25,  2.25]])
    """

    def __init__(self, X: Any, n_classes: int, free: bool, pool: Pool) -> None:
        self._X, self._free, self.pool = X, free, pool
        self._n, d = X.shape
        self._K, self._D = n_classes, d + free
        self._pairs = self._D * (self._D + 1) // 2
        self._kept: dict[int, Floats] = {}

    def __call__(self, d: Floats, used: Array | None = None) -> Floats:
        """H for d, (K, n); of `used` rows alone, where they are given."""
        return self.spread(self.pairs(d, used))

    def pairs(self, d: Floats, used: Array | None = None) -> Floats:
        """The different entries of H, one row for each pair of classes; these may be summed."""
        n = self._n if used is None else len(used)
        keep = used is None and self._n * self._pairs <= KEPT

        def part(span: tuple[int, int]) -> Floats:
            G: Any = None
            for first, last in spans(span[1] - span[0], CHUNK):
                first, last = span[0] + first, span[0] + last
                rows: Any = slice(first, last) if used is None else used[first:last]
                V = np.empty((self._K * (self._K + 1) // 2, last - first))
                if used is None:
                    pair_weights(d, first, V)
                else:
                    pair_weights(d.take(rows, 1), 0, V)
                product = V @ self._products(rows, keep)
                G = product if G is None else np.add(G, product, out=G)
            return G

        return self.pool.sum(part, spans(n, PART))

    def spread(self, G: Floats) -> Floats:
        """H from its different entries."""
        H = np.empty((self._K * self._D, self._K * self._D))
        spread_out(G, self._K, self._D, H)
        return H

    def _products(self, rows: Any, keep: bool) -> Floats:
        if keep and rows.start in self._kept:
            return self._kept[rows.start]
        X = self._X[rows]
        Q = np.empty((len(X), self._pairs))
        feature_pairs(X, self._free, Q)
        if keep:
            self._kept[rows.start] = Q
        return Q


@kernel
def pair_weights(d, first, V):  # type: ignore[no-untyped-def]
    """(diag d − ddᵀ/s)ₖₗ of some rows from `first` on, k ≥ l, one row of V for each pair"""
    K, m = d.shape[0], V.shape[1]
    inverse, rest = np.empty(m), np.empty(m)
    for i in range(m):
        inverse[i] = 0.0
    for k in range(K):
        for i in range(m):
            inverse[i] += d[k, first + i]
    for i in range(m):
        inverse[i] = np.divide(1.0, inverse[i]) if inverse[i] > 0.0 else 0.0
    for k in range(K):
        start = k * (k + 1) // 2
        for i in range(m):
            rest[i] = 0.0
        for h in range(K):  # d(s − d), not ds − d²: a row that is nearly decided counts a little
            if h != k:
                for i in range(m):
                    rest[i] += d[h, first + i]
        for i in range(m):
            V[start + k, i] = d[k, first + i] * rest[i] * inverse[i]
        for h in range(k):
            for i in range(m):
                V[start + h, i] = -d[k, first + i] * d[h, first + i] * inverse[i]


@kernel
def feature_pairs(X, free, Q):  # type: ignore[no-untyped-def]
    """x̃ⱼx̃ₕ of every row, j ≥ h"""
    d = X.shape[1]
    for i in range(Q.shape[0]):
        at = 0
        for j in range(d):
            x = np.float64(X[i, j])
            for h in range(j + 1):
                Q[i, at + h] = x * X[i, h]
            at += j + 1
        if free:
            for h in range(d):
                Q[i, at + h] = X[i, h]
            Q[i, at + d] = 1.0


@kernel
def spread_out(G, K, D, H):  # type: ignore[no-untyped-def]
    """H from its different entries"""
    for k in range(K):
        for h in range(k + 1):
            g = G[k * (k + 1) // 2 + h]
            at = 0
            for j in range(D):
                for m in range(j + 1):
                    value = g[at + m]
                    H[k * D + j, h * D + m] = value
                    H[k * D + m, h * D + j] = value
                    H[h * D + j, k * D + m] = value
                    H[h * D + m, k * D + j] = value
                at += j + 1
