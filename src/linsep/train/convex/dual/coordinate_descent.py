"""Linear support vector machines and logistic regression by coordinate descent on the dual.

    minimise over w, b    P = ½‖w‖² + Σᵢ Uᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)),        Uᵢ = C cᵢ
    maximise over α       D = −½‖w‖² − Σᵢ Uᵢ ℓ*(−αᵢ/Uᵢ),   w = Σ αᵢyᵢxᵢ,   Σ αᵢyᵢ = 0 if b is free

One row is looked at at a time and its multiplier moved to its best place: Hsieh et al. (2008) for
the hinge losses, Yu, Huang and Lin (2011) for the logistic one, here in the logit of α. A pass
costs about as much as computing all scores twice, and P − D is known exactly whenever all scores
are: a fit ends on the relative gap it was asked for. What makes passes few and cheap is in
`linsep.train.convex.dual.kernels` (two threads) and `linsep.train.convex.dual.working_set` (rows
that can be left out).

A free intercept is not penalised. It is found by the method of multipliers: in a pass every change
of α pulls at b, and the next pass starts from where b was pulled to,

    b ← b + ρ Σ αᵢyᵢ,      until Σ αᵢyᵢ = 0.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.parallel import Pool, threads
from linsep.status import Status
from linsep.train.convex.dual.design import SMALL, Ground
from linsep.train.convex.dual.dual_losses import DualLoss, Hinge, Logistic, SquaredHinge
from linsep.train.convex.dual.kernels import ALPHA, CAP
from linsep.train.convex.dual.state import DualState

Array = npt.NDArray[Any]

LOSSES: dict[str, DualLoss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
}
FINEST = 1e-13  # relative gaps below this are rounding
FARTHEST = 8  # passes made without a look at all rows, at most


class Check(NamedTuple):
    """What a look at all rows showed, for listeners.

    Attributes
    ----------
    n_iter : passes made so far
    primal, dual : the best P and D so far; the optimum lies between them
    gap : their difference
    n_active : rows in play, those whose multiplier was not found resting at a bound
    """

    n_iter: int
    primal: float
    dual: float
    gap: float
    n_active: int


class Solution(NamedTuple):
    """The best weights met, the multipliers that bound them from below, and how it ended.

    Attributes
    ----------
    w, b : weights and intercept
    alpha : multipliers of the rows; the support vectors are the rows where it is not zero
    primal, dual, gap : P(w, b), D(alpha) and their difference, an upper bound on P − min P
    n_iter : passes made, over rows in play
    status, message : how the fit ended, as a value and as a sentence with its numbers
    """

    w: Array
    b: float
    alpha: Array
    primal: float
    dual: float
    gap: float
    n_iter: int
    status: Status
    message: str


class Best:
    """The lowest P and the highest D met, from w = 0 and α = 0 on; not always of the same pass."""

    def __init__(self, state: DualState) -> None:
        self.w = np.zeros(len(state.w))
        self.b = 0.0
        self.alpha = np.zeros(len(state.points))
        self.primal = float(state.loss.charge(0.0, state.points[:, CAP].sum()))
        self.dual = 0.0
        self.start = self.primal

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    def within(self, tol: float) -> bool:
        """Whether the relative gap is at most `tol`; a P that fell by 1e-15 counts as zero."""
        return self.gap <= tol * max(self.primal, 1e-15 * self.start)

    def look(self, state: DualState) -> tuple[float, bool]:
        """Look at all rows and keep what is better; returns the gap now, and whether D fell."""
        seen = state.look()
        fell = seen.dual < self.dual - 1e-12 * abs(seen.primal)
        if seen.primal < self.primal:
            self.primal, self.w, self.b = seen.primal, seen.w, seen.b
        if seen.dual > self.dual:
            self.dual, self.alpha = seen.dual, seen.alpha
        return seen.primal - seen.dual, fell


class Outlook:
    """When a look at all rows is worth its price.

    The slack met in a pass foretells the gap after it. A look is due when that promises the gap
    asked for, and now and then to bring rows back into play that were left out too early.
    """

    def __init__(self, tol: float, primal: float, often: bool) -> None:
        self._often = often
        self._tol = tol
        self._aim = tol * primal
        self._last = self._seen = primal
        self._passes = 0
        self._foretold = primal

    def due(self, met: float) -> bool:
        self._passes += 1
        self._foretold = met * min(1.0, met / self._last if self._last > 0.0 else 1.0) ** 0.75
        self._last = met
        far = self._passes >= 3 and met < 0.05 * self._seen
        return self._often or self._foretold <= self._aim or far or self._passes >= FARTHEST

    def looked(self, gap: float, primal: float) -> None:
        self._aim = self._tol * primal * min(1.0, self._foretold / gap if gap > 0.0 else 1.0)
        self._seen = self._last
        self._passes = 0


def solve(
    X: Any,
    signs: Array,
    weights: Array | None = None,
    C: float = 1.0,
    *,
    loss: str = "hinge",
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Array | None = None,
    listener: Callable[[Check], Any] | None = None,
    lanes: int = 2,
    halt: Event | None = None,
    ground: Ground | None = None,
) -> Solution:
    """Fit a two-class linear model to a certified relative gap.

    Minimises ½‖w‖² + C Σ cᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)); the intercept is not penalised. The result is a
    function of the arguments alone, the same bytes for any number of threads.

    Parameters
    ----------
    X : checked array or CSR matrix (see `linsep.data.check.arrays.check_rows`), never copied whole
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'hinge', 'squared_hinge' or 'logistic'
    fit_intercept : whether b is free, or zero
    tol : ends when (P − D)/P is at most this
    max_iter : most passes over the rows in play
    seed : decides the order of visits
    n_jobs : threads; two can be of use
    start : multipliers to begin from, as those of a neighbouring problem
    listener : told a `Check` after each look at all rows; returns True to stop
    lanes : 1 or 2, part of the method: two suit two threads
    halt : set from another thread to end early with what there is
    ground : X as it is shared by several problems, made with the same `fit_intercept`

    Returns
    -------
    Solution
        An interrupt (Ctrl-C) is answered with the best model so far.

    Examples
    --------
    >>> X = np.array([[0.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 0.0]])
    >>> found = solve(X, np.array([1.0, 1.0, -1.0, -1.0]), C=10.0, tol=1e-10)
    >>> found.w.round(6) + 0.0, round(found.b, 6), found.status.name
    (array([0., 1.]), -1.0, 'converged')
    """
    if not 0.0 < C < np.inf:
        raise ParameterError(f"C is {C!r}; the dual needs a positive finite number.")
    if loss not in LOSSES:
        raise ParameterError(f"loss is {loss!r}; choose one of {', '.join(LOSSES)}.")
    n = X.shape[0]
    caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, np.float64)
    with Pool(n_jobs, most=lanes) as pool:
        if ground is None:
            ground = Ground(X, fit_intercept, pool)
        state = DualState(
            ground, signs, caps, LOSSES[loss], free=fit_intercept, lanes=lanes, seed=seed, pool=pool
        )
        if start is not None:
            state.start_from(start)
        best = Best(state)
        try:
            status = _descend(state, best, max(tol, FINEST), max_iter, listener, halt or Event())
        except KeyboardInterrupt:
            status = Status.interrupted
            state.rebuild()
            best.look(state)
    return _solution(best, state, status, tol)


def _descend(
    state: DualState,
    best: Best,
    tol: float,
    max_iter: int,
    listener: Callable[[Check], Any] | None,
    halt: Event,
) -> Status:
    """Make passes, and look at all rows when it is due, until the gap is closed."""
    outlook = Outlook(tol, best.primal, often=state.ground.entries < SMALL)
    if state.points[:, ALPHA].any():  # a warm start may already be there
        best.look(state)
        if best.within(tol):
            return Status.converged
    while True:
        met = state.one_pass(max_iter - state.n_iter)
        over = state.n_iter >= max_iter or halt.is_set()
        if not (outlook.due(met) or over):
            state.narrow()
            continue
        gap, fell = best.look(state)
        if best.within(tol):
            return Status.converged
        seen = Check(state.n_iter, best.primal, best.dual, best.gap, len(state.working.listing))
        if listener is not None and listener(seen) is True:
            return Status.stopped
        if over:
            return Status.interrupted if halt.is_set() else Status.budget
        if fell and state.working.lanes > 1 and not state.working.cautious:
            state.working.be_cautious()
        outlook.looked(gap, best.primal)
        state.widen()


def _solution(best: Best, state: DualState, status: Status, tol: float) -> Solution:
    n_iter = state.n_iter
    gap = best.gap / best.primal if best.primal > 0.0 else 0.0
    message = f"{n_iter} passes, relative gap {gap:.1e}, asked for {tol:.1e}."
    if status is Status.budget:
        message = (
            f"Stopped after {n_iter} passes with a relative gap of {gap:.1e}; {tol:.1e} was asked "
            "for. Raise max_iter, bring the features to one scale, or lower C."
        )
    return Solution(
        state.ground.features(best.w),
        best.b,
        best.alpha,
        best.primal,
        best.dual,
        best.gap,
        n_iter,
        status,
        message,
    )


def one_vs_rest(
    X: Any, codes: Array, n_classes: int, *, n_jobs: int | None = None, **settings: Any
) -> list[Solution]:
    """Fit each class against all others, several classes at a time.

    Parameters
    ----------
    X : checked array or CSR matrix
    codes : class of each row, from 0 to n_classes − 1
    n_classes : how many classes there are
    n_jobs : threads, each with a class of its own
    settings : those of `solve`

    Returns
    -------
    list of Solution
        One for each class. After an interrupt the classes not yet begun have made one pass.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0], [10.0], [11.0]])
    >>> found = one_vs_rest(X, np.array([0, 0, 1, 1, 2, 2]), 3, C=10.0)
    >>> [f.status.name for f in found]
    ['converged', 'converged', 'converged']
    """
    halt = Event()

    with Pool(n_jobs) as pool:
        ground = Ground(X, settings.get("fit_intercept", True), pool)
    _ = ground.lengths  # measured once, before the threads part

    def fit(k: int) -> Solution:
        signs = np.where(codes == k, 1.0, -1.0)
        return solve(X, signs, n_jobs=1, lanes=1, halt=halt, ground=ground, **settings)

    return each_class(fit, n_classes, n_jobs, halt)


def each_class(
    fit: Callable[[int], Solution], n_classes: int, n_jobs: int | None, halt: Event
) -> list[Solution]:
    """`fit` of every class, by several threads; `halt` is set after an interrupt."""
    with ThreadPoolExecutor(min(threads(n_jobs), n_classes)) as pool:
        waiting = [pool.submit(fit, k) for k in range(n_classes)]
        try:
            return [one.result() for one in waiting]
        except BaseException as problem:
            halt.set()
            if not isinstance(problem, KeyboardInterrupt):
                raise
            return [one.result() for one in waiting]
