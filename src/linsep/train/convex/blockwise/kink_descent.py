"""Newton's steps on the smoothed hinge, at narrower and narrower kinks, or on the squared one.

The objective is that of `linsep.train.convex.blockwise.primal_newton`, over all rows, a sample of
them, or those near the kink.
"""

import math
from collections.abc import Generator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.train.convex.blockwise.line_minimum import Line, lowest
from linsep.train.convex.blockwise.smoothed_hinge import SQUARED, TallSums
from linsep.train.convex.curvature import Curvature
from linsep.train.run.replay_log import ReplayLog

Floats = npt.NDArray[np.float64]

WIDTH = 2.0  # of the rounded corner at first: all rows at w = 0 lie in it
NARROWING = 0.5  # the least part of a width that the next one is
WIDENING = 16.0  # times as wide as in the sample, where that leads astray
LEAST = 1e-7  # width below which the rows in the corner are too few to steer by
_SHORTER = 0.5 ** np.arange(1.0, 17.0)  # parts of a step that are tried where all of it fails
_BENT = 0.05  # of a step's decrement, by which its fall may differ from half: a quadratic's
OVERSHOT = 0.1  # a step that brings less of its decrement, of which a quadratic gives half
_STEPS = 20  # of Newton in a sample, at most
_PATIENCE = 100  # evaluations at one width that may fail to close the gap


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
    def kink(self) -> float:
        """Σ cᵢℓ(zᵢ) − αᵢtᵢ: what is left of the gap once the gradient is zero."""
        s, b = self.sums, float(self.u[-1])
        scores = float(s.v.sum(axis=0) @ self.u[:-1]) + b * float(s.weight[0] - s.weight[1])
        return float(s.loss.sum() - s.weight.sum()) + scores


class Objective:
    """F = P / Σ Uᵢ in prepared coordinates, over all rows or a sample of them."""

    def __init__(self, rows: Any, ridge: Floats, free: bool) -> None:
        self.rows, self.ridge, self.free = rows, ridge, free
        self.sample: Objective | None = None  # where steps can be tried at no cost
        self.replay_log = ReplayLog()

    @cached_property
    def squares(self) -> Floats:
        """Σ cᵢx̃ᵢ², feature by feature: half the curvature of the squared hinge at −∞."""
        if self.sample is not None:
            return self.sample.squares
        far = np.zeros(len(self.ridge))
        return 0.5 * np.diag(self.rows.at(far, SQUARED).curvature)

    def at(self, u: Floats, h: float, curved: bool = True) -> Point:
        """One pass over the rows."""
        s, ridge = self.replay_log.evaluate(u, h, lambda: self.rows.at(u, h, curved)), self.ridge
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
        H = p.sums.curvature + np.diag(self.ridge)
        if damping > 0.0:
            most = 2.0 if p.h == SQUARED else 0.5 / p.h
            H[np.diag_indices(len(H))] += damping * most * self.squares
        if not self.free:
            H[-1] = H[:, -1] = 0.0
        return Curvature(H).solve(p.gradient)

    def tried(self, p: Point, step: Floats) -> Floats:
        """A step of the squared hinge, or the sample's own where F is no parabola along it."""
        if self.sample is None or p.h != SQUARED:
            return step
        q = self.sample.at(p.u, p.h)
        moved = self.sample.at(p.u - step, p.h, curved=False)
        fell = q.value - moved.value + float((p.gradient - q.gradient) @ step)
        decrement2 = float(p.gradient @ step)
        if abs(fell - 0.5 * decrement2) <= _BENT * decrement2 + 4e-15 * p.value:
            return step
        other = self._corrected(self.sample, q, p)
        return other if float(p.gradient @ other) > 0.0 else step

    def _corrected(self, sample: "Objective", q: Point, p: Point) -> Floats:
        """The step to the minimum of F over the sample, seen from p as q, corrected by all rows.

        Slope and curvature at p are made those of all rows: they say how F begins there, and the
        sample where rows of features without curvature come back into the corner.
        """
        slope, bend = p.gradient - q.gradient, p.sums.curvature - q.sums.curvature
        v, value, stop = np.zeros_like(slope), q.value, math.inf
        for _ in range(_STEPS):
            sums = q.sums._replace(hessian=q.sums.curvature + bend)
            gradient = q.gradient + slope + bend @ v
            step = self.step(q._replace(gradient=gradient, sums=sums), 0.0)
            decrement2, t = float(gradient @ step), 1.0
            stop = 1e-4 * decrement2 if stop == math.inf else stop
            if not decrement2 > stop:
                break
            while True:
                w = v - t * step
                q = sample.at(p.u + w, p.h)
                trial = q.value + float(slope @ w) + 0.5 * float(w @ bend @ w)
                if trial < value:
                    break
                t /= 2
                if t < 1e-3:
                    return -v
            v, value = w, trial
        return -v

    def size(self, line: Line, u: Floats, step: Floats, h: float, slope: float = 0.0) -> float:
        """The s with the smallest F(u − s·step) + s·slope at a width of h, for rows in memory."""
        bend = float(self.ridge @ (step * step))
        return lowest(line, h, slope - float(self.ridge @ (u * step)), bend)

    def overshoots(self, p: Point, step: Floats) -> bool:
        """Whether a sample that falls at p as all rows do rises again before half of the step."""
        if self.sample is None or p.h == SQUARED:
            return False
        q = self.sample.at(p.u, p.h, curved=False)
        slope = float((q.gradient - p.gradient) @ step)
        line = self.sample.rows.line(p.u, step)
        return self.sample.size(line, p.u, step, p.h, slope) < 0.5

    def lowest(self, p: Point, step: Floats) -> tuple[float, float]:
        """The t, of some below 1, with the smallest F(p − t·step), and F there."""
        u, ridge = p.u, self.ridge
        penalties = [0.5 * float(ridge @ (u - t * step) ** 2) for t in _SHORTER]
        values = self.rows.along(u, step, p.h, _SHORTER) + penalties
        k = int(values.argmin())
        return float(_SHORTER[k]), float(values[k])


