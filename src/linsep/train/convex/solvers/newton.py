"""Newton's method with the full Hessian, for two classes of rows of few features.

    P(w, b) = ½ Σ rⱼwⱼ² + Σ Uᵢ ℓ(zᵢ),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

A loss with a corner is rounded over a width h that falls as the gap does (Chapelle, *Training a
support vector machine in the primal*, 2007). Each step is one reading of the rows, for value,
gradient and Hessian at its end; where rows are many, samples of them, each some times as large as
the one before, are solved first: the optimum of m sampled rows errs by about d/m of the objective.

The multipliers α = −Uℓ′ of a point, those of the heavier class shrunk until Σ αᵢyᵢ = 0, bound the
optimum from below. So does what a step s foretells: with α̂ = α − D∘dz, Newton's equations say
Σ α̂ᵢyᵢxᵢ = r∘(w + s) and Σ α̂ᵢyᵢ = 0, a feasible point of the dual. What keeps P(w + s) and D(α̂)
apart is of third order in the step.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.kernels import factors
from linsep.parallel import Pool
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.designs.design import ALONE
from linsep.train.convex.drive import Candidate
from linsep.train.convex.parts.margin_sums import MarginSums, Sums
from linsep.train.convex.problem import Problem
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FEWEST, PER_FEATURE, GROWTH = 512, 20, 16  # rows of the first sample; how much larger each next is
WORTH, LARGEST = 4, 1 << 20  # times as many rows, from which a sample pays; entries of one
SAMPLED, ERROR = 20, 0.25  # steps with a sample, and part of d/m that is worth having of it
NEAR = 20.0  # times that from which a step is sure to lead there
WIDTH, WARM = 2.0, 0.1  # of a rounded corner at first, and at weights to begin from
NARROWING, LEAST = 0.4, 1e-7  # part of a width that the next one is, at least; the last width
COMPILED = 64  # equations up to which our own factorisation is as quick as the library's
PATIENCE = 30  # steps that may fail to halve the gap
BALANCED = 1e-9  # of Σ α: what Σ αy may be where it should be zero
TELLING = 4.0  # a step foretells the end where its decrement, to the power 3/2, is so many gaps
HALVES, QUARTERS = 0.5 ** np.arange(0.0, 5.0), 0.25 ** np.arange(1.0, 5.0)
ROUNDS = 8  # of looks at slopes at such parts of a step


class Point(NamedTuple):
    """Where the rows were read.

    Attributes
    ----------
    u : weights and intercept
    h : width of the rounded corner; 0 where there is none
    value, primal : the objective with the smooth loss, and as it is meant
    sums : what the rows say
    """

    u: Floats
    h: float
    value: float
    primal: float
    sums: Sums


class Bound(NamedTuple):
    """The highest bound from below, and whose multipliers give it: those of a point with a share
    for either class, or those that the step from it to `to` foretold."""

    value: float
    u: Floats
    h: float
    shares: Floats
    to: Floats | None = None
    known: Array | None = None


class Newton:
    """Newton's steps as a solver.

    Parameters
    ----------
    problem : of two classes, with a penalty
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    alpha : multipliers of the rows, if any are known
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        problem: Problem,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
        alpha: Array | None = None,
    ) -> None:
        self.problem, self._start, self._alpha = problem, start, alpha
        alone = problem.design.entries <= ALONE
        self.pool = Pool(n_jobs, most=1 if alone else None, products=not alone)
        self._ridge, self.n_iter = problem.ridge, 0
        self._sums = MarginSums(problem, self.pool)
        self._at: Point | None = None
        self._low: Point | None = None
        self._high: Bound | None = None
        self._halved, self._since = math.inf, 0

    def candidates(self) -> Iterator[Candidate]:
        """A point, and one after each step."""
        if self._at is None:
            self._begin()
            self.n_iter = 1
        yield self._candidate
        while self._since <= PATIENCE and self._step():
            yield self._candidate

    @property
    def _candidate(self) -> Candidate:
        assert self._low is not None and self._high is not None
        return Candidate(self.n_iter, self._low.primal, self._high.value, self.problem.design.n)

    def _begin(self) -> None:
        problem, h = self.problem, WIDTH if self.problem.loss.kinked else 0.0
        if self._start is not None:
            u, h = problem.inside(*self._start), min(h, WARM)
        else:
            u, h = self._by_samples(h)
        self._arrive(self._look(u, h))
        if self._alpha is not None:
            value = self._sums.bound(self._alpha, self._ridge)
            if self._high is None or value > self._high.value:
                self._high = Bound(value, u, h, np.ones(2), None, self._alpha)

    def _by_samples(self, h: float) -> tuple[Floats, float]:
        """Where samples of the rows lead, and how wide a corner they needed."""
        problem, n, size = self.problem, self.problem.design.n, self.problem.size
        u, m = np.zeros(size), max(FEWEST, PER_FEATURE * size)
        u[-1] = self._odds()
        while n >= WORTH * m and m * size <= LARGEST:
            some = scattered(n, m)
            run = Newton(problem.of_rows(some, n / len(some)), 1)
            run._arrive(run._look(u, h))
            for _ in range(SAMPLED):
                if not run._step(ERROR * size / len(some)):
                    break
            assert run._at is not None
            u, h, m = run._at.u, run._at.h, m * GROWTH
        return u, h

    def _odds(self) -> float:
        """The intercept to begin with: the log-odds of the classes, for a smooth loss."""
        problem = self.problem
        if not problem.intercept or problem.loss.kinked:
            return 0.0
        up = problem.y > 0
        if len(problem.weights) == 1:
            share = float(np.count_nonzero(up)) / len(up)
        else:
            share = float(problem.weights @ up) / float(problem.weights.sum())
        return math.log(share / (1.0 - share)) if 0.0 < share < 1.0 else 0.0

    def _loss(self, h: float) -> Any:
        loss = self.problem.loss
        return loss.rounded(h) if loss.kinked else loss

    def _look(self, u: Floats, h: float, before: Point | None = None) -> Point:
        """Read the rows at u; for no Hessian where the step from `before` may be the last one."""
        sums = self._sums.at(u, self._loss(h), before is None, None if before is None else before.u)
        ridge = 0.5 * float(self._ridge @ (u * u))
        return Point(u, h, ridge + sums.smooth, ridge + sums.meant, sums)

    def _arrive(self, p: Point) -> None:
        """Go on from p: bounds from both sides."""
        self._at = p
        if self._low is None or p.primal < self._low.primal:
            self._low = p
        self._bound(p)
        gap = self._candidate.gap
        self._halved, self._since = (
            (gap, 0) if gap <= 0.5 * self._halved else (self._halved, self._since + 1)
        )

    def _bound(self, p: Point) -> None:
        """The bound that the multipliers of p give, those of the heavier class shrunk."""
        weight, v, shares = p.sums.weight, p.sums.v, np.ones(2)
        if self.problem.intercept and weight.max() > 0.0:
            shares[int(weight.argmax())] = weight.min() / weight.max()
        pull, ridge = (shares @ v)[:-1], self._ridge[:-1]
        held = ridge > 0.0
        bound = float(shares @ p.sums.dual)  # E(rα) ≥ rE(α)
        bound -= 0.5 * float(pull[held] @ (pull[held] / ridge[held]))
        if pull[~held].any():
            bound = -math.inf
        if self._high is None or bound > self._high.value:
            self._high = Bound(max(0.0, bound), p.u, p.h, shares if bound > 0.0 else np.zeros(2))

    def _foretell(self, p: Point, q: Point) -> None:
        """The bound that the multipliers after a whole step from p give, were P quadratic."""
        terms, off, total = q.sums.foretold.tolist()
        bound = terms - 0.5 * float(self._ridge @ (q.u * q.u))
        balanced = not self.problem.intercept or abs(off) <= BALANCED * total
        assert self._high is not None
        if balanced and bound > self._high.value:
            self._high = Bound(bound, p.u, p.h, np.ones(2), q.u)

    def _gradient(self, p: Point) -> Floats:
        gradient = self._ridge * p.u - p.sums.v[0] - p.sums.v[1]
        if not self.problem.intercept:
            gradient[-1] = 0.0
        if not (math.isfinite(p.value) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        return gradient

    def _direction(self, p: Point, gradient: Floats) -> Floats:
        """Newton's step."""
        H = p.sums.hessian.copy()
        H.flat[:: len(H) + 1] += self._ridge
        if not self.problem.intercept:
            H[-1] = H[:, -1] = 0.0
            H[-1, -1] = 1.0
        step = np.empty(len(H))
        gain = -1.0
        if len(H) <= COMPILED:
            gain = factors.solve(H, -gradient, np.empty((len(H) + 1, len(H))), step)
        if not 0.0 <= gain < math.inf:
            step = -Curvature(H).solve(gradient)
        return step

    def _step(self, coarse: float = 0.0) -> bool:
        """A step, and what it foretells; False where none succeeds, or P is within `coarse`."""
        p = self._at
        assert p is not None
        if not p.sums.hessian.size:
            self._at = p = self._look(p.u, p.h)
        gradient = self._gradient(p)
        step = self._direction(p, gradient)
        decrement2 = -float(gradient @ step)
        if not 0.0 <= decrement2 < math.inf:
            return False
        if max(_corner(p), 0.5 * decrement2) <= coarse * p.primal:
            return False
        if decrement2 <= NEAR * coarse * p.primal and not p.h:
            self._at = p._replace(u=p.u + step)  # good enough unseen
            return False
        goal = max(self.tol, coarse) * p.primal
        h = self._narrower(p, decrement2, goal)
        if h < LEAST and p.h:
            return False
        telling = decrement2 * math.sqrt(decrement2) <= TELLING * goal * math.sqrt(p.primal)
        q = self._look(p.u + step, h, p if telling and h == p.h else None)
        whole = h != p.h or q.value <= p.value - 1e-4 * decrement2 + 4e-15 * p.value
        if not whole:
            q = self._look(p.u + self._length(p, step) * step, h)
            if not q.value < p.value:
                return False
        self.n_iter += 1
        if whole and telling and h == p.h:
            self._foretell(p, q)
        if h != p.h:
            self._since = 0
        self._arrive(q)
        return True

    def _narrower(self, p: Point, decrement2: float, goal: float) -> float:
        """The width to go on with: less where it is the corner that holds the gap up."""
        corner = _corner(p)
        if not p.h or corner <= max(goal, 10.0 * decrement2):
            return p.h
        return p.h * min(0.7, max(NARROWING, math.sqrt(0.5 * goal / corner)))

    def _length(self, p: Point, step: Floats) -> float:
        """The t < 1 at which P(p + t·step) is about smallest: where its slope in t changes sign."""
        a, b = float(self._ridge @ (p.u * step)), float(self._ridge @ (step * step))
        high, low, best = 1.0, 0.0, 1.0
        t, along = HALVES, self._sums.line(p.u, p.u + step, self._loss(p.h))
        for _ in range(ROUNDS):
            slopes = along(t)
            slope, bend = a + t * b + slopes[:, 0], b + slopes[:, 1]
            uphill = t[slope > 0.0]
            downhill = t[slope <= 0.0]
            high, low = min(high, *uphill, 1.0), max(low, *downhill[downhill < high], 0.0)
            k = int(np.abs(t - (low or high)).argmin())
            best = float(np.clip(t[k] - slope[k] / bend[k], low, high))
            if low > 0.5 * high:
                break
            t = np.linspace(low, high, 6)[1:-1] if low else high * QUARTERS
        return best if best > 0.0 else 0.5 * high

    def interrupted(self) -> None:
        if self._at is None:
            self._arrive(self._look(np.zeros(self.problem.size), WIDTH))

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once: there is no other way here."""

    def state(self) -> dict[str, Any]:
        """Points, not what rows said of them: they are read again."""
        assert self._at is not None and self._low is not None
        points = [[p.u, p.h] for p in (self._at, self._low)]
        bound = list(self._high or ())
        return {"points": points, "bound": bound, "trend": [self._halved, self._since, self.n_iter]}

    def restore(self, state: dict[str, Any]) -> None:
        self._low, self._at = (self._look(u, h) for u, h in reversed(state["points"]))
        self._high = Bound(*state["bound"])
        self._halved, self._since, self.n_iter = state["trend"]

    def solution(self) -> Solution:
        low, high = self._low, self._high
        assert low is not None and high is not None
        if high.known is not None:
            alpha = high.known
        elif high.to is None:
            alpha = self._sums.multipliers(high.u, self._loss(high.h), high.shares)
        else:
            alpha = self._sums.foretold(high.u, high.to, self._loss(high.h))
        w, b = self.problem.outside(low.u)
        gap = max(0.0, low.primal - high.value)
        return Solution(w, b, alpha, low.primal, high.value, gap, max(1, self.n_iter))


def _corner(p: Point) -> float:
    """Σ Uℓ(z) + αz less the dual terms: what is left of the gap once the gradient is zero."""
    return p.sums.meant + p.sums.pull - float(p.sums.dual.sum())
