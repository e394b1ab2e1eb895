"""The support vector machine on many rows of few features: a sample, then a few passes, a proof.

    P(w, b) = ½‖w‖² + Σ Uᵢ ℓ(zᵢ),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   ℓ(z) = max(0, 1 − z) or its square

The corner of the hinge is rounded over a width h, and Newton's method finds the minimum of what is
then smooth. The multipliers α = −Uφ′ that go with the weights, the heavier class shrunk until
Σ αᵢyᵢ = 0, bound the optimum of P itself from below:

    D(α) = Σ αᵢ − ½‖Σ αᵢyᵢxᵢ‖²  ≤  min P        (less Σ αᵢ²/4Uᵢ for the squared hinge).

At the minimum of the rounded problem only the rows with |1 − z| < h keep P and D apart: each by
less than Uh/4, and they are about a part h of all, so that the gap falls with h². A gap of 1e-4
needs h of about a twentieth. The rows of the corner are also the only ones in the Hessian, which
makes a step cost little more than an evaluation. Everything is a sum over blocks: no number is kept
for a row, whatever their count (Chapelle, *Training a support vector machine in the primal*, 2007,
has the rounded corner; the bound is weak duality).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.page_release import room_for, rows_of
from linsep.errors import DataError
from linsep.parallel import Pool
from linsep.train.convex.blockwise.kink_descent import WIDTH, KinkDescent, Objective, Point
from linsep.train.convex.blockwise.near_kink import band_of
from linsep.train.convex.blockwise.smoothed_hinge import SQUARED, SparseTallRows, TallRows
from linsep.train.convex.blockwise.sparse_sums import SparseRows, columns_of
from linsep.train.convex.coordinates import Blocks, Columns, prepare, spread
from linsep.train.convex.drive import Candidate
from linsep.train.convex.sampling import pick, scattered
from linsep.train.convex.solution import Solution
from linsep.train.run.replay_log import ReplayLog

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 512  # features up to which a matrix of their products is cheap beside a pass
LONGEST = 128  # entries of a sparse row, on average, up to which their products are cheap
FEWEST = 2048  # rows from which passes over all of them are few enough to pay
PER_FEATURE = 10  # and rows for each feature: with fewer, most lie near the kink
_PER_FEATURE = 256  # sampled rows for each feature
_COARSE = 1e-4  # the finest gap worth having in a sample: it errs by more
_ERROR = 0.25  # of d/n, about which the solution of n sampled rows errs: finer is not worth having
_FIRST = 4  # evaluations over all rows before the rows about the corner are taken apart
_AGAIN = 2  # and after each look at where those lead
_STEPS = 400  # most of those
_FAILURES = 20  # bands in a row that may fail to halve the gap


def suits(X: Any) -> bool:
    """Whether X has many rows for its features, and few enough of these for their products."""
    n, d = X.shape
    if sp.issparse(X) and X.nnz > LONGEST * n:
        return False
    return bool(n >= max(FEWEST, PER_FEATURE * d) and d <= WIDEST)


class PrimalNewton:
    """Newton's method on the smoothed hinge (or the squared one) as a solver, in bounded memory.

    Parameters
    ----------
    X : checked array or CSR matrix of few columns (see `suits`)
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'hinge' or 'squared_hinge'
    fit_intercept : whether b is free, or zero
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    keep : whether passes are kept, so that a further run can go through them again
    rescale : whether columns are brought to moderate scale from an evaluation over all rows
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
        keep: bool = False,
        rescale: bool = False,
    ) -> None:
        self._given = (X, signs.astype(np.int8, copy=False), weights, float(C))
        self._settings: dict[str, Any] = {
            "loss": loss, "fit_intercept": fit_intercept, "n_jobs": n_jobs, "start": start,
            "keep": keep,
        }  # fmt: skip
        self._rescale, self._log = rescale, ReplayLog(keep)
        self._tols: list[float] = []  # at first, and after each evaluation
        self._recalled = 0  # evaluations of an earlier run
        self.pool = Pool(n_jobs)

    def rescaled(self) -> "PrimalNewton | None":
        return None if self._rescale else PrimalNewton(*self._given, **self._settings, rescale=True)

    def _begin(self) -> None:
        free = bool(self._settings["fit_intercept"])
        self.problem = _Given(*self._given, free, self.pool, self._rescale)
        self.problem.objective.replay_log = self._log
        self.descent = KinkDescent(self.problem.objective, self.tol)

    def candidates(self) -> Iterator[Candidate]:
        """A sample; steps with all rows; then on those near the kink, looking at all each time."""
        self._begin()
        problem, descent, start = self.problem, self.descent, self._settings["start"]
        self._tols = self._tols or [self.tol]
        descent.tol = self._tols[0]
        kink = SQUARED if self._settings["loss"] == "squared_hinge" else WIDTH
        u = problem.start(start)
        sampled, kink = problem.by_sample(u, kink, descent.tol)
        u = sampled if start is None else u  # a warm start has its place, but not how wide a kink
        for p in problem.near_kink(descent, u, kink):
            if descent.passes < self._recalled:
                descent.tol = self._tols[descent.passes]
                continue
            low, high, unit = descent.lowest, descent.highest, problem.unit
            assert low is not None and high is not None
            bounds = unit * low.primal, unit * high.dual
            yield Candidate(descent.passes, *bounds, p.sums.active)
            descent.tol = self.tol
            self._tols.append(self.tol)

    def state(self) -> dict[str, Any]:
        return {"entries": self._log.entries, "tols": self._tols}

    def restore(self, state: dict[str, Any]) -> None:
        """Go through the passes again by what they gave, up to the last one."""
        self._log.restore(state)
        self._tols, self._recalled = state["tols"], len(state["entries"])

    def interrupted(self) -> None:
        if not hasattr(self, "descent"):
            self._begin()

    def solution(self) -> Solution:
        return self.problem.solution(self.descent)


