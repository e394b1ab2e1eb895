"""Newton's method with the full Hessian for multinomial problems with few parameters.

    H = Σ cᵢ (diag pᵢ − pᵢpᵢᵀ) ⊗ x̃ᵢx̃ᵢᵀ + ridge,   x̃ = (x, 1)

Adding one vector to all classes' weights changes no probability, and a penalty wants the mean of
the classes' weights to be zero. So it is zero from the start, and that direction is filled in: it
is neither a step nor a singularity, however weak the penalty.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.status import Status
from linsep.train.convex.curvature import Curvature, at_rounding, decrease_left
from linsep.train.convex.softmax.problem import Objective, Point
from linsep.train.run.loop import UNCOUNTED, Listener, Pass

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def few_parameters(d: int, n_classes: int, unpenalised: bool = False) -> bool:
    """Whether the full Hessian is of a size to factor; nothing else serves without a penalty."""
    return n_classes * (d + 1) <= (3000 if unpenalised else 800)


class Inverse:
    """H⁻¹ at the biases' best, for the rows and probabilities an objective saw last."""

    def __init__(self, objective: Objective) -> None:
        H = hessian(objective)
        self.curvature = Curvature(H)
        self._intercept = objective.fit_intercept
        shape = objective.sums.n_classes, objective.sums.blocks.n_features + 1
        mixed = H.reshape(shape * 2)[:, -1]  # ∂²F/∂b ∂(W, b)
        self._follow = np.tensordot(np.linalg.pinv(mixed[:, :, -1]), mixed[:, :, :-1], 1)

    def __call__(self, G: Floats) -> Floats:
        """The change of W that Newton's method answers to the gradient G with."""
        step = self.curvature.solve(_flat(G, np.zeros(len(G))))
        return _unflat(step, len(G), self._intercept)[0]

    def bias(self, change: Floats) -> Floats:
        """How the best biases follow a small change of W."""
        return -np.tensordot(self._follow, change, 2)


def by_newton(
    full: Objective,
    p: Point,
    tol: float,
    max_iter: int,
    passes: int,
    listener: Listener | None,
) -> tuple[Point, float, int, Status]:
    """From p, after some passes: the point reached, what is left, passes, and how it ended."""
    b, before, fell = p.b.astype(np.float64), math.inf, math.inf
    p = full.point(p.W - p.W.mean(axis=0), p.b)
    while True:
        full.value(p.W, p.b)
        g = _flat(p.gradient, np.zeros(len(b)))
        curvature = Curvature(hessian(full))
        step = curvature.solve(g)
        decrement2 = float(g @ step)
        gap, far = full.gap(p), True
        stuck = at_rounding(decrement2, before, p.value, fell)
        blind = curvature.overlooks(g)
        if decrement2 <= 1e-3 * p.value and (stuck or gap == math.inf) and not blind:
            radius2 = _widest(full, curvature.whiten())
            gap, far = min(gap, decrease_left(decrement2, radius2)), decrement2 * radius2 > 0.1
        status = _judge(p, gap, decrement2, stuck, tol)
        if status is None and not full.ridge.any():
            p, status = _if_it_runs_away(full, p, step, far)
        if status is None and passes >= max_iter:
            status = Status.budget
        if status is not None:
            return p, gap, passes, status
        before, t = decrement2, 1.0
        dW, db = _unflat(step, len(b), full.fit_intercept)
        dW, db = dW - dW.mean(axis=0), db - db.mean()
        while True:
            q = full.point(p.W - t * dW, p.b - t * db)
            passes += 1
            if q.value <= p.value - 1e-4 * t * decrement2 + 4e-15 * p.value:
                break
            t /= 2
            if t < 1e-9 or passes >= max_iter:
                if t < 1e-9 and not blind:  # no step lowers F by more than rounding raises it
                    bound = decrease_left(decrement2, _widest(full, curvature.whiten()))
                    gap = min(gap, bound)
                near = gap <= max(tol, 1e-11) * p.value
                return p, gap, passes, Status.converged if near else Status.budget
        fell, p = p.value - q.value, q
        if listener is not None and listener(Pass(passes, UNCOUNTED, 1, p.value)) is True:
            return p, gap, passes, Status.stopped


