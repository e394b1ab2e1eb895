"""Two-class logistic regression for all folds at once, on sparse rows, along a path of penalties.

    D(α) = −½‖Σ αᵢyᵢxᵢ‖² − Σ C ℓ*(−αᵢ/C),     0 < αᵢ < C,   Σ αᵢyᵢ = 0 if b is free

The coordinate descent of `linsep.train.convex.dual.coordinate_descent`, with the folds side by side
in lanes (see `linsep.train.convex.path.fold_kernels`). Two groups of lanes suit two threads; which
fold is in which group depends on the number of folds alone, so that threads do not change a byte.
For the next C the multipliers are first stretched, α ← tα, as far as the dual rises: where C has
grown much, that is worth dozens of passes.

Passes grow in number with C, steps of Newton's method hardly do. From the first C on at which the
passes to come would cost more than Newton-CG, it takes over, fold by fold
(`linsep.train.convex.path.fold_steps`): 60,000 short texts from C = 167 on 14 -> 2 s.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from threading import Event, Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.parallel import Pool, one_thread, threads
from linsep.rows.rows import aligned
from linsep.train.convex.dual.coordinate_descent import GapSchedule
from linsep.train.convex.dual.design import Design
from linsep.train.convex.dual.dual_losses import Logistic
from linsep.train.convex.dual.kernels import inner
from linsep.train.convex.path import fold_kernels as compiled
from linsep.train.convex.path.fold_kernels import BIAS, LANES, MET, TOTAL
from linsep.train.convex.path.fold_steps import FoldSteps, NotReachedError
from linsep.train.convex.path.folds import Folded
from linsep.train.order import block_order

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Task = Callable[[], list["Task"]]

BLOCK = 64  # neighbouring rows visited in one go: their memory is fetched ahead
CALL = 10_000_000  # entries read before an interrupt is looked for
STEPS = 30  # passes that cost as much as Newton-CG does for one C: 35 to 200 were measured
NOTICED = 10  # passes after which their pace tells how many are left
FEWEST = 5_000  # entries from which sharing passes spares more than it costs
LOSS = Logistic()


def suits(X: Any) -> bool:
    """Whether X is sparse enough, and large enough, for lanes."""
    return sp.issparse(X) and X.nnz >= FEWEST and 2 * X.nnz <= X.shape[0] * X.shape[1]


def fit_folds(
    X: Any,
    signs: Array,
    home: Array,
    Cs: Floats,
    *,
    fit_intercept: bool,
    tol: float,
    seed: int = 0,
    n_jobs: int | None = None,
    keep: bool = True,
) -> Folded | None:
    """Fit every fold at every C, from the smallest to the largest.

    Parameters
    ----------
    X : checked CSR matrix
    signs : array of −1 and +1, both met in every fold's rows
    home : number of the fold that leaves each row out
    Cs : ascending and finite
    tol : the relative gap asked for
    keep : whether the weights are wanted, or only the scores

    Returns
    -------
    Folded, or None where neither way gets there.
    """
    F, m = int(home.max()) + 1, len(Cs)
    parts = np.array_split(np.arange(F), max(min(2, F), -(-F // LANES)))
    with Pool(n_jobs) as pool:
        design = Design(X, fit_intercept, pool)
        points = np.column_stack([signs, design.lengths])
        _ = design.typical
    d = X.shape[1] if keep else 0
    results = Folded(
        np.empty((F, m, d)), np.empty((F, m)), np.empty((F, m)), np.empty((len(home), m)),
        np.zeros((len(home), m)), np.empty((0, d + 1)),
    )  # fmt: skip
    halt = Event()
    groups = [_Group(design, points, home, part, fit_intercept, seed, halt) for part in parts]

    steps = partial(FoldSteps, X, signs, home, Cs, fit_intercept, tol, halt, results)
    run = _Path(steps, Cs, tol, results)
    try:
        with one_thread:  # once for all fits, not as each begins and ends
            _run([partial(run.along, group) for group in groups], threads(n_jobs), halt)
    except NotReachedError:
        return None
    for group in groups:
        group.share(results)
    return results


class _Path:
    """What is to be done for a group of folds, and then for each of them alone."""

    def __init__(
        self, steps: Callable[[], FoldSteps], Cs: Floats, tol: float, results: Folded
    ) -> None:
        self.make, self.Cs, self.tol, self.results = steps, Cs, tol, results
        self.steps: FoldSteps | None = None
        self.lock = Lock()

    def along(self, group: _Group) -> list[Task]:
        """Descent as far as it is quick; the folds that are to be gone on with from there."""
        for c, C in enumerate(self.Cs):
            if not group.settle(float(C), self.tol, self.results, c):
                with self.lock:
                    steps = self.steps = self.steps or self.make()
                for k, f in enumerate(group.folds.tolist()):
                    steps.begin(f, group.reached[k])
                return [partial(self.onwards, steps, group, f, c) for f in group.folds.tolist()]
        return []

    def onwards(self, steps: FoldSteps, group: _Group, f: int, c: int) -> list[Task]:
        """One fold at one C by Newton-CG, and what comes after it."""
        group.kept.append((c, f, steps.fit(f, c)))
        more = c + 1 < len(self.Cs)
        return [partial(self.onwards, steps, group, f, c + 1)] if more else []


def _run(tasks: list[Task], workers: int, halt: Event) -> None:
    """Run tasks side by side, and those that each brings when it ends."""
    with ThreadPoolExecutor(workers) as executor:
        waiting = {executor.submit(one) for one in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                waiting |= {executor.submit(more) for one in done for more in one.result()}
        except BaseException:
            halt.set()
            raise


def _slow(mets: list[float], aim: float) -> bool:
    """Whether passes that met this much slack will be too many before they meet `aim`."""
    done = len(mets)
    if done < NOTICED or not mets[-1] > aim:
        return done >= 2 * STEPS
    pace = (mets[-1] / max(mets[done // 2], 1e-300)) ** (1.0 / (done - 1 - done // 2))
    left = np.log(aim / mets[-1]) / np.log(pace) if 0.0 < pace < 1.0 else np.inf
    return bool(left > STEPS or done >= 2 * STEPS)


class _Group:
    """A few folds in lanes: weights (d, 4), multipliers, and what is known of each fold."""

    def __init__(
        self,
        design: Design,
        points: Floats,
        home: Array,
        folds: Array,
        free: bool,
        seed: int,
        halt: Event,
    ) -> None:
        n, d = design.shape
        self.design, self.points, self.home, self.folds = design, points, home, folds
        self.free, self.seed, self.halt = free, seed, halt
        self.first, count = int(folds[0]), len(folds)
        self.W = aligned((d, LANES), np.float64)
        self.alpha = np.zeros((n, count))
        self.logits = np.full((n, count), -np.inf)
        self.lanes = np.zeros((count, 4))
        self.scores = np.empty((n, count))
        self.spread = inner(design.centre, design.centre)
        self.passes = 0
        self.quick = False
        self.kept: list[tuple[int, int, Floats]] = []  # number of C, of a fold or −1, multipliers
        self.primals: list[float] = []
        # weights and intercept of each fold at the last two values of C
        self.reached: list[list[tuple[Floats, float]]] = [[] for _ in folds]

    def settle(self, C: float, tol: float, results: Folded, c: int) -> bool:
        """Bring every fold to its gap at this C, and write down the results."""
        n = len(self.points)
        pull = 0.0
        if self.free:
            pull = 0.02 * self.design.typical + (4.0 + 0.005 * n) / (C * n)
        before = self.passes
        for k, f in enumerate(self.folds):
            known = (self.points, self.home, int(f), self.alpha, self.logits, k, C)
            compiled.stretch(*known, self.W, self.lanes)
        schedule = GapSchedule(tol, self._foretold(C))
        done = self.passes > 0 and self.quick and self._evaluate(C, tol, schedule, results, c)
        mets: list[float] = []
        while not done:
            mets.append(self._pass(C, pull))
            if self.halt.is_set():
                return False
            done = schedule.due(mets[-1]) and self._evaluate(C, tol, schedule, results, c)
            if not done and _slow(mets, tol * self._foretold(C)):
                return False
        self.quick = self.passes - before <= 1
        return bool(done)

    def _foretold(self, C: float) -> float:
        """About the sum of the folds' P at this C: it grows ever more slowly with C."""
        if len(self.primals) < 2:
            return C * len(self.points) * len(self.folds)
        return 0.85 * self.primals[-1] ** 2 / self.primals[-2]

    def _pass(self, C: float, pull: float) -> float:
        """Visit every row; returns the slack met."""
        n = len(self.points)
        self.passes += 1
        blocks = block_order(-(-n // BLOCK), self.seed, self.passes, True)
        self.lanes[:, [TOTAL, MET]] = 0.0
        if self.free:  # b ← b + ρ Σ αy
            self.lanes[:, BIAS] += pull * (self.points[:, 0] @ self.alpha)
        rows = (LOSS, self.design.rows, self.points, self.home, self.first, self.alpha, self.logits)
        where = (self.W, self.lanes, C, self.spread, pull)
        rounds = max(1, -(-self.design.entries // CALL))
        for part in np.array_split(blocks, rounds):
            compiled.sweep(*rows, part, BLOCK, *where)
            if self.halt.is_set():
                break
        self._recentre()
        return float(self.lanes[:, MET].sum())

    def _recentre(self) -> None:
        if len(self.design.centre):
            for k in range(len(self.folds)):
                total = self.lanes[k, TOTAL]
                compiled.recentre(self.W, k, self.design.centre, total, self.lanes)

    def _evaluate(
        self, C: float, tol: float, schedule: GapSchedule, results: Folded, c: int
    ) -> bool:
        """Evaluate all rows; whether every fold is within its gap, its results kept."""
        kept = self.W.copy(), self.alpha.copy(), self.logits.copy(), self.lanes.copy()
        if self.free:
            for k in range(len(self.folds)):
                rows = (self.design.rows, self.points, self.alpha, self.logits, k, C)
                compiled.balance(*rows, self.W, self.design.centre, self.lanes)
        compiled.score(self.design.rows, self.W, self.lanes, self.scores)
        if self.free:
            for k, f in enumerate(self.folds):
                known = (self.points, self.home, int(f), self.scores, k)
                self.lanes[k, BIAS] = compiled.best_intercept(*known, self.lanes[k, BIAS])
        seen = np.empty((len(self.folds), 2))
        state = (self.home, self.first, self.alpha, self.logits, self.scores)
        compiled.weigh(LOSS, self.points, *state, self.lanes, C, seen)
        squares = [inner(self.W[:, k], self.W[:, k]) for k in range(len(self.folds))]
        primal = 0.5 * np.array(squares) + seen[:, 0]
        gap = seen[:, 1] / np.maximum(primal, np.finfo(float).tiny)
        schedule.evaluated(float(seen[:, 1].sum()), float(primal.sum()), tol)
        done = bool((gap <= tol).all())
        if done:
            self.primals.append(float(primal.sum()))
            results.gap[self.folds, c] = np.maximum(gap, 0.0)
            self._keep(results, c)
        else:
            self.W, self.alpha, self.logits, self.lanes = kept
        return done

    def _keep(self, results: Folded, c: int) -> None:
        for k, f in enumerate(self.folds):
            w = np.ascontiguousarray(self.W[:, k])
            left = self.home == f
            results.scores[left, c] = self.scores[left, k] + self.lanes[k, BIAS]
            results.b[f, c] = self.lanes[k, BIAS] - self.design.shift(w)
            found = self.design.features(w), float(results.b[f, c])
            self.reached[k] = [*self.reached[k][-1:], found]
            if results.W.shape[2]:
                results.W[f, c] = found[0]
        self.kept.append((c, -1, self.alpha.sum(axis=1)))

    def share(self, results: Folded) -> None:
        """Add the multipliers of these folds to the mean over the folds that keep a row."""
        for c, _, alpha in sorted(self.kept, key=lambda one: one[:2]):  # however they ended
            results.alpha[:, c] += alpha / max(1, results.gap.shape[0] - 1)
