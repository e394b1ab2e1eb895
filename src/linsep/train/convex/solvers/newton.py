"""Newton's method with the full Hessian, for two classes of rows of few features.

    P(w, b) = ½ Σ rⱼwⱼ² + Σ Uᵢ ℓ(zᵢ),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

A loss with a corner is rounded over a width h that falls as the gap does (Chapelle, *Training a
support vector machine in the primal*, 2007). Each step is one reading of the rows, for value,
gradient and Hessian at its end; where rows are many, samples of them, each some times as large as
the one before, are solved first: the optimum of m sampled rows errs by about d/m of the objective.
Once few rows lie near the corner, the steps are made with these alone, and all rows are read again
only where they led; where a step goes wrong, its worst rows keep their losses (`kept_rows`).

What bounds the optimum from below is in `dual_bounds`. Without a penalty, and where many digits are
asked for, the run goes on until ‖s‖² by the Hessian is as small as the square of `tol`.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, OverflowedError
from linsep.kernels import factors
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import TOO_LARGE
from linsep.train.convex.curvature import Curvature, asked_for, at_rounding
from linsep.train.convex.designs.design import ALONE
from linsep.train.convex.drive import Candidate
from linsep.train.convex.parts.dual_bounds import (
    Bound,
    DualBounds,
    Point,
    Rest,
    nothing,
    rounded,
)
from linsep.train.convex.parts.kept_rows import PATIENCE, WORTH, KeepsRows
from linsep.train.convex.parts.margin_sums import MarginSums
from linsep.train.convex.problem import Problem
from linsep.train.convex.sampling import pick, scattered
from linsep.train.convex.solution import Solution, require_range

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FEWEST, PER_FEATURE, GROWTH = 512, 20, 16  # rows of the first sample; how much larger each next is
LARGEST = 1 << 20  # entries of a sample
MANY = 1 << 15  # rows from which those that are far from the others are looked for
SAMPLED, ERROR = 20, 0.25  # steps with a sample, and part of d/m that is worth having of it
NEAR = 20.0  # times that from which a step is sure to lead there
WIDTH, WARM = 2.0, 0.1  # of a rounded corner at first, and at weights to begin from
NARROWING, LEAST = 0.4, 1e-7  # part of a width that the next one is, at least; the last width
COMPILED = 64  # equations up to which our own factorisation is as quick as the library's
TELLING = 4.0  # a step foretells the end where its decrement, to the power 3/2, is so many gaps
HELD = 0.25  # part of its decrement that P has to fall by; otherwise the worst rows are kept
RETRIES = 3  # times that rows are added at a point
OFF = 0.05  # part of its decrement that a step errs by, from which rows are kept for the next
LARGE = 1 << 20  # entries from which steps are worth less than a model of few rows
MOVED = 0.3  # by which a step moves some score that runs away
FINE = 1e-7  # relative gap below which weights are asked for as many digits
ROUNDING = 1e-14  # of P, by which the last digits of weights may raise it
ROUNDED = 1e-11  # a relative gap this small is as good as any, once no step succeeds
HALVES, QUARTERS = 0.5 ** np.arange(0.0, 5.0), 0.25 ** np.arange(1.0, 5.0)
ROUNDS = 8  # of looks at slopes at such parts of a step
FLAT = 0.1  # of the slope at first, at which a line is as good as at its lowest
NONE = np.empty(0, np.int64)
CARRIED = (
    "n_iter", "_halved", "_since", "_reach", "_kept", "_digits", "_decrement2", "_before", "_fell",
    "_off",
)  # fmt: skip


class Newton(KeepsRows):
    """Newton's steps as a solver.

    Parameters
    ----------
    problem : of two classes
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    alpha : multipliers of the rows, if any are known
    rest : what stands for rows that are left out
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        problem: Problem,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
        alpha: Array | None = None,
        rest: Rest | None = None,
    ) -> None:
        self.problem, self._start, self._alpha = problem, start, alpha
        self._whole, self._rest = rest is None, rest or nothing(problem.size)
        self._n_jobs, alone = n_jobs, problem.design.entries <= ALONE
        self.pool = Pool(n_jobs, most=1 if alone else None, products=not alone)
        self._ridge, self.n_iter = problem.ridge, 0
        self._free = not self._ridge.any()
        self._bent = problem.loss.kinked or hasattr(problem.loss, "pieces")
        self._sums = MarginSums(problem, self.pool)
        self._at: Point | None = None
        self._low: Point | None = None
        self._bounds = DualBounds(problem, self._sums, whole=rest is None)
        self._halved, self._since = math.inf, 0
        self._reach = 0.0  # from the corner within which rows keep their losses, once they do
        self._kept: Array = NONE  # rows that keep their losses in every step
        self._digits = 0.0  # to which the weights are wanted, where they are
        self._decrement2 = math.inf  # at the lowest point
        self._before = self._fell = math.inf  # of the last step
        self._off = False  # whether it fell otherwise than a quadratic
        self._status = Status.budget
        self._aimed: tuple[Point, Floats, float] | None = None

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
        assert self._low is not None
        primal, dual = self._low.primal, self._bounds.high.value
        if self._digits and self._decrement2 > self._digits**2 * primal:
            dual = min(dual, primal * (1.0 - 2.0 * self.tol))
        return Candidate(self.n_iter, primal, dual, self.problem.design.n)

    def _begin(self) -> None:
        problem, h = self.problem, WIDTH if self.problem.loss.kinked else 0.0
        tol = asked_for(self.tol, math.inf if self._free else 1.0)
        self._digits = tol if tol < FINE and not problem.loss.kinked else 0.0
        odds, empty = self._without_weights()
        if self._start is not None:
            u, h = problem.inside(*self._start), min(h, WARM)
        else:
            u, h = self._by_samples(np.append(np.zeros(problem.size - 1), odds), h)
        p = self._look(u, h)
        if p.value > empty:  # no start is better than this one
            p = self._look(np.append(np.zeros(problem.size - 1), odds), h)
        self._arrive(p)
        if self._alpha is not None:
            value = self._sums.bound(self._alpha, self._ridge)
            self._bounds.raised(Bound(value, u, h, np.ones(2), known=self._alpha))

    def _by_samples(self, u: Floats, h: float) -> tuple[Floats, float]:
        """Where samples of the rows lead, and how wide a corner they needed."""
        problem, n, size = self.problem, self.problem.design.n, self.problem.size
        m = max(FEWEST, PER_FEATURE * size)
        while n >= WORTH * m and m * size <= LARGEST:
            last = n < WORTH * m * GROWTH or m * GROWTH * size > LARGEST
            if last and n >= MANY:
                some, chance = pick(problem.design, problem.weights, m, self.pool)
                run = Newton(problem.of_rows(some, 1.0 / chance), 1)
            else:
                some = scattered(n, m)
                run = Newton(problem.of_rows(some, n / len(some)), 1)
            run._arrive(run._look(u, h))
            for _ in range(SAMPLED):
                if not run._step(ERROR * size / len(some)):
                    break
            assert run._at is not None
            u, h, m = run._at.u, run._at.h, m * GROWTH
        return u, h

    def _without_weights(self) -> tuple[float, float]:
        """The intercept to begin with, the log-odds of the classes; and what P is there.

        Of a loss with a corner it is zero, and so wherever there are offsets.
        """
        problem, loss = self.problem, self.problem.loss
        if loss.kinked or problem.offset is not None:
            return 0.0, math.inf
        up, counted = problem.y > 0, len(problem.weights) == 1
        plus = problem.weights[0] * np.count_nonzero(up) if counted else problem.weights @ up
        total = problem.weights[0] * len(up) if counted else problem.weights.sum()
        plus, minus, b = float(plus), float(total - plus), 0.0
        if problem.intercept:
            if not 0.0 < plus < total and loss.slope(30.0) < 0.0:
                raise DataError(
                    f"all weight lies on one class ({plus / total:.0%} on +1); a separator needs "
                    "rows of both. Look at sample_weight and at the labels."
                )
            b = math.log(plus / minus) if 0.0 < plus < total else 0.0
        return b, plus * float(loss.value(b)) + minus * float(loss.value(-b))

    def _loss(self, h: float) -> Any:
        return rounded(self.problem.loss, h)

    def _look(self, u: Floats, h: float, before: Point | None = None, curved: bool = True) -> Point:
        """Read the rows at u, where a step from `before` led, if any; `curved` with a Hessian."""
        if not np.isfinite(u).all():
            raise OverflowedError(TOO_LARGE)
        sums = self._sums.at(u, self._loss(h), curved, None if before is None else before.u)
        rest = self._rest if self._whole else self._rest.moved(u)
        beside = 0.5 * float(self._ridge @ (u * u)) + rest.value
        return Point(u, h, beside + sums.smooth, beside + sums.meant, sums, rest)

    def _arrive(self, p: Point) -> None:
        """Go on from p: bounds from both sides."""
        self._at = p
        slack = ROUNDING if self._digits else 0.0
        if self._low is None or p.primal <= self._low.primal * (1.0 + slack):
            self._low, self._decrement2 = p, math.inf
            if self._digits:
                self._decrement2 = self._aim()[2]
        self._bounds.at(p)
        gap = self._low.primal - self._bounds.high.value
        self._halved, self._since = (
            (gap, 0) if gap <= 0.5 * self._halved else (self._halved, self._since + 1)
        )

    def _gradient(self, p: Point) -> Floats:
        gradient = self._ridge * p.u - p.sums.v[0] - p.sums.v[1] + p.rest.slope
        if not self.problem.intercept:
            gradient[-1] = 0.0
        if not (math.isfinite(p.value) and np.isfinite(gradient).all()):
            raise OverflowedError(TOO_LARGE)
        return gradient

    def _direction(self, p: Point, gradient: Floats) -> Floats:
        """Newton's step."""
        H = p.sums.hessian.copy() if p.rest.linear else p.sums.hessian + p.rest.bend
        H.flat[:: len(H) + 1] += self._ridge
        if not self.problem.intercept:
            H[-1] = H[:, -1] = 0.0
            H[-1, -1] = 1.0
        step = np.empty(len(H))
        gain = -1.0
        if len(H) <= COMPILED and not self._free:
            gain = factors.solve(H, -gradient, np.empty((len(H) + 1, len(H))), step)
        if not 0.0 <= gain < math.inf:
            step = -Curvature(H, 1e-15).solve(gradient)
        return step

    def _aim(self) -> tuple[Point, Floats, float]:
        """The point reached, read with a Hessian; Newton's step, and its squared decrement."""
        p = self._at
        assert p is not None
        if self._aimed is None or self._aimed[0] is not p:
            if not p.sums.hessian.size:
                self._at = p = self._look(p.u, p.h)
            gradient = self._gradient(p)
            step = self._direction(p, gradient)
            self._aimed = p, step, -float(gradient @ step)
        return self._aimed

    def _step(self, coarse: float = 0.0) -> bool:
        """A step, and what it foretells; False where none succeeds, or P is within `coarse`."""
        if self._reach and self._among_near(coarse):
            return True
        p, step, decrement2 = self._aim()
        if not 0.0 <= decrement2 < math.inf:
            return False
        if max(_corner(p), 0.5 * decrement2) <= coarse * p.primal:
            return False
        if decrement2 <= NEAR * coarse * p.primal and not self._bent:
            self._at = p._replace(u=p.u + step)  # good enough unseen
            return False
        if self._digits and self._ended(p, step, decrement2):
            return False
        h = self._narrower(p, decrement2, max(self.tol, coarse) * p.primal)
        if h < LEAST and p.h:
            return False
        if h < p.h and self._among_near(coarse):
            return True
        return self._go(p, step, decrement2, h, coarse)

    def _go(self, p: Point, step: Floats, decrement2: float, h: float, coarse: float) -> bool:
        """Take a step from p, to a width h; False where none lowers P."""
        goal, same = max(self.tol, coarse) * abs(p.primal), h == p.h
        telling = (
            same
            and not self._off
            and decrement2 * math.sqrt(decrement2) <= TELLING * goal * math.sqrt(abs(p.primal))
        )
        if same and self._off and len(self._kept):
            step = self._held(p, decrement2)
        q = self._look(p.u + step, h, p if telling else None, not telling or self._digits > 0.0)
        whole = not same or q.value <= p.value - HELD * decrement2 + 4e-15 * p.value
        large = p.rest.linear and (not self._bent or self.problem.design.entries >= LARGE)
        for _ in range(RETRIES if large and not whole else 0):
            error = 0.5 * decrement2 - (p.value - q.value)
            if not self._keep(p, q.u - p.u, error):
                break
            step = self._held(p, decrement2)
            q = self._look(p.u + step, h, curved=False)
            if q.value <= p.value - HELD * decrement2:
                break
        if same and not q.value <= p.value - 1e-4 * decrement2 + 4e-15 * p.value:
            q = self._look(p.u + self._length(p, step) * step, h)
            if not q.value < p.value:
                return False
        self.n_iter += 1
        if whole and telling:
            self._bounds.foretold(p, q)
        if not same:
            self._since = 0
        self._before, self._fell = decrement2, p.value - q.value
        self._arrive(q)
        error = self._fell - 0.5 * decrement2
        self._off = same and large and abs(error) > OFF * decrement2 + ROUNDING * abs(p.value)
        if self._off and whole and not self._candidate.within(max(self.tol, coarse)):
            self._keep(p, q.u - p.u, error)  # for the next step
        return True

    def _ended(self, p: Point, step: Floats, decrement2: float) -> bool:
        """Where digits are wanted: whether no step improves on p, or none ever ends."""
        assert self._low is not None
        if at_rounding(decrement2, self._before, p.value, self._fell):
            gap = self._low.primal - self._bounds.high.value
            close = gap <= max(self.tol, ROUNDED) * p.primal
            self._status, self._decrement2 = Status.converged if close else Status.budget, 0.0
            return True
        if self._free and self._runs_away(p, step):
            self._status = Status.no_optimum
        return self._status is Status.no_optimum

    def _runs_away(self, p: Point, step: Floats) -> bool:
        """Whether the losses fall for ever: p separates the classes, or the step has no loser.

        A direction that lowers no zᵢ and raises some is one along which the likelihood rises to its
        supremum without reaching it. Newton's steps turn into it when there is one. The point kept
        then separates the classes, if any does.
        """
        least, low, high = self._sums.extremes(p.u, p.u + step)
        if least > 0.0:
            return True
        if not (high > MOVED and low >= -1e-9 * high):
            return False
        for t in 4.0 ** np.arange(20):
            self._low = self._look(p.u + t * step, p.h, curved=False)
            if low <= 0.0 or self._sums.extremes(self._low.u, p.u)[0] > 0.0:
                break
        return True

    def _narrower(self, p: Point, decrement2: float, goal: float) -> float:
        """The width to go on with: less where it is the corner that holds the gap up."""
        corner = _corner(p)
        if not p.h or corner <= max(goal, 10.0 * decrement2):
            return p.h
        return p.h * min(0.7, max(NARROWING, math.sqrt(0.5 * goal / corner)))

    def _length(self, p: Point, step: Floats) -> float:
        """The t < 1 at which P(p + t·step) is about smallest: where its slope in t changes sign."""
        a, b = float((self._ridge * p.u + p.rest.slope) @ step), float(self._ridge @ (step * step))
        b += 0.0 if p.rest.linear else float(step @ p.rest.bend @ step)
        along, first = self._sums.line(p.u, p.u + step, self._loss(p.h)), math.inf
        low, high, t = 0.0, 1.0, HALVES
        for _ in range(ROUNDS):
            slopes = along(t)
            slope, bend = a + t * b + slopes[:, 0], b + slopes[:, 1]
            high = min(high, *t[slope > 0.0], 1.0)
            low = max(low, *t[(slope <= 0.0) & (t < high)], 0.0)
            k = int(np.abs(slope).argmin())
            best, first = float(t[k]), min(first, float(np.abs(slope).max()))
            if abs(slope[k]) <= FLAT * first and slope[k] <= 0.0:
                return best
            if low == 0.0:
                t = high * QUARTERS
                continue
            middle = 0.5 * (low + high)
            trial = best - slope[k] / bend[k] if bend[k] > 0.0 else middle
            t = np.array([trial if low < trial < high else middle, middle])
        return low or 0.5 * high

    def interrupted(self) -> None:
        if self._at is None:
            self._arrive(self._look(np.zeros(self.problem.size), WIDTH))

    def rescaled(self) -> "Newton | None":
        """In columns of moderate scale, by a look at all rows."""
        other = self.problem.rescaled()
        return other and Newton(other, self._n_jobs, self._start, self._alpha)

    def state(self) -> dict[str, Any]:
        """Points, not what rows said of them: they are read again."""
        assert self._at is not None and self._low is not None
        points = [[p.u, p.h] for p in (self._at, self._low)]
        return {
            "points": points, "bound": list(self._bounds.high),
            "numbers": [getattr(self, name) for name in CARRIED],
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        self._low, self._at = (self._look(u, h) for u, h in reversed(state["points"]))
        self._bounds.high = Bound(*state["bound"])
        for name, number in zip(CARRIED, state["numbers"], strict=True):
            setattr(self, name, number)

    def solution(self) -> Solution:
        low, high = self._low, self._bounds.high
        assert low is not None
        w, b = self.problem.outside(low.u)
        require_range(w, b)
        gap = max(0.0, low.primal - high.value)
        n_iter = max(1, self.n_iter)
        alpha = None if self._free else self._bounds.multipliers()
        return Solution(w, b, alpha, low.primal, high.value, gap, n_iter, self._status)


def _corner(p: Point) -> float:
    """Σ Uℓ(z) + αz less the dual terms: what is left of the gap once the gradient is zero."""
    return p.sums.meant + p.sums.pull - float(p.sums.dual.sum())
