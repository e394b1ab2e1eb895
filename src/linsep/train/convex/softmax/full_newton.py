"""Newton's method with the full Hessian for several classes of dense rows that are in memory.

    F(u) = ½ Σ ridge u² + Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ) = P / (C Σcᵢ),   s = ux̃,   x̃ = (x, 1)

A step costs one product for the Hessian (`linsep.train.convex.joint.class_hessian`), one for the
gradient, and one for how the scores change; a search along the line reads no row.

A step also foretells the probabilities. With p̂ = p + (diag p − ppᵀ)ds, Newton's equations say that
Σ cᵢ(e_y − p̂ᵢ) ⊗ x̃ᵢ = ridge (u + du): a feasible point of the dual. What keeps F(u + du) and D(p̂)
apart is of third order in the step, however weak the penalty, so that a run ends a step or two
earlier than by the probabilities of its last point.

Of many rows a sample gives the first point, with some rows of each class.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep.data.blocks.blocks import on_cluster
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import moderate
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate
from linsep.train.convex.joint.class_hessian import ClassHessian
from linsep.train.convex.sampling import scattered
from linsep.train.convex.sigmoid import exp_of_negative
from linsep.train.convex.softmax.descent import require_classes
from linsep.train.convex.softmax.sums import TOO_LARGE
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FINEST = 1e-7  # relative gap below which other solvers give more digits
WEIGHTS = 800  # in all classes together, up to which a matrix of their products is cheap
MOST = 1 << 22  # entries up to which rows are copied
CHUNK = 256
PARTS, MANY = 4, 1 << 16  # rows are cut in so many parts where rows times classes are many
ALONE = 1 << 21  # products of a Hessian up to which one thread does all
SAMPLED = 12  # steps with a sample, at most
PER_FEATURE, PER_WEIGHT, OF_CLASS = 40, 8, 16  # rows of a sample, at least, and of each class
WORTH = 4  # times as many rows, from which a sample pays
ERROR = 0.2  # of weights for each row of a sample, about which its solution errs
NEAR = 4.0  # times the gap asked for that a step may err by and foretell the end
PATIENCE = 30  # steps that may fail to halve the gap


def suits(X: Any, n_classes: int, C: float, tol: float) -> bool:
    """Whether weights are few enough for a matrix of their products, and rows for a copy."""
    if sp.issparse(X):
        return False
    few = n_classes * (X.shape[1] + 1) <= WEIGHTS and X.shape[0] * X.shape[1] <= MOST
    return few and X.shape[0] >= X.shape[1] and math.isfinite(C) and tol >= FINEST


class Problem:
    """Labelled rows, and what a point comes to.

    Parameters
    ----------
    Z : rows x̃
    codes, c : class number and weight of each row
    ridge : of every column of Z; the last may be zero
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

    def at(self, u: Floats, S: Floats, ds: Floats, t: float) -> tuple[float, Floats]:
        """F at u, where scores are S + t·ds, and cᵢpᵢₖ, (K, n)."""
        d = np.empty_like(S)
        given = S, ds, t, self.codes, self.c, d
        parts = zip(self._cuts, self._out, strict=True)
        self.pool.run(weigh, [(*given, *cut, out) for cut, out in parts])
        return 0.5 * float(np.vdot(u * self.ridge, u)) + float(self._out.sum()), d

    def step(self, u: Floats, d: Floats) -> tuple[Floats, float]:
        """Newton's step, and its decrement squared."""
        D = len(self.ridge)
        gradient = u * self.ridge + d @ self.Z - self._own
        H = self.hessian(d)
        if not np.isfinite(gradient).all():
            raise OverflowedError(TOO_LARGE)
        H.flat[:: len(H) + 1] += self._diagonal
        if self.free:  # one number more for all intercepts is the same model
            last = slice(D - 1, None, D)
            H[last, last] += np.trace(H[last, last]) / self.K**2
        du = -Curvature(H).solve(gradient.ravel()).reshape(u.shape)
        return du, -float(np.vdot(gradient, du))

    def foretold(self, d: Floats, ds: Floats) -> tuple[float, Floats]:
        """D(p̂) after a whole step, and cᵢp̂ᵢₖ: what would be negative is zero."""
        p = np.maximum(d * (1.0 + ds - np.einsum("ki,ki->i", d, ds) / self.c), 0.0)
        p *= self.c / p.sum(axis=0)
        v = (self._own - p @ self.Z)[:, : len(self.ridge) - self.free]
        entropy = float(np.vdot(p, np.log(np.where(p > 0.0, p, 1.0) / self.c)))
        return -entropy - 0.5 * float(np.vdot(v / self.ridge[: v.shape[1]], v)), p


