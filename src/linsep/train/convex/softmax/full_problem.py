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
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep._exponentials import exp_of_negative
from linsep.data.blocks.blocks import BLOCK, spans
from linsep.errors import OverflowedError
from linsep.parallel import Pool, add_up
from linsep.train.convex.coordinates import TOO_LARGE
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.joint.class_hessian import ClassHessian
from linsep.train.convex.sampling import scattered
from linsep.train.convex.softmax.newton_cg_step import newton_cg_step

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CHUNK = 256
PARTS, MANY = 4, 1 << 16  # rows are cut in so many parts where rows times classes are many
OF_CLASS = 16  # rows of each class that a sample has at least
BALANCED = 1e-10  # of what a class is foretold, what it may have more than its share
MISSED = 1.05  # times what a sample says of a column's curvature, from which on it missed some
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
        S = np.empty((self.K, len(self.Z)))

        def part(first: int, last: int) -> None:
            S[:, first:last] = u @ self.Z[first:last].T

        self.pool.run(part, self._cuts)
        return S

    def _over_rows(self, part: Callable[[int, int], Floats]) -> Floats:
        """The sum of what parts of the rows come to."""
        return add_up(np.array(self.pool.run(part, self._cuts)))

    def at(self, u: Floats, S: Floats, ds: Floats, t: float) -> tuple[float, Floats]:
        """F at u, where scores are S + t·ds, and cᵢpᵢₖ, (K, n)."""
        d = np.empty_like(S)
        given = S, ds, t, self.codes, self.c, d
        parts = zip(self._cuts, self._out, strict=True)
        self.pool.run(weigh, [(*given, *cut, out) for cut, out in parts])
        return 0.5 * float(np.vdot(u * self.ridge, u)) + float(self._out.sum()), d

    def step(self, u: Floats, d: Floats) -> tuple[Floats, float]:
        """Newton's step, and its decrement squared."""
        return self._step(u, self.slope(u, d), self.hessian(d))

    def slope(self, u: Floats, d: Floats) -> Floats:
        """The gradient of F."""
        taken = self._over_rows(lambda first, last: d[:, first:last] @ self.Z[first:last])
        return self._finite(u * self.ridge + taken - self._own)

    def product(self, d: Floats, v: Floats) -> Floats:
        """Hv"""

        def part(first: int, last: int) -> Floats:
            T = v @ self.Z[first:last].T
            bend(T, d, first)
            return T @ self.Z[first:last]

        return v * self.ridge + self._over_rows(part)

    def cg_step(
        self, u: Floats, d: Floats, nearby: Curvature, value: float, tol: float, most: int
    ) -> tuple[Floats, float] | None:
        """The same nearly, by at most so many products; see `newton_cg_step`."""
        given = partial(self.product, d), nearby, self.slope(u, d), self.ridge
        return newton_cg_step(*given, value=value, asked=tol * value, most=most)

    def diagonal(self, d: Floats) -> Floats:
        """The diagonal of the losses' Hessian, (K, D)."""

        def part(first: int, last: int) -> Floats:
            p = d[:, first:last]
            return p * (1.0 - p / self.c[first:last]) @ np.square(self.Z[first:last])

        return self._over_rows(part)

    def curvature_at(self, d: Floats, diagonal: Floats | None = None) -> Curvature:
        """H, its diagonal raised to another one, if any, where it is smaller."""
        H = self.hessian(d)
        if diagonal is not None:
            own = H.flat[:: len(H) + 1]
            H.flat[:: len(H) + 1] = np.maximum(own, diagonal.ravel() / MISSED)
        return self._curvature(H)

    def _curvature(self, H: Floats) -> Curvature:
        H.flat[:: len(H) + 1] += self._diagonal
        self._fill_in(H)
        return Curvature(H)

    def _finite(self, gradient: Floats) -> Floats:
        if not np.isfinite(gradient).all():
            raise OverflowedError(TOO_LARGE)
        return gradient

    def _step(self, u: Floats, gradient: Floats, H: Floats) -> tuple[Floats, float]:
        self.gradient, self.curvature = gradient, self._curvature(H)
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
        """D(p̂) after a whole step, and cᵢp̂ᵢₖ.

        Where p̂ gives a class more than its share, because some p̂ would be negative or Newton's
        equations are not quite solved, the biases make up for it; where they cannot, D is −∞.
        """
        shift, inverse, before = np.zeros(self.K), None, math.inf
        while True:
            entropy, taken, v, p = self._foretell(d, ds, shift)
            over = float(((taken - self.share) / np.maximum(taken, 1e-300)).max())
            if not self.free or over <= BALANCED:
                return self._dual(self._own - v, entropy), p
            if not over <= 0.5 * before:
                return -math.inf, p
            if inverse is None:
                inverse = np.linalg.pinv(self._by_biases(d), rcond=1e-12, hermitian=True)
            before, shift = over, shift + inverse @ (self.share - taken)

    def _foretell(
        self, d: Floats, ds: Floats, shift: Floats
    ) -> tuple[float, Floats, Floats, Floats]:
        """Σ c p̂ log p̂, Σ c p̂ and Σ c p̂x̃, and cp̂, with biases moved on by `shift`."""
        p = np.empty_like(d)

        def part(first: int, last: int) -> Floats:
            out = np.empty(1 + self.K)
            foretell(d, ds, shift, self.c, p, first, last, out)
            return np.concatenate([out, (p[:, first:last] @ self.Z[first:last]).ravel()])

        total = self._over_rows(part)
        return float(total[0]), *parted(total[1:], self.K), p

    def _by_biases(self, d: Floats) -> Floats:
        """How Σ cp grows with the biases, (K, K)."""

        def part(first: int, last: int) -> Floats:
            some = d[:, first:last]
            return np.diag(some.sum(axis=1)) - (some / self.c[first:last]) @ some.T

        return self._over_rows(part)

    def _dual(self, v: Floats, entropy: float) -> float:
        v = v[:, : len(self.ridge) - self.free]
        return -entropy - 0.5 * float(np.vdot(v / self.ridge[: v.shape[1]], v))

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


