"""F of several classes over dense rows, its Newton step and bound, from scores that are kept.

    F(u) = ½ Σ ridge u² + Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ) = P / (C Σcᵢ),   s = ux̃,   x̃ = (x, 1)

A step foretells the probabilities. With p̂ = p + (diag p − ppᵀ)ds, Newton's equations say that
Σ cᵢ(e_y − p̂ᵢ) ⊗ x̃ᵢ = ridge (u + du): a feasible point of the dual. What keeps F(u + du) and D(p̂)
apart is of third order in the step, however weak the penalty. Without a penalty there is no dual,
and the decrement bounds what is left (`linsep.train.convex.curvature`).

Adding one vector to all classes' weights changes no probability. That direction is filled in where
the penalty does not: it is neither a step nor a singularity.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep._exponentials import exp_of_negative
from linsep.data.blocks.blocks import BLOCK, spans
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import TOO_LARGE
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.parts.class_hessian import ClassHessian
from linsep.train.convex.sampling import scattered

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CHUNK = 256
PARTS, MANY = 4, 1 << 16  # rows are cut in so many parts where rows times classes are many
MIXED = 4.0  # of the objective, what a share of probabilities that is mixed costs, about
ROUNDED = 1e-12  # share that rounding may move
OF_CLASS = 16  # rows of each class that a sample has at least
WEAK = 1e-7  # of the curvature in a column: a ridge below this does not keep it from singular


def extended(X: Array, free: bool) -> Floats:
    """(x, 1), or x where there is no intercept."""
    X = np.asarray(X, np.float64)
    return np.concatenate([X, np.ones((len(X), 1))], axis=1) if free else X


class Problem:
    """Labelled rows, and what a point comes to.

    Parameters
    ----------
    Z : rows x̃
    codes, c : class number and weight of each row
    ridge : of every column of Z; the last may be zero, or all of them
    free : whether that one is an intercept
    """

    def __init__(
        self, Z: Floats, codes: Array, c: Floats, ridge: Floats, K: int, free: bool, pool: Pool
    ) -> None:
        n = len(Z)
        self.Z, self.codes, self.c, self.ridge = Z, codes.astype(np.int64), c, ridge
        self.K, self.free, self.pool = K, free, pool
        self.hessian = ClassHessian(Z, K, False, pool)
        own = np.zeros((K, n))
        own[self.codes, np.arange(n)] = c
        self.share, self._own = own.sum(axis=1), own @ Z
        cuts = [n * k // PARTS for k in range(PARTS + 1)] if n * K > MANY else [0, n]
        self._cuts = list(pairwise(cuts))
        self._out = np.zeros((len(self._cuts), 1))
        self._diagonal = np.tile(ridge, K)

    def rows(self, which: Array) -> Floats:
        """Some rows x̃."""
        return self.Z[which]

    def scores(self, u: Floats) -> Floats:
        """ux̃ of all rows, (K, n)."""
        return np.asarray(u @ self.Z.T)

    def at(self, u: Floats, S: Floats, ds: Floats, t: float) -> tuple[float, Floats]:
        """F at u, where scores are S + t·ds, and cᵢpᵢₖ, (K, n)."""
        d = np.empty_like(S)
        given = S, ds, t, self.codes, self.c, d
        parts = zip(self._cuts, self._out, strict=True)
        self.pool.run(weigh, [(*given, *cut, out) for cut, out in parts])
        return 0.5 * float(np.vdot(u * self.ridge, u)) + float(self._out.sum()), d

    def step(self, u: Floats, d: Floats) -> tuple[Floats, float]:
        """Newton's step, and its decrement squared."""
        return self._step(u, u * self.ridge + d @ self.Z - self._own, self.hessian(d))

    def _step(self, u: Floats, gradient: Floats, H: Floats) -> tuple[Floats, float]:
        if not np.isfinite(gradient).all():
            raise OverflowedError(TOO_LARGE)
        H.flat[:: len(H) + 1] += self._diagonal
        self._fill_in(H)
        self.gradient, self.curvature = gradient, Curvature(H)
        du = -self.curvature.solve(gradient.ravel()).reshape(u.shape)
        return du, -float(np.vdot(gradient, du))

    def _fill_in(self, H: Floats) -> None:
        """Curvature where one number more for all classes is the same model."""
        D = len(self.ridge)
        curved = H.diagonal().reshape(self.K, D).sum(axis=0)
        for j in np.flatnonzero(self.ridge * self.K <= WEAK * curved):
            same = slice(j, None, D)
            H[same, same] += np.trace(H[same, same]) / self.K**2

    def foretold(self, d: Floats, ds: Floats) -> tuple[float, Floats]:
        """D(p̂) after a whole step, and cᵢp̂ᵢₖ."""
        p, entropy = foretold_shares(d, ds, self.c)
        return self._dual(self._own - p @ self.Z, entropy), p

    def _dual(self, v: Floats, entropy: float) -> float:
        """D of probabilities with Σ c p log p and Σ c(e_y − p)x̃ᵀ, less what it costs to mix them
        until no class has more than its share."""
        w = v[:, : len(self.ridge) - self.free]
        penalty, over = 0.5 * float(np.vdot(w / self.ridge[: w.shape[1]], w)), 0.0
        if self.free:
            taken = np.maximum(self.share - v[:, -1], 1e-300)
            over = max(0.0, float((-v[:, -1] / taken).max()))
        return -entropy - penalty - (MIXED * over * (penalty - entropy) if over > ROUNDED else 0.0)

    def radius2(self) -> float:
        """A bound on the square of the largest change of a difference of scores per unit length,
        measured by the Hessian of the last step; infinite where that is blind along the gradient.
        """
        if self.curvature.overlooks(self.gradient.ravel()):
            return math.inf
        Q = self.curvature.whiten().reshape(self.K, len(self.ridge), -1)
        return 4 * self._widest(Q - Q.mean(axis=0))  # |sₖ − sₗ| ≤ 2 maxₖ |sₖ|

    def _widest(self, Q: Floats) -> float:
        """The largest ‖Qₖᵀx̃‖² of any row and class."""

        def widest(span: tuple[int, int]) -> float:
            return widest_of(self.Z[slice(*span)], Q)

        return max(self.pool.map(widest, spans(len(self.Z), BLOCK)))

    def margins(self, S: Floats) -> tuple[float, float]:
        """Smallest and largest sᵢ,yᵢ − sᵢₖ over other classes k."""
        return margins_of(S, self.codes)