class FullSoftmaxNewton:
    """The method as a solver.

    Parameters
    ----------
    X : checked array
    codes : class number of each row
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses, finite
    n_classes : how many classes there are
    fit_intercept : whether the biases are free; otherwise they are 0
    n_jobs : threads; never changes the bytes of the result
    start : (W, b) to start from

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [0.5]]), np.array([0, 1, 2, 1])
    >>> solution = drive(FullSoftmaxNewton(X, codes, None, 1.0, n_classes=3), Goal(1e-7))
    >>> solution.w.round(4).ravel(), solution.status.name
    (array([-0.599 , -0.1242,  0.7232]), 'converged')
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        codes: Array,
        weights: Floats | None,
        C: float,
        *,
        n_classes: int,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n, d = X.shape
        self._X, self._codes, self._K, self._free = X, codes, n_classes, bool(fit_intercept)
        total = float(n if weights is None else weights.sum())
        self._unit = C * total
        self._c = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, float) / total
        small = n * (n_classes * d) ** 2 <= ALONE
        self.pool = Pool(n_jobs, most=1 if small else None, products=not small)
        self._start, self.n_iter, self._restored = start, 0, False

    def _begin(self) -> None:
        few = self._X[0 : len(self._codes)] if on_cluster(self._X) else self._X  # to be fetched
        X, self._columns = moderate(np.asarray(few, np.float64), self._free)
        self._used = self._c > 0.0
        codes, c = self._codes, self._c
        if not self._used.all():
            X, codes, c = X[self._used], codes[self._used], c[self._used]
        n, d = X.shape
        Z = np.concatenate([X, np.ones((n, 1))], axis=1) if self._free else X
        scale = self._columns.scale.astype(np.float64)
        ridge = np.zeros(Z.shape[1])
        ridge[:d] = (scale**2 if scale.size else 1.0) / self._unit
        self._problem = Problem(Z, codes, c, ridge, self._K, self._free, self.pool)
        require_classes(self._problem.share, self._free)
        self._u = np.zeros((self._K, Z.shape[1]))
        if self._start is not None:
            W, b = self._columns.inside(np.asarray(self._start[0], np.float64), self._start[1])
            self._u[:, :d] = W - W.mean(axis=0)
            if self._free:
                self._u[:, -1] = b - np.mean(b)
        else:
            if self._free:
                self._u[:, -1] = np.log(self._problem.share)
                self._u[:, -1] -= self._u[:, -1].mean()
            self._by_sample()

    def _by_sample(self) -> None:
        """Where some rows of each class have their optimum, as far as they can know."""
        n, D = self._problem.Z.shape
        wanted = max(1024, PER_FEATURE * D, PER_WEIGHT * self._K * D)
        if n < WORTH * wanted:
            return
        u, whole = self._u, self._problem
        rows, weights = sample_of_classes(whole.codes, self._K, wanted)
        c = whole.c[rows] * weights
        given = whole.codes[rows], c / c.sum(), whole.ridge, self._K, self._free, self.pool
        some, error = Problem(whole.Z[rows], *given), ERROR * u.size / len(rows)
        S = u @ some.Z.T
        value, d = some.at(u, S, S, 0.0)
        for _ in range(SAMPLED):
            du, decrement2 = some.step(u, d)
            ds = du @ some.Z.T
            t, after, d = _search(some, u, S, du, ds, value, decrement2)
            if t == 0.0:
                break
            u, S, value = u + t * du, S + t * ds, after
            if t == 1.0 and 0.5 * decrement2 <= error * value:
                break
        self._u = u

    def candidates(self) -> Iterator[Candidate]:
        """Newton's steps, and what they foretell."""
        if not self._restored:
            self._begin()
            self._S = self._u @ self._problem.Z.T
            self._value, self._d = self._problem.at(self._u, self._S, self._S, 0.0)
            if not math.isfinite(self._value):
                raise OverflowedError(TOO_LARGE)
            self._dual: tuple[float, Floats] = 0.0, np.zeros(0)
            self._halved, self._since = math.inf, 0
            self.n_iter = 1
        while True:
            yield self._candidate()
            if self._since > PATIENCE or not self._step():
                return
            self.n_iter += 1

    def _candidate(self) -> Candidate:
        unit = self._unit
        return Candidate(self.n_iter, self._value * unit, self._dual[0] * unit, 1)

    def _step(self) -> bool:
        """One step; whether F fell."""
        problem, u, S, value, d = self._problem, self._u, self._S, self._value, self._d
        du, decrement2 = problem.step(u, d)
        ds = du @ problem.Z.T
        t, after, then = _search(problem, u, S, du, ds, value, decrement2)
        asked = self.tol * value
        if t == 1.0 and abs(after - value + 0.5 * decrement2) <= NEAR * asked:
            foretold = problem.foretold(d, ds)
            if foretold[0] > self._dual[0]:
                self._dual = foretold
        if t == 0.0:
            return False
        self._u, self._S, self._value, self._d = u + t * du, S + t * ds, after, then
        gap = after - self._dual[0]
        halved = gap <= 0.5 * self._halved
        self._halved, self._since = (gap, 0) if halved else (self._halved, self._since + 1)
        return True

    def state(self) -> dict[str, Any]:
        known = {"u": self._u, "S": self._S, "d": self._d, "value": self._value}
        seen = {"dual": self._dual, "halved": self._halved, "since": self._since}
        return {**known, **seen, "n_iter": self.n_iter}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = (np.zeros((self._K, self._X.shape[1])), np.zeros(self._K))
        self._begin()
        self._u, self._S, self._d, self._value = (state[k] for k in ("u", "S", "d", "value"))
        self._dual, self._halved, self._since = (state[k] for k in ("dual", "halved", "since"))
        self.n_iter, self._restored = state["n_iter"], True

    def interrupted(self) -> None:
        if not hasattr(self, "_dual"):
            self._start = self._start or (np.zeros((self._K, self._X.shape[1])), np.zeros(self._K))
            next(self.candidates())

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once."""

    def solution(self) -> Solution:
        d = self._X.shape[1]
        b = self._u[:, -1] if self._free else np.zeros(self._K)
        W, b = self._columns.outside(self._u[:, :d].copy(), b)
        b = b - b.mean() if self._free else np.zeros(self._K)
        bound, p = self._dual
        alpha = None
        if p.size:  # C c (e_y − p̂)
            problem = self._problem
            A = np.zeros((len(self._codes), self._K))
            A[self._used] = -self._unit * p.T
            A[np.flatnonzero(self._used), problem.codes] += self._unit * problem.c
            alpha = A
        primal, bound = self._value * self._unit, bound * self._unit
        gap = max(0.0, primal - bound)
        return Solution(W, b, alpha, primal, bound, gap, self.n_iter)


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


def _search(
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
