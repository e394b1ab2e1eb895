"""Passes of a descent on scores: how long the steps are, what is kept, and when it ends.

A walk goes over the rows once for each pass; `Progressing` keeps the best weights met and the
highest bound, so that the run ends on the gap between them
(`linsep.train.convex.steps.score_descent` says what both are).
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


class Progressing(Stateful):
    """The best weights met and the highest bound, as passes go on."""

    state_names = ("best", "dual", "alpha")

    def __init__(
        self, descent: ScoreDescent, last: bool, tell: Callable[[Evaluation], None]
    ) -> None:
        self.descent, self.last, self._tell = descent, last, tell
        self.best: Evaluation | None = None
        self.dual = 0.0
        self.alpha: Floats | None = None

    def note(self, seen: Evaluation) -> None:
        """Keep what is better, and tell of it. Slopes give each point a bound of its own; where
        the loss has a corner, bounds come from the multipliers of all passes."""
        best, same = self.best, 1e-13 * seen.value  # values this close are told apart by bounds
        corner = self.descent.loss.corner
        if best is None or self.last or self._better(seen, best, 0.0 if corner else same):
            self.best = best = seen
            self.dual = self.dual if corner else seen.dual
        if corner and seen.dual > self.dual:
            self.dual, self.alpha = seen.dual, self.descent.multipliers
        self._tell(best)

    @staticmethod
    def _better(seen: Evaluation, best: Evaluation, same: float) -> bool:
        if abs(seen.value - best.value) <= same:
            return seen.dual > best.dual
        return seen.value <= best.value

    @property
    def gap(self) -> float:
        return max(0.0, self.best.value - self.dual) if self.best else np.inf

    @property
    def scale(self) -> float:
        """P / J"""
        descent = self.descent
        return float(descent.unit if descent.lam else descent.problem.total)

    def solution(self, status: Status, n_iter: int) -> Solution:
        """The best weights in the units of the data."""
        assert self.best is not None
        W, b = self.descent.outside(self.best.a, self.best.b)
        primal, gap = self.best.value * self.scale, self.gap * self.scale
        return Solution(W, b, self.alpha, primal, primal - gap, gap, n_iter, status)


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


class Stepping:
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

    def __init__(
        self,
        descent: ScoreDescent,
        steps: Steps,
        trace: Trace | None = None,
        publish: Callable[[Floats, Floats], None] = lambda W, b: None,
        name: str = "gradient",
    ) -> None:
        self.descent, self.steps, self.trace, self.name = descent, steps, trace, name
        self.pool = Pool(1)
        self._walk: Any = None
        self._known = Progressing(
            descent, steps.last, lambda seen: publish(*descent.outside(seen.a, seen.b))
        )
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
        self._known.note(walk.seen)
        self._start = walk.seen.value
        if self.trace is not None:
            self.trace.begin(*self.descent.outside(self.descent.a, self.descent.b))

    def candidates(self) -> Iterator[Candidate]:
        """One after each pass, and one before the first where a warm start is good enough."""
        if self._walk is None:
            self._begin()
            if self.descent.lam and self._known.gap <= self.tol * self._start:
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
        self._known.note(walk.seen)
        if trace is not None and self.steps.batch_size is None:
            w, b = self.descent.outside(walk.seen.a, walk.seen.b)
            trace.update(1, self._epoch, None, np.empty(0), np.empty(0), w, b)
        self._done = Pass(self._epoch, walk.seen.mistakes, made, walk.seen.loss, eta)

    def _candidate(self) -> Candidate:
        """The bounds so far; without a penalty the slope along standard columns stands in."""
        known, scale = self._known, self._known.scale
        best = known.best
        assert best is not None
        dual = known.dual
        if not self.descent.lam and self._epoch:
            dual = known.dual = max(dual, best.value - self._left())
        return Candidate(self._epoch, scale * best.value, scale * dual, done=self._done)

    def _left(self) -> float:
        """What one standard column by itself could gain, summed: no bound, but of its size."""
        seen = self._walk.seen
        return float(np.sum(seen.slope**2) + np.sum(seen.slope_b**2)) / self.descent.loss.bend

    def _ended(self) -> bool:
        """Whether the run ends by itself: it has left for good, or a separator
        shows that without a penalty no finite optimum exists."""
        known, walk, free = self._known, self._walk, not self.descent.lam
        seen, best = walk.seen, known.best
        assert best is not None
        if not self._epoch:
            return False
        if not seen.value <= EVERYTHING * self._start + 1e-300:
            self._ending = Status.diverged
        elif free and seen.mistakes == 0:
            self._ending = Status.no_optimum
            return not self.steps.last
        else:
            self._ending = Status.budget
        return self._ending is not Status.budget

    def state(self) -> dict[str, Any]:
        parts: dict[str, Any] = {
            "descent": self.descent, "walk": self._walk, "known": self._known
        }  # fmt: skip
        pace, done = self.steps.pace, self._done
        numbers = (done.epoch, done.mistakes, done.updates, done.loss, done.eta)
        return {
            **{name: part.state() for name, part in parts.items()},
            "pace": (pace.before, pace.passes, pace.failures), "done": numbers,
            "start": self._start,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        self._walk = self._made()
        self.descent.restore(state["descent"])
        self._walk.restore(state["walk"])
        self._known.restore(state["known"])
        pace = self.steps.pace
        pace.before, pace.passes, pace.failures = state["pace"]
        self._done, self._start = Pass(*state["done"]), state["start"]
        self._epoch = self._done.epoch

    def interrupted(self) -> None:
        if self._walk is None:
            self._begin()

    def rescaled(self) -> None:
        """Columns are seen through a lens already."""

    def solution(self) -> Solution:
        return self._known.solution(self._ending, self._epoch)


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
