"""Linear regression by descent on ½ mean squared error: whole batches, folds, or single rows.

Columns are seen through a lens (`linsep.train.convex.steps.standardise`), so that one step size
suits all of them.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.kernels import steps as kernels
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.closed.frame import frame_of
from linsep.train.closed.least_squares import Line, Targets, targets_of
from linsep.train.closed.moments import Floats
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.standardise import View, lens_of, raw_lens
from linsep.train.problem import Block, Problem
from linsep.train.run.loop import UNCOUNTED, Pass
from linsep.train.run.state import Stateful

EVERYTHING = 1e4  # a loss this many times the first one has left for good
NOTHING = 1e-30  # a change of loss, for targets of at most one, that is only rounding
CALM = 5  # passes in a row that must change little before a random order may end


class Descent(Stateful):
    """One regression under way: weights `a` (t, d) and level `b` (t,) of the scaled columns."""

    state_names = ("a", "b", "losses", "best", "best_loss")

    def __init__(
        self, problem: Problem, Y: Floats, fit_intercept: bool, scale: bool, start: str, seed: int
    ) -> None:
        self.problem = problem
        self.free = fit_intercept
        self.frame = frame_of(problem)
        self.targets: Targets = targets_of(Y, scale and fit_intercept)
        with np.errstate(over="ignore", invalid="ignore"):
            self.standard = lens_of(problem, self.frame, fit_intercept)
        d = problem.n_features
        self.lens = self.standard if scale else raw_lens(d)
        self.a, self.b = np.zeros((Y.shape[1], d)), np.zeros(Y.shape[1])
        if start == "two-point":
            self._through_two_points()
        elif start == "random":
            drawn = np.random.default_rng(seed).standard_normal((Y.shape[1], d + 1))
            self.a, self.b = drawn[:, :-1].copy(), drawn[:, -1] * fit_intercept
        self.losses: list[float] = []
        self.best: tuple[float, Floats, Floats] = (np.inf, self.a.copy(), self.b.copy())
        self.best_loss = np.inf

    def begin_at(self, W: Floats, b: Floats) -> None:
        """Start from weights in the units of the data."""
        lens, unit = self.lens, -self.targets.exponents
        tame = np.ldexp(W, unit[:, None]) / lens.exact
        self.a = np.divide(tame, lens.rate, out=np.zeros_like(tame), where=lens.rate > 0)
        if self.free:
            self.b = np.ldexp(b, unit) + self.a @ (lens.shift * lens.rate) - self.targets.shift
        self.best = (np.inf, self.a.copy(), self.b.copy())

    def _through_two_points(self) -> None:
        """aⱼ = (y₂ − y₁)/(xⱼ₂ − xⱼ₁), shared out among the columns that differ: the plane goes
        through the first two rows."""
        rows = np.arange(self.problem.n_rows)
        if self.problem.weights.size:
            rows = rows[self.problem.weights > 0]
        if len(rows) < 2:
            return
        first = self.problem.X[rows[:2]]
        z = self.lens.of(first)
        z = z.toarray() if sp.issparse(z) else z
        y = self.targets.at(rows[:2])
        step = z[1] - z[0]
        differ = np.abs(step) > 1e-9 * np.abs(z).max(initial=0.0)
        slope = np.divide(1.0, step, out=np.zeros_like(step), where=differ)
        self.a = np.outer(y[1] - y[0], slope) / max(1, int(differ.sum()))
        self.b = y[0] - self.a @ z[0] if self.free else self.b

    def value_and_slope(self) -> tuple[Floats, Floats, Floats]:
        """½ mean squared error of each target at (a, b), in tame units, and its gradient."""

        def of(block: Block) -> Any:
            part = self.frame.part(block)
            Z = self.lens.of(part.X)
            E = np.asarray(Z @ self.a.T) + self.b - self.targets.of(block)
            W = E * part.weights[:, None]
            return np.square(E).T @ part.weights, np.asarray(Z.T @ W).T, W.sum(axis=0)

        def add(p: Any, q: Any) -> Any:
            return tuple(x + y for x, y in zip(p, q, strict=True))

        with Pool(1), np.errstate(over="ignore", invalid="ignore"):
            squares, ga, gb = self.problem.sum(of, add)
        total = self.frame.total
        return squares / (2 * total), ga / total, gb / total * self.free

    def raw_loss(self, losses: Floats) -> float:
        """½ mean squared error in the units of y."""
        with np.errstate(over="ignore"):
            return float(self.targets.raw(self.targets.raw(losses)).sum())

    def still_to_gain(self, slope: tuple[Floats, Floats]) -> float:
        """A lower bound on the distance to the least loss: what one standard column would gain.

        Along the weight of a column of mean square one the loss is a parabola of curvature one, so
        that is ½g², with g the slope there.
        """
        g, level = slope
        if self.lens is not self.standard:  # Σ e(x·2^-e − m)/s from Σ e x
            exact, shift, rate = self.standard
            g = (g * exact - np.outer(level, shift)) * rate
        return float(np.square(np.column_stack([g, level])).max()) / 2

    def step_size(self, batch_size: int | None) -> float:
        """A safe step for the mean of that many rows; None for all of them."""
        return View(self.problem, self.frame, self.lens, self.free).step_size(batch_size)

    def step(self, eta: float, slope: tuple[Floats, Floats]) -> None:
        """(a, b) ← (a, b) − η ∇"""
        with np.errstate(over="ignore", invalid="ignore"):
            self.a = self.a - eta * slope[0]
            self.b = self.b - eta * slope[1]

    def fold_pass(
        self, eta: float, batch_size: int, seed: int, epoch: int, shuffle: bool | str
    ) -> int:
        """One pass in folds of `batch_size` rows, drawn anew; returns the number of steps."""
        weights = self.problem.weights
        pace = weights / weights.mean() if weights.size else weights
        (t, d), steps, none = self.a.shape, 0, np.zeros(self.a.shape[1])
        seen = np.zeros(t), np.zeros((batch_size, t)), np.empty((0, 0)), np.zeros(2)
        lens = tuple(self.lens.seen(self.problem.rows))
        for block, order in self.problem.in_order(seed, epoch, shuffle):
            span, made = slice(block.start, block.start + len(order)), -(-len(order) // batch_size)
            kernels.squares(
                block.rows, lens, (self.targets.at(span), pace[span], order), batch_size,
                (np.full(made, eta), np.zeros(made), 1), (none, none),
                (self.a, self.b, bool(self.free)), seen, np.empty(d),
            )  # fmt: skip
            steps += made
        return steps

    def remember(self, losses: Floats) -> None:
        """Keep the weights if they are the best so far."""
        loss = float(losses.sum())
        if loss <= self.best[0]:
            self.best = (loss, self.a.copy(), self.b.copy())
            self.best_loss = self.raw_loss(losses)

    def line(self) -> Line:
        """The best weights met, in the units of the data."""
        _, a, b = self.best
        lens, targets = self.lens, self.targets
        with np.errstate(over="ignore", invalid="ignore"):
            weights = targets.raw(a * lens.rate) * lens.exact
            centre = lens.shift / lens.exact
            return Line(weights, targets.raw(b + targets.shift), centre, self.best_loss, a.shape[1])


class Rule(NamedTuple):
    """How to step, and when to end.

    Attributes
    ----------
    batch_size : rows in a step; None for all of them
    eta0 : first step size, or None for one that is safe for the data
    schedule : step size as a function of the first one and the pass; None for the
        first one divided by 1 + the number of passes so far that have not lowered the loss
    tol, absolute : a part of the loss of the mean prediction, and then no weight by itself may
        have much to gain; or a loss in the units of y squared, and nothing else is asked
    seed, shuffle : the order of rows
    """

    batch_size: int | None
    eta0: float | None
    schedule: Callable[[float, int], float] | None
    tol: float
    absolute: bool
    seed: int
    shuffle: bool | str


class SquaredErrorSteps(Stateful):
    """A descent as a solver: passes until the loss changes by less than the tolerance.

    No bound on the least loss is known on the way; so the solver itself says when it has converged.
    """

    name = "steps"
    tol = 1e-4
    state_names = ("epoch", "losses", "slope", "loss", "start", "first", "calm", "failures", "done")

    def __init__(self, descent: Descent, rule: Rule) -> None:
        self.descent, self.rule = descent, rule
        self.pool = Pool(1)
        self.epoch, self.calm, self.failures = 0, 0, 0
        self.first = self.losses = np.full(len(descent.b), np.inf)
        self.loss = self.start = np.inf
        self.slope: list[Floats] = []
        self.done: tuple[Any, ...] = ()
        self._status = Status.budget

    def _begin(self) -> None:
        descent, rule = self.descent, self.rule
        self._eta = descent.step_size(rule.batch_size) if rule.eta0 is None else float(rule.eta0)
        middle = descent.targets.mean(lambda y: y)
        variance = descent.targets.mean(lambda y: np.square(y - middle))
        self._enough = rule.tol * float(variance.sum()) / 2 + NOTHING

    def candidates(self) -> Iterator[Candidate]:
        self._begin()
        if self.epoch:
            self._status = self._ending()
            yield self._candidate()
        else:
            self.first, *self.slope = self.descent.value_and_slope()
            self.descent.remember(self.first)
            self.loss = self.start = float(self.first.sum())
        while self._status is Status.budget:
            self._pass()
            self._status = self._ending()
            yield self._candidate()

    def _candidate(self) -> Candidate:
        return Candidate(self.epoch, self.done[3], -np.inf, done=Pass(*self.done))

    def _pass(self) -> None:
        descent, rule = self.descent, self.rule
        self.epoch += 1
        eta = self._eta / (1 + self.failures)
        if rule.schedule is not None:
            eta = rule.schedule(self._eta, self.epoch)
        steps = 1
        if rule.batch_size is None:
            descent.step(eta, (self.slope[0], self.slope[1]))
        else:
            steps = descent.fold_pass(eta, rule.batch_size, rule.seed, self.epoch, rule.shuffle)
        self.losses, *self.slope = descent.value_and_slope()
        descent.remember(self.losses)
        before, self.loss = self.loss, float(self.losses.sum())
        self.calm = self.calm + 1 if abs(before - self.loss) <= self._enough else 0
        self.failures += self.loss >= before
        descent.losses.append(descent.raw_loss(self.losses))
        self.done = (self.epoch, UNCOUNTED, steps, descent.losses[-1], eta)

    def _ending(self) -> Status:
        descent, rule = self.descent, self.rule
        if not self.loss <= EVERYTHING * self.start + NOTHING:
            return Status.diverged
        if rule.absolute:
            before = (descent.losses[-2:-1] or [descent.raw_loss(self.first)])[0]
            near = abs(descent.losses[-1] - before) < rule.tol
            return Status.converged if near else Status.budget
        if self.calm < (1 if rule.batch_size is None else CALM):
            return Status.budget
        slope = self.slope[0], self.slope[1]
        near = descent.still_to_gain(slope) <= slope[0].shape[1] * self._enough
        return Status.converged if near else Status.budget

    def state(self) -> dict[str, Any]:
        return {**super().state(), "descent": self.descent.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.descent.restore(state["descent"])

    def interrupted(self) -> None:
        """The best weights were copied before the pass began."""

    def rescaled(self) -> None:
        """Columns are seen through a lens already."""

    def solution(self) -> Solution:
        """The best weights, in the units of the lens; `Descent.line` has them in those of y."""
        _, a, b = self.descent.best
        loss = self.descent.best_loss
        return Solution(a, b, None, loss, -np.inf, np.inf, self.epoch, self._status)
