"""Passes of a descent on scores: how long the steps are, what is kept, and when it ends.

A walk goes over the rows once for each pass; `Progressing` keeps the best weights met and the
highest bound, so that the run ends on the gap between them
(`linsep.train.convex.steps.score_descent` says what both are).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.status import Status
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.score_descent import Look, ScoreDescent
from linsep.train.run.loop import Listener, Pass, run
from linsep.train.run.replay_log import ReplayLog
from linsep.train.run.trace import Trace

Floats = npt.NDArray[np.float64]

EVERYTHING = 1e4  # an objective this many times the first one has left for good
ROUNDING = 1e-11  # a relative gap this small is as good as any, once no step succeeds


class Progressing:
    """The best weights met and the highest bound, as passes go on."""

    def __init__(
        self, descent: ScoreDescent, tol: float, last: bool, tell: Callable[[Look], None]
    ) -> None:
        self.descent, self.tol, self.last, self._tell = descent, tol, last, tell
        self.best: Look | None = None
        self.dual = 0.0
        self.alpha: Floats | None = None

    def note(self, seen: Look) -> None:
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
    def _better(seen: Look, best: Look, same: float) -> bool:
        if abs(seen.value - best.value) <= same:
            return seen.dual > best.dual
        return seen.value <= best.value

    @property
    def gap(self) -> float:
        return max(0.0, self.best.value - self.dual) if self.best else np.inf

    def solution(self, status: Status, n_iter: int) -> Solution:
        """The best weights in the units of the data."""
        assert self.best is not None
        descent = self.descent
        W, b = descent.outside(self.best.a, self.best.b)
        scale = descent.unit if descent.lam else descent.problem.total
        primal, gap = self.best.value * scale, self.gap * scale
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
    shuffle: bool
    last: bool
    pace: Pace


def descend(
    descent: ScoreDescent,
    steps: Steps,
    tol: float,
    max_iter: int,
    listeners: list[Listener],
    trace: Trace | None,
    publish: Callable[[Floats, Floats], None],
    walk: Any = None,
    replay_log: ReplayLog | None = None,
) -> Solution:
    """Make passes until the relative gap is at most `tol`.

    A `walk` of another kind has `seen`, where it is, and `go(epoch)`, which makes a pass.

    Whole batches with no step size given search along each step; with one, and in folds, steps are
    as long as the schedule says, or are divided by 1 + the number of passes so far that have not
    lowered the objective. Passes of such steps that are in `replay_log` are not made again, unless
    the loss has a corner and multipliers of all rows belong to the state. To be called with one
    thread for matrix products, and with overflow let pass: both belong to the whole run.
    """
    size, bend = steps.batch_size, descent.loss.bend
    last = steps.last
    known = Progressing(descent, tol, last, lambda seen: publish(*descent.outside(seen.a, seen.b)))
    if walk is None:
        eta = steps.eta0 or descent.view.step_size(size, bend, typical=True)
        searching = size is None and steps.eta0 is None
        walk = _Search(descent, eta) if searching else _Walk(descent, steps, eta, trace, replay_log)
    known.note(walk.seen)
    if trace is not None:
        trace.begin(*descent.outside(descent.a, descent.b))
    start, count = walk.seen.value, 0

    def one_pass(epoch: int) -> Pass:
        nonlocal count
        made, now = walk.go(epoch)
        known.note(walk.seen)
        count = epoch
        if trace is not None and steps.batch_size is None:
            w, b = descent.outside(walk.seen.a, walk.seen.b)
            trace.update(1, epoch, None, np.empty(0), np.empty(0), w, b)
        return Pass(epoch, walk.seen.mistakes, made, walk.seen.loss, now)

    def ending(done: Pass) -> Status | None:
        best = known.best
        assert best is not None
        if not walk.seen.value <= EVERYTHING * start + 1e-300:
            return Status.diverged
        if not descent.lam:
            return _without_penalty(descent, walk.seen, known, tol, last)
        stuck = getattr(walk, "stalled", 0) >= 8
        if known.gap <= (max(tol, ROUNDING) if stuck else tol) * best.value:
            return Status.converged
        return Status.budget if stuck else None

    if descent.lam and known.gap <= tol * walk.seen.value:  # where a warm start began
        return known.solution(Status.converged, 0)
    status = run(one_pass, ending, max_iter, listeners)
    if status is Status.budget and not descent.lam and walk.seen.mistakes == 0:
        status = Status.no_optimum
    return known.solution(status, count)


def _without_penalty(
    descent: ScoreDescent, seen: Look, known: Progressing, tol: float, last: bool
) -> Status | None:
    """Without a penalty there is no bound from below; the slope along standard columns stands in.

    A separator ends the run: then no finite optimum exists. Not if the `last` weights are wanted.
    """
    if seen.mistakes == 0:
        return None if last else Status.no_optimum
    left = float(np.sum(seen.slope**2) + np.sum(seen.slope_b**2)) / descent.loss.bend
    known.dual = max(known.dual, known.best.value - left if known.best else 0.0)
    return Status.converged if left <= tol * seen.value else None


class _Walk:
    """Steps of a given length: whole batches, folds or single rows."""

    def __init__(
        self,
        descent: ScoreDescent,
        steps: Steps,
        eta: float,
        trace: Trace | None,
        replay_log: ReplayLog | None,
    ) -> None:
        self.descent, self.steps, self.eta, self.trace = descent, steps, eta, trace
        self._replay_log = None if descent.loss.corner else replay_log
        folds = steps.batch_size is not None
        seen = descent.look(descent.scores(descent.a), descent.b.copy() if folds else None)
        self.seen = seen._replace(a=descent.a.copy())

    def go(self, epoch: int) -> tuple[int, float]:
        """One pass; returns the number of steps and their length."""
        descent, steps = self.descent, self.steps
        pace = steps.pace
        epoch += pace.before
        eta = self.eta / (1 + pace.failures)
        if steps.schedule is not None:
            eta = steps.schedule(self.eta, epoch)
        before = self.seen.value
        if self._replay_log is None:
            state = self._make(epoch, eta)
        else:
            state = self._replay_log.look(descent.a, eta, lambda: self._make(epoch, eta))
        made, a, b, clock, self.seen = state
        descent.a, descent.b, descent._clock = a.copy(), b.copy(), clock.copy()
        pace.failures += not self.seen.value < before
        pace.passes = epoch
        return made, eta

    def _make(self, epoch: int, eta: float) -> tuple[int, Floats, Floats, Any, Look]:
        """The steps of one pass, and what all rows look like after them."""
        descent, steps, made = self.descent, self.steps, 1
        if steps.batch_size is None:
            descent.a = descent.step(eta, self.seen)
            descent.b = self.seen.b - eta * self.seen.slope_b
            seen = descent.look(descent.scores(descent.a), descent.b)
        else:
            made = descent.fold_pass(
                eta, steps.batch_size, steps.seed, epoch, steps.shuffle, self.trace
            )
            seen = descent.look(descent.scores(descent.a), descent.b.copy())
            seen = seen._replace(a=descent.a.copy())  # folds move the weights where they lie
        return made, descent.a.copy(), descent.b.copy(), descent._clock.copy(), seen


class _Search:
    """Whole batches: a step of Barzilai and Borwein's length, shortened until the objective falls.

    The intercepts are always at their best. The objective may rise a little above the last few
    (Grippo, Lampariello and Lucidi, 1986): steps that must fall each time zigzag.
    """

    MEMORY = 8

    def __init__(self, descent: ScoreDescent, eta: float) -> None:
        self.descent, self.eta = descent, eta
        self._S = descent.scores(descent.a)
        self.seen = descent.look(self._S)
        self._values = [self.seen.value]

    def go(self, epoch: int) -> tuple[int, float]:
        descent, seen = self.descent, self.seen
        change = descent.step(self.eta, seen) - seen.a
        along = descent.scores(change)
        fall = float(np.vdot(change, change)) / self.eta
        ceiling, size = max(self._values[-self.MEMORY :]), 1.0
        codes = descent.problem.codes
        while size > 1e-10:
            losses = descent.loss.losses(self._S + size * along + seen.b, codes)
            value = float(descent.c @ losses) + descent.penalised(seen.a + size * change)
            if value <= ceiling - 1e-4 * size * fall:
                break
            size /= 2
        descent.a, descent.b = seen.a + size * change, seen.b
        self._S = descent.scores(descent.a) if epoch % 50 == 0 else self._S + size * along
        self.seen = descent.look(self._S)
        self._values.append(self.seen.value)
        used = self.eta * size
        y = self.seen.slope - seen.slope
        curvature = float(np.vdot(change, y))
        moved = size * float(np.vdot(change, change))
        if curvature > 0 and moved > 0:
            self.eta = float(np.clip(moved / curvature, 1e-10 * self.eta, 1e10 * self.eta))
        return 1, used
