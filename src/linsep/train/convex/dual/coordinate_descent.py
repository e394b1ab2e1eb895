"""Linear support vector machines and logistic regression by coordinate descent on the dual.

    minimise over w, b    P = ½‖w‖² + Σᵢ Uᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)),        Uᵢ = C cᵢ
    maximise over α       D = −½‖w‖² − Σᵢ Uᵢ ℓ*(−αᵢ/Uᵢ),   w = Σ αᵢyᵢxᵢ,   Σ αᵢyᵢ = 0 if b is free

One row is looked at at a time and its multiplier moved to its best place: Hsieh et al. (2008) for
the hinge losses, Yu, Huang and Lin (2011) for the logistic one, here in the logit of α. A pass
costs about as much as computing all scores twice, and P − D is known exactly whenever all scores
are: a fit ends on the relative gap it was asked for. What makes passes few and cheap is in
`linsep.train.convex.dual.kernels` (two threads), `linsep.train.convex.dual.working_set` (rows that
can be left out) and `linsep.train.convex.dual.face` (rows that are moved together).

A free intercept is not penalised. It is found by the method of multipliers: in a pass every change
of α pulls at b, and the next pass starts from where b was pulled to,

    b ← b + ρ Σ αᵢyᵢ,      until Σ αᵢyᵢ = 0.
"""

from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.parallel import Pool
from linsep.train.convex.drive import Candidate
from linsep.train.convex.dual.design import SMALL, Design
from linsep.train.convex.dual.dual_losses import DualLoss, Hinge, Logistic, SquaredHinge
from linsep.train.convex.dual.kernels import ALPHA, CAP
from linsep.train.convex.dual.state import DualState
from linsep.train.convex.gap_trend import GapTrend
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]

LOSSES: dict[str, DualLoss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
}
SOON = 30  # passes that are made before the first step on a face
SHARE = 8  # visits that steps on faces may take, for each of descent
WAIT = 2  # visits of descent for each that steps on faces took in vain, before they are tried again
AIM = 0.1  # part of the gap that the rows of a face may be left with
FARTHEST = 8  # passes made without an evaluation over all rows, at most


class Best(Stateful):
    """The lowest P and the highest D met, from w = 0 and α = 0 on; not always of the same pass."""

    state_names = ("w", "b", "alpha", "primal", "dual")

    def __init__(self, state: DualState) -> None:
        self.w = np.zeros(len(state.w))
        self.b = 0.0
        self.alpha = np.zeros(len(state.points))
        self.primal = float(state.loss.value(0.0, state.points[:, CAP].sum()))
        self.dual = 0.0
        self.start = self.primal

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    def update(self, state: DualState) -> tuple[float, bool]:
        """Evaluate and keep what is better; returns the gap now, and whether D fell."""
        seen = state.evaluate()
        fell = seen.dual < self.dual - 1e-12 * abs(seen.primal)
        if seen.primal < self.primal:
            self.primal, self.w, self.b = seen.primal, seen.w, seen.b
        if seen.dual > self.dual:
            self.dual, self.alpha = seen.dual, seen.alpha
        return seen.primal - seen.dual, fell


class GapSchedule(Stateful):
    """When an evaluation over all rows is worth its price.

    The slack met in a pass foretells the gap after it. One is due when that promises the gap
    asked for, and now and then to bring rows back into play that were left out too early, if
    `leaves` says that rows are left out at all.
    """

    state_names = ("_aim", "_last", "_seen", "_passes", "_foretold")

    def __init__(self, tol: float, primal: float, often: bool = False, leaves: bool = True) -> None:
        self._often, self._leaves = often, leaves
        self._aim = tol * primal
        self._last = self._seen = primal
        self._passes = 0
        self._foretold = primal

    def due(self, met: float) -> bool:
        self._passes += 1
        self._foretold = met * min(1.0, met / self._last if self._last > 0.0 else 1.0) ** 0.75
        self._last = met
        far = self._leaves and self._passes >= 3 and met < 0.05 * self._seen
        return self._often or self._foretold <= self._aim or far or self._passes >= FARTHEST

    def evaluated(self, gap: float, primal: float, tol: float) -> None:
        self._aim = tol * primal * min(1.0, self._foretold / gap if gap > 0.0 else 1.0)
        self._seen = self._last
        self._passes = 0


class FaceSchedule(Stateful):
    """When steps on faces are worth it, and how many visits they may take.

    They begin where descent is slow, and go on as long as a visit of theirs lets D rise by more
    than one of descent does, or they end inside a face. Otherwise descent makes more visits than
    were lost before they are tried again: 200,000 clicks of 262,144 features, hinge, where faces
    change with every pass, 1,000 passes without an end -> 222.
    """

    state_names = ("spent", "_next", "_visits", "_dual")

    def __init__(self) -> None:
        self.spent = 0
        self._next = self._visits = 0
        self._dual = 0.0

    def due(self, made: int) -> bool:
        """Whether they may be tried after `made` visits in all."""
        return made >= self._next

    def allowed(self, made: int) -> int:
        """Visits allowed, of `made` in all so far: some for each that descent has made."""
        return SHARE * (made - self.spent) - self.spent

    def pace(self, made: int, dual: float) -> float:
        """What D has risen by for each visit of descent since the last steps."""
        return max(0.0, dual - self._dual) / max(1, made - self._visits)

    def stepped(self, taken: int, made: int, worth: bool) -> None:
        """Steps have taken some of the visits made."""
        self.spent += taken
        self._next = made if worth else made + WAIT * taken

    def evaluated(self, made: int, dual: float) -> None:
        """Descent goes on from a point of this D."""
        self._visits, self._dual = made, dual


