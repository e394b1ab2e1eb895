"""Approximate inverse Hessians: from past steps (limited-memory BFGS) and from chosen rows."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._scipy import linalg as sl
from linsep.data.blocks.blocks import on_cluster
from linsep.parallel import Pool
from linsep.train.convex.sampling import draw

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Memory:
    """The last pairs (s, y) of a step and the change of the gradient along it.

    `apply` corrects an approximate inverse Hessian by them: exact along the remembered steps,
    unchanged elsewhere (Nocedal and Wright, *Numerical Optimization*, algorithm 7.4).

    Attributes
    ----------
    pairs : (s, y, 1/⟨s, y⟩) of each, the latest last

    Examples
    --------
    >>> memory = Memory(5)
    >>> memory.add(np.array([1.0, 0.0]), np.array([4.0, 0.0]))  # the curvature there is 4
    >>> memory.apply(np.array([8.0, 3.0]), lambda g: g)
    array([2., 3.])
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.pairs: list[tuple[Floats, Floats, float]] = []

    def __len__(self) -> int:
        return len(self.pairs)

    def clear(self) -> None:
        """Forget all pairs."""
        self.pairs.clear()

    def add(self, s: Floats, y: Floats) -> None:
        """Remember a pair, unless rounding has hidden its curvature."""
        curvature = float(np.vdot(s, y))
        if curvature > 1e-12 * math.sqrt(float(np.vdot(s, s)) * float(np.vdot(y, y))):
            self.pairs.append((s, y, 1 / curvature))
            del self.pairs[: -self.size]

    def apply(self, g: Floats, inverse: Callable[[Floats], Any]) -> Floats:
        """An approximation of H⁻¹g, starting from `inverse`."""
        q, taken = g.copy(), []
        for s, y, rho in reversed(self.pairs):
            alpha = rho * float(np.vdot(s, q))
            taken.append(alpha)
            q -= alpha * y
        r: Floats = np.asarray(inverse(q))
        for (s, y, rho), alpha in zip(self.pairs, reversed(taken), strict=True):
            r = r + (alpha - rho * float(np.vdot(y, r))) * s
        return r


class Preconditioner:
    """The inverse of each class's own block of the Hessian, from rows that matter most to it.

        Hₖ = ridge + Σ cᵢ pᵢₖ(1 − pᵢₖ) (xᵢ − mₖ)(xᵢ − mₖ)ᵀ,   mₖ the mean under these weights

    (the mean is what a free bias takes up). Rows are drawn with chances proportional to their
    weight in the sum. With fewer rows than features the inverse goes through the rows (Woodbury).

    Parameters
    ----------
    X : rows, (n, d), or what gives rows by their numbers
    P : probabilities, (n, K)
    c : weight of each row, (n,)
    ridge : penalty of each feature, (d,), positive
    wanted : rows for each class
    shared : whether one block, with the mean of the weights, serves all classes
    diagonal : Σ cᵢ pᵢₖ(1 − pᵢₖ) xᵢⱼ² over all rows, (K, d) or (1, d), where X is a sample of them:
        features that the sample has missed count as much as they should
    """

    def __init__(
        self,
        X: Any,
        P: Array,
        c: Floats,
        ridge: Floats,
        wanted: int,
        pool: Pool,
        *,
        centre: bool,
        shared: bool,
        diagonal: Floats | None = None,
    ) -> None:
        self.pool = pool
        self.classes = P.shape[1]
        if shared:
            undecided = 1.0 - np.einsum("ik,ik->i", P, P).astype(np.float64)  # Σₖ p(1 − p)
            weights = (c * undecided / self.classes)[:, None]
        else:
            weights = (P * (1 - P)).astype(np.float64) * c[:, None]

        def one(k: int) -> _Block:
            known = None if diagonal is None else diagonal[min(k, len(diagonal) - 1)]
            return _Block(X, weights[:, k], ridge, wanted, k, centre, known)

        each = range(weights.shape[1])
        far = on_cluster(getattr(X, "X", X))  # drawn rows are brought here
        self._blocks = [one(k) for k in each] if far else pool.map(one, each)

    def __call__(self, G: Floats) -> Floats:
        """H⁻¹G, class by class."""
        if len(self._blocks) == 1:
            return self._blocks[0].solve(G)
        halves = np.array_split(np.arange(self.classes), min(self.pool.size, self.classes))

        def some(ks: Array) -> list[Floats]:
            return [self._blocks[k].solve(G[k : k + 1]) for k in ks]

        return np.concatenate([row for part in self.pool.map(some, halves) for row in part])

    @property
    def centres(self) -> Floats:
        """mₖ, (K, d), or (1, d) where one block serves all classes."""
        return np.array([block.centre for block in self._blocks])

    def bias(self, change: Floats) -> Floats:
        """About how the best biases follow a change of W: they keep the scores of the centres."""
        return -(self.centres * change).sum(axis=1)


class _Block:
    """(R² + BᵀB)⁻¹ with R diagonal, written R⁻¹(1 + AᵀA)⁻¹R⁻¹ with A = BR⁻¹."""

    def __init__(
        self,
        X: Any,
        weights: Floats,
        ridge: Floats,
        wanted: int,
        seed: int,
        centre: bool,
        diagonal: Floats | None,
    ) -> None:
        total = float(weights.sum())
        chance = np.minimum(1.0, weights * (wanted / total if total > 0 else 0.0))
        for _ in range(2):
            if chance.any():
                chance = np.minimum(1.0, chance * (wanted / float(chance.sum())))
        rows = draw(chance, seed)
        w = weights[rows] / chance[rows]
        A = X[rows]
        self.centre = np.zeros(A.shape[1])
        if diagonal is not None:
            squares = np.einsum("i,ij,ij->j", w.astype(A.dtype), A, A)
            ridge = ridge + np.maximum(0.0, diagonal - 1.05 * squares)
        root = np.sqrt(ridge)
        if centre and len(rows):
            self.centre = (w @ A) / w.sum()
            A = A - self.centre.astype(A.dtype)
        A = (A * np.sqrt(w)[:, None].astype(A.dtype)) / root.astype(A.dtype)
        self._inverse_root = 1 / root
        self._rows = A if len(A) < A.shape[1] else None
        square = np.dot(A.T, A) if self._rows is None else np.dot(A, A.T)
        if float(square.diagonal().max(initial=0.0)) > 1e4:
            square = square.astype(np.float64)
        # the share of the largest entries that rounding may have taken away is put back
        square.flat[:: len(square) + 1] += 1 + 1e-6 * square.diagonal().max(initial=0.0)
        potrf = sl.get_lapack_funcs("potrf", (square,))
        self._factor = potrf(square.T, lower=True, overwrite_a=True, clean=False)[0]
        self._trsv, self._trsm = sl.get_blas_funcs(("trsv", "trsm"), (self._factor,))

    def solve(self, G: Floats) -> Floats:
        """Rows of G through the inverse."""
        right = (G * self._inverse_root).astype(self._factor.dtype)
        if self._rows is None:
            out = self._through(right)
        elif len(self._rows):
            out = right - self._through(right @ self._rows.T) @ self._rows
        else:
            out = right
        return out.astype(np.float64) * self._inverse_root

    def _through(self, right: Array) -> Array:
        """Rows through the factor; for a single one there is a much faster way."""
        if len(right) == 1:
            half = self._trsv(self._factor, right[0], lower=1)
            return np.asarray(self._trsv(self._factor, half, lower=1, trans=1))[None]
        half = self._trsm(1.0, self._factor, right.T, lower=1)
        return np.asarray(self._trsm(1.0, self._factor, half, lower=1, trans_a=1)).T
