"""What L-BFGS asks of several classes of dense rows: passes that keep nothing of a row.

Weights and intercepts are found together. The gradient of the losses belongs to a dual point,
Aₖ = −C ∂F/∂wₖ, so that every pass tells the duality gap ½‖W − A‖² as well; classes that are out of
balance cost a little more, which the certificate spares by balancing them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.classes.class_curvature import ClassCurvature, cost
from linsep.train.convex.classes.class_sums import ClassProblem, ClassSums
from linsep.train.convex.coordinates import TOO_LARGE
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LAST = 6  # guesses after which another would hardly differ


@record
class Point(NamedTuple):
    """Weights, F, its gradient, the part of F that is losses, and Σ cᵢpᵢₖ(1 − pᵢₖ) by class."""

    u: Floats
    value: float
    gradient: Floats
    loss: float
    doubt: Floats


class DenseClasses:
    """The problem as passes."""

    def __init__(self, problem: ClassProblem, pool: Pool, real: Any) -> None:
        self.problem, self._pool, self.passes = problem, pool, 0
        self._sums = ClassSums(problem, pool, real)
        self._noise = 4 * float(np.finfo(self._sums.real).eps)

    def begin(self, start: tuple[Array, Array] | None, alpha: Array | None) -> Point:
        return self.point(self.problem.begin(start))

    def point(self, u: Floats) -> Point:
        """One pass over all rows."""
        if not np.isfinite(u).all():
            raise OverflowedError(TOO_LARGE)
        seen, problem = self._sums.at(u), self.problem
        self.passes += 1
        value = seen.loss + problem.half(u)
        if not math.isfinite(value):
            raise OverflowedError(TOO_LARGE)
        return Point(u, value, seen.slope + u * problem.ridge, seen.loss, seen.doubt)

    def guess(self, u: Floats, stage: int) -> None:
        """Guess at the Hessian at u."""
        own = stage > 0 and cost(self.problem)[1]
        self._curvature = ClassCurvature(self.problem, self._sums, u, own, self._pool)

    def price(self, stage: int) -> float:
        """Passes that another guess costs; infinite where it would hardly differ."""
        return cost(self.problem)[0] if stage < LAST else math.inf

    def dot(self, a: Floats, b: Floats) -> float:
        return float(np.vdot(a, b))

    def inverse(self, p: Point, G: Floats) -> Floats:
        """H⁻¹G, the intercepts following the weights; no step is the same for all classes."""
        free, d = self.problem.free, self.problem.design.d
        G = G - G.mean(axis=0)
        centres, step = self._curvature.centres, np.empty_like(G)
        step[:, :d] = self._curvature(G[:, :d] - G[:, d:] * centres if free else G)
        if free:
            step[:, d] = G[:, d] / np.maximum(p.doubt, 1e-3 * p.doubt.mean() + 1e-300)
            step[:, d] -= (centres * step[:, :d]).sum(axis=1)
        return step - step.mean(axis=0)

    def search(self, p: Point, direction: Floats, slope: float, first: bool) -> Point | None:
        """A point along the direction that is better."""
        t, noise = 1.0, self._noise * abs(p.value)
        while t > 1e-6:
            q = self.point(p.u + t * direction)
            if q.value <= p.value + 1e-4 * t * slope + noise:
                return q
            t *= max(0.1, min(0.5, -0.5 * slope * t / (q.value - p.value - t * slope)))
        return None

    def bound(self, p: Point) -> float:
        """What F − min F is at most, once the classes are in balance."""
        d, G = self.problem.design.d, p.gradient
        g = G[:, :d] - G[:, d:] * self._curvature.centres if self.problem.free else G
        return 0.5 * float(np.vdot(g / self.problem.ridge[:d], g))

    def proved(self, p: Point) -> float:
        """What it is at most as they are."""
        d, G = self.problem.design.d, p.gradient[:, : self.problem.design.d]
        plain = 0.5 * float(np.vdot(G / self.problem.ridge[:d], G))
        return plain + (self.problem.mixed(p.gradient[:, -1], p.value) if self.problem.free else 0)

    def answer(self, p: Point) -> tuple[Floats, Floats, float, float, Any]:
        """Weights, intercepts, F, what it is at most above the least, and what to begin from."""
        gap = self.proved(p) if self.problem.penalised else math.inf
        return *self.problem.outside(p.u), p.value, gap, None
