"""The objective of two-class logistic regression in safe coordinates, over all rows or a sample.

    F(u, b) = ½ Σ lⱼuⱼ² + Σ cᵢ log(1 + e^{−zᵢ}) = P(w, b) / (C Σcᵢ),   Σ cᵢ = 1

With αᵢ = cᵢσ(−zᵢ), made feasible by shrinking the heavier class by ε so that Σ αᵢyᵢ = 0, weak
duality bounds F − min F by

    ½‖g‖² + ε(loss of that class + ⟨g, v⟩) + ½ε²‖v‖²,   v = Σ αᵢyᵢxᵢ over that class,

all products weighted by 1/lⱼ (concavity of the entropy gives the factor 1 − ε for its sum).
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.store import blocks
from linsep.errors import DataError, OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.blockwise.far_rows import HELD, ROUNDS, FarRows, Quadratic
from linsep.train.convex.blockwise.logistic_sums import LogisticSums, Sums
from linsep.train.convex.coordinates import TOO_LARGE, Blocks, Columns, prepare, spread
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.solvers.lbfgs import Memory
from linsep.train.run.replay_log import ReplayLog

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_SURE = 0.01  # part of its fall to which the model of a sample is minimised


class Point(NamedTuple):
    """A point all rows were seen from."""

    u: Floats
    value: float
    gradient: Floats
    gap: float
    sums: Sums


def duality_gap(ridge: Floats, gradient: Floats, s: Sums, fit_intercept: bool) -> float:
    """The bound on F − min F above, from the gradient of F and the sums of one pass."""
    ridge, g = ridge[:-1], gradient[:-1]
    free = ridge == 0
    if g[free].any() or s.v[:, free].any():
        return math.inf
    ridge = np.where(free, 1.0, ridge)
    gap = 0.5 * float(g @ (g / ridge))
    if fit_intercept:
        heavy = 0 if s.weight[0] > s.weight[1] else 1
        epsilon = 1 - s.weight[1 - heavy] / s.weight[heavy]
        v = s.v[heavy]
        gap += epsilon * (s.loss[heavy] + float(g @ (v / ridge)))
        gap += 0.5 * epsilon * epsilon * float(v @ (v / ridge))
    return math.inf if math.isnan(gap) else max(0.0, gap)


class Problem:
    """F = P / (C Σcᵢ) in prepared coordinates u: x′ = (x − shift)·scale, penalties lⱼ."""

    sampled = True
    """Whether a sample of many rows is to be solved first."""

    def __init__(
        self,
        X: Array,
        signs: Array,
        weights: Floats | None,
        C: float,
        fit_intercept: bool,
        pool: Pool,
        careful: bool,
    ) -> None:
        n, d = X.shape
        total = float(n if weights is None else weights.sum())
        self.unit = C * total if math.isfinite(C) else total
        penalty = 1 / self.unit if math.isfinite(C) else 0.0
        self.fit_intercept = fit_intercept
        self.columns = self._prepared(X, penalty, careful)
        scale = self.columns.scale.astype(np.float64) if self.columns.scale.size else np.ones(d)
        self.ridge = np.append(penalty * scale * scale, 0.0)
        c = np.array([1 / n]) if weights is None else weights / total
        self.replay_log = ReplayLog()
        self.sums: Any = self._summed(X, signs.astype(np.int8, copy=False), c, pool)
        self.odds = self._log_odds()

    def _prepared(self, X: Any, penalty: float, careful: bool) -> Columns:
        self.about = spread(X, careful)
        return prepare(X, self.about, self.fit_intercept, penalty, careful)

    def _summed(self, X: Any, signs: Array, c: Floats, pool: Pool) -> Any:
        return LogisticSums(Blocks(X, self.columns), signs, c, pool)

    def _log_odds(self) -> float:
        signs, c = self.sums.signs, self.sums.c
        if len(c) == 1:
            share = float(c[0]) * sum(int(np.sum(signs[part] > 0)) for part in blocks(signs))
        else:
            share = float(c[signs > 0].sum())
        if not 0 < share < 1:
            raise DataError(
                f"all weight lies on one class ({share:.0%} on +1); a separator needs rows of "
                "both. Look at sample_weight and at the labels."
            )
        return math.log(share) - math.log1p(-share)

    @property
    def without_weights(self) -> float:
        """F where all weights are zero, and the intercept is that of the shares of the classes."""
        if not self.fit_intercept:
            return math.log(2.0)
        tail = math.exp(-abs(self.odds))  # of the smaller share over the larger
        return math.log1p(tail) + tail / (1.0 + tail) * abs(self.odds)

    def point(self, u: Floats, curved: bool = False) -> Point:
        """One pass over all rows."""
        if not np.isfinite(u).all():
            raise OverflowedError(TOO_LARGE)
        s = self.replay_log.evaluate(u, float(curved), lambda: self.sums.at(u, curved))
        value = 0.5 * float(self.ridge @ (u * u)) + float(s.loss.sum())
        gradient = self.ridge * u + self.masked(s.gradient)
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            raise OverflowedError(TOO_LARGE)
        return Point(
            u, value, gradient, duality_gap(self.ridge, gradient, s, self.fit_intercept), s
        )

    def masked(self, gradient: Floats) -> Floats:
        """Without an intercept nothing moves along it."""
        if not self.fit_intercept:
            gradient[-1] = 0.0
        return gradient

    def quadratic(self, s: Sums, u: Floats) -> Quadratic:
        """The Hessian of F at u."""
        assert s.hessian is not None
        H = s.hessian + np.diag(self.ridge)
        if not np.isfinite(H).all():
            raise OverflowedError(TOO_LARGE)
        if not self.fit_intercept:
            H[-1] = H[:, -1] = 0.0
        return Quadratic(H, u, 4 * float(np.finfo(np.float64).eps))


class Sample:
    """F over chosen rows, its Hessian computed anew only where the old one stops serving."""

    def __init__(self, problem: Problem, rows: Array, signs: Array, c: Floats) -> None:
        nothing = Columns(np.empty(0, rows.dtype), np.empty(0, rows.dtype))
        self.sums = LogisticSums(Blocks(rows, nothing), signs, c, problem.sums.pool)
        self.problem = problem
        self.curvature: Curvature | None = None
        self.far = FarRows(self.sums, problem.fit_intercept)

    def _at(self, u: Floats, curved: bool) -> tuple[float, Floats]:
        s = self.sums.at(u, curved)
        if curved:
            self._model = self.problem.quadratic(s, u)
            self.curvature = self._model.curvature
        ridge = self.problem.ridge
        value = 0.5 * float(ridge @ (u * u)) + float(s.loss.sum())
        return value, ridge * u + self.problem.masked(s.gradient)

    def solve(self, u: Floats, gradient: Floats | None, stop: float) -> Floats:
        """Minimise F_sample(u) − ⟨shift, u⟩, the shift such that the slope at u is `gradient`.

        Ends when Newton's decrement (squared) is below `stop`, or with `gradient` a thousandth of
        what it was: the sample knows no better.
        """
        return self._descend(u, *self._at(u, True), gradient, stop)

    def _descend(
        self, u: Floats, value: float, g: Floats, gradient: Floats | None, stop: float
    ) -> Floats:
        """`solve` from where F_sample has a value and a gradient g, and its Hessian is known."""
        shift = np.zeros_like(u) if gradient is None else g - gradient
        value, g, before = value - float(shift @ u), g - shift, math.inf
        for _ in range(40):
            assert self.curvature is not None
            step = self._step(u, g)
            decrement2, t = float(g @ step), 1.0
            if before == math.inf and gradient is not None:
                stop = max(stop, 1e-3 * decrement2)
            if not decrement2 > stop:
                return u - step
            step, trial, slope = self._ahead(u, value, g, shift, step)
            decrement2 = float(g @ step)
            while trial > value - 1e-4 * t * decrement2 + 1e-13 * abs(value):
                t = t / 2
                if t < 1e-6:
                    return u
                trial, slope = self._at(u - t * step, False)
                trial -= float(shift @ (u - t * step))
            if t < 1 or decrement2 > 0.2 * before:  # a Hessian costs five trials
                self._at(u - t * step, True)
            u, value, g, before = u - t * step, trial, slope - shift, decrement2
        return u

    def _step(self, u: Floats, g: Floats) -> Floats:
        assert self.curvature is not None
        return self.far.step(g, self._model, u, _SURE) if len(self.far) else self.curvature.solve(g)

    def _ahead(
        self, u: Floats, value: float, g: Floats, shift: Floats, step: Floats
    ) -> tuple[Floats, float, Floats]:
        """A step from u, and value and slope at its end: the given one, or that of a model which
        keeps the losses of rows that are to blame where F falls far less than foretold."""
        best: tuple[Floats, float, Floats] | None = None
        for k in range(ROUNDS + 1):
            trial, slope = self._at(u - step, False)
            trial -= float(shift @ (u - step))
            if best is None or trial < best[1]:
                best = step, trial, slope
            fell, falls = value - trial, float(g @ step)
            if fell >= HELD * falls or k == ROUNDS:
                break
            if self._model.u is not u:
                self._at(u, True)
            elif not self.far.add(u, step, 0.5 * falls - fell):
                break
            step = self._step(u, g)
        assert best is not None
        return best

    def follow(self, p: Point, last: Point | None, memory: Memory) -> Floats:
        """Where the sample, corrected by the gradient at p and by past passes, has its minimum."""
        if self.curvature is None or self._far(p):
            return self.solve(p.u, p.gradient, 1e-16 * p.value)
        if last is not None and not self._far(last):
            memory.add(p.u - last.u, p.gradient - last.gradient)
        # F is as good as quadratic here: one step, and what passes told of the Hessian holds.
        value, g = self._at(p.u, True)
        step = memory.apply(p.gradient, self.curvature.solve)
        # Unless it bends along few rows, as where a rare feature has one class to itself and their
        # losses are all but zero: only a quadratic falls by its mean slope, and in such a tail
        # (whose rest is 0.05 of the decrement) Newton's steps are too short, or far too long.
        moved, slope = self._at(p.u - step, False)
        bend = value - moved - 0.5 * float((g + slope) @ step)
        if abs(bend) > 0.01 * float(p.gradient @ step) + 4e-15 * p.value:
            return self._descend(p.u, value, g, p.gradient, 1e-16 * p.value)
        return p.u - step

    def _far(self, p: Point) -> bool:
        assert self.curvature is not None
        return float(p.gradient @ self.curvature.solve(p.gradient)) > 2e-5 * p.value
