"""The support vector machine on many rows of few features: a sample, then a few passes, a proof.

    P(w, b) = ½‖w‖² + Σ Uᵢ ℓ(zᵢ),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   ℓ(z) = max(0, 1 − z) or its square

The corner of the hinge is rounded over a width h, and Newton's method finds the minimum of what is
then smooth. The multipliers α = −Uφ′ that go with the weights, the heavier class shrunk until
Σ αᵢyᵢ = 0, bound the optimum of P itself from below:

    D(α) = Σ αᵢ − ½‖Σ αᵢyᵢxᵢ‖²  ≤  min P        (less Σ αᵢ²/4Uᵢ for the squared hinge).

At the minimum of the rounded problem only the rows with |1 − z| < h keep P and D apart: each by
less than Uh/4, and they are about a part h of all, so that the gap falls with h². A gap of 1e-4
needs h of about a twentieth. The rows of the corner are also the only ones in the Hessian, which
makes a step cost little more than a look at all rows. Everything is a sum over blocks: no number is
kept for a row, whatever their count (Chapelle, *Training a support vector machine in the primal*,
2007, has the rounded corner; the bound is weak duality).
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.page_release import room_for, rows_of
from linsep.errors import DataError, OverflowedError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import Blocks, Columns, prepare, spread
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.dual.coordinate_descent import FINEST, Check, Solution
from linsep.train.convex.newton import sparse_sums
from linsep.train.convex.newton.near_kink import band_of
from linsep.train.convex.newton.smoothed_hinge import SQUARED, SparseTallRows, TallRows, TallSums
from linsep.train.convex.newton.sparse_sums import SparseRows, columns_of
from linsep.train.convex.sampling import pick
from linsep.train.run.replay_log import Journal

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 128  # features up to which a matrix of their products is cheap beside a pass
LONGEST = 128  # entries of a sparse row, on average, up to which their products are cheap
FEWEST = 1 << 16  # rows from which passes over all of them are few enough to pay
WIDTH = 2.0  # of the rounded corner at first: all rows at w = 0 lie in it
NARROWING = 0.5  # the least part of a width that the next one is
WIDENING = 16.0  # times as wide as in the sample, where that leads astray
LEAST = 1e-7  # width below which the rows in the corner are too few to steer by
_PER_FEATURE = 256  # sampled rows for each feature
_COARSE = 1e-4  # the finest gap worth having in a sample: it errs by more
_FIRST = 8  # looks at all rows before the rows about the corner are taken apart
_STEPS = 400  # most looks at those
_FAILURES = 3  # bands in a row that may fail to halve the gap
_PATIENCE = 100  # looks at one width that may fail to close the gap


def suits(X: Any) -> bool:
    """Whether X has many rows of few features."""
    if sp.issparse(X):
        return sparse_sums.suits(X, LONGEST)
    n, d = X.shape
    return bool(n >= FEWEST and d <= WIDEST)


class Point(NamedTuple):
    """A point all rows were seen from, with the corner as wide as `h`; `shrink` balances Σ αy."""

    u: Floats
    h: float
    value: float
    gradient: Floats
    primal: float
    dual: float
    shrink: tuple[float, float]
    sums: TallSums

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    @property
    def corner(self) -> float:
        """Σ cᵢℓ(zᵢ) − αᵢtᵢ: what is left of the gap once the gradient is zero."""
        s, b = self.sums, float(self.u[-1])
        scores = float(s.v.sum(axis=0) @ self.u[:-1]) + b * float(s.weight[0] - s.weight[1])
        return float(s.loss.sum() - s.weight.sum()) + scores


class _Objective:
    """F = P / Σ Uᵢ in prepared coordinates, over all rows or a sample of them."""

    def __init__(self, rows: Any, ridge: Floats, free: bool) -> None:
        self.rows, self.ridge, self.free = rows, ridge, free
        self.journal = Journal()

    @cached_property
    def squares(self) -> Floats:
        """Σ cᵢx̃ᵢ², feature by feature: half the curvature of the squared hinge at −∞."""
        far = np.zeros(len(self.ridge))
        return 0.5 * np.diag(self.rows.at(far, SQUARED).hessian)

    def at(self, u: Floats, h: float) -> Point:
        """One pass over the rows."""
        s, ridge = self.journal.look(u, h, lambda: self.rows.at(u, h)), self.ridge
        penalty = 0.5 * float(ridge @ (u * u))
        gradient = ridge * u + s.gradient
        if not self.free:
            gradient[-1] = 0.0
        primal = penalty + float(s.loss.sum())
        value = penalty + s.rounded
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        heavy = 0 if s.weight[0] > s.weight[1] else 1
        least, most = float(s.weight[1 - heavy]), float(s.weight[heavy])
        shrink = [1.0, 1.0]
        if self.free and most > 0.0:
            shrink[heavy] = least / most
        r = np.array(shrink)
        v = r @ s.v
        dual = float(r @ s.weight - (r * r) @ s.square) - 0.5 * float(v @ (v / ridge[:-1]))
        return Point(u, h, value, gradient, primal, dual, (shrink[0], shrink[1]), s)

    def step(self, p: Point, damping: float) -> Floats:
        """−Newton's step, shortened where rows outside the corner would be driven through it.

        Their features may have next to no curvature at p; `damping` lends them a part of what they
        would have, were all rows in the corner.
        """
        H = p.sums.hessian + np.diag(self.ridge)
        if damping > 0.0:
            most = 2.0 if p.h == SQUARED else 0.5 / p.h
            H[np.diag_indices(len(H))] += damping * most * self.squares
        if not self.free:
            H[-1] = H[:, -1] = 0.0
        return Curvature(H).solve(p.gradient)


class _Descent:
    """Newton's steps at narrower and narrower corners, until the gap is closed."""

    def __init__(
        self,
        objective: _Objective,
        tol: float,
        max_iter: int,
        listener: Callable[[Check], Any] | None = None,
        unit: float = 1.0,
    ) -> None:
        self.objective, self.tol, self.max_iter = objective, tol, max_iter
        self.listener, self.unit = listener, unit
        self.passes = 0
        self.lowest: Point | None = None
        self.highest: Point | None = None
        self.status: Status | None = None

    @property
    def gap(self) -> float:
        assert self.lowest is not None and self.highest is not None
        return max(0.0, self.lowest.primal - self.highest.dual)

    def look(self, u: Floats, h: float) -> Point:
        """One pass, told to the listener; decides whether it was the last."""
        p = self.objective.at(u, h)
        self.passes += 1
        if self.lowest is None or p.primal < self.lowest.primal:
            self.lowest = p
        if self.highest is None or p.dual > self.highest.dual:
            self.highest = p
        primal = self.lowest.primal
        if self.gap <= self.tol * primal:
            self.status = Status.converged
        elif self.listener is not None:
            unit, dual = self.unit, self.highest.dual
            seen = Check(self.passes, unit * primal, unit * dual, unit * self.gap, p.sums.active)
            self.status = Status.stopped if self.listener(seen) is True else None
        if self.status is None and self.passes >= self.max_iter:
            self.status = Status.budget
        return p

    def run(self, p: Point, most: int | None = None) -> Point:
        """From a point looked at on, `most` looks at most; the last one that was gone to."""
        stuck, least, damping = 0, math.inf, 0.0
        last = math.inf if most is None else self.passes + most
        while self.status is None and self.passes < last:
            step = self.objective.step(p, damping)
            decrement2 = float(p.gradient @ step)
            stuck = 0 if p.gap < 0.9 * least else stuck + 1
            least = min(least, p.gap)
            if stuck > _PATIENCE or not (math.isfinite(decrement2) and p.primal > 0.0):
                self.status = Status.budget
            elif p.h != SQUARED and p.corner > max(self.tol * p.primal, 10.0 * decrement2):
                # The corner holds the gap up, which falls with h²: make it as narrow as asked for.
                narrow = math.sqrt(0.5 * self.tol * p.primal / p.corner)
                h = p.h * min(0.7, max(NARROWING, narrow))
                if h < LEAST:
                    self.status = Status.budget
                    break
                p = self.look(p.u - step, h)
                stuck, least = 0, math.inf
            else:
                trial = self.look(p.u - step, p.h)
                fell = p.value - trial.value + 4e-15 * abs(p.value)
                if fell >= 1e-4 * decrement2:
                    p = trial
                if fell >= 0.3 * decrement2:
                    damping = damping / 6 if damping > 1e-9 else 0.0
                elif fell < 0.1 * decrement2:
                    damping = 8.0 * damping if damping > 0.0 else 1e-2
                    if self.passes == 2 and p.h != SQUARED:  # a sample found too narrow a corner
                        p = self.look(p.u, min(WIDTH, WIDENING * p.h))
        return p


