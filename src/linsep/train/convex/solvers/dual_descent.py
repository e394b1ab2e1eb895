"""Support vector machines and logistic regression of two classes by coordinate descent on the dual.

    minimise over w, b    P = ½‖w‖² + Σᵢ Uᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b))
    maximise over α       D = −½‖w‖² − Σᵢ Uᵢ ℓ*(−αᵢ/Uᵢ),   w = Σ αᵢyᵢxᵢ,   Σ αᵢyᵢ = 0 if b is free

One row is looked at at a time and its multiplier moved to its best place: Hsieh et al. (2008) for
the hinge losses, Yu, Huang and Lin (2011) for the logistic one, here in the logit of α. Rows whose
multiplier rests at a bound are left out until an evaluation of all margins brings them back. P − D
is known exactly whenever all scores are: it is the sum of what each row adds to it.

A free intercept is not penalised. It is found by the method of multipliers: in a pass every change
of α pulls at b, and the next pass starts from where b was pulled to,

    b ← b + ρ Σ αᵢyᵢ,      until Σ αᵢyᵢ = 0;

the rows are centred on the way, x − μ, where any μ near their mean will do.
"""

from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError, ParameterError
from linsep.kernels import descent as kernels
from linsep.kernels import shuffle
from linsep.parallel import Pool
from linsep.rows.rows import aligned
from linsep.train.convex.designs.design import Design
from linsep.train.convex.drive import Candidate
from linsep.train.convex.intercept import best_corner, best_smooth_intercept
from linsep.train.convex.problem import Problem
from linsep.train.convex.solution import Solution
from linsep.train.order import WHOLE

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# Columns of `points` and places of `at`, as of kernels/convex/descent.cpp.
SIGN, CAP, SQUARE, SHIFT, ALPHA, LOGIT, MARGIN, IDLE = range(8)
BIAS, PULL, TOTAL, LEVEL, SPREAD, REACH, MET, DRIFT = range(8)

SMALL = 200_000  # entries that fit near the processor: rows are visited one by one
BLOCK = 4  # neighbouring rows visited in one go, of more entries
CALL = 20_000_000  # entries read before an interrupt is looked for
LAPS = 20  # passes made in one call where there are few entries, at most
FARTHEST = 8  # passes made without an evaluation over all rows, at most
PAID = 2  # parts of all visits that are worth an evaluation, one of so many
SAMPLE = 1024  # rows from which the centre is estimated
FASTEST = 60  # times that the pull at b may double
FEW = 512  # rows that are enough to bring Σ αy to zero
CARRIED = (
    "w", "at", "passes", "visits", "active", "best_w", "best_b", "best_alpha", "primal", "dual",
    "_slow", "_excess", "_reach", "_aim", "_last", "_seen", "_since", "_before", "_foretold",
    "_evaluated",
)  # fmt: skip


def posed(
    X: Any, signs: Array, weights: Array | None, C: float, loss: Any, intercept: bool
) -> Problem:
    """The problem in the units of the data, as descent needs it: there is no scale of columns."""
    if not 0.0 < C < np.inf:
        raise ParameterError(f"C is {C!r}; the dual needs a positive finite number.")
    caps = np.array([float(C)]) if weights is None else C * np.asarray(weights, np.float64)
    return Problem(Design(X), signs.astype(np.int8), caps, loss, intercept=intercept)


