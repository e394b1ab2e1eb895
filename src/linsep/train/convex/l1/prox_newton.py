"""A smooth loss of two classes with an l1 penalty, by proximal Newton steps on working sets.

    P(w, b) = l1 ‖w‖₁ + ½ l2 ‖w‖² + Σ cᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)),   ℓ logistic or the squared hinge

The columns with a weight, and those whose slope exceeds l1 by most, make up a working set. On it
the losses are replaced by their quadratic model, which is minimised one coordinate at a time, and a
line search is made along the way there (newGLMNET; Yuan, Ho and Lin, 2012; working sets as in
celer; Massias, Gramfort and Salmon, 2018). With b at its best the multipliers α of the rows are
balanced, and shrunk until no slope exceeds l1 they bound P from below:

    D = E(sα) − ‖(|s Xᵀ(αy)| − l1)₊‖² / 2 l2,    without an l2 part for s = l1 / max |Xᵀ(αy)|.

Many rows begin where some of them end.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.page_release import rows_of
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.drive import Candidate, Goal, Savepoint, drive
from linsep.train.convex.handover import Handover
from linsep.train.convex.l1 import small
from linsep.train.convex.l1.design import design_of
from linsep.train.convex.l1.far_rows import mended
from linsep.train.convex.l1.loss_terms import Smooth, Terms, dual_terms, feasible, terms_of
from linsep.train.convex.l1.model import Model, Way
from linsep.train.convex.l1.small import SmallProxNewton
from linsep.train.convex.losses import Logistic, SquaredHinge
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.problem import Problem
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.newton_cg import NewtonCG

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALL = 128  # columns up to which there is no choice of them
FIRST = 200  # columns chosen first, at least
INNER = 4  # steps on one working set
BALANCED = 20  # steps that bring the intercept to its best place, at most
SAMPLE = 8  # a start is made on one row in so many
MANY = 4 * BLOCK  # rows from which on a start is made on some of them
TALL = 8  # rows for each column from which on it is made without corners
ERROR = 0.25  # of m/n, about which the solution of n rows with m weights errs
UNIT = 50.0  # times l1: slopes are brought down by as large a part as they are of this
FINE = 1e-5  # gaps below are followed by one more step: weights lag behind the bound
STALLED = 4  # steps in a row without progress that end a run
LOGISTIC = Logistic()

DAMPED = 1e-8  # share of the most curvature that is added to the model's matrix, at least
MOST_DAMPED = 10.0
FAILED = 0.01  # part of a step below which the model of the logistic loss is not believed

CARRIED = ("w", "b", "S", "terms", "proposed", "alpha", "gap", "primal", "dual", "n_iter",
           "damping", "_stalled", "_polished", "_columns")  # fmt: skip


class ProxNewton:
    """Proximal Newton steps, as the driver of convex fits sees them.

    Parameters
    ----------
    X : checked rows; signs : −1 and +1; weights : of rows, or None; C : of the losses
    penalty : Ω
    loss : ℓ
    fit_intercept : whether b is free
    start : (w, b) or None
    """

    name = "newton"
    rough = 0.0  # part of P for each weight: steps that promise less end a start

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None,
        C: float,
        penalty: Elastic,
        *,
        loss: Smooth = LOGISTIC,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
    ) -> None:
        self.X, self.signs, self.free, self.n_jobs = X, signs, fit_intercept, n_jobs
        self.c = np.array([C]) if weights is None else C * weights
        self.C, self.weights, self.penalty, self.loss = C, weights, penalty, loss
        entries = X.nnz if sp.issparse(X) else X.size
        self.pool = Pool(n_jobs, most=None if entries > 1 << 18 else 1)
        self.tol = 1e-4
        self.w, self.b = np.zeros(X.shape[1]), 0.0
        self._start, self.n_iter = start, 0
        self.gap = self.primal = np.inf
        self.damping = DAMPED
        self._squares: Floats | None = None
        self.dual = 0.0
        self._stalled, self._polished, self._restored = 0, False, False
        self._model: Model | None = None
        self._columns = np.empty(0, np.int64)  # those of the model

    def _begin(self) -> None:
        self.design = design_of(self.X, self.pool)
        start = self._start or self._from_smooth() or self._from_some()
        if start is not None:
            self.w, self.b = np.array(start[0], np.float64), float(start[1]) * self.free
        self.S = self.design.scores(self.w) if self.w.any() else np.zeros(self.X.shape[0])
        self.terms = self._at(self.S, self.b)
        self._balance()
        self.proposed = self.terms.pull

    def _from_smooth(self) -> tuple[Array, float] | None:
        """Near the optimum with ½‖w‖² in place of the corners.

        Where rows are many times as many as columns, a penalty of either kind moves weights little,
        and those without corners are found by products with the rows alone.
        """
        n, d = self.X.shape
        if d <= ALL or n < TALL * d or isinstance(self.loss, SquaredHinge):
            return None
        given = self.X, self.signs, self.weights, self.C, self.loss, self.free
        found = drive(NewtonCG(Problem.of(*given), self.n_jobs), Goal(max(1e-2, self.tol), 20))
        return found.w, found.b

    def _from_some(self) -> tuple[Array, float] | None:
        """Where a fit to some of the rows ends, at the same C.

        Columns that few rows speak for, and whose weights these would take too far, stay near zero.
        """
        n, d = self.X.shape
        count = n // SAMPLE
        if n < MANY or count < d or (self.weights is not None and not self.weights.all()):
            return None
        some = np.arange(count) * n // count
        signs = self.signs[some]
        if abs(int(signs.sum(dtype=np.int64))) == count:
            return None
        weights = None if self.weights is None else self.weights[some]
        solver = ProxNewton(
            rows_of(self.X, some), signs, weights, self.C, self.penalty,
            loss=self.loss, fit_intercept=self.free, n_jobs=self.n_jobs,
        )  # fmt: skip
        solver.rough = ERROR / count
        found = drive(solver, Goal(max(1e-2, self.tol), 20))
        return found.w, found.b

    def _at(self, S: Floats, b: float) -> Terms:
        return terms_of(self.loss, S, b, self.signs, self.c, self.pool)

    def _balance(self) -> None:
        """Move b to its best place for these scores."""
        if not self.free:
            return
        shorter = 1.0
        for _ in range(BALANCED):
            terms = self.terms
            bend = float(terms.curved.sum())
            allowed = 1e-2 * min(1e-3, self.tol) * (terms.plus + terms.minus)
            if abs(terms.slope) <= allowed or not bend > 0:
                return
            step = shorter * float(np.clip(-terms.slope / bend, -4.0, 4.0))
            after = self._at(self.S, self.b + step)
            if after.loss > terms.loss * (1 + 1e-12):
                shorter /= 2  # rows that a step brings inside the margin bend the loss more
                continue
            self.terms, self.b, shorter = after, self.b + step, 1.0

    def candidates(self) -> Iterator[Candidate]:
        again = self._restored
        if not again:
            self._begin()
        while True:
            v, fell = self._bound()
            if not again:
                self._stalled = 0 if fell else self._stalled + 1
            there = self.gap <= self.tol * self.primal
            if again or not there or self._polished or self.tol > FINE:
                yield Candidate(self.n_iter, self.primal, self.dual, len(self.w))
            again, self._polished = False, there
            if self._stalled >= STALLED:
                if self.gap <= (self.tol + self._rounding()) * self.primal:
                    self.tol = 1.01 * self.gap / self.primal  # no sum over rows can tell more
                    yield Candidate(self.n_iter, self.primal, self.dual, len(self.w))
                return
            before, self._columns = self._columns, self._chosen(v)
            if self._model is None or not np.array_equal(before, self._columns):
                part = self.design.part(self._columns)
                self._model = Model(part, self.free, self.penalty)
            for _ in range(1 if 4 * len(self._columns) > len(self.w) else INNER):
                promised = self._step(self._model, self._columns)
                if promised <= 0.1 * self.gap:
                    break
            rough = self.rough * float(np.count_nonzero(self.w)) * self.primal
            if rough > 0.0 and promised < rough and len(before) == len(self._columns):
                return

    def state(self) -> dict[str, Any]:
        model = self._model
        curved = None if model is None or model.bent else model.curved
        return {**{name: getattr(self, name) for name in CARRIED}, "curved": curved}

    def restore(self, state: dict[str, Any]) -> None:
        self.design, self._restored = design_of(self.X, self.pool), True
        for name in CARRIED:
            setattr(self, name, state[name])
        if state["curved"] is not None:
            self._model = Model(self.design.part(self._columns), self.free, self.penalty)
            self._model.remake(state["curved"])

    def _bound(self) -> tuple[Floats, bool]:
        """Xᵀ(αy) of the multipliers proposed; P, D and the gap, and whether one became better."""
        penalty, (l1, l2) = self.penalty, self.penalty[:2]
        pull = self._feasible(self.proposed)
        v = self.design.total(pull)
        primal = self.terms.loss + penalty.value(self.w)
        if not np.isfinite(primal) or not np.isfinite(v).all():
            raise OverflowedError(
                "X has entries so large that sums over rows leave the range of floats. Divide X by "
                "a constant."
            )
        largest = float(np.abs(v).max(initial=0.0))
        inside = min(1.0, l1 / largest) if largest > 0 else 1.0
        best, share = -np.inf, 0.0
        for s in (1.0, inside) if l2 > 0 and inside < 1.0 else (inside,):
            bound = dual_terms(self.loss, pull, self.c, s, self.pool)
            if l2 > 0:
                over = np.maximum(s * np.abs(v) - l1, 0.0)
                bound -= float(over @ over) / (2 * l2)
            if bound > best:
                best, share = bound, s
        fell = primal < self.primal * (1 - 1e-12) or best > self.dual + 1e-12 * abs(self.dual)
        self.primal = primal
        if best > self.dual or not hasattr(self, "alpha"):
            hair = 1e-3 * min(1e-3, self.tol)  # so that rounding does not lift a slope above l1
            self.dual, self.alpha = best, (share * (1 - hair)) * np.abs(pull)
        self.gap = max(0.0, primal - self.dual)
        return v, bool(fell)

    def _rounding(self) -> float:
        """What rounding may do to the largest slope, as a share of l1: |Σ αx| ≤ ‖α‖‖x‖."""
        X = self.X
        squares = (X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)).sum(axis=0)
        reach = float(np.sqrt(np.max(squares) * (self.alpha @ self.alpha)))
        return 16 * 2.0**-53 * reach / (self.penalty.l1 or 1.0)

    def _feasible(self, pull: Floats) -> Floats:
        """Multipliers that the loss allows, with as much weight on either side where b is free."""
        alpha = np.empty(len(pull))
        feasible(self.loss, pull, self.signs, self.c, self.free, alpha)
        return alpha

    def _chosen(self, v: Floats) -> Array:
        """Columns with a weight, and those others whose slope says that they may get one."""
        d = len(self.w)
        if d <= ALL:
            return np.arange(d)
        held = self.w != 0
        count = int(held.sum())
        over = np.where(held, -np.inf, np.abs(v) - 0.8 * self.penalty.l1)
        room = max(FIRST, min(self.X.shape) // 20, 2 * count)
        wanted = np.flatnonzero(over > 0)
        if len(wanted) > room:
            wanted = wanted[np.argpartition(-over[wanted], room)[:room]]
        return np.sort(np.concatenate([np.flatnonzero(held), wanted]))

    def _damping(self, chosen: Array) -> Floats:
        """What is added to the diagonal of H: a share of the most that all rows can bend the loss.

        The squared hinge bends where rows are inside the margin alone, so that a column may have no
        curvature at all; the logistic loss has need of it only where a step has failed, as rows far
        on the right side have all but none.
        """
        squared = isinstance(self.loss, SquaredHinge)
        if not squared and self.damping <= DAMPED:
            return np.zeros(len(chosen))
        if self._squares is None:
            X = self.X
            powers = X.multiply(X) if sp.issparse(X) else np.square(X, dtype=np.float64)
            bend = (2.0 if squared else 0.25) * float(self.c.max())
            self._squares = bend * np.asarray(powers.sum(axis=0)).ravel()
        return np.asarray(self.damping * self._squares[chosen])

    def _step(self, model: "Model", chosen: Array) -> float:
        """One step on the working set; how much of P the model promised.

        At its minimum the model's own multipliers, αy − D(Ad + δ), meet the conditions that those
        of the rows only come near: they are proposed for the bound.
        """
        self.n_iter += 1
        w, penalty = self.w[chosen], self.penalty
        g = -model.part.total(self.terms.pull)
        # the bound shrinks the multipliers by the largest slope that is left: a relative gap of ε
        # needs slopes within about ε of l1
        size = penalty.l1 + penalty.l2 * float(np.abs(w).max(initial=0.0))
        accuracy, unit = 0.1 * min(1.0, self.tol) * size, UNIT * size
        asked = (self.terms, g, w, accuracy, self._damping(chosen), unit)
        way = model.way(*asked)
        if isinstance(self.loss, Logistic) and model.by_matrix:
            at, near = (self.S, self.b, self.signs, self.c), self.tol * self.primal
            way = mended(model, way, asked, at, near, lambda way: self._ahead(way)[1].loss)
        ahead = self._ahead(way)
        self.proposed = self.terms.pull - model.curved * way.along
        before, promised, size = self.terms.loss + penalty.value(w), way.slope, 1.0
        while size > 1e-8:
            S, terms = ahead
            value = terms.loss + penalty.value(w + size * way.change)
            if value <= before + 1e-3 * size * promised + 1e-15 * before:
                self.S, self.terms = S, terms
                self.w[chosen] = w + size * way.change if size < 1.0 else w + way.change
                self.S -= size * way.bias
                self.b += size * way.bias
                self._balance()
                break
            size /= 2
            ahead = self._ahead(way, size)
        # a model that was believed too far is believed less: the squared hinge knows nothing of the
        # rows that a step brings inside the margin
        good = size == 1.0 and value - before <= 0.5 * way.foretold
        good |= isinstance(self.loss, Logistic) and size >= FAILED
        less, more = max(DAMPED, 0.1 * self.damping), max(10 * self.damping, 1e-4)
        self.damping = less if good else min(MOST_DAMPED, more)
        return -promised

    def _ahead(self, way: Way, size: float = 1.0) -> tuple[Floats, Terms]:
        """Scores after a part of the way, with its step of b, and what they give."""
        S = self.S + size * way.along
        return S, self._at(S, self.b)

    def solution(self) -> Solution:
        if not hasattr(self, "terms"):
            self._begin()
        if not np.isfinite(self.gap):
            self._bound()
        return Solution(
            self.w.copy(), self.b, self.alpha, self.primal, self.dual, self.gap, self.n_iter
        )

    def interrupted(self) -> None:
        """Scores computed anew: a step may have been left half made."""
        if hasattr(self, "terms"):
            self.S = self.design.scores(self.w)
            self.terms = self._at(self.S, self.b)
            self._balance()
            self.proposed = self.terms.pull
        self.gap = np.inf

    def rescaled(self) -> None:
        """Columns of any scale are left to another solver."""


def fit_l1(
    X: Any,
    signs: Array,
    weights: Array | None,
    C: float,
    penalty: Elastic,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    listener: Callable[[Candidate], Any] | None = None,
    savepoint: Savepoint | None = None,
    **settings: Any,
) -> Solution:
    """Fit to a relative gap of `tol`; `settings` as of `ProxNewton`.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> found = fit_l1(X, np.array([-1, -1, 1, 1]), None, 1.0, Elastic(1.0, 0.0), tol=1e-9)
    >>> found.w.round(4), found.status.name
    (array([0.9082, 0.    ]), 'converged')
    """

    def whole(start: tuple[Array, float] | None) -> ProxNewton:
        return ProxNewton(X, signs, weights, C, penalty, **{**settings, "start": start})

    solver: Any = None
    if (
        tol >= small.FINEST
        and small.suits(X, penalty.l2)
        and settings.get("loss", LOGISTIC) == LOGISTIC
    ):
        names = ("fit_intercept", "start")
        first = SmallProxNewton(
            X, signs, weights, C, penalty, max_iter=max_iter, watched=listener is not None,
            **{name: settings[name] for name in names if name in settings},
        )  # fmt: skip
        solver = Handover(first, lambda at: whole((at.w, at.b)))
    goal = Goal(tol, max_iter, listener, savepoint=savepoint)
    return drive(solver or whole(settings.get("start")), goal)