class _Given:
    """The problem in safe coordinates, and the way back."""

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None,
        C: float,
        free: bool,
        pool: Pool,
        careful: bool,
    ) -> None:
        n, d = X.shape
        self.X, self.free, self.pool = X, free, pool
        total = float(n if weights is None else weights.sum())
        self.unit = C * total
        if sp.issparse(X):
            self.columns = columns_of(X, free, 1 / self.unit, careful)
        else:
            self.about = spread(X, careful)
            self.columns = prepare(X, self.about, free, 1 / self.unit, careful)
        scale = self.columns.scale.astype(np.float64) if self.columns.scale.size else np.ones(d)
        self.ridge = np.append(scale * scale / self.unit, 0.0)
        c = np.array([1 / n]) if weights is None else weights / total
        self.rows: Any
        if sp.issparse(X):
            self.rows = SparseTallRows(SparseRows(X, self.columns, signs, c, pool))
        else:
            self.rows = TallRows(Blocks(X, self.columns), signs, c, pool)
        self.objective = Objective(self.rows, self.ridge, free)

    def start(self, given: tuple[Array, float] | None) -> Floats:
        """The point to begin from."""
        u = np.zeros(self.X.shape[1] + 1)
        if given is not None:
            w, b = self.columns.inside(np.asarray(given[0], np.float64), float(given[1]))
            u = np.append(w, b if self.free else 0.0)
        return u

    def by_sample(self, u: Floats, h: float, tol: float) -> tuple[Floats, float]:
        """Where a sample of the rows leads, and how wide a corner it needed."""
        (n, d), given = self.X.shape, self.rows
        wanted = min(max(8192, _PER_FEATURE * d), n // 4)
        if sp.issparse(self.X):
            chosen = scattered(n, wanted)
            chance = np.full(len(chosen), len(chosen) / n)
        else:
            chosen, chance = pick(given.blocks, self.about, given.c, wanted, self.pool)
        if not 2 <= len(chosen) <= n // 2:
            return u, h
        signs, c = given.signs[chosen], (given.c if len(given.c) == 1 else given.c[chosen]) / chance
        if sp.issparse(self.X):
            some = rows_of(self.X, chosen)
            sample: Any = SparseTallRows(SparseRows(some, self.columns, signs, c, self.pool))
        else:
            some = given.blocks.rows(chosen)
            plain = Columns(np.empty(0, some.dtype), np.empty(0, some.dtype))
            sample = TallRows(Blocks(some, plain), signs, c, self.pool)
        blur = max(tol, _COARSE, _ERROR * d / len(chosen))
        few = Objective(sample, self.ridge, self.free)
        if not sp.issparse(self.X):  # whose sample may lack features
            self.objective.sample = few
        descent = KinkDescent(few, blur, 60)
        p = descent.settle(descent.evaluate(u, h))
        return p.u, p.h

    def near_kink(self, descent: KinkDescent, u: Floats, h: float) -> Iterator[Point]:
        """Steps with all rows; then on those near the kink, looking at all where that led."""
        p = descent.evaluate(u, h)
        yield p
        p, failed = (yield from descent.run(p, _FIRST)), 0
        n, d = self.X.shape
        entries = self.X.nnz / n if sp.issparse(self.X) else d
        astray: list[Floats] = []
        while not descent.ended and failed < _FAILURES and p.h != SQUARED:
            sample = self.objective.sample
            band = band_of(self.rows, p.u, p.h, p.sums, entries, astray, sample)
            if band is None:  # too many rows for memory: fewer about a narrower kink
                p, failed = (yield from descent.run(p, _FIRST)), failed + 1
                astray.clear()
                continue
            inner = KinkDescent(Objective(band, self.ridge, self.free), 0.3 * descent.tol, _STEPS)
            led = inner.settle(inner.evaluate(p.u, p.h))
            before, q = descent.gap, descent.evaluate(led.u, led.h)
            yield q
            if q.primal <= p.primal:
                p = yield from descent.run(q, _AGAIN, descent.tol * q.primal)
                astray.clear()
            else:  # rows from outside crossed the kink: the next band has them
                astray.append(q.u)
                if len(astray) > 1:
                    p = yield from descent.shortened(p, p.u - q.u)
            failed = failed + 1 if descent.gap > 0.5 * before else 0
        yield from descent.run(p)

    def solution(self, descent: KinkDescent) -> Solution:
        low, high = descent.lowest, descent.highest
        if low is None or high is None:  # interrupted before the first evaluation
            low = high = self.objective.at(self.start(None), SQUARED)
            descent.lowest = descent.highest = low
        w, b = self.columns.outside(low.u[:-1], float(low.u[-1]))
        if not (np.isfinite(w).all() and np.isfinite(b)):
            raise DataError(
                "X has columns so small that their weights leave the range of floats. Multiply X "
                "by a constant."
            )
        alpha = room_for(np.broadcast_to(np.float64(0), self.X.shape[:1]), self.X)
        shrink = (self.unit * high.shrink[0], self.unit * high.shrink[1])
        self.rows.multipliers(high.u, high.h, shrink, np.asarray(alpha))
        bounds = (self.unit * low.primal, self.unit * high.dual, self.unit * descent.gap)
        b = float(b) if self.free else 0.0
        return Solution(w, b, alpha, *bounds, descent.passes)