def widest_of(Z: Floats, Q: Floats) -> float:
    """The largest ‖Qₖᵀx̃‖² of some rows."""
    return max(float(np.square(Z @ part).sum(axis=1).max(initial=0.0)) for part in Q)


def margins_of(S: Floats, codes: Array) -> tuple[float, float]:
    """Smallest and largest sᵢ,yᵢ − sᵢₖ of some rows.

    >>> margins_of(np.array([[5.0, 1.0], [3.0, 4.0], [4.5, 2.0]]), np.array([0, 1]))
    (0.5, 3.0)
    """
    rows, others = np.arange(S.shape[1]), S.copy()
    own = S[codes, rows]
    others[codes, rows] = -np.inf
    low = float((own - others.max(axis=0)).min(initial=np.inf))
    others[codes, rows] = np.inf
    return low, float((own - others.min(axis=0)).max(initial=-np.inf))


def foretold_shares(d: Floats, ds: Floats, c: Floats) -> tuple[Floats, float]:
    """cp̂ of some rows after a whole step, what would be negative being zero; and Σ c p̂ log p̂."""
    p = np.maximum(d * (1.0 + ds - np.einsum("ki,ki->i", d, ds) / c), 0.0)
    p *= c / p.sum(axis=0)
    return p, float(np.vdot(p, np.log(np.where(p > 0.0, p, 1.0) / c)))


def sample_of_classes(codes: Array, n_classes: int, wanted: int) -> tuple[Array, Floats]:
    """About `wanted` rows, some of each class, and how many rows each of them stands for.

    >>> rows, weights = sample_of_classes(np.array([0] * 90 + [1] * 10), 2, 20)
    >>> np.bincount(np.array([0] * 90 + [1] * 10)[rows], weights)
    array([90., 10.])
    """
    rows, weights = [], []
    for k in range(n_classes):
        own = np.flatnonzero(codes == k)
        m = max(OF_CLASS, wanted * len(own) // len(codes))
        own_rows = own if m >= len(own) else own[scattered(len(own), m)]
        rows.append(own_rows)
        weights.append(np.full(len(own_rows), len(own) / max(1, len(own_rows))))
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[order], np.concatenate(weights)[order]


def search(
    problem: Problem, u: Floats, S: Floats, du: Floats, ds: Floats, value: float, decrement2: float
) -> tuple[float, float, Floats]:
    """How far to go along a step, F there, and cp there; no step at all where F does not fall."""
    t, noise = 1.0, 4e-15 * abs(value)
    while t > 1e-6:
        after, d = problem.at(u + t * du, S, ds, t)
        if after <= value - 1e-4 * t * decrement2 + noise:
            return t, after, d
        slope = -decrement2
        if math.isfinite(after):
            t *= max(0.1, min(0.5, -0.5 * slope * t / (after - value - t * slope)))
        else:
            t *= 0.1
    return 0.0, value, np.empty(0)


@kernel
def weigh(S, ds, t, codes, c, d, first, last, out):  # type: ignore[no-untyped-def]
    """d ← cp at scores S + t·ds, and the sum of the losses into out"""
    K = S.shape[0]
    T, whole = np.empty((K, CHUNK)), np.empty(CHUNK, np.int64)
    power = whole.view(np.float64)
    top, total = np.empty(CHUNK), np.empty(CHUNK)
    loss = 0.0
    for start in range(first, last, CHUNK):
        m = min(CHUNK, last - start)
        for k in range(K):
            for i in range(m):
                T[k, i] = S[k, start + i] + t * ds[k, start + i]
        for i in range(m):
            top[i] = T[0, i]
            total[i] = 0.0
        for k in range(1, K):
            for i in range(m):
                top[i] = max(top[i], T[k, i])
        for k in range(K):
            for i in range(m):
                T[k, i] -= top[i]
        for i in range(m):
            loss -= c[start + i] * T[codes[start + i], i]
        for k in range(K):
            row = T[k, :m]
            exp_of_negative(row, whole, power)
            for i in range(m):
                total[i] += row[i]
        for i in range(m):
            loss += c[start + i] * np.log(total[i])
            total[i] = np.divide(c[start + i], total[i])
        for k in range(K):
            for i in range(m):
                d[k, start + i] = T[k, i] * total[i]
    out[0] = loss