def solve(
    X: Any,
    signs: Array,
    weights: Array | None = None,
    C: float = 1.0,
    *,
    loss: str = "hinge",
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 200,
    n_jobs: int | None = None,
    start: tuple[Array, float] | None = None,
    listener: Callable[[Check], Any] | None = None,
    journal: Journal | None = None,
) -> Solution:
    """Fit a two-class support vector machine to a certified relative gap, in bounded memory.

    Minimises ½‖w‖² + C Σ cᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + b)); the intercept is not penalised.

    Parameters
    ----------
    X : checked array or CSR matrix of few columns (see `suits`)
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'hinge' or 'squared_hinge'
    fit_intercept : whether b is free, or zero
    tol : ends when (P − D)/P is at most this
    max_iter : most passes over all rows
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    listener : told a `Check` after each pass; returns True to stop
    journal : what an earlier run found, gone through again; new passes are added

    Returns
    -------
    Solution
        As of `linsep.train.convex.dual.coordinate_descent.solve`; where X lies in a file, so do the
        multipliers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 2))
    >>> found = solve(X, np.where(X[:, 0] + rng.standard_normal(1000) > 0, 1, -1), C=10.0)
    >>> found.w.round(1) + 0.0, found.gap <= 1e-4 * found.primal, found.status.name
    (array([1.4, 0. ]), True, 'converged')
    """
    signs = signs.astype(np.int8, copy=False)
    with Pool(n_jobs) as pool, np.errstate(all="ignore"):
        for careful in (False, True):
            given = _Given(X, signs, weights, float(C), fit_intercept, pool, careful)
            if journal is not None:
                given.objective.journal = journal
            descent = _Descent(given.objective, max(tol, FINEST), max_iter, listener, given.unit)
            corner = SQUARED if loss == "squared_hinge" else WIDTH
            try:
                u = given.start(start)
                if start is None:
                    u, corner = given.by_sample(u, corner, tol)
                given.by_bands(descent, descent.look(u, corner))
            except KeyboardInterrupt:
                descent.status = Status.interrupted
            except OverflowedError:
                if careful:
                    raise
                continue
            return given.solution(descent, tol)
    raise AssertionError  # the second round returns or raises


