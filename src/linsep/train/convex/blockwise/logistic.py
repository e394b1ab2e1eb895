"""Two-class logistic regression on dense rows: a sample, then a few passes, then a proof.

    P(w, b) = ½‖w‖² + C Σ cᵢ log(1 + e^{−zᵢ}),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   b not penalised

With many rows, a few thousand of them tell almost everything about the Hessian. Their problem is
solved first. Then every pass over all rows gives the true gradient g, and the next point minimises

    F_sample(u) − ⟨∇F_sample(uₖ) − g, u⟩,

whose minimum is the true one when the two Hessians agree (Shamir, Srebro and Zhang, 2014). Past
passes correct the sample's Hessian where it errs most. Each pass divides the distance to the
optimum by a factor of hundreds. Where that fails, and with few rows, Newton's method with the full
Hessian takes over.

The run stops on a bound on what is left to gain: by duality (see
`linsep.train.convex.blockwise.logistic_problem`), or, where there is no penalty or next to none, by
Newton's decrement (see `linsep.train.convex.curvature`).
"""

import math
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ParameterError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex import problem as convex
from linsep.train.convex.basis import better_basis
from linsep.train.convex.blockwise.far_rows import HELD, FarRows
from linsep.train.convex.blockwise.full_steps import PASS, FullSteps
from linsep.train.convex.blockwise.logistic_problem import Point, Problem, Sample
from linsep.train.convex.blockwise.sparse_problem import SparseProblem, suits
from linsep.train.convex.curvature import Curvature, asked_for, at_rounding, decrease_left
from linsep.train.convex.drive import Candidate, Solver
from linsep.train.convex.handover import Handover
from linsep.train.convex.losses import Logistic
from linsep.train.convex.row_space import InRowSpace
from linsep.train.convex.sampling import pick
from linsep.train.convex.solution import Solution, end_of_newton
from linsep.train.convex.solvers.lbfgs import Memory
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.run.loop import UNCOUNTED, Pass
from linsep.train.run.replay_log import ReplayLog

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_MANY = 32768  # rows from which a sample pays
_WIDE = 256  # features from which Hessians cost more than the passes they save
_WIDEST = 4096  # and up to which they are made where nothing else ends, or gives all digits
_DIGITS = 1e-8  # relative gap below which weights are asked for as many digits, by Hessians
_ROUNDED = 1e-11  # a relative gap this small is as good as any, once no step succeeds
_PER_FEATURE = 768  # sampled rows for each feature


def logistic_solver(
    X: Array,
    signs: Array,
    weights: Floats | None = None,
    C: float = 1.0,
    *,
    fit_intercept: bool = True,
    n_jobs: int | None = None,
    start: tuple[Array, float] | None = None,
    keep: bool = False,
) -> Solver:
    """Newton's method for ½‖w‖² + C Σ cᵢ log(1 + e^{−yᵢ(⟨w, xᵢ⟩ + b)}): by Hessians where these
    are cheap, or nothing else gives all digits, and otherwise by products with them.

    Parameters
    ----------
    X : checked C-contiguous float32 or float64 array, or a CSR matrix
    signs : array of −1 and +1
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty (maximum likelihood)
    fit_intercept : whether b is free; otherwise it is 0
    n_jobs : threads; never changes the bytes of the result
    start : (w, b) to start from
    keep : whether passes are kept, so that a further run can go through them again

    Examples
    --------
    >>> from linsep.train.convex.drive import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> best = solve(logistic_solver, X, y, C=1.0, tol=1e-10)
    >>> best.w.round(6), round(best.b, 6), best.status.name
    (array([0.452875]), -0.679313, 'converged')
    >>> solve(logistic_solver, np.array([[0.0], [1.0]]), np.array([-1, 1]), C=np.inf).status.name
    'no_optimum'
    """
    if not C > 0:
        raise ParameterError(f"C is {C!r}; it must be positive, or infinite for no penalty.")
    settings: dict[str, Any] = {"fit_intercept": bool(fit_intercept), "n_jobs": n_jobs}
    basis = None if sp.issparse(X) else better_basis(X, C, fit_intercept)
    if basis is None:
        return _by_shape(X, signs, weights, float(C), start, keep, settings)
    if start is not None:
        start = basis.inside(start[0], float(start[1]))
    inner = _by_shape(basis.Z, signs, weights, float(C), start, keep, settings)
    return InRowSpace(inner, basis)