class DualDescent:
    """Coordinate descent on the dual as a solver.

    Parameters
    ----------
    problem : of two classes in memory, with the penalty ½‖w‖² and a finite C
    max_iter : most passes over all rows
    seed : decides the order of visits
    n_jobs : threads, for evaluations
    start : multipliers to begin from, as those of a neighbouring problem
    halt : set from another thread to end early with what there is
    """

    name = "dual_descent"
    tol = 1e-4

    def __init__(
        self,
        problem: Problem,
        *,
        max_iter: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
        start: Array | None = None,
        halt: Event | None = None,
    ) -> None:
        design = problem.design
        if design.sparse and 2 * design.entries > design.n * design.d:
            problem = problem._replace(design=Design(design.X.toarray()))
        self.problem, self.max_iter, self._seed = problem, max_iter, seed
        self._start, self._halt, self._restored = start, halt or Event(), False
        self.pool = Pool(n_jobs)

    def _begin(self) -> None:
        """Lay the rows out, and begin at α = 0 or at the multipliers given."""
        problem, design = self.problem, self.problem.design
        self._rows = design.rows((0, design.n))
        self.points = p = aligned((design.n, 8), np.float64)
        p[:, SIGN], p[:, CAP], p[:, LOGIT] = problem.y, problem.weights, -np.inf
        self._all = np.flatnonzero(p[:, CAP] > 0.0).astype(np.uint32)
        centre, self.w, self.at = self._centre(), np.zeros(design.d), np.zeros(8)
        kernels.measure(self._rows, centre, p)
        finite = np.isfinite(p[:, SQUARE])
        if not finite.all():
            raise OverflowedError(
                f"row {int(np.argmin(finite))} of X is so long that its square overflows. Divide X "
                "by its largest entry; linsep.Scaled does so and gives weights in original units."
            )
        self._mu = centre
        if problem.intercept:
            # Strong enough for all caps together to move the intercept by a few units, and weak
            # enough not to shorten the steps of single rows.
            typical = float(np.median(p[:: max(1, design.n // SAMPLE), SQUARE]))
            self.at[PULL] = 0.02 * typical + (4.0 + 0.005 * design.n) / float(p[:, CAP].sum())
            self.at[SPREAD] = float(np.square(centre).sum())
            p[:, SQUARE] += self.at[PULL]
        self.passes = self.visits = self._slow = self._since = self._before = 0
        self._excess, self.active = 0.0, self._all
        self._evaluated: float | None = None
        self._reach = np.inf
        self._block = BLOCK if design.entries >= SMALL else 1
        self.best_w, self.best_b, self.best_alpha = self.w.copy(), 0.0, np.zeros(design.n)
        self.primal = self._last = self._seen = self._foretold = self._at_zero()
        self.dual, self._aim = 0.0, self.tol * self.primal
        if self._start is not None:
            self._start_from(self._start)

    def _centre(self) -> Floats:
        """A centre of the rows, near their mean; zeros where no intercept takes it up."""
        design, centre = self.problem.design, np.zeros(self.problem.design.d)
        some = np.arange(0, design.n, max(1, design.n // SAMPLE), dtype=np.uint32)
        if self.problem.intercept and design.sparse:
            kernels.add_rows(self._rows, some, np.full(len(some), 1.0 / len(some)), centre)
        elif self.problem.intercept:
            centre = np.median(np.asarray(design.X[some], np.float64), axis=0)
        return centre

    def _at_zero(self) -> float:
        """P at w = 0 and b = 0."""
        return float(self.problem.loss.value(0.0)) * float(self.points[:, CAP].sum())

    def _start_from(self, alpha: Array) -> None:
        """Begin at these multipliers, brought within their bounds."""
        p, most = self.points, self.problem.loss.most()
        upper = most * p[:, CAP] if np.isfinite(most) else np.inf
        p[:, ALPHA] = np.where(p[:, CAP] > 0.0, np.clip(alpha, 0.0, upper), 0.0)
        self._set_logits(self._all)
        self._rebuild()
        if self.problem.intercept:
            scores = self.problem.design.product(self.w[None], self.pool)[0]
            scores -= self.at[LEVEL] + self.at[TOTAL] * (p[:, SHIFT] - self.at[SPREAD])
            self.at[BIAS] = self._best_intercept(scores, 0.0)

    def _set_logits(self, rows: Array) -> None:
        share = np.clip(self.points[rows, ALPHA] / self.points[rows, CAP], 1e-16, 1.0 - 1e-16)
        self.points[rows, LOGIT] = np.log(share) - np.log1p(-share)

    def _rebuild(self) -> None:
        """Compute the weights from the multipliers, as after an interrupt amid a pass."""
        rows = np.flatnonzero(self.points[:, ALPHA]).astype(np.uint32)
        self.w[:] = 0.0
        kernels.add_rows(self._rows, rows, self._signed(rows), self.w)
        self._level()

    def _signed(self, rows: Array) -> Floats:
        return np.ascontiguousarray(self.points[rows, SIGN] * self.points[rows, ALPHA])

    def _level(self) -> None:
        """Σ αy and ⟨w, μ⟩, free of the rounding of single steps."""
        self.at[TOTAL] = float((self.points[:, SIGN] * self.points[:, ALPHA]).sum())
        self.at[LEVEL] = float((self.w * self._mu).sum())

    @property
    def n_iter(self) -> int:
        """How often all rows would have been visited by as many visits, rounded up."""
        return -(-self.visits // max(1, len(self._all)))

    def candidates(self) -> Iterator[Candidate]:
        """Passes over the rows in play, and an evaluation over all rows when it is due."""
        if not self._restored:
            self._begin()
            if self._start is not None:  # a warm start may already be there
                self._evaluate()
                yield self._candidate
        else:
            yield self._candidate
        while True:
            if self._evaluated is not None:
                self._widen()
            met = self._pass()
            over = self.n_iter >= self.max_iter or self._halt.is_set()
            if not (self._due(met) or over):
                self.active = self.active[self.points[self.active, IDLE] == 0.0]
                continue
            self._evaluate()
            yield self._candidate

    @property
    def _candidate(self) -> Candidate:
        made, least = min(self.n_iter, self.max_iter), 1e-15 * self._at_zero()
        return Candidate(made, self.primal, self.dual, len(self.active), least)

    def _pass(self) -> float:
        """Visit every row in play; returns the sum of the slacks as they were met.

        Where there are few entries, several passes are made at once.
        """
        at, entries = self.at, self.problem.design.entries
        entries = entries * len(self.active) // max(1, len(self.points))
        laps = max(1, min(LAPS, self.max_iter - self.n_iter, SMALL // (4 * max(1, entries))))
        order = self._order(laps if self._block == 1 else 1)
        pulled = self._pull_intercept() if self.problem.intercept else 0.0
        at[REACH] = pulled if self.passes else np.inf  # margins are not known before
        met = drift = 0.0
        for part in np.array_split(order, max(1, -(-laps * entries // CALL))):
            kernels.sweep(self.problem.loss, self._rows, self.points, part, self.w, at)
            met, drift = met + at[MET], drift + at[DRIFT]
        made = max(1, len(order))
        self.visits += made
        self.passes += laps
        self._reach = max(float(drift) / made, pulled)
        return float(met) / laps

    def _order(self, laps: int) -> Array:
        """The rows in play in the order of so many passes."""
        block = self._block
        blocks = -(-len(self.active) // block)
        order: Array = np.empty(blocks * laps, np.uint32)
        shuffle.pass_orders(order, blocks, self._seed & WHOLE, self.passes + 1)
        if block > 1:
            order = (order[:, None] * np.uint32(block) + np.arange(block, dtype=np.uint32)).ravel()
            order = order[order < len(self.active)]
        return self.active[order]

    def _pull_intercept(self) -> float:
        """b ← b + ρ Σ αy, and more of it once the sum has hardly shrunk for three passes."""
        excess = float(self.at[TOTAL])
        slow = excess * self._excess > 0.0 and abs(excess) > 0.5 * abs(self._excess)
        self._slow, self._excess = self._slow + 1 if slow else 0, excess
        change = 2.0 ** min(max(0, self._slow - 3), FASTEST) * self.at[PULL] * excess
        self.at[BIAS] += change
        return abs(float(change))

    def _due(self, met: float) -> bool:
        """Whether an evaluation over all rows is worth its price.

        The slack met in a pass foretells the gap after it. One is due when that promises the gap
        asked for, and now and then to bring rows back that were left out too early.
        """
        self._since += 1
        fall = met / self._last if self._last > 0.0 else 1.0
        self._foretold, self._last = met * min(1.0, fall) ** 0.75, met
        far = self._since >= 3 and met < 0.05 * self._seen and len(self.active) < len(self._all)
        paid = PAID * (self.visits - self._before) >= len(self._all)
        return self._foretold <= self._aim or (paid and (far or self._since >= FARTHEST))

    def _widen(self) -> None:
        """Bring back the rows that, going by the last evaluation, may move."""
        gap, self._evaluated = self._evaluated or 0.0, None
        self._aim = self.tol * self.primal * min(1.0, self._foretold / gap if gap > 0.0 else 1.0)
        self._seen, self._since, self._before = self._last, 0, self.visits
        active = np.flatnonzero(self.points[:, IDLE] == 0.0).astype(np.uint32)
        self.active = active if len(active) else self._all

    def _evaluate(self) -> None:
        """P and D over all rows, at the multipliers as they are, balanced if b is free."""
        problem, at, p = self.problem, self.at, self.points
        self._level()
        w, changed, before = self.w, np.zeros(0, np.uint32), p[:0]
        if problem.intercept:
            self.w = w.copy()
            changed, before = self._balance()
        scores = problem.design.product(self.w[None], self.pool)[0]
        near = float(at[BIAS] - at[LEVEL])
        b = self._best_intercept(scores, near) if problem.intercept else 0.0
        reach = max(self._reach, abs(b - near))
        sums = np.empty(2)
        kernels.weigh(problem.loss, p, scores, b, reach, sums)
        primal = 0.5 * float(np.square(self.w).sum()) + float(sums[0])
        if primal < self.primal:
            self.primal, self.best_w, self.best_b = primal, self.w.copy(), b
        if primal - sums[1] > self.dual:
            self.dual, self.best_alpha = primal - float(sums[1]), p[:, ALPHA].copy()
        self._evaluated = float(sums[1])
        if problem.intercept:
            # The next pass goes on from the unbalanced ones: how far Σ αy is from zero moves b.
            self.w = w
            p[changed], p[changed, MARGIN] = before, p[changed, MARGIN]

    def _balance(self) -> tuple[Array, Floats]:
        """Bring Σ αy to zero, by shrinking some multipliers of the class that has too much.

        Rows at no bound are preferred: there a small change costs next to nothing. Returns the
        rows that were changed, and their `points` as they were.
        """
        p, excess = self.points, float(self.at[TOTAL])
        kinked, room = self.problem.loss.kinked, np.empty(len(p) + 1, np.uint32)
        for inside in (True, False):
            chosen = room[: kernels.heavier(p, excess, inside and kinked, room)]
            for some in (chosen[:: max(1, len(chosen) // FEW)], chosen):
                weight = float(p[some, ALPHA].sum())
                if weight >= 2.0 * abs(excess):
                    break
            else:
                continue
            break
        before = p[some]
        if weight > 0.0:
            p[some, ALPHA] *= 1.0 - min(1.0, abs(excess) / weight)
            self._set_logits(some)
            deltas = before[:, SIGN] * (p[some, ALPHA] - before[:, ALPHA])
            kernels.add_rows(self._rows, np.ascontiguousarray(some), deltas, self.w)
        return some, before

    def _best_intercept(self, scores: Floats, b: float) -> float:
        p = self.points
        if self.problem.loss.kinked:
            up = float(p[p[:, SIGN] > 0.0, CAP].sum())
            return best_corner(p[:, SIGN] - scores, p[:, CAP], up, b)

        def slopes(b: float) -> tuple[float, float]:
            sums = np.empty(2)
            kernels.tilt(self.problem.loss, p, scores, b, sums)
            return float(sums[0]), float(sums[1])

        return best_smooth_intercept(slopes, b)

    def state(self) -> dict[str, Any]:
        return {"points": self.points, **{name: getattr(self, name) for name in CARRIED}}

    def restore(self, state: dict[str, Any]) -> None:
        self._start, self._restored = None, True
        self._begin()
        for name in CARRIED:
            setattr(self, name, state[name])
        self.points[:] = state["points"]

    def interrupted(self) -> None:
        """Weights that a pass left between two multipliers, computed anew."""
        if not hasattr(self, "points"):
            self._begin()
        self._rebuild()
        self._evaluate()

    def rescaled(self) -> None:
        """Lengths of rows overflow whatever the columns' scale: there is no other way here."""

    def solution(self) -> Solution:
        gap = max(0.0, self.primal - self.dual)
        made = min(self.n_iter, self.max_iter)
        now = self.points[:, ALPHA].copy()
        return Solution(
            self.best_w, self.best_b, self.best_alpha, self.primal, self.dual, gap, made, start=now
        )
