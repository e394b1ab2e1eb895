"""Weights of all classes on sparse rows, and the products with the rows that solvers take.

The best weights are a combination of the rows, W = XᵀA, and steps of a descent stay there. Where
rows are fewer than half the features a vector is therefore kept as the pair (A, S = XXᵀA), n × K
numbers each, with ⟨W, W′⟩ = ⟨A, S′⟩ (`RowSpace`). Otherwise it is the weights themselves, and the
first guess at the Hessian is its diagonal (`FeatureSpace`).
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.parallel import Pool
from linsep.rows.rows import add_all, aligned, scores
from linsep.train.convex.dual.design import Design
from linsep.train.convex.dual.kernels import inner

Floats = npt.NDArray[np.float64]

PARTS = 2  # the rows are cut in so many, whatever the threads


class Vector(NamedTuple):
    """Weights W: a pair whose inner products are ⟨a, s′⟩, the same array twice in feature space."""

    a: Floats
    s: Floats

    def dot(self, other: "Vector") -> float:
        """⟨W, W′⟩"""
        return inner(self.a.reshape(-1), other.s.reshape(-1))

    def times(self, t: float) -> "Vector":
        """tW"""
        a = t * self.a
        return Vector(a, a if self.s is self.a else t * self.s)

    def plus(self, t: float, other: "Vector") -> "Vector":
        """W + tW′"""
        a = self.a + t * other.a
        return Vector(a, a if self.s is self.a else self.s + t * other.s)


class Products:
    """XᵀA and XW, all classes at a visit."""

    def __init__(self, X: Any, n_classes: int, pool: Pool) -> None:
        self.design = Design(X, False, pool)
        self.rows, self.pool, self.K = self.design.rows, pool, n_classes
        self.n, self.d = X.shape
        self.width = -(-n_classes // 4) * 4
        cuts = [self.n * k // PARTS for k in range(PARTS + 1)]
        self.spans = list(pairwise(cuts))

    def weights(self, A: Floats) -> Floats:
        """XᵀA, feature-major and filled up."""
        wide = np.zeros((self.n, self.width))
        wide[:, : self.K] = A
        parts = [aligned((self.d, self.width), np.float64) for _ in self.spans]
        spans = zip(parts, self.spans, strict=True)
        self.pool.run(_gather, [(self.rows, wide, W, *span) for W, span in spans])
        half = self.d // 2
        self.pool.run(_merge, [(*parts, 0, half), (*parts, half, self.d)])
        return parts[0]

    def scores(self, W: Floats) -> Floats:
        """XW"""
        S = np.empty((self.n, self.width))
        self.pool.run(_scatter, [(self.rows, W, S, *span) for span in self.spans])
        return np.ascontiguousarray(S[:, : self.K])

    def inside(self, W: Floats) -> Floats:
        """Weights (K, d) as products take them."""
        wide = aligned((self.d, self.width), np.float64)
        numbers = self.design.features(np.arange(self.d))
        wide[numbers, : self.K] = W.T
        return wide

    def outside(self, W: Floats) -> Floats:
        """Weights (K, d) in the order of the features."""
        return np.ascontiguousarray(self.design.features(W)[:, : self.K].T)


@kernel
def _gather(rows, A, W, start, stop):  # type: ignore[no-untyped-def]
    """W ← Σ xᵢaᵢᵀ over a part of the rows."""
    for i in range(start, stop):
        add_all(rows, i, A[i], W)


@kernel
def _merge(W, V, start, stop):  # type: ignore[no-untyped-def]
    for j in range(start, stop):
        for k in range(W.shape[1]):
            W[j, k] += V[j, k]


@kernel
def _scatter(rows, W, S, start, stop):  # type: ignore[no-untyped-def]
    """sᵢ ← xᵢᵀW for a part of the rows."""
    for i in range(start, stop):
        scores(rows, i, W, S[i])


@kernel
def _squares(rows, caps, out):  # type: ignore[no-untyped-def]
    """Σ Uᵢxᵢⱼ² of every feature."""
    for i in range(len(caps)):
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            out[rows.indices[e]] += caps[i] * rows.data[e] * rows.data[e]


class RowSpace:
    """Vectors as combinations of the rows."""

    def __init__(self, products: Products, caps: Floats) -> None:
        self.products = products
        self.size = 2 * products.n * products.K

    def begin(self, A: Floats | None, W: Floats | None) -> Vector:
        nothing = np.zeros((self.products.n, self.products.K))
        return Vector(nothing, nothing.copy()) if A is None else self._of(A)

    def _of(self, A: Floats) -> Vector:
        return Vector(A, self.products.scores(self.products.weights(A)))

    def gradient(self, x: Vector, R: Floats) -> Vector:
        """∇_W P = W + XᵀR"""
        return x.plus(1.0, self._of(R))

    def scores(self, v: Vector) -> Floats:
        return v.s

    def guess(self, v: Vector) -> Vector:
        """A first guess at H⁻¹v."""
        return v

    def weights(self, v: Vector) -> Floats:
        return self.products.weights(v.a)

    def thawed(self, a: Floats, s: Floats | None) -> Vector:
        assert s is not None
        return Vector(a, s)


class FeatureSpace:
    """Vectors as weights, (d, K) filled up."""

    def __init__(self, products: Products, caps: Floats) -> None:
        self.products = products
        self.size = products.d * products.width
        bent = np.zeros(products.d)
        _squares(products.rows, caps, bent)
        share = 1.0 / products.K
        self._inverse = (1.0 / (1.0 + share * (1.0 - share) * bent))[:, None]

    def begin(self, A: Floats | None, W: Floats | None) -> Vector:
        nothing = aligned((self.products.d, self.products.width), np.float64)
        return self._of(nothing if W is None else self.products.inside(W))

    def _of(self, W: Floats) -> Vector:
        return Vector(W, W)

    def gradient(self, x: Vector, R: Floats) -> Vector:
        """∇_W P = W + XᵀR"""
        G = self.products.weights(R)
        G += x.a
        return self._of(G)

    def scores(self, v: Vector) -> Floats:
        return self.products.scores(v.a)

    def guess(self, v: Vector) -> Vector:
        """A first guess at H⁻¹v."""
        return self._of(v.a * self._inverse)

    def weights(self, v: Vector) -> Floats:
        return v.a

    def thawed(self, a: Floats, s: Floats | None) -> Vector:
        return self._of(a)
