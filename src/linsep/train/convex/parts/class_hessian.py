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

from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CHUNK = 512  # rows whose pairs are multiplied together
PART = 2048  # rows whose sum one thread makes
KEPT = 1 << 22  # products of features up to which they are kept from one matrix to the next


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
                pair_weights(d[:, rows] if used is None else d.take(rows, 1), V)
                product = V @ self._products(rows, keep)
                G = product if G is None else np.add(G, product, out=G)
            return G

        return self.pool.sum(part, spans(n, PART))

    def spread(self, G: Floats) -> Floats:
        """H from its different entries."""
        K, D = self._K, self._D
        (k, h), (i, j) = np.tril_indices(K), np.tril_indices(D)
        pair = np.empty((D, D), np.int64)
        pair[i, j] = pair[j, i] = np.arange(len(i))
        blocks = G[:, pair]
        H = np.empty((K, D, K, D))
        H[k, :, h, :] = blocks
        H[h, :, k, :] = blocks
        return H.reshape(K * D, K * D)

    def _products(self, rows: Any, keep: bool) -> Floats:
        if keep and rows.start in self._kept:
            return self._kept[rows.start]
        X = self._X[rows]
        Q = np.empty((len(X), self._pairs))
        feature_pairs(X, self._free, Q)
        if keep:
            self._kept[rows.start] = Q
        return Q


def pair_weights(d: Floats, V: Floats) -> None:
    """(diag d − ddᵀ/s)ₖₗ of some rows, k ≥ l, into one row of V for each pair."""
    below, above = np.zeros((2, *d.shape))
    np.cumsum(d[:-1], axis=0, out=below[1:])
    np.cumsum(d[:0:-1], axis=0, out=above[-2::-1])
    rest = below + above  # d(s − d), not ds − d²: a row that is nearly decided counts a little
    total = d[0] + rest[0]
    part = np.divide(d, total, out=np.zeros_like(d), where=total > 0.0)
    start = 0
    for k in range(len(d)):
        np.multiply(part[k], -d[:k], out=V[start : start + k])
        np.multiply(part[k], rest[k], out=V[start + k])
        start += k + 1


def feature_pairs(X: Array, free: bool, Q: Floats) -> None:
    """x̃ⱼx̃ₕ of every row, j ≥ h."""
    d, at = X.shape[1], 0
    for j in range(d):
        np.multiply(X[:, : j + 1], X[:, j : j + 1], out=Q[:, at : at + j + 1], dtype=np.float64)
        at += j + 1
    if free:
        Q[:, at : at + d] = X
        Q[:, at + d] = 1.0
