"""Logistic regression with many classes on sparse rows fewer than features, in the space of rows.

    P(W, b) = ½‖W‖² + C Σ cᵢ (−log softmax of the own class at xᵢᵀW + b)

The best weights are a combination of the rows, W = XᵀA, and every step of a quasi-Newton method
that begins there stays there. So a vector of the method is kept as the pair (A, S = XXᵀA), n × K
numbers each, where W has d × K: inner products are ⟨W, W′⟩ = ⟨A, S′⟩, and a search along a line
reads no row at all. One product with XXᵀ for each step is all the work; it goes through the
weights of all classes feature by feature, so that a visit to an entry serves every class.

With the biases at their best for given W, the multipliers Ccᵢ(e_y − pᵢ) are feasible in the dual
and the gap is exactly ½‖∇_W P‖². At the end it is computed anew from the rows and the weights.
Without biases a few passes of descent on the dual are quicker
(`linsep.train.convex.softmax.dual_descent`).
"""

from collections import deque
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.parallel import Pool
from linsep.rows.rows import aligned, scores
from linsep.status import Status
from linsep.train.convex.dual.design import Design
from linsep.train.convex.dual.kernels import inner
from linsep.train.convex.softmax import dual_descent
from linsep.train.convex.softmax.dual_descent import add_classes
from linsep.train.convex.solution import Solution
from linsep.train.run.loop import UNCOUNTED, Listener, Pass

Floats = npt.NDArray[np.float64]

PAIRS = 10  # past steps that tell of the curvature
PARTS = 2  # the rows are cut in so many, whatever the threads
LARGEST = 1 << 27  # numbers in the weights of all parts, at most


def suits(X: Any, n_classes: int) -> bool:
    """Whether the space of rows is the smaller one, and the weights fit in memory twice."""
    n, d = X.shape
    few = 2 * X.nnz <= n * d
    return few and n < d and PARTS * d * (n_classes + 4) <= LARGEST


class Vector(NamedTuple):
    """Weights W = XᵀA, kept as A and the scores S = XW."""

    A: Floats
    S: Floats

    def dot(self, other: "Vector") -> float:
        """⟨W, W′⟩"""
        return inner(self.A.reshape(-1), other.S.reshape(-1))

    def plus(self, t: float, other: "Vector") -> "Vector":
        """W + tW′"""
        return Vector(self.A + t * other.A, self.S + t * other.S)


