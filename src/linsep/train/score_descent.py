"""Descent on penalised losses of scores: whole batches with a line search, folds, or single rows.

    J(w, b) = Σ cᵢ ℓ(sᵢ) / Σ c + λ Ω(w),    s = ⟨w, x⟩ + b,   λ = 1/(C Σ c),    so J = P/(C Σ c)

Columns are seen through a lens z = (x·2^-e − m)/s (`linsep.train.lens`), so that one step suits
all of them; w = f·a with f = 2^-e/s, and the penalty is that of w. After each pass all rows are
looked at. With the intercepts at their best for these weights, the multipliers R = ∂ℓ/∂s are
balanced and bound the optimum from below:

    J ≥ D = Σ cᵢ(−ℓ*(−|Rᵢ|)) / Σ c − λ Ω*(V),     V = Σ cᵢRᵢxᵢ / (λ Σ c).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.train.delta_rule import Decay, folds, seen_through
from linsep.train.lens import View, lens_of, raw_lens
from linsep.train.loop import Listener, Pass, Status, run
from linsep.train.moments import frame_of
from linsep.train.penalties import Elastic, highest
from linsep.train.problem import Block, Problem
from linsep.train.score_losses import ScoreLoss
from linsep.train.solution import Solution
from linsep.train.trace import Trace

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

EVERYTHING = 1e4  # an objective this many times the first one has left for good
ROUNDING = 1e-11  # a relative gap this small is as good as any, once no step succeeds
LARGEST = 1e150  # of f², so that products with it stay finite


class Look(NamedTuple):
    """All rows seen from (a, b): objective, its parts' slopes, and the bound from below."""

    a: Floats
    b: Floats
    value: float
    loss: float
    mistakes: int
    slope: Floats  # of the mean loss, in a
    slope_b: Floats
    dual: float