def parted(sums: Floats, K: int) -> tuple[Floats, Floats]:
    return sums[:K], sums[K:].reshape(K, -1)


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
def bend(T, d, first):  # type: ignore[no-untyped-def]
    """tₖᵢ ← dₖᵢ(tₖᵢ − Σₗ dₗᵢtₗᵢ / Σₗ dₗᵢ) for rows from `first` on"""
    K, n = T.shape
    total, mean = np.empty(CHUNK), np.empty(CHUNK)
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        for i in range(m):
            total[i] = mean[i] = 0.0
        for k in range(K):
            for i in range(m):
                total[i] += d[k, first + start + i]
                mean[i] += d[k, first + start + i] * T[k, start + i]
        for i in range(m):
            mean[i] = np.divide(mean[i], total[i])
        for k in range(K):
            for i in range(m):
                T[k, start + i] = d[k, first + start + i] * (T[k, start + i] - mean[i])


@kernel
def foretell(d, ds, shift, c, p, first, last, out):  # type: ignore[no-untyped-def]
    """p ← cp̂ after a whole step, what would be negative being zero; Σ c p̂ log p̂ and Σ cp̂"""
    K = d.shape[0]
    total, mean, inverse = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for k in range(K + 1):
        out[k] = 0.0
    for start in range(first, last, CHUNK):
        m = min(CHUNK, last - start)
        for i in range(m):
            total[i] = mean[i] = 0.0
            inverse[i] = np.divide(1.0, c[start + i])
        for k in range(K):
            for i in range(m):
                mean[i] += d[k, start + i] * (ds[k, start + i] + shift[k])
        for i in range(m):
            mean[i] *= inverse[i]
        for k in range(K):
            for i in range(m):
                grown = 1.0 + ds[k, start + i] + shift[k] - mean[i]
                p[k, start + i] = max(d[k, start + i] * grown, 0.0)
                total[i] += p[k, start + i]
        for i in range(m):
            total[i] = np.divide(c[start + i], total[i])
        for k in range(K):
            for i in range(m):
                p[k, start + i] *= total[i]
                out[1 + k] += p[k, start + i]
                if p[k, start + i] > 0.0:
                    out[0] += p[k, start + i] * np.log(p[k, start + i] * inverse[i])


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
