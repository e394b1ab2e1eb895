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
from linsep.kernels import softmax as kernels
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
                part_of = d[:, rows] if used is None else d.take(rows, 1)
                kernels.pair_weights(np.ascontiguousarray(part_of), V)
                product = V @ self._products(rows, keep)
                G = product if G is None else np.add(G, product, out=G)
            return G

        return self.pool.sum(part, spans(n, PART))

    def spread(self, G: Floats) -> Floats:
        """H from its different entries."""
        size = self._K * self._D
        H = np.empty((size, size))
        kernels.spread_pairs(G, H, self._K)
        return H

    def _products(self, rows: Any, keep: bool) -> Floats:
        if keep and rows.start in self._kept:
            return self._kept[rows.start]
        X = self._X[rows]
        Q = np.empty((len(X), self._pairs))
        kernels.feature_pairs(np.ascontiguousarray(X), Q)
        if keep:
            self._kept[rows.start] = Q
        return Q
