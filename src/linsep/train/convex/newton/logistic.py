"""Two-class logistic regression on dense rows: a sample, then a few passes, then a proof.

    P(w, b) = ½‖w‖² + C Σ cᵢ log(1 + e^{−zᵢ}),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   b not penalised

With many rows, a few thousand of them tell almost everything about the Hessian. Their problem is
solved first. Then every pass over all rows gives the true gradient g, and the next point minimises

    F_sample(u) − ⟨∇F_sample(uₖ) − g, u⟩,

whose minimum is the true one when the two Hessians agree (Shamir, Srebro and Zhang, 2014). Past
passes correct the sample's Hessian where it errs most. Each pass divides the distance to the
optimum by a factor of hundreds. Where that fails, and with few rows, Newton's method with the full
Hessian takes over.

The run stops on a certified gap: by duality (see `linsep.train.convex.newton.logistic_problem`),
or, where there is no penalty or next to none, by Newton's decrement (see
`linsep.train.convex.curvature`).
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import OverflowedError, ParameterError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.basis import better_basis
from linsep.train.convex.curvature import Curvature, asked_for, at_rounding, decrease_left
from linsep.train.convex.drive import Candidate, Goal, Savepoint, drive
from linsep.train.convex.lbfgs import Memory
from linsep.train.convex.newton.logistic_problem import Point, Problem, Sample
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.newton.sparse_problem import SparseProblem, suits
from linsep.train.convex.sampling import pick
from linsep.train.convex.softmax.fit import fit_softmax
from linsep.train.convex.solution import Solution, end_of_newton
from linsep.train.run.loop import UNCOUNTED, Listener, Pass
from linsep.train.run.replay_log import ReplayLog

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_MANY = 32768  # rows from which a sample pays
_WIDE = 256  # features from which Hessians cost more than the passes they save
_WIDEST = 4096  # and up to which they are made where nothing else ends, or gives all digits
_DIGITS = 1e-8  # relative gap below which weights are asked for as many digits, by Hessians
_PER_FEATURE = 768  # sampled rows for each feature


def fit_logistic(
    X: Array,
    signs: Array,
    weights: Floats | None = None,
    C: float = 1.0,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 100,
    n_jobs: int | None = None,
    start: tuple[Array, float] | None = None,
    listener: Listener | None = None,
    replay_log: ReplayLog | None = None,
    savepoint: Savepoint | None = None,
) -> Solution:
    """Minimise ½‖w‖² + C Σ cᵢ log(1 + e^{−yᵢ(⟨w, xᵢ⟩ + b)}) and say how near the minimum is.

    Parameters
    ----------
    X : checked C-contiguous float32 or float64 array, or a CSR matrix
    signs : array of −1 and +1
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty (maximum likelihood)
    fit_intercept : whether b is free; otherwise it is 0
    tol : the relative gap asked for; below 1e-8 the weights are asked to that many digits too, as
        they always are without a penalty (see `linsep.train.convex.curvature.asked_for`)
    max_iter : most passes over all rows
    n_jobs : threads; never changes the bytes of the result
    start : (w, b) to start from
    listener : called after each pass; True stops the run
    replay_log : what an earlier run found, gone through again; new passes are added
    savepoint : the same for solvers that the driver runs

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> found = fit_logistic(X, y, C=1.0, tol=1e-10)
    >>> found.w.round(6), round(found.b, 6), found.status.name
    (array([0.452875]), -0.679313, 'converged')
    >>> fit_logistic(np.array([[0.0], [1.0]]), np.array([-1, 1]), C=np.inf).status.name
    'no_optimum'
    """
    if not C > 0:
        raise ParameterError(f"C is {C!r}; it must be positive, or infinite for no penalty.")
    options: dict[str, Any] = {
        "fit_intercept": fit_intercept,
        "tol": asked_for(tol, C),
        "max_iter": max_iter,
        "n_jobs": n_jobs,
        "listener": listener,
        "replay_log": replay_log,
        "savepoint": savepoint,
    }
    basis = None if sp.issparse(X) else better_basis(X, C, fit_intercept)
    if basis is None:
        return _solve(X, signs, weights, float(C), start, options)
    if start is not None:
        start = basis.inside(start[0], float(start[1]))
    found = _solve(basis.Z, signs, weights, float(C), start, options)
    w, b = basis.outside(found.w, found.b)
    return replace(found, w=w, b=float(b) if fit_intercept else 0.0)


def _solve(
    X: Array,
    signs: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, float] | None,
    options: dict[str, Any],
) -> Solution:
    d, dense, free = X.shape[1], not sp.issparse(X), math.isinf(C)
    if (d <= (_WIDEST if free else _WIDE)) if dense else (free or suits(X)):
        return _by_hessians(X, signs, weights, C, start, options)
    if free:
        return _as_two_classes(X, signs, weights, C, start, options)
    found = _by_products(X, signs, weights, C, start, options)
    made, listener = found.n_iter, options["listener"]
    ended = found.status not in (Status.budget, Status.converged)
    digits = found.status is Status.converged and options["tol"] >= _DIGITS
    if ended or digits or not dense or d > _WIDEST or made >= options["max_iter"]:
        return found
    later = {**options, "max_iter": options["max_iter"] - made}
    if listener is not None:
        later["listener"] = lambda done: listener(replace(done, epoch=made + done.epoch))
    more = _by_hessians(X, signs, weights, C, (found.w, found.b), later)
    return replace(more if more.primal <= found.primal else found, n_iter=made + more.n_iter)


def _by_products(
    X: Any,
    signs: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, float] | None,
    options: dict[str, Any],
) -> Solution:
    """Many features, where a Hessian costs too much."""
    listener, tell = options["listener"], None
    if listener is not None:

        def tell(seen: Candidate) -> Any:
            return listener(Pass(seen.n_iter, UNCOUNTED, seen.active, seen.primal))

    solver = NewtonCG(
        X, signs, weights, C, fit_intercept=options["fit_intercept"], n_jobs=options["n_jobs"],
        start=start, multipliers=False,
    )  # fmt: skip
    tol, point = max(options["tol"], _DIGITS), options["savepoint"]
    return drive(solver, Goal(tol, options["max_iter"], tell, savepoint=point))


def _by_hessians(
    X: Array,
    signs: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, float] | None,
    options: dict[str, Any],
) -> Solution:
    """Few features, or features that nothing else comes to terms with."""
    kind: type[Problem] = SparseProblem if sp.issparse(X) else Problem
    if X.size <= 1 << 21:
        X = X.astype(np.float64, copy=False)
    arguments = (X, signs, weights, C, options["fit_intercept"])
    with Pool(options["n_jobs"]) as pool, np.errstate(all="ignore"):
        for careful in (False, True):
            run = _Run(kind(*arguments, pool, careful), options)
            if options["replay_log"] is not None:
                run.problem.replay_log = options["replay_log"]
            try:
                return run.solve(start)
            except OverflowedError:
                if careful:
                    raise
    raise AssertionError  # both ways out are above


def _as_two_classes(
    X: Array,
    signs: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, float] | None,
    options: dict[str, Any],
) -> Solution:
    """Many features: Hessians cost too much. W = (−w/2, w/2) has half P at half the C."""
    two: Any = None
    if start is not None:
        w, b = np.asarray(start[0], np.float64) / 2, float(start[1]) / 2
        two = np.stack([-w, w]), np.array([-b, b])
    codes = (signs > 0).astype(np.int32)
    settings = {k: v for k, v in options.items() if k not in ("replay_log", "savepoint")}
    found = fit_softmax(X, codes, weights, C / 2, n_classes=2, start=two, **settings)
    return replace(
        found,
        w=found.w[1] - found.w[0],
        b=float(found.b[1] - found.b[0]),
        primal=2 * found.primal,
        dual=2 * found.dual,
        gap=2 * found.gap,
    )


class _Run:
    """One fit: where it is, how many passes it took, and how it ends."""

    def __init__(self, problem: Problem, options: dict[str, Any]) -> None:
        self.problem = problem
        self.tol = max(options["tol"], 1e-15)
        self.max_iter: int = options["max_iter"]
        self.listener: Listener | None = options["listener"]
        self.passes = 0
        self.best: Point | None = None
        self.gap = math.inf
        self.fell = math.inf
        self.status: Status | None = None

    def look(self, u: Floats, curved: bool = False) -> Point:
        """One pass over all rows, told to the listener."""
        p = self.problem.point(u, curved)
        self.passes += 1
        if self.best is None or p.value <= self.best.value * (1 + 1e-14):
            self.best, self.gap = p, p.gap
        loss = float(p.sums.loss.sum())
        if self.listener and self.listener(Pass(self.passes, p.sums.mistakes, 1, loss)) is True:
            self.status = Status.stopped
        elif self.passes >= self.max_iter:
            self.status = Status.budget
        return p

    def solve(self, start: tuple[Array, float] | None) -> Solution:
        problem = self.problem
        n, d = problem.sums.blocks.X.shape
        u = np.zeros(d + 1)
        if problem.fit_intercept:
            u[-1] = problem.odds
        if start is not None:
            w, b = problem.columns.inside(np.asarray(start[0], np.float64), float(start[1]))
            u = np.append(w, b if problem.fit_intercept else 0.0)
        try:
            if problem.sampled and n >= _MANY and n >= 64 * d:
                u = self._by_sample(u, start is None)
            if self.status is None:
                self._by_newton(u)
        except KeyboardInterrupt:
            self.status = Status.interrupted
        return self._ending(u)

    def _by_sample(self, u: Floats, cold: bool) -> Floats:
        """Passes that correct the solution of a sample; returns where they lead."""
        problem, sums = self.problem, self.problem.sums
        X = sums.blocks.X
        n, d = X.shape
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
        last, memory = None, Memory(8)
        while True:
            p = self.look(u)
            if p.gap <= self.tol * p.value:
                self.status = Status.converged
            if self.status is not None or not self._closer(p, sample, last):
                return self.best.u if self.best else u
            u, last = sample.follow(p, last, memory), p

    def _closer(self, p: Point, sample: Sample, last: Point | None) -> bool:
        """Whether another corrected sample is worth its pass."""
        if p is not self.best or (last and last.gap < math.inf and p.gap > 0.2 * last.gap):
            return False
        if p.gap < math.inf or sample.curvature is None:
            return True
        # Without a penalty only the full Hessian proves anything: go to it when near.
        decrement2 = float(p.gradient @ sample.curvature.solve(p.gradient))
        return decrement2 > 0.1 * self.tol * p.value

    def _by_newton(self, u: Floats) -> None:
        """Newton's method with the Hessian of all rows."""
        p, before, self.fell = self.look(u, curved=True), math.inf, math.inf
        while self.status is None:
            curvature = self.problem.curvature(p.sums)
            step = curvature.solve(p.gradient)
            decrement2 = float(p.gradient @ step)
            self.status = self._judge(p, curvature, step, decrement2, before)
            if self.status is not None:
                return
            before, t = decrement2, 1.0
            while True:
                trial = self.look(p.u - t * step, curved=True)
                if trial.value <= p.value - 1e-4 * t * decrement2 + 4e-15 * p.value:
                    break
                t /= 2
                if self.status is None and t < 1e-9:
                    if not curvature.overlooks(p.gradient):
                        radius2 = self.problem.sums.widest(curvature.whiten())
                        self.gap = min(self.gap, decrease_left(decrement2, radius2))
                    self.status = self._at_rounding(p)
                if self.status is not None:
                    return
            self.fell, p = p.value - trial.value, trial

    def _judge(
        self, p: Point, curvature: Curvature, step: Floats, decrement2: float, before: float
    ) -> Status | None:
        """The ending reached at p, if any; the certified gap is kept on the way."""
        problem, asked = self.problem, self.tol * p.value
        stuck = at_rounding(decrement2, before, p.value, self.fell)
        near = decrement2 <= 2 * max(asked, 1e-6 * p.value)
        radius2 = math.inf
        # The dual bound needs a penalty, and one that is not lost in rounding.
        known = not curvature.overlooks(p.gradient)
        if self.gap > asked and near and known and (stuck or p.gap == math.inf):
            radius2 = problem.sums.widest(curvature.whiten())
            self.gap = min(self.gap, decrease_left(decrement2, radius2))
        # Below 1e-8 the weights are asked for as many digits: ‖step‖² by the Hessian, relative.
        if self.gap <= asked and (self.tol >= 1e-8 or decrement2 <= self.tol**2 * p.value):
            return Status.converged
        if stuck:
            return self._at_rounding(p)
        if not problem.ridge.any() and self._runs_away(p, step, radius2 * decrement2 > 0.1):
            return Status.no_optimum
        return None

    def _at_rounding(self, p: Point) -> Status:
        """No step lowers F by more than rounding raises it: the ending, whatever was asked."""
        return Status.converged if self.gap <= max(self.tol, 1e-11) * p.value else Status.budget

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

    def _ending(self, u: Floats) -> Solution:
        problem, p, unit = self.problem, self.best, self.problem.unit
        status = self.status or Status.budget
        if p is not None:
            u = p.u
        w, b = problem.columns.outside(u[:-1], float(u[-1]))
        if not problem.fit_intercept:
            b = 0.0
        value, gap = (p.value, self.gap) if p else (math.inf, math.inf)
        return end_of_newton(w, float(b), value, gap, unit, self.passes, status)