class DualDescent:
    """Coordinate descent on the dual as a solver.

    Parameters
    ----------
    X : checked array or CSR matrix (see `linsep.data.check.arrays.check_rows`), never copied whole
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'hinge', 'squared_hinge' or 'logistic'
    fit_intercept : whether b is free, or zero
    max_iter : most passes over the rows in play
    seed : decides the order of visits
    n_jobs : threads; two can be of use
    start : multipliers to begin from, as those of a neighbouring problem
    lanes : 1 or 2, part of the method: two suit two threads
    halt : set from another thread to end early with what there is
    design : makes X as it is shared by several problems with the same `fit_intercept`
    """

    name = "dual"
    tol = 1e-4
    _evaluated: tuple[float, bool] | None = None  # the gap at the last one, and whether D fell
    _restored = False

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
        start: Array | None = None,
        lanes: int = 2,
        halt: Event | None = None,
        design: Callable[[], Design] | None = None,
    ) -> None:
        if not 0.0 < C < np.inf:
            raise ParameterError(f"C is {C!r}; the dual needs a positive finite number.")
        if loss not in LOSSES:
            raise ParameterError(f"loss is {loss!r}; choose one of {', '.join(LOSSES)}.")
        n = X.shape[0]
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        self._X, self._signs, self._loss, self._free = X, signs, LOSSES[loss], fit_intercept
        self.max_iter, self._seed, self._start, self._lanes = max_iter, seed, start, lanes
        self._design, self._halt = design, halt or Event()
        self.pool = Pool(n_jobs, most=lanes)

    def _begin(self) -> None:
        if self._design is None:
            design = Design(self._X, self._free, self.pool)
        else:
            design = self._design()
        self.at = DualState(
            design, self._signs, self._caps, self._loss, free=self._free, lanes=self._lanes,
            seed=self._seed, pool=self.pool,
        )  # fmt: skip
        if self._start is not None:
            self.at.start_from(self._start)
        self.best = Best(self.at)
        # The free intercept of the hinge moves at evaluations, where those cost little.
        often = self._free and isinstance(self._loss, Hinge) and design.entries < SMALL
        leaves = not isinstance(self._loss, Logistic)
        self.schedule = GapSchedule(self.tol, self.best.primal, often, leaves)
        self.faces, self.trend = FaceSchedule(), GapTrend()

    def candidates(self) -> Iterator[Candidate]:
        """Passes over the rows in play, and an evaluation over all rows when it is due."""
        if not self._restored:
            self._begin()
        state, best, schedule = self.at, self.best, self.schedule
        if self._restored:
            yield self._seen()
        elif state.points[:, ALPHA].any():  # a warm start may already be there
            best.update(state)
            yield self._seen()
        while True:
            if self._evaluated is not None:
                gap, fell = self._evaluated
                if fell and state.working.lanes > 1 and not state.working.cautious:
                    state.working.be_cautious()
                schedule.evaluated(gap, best.primal, self.tol)
                state.widen()
                self._step_on_faces()
                self._evaluated = None
            met = state.one_pass(max(1, self.max_iter - state.n_iter))
            over = state.n_iter >= self.max_iter or self._halt.is_set()
            if not (schedule.due(met) or over):
                state.narrow()
                continue
            self._evaluated = best.update(state)
            yield self._seen()

    def _step_on_faces(self) -> None:
        """Steps of all multipliers at no bound, once descent would take longer than so far."""
        state, faces, seen = self.at, self.faces, self._seen()
        left = self.trend.passes_left(seen, self.tol)
        slow = left > seen.n_iter and state.passes >= SOON
        if isinstance(self._loss, Logistic):
            return
        before, dual, gain = state.visits, self.best.dual, 0.0
        if (slow or faces.spent > 0) and faces.due(before):
            # a face that has settled is solved for no more than descent to the end would take
            most = int(min(left, max(0, self.max_iter - state.n_iter)) * len(state.points))
            goal = AIM * max(self.tol * self.best.primal, self.best.gap)
            pace = faces.pace(before, dual)
            visits = min(most, faces.allowed(before))
            gain, inside = state.step_on_faces(visits, most, goal, pace, self._halt)
            taken = state.visits - before
            faces.stepped(taken, state.visits, inside or gain > pace * taken)
        faces.evaluated(state.visits, dual + gain)

    @property
    def _parts(self) -> dict[str, Any]:
        schedules = {"schedule": self.schedule, "faces": self.faces, "trend": self.trend}
        return {"at": self.at, "best": self.best, **schedules}

    def state(self) -> dict[str, Any]:
        return {"evaluated": self._evaluated, **{k: one.state() for k, one in self._parts.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        self._start, self._evaluated, self._restored = None, state["evaluated"], True
        self._begin()
        for name, part in self._parts.items():
            part.restore(state[name])

    def _seen(self) -> Candidate:
        best, state = self.best, self.at
        active = len(state.working.active)
        made = min(state.n_iter, self.max_iter)
        return Candidate(made, best.primal, best.dual, active, 1e-15 * best.start)

    def interrupted(self) -> None:
        """Weights that a pass left between two multipliers, computed anew."""
        if not hasattr(self, "best"):
            self._begin()
        self.at.rebuild()
        self.best.update(self.at)

    def rescaled(self) -> None:
        """Lengths of rows overflow whatever the columns' scale: there is no other way here."""

    def solution(self) -> Solution:
        best, state = self.best, self.at
        w = state.design.features(best.w)
        bounds = (best.primal, best.dual, best.gap)
        now = state.points[:, ALPHA].copy()
        made = min(state.n_iter, self.max_iter)
        return Solution(w, best.b, best.alpha, *bounds, made, start=now)