class KinkDescent:
    """Newton's steps at narrower and narrower kinks, until the gap is closed.

    Parameters
    ----------
    objective : over all rows, a sample, or those near the kink
    tol : the relative gap to reach
    max_iter : evaluations of the objective, at most; None where a driver decides when to end
    """

    def __init__(self, objective: Objective, tol: float, max_iter: int | None = None) -> None:
        self.objective, self.tol, self.max_iter = objective, tol, max_iter
        self.passes = 0
        self.lowest: Point | None = None
        self.highest: Point | None = None
        self.stuck = False

    @property
    def gap(self) -> float:
        assert self.lowest is not None and self.highest is not None
        return max(0.0, self.lowest.primal - self.highest.dual)

    @property
    def ended(self) -> bool:
        """Whether no more evaluations are wanted."""
        if self.max_iter is None or self.lowest is None:
            return self.stuck
        within = self.gap <= self.tol * self.lowest.primal
        return self.stuck or within or self.passes >= self.max_iter

    def evaluate(self, u: Floats, h: float) -> Point:
        """One pass."""
        p = self.objective.at(u, h)
        self.passes += 1
        if self.lowest is None or p.primal < self.lowest.primal:
            self.lowest = p
        if self.highest is None or p.dual > self.highest.dual:
            self.highest = p
        return p

    def run(
        self, p: Point, most: float = math.inf, small: float = 0.0
    ) -> Generator[Point, None, Point]:
        """From an evaluated point on, `most` evaluations at most; returns the last point gone to.

        Yields every point that was evaluated. Where only some are to be made, a step that the
        sample says overshoots ends them, unless it promises less than `small`.
        """
        since, least, damping = 0, math.inf, 0.0
        last = self.passes + most
        while not self.ended and self.passes < last:
            step = self.objective.tried(p, self.objective.step(p, damping))
            decrement2 = float(p.gradient @ step)
            asked = most < math.inf and decrement2 > small
            if asked and self.objective.overshoots(p, step):
                return p
            since = 0 if p.gap < 0.9 * least else since + 1
            least = min(least, p.gap)
            if since > _PATIENCE or not (math.isfinite(decrement2) and p.primal > 0.0):
                self.stuck = True
            elif (h := self._narrower(p, decrement2)) < p.h:
                if h < LEAST:
                    self.stuck = True
                    return p
                p = self.evaluate(p.u - step, h)
                yield p
                since, least = 0, math.inf
            else:
                trial = self.evaluate(p.u - step, p.h)
                yield trial
                fell = p.value - trial.value + 4e-15 * abs(p.value)
                if fell >= 1e-4 * decrement2:
                    p = trial
                elif not self.ended:
                    p = yield from self.shortened(p, step)
                if fell >= 0.3 * decrement2:
                    damping = damping / 6 if damping > 1e-9 else 0.0
                elif fell < OVERSHOT * decrement2:
                    if self.objective.sample is None or p.h != SQUARED:  # else it is asked instead
                        damping = 8.0 * damping if damping > 0.0 else 1e-2
                    if self.max_iter is None and self.passes == 2 and p.h != SQUARED:
                        # a sample came to too narrow a kink
                        p = self.evaluate(p.u, min(WIDTH, WIDENING * p.h))
                        yield p
        return p

    def _narrower(self, p: Point, decrement2: float) -> float:
        """The width to go on with: less where the kink holds the gap up, which falls with h²."""
        if p.h == SQUARED or p.kink <= max(self.tol * p.primal, 10.0 * decrement2):
            return p.h
        return p.h * min(0.7, max(NARROWING, math.sqrt(0.5 * self.tol * p.primal / p.kink)))

    def settle(self, p: Point) -> Point:
        """From an evaluated point on to the end, each step to the lowest point of its line.

        For rows in memory, where a line costs no more than an evaluation.
        """
        since, least, t = 0, math.inf, None
        while not self.ended:
            step = self.objective.step(p, 0.0)
            decrement2 = float(p.gradient @ step)
            since = 0 if p.gap < 0.9 * least else since + 1
            least = min(least, p.gap)
            h = self._narrower(p, decrement2)
            line = self.objective.rows.line(p.u, step, t)
            size = self.objective.size(line, p.u, step, h)
            lost = since > _PATIENCE or not (math.isfinite(decrement2) and p.primal > 0.0)
            if lost or (h == p.h and not size > 0.0) or 0.0 < h < LEAST:
                self.stuck = True
                return p
            if h < p.h:
                since, least = 0, math.inf
            p, t = self.evaluate(p.u - size * step, h), line.after(size)
        return p

    def shortened(self, p: Point, step: Floats) -> Generator[Point, None, Point]:
        """The lowest of some points along a step that overshot, or p where all are higher."""
        t, value = self.objective.lowest(p, step)
        if value < p.value:
            p = self.evaluate(p.u - t * step, p.h)
            yield p
        return p


def finish(run: Generator[Point, None, Point]) -> Point:
    """Where a run ends that nobody watches."""
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
