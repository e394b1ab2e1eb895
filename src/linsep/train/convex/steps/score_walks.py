"""Passes of a descent on scores: how long the steps are, what is kept, and when it ends.

A walk goes over the rows once for each pass; the solver keeps the best weights met and the highest
bound, and the run ends on the gap between them (`linsep.train.convex.steps.score_descent` says what
both are).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.score_descent import Evaluation, ScoreDescent
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful
from linsep.train.run.trace import Trace

Floats = npt.NDArray[np.float64]

EVERYTHING = 1e4  # an objective this many times the first one has left for good


@dataclass
class Pace:
    """How far steps have come, over all fits that began where the one before ended.

    Attributes
    ----------
    before : passes of earlier fits
    passes : passes so far
    failures : passes so far that have not lowered the objective
    """

    before: int = 0
    passes: int = 0
    failures: int = 0


class Steps(NamedTuple):
    """How to step: rows in a fold (None: all), first size (None: by itself), schedule, order.

    With `last` the weights after the last pass are kept, not the best met.
    """

    batch_size: int | None
    eta0: float | None
    schedule: Callable[[float, int], float] | None
    seed: int
    shuffle: bool | str
    last: bool
    pace: Pace


class Stepping(Stateful):
    """The passes of a walk as a solver.

    Whole batches with no step size given search along each step; with one, and in folds, steps are
    as long as the schedule says, or are divided by 1 + the number of passes so far that have not
    lowered the objective. To be run with one thread for matrix products.

    Parameters
    ----------
    descent : the problem, and where the weights begin
    steps : how to step
    trace : records steps, if any does
    publish : is shown the best weights after each pass
    name : what `solver_` says
    """

    tol = 1e-4
    state_names = ("_best", "_dual", "_alpha", "_start", "_epoch")

    def __init__(
        self,
        descent: ScoreDescent,
        steps: Steps,
        trace: Trace | None = None,
        publish: Callable[[Floats, Floats], None] = lambda W, b: None,
        name: str = "gradient",
    ) -> None:
        self.descent, self.steps, self.trace, self.name = descent, steps, trace, name
        self.pool, self._publish = Pool(1), publish
        self._unit = float(descent.unit if descent.lam else descent.problem.total)  # P / J
        self._walk: Any = None
        self._best: Evaluation | None = None  # the best weights met
        self._dual = 0.0  # the highest bound
        self._alpha: Floats | None = None  # its multipliers
        self._epoch, self._done = 0, Pass(0, 0, 0, math.inf)
        self._start, self._ending = math.inf, Status.budget

    def _made(self) -> "Walk | _Search":
        """Steps of given length, or a search along each."""
        steps, descent = self.steps, self.descent
        size, bend = steps.batch_size, descent.loss.bend
        eta = steps.eta0 or descent.view.step_size(size, bend, typical=True)
        if size is None and steps.eta0 is None:
            return _Search(descent, eta)
        return Walk(descent, steps, eta, self.trace)

    def _begin(self) -> None:
        walk = self._walk = self._made()
        self._note(walk.seen)
        self._start = walk.seen.value
        if self.trace is not None:
            self.trace.begin(*self.descent.outside(self.descent.a, self.descent.b))

    def _note(self, seen: Evaluation) -> None:
        """Keep what is better, and tell of it. Slopes give each point a bound of its own; where
        the loss has a corner, bounds come from the multipliers of all passes."""
        best, corner = self._best, self.descent.loss.corner
        same = 0.0 if corner else 1e-13 * seen.value  # values this close are told apart by bounds
        if best is not None and abs(seen.value - best.value) <= same:
            better = seen.dual > best.dual
        else:
            better = best is None or seen.value <= best.value
        if better or self.steps.last:
            self._best = seen
            self._dual = self._dual if corner else seen.dual
        if corner and seen.dual > self._dual:
            self._dual, self._alpha = seen.dual, self.descent.multipliers
        self._publish(*self.descent.outside(self.best.a, self.best.b))

    @property
    def best(self) -> Evaluation:
        assert self._best is not None
        return self._best

    @property
    def _gap(self) -> float:
        return max(0.0, self.best.value - self._dual)

    def candidates(self) -> Iterator[Candidate]:
        """One after each pass, and one before the first where a warm start is good enough."""
        if self._walk is None:
            self._begin()
            if self.descent.lam and self._gap <= self.tol * self._start:
                yield self._candidate()
        else:
            yield self._candidate()
        while not self._ended():
            self._pass()
            yield self._candidate()

    def _pass(self) -> None:
        walk, trace = self._walk, self.trace
        self._epoch += 1
        made, eta = walk.go(self._epoch)
        self._note(walk.seen)
        if trace is not None and self.steps.batch_size is None:
            w, b = self.descent.outside(walk.seen.a, walk.seen.b)
            trace.update(1, self._epoch, None, np.empty(0), np.empty(0), w, b)
        self._done = Pass(self._epoch, walk.seen.mistakes, made, walk.seen.loss, eta)

    def _candidate(self) -> Candidate:
        """The bounds so far; without a penalty the slope along standard columns stands in: what
        one of them by itself could gain, summed, is no bound, but of its size."""
        if not self.descent.lam and self._epoch:
            seen = self._walk.seen
            left = float(np.sum(seen.slope**2) + np.sum(seen.slope_b**2)) / self.descent.loss.bend
            self._dual = max(self._dual, self.best.value - left)
        bounds = self._unit * self.best.value, self._unit * self._dual
        return Candidate(self._epoch, *bounds, done=self._done)

    def _ended(self) -> bool:
        """Whether the run ends by itself: it has left for good, or a separator
        shows that without a penalty no finite optimum exists."""
        seen, self._ending = self._walk.seen, Status.budget
        if not self._epoch:
            return False
        if not seen.value <= EVERYTHING * self._start + 1e-300:
            self._ending = Status.diverged
        elif not self.descent.lam and seen.mistakes == 0:
            self._ending = Status.no_optimum
            return not self.steps.last
        return self._ending is not Status.budget

    def state(self) -> dict[str, Any]:
        pace, done = self.steps.pace, self._done
        return {
            **super().state(), "descent": self.descent.state(), "walk": self._walk.state(),
            "pace": (pace.before, pace.passes, pace.failures),
            "done": (done.epoch, done.mistakes, done.updates, done.loss, done.eta),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._walk = self._made()
        self.descent.restore(state["descent"])
        self._walk.restore(state["walk"])
        pace = self.steps.pace
        pace.before, pace.passes, pace.failures = state["pace"]
        self._done = Pass(*state["done"])

    def interrupted(self) -> None:
        if self._walk is None:
            self._begin()

    def rescaled(self) -> None:
        """Columns are seen through a lens already."""

    def solution(self) -> Solution:
        """The best weights in the units of the data."""
        W, b = self.descent.outside(self.best.a, self.best.b)
        primal, gap = self.best.value * self._unit, self._gap * self._unit
        return Solution(W, b, self._alpha, primal, primal - gap, gap, self._epoch, self._ending)


class Walk(Stateful):
    """Steps of a given length: whole batches, folds or single rows."""

    state_names = ("seen",)

    def __init__(
        self, descent: ScoreDescent, steps: Steps, eta: float, trace: Trace | None
    ) -> None:
        self.descent, self.steps, self.eta, self.trace = descent, steps, eta, trace
        seen = descent.evaluate(descent.scores(descent.a), descent.b.copy())
        self.seen = seen._replace(a=descent.a.copy())

    def go(self, epoch: int) -> tuple[int, float]:
        """One pass; returns the number of steps and their length."""
        descent, steps = self.descent, self.steps
        pace = steps.pace
        epoch += pace.before
        eta = self.eta / (1 + pace.failures)
        if steps.schedule is not None:
            eta = steps.schedule(self.eta, epoch)
        before, made = self.seen.value, 1
        if steps.batch_size is None:
            descent.a = descent.step(eta, self.seen)
            descent.b = self.seen.b - eta * self.seen.slope_b
            self.seen = descent.evaluate(descent.scores(descent.a), descent.b)
        else:
            made = descent.fold_pass(
                eta, steps.batch_size, steps.seed, epoch, steps.shuffle, self.trace
            )
            seen = descent.evaluate(descent.scores(descent.a), descent.b.copy())
            self.seen = seen._replace(a=descent.a.copy())  # folds move the weights where they lie
        pace.failures += not self.seen.value < before
        pace.passes = epoch
        return made, eta


class _Search(Stateful):
    """Whole batches: a step of Barzilai and Borwein's length, shortened until the objective falls.

    The intercepts are always at their best. The objective may rise a little above the last few
    (Grippo, Lampariello and Lucidi, 1986): steps that must fall each time zigzag.
    """

    MEMORY = 8
    state_names = ("eta", "_S", "seen", "_values")

    def __init__(self, descent: ScoreDescent, eta: float) -> None:
        self.descent, self.eta = descent, eta
        self._S = descent.scores(descent.a)
        self.seen = descent.evaluate(self._S)
        self._values = [self.seen.value]

    def go(self, epoch: int) -> tuple[int, float]:
        descent, seen = self.descent, self.seen
        change = descent.step(self.eta, seen) - seen.a
        along = descent.scores(change)
        fall = float(np.vdot(change, change)) / self.eta
        ceiling, size = max(self._values[-self.MEMORY :]), 1.0
        codes = descent.labels
        while size > 1e-10:
            losses = descent.loss.losses(self._S + size * along + seen.b, codes)
            value = float(descent.c @ losses) + descent.penalised(seen.a + size * change)
            if value <= ceiling - 1e-4 * size * fall:
                break
            size /= 2
        descent.a, descent.b = seen.a + size * change, seen.b
        self._S = descent.scores(descent.a) if epoch % 50 == 0 else self._S + size * along
        self.seen = descent.evaluate(self._S)
        self._values.append(self.seen.value)
        used = self.eta * size
        y = self.seen.slope - seen.slope
        curvature = float(np.vdot(change, y))
        moved = size * float(np.vdot(change, change))
        if curvature > 0 and moved > 0:
            self.eta = float(np.clip(moved / curvature, 1e-10 * self.eta, 1e10 * self.eta))
        return 1, used
