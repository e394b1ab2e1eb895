"""Newton's method by conjugate gradients, for two classes of rows of many features.

    P(w, b) = ½ Σ rⱼwⱼ² + Σ Uᵢ ℓ(zᵢ),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

A step solves Hs = −∇P for H = R + Σ Dᵢx̃ᵢx̃ᵢᵀ, Dᵢ = Uᵢℓ″(zᵢ), only as far as it is worth (Lin, Weng
and Keerthi, *Trust region Newton method for logistic regression*, 2008), by products with the rows:
no matrix of products of features is made, so that features may be many and rows sparse. What makes
the products few is the `preconditioner`. A step is taken whole, or as far as P falls along it.
Where steps of the hinges fail again and again, they are those of a model that knows where rows turn
(`near_kinks`).

A loss with a corner is rounded over a width h that falls as the gap does (Chapelle, *Training a
support vector machine in the primal*, 2007). The multipliers α = −Uℓ′ of each point, those of the
heavier class shrunk until Σ αᵢyᵢ = 0, bound the optimum from below.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate
from linsep.train.convex.parts.conjugate_gradients import conjugate_gradients
from linsep.train.convex.parts.curved_sums import CurvedSums
from linsep.train.convex.parts.near_kinks import pieces, settle
from linsep.train.convex.parts.preconditioner import Preconditioner
from linsep.train.convex.problem import Problem
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FORCING = 0.1  # part of the gradient that a step may leave
AIM, FINEST = 0.3, 1e-10  # part of the gap asked for that the last step aims at; its residual
KEPT = 0.1  # of what a step foretells: so near to it P is as good as quadratic
WIDTH = 2.0  # of a rounded corner at first: all rows at zero lie in it
NARROWING, LEAST = 0.25, 1e-7  # part of a width that the next one is, at least; the last width
SHORTENED, FACTORS = 4, 7  # products of shortening a step; factors of H in settling one
TURNING, ROOM = 2.0, 1 << 26  # times a step whose rows may turn; bytes of those rows, at most
PATIENCE = 60  # steps with one width that may fail to halve the gap
ALONE = 1 << 17  # entries up to which one thread does all


class Point(NamedTuple):
    """Where the rows were looked at.

    Attributes
    ----------
    u, h : weights and intercept, and the width of the rounded corner
    value, primal : the objective with the smooth loss, and as it is meant
    gradient : of the smooth one
    dual, shares : a bound on the optimum, and what makes the multipliers of either class feasible
    corner : what is left of the gap once the gradient is zero
    curved : rows with ℓ″ ≠ 0
    """

    u: Floats
    h: float
    value: float
    primal: float
    gradient: Floats
    dual: float
    shares: Floats
    corner: float
    curved: int


class NewtonCG:
    """Truncated Newton steps as a solver.

    Parameters
    ----------
    problem : of two classes, with a penalty
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    patience : products that may fail to halve the gap
    """

    name = "newton_cg"
    tol = 1e-4

    def __init__(
        self,
        problem: Problem,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
        patience: float = math.inf,
    ) -> None:
        self.problem, self._start, self._patience = problem, start, patience
        self.pool = Pool(n_jobs, most=1 if problem.design.entries <= ALONE else None)
        self._ridge, self.n_iter = problem.ridge, 1
        self._sums = CurvedSums(problem, self.pool)
        self._inverse = Preconditioner(problem, self._sums)
        self._made: tuple[Floats, float] | None = None  # where the preconditioner was
        self._at: Point | None = None
        self._low: tuple[float, Floats] = (math.inf, np.empty(0))  # the lowest P, and where
        self._high: tuple[float, Floats, float, Floats] | None = None  # bound, where, h, shares
        self._halved, self._since, self._products = math.inf, 0, 0
        self._lost, self._settling = 0.0, False  # products of steps that failed; and no more
        self._left = math.inf  # by which P is still higher than the last step foretold
        self._used, self._foretold = 0, False  # by the last step, and whether P fell as it said

    def candidates(self) -> Iterator[Candidate]:
        """A point, and one after each step."""
        if self._at is None:
            u = np.zeros(self.problem.size)
            if self._start is not None:
                u = self.problem.inside(*self._start)
            self._arrive(self._look(u, WIDTH if self.problem.loss.kinked else 0.0))
        yield self._candidate
        while self._since <= PATIENCE and self._products <= self._patience and self._step():
            yield self._candidate

    @property
    def _candidate(self) -> Candidate:
        assert self._at is not None and self._high is not None
        return Candidate(self.n_iter, self._low[0], self._high[0], self._at.curved)

    def _loss(self, h: float) -> Any:
        loss = self.problem.loss
        return loss.rounded(h) if loss.kinked else loss

    def _look(self, u: Floats, h: float) -> Point:
        """P, its gradient and a bound on the optimum at u."""
        s = self._sums.look(u, self._loss(h))
        ridge = 0.5 * float(self._ridge @ (u * u))
        gradient = self._ridge * u - s.v[0] - s.v[1]
        if not (math.isfinite(s.smooth + ridge) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        shares = np.ones(2)
        if not self.problem.intercept:
            gradient[-1] = 0.0
        elif s.weight.max() > 0.0:
            shares[int(s.weight.argmax())] = s.weight.min() / s.weight.max()
        pull, bends = (shares @ s.v)[:-1], self._ridge[:-1]
        held = bends > 0.0
        bound = float(shares @ s.dual) - 0.5 * float(pull[held] @ (pull[held] / bends[held]))
        if pull[~held].any():
            bound = -math.inf
        if not bound > 0.0:
            bound, shares = 0.0, np.zeros(2)
        corner = s.meant + s.pull - float(s.dual.sum())
        return Point(
            u, h, ridge + s.smooth, ridge + s.meant, gradient, bound, shares, corner, s.curved
        )

    def _arrive(self, p: Point) -> None:
        """Go on from p: bounds from both sides."""
        self._at = p
        if p.primal < self._low[0]:
            self._low = p.primal, p.u
        if self._high is None or p.dual > self._high[0]:
            self._high = p.dual, p.u, p.h, p.shares
        gap = self._low[0] - self._high[0]
        self._since += 1
        if gap <= 0.5 * self._halved:
            self._halved, self._since, self._products = gap, 0, 0

    def _step(self) -> bool:
        """A step; False where none succeeds."""
        p = self._at
        assert p is not None
        step, falls = self._settled(p) if self._settling else self._truncated(p)
        h = self._narrower(p, falls)
        if h < LEAST and p.h:
            return False
        q = self._look(p.u + step, h)
        if h == p.h and self._fails(p, q, falls):
            self._look(p.u, p.h)
            step, falls = self._settled(p)
            q = self._look(p.u + step, h)
        if h == p.h and not q.value <= p.value - 2e-4 * falls + 4e-15 * p.value:
            q = self._look(p.u + self._length(p, step) * step, h)
            if not q.value < p.value:
                return False
        self._left = q.value - p.value + falls if h == p.h else math.inf
        self._foretold = abs(self._left) < KEPT * falls
        if h != p.h:
            self._since = -1
        self.n_iter += 1
        self._arrive(q)
        return True

    def _fails(self, p: Point, q: Point, falls: float) -> bool:
        """Whether the step from p to q is the last that may fail before rows near their kinks are
        looked at: it needs H of all rows, and is worth it once failures cost as much."""
        kept = q.value <= p.value - 0.5 * falls
        if self._settling or kept or not self._inverse.rows or pieces(self._loss(p.h)) is None:
            return False
        self._lost += self._used + SHORTENED
        self._settling = self._lost >= self._inverse.price(p.curved + FACTORS * len(p.u))
        return self._settling

    def _settled(self, p: Point) -> tuple[Floats, float]:
        """The step of a model that knows where rows near their kinks turn, and its fall.

        None at all where the last one kept its word: then it is time for a narrower kink.
        """
        loss, left = pieces(self._loss(p.h)), max(0.0, self._left)
        if self._narrower(p, left) != p.h:
            return np.zeros_like(p.u), left
        assert loss is not None
        H = self._inverse.hessian(p.curved)
        self._products += int(self._inverse.price(p.curved))
        curvature = Curvature(H)
        step = -curvature.solve(p.gradient)
        if curvature.singular:
            return step, -0.5 * float(p.gradient @ step)
        near = self._sums.near(loss, step, TURNING, ROOM // (8 * len(H)))
        return settle(p.gradient, H, near, loss, step)

    def _truncated(self, p: Point) -> tuple[Any, float]:
        """Nearly H⁻¹(−∇P), and how far P falls if it is quadratic."""
        if self._inverse.prepare(p.curved, self._used):
            self._made = p.u, p.h
        left, gap = FORCING**2, p.primal - p.dual
        if self._foretold and gap > 0.0:  # P is as good as quadratic here: go all the way
            left = min(left, max(FINEST, AIM * self.tol * p.primal / gap))
        step, self._used = conjugate_gradients(
            self._product, self._inverse.solve, -p.gradient, left, self._inverse.longest
        )
        self._products += self._used
        return step, -0.5 * float(p.gradient @ step)

    def _product(self, v: Floats) -> Floats:
        """H v"""
        Hv = self._ridge * v + self._sums.curved(v)
        if not self.problem.intercept:
            Hv[-1] = 0.0
        return Hv

    def _narrower(self, p: Point, falls: float) -> float:
        """The width to go on with: less where it is the corner that holds the gap up."""
        if not p.h or p.corner <= max(self.tol * p.primal, 20.0 * falls):
            return p.h
        narrow = math.sqrt(0.5 * self.tol * p.primal / p.corner)
        return p.h * min(0.7, max(NARROWING, narrow))

    def _length(self, p: Point, step: Floats) -> float:
        """The t < 1 at which P(p + t·step) is about smallest."""
        a, b = float(self._ridge @ (p.u * step)), float(self._ridge @ (step * step))

        return self._sums.lowest(p.u, p.u + step, self._loss(p.h), a, b)

    def interrupted(self) -> None:
        if self._at is None:
            self._arrive(self._look(np.zeros(self.problem.size), WIDTH))

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once: there is no other way here."""

    def state(self) -> dict[str, Any]:
        """Points, not what rows said of them: they are looked at again."""
        assert self._at is not None
        inverse = [self._made, self._inverse.rows, self._inverse.age, self._inverse.single]
        numbers = [self._halved, self._since, self._products, self._used, self._foretold]
        numbers += [self._lost, self._settling, self._left, self.n_iter, self._inverse.longest]
        return {
            "at": [self._at.u, self._at.h], "low": self._low, "high": self._high,
            "inverse": inverse, "numbers": numbers,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        made, self._inverse.rows, age, self._inverse.single = state["inverse"]
        if made is not None:
            self._made = made[0], made[1]
            self._look(*self._made)
            self._inverse.make()
        self._inverse.age = age
        self._at = self._look(*state["at"])  # the last: products are with its curvatures
        self._low, self._high = tuple(state["low"]), tuple(state["high"])
        self._halved, self._since, self._products, *more = state["numbers"]
        self._used, self._foretold, self._lost, self._settling, *more = more
        self._left, self.n_iter, self._inverse.longest = more

    def solution(self) -> Solution:
        assert self._high is not None
        (primal, u), (dual, at, h, shares) = self._low, self._high
        alpha = self._sums.multipliers(at, self._loss(h), shares)
        w, b = self.problem.outside(u)
        return Solution(w, b, alpha, primal, dual, max(0.0, primal - dual), self.n_iter)