class ScoreDescent:
    """Weights `a` (K, d) and intercepts `b` (K,) of the scaled columns, under way.

    Parameters
    ----------
    problem : rows, classes and weights; every row has weight
    loss : of the K scores of a row
    planes : K
    penalty : Ω
    C : weight of the losses; infinity stands for no penalty
    free : whether there are intercepts
    scale : whether columns are brought to one scale
    start : (W, b) in the units of the data, or None for zero
    """

    def __init__(
        self,
        problem: Problem,
        loss: ScoreLoss,
        planes: int,
        penalty: Elastic,
        C: float,
        *,
        free: bool,
        scale: bool,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n, d = problem.n_rows, problem.n_features
        self.problem, self.loss, self.penalty, self.free = problem, loss, penalty, free
        given = problem.weights if problem.weights.size else None
        plain = Problem(problem.X, np.zeros(n, np.int32), given, 1, problem.n_jobs)
        frame = frame_of(plain)
        self.unit = C * problem.total  # P = J · C Σ c
        self.lam = 1.0 / self.unit if np.isfinite(C) else 0.0
        round_part = self.lam * penalty.l2 / loss.bend
        with np.errstate(all="ignore"):
            lens = lens_of(plain, frame, free, round_part) if scale else raw_lens(d)
        self.view = View(plain, frame, lens, free)
        c = np.ones(n) if given is None else given / given.max()
        self.c = c / c.sum()
        self.f = lens.exact * lens.rate
        self.q = np.minimum(self.f * self.f, LARGEST)
        self.a, self.b = np.zeros((planes, d)), np.zeros(planes)
        if start is not None:
            self.begin_at(*start)
        self.kept = np.zeros((n, planes)) if loss.corner else np.zeros((0, 0))
        self._mean_kept, self._kept_weight = np.zeros_like(self.kept), 0.0
        self._clock = np.zeros(1, np.int64)

    def begin_at(self, W: Array, b: Array) -> None:
        """Start from weights in the units of the data."""
        lens, W = self.view.lens, np.asarray(W, np.float64)
        alive = self.f > 0
        self.a = np.zeros_like(self.a)
        np.divide(W, self.f, out=self.a, where=alive)
        level = np.asarray(b, np.float64) + self.a @ (lens.shift * lens.rate)
        self.b = level if self.free else self.b

    def outside(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Weights and intercepts in the units of the data."""
        lens = self.view.lens
        W = np.zeros_like(a)
        np.multiply(a, self.f, out=W, where=a != 0)
        level = np.zeros_like(a)
        np.multiply(a, lens.shift * lens.rate, out=level, where=a != 0)
        b = b - level.sum(axis=1)
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            raise OverflowedError(
                "X has columns so small that their weights leave the range of floats. Multiply X "
                "by a constant."
            )
        return W, b

    def scores(self, a: Floats) -> Floats:
        """⟨a, z⟩ of every row."""
        S = np.empty((self.problem.n_rows, len(a)))

        def of(block: Block) -> int:
            rows = self.problem.X[block.start : block.start + len(block.codes)]
            S[block.start : block.start + rows.shape[0]] = self.view.lens.of(rows) @ a.T
            return 0

        self.problem.sum(of, max)
        return S

    def total(self, R: Floats) -> Floats:
        """Σ cᵢ Rᵢ zᵢᵀ, (K, d)."""

        def of(block: Block) -> Floats:
            rows = slice(block.start, block.start + len(block.codes))
            Z = self.view.lens.of(self.problem.X[rows])
            return np.asarray(Z.T @ (self.c[rows, None] * R[rows])).T

        return self.problem.sum(of, np.add)

    def penalised(self, a: Floats) -> float:
        """λ Ω(w)"""
        if not self.lam:
            return 0.0
        round_part = 0.5 * self.penalty.l2 * float(np.sum(self.q * a * a))
        return self.lam * (round_part + self.penalty.l1 * float(np.abs(a * self.f).sum()))

    def look(self, S: Floats, b: Floats | None = None) -> Look:
        """J, slopes and bound at `a`, whose scores are S; with the best intercepts if b is None."""
        codes, loss = self.problem.codes, self.loss
        if b is None:
            b = loss.best_bias(S, codes, self.c, self.b) if self.free else np.zeros_like(self.b)
        T = S + b
        mean = float(self.c @ loss.losses(T, codes))
        R = loss.residual(T, codes)
        slope = self.total(R)
        dual = self._bound(R, slope)
        value = mean + self.penalised(self.a)
        wrong = loss.mistakes(T, codes)
        return Look(self.a, b, value, mean, wrong, slope, self.c @ R * self.free, dual)

    def _bound(self, R: Floats, slope: Floats) -> float:
        """D at these multipliers; for a loss with a corner, at their mean over passes."""
        if not self.lam:
            return 0.0
        if self.loss.corner:
            if not self._kept_weight:
                return 0.0
            R = -self._mean_kept / self._kept_weight
            R = self.loss.balanced(R, self.c) if self.free else R
            slope = self.total(R)
        V = np.zeros_like(slope)
        np.divide(slope, self.lam * self.f, out=V, where=self.f > 0)
        if not np.isfinite(V).all():
            return 0.0
        codes = self.problem.codes
        _, D = highest(
            lambda s: float(self.c @ self.loss.dual(R, codes, s)) * self.unit, self.penalty, V
        )
        return D / self.unit

    def fold_pass(
        self, eta: float, size: int, seed: int, epoch: int, shuffle: bool, trace: Trace | None
    ) -> int:
        """One pass in folds of `size` rows, drawn anew; returns the number of steps."""
        pace = self.c * self.problem.n_rows if self.problem.weights.size else np.empty(0)
        decay = self._decay(eta, size)
        s, pulls = np.zeros(len(self.b)), np.zeros((size, len(self.b)))
        codes, steps = self.problem.codes, 0
        for block, order in self.problem.in_order(seed, epoch, shuffle):
            stop = block.start + len(order)
            rows = seen_through(self.view.lens, block.rows)
            known = (rows, self.loss, codes[block.start : stop], pace[block.start : stop])
            kept = self.kept[block.start : stop]
            cut = 0
            while cut < len(order):
                last = len(order) if trace is None else min(len(order), cut + size * trace.wait())
                folds(
                    *known, order[cut:last], size, eta, decay, self.a, self.b, float(self.free),
                    s, pulls, kept, self._clock,
                )  # fmt: skip
                made = -(-(last - cut) // size)
                if trace is not None:
                    row = int(block.start + order[last - 1]) if size == 1 else None
                    w, b = self.outside(self.a, self.b)
                    trace.update(made, epoch, row, s, eta * pulls[(last - cut - 1) % size], w, b)
                cut, steps = last, steps + made
        if self.loss.corner:  # later passes, nearer to the optimum, count for more
            self._mean_kept += epoch * self.kept
            self._kept_weight += epoch
        return steps

    def _decay(self, eta: float, size: int) -> Decay:
        """The penalty's part of a step, taken implicitly: stable for any step size."""
        if not self.lam:
            return Decay(np.empty(0), np.empty(0), 1)
        X = self.problem.X
        every = 1
        if sp.issparse(X):  # touching all weights should cost no more than the rows do
            per_fold = size * max(1, X.nnz // max(1, X.shape[0]))
            every = max(1, min(X.shape[1] // per_fold, X.shape[0] // size))
        share = eta * self.lam * every
        shrink = 1.0 / (1.0 + share * self.penalty.l2 * self.q)
        return Decay(shrink, share * self.penalty.l1 * np.abs(self.f), every)

    def step(self, eta: float, seen: Look) -> Floats:
        """Where a step of the whole batch from `seen` leads, the penalty taken implicitly."""
        a = seen.a - eta * seen.slope
        if not self.lam:
            return a
        share = eta * self.lam
        a = np.sign(a) * np.maximum(np.abs(a) - share * self.penalty.l1 * np.abs(self.f), 0.0)
        return a / (1.0 + share * self.penalty.l2 * self.q)


class Progressing:
    """The best weights met and the highest bound, as passes go on."""

    def __init__(self, descent: ScoreDescent, tol: float, tell: Callable[[Look], None]) -> None:
        self.descent, self.tol, self._tell = descent, tol, tell
        self.best: Look | None = None
        self.dual = 0.0

    def note(self, seen: Look) -> None:
        """Keep what is better, and tell of it. Slopes give each point a bound of its own; where
        the loss has a corner, bounds come from the multipliers of all passes."""
        best, same = self.best, 1e-13 * seen.value  # values this close are told apart by bounds
        corner = self.descent.loss.corner
        if best is None or self._better(seen, best, 0.0 if corner else same):
            self.best = best = seen
            self.dual = self.dual if corner else seen.dual
        if self.descent.loss.corner:
            self.dual = max(self.dual, seen.dual)
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
        share = self.gap / self.best.value if self.best.value > 0 else 0.0
        message = f"{n_iter} passes, relative gap {share:.1e}, asked for {self.tol:.1e}."
        return Solution(W, b, primal, primal - gap, gap, n_iter, status, message)


class Steps(NamedTuple):
    """How to step: rows in a fold (None: all), first size (None: by itself), schedule, order."""

    batch_size: int | None
    eta0: float | None
    schedule: Callable[[float, int], float] | None
    seed: int
    shuffle: bool


def descend(
    descent: ScoreDescent,
    steps: Steps,
    tol: float,
    max_iter: int,
    listeners: list[Listener],
    trace: Trace | None,
    publish: Callable[[Floats, Floats], None],
    walk: Any = None,
) -> Solution:
    """Make passes until the relative gap is at most `tol`.

    A `walk` of another kind has `seen`, where it is, and `go(epoch)`, which makes a pass.

    Whole batches with no step size given search along each step; with one, and in folds, steps are
    as long as the schedule says, or are divided by 1 + the number of passes so far that have not
    lowered the objective. To be called with one thread for matrix products, and with overflow let
    pass: both belong to the whole run.
    """
    size, bend = steps.batch_size, descent.loss.bend
    known = Progressing(descent, tol, lambda seen: publish(*descent.outside(seen.a, seen.b)))
    if walk is None:
        eta = steps.eta0 or descent.view.step_size(size, bend, typical=True)
        searching = size is None and steps.eta0 is None
        walk = _Search(descent, eta) if searching else _Walk(descent, steps, eta, trace)
    known.note(walk.seen)
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
            return _without_penalty(descent, walk.seen, known, tol)
        stuck = getattr(walk, "stalled", 0) >= 8
        if known.gap <= (max(tol, ROUNDING) if stuck else tol) * best.value:
            return Status.converged
        return Status.budget if stuck else None

    if descent.lam and known.gap <= tol * walk.seen.value:  # where a warm start began
        return known.solution(Status.converged, 0)
    status = run(one_pass, ending, max_iter, listeners)
    return known.solution(status, count)


def _without_penalty(
    descent: ScoreDescent, seen: Look, known: Progressing, tol: float
) -> Status | None:
    """Without a penalty there is no bound from below; the slope along standard columns stands in.

    A separator ends the run: then no finite optimum exists.
    """
    if seen.mistakes == 0:
        return Status.no_optimum
    left = float(np.sum(seen.slope**2) + np.sum(seen.slope_b**2)) / descent.loss.bend
    known.dual = max(known.dual, known.best.value - left if known.best else 0.0)
    return Status.converged if left <= tol * seen.value else None


class _Walk:
    """Steps of a given length: whole batches, folds or single rows."""

    def __init__(
        self, descent: ScoreDescent, steps: Steps, eta: float, trace: Trace | None
    ) -> None:
        self.descent, self.steps, self.eta, self.trace = descent, steps, eta, trace
        self.seen = descent.look(descent.scores(descent.a))
        self._own = self.seen
        self._failures = 0

    def go(self, epoch: int) -> tuple[int, float]:
        """One pass; returns the number of steps and their length."""
        descent, steps = self.descent, self.steps
        eta = self.eta / (1 + self._failures)
        if steps.schedule is not None:
            eta = steps.schedule(self.eta, epoch)
        if steps.batch_size is None:
            made = 1
            descent.a = descent.step(eta, self._own)
            descent.b = self._own.b - eta * self._own.slope_b
            S = descent.scores(descent.a)
            before, self._own = self._own.value, descent.look(S, descent.b)
            self._failures += not self._own.value < before
            self.seen = self._own
            return made, eta
        before = self.seen.value
        made = descent.fold_pass(
            eta, steps.batch_size, steps.seed, epoch, steps.shuffle, self.trace
        )
        seen = descent.look(descent.scores(descent.a))
        self.seen = seen._replace(a=descent.a.copy())
        self._failures += not self.seen.value < before
        return made, eta


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
