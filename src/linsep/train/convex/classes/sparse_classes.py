"""What L-BFGS asks of several classes of sparse rows: the scores of all rows are kept.

A search along a line reads no row: a step costs one product Xᵀ(·) and one X(·), which go through
the weights of all classes feature by feature. The intercepts are at their best for given W; then
the multipliers Uᵢ(e_y − pᵢ) are feasible in the dual and the gap is exactly ½‖∇_W P‖².

The best penalised weights are a combination of the rows, W = XᵀA, and steps stay there. Where rows
are fewer than half the features a vector is therefore kept as the pair (A, S = XXᵀA), K × n
numbers each, with ⟨W, W′⟩ = ⟨A, S′⟩. Otherwise it is the weights, and the first guess at the
Hessian its diagonal.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import softmax as kernels
from linsep.parallel import Pool
from linsep.train.convex.classes.class_sums import UNPENALISED, ClassProblem, ClassSums
from linsep.train.convex.intercept import best_class_intercepts
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FINE, COARSE = 1e-13, 1e-7  # of all weight, what a class may be out of balance: at the end, before


@record
class Point(NamedTuple):
    """A vector, F, its gradient, the part of F that is losses, scores and intercepts."""

    u: Floats
    value: float
    gradient: Floats
    loss: float
    S: Floats
    b: Floats


class SparseClasses:
    """The problem as products."""

    def __init__(self, problem: ClassProblem, pool: Pool) -> None:
        self.problem, self._sums, self.passes = problem, ClassSums(problem, pool), 0
        design, K = problem.design, problem.K
        self._ridge = float(problem.ridge[0])
        self._enough = COARSE if problem.penalised else FINE
        self.rows = problem.penalised and 2 * design.n < design.d
        share = 1.0 / K
        bend = share * (1.0 - share) * design.squares(problem.c, pool)[: design.d]
        ridge = self._ridge if problem.penalised else UNPENALISED * float(bend.mean())
        self._inverse = 1.0 / np.maximum(ridge + bend, 1e-300)[:, None]

    def _vector(self, R: Floats) -> Floats:
        """XᵀR"""
        W = self._sums.wide_sum(R)
        return np.stack([R, self._sums.wide_scores(W)]) if self.rows else W

    def dot(self, a: Floats, b: Floats) -> float:
        return float(np.vdot(a[0], b[1]) if self.rows else np.vdot(a, b))

    def _scores(self, v: Floats) -> Floats:
        return v[1] if self.rows else self._sums.wide_scores(v)

    def begin(self, start: tuple[Array, Array] | None, alpha: Array | None) -> Point:
        """Weights, or multipliers (n, K) of which they are made, to begin from."""
        problem, shape = self.problem, (2, self.problem.K, self.problem.design.n)
        at = problem.begin(start)
        b = at[:, -1] if problem.free else np.zeros(problem.K)
        if not self.rows:
            u = self._sums.wide(at[:, : problem.design.d])
        else:
            u = np.zeros(shape) if alpha is None else self._vector(np.ascontiguousarray(alpha.T))
        return self._whole(u, self._scores(u), b)

    def _whole(self, u: Floats, S: Floats, b: Floats) -> Point:
        """One product with all rows."""
        self.passes += 1
        loss, R, b = self._balanced(S, b, self._enough)
        gradient = self._vector(R)
        gradient += self._ridge * u
        value = loss + 0.5 * self._ridge * self.dot(u, u)
        return Point(u, value, gradient, loss, S, b)

    def _balanced(self, S: Floats, b: Floats, enough: float) -> tuple[float, Floats, Floats]:
        """The losses with the intercepts at their best, c(p − e_y), and these."""
        problem = self.problem
        loss, P, b = best_class_intercepts(S, problem.codes, problem.c, b, enough, problem.free)
        kernels.residuals(P, problem.codes, problem.c)
        return loss, P, b

    def guess(self, u: Floats, stage: int) -> None:
        """There is one guess at the Hessian."""

    def price(self, stage: int) -> float:
        return math.inf

    def inverse(self, p: Point, G: Floats) -> Floats:
        """About H⁻¹G"""
        return G / self._ridge if self.rows else G * self._inverse

    def search(self, p: Point, d: Floats, slope: float, first: bool) -> Point | None:
        """A point along d where the slope has fallen to a quarter; the line reads no rows."""
        ridge, T = self._ridge, self._scores(d)
        own, across = ridge * self.dot(d, d), ridge * self.dot(p.u, d)
        square = ridge * self.dot(p.u, p.u)
        t, low, high = 1.0, 0.0, math.inf
        if first:  # the first guess itself: as long as its curvature says
            t = -slope / (own + 0.5 * float(self.problem.c @ np.einsum("ki,ki->i", T, T)))
        best, least = 0.0, p.value
        for _ in range(25):
            loss, R, _ = self._balanced(p.S + t * T, p.b, self._enough)
            here = loss + 0.5 * (square + 2.0 * t * across + t * t * own)
            if here < least:
                best, least = t, here
            now = across + t * own + float(np.vdot(R, T))
            if abs(now) <= 0.25 * abs(slope) and here < p.value:
                break
            low, high = (low, t) if now > 0.0 else (t, high)
            t = 2.0 * t if high == math.inf else 0.5 * (low + high)
        if best == 0.0:
            return None
        return self._whole(p.u + best * d, p.S + best * T, p.b)

    def bound(self, p: Point) -> float:
        """What F − min F is at most."""
        return 0.5 * self.dot(p.gradient, p.gradient) / self._ridge

    def answer(self, p: Point) -> tuple[Floats, Floats, float, float, Any]:
        """Weights, intercepts, F and what it is at most above the least, counted anew from the rows
        and the weights; and what to begin from."""
        sums = self._sums
        W = sums.wide_sum(p.u[0]) if self.rows else p.u
        loss, R, b = self._balanced(sums.wide_scores(W), p.b, FINE)
        value, gap = loss + 0.5 * self._ridge * float(np.vdot(W, W)), math.inf
        if self.problem.penalised:
            left = self._ridge * W + sums.wide_sum(R)
            gap = 0.5 * float(np.vdot(left, left)) / self._ridge
        W = np.ascontiguousarray(W[:, : self.problem.K].T)
        return W, b, value, gap, p.u[0].T if self.rows else None