def _judge(p: Point, gap: float, decrement2: float, stuck: bool, tol: float) -> Status | None:
    if gap <= tol * p.value and (tol >= 1e-8 or decrement2 <= tol**2 * p.value):
        return Status.converged
    if stuck:  # the rest is rounding
        return Status.converged if gap <= max(tol, 1e-11) * p.value else Status.budget
    return None


def _if_it_runs_away(
    full: Objective, p: Point, step: Floats, far: bool
) -> tuple[Point, Status | None]:
    """Whether the losses fall for ever: p or the step puts every row on its own side."""
    if full.sums.margins(p.b)[0] > 0:
        return p, Status.no_optimum
    if not far:
        return p, None
    dW, db = _unflat(step, len(p.b), full.fit_intercept)
    full.sums.score(-dW)
    low, high = full.sums.margins(-db)
    if not (high > 0 and low >= -1e-9 * high):
        return p, None
    for t in 4.0 ** np.arange(20):
        q = full.point(p.W - t * dW, p.b - t * db)
        if full.sums.margins(q.b)[0] > 0 or low <= 0:
            return q, Status.no_optimum
    return q, Status.no_optimum


def _flat(W: Floats, b: Floats) -> Floats:
    return np.concatenate([W, b[:, None]], axis=1).ravel()


def _unflat(v: Floats, n_classes: int, fit_intercept: bool) -> tuple[Floats, Floats]:
    V = v.reshape(n_classes, -1)
    return V[:, :-1], V[:, -1] if fit_intercept else np.zeros(n_classes)


def _with_ones(X: Array, one: float) -> Array:
    return np.concatenate([X, np.full((len(X), 1), one, X.dtype)], axis=1)


def hessian(objective: Objective) -> Floats:
    """H where an objective was asked last, class by class, in each the features and the bias."""
    sums, blocks = objective.sums, objective.sums.blocks
    K, size = sums.n_classes, blocks.n_features + 1
    one = 1.0 if objective.fit_intercept else 0.0

    def part(k: int) -> Floats:
        start, stop = blocks.span(k)
        X = _with_ones(blocks.rows(slice(start, stop)), one).astype(np.float64, copy=False)
        c = sums.weights(k).astype(np.float64)
        P = sums.probabilities(k)
        p = P * np.sqrt(c)[:, None]
        T = (p[:, :, None] * X[:, None, :]).reshape(len(X), -1)  # √cᵢ (pᵢ ⊗ x̃ᵢ)
        H = -np.dot(T.T, T).reshape(K, size, K, size)
        rest = _rest(P)
        for i in range(K):  # p(1 − p), not p − p²: a row that is nearly decided counts a little
            A = X * np.sqrt(c * P[:, i] * rest[:, i])[:, None]
            H[i, :, i] = np.dot(A.T, A)
        return H

    H = sums.pool.sum(part, range(len(blocks)))
    each = np.arange(size)
    for i in range(K):
        H[i, each[:-1], i, each[:-1]] += objective.ridge
    filling = np.einsum("kiki->i", H) / K**2
    for i in range(K):
        for j in range(K):
            H[i, each, j, each] += filling
    return H.reshape(K * size, K * size)


def _rest(P: Array) -> Floats:
    """1 − p with all its digits: the sum of the other classes' probabilities.

    >>> _rest(np.array([[1.0, 1e-30, 2e-30]]))
    array([[3.e-30, 1.e+00, 1.e+00]])
    """
    P = P.astype(np.float64, copy=False)
    rest = np.zeros_like(P)
    rest[:, 1:] += np.cumsum(P[:, :-1], axis=1)
    rest[:, :-1] += np.cumsum(P[:, :0:-1], axis=1)[:, ::-1]
    return rest


def _widest(full: Objective, whiten: Floats) -> float:
    """A bound on the square of the largest change of a difference of scores per unit length."""
    sums, blocks = full.sums, full.sums.blocks
    one = 1.0 if full.fit_intercept else 0.0
    Q = whiten.reshape(sums.n_classes, blocks.n_features + 1, -1)
    Q = Q - Q.mean(axis=0)  # differences of scores do not see what all classes share

    def widest(k: int) -> float:
        X = _with_ones(blocks.rows(slice(*blocks.span(k))), one)[sums.weights(k) > 0]
        return max(float(np.square(X @ part).sum(axis=1).max(initial=0.0)) for part in Q)

    most = max(sums.pool.map(widest, range(len(blocks))))
    return 4 * most  # |sₖ − sₗ| ≤ 2 maxₖ |sₖ|
