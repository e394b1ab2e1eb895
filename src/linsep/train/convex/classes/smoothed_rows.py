"""Rows under the smoothed loss of Crammer and Singer's machine: sums, gradients, products with H.

    φ(z) = max over p in Δ of ⟨p, z⟩ − (ε/2)‖p − c‖²,   Δ = {p ≥ 0, Σ pₖ = 1}
    F(W) = Σ Uᵢφᵢ(zᵢ),   ∇F = −Σ Aᵢx̃ᵢᵀ,   Aᵢ = Uᵢ(e_yᵢ − pᵢ)
    HQ = Σ (Uᵢ/ε) Mᵢ(Qx̃ᵢ)x̃ᵢᵀ,   M = the projection onto {v : Σ vₖ = 0, vₖ = 0 where pₖ = 0}

The largest is reached at p, the projection of c + z/ε onto Δ, which is the gradient of φ. Products
with H are over the few classes of a row with pₖ > 0, two as a rule; rows with one such class have
M = 0 and do not count. Parts are fixed by the shape, and added along a fixed tree.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg as sl

from linsep.data.blocks.blocks import spans
from linsep.kernels import crammer_singer as kernels
from linsep.parallel import Pool
from linsep.train.convex.classes.joint_problem import JointProblem
from linsep.train.convex.parts.conjugate_gradients import Product
from linsep.train.convex.sampling import scattered

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PART = 4096  # rows whose sums one thread makes
PARTS = 8  # parts of products with H, which are of the size of all weights
FEWEST, PER_FEATURE = 1024, 6  # rows that a factor is made of, at least, and for each feature
TINY = 1e-12  # of the largest entry: what a factor adds to its diagonal


class Bounds(NamedTuple):
    """Σ U max z, Σ A_y, Σ U⟨p, z⟩, Σ U‖p − c‖², and Σ Aᵢx̃ᵢᵀ, (K, d + 1)."""

    charge: float
    away: float
    mean: float
    moved: float
    V: Floats


class SmoothedRows:
    """Labelled rows at some weights.

    Parameters
    ----------
    problem : dense rows, all of which count
    pool : threads; they change no byte
    real : the type that rows are multiplied in

    Attributes
    ----------
    S, dS, P, centre : scores, how they change along a step, multipliers p and c, (n, K)
    rows : those with several classes above zero
    curved : U/ε of these
    """

    def __init__(self, problem: JointProblem, pool: Pool, real: Any) -> None:
        self.problem, self.pool, self.real = problem, pool, np.dtype(real)
        (n, self.d), self.K = problem.X.shape, problem.n_classes
        self.S, self.dS, self.P, self.centre = np.zeros((4, n, self.K))
        self._spans = spans(n, PART)

    def x(self, some: Any) -> Array:
        """Some rows in the type that they are multiplied in."""
        return np.asarray(self.problem.X[some], self.real)

    def scores(self, W: Floats, S: Floats) -> None:
        """S ← ⟨wₖ, x̃ᵢ⟩"""
        U, b = W[:, :-1].T.astype(self.real), W[:, -1]

        def one(span: tuple[int, int]) -> None:
            np.add(self.x(slice(*span)) @ U, b, out=S[slice(*span)])

        self.pool.map(one, self._spans)

    def moments(self) -> Floats:
        """Σ Uᵢx̃ᵢⱼ² of each feature, and Σ Uᵢ."""

        def one(span: tuple[int, int]) -> Floats:
            x, U = self.x(slice(*span)), self.problem.caps[slice(*span)]
            return np.append(U.astype(self.real) @ (x * x), U.sum())

        return self.pool.sum(one, self._spans)

    def evaluate(self, epsilon: float, t: float = 0.0) -> Bounds:
        """Go t along dS; the projections there and what they add up to."""
        problem, K = self.problem, self.K

        def one(span: tuple[int, int]) -> Floats:
            some, sums = slice(*span), np.empty(4)
            codes, caps, P = problem.codes[some], problem.caps[some], self.P[some]
            S, dS, centre = self.S[some], self.dS[some], self.centre[some]
            kernels.project(S, dS, t, centre, codes, caps, epsilon, P, sums)
            moving = np.flatnonzero(P[np.arange(len(P)), codes] < 1.0)
            A = -P[moving]
            A[np.arange(len(moving)), codes[moving]] += 1.0
            A *= caps[moving, None]
            V = np.empty((K, self.d + 1))
            V[:, :-1] = A.T.astype(self.real) @ self.x(span[0] + moving)
            V[:, -1] = A.sum(axis=0)
            return np.append(sums, V)

        sums = self.pool.sum(one, self._spans)
        counts = np.count_nonzero(self.P, axis=1)
        self.rows = np.flatnonzero(counts > 1)
        self._from = np.append(0, np.cumsum(counts[self.rows]))
        self._classes = np.nonzero(self.P[self.rows])[1].astype(np.int32)
        self.curved = problem.caps[self.rows] / epsilon
        charge, away, mean, moved = sums[:4].tolist()
        return Bounds(charge, away, mean, moved, sums[4:].reshape(K, self.d + 1))

    def along(self, epsilon: float, t: float) -> tuple[float, float]:
        """F and its derivative, t along dS."""
        problem = self.problem

        def one(span: tuple[int, int]) -> Floats:
            some, sums = slice(*span), np.empty(2)
            known = self.centre[some], problem.codes[some], problem.caps[some]
            kernels.along(self.S[some], self.dS[some], t, *known, epsilon, sums)
            return sums

        value, slope = self.pool.sum(one, self._spans).tolist()
        return value, slope

    def curve(self, Q: Floats) -> Floats:
        """HQ"""
        m = len(self.rows)
        if not m:
            return np.zeros_like(Q)
        q = np.ascontiguousarray(Q, self.real)

        def one(span: tuple[int, int]) -> Array:
            V, (first, last) = np.zeros_like(q), span
            lists = self.rows[first:last], self._from[first : last + 1], self._classes
            kernels.curve(self.problem.X, *lists, self.curved[first:last], q, V)
            return V.astype(np.float64, copy=False)

        return self.pool.sum(one, spans(m, -(-m // PARTS)))

    def inverse(self, ridge: Floats) -> Product:
        """(H + ridge)⁻¹ without what classes have in common, for weights (K, d + 1): from some of
        the rows, and averaged over the classes."""
        counts = np.count_nonzero(self.P[self.rows], axis=1)
        weight, some = self.curved * (counts - 1.0) / self.K, np.arange(len(self.rows))
        wanted = max(FEWEST, PER_FEATURE * self.d)
        if len(some) > 2 * wanted:
            some = scattered(len(some), wanted)
            weight = weight[some] * (len(self.rows) / len(some))
        x = self.x(self.rows[some])
        x = np.concatenate([x, np.full((len(x), 1), self.problem.intercept, x.dtype)], axis=1)
        H = np.asarray((x.T * weight.astype(x.dtype)) @ x, np.float64)
        H.flat[:: len(H) + 1] += ridge + TINY * (H.diagonal().max() + ridge.max())
        factor = sl.lapack.dpotrf(H.T, lower=1, overwrite_a=1)[0]

        def solve(G: Floats) -> Floats:
            return np.ascontiguousarray(sl.lapack.dpotrs(factor, G.T, lower=1)[0].T)

        return solve