class Products:
    """XᵀA and XW, all classes at a visit."""

    def __init__(self, X: Any, n_classes: int, pool: Pool) -> None:
        self.design = Design(X, False, pool)
        self.rows, self.pool, self.K = self.design.rows, pool, n_classes
        self.n, self.d = X.shape
        self.width = -(-n_classes // 4) * 4
        self.parts = [aligned((self.d, self.width), np.float64) for _ in range(PARTS)]
        cuts = [self.n * k // PARTS for k in range(PARTS + 1)]
        self.spans = list(pairwise(cuts))

    def weights(self, A: Floats) -> Floats:
        """XᵀA, feature-major and filled up; valid until the next call."""
        A = self._wide(A)
        parts = zip(self.parts, self.spans, strict=True)
        self.pool.run(_gather, [(self.rows, A, W, *span) for W, span in parts])
        half = self.d // 2
        pair = (self.parts[0], self.parts[1])
        self.pool.run(_merge, [(*pair, 0, half), (*pair, half, self.d)])
        return self.parts[0]

    def scores(self, W: Floats) -> Floats:
        """XW"""
        S = np.empty((self.n, self.width))
        self.pool.run(_scatter, [(self.rows, W, S, *span) for span in self.spans])
        return np.ascontiguousarray(S[:, : self.K])

    def vector(self, A: Floats) -> Vector:
        return Vector(A, self.scores(self.weights(A)))

    def _wide(self, A: Floats) -> Floats:
        wide = np.zeros((self.n, self.width))
        wide[:, : self.K] = A
        return wide


@kernel
def _gather(rows, A, W, start, stop):  # type: ignore[no-untyped-def]
    """W ← Σ xᵢaᵢᵀ over a part of the rows."""
    W[:] = 0.0
    for i in range(start, stop):
        add_classes(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], W, A[i])


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


class _Losses:
    """Σ Ccᵢ ℓ of scores, with the biases at their best."""

    def __init__(self, codes: Any, caps: Floats, n_classes: int, free: bool, pool: Pool) -> None:
        self.codes, self.caps, self.free, self.pool = codes, caps, free, pool
        self.b = np.zeros(n_classes)
        self.counts = np.bincount(codes, caps, n_classes)
        cuts = [len(caps) * k // PARTS for k in range(PARTS + 1)]
        self.spans = list(pairwise(cuts))

    def at(self, S: Floats) -> tuple[float, Floats]:
        """The sum, and Cc(p − e_y), its derivatives in the scores."""
        R = np.empty_like(S)
        known = (S, self.codes, self.caps)
        before, lowest, step = self.b, np.inf, np.zeros(1)
        while True:
            parts = self.pool.run(_softmax, [(*known, self.b, R, *span) for span in self.spans])
            value = float(sum(parts))
            if value > lowest * (1.0 + 1e-14) and np.abs(step).max() > 1e-15:
                step = 0.5 * step  # too long: such steps may go round in circles
                self.b = before - step
                continue
            slope = R.sum(axis=0)
            if not self.free or np.abs(slope).max() <= 1e-13 * self.counts.sum():
                return value, R
            P = R / np.where(self.caps > 0.0, self.caps, 1.0)[:, None]
            P[np.arange(len(S)), self.codes] += 1.0
            H = np.diag(slope + self.counts) - P.T @ (self.caps[:, None] * P)
            step = np.clip(np.linalg.lstsq(H, slope, rcond=1e-12)[0], -5.0, 5.0)
            if np.abs(step).max() <= 1e-15 * (1.0 + np.abs(self.b).max()):
                return value, R
            before, lowest = self.b, value
            self.b = before - step
            self.b -= self.b.mean()


@kernel
def _softmax(S, codes, caps, b, R, start, stop):  # type: ignore[no-untyped-def]
    """Cc(p − e_y) of some rows into R; returns the sum of their losses."""
    total = 0.0
    K = S.shape[1]
    for i in range(start, stop):
        top = -np.inf
        for k in range(K):
            R[i, k] = S[i, k] + b[k]
            top = max(top, R[i, k])
        own = R[i, codes[i]]
        mass = 0.0
        for k in range(K):
            R[i, k] = np.exp(R[i, k] - top)
            mass += R[i, k]
        for k in range(K):
            R[i, k] *= caps[i] / mass
        R[i, codes[i]] -= caps[i]
        total += caps[i] * (np.log(mass) + top - own)
    return total


def fit_rows(
    X: Any,
    codes: Any,
    weights: Floats | None,
    C: float,
    *,
    n_classes: int,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    n_jobs: int | None = None,
    start: Floats | None = None,
    listeners: list[Listener] | None = None,
) -> Solution:
    """Minimise P to a relative gap of `tol`; arguments as of `linsep.train.convex.softmax.fit`.

    `start` is an A to begin from, as Ccᵢ(e_y − pᵢ) of a neighbouring problem. The number of threads
    changes no byte.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_matrix(np.eye(3, 5))
    >>> found = fit_rows(X, np.arange(3), None, 1.0, n_classes=3, fit_intercept=True, tol=1e-9,
    ...     max_iter=100)
    >>> found.w[:, :3].argmax(axis=1).tolist(), found.status.name
    ([0, 1, 2], 'converged')
    """
    caps = C * (np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64))
    with Pool(n_jobs) as pool:
        losses = _Losses(codes, caps, n_classes, fit_intercept, pool)
        products = Products(X, n_classes, pool)
        told = listeners or []
        run = _Run(products, losses, tol, max_iter, told)
        if start is not None:
            run.x = products.vector(np.ascontiguousarray(start, np.float64))
        try:
            bare = start is None and not fit_intercept and max_iter > 1
            if bare and dual_descent.suits(products, caps, tol):
                done = dual_descent.descend(products, codes, caps, tol, max_iter - 1, told)
                if done.status is not Status.budget:
                    return run.after(done)
                run.x, run.steps = Vector(done.A, done.S), done.passes
            status = run.descend()
        except KeyboardInterrupt:
            status = Status.interrupted
        return run.ending(status)


class _Run:
    """Limited-memory BFGS on pairs (A, S)."""

    def __init__(
        self, products: Products, losses: _Losses, tol: float, max_iter: int, listeners: Any
    ) -> None:
        self.products, self.losses, self.tol = products, losses, max(tol, 1e-13)
        self.max_iter, self.listeners = max_iter, listeners
        nothing = np.zeros((products.n, products.K))
        self.x = Vector(nothing, nothing)
        self.steps = 0
        self.memory: deque[tuple[Vector, Vector, float]] = deque(maxlen=PAIRS)

    def descend(self) -> Status:
        value, R = self._look(self.x)
        g = self._gradient(R)
        while True:
            self.steps += 1
            if 0.5 * g.dot(g) <= self.tol * value:
                return Status.converged
            asked = [one(Pass(self.steps, UNCOUNTED, 1, value)) is True for one in self.listeners]
            if any(asked) or self.steps >= self.max_iter:
                return Status.stopped if any(asked) else Status.budget
            direction = self._direction(g)
            t, value, R = self._search(direction, value, g)
            if t == 0.0:
                return Status.budget  # rounding hides what is left
            self.x = self.x.plus(t, direction)
            new = self._gradient(R)
            s, y = Vector(t * direction.A, t * direction.S), new.plus(-1.0, g)
            curvature = s.dot(y)
            if curvature > 1e-14 * s.dot(s):
                self.memory.append((s, y, curvature))
            g = new

    def _look(self, x: Vector) -> tuple[float, Floats]:
        value, R = self.losses.at(x.S)
        return value + 0.5 * x.dot(x), R

    def _gradient(self, R: Floats) -> Vector:
        """∇_W P = W + XᵀR"""
        return self.x.plus(1.0, self.products.vector(R))

    def _direction(self, g: Vector) -> Vector:
        """−H⁻¹g by the two loops of Nocedal and Wright, algorithm 7.4."""
        q, taken = g, []
        for s, y, curvature in reversed(self.memory):
            alpha = s.dot(q) / curvature
            taken.append(alpha)
            q = q.plus(-alpha, y)
        if self.memory:
            s, y, curvature = self.memory[-1]
            q = Vector(*(curvature / y.dot(y) * part for part in q))
        for (s, y, curvature), alpha in zip(self.memory, reversed(taken), strict=True):
            q = q.plus(alpha - y.dot(q) / curvature, s)
        return Vector(-q.A, -q.S)

    def _search(self, d: Vector, value: float, g: Vector) -> tuple[float, float, Floats]:
        """A step along d where the slope has fallen to a quarter; the convex line reads no rows."""
        slope = g.dot(d)
        own, across = d.dot(d), self.x.dot(d)
        t, low, high = 1.0, 0.0, np.inf
        if not self.memory:  # the gradient itself: as long as its curvature says
            t = -slope / (own + 0.5 * float(self.losses.caps @ (d.S * d.S).sum(axis=1)))
        best = (0.0, value, np.empty(0))
        for _ in range(25):
            loss, R = self.losses.at(self.x.S + t * d.S)
            here = loss + 0.5 * (self.x.dot(self.x) + 2.0 * t * across + t * t * own)
            if here < best[1]:
                best = (t, here, R)
            now = across + t * own + inner(R.reshape(-1), d.S.reshape(-1))
            if abs(now) <= 0.25 * abs(slope) and here < value:
                break
            low, high = (low, t) if now > 0.0 else (t, high)
            t = 2.0 * t if high == np.inf else 0.5 * (low + high)
        return best

    def after(self, done: dual_descent.Descent) -> Solution:
        """The end of a descent on the dual, which knows its gap."""
        relative = done.gap / done.primal if done.primal > 0 else 0.0
        W = self.products.design.features(done.W)[:, : self.products.K]
        W = np.ascontiguousarray(W.T)
        bounds = (done.primal, done.primal - done.gap, done.gap)
        message = f"{done.passes} passes, relative gap {relative:.1e}."
        return Solution(W, self.losses.b, done.A, *bounds, done.passes, done.status, message)

    def ending(self, status: Status) -> Solution:
        """The weights, and the gap computed anew from the rows and from them."""
        products, losses = self.products, self.losses
        W = products.weights(self.x.A).copy()
        S = products.scores(W)
        loss, R = losses.at(S)
        primal = 0.5 * inner(W.reshape(-1), W.reshape(-1)) + loss
        left = W + products.weights(R)
        gap = 0.5 * inner(left.reshape(-1), left.reshape(-1))
        relative = gap / primal if primal > 0 else 0.0
        if status is Status.budget and relative <= self.tol:
            status = Status.converged
        W = np.ascontiguousarray(products.design.features(W)[:, : products.K].T)
        return Solution(
            W, losses.b, None, primal, primal - gap, gap, self.steps, status,
            f"{self.steps} steps, relative gap {relative:.1e}.", start=self.x.A,
        )  # fmt: skip