def _by_shape(
    X: Array,
    signs: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, float] | None,
    keep: bool,
    settings: dict[str, Any],
) -> Solver:
    d, dense, free = X.shape[1], not sp.issparse(X), math.isinf(C)
    given = (X, signs, weights, C)
    if free or (d <= _WIDE if dense else suits(X)):
        return HessianNewton(*given, **settings, start=start, keep=keep)
    problem = convex.Problem.of(*given, Logistic(), settings["fit_intercept"])
    products = NewtonCG(problem, settings["n_jobs"], start)
    if not dense or d > _WIDEST:
        return products

    def hessians(at: Solution) -> HessianNewton:
        return HessianNewton(*given, **settings, start=(at.w, at.b), keep=keep, rescale=True)

    return Handover(products, hessians, until=_DIGITS)


class HessianNewton:
    """A sample, then Newton's steps with the Hessian of all rows, as a solver.

    Below a `tol` of 1e-8 the weights are asked for as many digits too, as they always are without
    a penalty (see `linsep.train.convex.curvature.asked_for`).

    Parameters
    ----------
    X, signs, weights, C, fit_intercept, n_jobs, start, keep
        As of `logistic_solver`.
    rescale : whether columns are brought to moderate scale from an evaluation over all rows
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        signs: Array,
        weights: Floats | None = None,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
        keep: bool = False,
        rescale: bool = False,
    ) -> None:
        self._given = (X, signs, weights, C)
        self._settings: dict[str, Any] = {
            "fit_intercept": fit_intercept, "n_jobs": n_jobs, "start": start, "keep": keep
        }  # fmt: skip
        self._rescale, self._log = rescale, ReplayLog(keep)
        self._tols: list[float] = []  # at first, and after each pass
        self._recalled = 0  # passes of an earlier run
        self.pool = Pool(n_jobs)
        self.passes = 0
        self.best: Point | None = None
        self.gap = self.fell = self.decrement2 = math.inf
        self.status = Status.budget

    def rescaled(self) -> "HessianNewton | None":
        if self._rescale:
            return None
        return HessianNewton(*self._given, **self._settings, rescale=True)

    def _begin(self) -> Floats:
        """The problem in safe coordinates, and the point to start from."""
        X, signs, weights, C = self._given
        kind: type[Problem] = SparseProblem if sp.issparse(X) else Problem
        if X.size <= 1 << 21:
            X = X.astype(np.float64, copy=False)
        free, start = self._settings["fit_intercept"], self._settings["start"]
        self.problem = problem = kind(X, signs, weights, C, free, self.pool, self._rescale)
        problem.replay_log = self._log
        self._steps = FullSteps(FarRows(problem.sums, free), self._evaluate)
        u = self._without_weights()
        if start is not None:
            w, b = problem.columns.inside(np.asarray(start[0], np.float64), float(start[1]))
            u = np.append(w, b if free else 0.0)
        return u

    def _without_weights(self) -> Floats:
        u = np.zeros(len(self.problem.ridge))
        u[-1] = self.problem.odds if self.problem.fit_intercept else 0.0
        return u

    def candidates(self) -> Iterator[Candidate]:
        """One for each pass over all rows; those that an earlier run made are not told of again."""
        u = self._begin()
        self._tols = self._tols or [self.tol]
        self._pass_tol = self._tols[0]
        for p in self._all(u):
            if self.passes < self._recalled:
                self._pass_tol = self._tols[self.passes]
                continue
            yield self._candidate(p)
            self._pass_tol = self.tol
            self._tols.append(self.tol)

    @property
    def _wanted_gap(self) -> float:
        return asked_for(self._pass_tol, self._given[3])

    def _enough(self, tol: float) -> bool:
        """Whether the bound, and where digits of the weights were asked for ‖step‖² by the Hessian,
        are as small as that."""
        assert self.best is not None
        first, value = asked_for(self._tols[0], self._given[3]), self.best.value
        digits = first >= _DIGITS or self.decrement2 <= first**2 * value
        return digits and self.gap <= tol * value

    def _candidate(self, p: Point) -> Candidate:
        assert self.best is not None
        unit, value, loss = self.problem.unit, self.best.value, float(p.sums.loss.sum())
        gap = self.gap if self._enough(self._wanted_gap) else max(self.gap, 2.0 * self.tol * value)
        done = Pass(self.passes, UNCOUNTED, 1, loss)
        return Candidate(self.passes, unit * value, unit * (value - gap), 1, done=done)

    def state(self) -> dict[str, Any]:
        return {"entries": self._log.entries, "tols": self._tols}

    def restore(self, state: dict[str, Any]) -> None:
        """Go through the passes again by what they gave, up to the last one."""
        self._log.restore(state)
        self._tols, self._recalled = state["tols"], len(state["entries"])

    def interrupted(self) -> None:
        if self.best is None:
            self._evaluate(self._begin())

    def solution(self) -> Solution:
        """The best weights so far, in the units of the data."""
        problem, p = self.problem, self.best
        assert p is not None
        w, b = problem.columns.outside(p.u[:-1], float(p.u[-1]))
        b = float(b) if problem.fit_intercept else 0.0
        return end_of_newton(w, b, p.value, self.gap, problem.unit, self.passes, self.status)

    def _evaluate(self, u: Floats, curved: bool = False) -> Point:
        """One pass over all rows."""
        p = self.problem.point(u, curved)
        self.passes += 1
        if self.best is None or p.value <= self.best.value * (1 + 1e-14):
            self.best, self.gap = p, p.gap
            self.decrement2 = math.inf if curved else 0.0  # digits are asked for by Hessians
        return p

    def _all(self, u: Floats) -> Iterator[Point]:
        problem, (n, d) = self.problem, self.problem.sums.blocks.X.shape
        if problem.sampled and n >= _MANY and n >= 64 * d:
            u = yield from self._by_sample(u, self._settings["start"] is None)
        yield from self._by_newton(u)

    def _by_sample(self, u: Floats, cold: bool) -> Generator[Point, None, Floats]:
        """Passes that correct the solution of a sample of the rows; where they led."""
        problem, sums = self.problem, self.problem.sums
        n, d = sums.blocks.X.shape
        wanted = min(max(8192, _PER_FEATURE * d), n // 4)
        rows, chance = pick(sums.blocks, problem.about, sums.c, wanted, sums.pool)
        if len(rows) > n // 2:
            return u
        own, signs = sums.blocks.rows(rows), sums.signs[rows]
        c = (sums.c if len(sums.c) == 1 else sums.c[rows]) / chance
        if cold:
            few = np.arange(0, len(rows), 6)
            u = Sample(problem, own[few], signs[few], 6 * c[few]).solve(u, None, 3e-4)
        sample = Sample(problem, own, signs, c)
        if cold:
            u = sample.solve(u, None, 3e-5)
        last, memory, foretold = None, Memory(8), 0.0
        while True:
            p = self._evaluate(u)
            yield p
            held = last is None or last.value - p.value >= HELD * foretold - 4e-15 * p.value
            if not (held and self._closer(p, sample, last)):
                self._steps.far.take(rows[sample.far.places])
                return self.best.u if self.best else u
            u, last = sample.follow(p, last, memory), p
            foretold = float(p.gradient @ (p.u - u))

    def _closer(self, p: Point, sample: Sample, last: Point | None) -> bool:
        """Whether another corrected sample is worth its pass."""
        if p is not self.best or (last and last.gap < math.inf and p.gap > 0.2 * last.gap):
            return False
        if p.gap < math.inf or sample.curvature is None:
            return True
        # Without a penalty only the full Hessian proves anything: go to it when near.
        decrement2 = float(p.gradient @ sample.curvature.solve(p.gradient))
        return decrement2 > 0.1 * self._wanted_gap * p.value

    def _by_newton(self, u: Floats) -> Iterator[Point]:
        """Newton's method with the Hessian of all rows."""
        p, before = self._evaluate(u, curved=True), math.inf
        if p.value > self.problem.without_weights:  # no start is better than this one
            yield p
            p = self._evaluate(self._without_weights(), curved=True)
        while True:
            model = self.problem.quadratic(p.sums, p.u)
            curvature = model.curvature
            step = curvature.solve(p.gradient)
            decrement2 = float(p.gradient @ step)
            ended = self._judge(p, curvature, step, decrement2, before)
            yield p
            if ended:
                return
            q = yield from self._steps.ahead(p, model, curvature, self._always)
            if q is None:
                self._prove(p, curvature, decrement2)
                self._at_rounding(p)
                return
            self.fell, before, goal = p.value - q.value, decrement2, self._wanted_gap * p.value
            if q.sums.hessian is None:
                q = yield from self._steps.go_on(p, q, model, curvature, goal)
            p = q

    @property
    def _always(self) -> bool:
        """Whether every pass makes a Hessian: they cost little, or prove what no gap does."""
        digits, ridge = asked_for(self._tols[0], self._given[3]) < _DIGITS, self.problem.ridge
        cheap = not self.problem.sampled or len(ridge) < 2 * PASS
        return digits or cheap or not ridge[:-1].all()

    def _judge(
        self, p: Point, curvature: Curvature, step: Floats, decrement2: float, before: float
    ) -> bool:
        """Whether the run ends at p by itself; the bound on what is left is kept on the way."""
        goal = self._wanted_gap * p.value
        if p is self.best:
            self.decrement2 = decrement2
        stuck = at_rounding(decrement2, before, p.value, self.fell)
        near = decrement2 <= 2 * max(goal, 1e-6 * p.value)
        radius2 = math.inf
        if self.gap > goal and near and (stuck or p.gap == math.inf):
            radius2 = self._prove(p, curvature, decrement2)
        if self._enough(self._wanted_gap):
            return False  # as the driver will see
        if stuck:
            self._at_rounding(p)
        elif not self.problem.ridge.any() and self._runs_away(p, step, radius2 * decrement2 > 0.1):
            self.status = Status.no_optimum
            return True
        return stuck

    def _at_rounding(self, p: Point) -> None:
        """No step lowers F by more than rounding raises it: the ending, whatever was asked."""
        if self.gap <= max(self._wanted_gap, _ROUNDED) * p.value:
            self.status = Status.converged

    def _prove(self, p: Point, curvature: Curvature, decrement2: float) -> float:
        """Bound what is left by Newton's decrement; the radius² that the bound goes by."""
        if curvature.overlooks(p.gradient):
            return math.inf
        radius2 = float(self.problem.sums.widest(curvature.whiten()))
        self.gap = min(self.gap, decrease_left(decrement2, radius2))
        return radius2

    def _runs_away(self, p: Point, step: Floats, far: bool) -> bool:
        """Whether the losses fall for ever: p separates the classes, or the step has no loser.

        A direction that lowers no zᵢ and raises some is one along which the likelihood rises to its
        supremum without reaching it. Newton's steps turn into it when there is one. The point kept
        then separates the classes, if any does.
        """
        sums = self.problem.sums
        if sums.extremes(p.u)[0] > 0:
            return True
        low, high = sums.extremes(-step)
        if not (far and high > 0 and low >= -1e-9 * high):
            return False
        for t in 4.0 ** np.arange(20):
            self.best = self.problem.point(p.u - t * step)
            if sums.extremes(self.best.u)[0] > 0 or low <= 0:
                break
        return True
