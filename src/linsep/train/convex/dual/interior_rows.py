"""Labelled rows as an interior point method wants them: in columns of moderate scale, by blocks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.errors import OverflowedError
from linsep.train.convex.dual.design import middle

Array = npt.NDArray[Any]

SMALL = 1 << 22  # numbers up to which the centred rows are kept


class Rows:
    """Rows z = (x − μ)/scale, read in blocks; with fewer rows than features, their coordinates.

    The columns are rotated in the second case: lengths and angles are all that matters.
    """

    def __init__(self, X: Any, centred: bool) -> None:
        n, d = X.shape
        self.n = n
        self._X = X
        self._turn: Array | None = None
        self._small: Array | None = None
        self.centre = np.zeros(d)
        self.scale = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            if centred:
                self.centre = middle(X)
            largest = max(float(np.abs(block).max(initial=0.0)) for block in self._blocks())
        if not np.isfinite(largest):
            raise OverflowedError("X less its mean overflows. Divide X by its largest entry.")
        if largest > 0.0:
            self.scale = 2.0 ** float(np.clip(np.ceil(np.log2(largest)), -400, 400))
        if n < d:
            Q, R = np.linalg.qr(np.concatenate(list(self._blocks())).T)
            self._turn, self._small = Q, np.ascontiguousarray(R.T)
        elif n * d <= SMALL:
            self._small = np.concatenate(list(self._blocks()))
        self.width = min(n, d)

    def _blocks(self) -> Iterator[Array]:
        for start in range(0, self.n, BLOCK):
            part = self._X[start : start + BLOCK]
            dense = part.toarray() if sp.issparse(part) else part
            yield (dense.astype(np.float64) - self.centre) / self.scale

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        if self._small is not None:
            yield slice(0, self.n), self._small
            return
        for k, block in enumerate(self._blocks()):
            yield slice(k * BLOCK, k * BLOCK + len(block)), block

    def scores(self, v: Array) -> Array:
        """⟨v, z⟩ of each row."""
        return np.concatenate([block @ v for _, block in self.blocks()])

    def total(self, a: Array) -> Array:
        """Σ az"""
        total = np.zeros(self.width)
        for rows, block in self.blocks():
            total += block.T @ a[rows]
        return total

    def gram(self, theta: Array) -> Array:
        """Σ θ(z, 1)(z, 1)ᵀ"""
        G = np.zeros((self.width + 1, self.width + 1))
        for rows, block in self.blocks():
            part, weight = block, theta[rows]
            used = np.flatnonzero(weight)
            if 2 * len(used) < len(weight):
                part, weight = part[used], weight[used]
            root = np.sqrt(weight)[:, None] * part
            G[:-1, :-1] += root.T @ root  # a matrix by itself: half the products
            G[-1, :-1] += weight @ part
        G[:-1, -1] = G[-1, :-1]
        G[-1, -1] = theta.sum()
        return G

    def inside(self, w: Array, b: float) -> tuple[Array, float]:
        """Weights and intercept for the rows z; what no row can see is left out."""
        v = np.asarray(w, np.float64) * self.scale
        return v if self._turn is None else self._turn.T @ v, float(b) + float(self.centre @ w)

    def outside(self, v: Array, b: float) -> tuple[Array, float]:
        """Weights and intercept for the rows as they were given."""
        w = (self._turn @ v if self._turn is not None else v) / self.scale
        return w, b - float(self.centre @ w)