def _scattered(n: int, count: int) -> Array:
    """About `count` rows of n at random, the same ones each time (SplitMix64).

    Even steps would meet the same few rows again and again where rows repeat themselves.
    """
    h = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.unique((h ^ (h >> np.uint64(31))) % np.uint64(n)).astype(np.int64)


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
        self.objective = _Objective(self.rows, self.ridge, free)

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
            chosen = _scattered(n, wanted)
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
        descent = _Descent(_Objective(sample, self.ridge, self.free), max(tol, _COARSE), 60)
        p = descent.run(descent.look(u, h))
        return p.u, p.h

    def by_bands(self, descent: _Descent, p: Point) -> None:
        """Steps with all rows; then on those about the corner, looking at all where that led."""
        p, failed = descent.run(p, _FIRST), 0
        n, d = self.X.shape
        entries = self.X.nnz / n if sp.issparse(self.X) else d
        while descent.status is None and failed < _FAILURES and p.h != SQUARED:
            band = band_of(self.rows, p.u, p.h, p.sums, entries)
            if band is None:
                break
            inner = _Descent(_Objective(band, self.ridge, self.free), 0.3 * descent.tol, _STEPS)
            found = inner.run(inner.look(p.u, p.h))
            before, p = descent.gap, descent.look(found.u, found.h)
            failed = failed + 1 if descent.gap > 0.5 * before else 0
        if descent.status is None:
            descent.run(p)

    def solution(self, descent: _Descent, tol: float) -> Solution:
        low, high = descent.lowest, descent.highest
        if low is None or high is None:  # interrupted before the first look
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
        gap = descent.gap / low.primal if low.primal > 0.0 else 0.0
        message = f"{descent.passes} passes, relative gap {gap:.1e}, asked for {tol:.1e}."
        bounds = (self.unit * low.primal, self.unit * high.dual, self.unit * descent.gap)
        status = descent.status or Status.budget
        return Solution(
            w, float(b) if self.free else 0.0, alpha, *bounds, descent.passes, status, message
        )
