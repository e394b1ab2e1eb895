"""A smooth loss with weights that are exactly zero, by proximal Newton steps on working sets.

    P(W, b) = Σ cornerⱼ|wₖⱼ| + ½ Σ ridgeⱼwₖⱼ² + Σ Uᵢ ℓ(sᵢ),    sₖᵢ = ⟨wₖ, xᵢ⟩ + oₖᵢ + bₖ

over low ≤ W ≤ high.

The columns with a weight, and those whose slope exceeds its corner by most, make up a working set.
On it the losses are replaced by their quadratic model, which is minimised one coordinate at a time
with the intercepts at their best (newGLMNET; Yuan, Ho and Lin, 2012; working sets as in celer;
Massias, Gramfort and Salmon, 2018). The multipliers r that a step foretells meet the conditions of
the model's minimum: balanced, and shrunk until no slope V = Σ rx exceeds its corner where there is
no ridge, they bound P from below by E(sr) − ⟨sr, o⟩ − Ω*(sV). Many rows begin where some of them
end. A loss with a corner is rounded over a width that falls as the gap does.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import maps_of
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import TOO_LARGE, Columns, moderate, tamed
from linsep.train.convex.designs.design import PLAIN, Design
from linsep.train.convex.drive import Candidate, Goal, drive
from linsep.train.convex.parts.outputs import Terms, outputs_of
from linsep.train.convex.parts.quadratic_model import (
    JOINT,
    Penalised,
    by_columns,
    by_matrix,
    matrix_pays,
    minimise,
)
from linsep.train.convex.penalties import RIDGE
from linsep.train.convex.problem import Problem
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution, require_range
from linsep.train.convex.solvers.newton_cg import NewtonCG

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALONE = 1 << 17  # entries up to which one thread does all
TALL = 8  # rows for each column from which on a start is made without corners
ALL = 128  # columns up to which there is no choice of them
FIRST = 200  # columns chosen first, at least
NEAR = 0.8  # part of its corner that a slope has where a weight may follow
INNER = 4  # steps on one working set
FEWEST, PER_FEATURE, GROWTH = 512, 20, 16  # rows of the first sample; how much larger each next is
WORTH = 8  # times as many rows, from which a sample pays
ERROR = 0.25  # part of m/n, about which the solution of n rows with m weights errs
SAMPLED = 20  # steps with a sample, at most
UNIT = 50.0  # slopes are brought down by as large a part as they are of so many corners
HAIR = 1e-6  # share of tol that multipliers are shrunk by, so that rounding lifts none above
RELIED = 0.75  # part of what a step foretells that has to hold
FAILED = 0.1  # of a step: a model is believed less where no more of it is taken
# gaps below FINE are followed by one more step: weights lag behind; gains below FINEST are rounding
FINE, FINEST = 1e-5, 1e-12
WIDTH, WARM = 2.0, 0.1  # of a rounded corner at first, and at weights to begin from
NARROWING, LEAST = 0.25, 1e-9  # part of a width that the next one is, at least; the last width
STALLED = 4  # steps in a row without progress that end a run
DAMPED, MOST_DAMPED = 1e-8, 10.0  # share of the most curvature added to the model's, least and most


class Point(NamedTuple):
    """Where the rows were read: weights, intercepts last, (K, m + 1); scores; what they give; P
    with the smooth loss, and as it is meant."""

    u: Floats
    S: Floats
    terms: Terms
    value: float
    primal: float


class ProxNewton:
    """Proximal Newton steps as a solver.

    Parameters
    ----------
    problem : with a loss that has curvature, and a penalty with corners
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercepts to begin from
    columns : what the columns of the problem were multiplied by before it was made
    """

    name = "prox_newton"
    tol = 1e-4

    def __init__(
        self,
        problem: Problem,
        n_jobs: int | None = None,
        start: tuple[Array, Any] | None = None,
        columns: Columns | None = None,
    ) -> None:
        design = problem.design
        self.columns, self._given, self._start = columns or design.columns, problem, start
        if design.columns.scale.size and not maps_of(design.X):
            design = Design(moderate(design.X, problem.intercept)[0])
        self.problem = problem._replace(design=design)
        alone = design.entries <= ALONE
        self.pool = Pool(n_jobs, most=1 if alone else None)
        self._corners = problem.penalty.of_columns(design.d, self.columns.scale, problem.bounds)
        self._round(WIDTH if start is None else WARM)
        self._work_with(np.arange(design.d))
        self._at: Point | None = None
        self._slopes = np.zeros((self._outputs.K, design.d))
        self._bound, self._alpha = -math.inf, np.zeros((self._outputs.K, 0))
        self._low: tuple[float, Floats] = math.inf, np.empty(0)
        self._damping, self._stalled, self._polished, self.n_iter = DAMPED, 0, False, 0

    def _round(self, h: float) -> None:
        """Have a corner of the loss rounded over this width."""
        loss = self.problem.loss
        self._h = h if loss.kinked else 0.0
        rounded = self.problem._replace(loss=loss.rounded(h)) if self._h else self.problem
        self._outputs: Any = outputs_of(rounded, self.pool)

    @property
    def _point(self) -> Point:
        assert self._at is not None
        return self._at

    def candidates(self) -> Iterator[Candidate]:
        """A point, and one after each working set."""
        again = self._at is not None
        if not again:
            self._begin()
        while True:
            seen = Candidate(max(1, self.n_iter), self._low[0], self._bound, self.problem.design.d)
            there = seen.within(self.tol)
            if again or not there or self._polished or self.tol > FINE:
                yield seen
            again, self._polished = False, there
            if self._stalled >= STALLED:
                return
            self._choose()
            self._steps()

    def _begin(self) -> None:
        u = self._without_corners() if self._start is None else None
        if self._start is not None:
            w, b = self.columns.inside(np.atleast_2d(self._start[0]), np.atleast_1d(self._start[1]))
            u = np.column_stack([w, np.broadcast_to(b, len(w))])
        elif u is None:
            u = self._by_samples()
        if not self.problem.intercept:
            u[:, -1] = 0.0
        u[:, :-1] = np.clip(u[:, :-1], self._corners.low, self._corners.high)
        self._take(u)
        self._note()
        self._look_back(self._point.terms.pull)

    def _without_corners(self) -> Floats | None:
        """Near the optimum with ½‖w‖² in place of the penalty, where rows are many times as many
        as columns: a penalty of either kind moves weights little then."""
        problem, (n, d) = self.problem, self.problem.design.X.shape
        if self._outputs.K > 1 or d <= ALL or n < TALL * d:
            return None
        round_one = NewtonCG(problem._replace(penalty=RIDGE, bounds=None), self.pool.size)
        found = drive(round_one, Goal(max(1e-2, self.tol), 20))
        return np.append(found.w, found.b)[None]

    def _by_samples(self) -> Floats:
        """Where samples of the rows lead: columns that few rows speak for stay near zero."""
        problem, n, d = self.problem, self.problem.design.n, self.problem.design.d
        u, m = np.zeros((self._outputs.K, d + 1)), max(FEWEST, PER_FEATURE * self._outputs.K * d)
        u[:, -1] = self._outputs.odds()
        while n >= WORTH * m and (len(problem.weights) == 1 or problem.weights.all()):
            some = scattered(n, m)
            few = problem.of_rows(some, math.sqrt(n / len(some)))
            run = ProxNewton(few, 1, (u[:, :-1], u[:, -1]), PLAIN)
            run._corners = self._corners
            run._begin()
            for _ in range(SAMPLED):
                run._choose()
                if run._steps() <= ERROR * np.count_nonzero(run._point.u) / m * run._point.value:
                    break
            u, m = run._everywhere(), min(m * GROWTH, max(m + 1, n // WORTH))
            if len(some) >= m // 2:
                break
        return u

    def _take(self, u: Floats) -> None:
        """Stand there, with the columns that have a weight as the working set."""
        d = self.problem.design.d
        wanted = np.flatnonzero(u[:, :-1].any(axis=0)) if d > ALL else np.arange(d)
        self._work_with(wanted)
        self._at = self._look(u[:, np.append(wanted, d)])

    def _work_with(self, chosen: Array) -> None:
        design = self.problem.design
        whole = len(chosen) == design.d
        self._part = design if whole else design.columns_of(chosen)
        self._chosen, self._some = chosen, self._corners.some(chosen)

    def _everywhere(self) -> Floats:
        """Weights of all columns, intercepts last."""
        at, d = self._point.u, self.problem.design.d
        u = np.zeros((len(at), d + 1))
        u[:, self._chosen], u[:, -1] = at[:, :-1], at[:, -1]
        return u

    def _look(self, u: Floats) -> Point:
        """Read the rows at u."""
        S = self._part.product(u, self.pool)
        if self.problem.offset is not None:
            S += self.problem.offset
        terms = self._outputs.at(S)
        penalty = self._some.value(u[:, :-1])
        if not math.isfinite(terms.loss + penalty):
            raise OverflowedError(TOO_LARGE)
        return Point(u, S, terms, terms.loss + penalty, terms.meant + penalty)

    def _look_back(self, pull: Floats) -> None:
        """The bound that multipliers give, and the slopes of all columns."""
        pull = self._outputs.feasible(pull)
        V = self.problem.design.back_product(pull, self.pool)[:, :-1]
        if not np.isfinite(V).all():
            raise OverflowedError(TOO_LARGE)
        self._slopes, corners = V, self._corners
        end = np.where(V > 0.0, corners.high, corners.low)
        free = (corners.corner == 0.0) & (corners.ridge == 0.0) & np.isinf(end)
        if free.any():
            squares = self.problem.design.squares(np.ones(pull.shape[1]), self.pool)[:-1]
            rounding = 1e-9 * np.sqrt(squares * float((pull * pull).sum()))
            V = np.where(free & (np.abs(V) <= rounding), 0.0, V)
        room, inside = corners.room(V), corners.inside(V)
        shift = 0.0 if self.problem.offset is None else float((pull * self.problem.offset).sum())
        for s in {room, inside}:
            bound = self._outputs.dual(pull, s) - s * shift - corners.conjugate(s * V)
            if bound > self._bound:
                hair = HAIR * min(1e-3, self.tol) / 1e-3
                self._bound, self._alpha = bound, (s * (1.0 - hair)) * pull

    def _choose(self) -> None:
        """The columns with a weight, and those whose slope says that they may get one."""
        d = self.problem.design.d
        if d <= ALL:
            return
        u, corner = self._everywhere(), self._corners.corner
        held = u[:, :-1].any(axis=0) | (corner == 0.0)
        end = np.where(self._slopes > 0.0, self._corners.high, self._corners.low)
        over = np.where(end == 0.0, 0.0, np.abs(self._slopes)).max(axis=0) - NEAR * corner
        over = np.where(held, -np.inf, over / self._corners.unit)
        first = FIRST if len(u) == 1 else JOINT // len(u)
        room = max(first, min(d, self.problem.design.n) // 20, 2 * int(held.sum()))
        wanted = np.flatnonzero(over > 0.0)
        if len(wanted) > room:
            wanted = wanted[np.argpartition(-over[wanted], room)[:room]]
        chosen = np.sort(np.concatenate([np.flatnonzero(held), wanted]))
        if np.array_equal(chosen, self._chosen):
            return
        self._work_with(chosen)
        at = self._point
        self._at = at._replace(u=np.ascontiguousarray(u[:, np.append(chosen, d)]))

    def _steps(self) -> float:
        """Steps on the working set, and what the last one foretells; how much of P it promised."""
        before, bound = self._point.value, self._bound
        for _ in range(1 if 4 * len(self._chosen) > self.problem.design.d else INNER):
            promised, foretold = self._step()
            if promised <= 0.1 * (self._point.value - self._bound):
                break
        self._look_back(foretold)
        self._note()
        if self._narrower(promised):
            return promised
        fell = self._point.value < before * (1.0 - 1e-12)
        fell |= self._bound > bound + 1e-12 * abs(bound)
        self._stalled = 0 if fell else self._stalled + 1
        return promised

    def _note(self) -> None:
        """Keep the last point; of rounded losses the one that is lowest as they are meant."""
        if not self._h or self._point.primal < self._low[0]:
            self._low = self._point.primal, self._everywhere()

    def _narrower(self, promised: float) -> bool:
        """Go on with a sharper corner where it is the width that holds the gap up."""
        p, goal = self._point, 0.5 * self.tol * self._point.primal
        corner, stuck = p.terms.corner, self._stalled + 1 >= STALLED
        if self._h < LEAST or (corner <= max(goal, 2.0 * promised) and not stuck):
            return False
        self._round(self._h * min(0.7, max(NARROWING, math.sqrt(goal / max(goal, corner)))))
        self._at, self._stalled = self._look(p.u), 0
        return True

    def _step(self) -> tuple[float, Floats]:
        """One step; how much of P the model promised, and the multipliers that it foretold."""
        self.n_iter += 1
        p, corners = self._point, self._some
        g = -self._part.back_product(p.terms.pull, self.pool)
        here, curved = corners.value(p.u[:, :-1]), p.terms.curved
        change = self._minimum(g, curved)
        slope = float((g * change).sum()) + corners.value((p.u + change)[:, :-1]) - here
        q = self._look(self._inside(p.u + change))
        along = q.S - p.S
        told = slope + 0.5 * self._outputs.energy(curved, along)
        foretold = self._outputs.foretold(p.terms.pull, curved, along)
        return -slope, foretold if self._arrive(p, q, change, slope, told) else p.terms.pull

    def _arrive(self, p: Point, q: Point, change: Floats, slope: float, told: float) -> bool:
        """Go on to q, or as far on the way there as P falls; whether there is such a point."""
        size, w, d = 1.0, p.u[:, :-1], change[:, :-1]
        if -told > FINEST * p.value and p.value - q.value < RELIED * -told:
            size = self._outputs.along(p.S, q.S, lambda t: self._some.slope(w, d, t))
            q = q if size == 1.0 else self._look(self._inside(p.u + size * change))
        while not q.value <= p.value + 1e-3 * size * slope + 1e-15 * p.value and size > 1e-8:
            size *= 0.5
            q = self._look(self._inside(p.u + size * change))
        self._at = q if size > 1e-8 else self._look(p.u)
        less, more = max(DAMPED, 0.1 * self._damping), max(10.0 * self._damping, 1e-6)
        self._damping = less if size >= FAILED else min(MOST_DAMPED, more)
        return size > 1e-8

    def _inside(self, u: Floats) -> Floats:
        """u within the bounds, which rounding may have left."""
        if np.ndim(self._some.low):
            np.clip(u[:, :-1], self._some.low, self._some.high, out=u[:, :-1])
        return u

    def _minimum(self, g: Floats, curved: Floats) -> Floats:
        """The change of weights and intercepts that minimises the model."""
        p, corners, K, m = self._point, self._some, len(g), len(self._chosen)
        largest = float(np.abs(p.u[:, :-1] / corners.unit).max(initial=0.0))
        penalty, w = self.problem.penalty, np.ascontiguousarray(p.u[:, :-1])
        size = corners.unit * (penalty.l1 + penalty.l2 * largest)
        form, slopes, best = (
            by_matrix(self._outputs.matrix(self._part, curved), g, self.problem.intercept)
            if self._has_matrix()
            else by_columns(self._part, g, curved, self.problem, self.pool)
        )
        if not np.isfinite(form.bends).all():
            raise OverflowedError(TOO_LARGE)
        if self._damping > DAMPED:
            squares = self._part.squares(np.ones(self._part.n), self.pool)[:-1]
            form.damp(np.tile(self._damping * float(curved.max()) * squares, K))
        flat = form.bends == 0.0
        if K == 1 and flat.any():  # no row bends there yet: as much as all of them may
            U = self.problem.loss.steepest * self.problem.weights
            squares = self._part.squares(np.broadcast_to(U, self._part.n), self.pool)[:-1]
            form.damp(np.where(flat, squares, 0.0))
        model, size = Penalised(slopes, w.ravel(), corners.flat(K, m)), np.tile(size, K)
        size = np.where(size > 0.0, size, np.sqrt(p.value * np.maximum(form.bends, 1e-300)))
        d = minimise(form, model, size, 0.1 * min(1.0, self.tol), UNIT)
        change = np.empty_like(g)
        change[:, :-1], change[:, -1] = d.reshape(K, m), best(d)
        return change

    def _has_matrix(self) -> bool:
        return matrix_pays(self._part, self._outputs.K)

    def interrupted(self) -> None:
        if self._at is None:
            self._start = self._start or (np.zeros((self._outputs.K, self.problem.design.d)), 0.0)
            self._begin()

    def rescaled(self) -> "ProxNewton | None":
        """The same problem in columns whose largest entries are about one."""
        given, design = self._given, self._given.design
        if self.columns is not design.columns or on_cluster(design.X):
            return None
        X, columns = tamed(design.X, given.intercept)
        problem = given._replace(design=Design(X))
        return ProxNewton(problem, self.pool.size, self._start, columns)

    def state(self) -> dict[str, Any]:
        return {
            "u": self._everywhere(), "chosen": self._chosen, "slopes": self._slopes,
            "bound": self._bound, "alpha": self._alpha, "damping": self._damping,
            "steps": [self._stalled, self._polished, self.n_iter],
            "low": self._low, "width": self._h,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        self._low = tuple(state["low"])
        self._round(state["width"])
        self._work_with(state["chosen"])
        at = np.append(self._chosen, self.problem.design.d)
        self._at = self._look(np.ascontiguousarray(state["u"][:, at]))
        self._slopes, self._bound = state["slopes"], state["bound"]
        self._alpha, self._damping = state["alpha"], state["damping"]
        self._stalled, self._polished, self.n_iter = state["steps"]

    def solution(self) -> Solution:
        (value, u), K = self._low, self._outputs.K
        w, b = self.columns.outside(u[:, :-1], u[:, -1])
        require_range(w, b)
        alpha, gap = self._outputs.alpha(self._alpha), max(0.0, value - self._bound)
        w, b = (w, b) if K > 1 else (w[0], float(b[0]))
        return Solution(w, b, alpha, value, self._bound, gap, max(1, self.n_iter))
