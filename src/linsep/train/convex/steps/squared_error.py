"""Linear regression by descent on ½ mean squared error: whole batches, folds, or single rows.

No bound on the least loss is known on the way: a run ends where the loss hardly changes, and no
weight by itself has much to gain.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.status import Status
from linsep.train.closed.least_squares import targets_of
from linsep.train.closed.minimum_norm import Line
from linsep.train.closed.moments import Floats
from linsep.train.convex.drive import Candidate
from linsep.train.convex.penalties import RIDGE
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.score_descent import Evaluation, ScoreDescent
from linsep.train.convex.steps.score_losses import SquaredError
from linsep.train.convex.steps.score_walks import EVERYTHING, Stepping, Steps, Walk
from linsep.train.convex.steps.standardise import lens_of
from linsep.train.problem import Problem

NOTHING = 1e-30  # a change of loss, for targets of at most one, that is only rounding
CALM = 5  # passes in a row that must change little before a random order may end


class SquaredErrorSteps(Stepping):
    """The passes of a regression as a solver, all targets side by side.

    Parameters
    ----------
    problem : rows of positive weight
    Y : (n, t) what they should be told
    steps : how to step; no size stands for one that is safe for the data
    free, scale : whether there are intercepts; whether columns are brought to one scale
    tol, absolute : a part of the loss of the mean prediction, and then no weight by itself may
        have much to gain; or a loss in the units of y squared, and nothing else is asked
    start : weights and intercepts, 'two-point', 'random' by the seed of the steps, or 'zero'
    """

    def __init__(
        self, problem: Problem, Y: Floats, steps: Steps, *, free: bool, scale: bool, tol: float,
        absolute: bool, start: Any = "zero",
    ) -> None:  # fmt: skip
        self.targets = targets_of(Y, scale and free)
        T, planes = self.targets.at(slice(None)), Y.shape[1]
        descent = ScoreDescent(
            problem, SquaredError(), planes, RIDGE, np.inf,
            free=free, scale=scale, labels=T,
        )  # fmt: skip
        super().__init__(descent, steps, name="steps")
        self._scale, self._allowed, self._absolute = scale, tol, absolute
        self._enough = 0.5 * tol * T.var(axis=0) + NOTHING
        if isinstance(start, tuple):
            W, b = (np.ldexp(one, -self.targets.exponents.reshape(-1, *[1] * (one.ndim - 1)))
                    for one in start)  # fmt: skip
            descent.begin_at(W, b - self.targets.shift)
        elif start == "two-point":
            self._through_two_points()
        elif start == "random":
            drawn = np.random.default_rng(steps.seed).standard_normal(
                (planes, problem.n_features + 1)
            )
            descent.a, descent.b = drawn[:, :-1].copy(), drawn[:, -1] * free
        self.losses: list[float] = []
        self._calm = 0

    def _through_two_points(self) -> None:
        """aⱼ = (y₂ − y₁)/(xⱼ₂ − xⱼ₁), shared out among the columns that differ: the plane goes
        through the first two rows."""
        descent = self.descent
        if descent.problem.n_rows < 2:
            return
        z = descent.view.lens.of(descent.problem.X[:2])
        z, y = (z.toarray() if sp.issparse(z) else z), descent.labels[:2]
        step = z[1] - z[0]
        differ = np.abs(step) > 1e-9 * np.abs(z).max(initial=0.0)
        slope = np.divide(1.0, step, out=np.zeros_like(step), where=differ)
        descent.a = np.outer(y[1] - y[0], slope) / max(1, int(differ.sum()))
        descent.b = y[0] - descent.a @ z[0] if descent.free else descent.b

    def _made(self) -> Walk:
        steps, descent = self.steps, self.descent
        eta = steps.eta0 or descent.view.step_size(steps.batch_size)
        return Walk(descent, steps, eta, None)

    def _pass(self) -> None:
        before = self._walk.seen
        super()._pass()
        now = self._walk.seen
        near = abs(before.value - now.value) <= float(self._enough.sum())
        self._calm = self._calm + 1 if near else 0
        self.losses.append(self._raw(now))
        self._changed = abs(self._raw(before) - self.losses[-1])
        self._done = replace(self._done, loss=self.losses[-1])

    def _raw(self, seen: Evaluation) -> float:
        """½ mean squared error in the units of y."""
        with np.errstate(over="ignore"):
            return float(self.targets.raw(self.targets.raw(seen.parts)).sum())

    def _candidate(self) -> Candidate:
        return Candidate(self._epoch, self.losses[-1], -np.inf, done=self._done)

    def _ended(self) -> bool:
        if not self._epoch:
            return False
        ending, calm = Status.budget, 1 if self.steps.batch_size is None else CALM
        if not self._walk.seen.value <= EVERYTHING * self._start + NOTHING:
            ending = Status.diverged
        elif self._absolute:
            ending = Status.converged if self._changed < self._allowed else ending
        elif self._calm >= calm and (self._still_to_gain() <= self._enough).all():
            ending = Status.converged
        self._ending = ending
        return ending is not Status.budget

    def _still_to_gain(self) -> Floats:
        """A lower bound on each target's distance to its least loss: what one standard column
        would gain.

        Along the weight of a column of mean square one the loss is a parabola of curvature one, so
        that is ½g², with g the slope there.
        """
        seen, view = self._walk.seen, self.descent.view
        g, level = seen.slope, seen.slope_b
        if not self._scale:  # Σ e(x·2^-e − m)/s from Σ e x
            exact, shift, rate = lens_of(view.problem, view.frame, view.free)
            g = (g * exact - np.outer(level, shift)) * rate
        return np.asarray(0.5 * np.square(np.column_stack([g, level])).max(axis=1))

    def state(self) -> dict[str, Any]:
        more = {"losses": self.losses, "calm": self._calm, "changed": self._changed}
        return {**super().state(), **more}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.losses, self._calm, self._changed = (state[k] for k in ("losses", "calm", "changed"))

    @property
    def _told(self) -> tuple[Floats, Floats, float]:
        """Weights and intercepts, and what they lose in the units of y."""
        best, descent = self._best, self.descent
        if best is None:
            return descent.a, descent.b, np.inf
        return best.a, best.b, self._raw(best)

    def solution(self) -> Solution:
        """The best weights, in the units of the lens; `line` has them in those of y."""
        a, b, loss = self._told
        return Solution(a, b, None, loss, -np.inf, np.inf, self._epoch, self._ending)

    def line(self) -> Line:
        """The best weights met, in the units of the data."""
        (a, b, loss), lens, targets = self._told, self.descent.view.lens, self.targets
        with np.errstate(over="ignore", invalid="ignore"):
            weights = targets.raw(a * lens.rate) * lens.exact
            centre = lens.shift / lens.exact
            return Line(weights, targets.raw(b + targets.shift), centre, loss, a.shape[1])
