"""Steps of logistic regression over all rows by a Hessian of all rows, each of which ends lower.

A step is Newton's, or that of a model that keeps the losses of the rows that a quadratic misjudges
(`linsep.train.convex.blockwise.far_rows`). Where many features make a Hessian cost several passes,
a trial is a pass without one, and near the minimum the old Hessian serves for a few steps more.
"""

import math
from collections.abc import Callable, Generator

import numpy as np
import numpy.typing as npt

from linsep.train.convex.blockwise.far_rows import HELD, ROUNDS, FarRows, Quadratic
from linsep.train.convex.blockwise.logistic_problem import Point
from linsep.train.convex.curvature import Curvature

Floats = npt.NDArray[np.float64]

PASS = 8.0  # features whose Hessian costs as much as a pass without one
_SURE = 1e-9  # part of its fall to which the model of a step is minimised
_ROUNDING = 4e-15  # of F


class FullSteps:
    """Steps over all rows; `evaluate` makes a pass at a point, with a Hessian where asked.

    What generates yields every point evaluated but the one that it returns.
    """

    def __init__(self, far: FarRows, evaluate: Callable[[Floats, bool], Point]) -> None:
        self.far, self._evaluate = far, evaluate

    def _step(self, p: Point, model: Quadratic, curvature: Curvature) -> Floats:
        if len(self.far):
            return self.far.step(p.gradient, model, p.u, _SURE)
        return curvature.solve(p.gradient)

    def ahead(
        self, p: Point, model: Quadratic, curvature: Curvature, curved: bool
    ) -> Generator[Point, None, Point | None]:
        """The end of a step from p where F is lower, if there is one.

        Where F falls far less than foretold, rows that are to blame keep their losses in the model;
        where that does not help, the step is shortened.
        """
        step, t = self._step(p, model, curvature), 1.0
        for k in range(ROUNDS + 1):
            q = self._evaluate(p.u - step, curved)
            fell, falls = p.value - q.value, float(p.gradient @ step)
            if fell >= HELD * falls - _ROUNDING * p.value or k == ROUNDS:
                break
            if not self.far.add(p.u, step, 0.5 * falls - fell):
                break
            yield q
            step = self._step(p, model, curvature)
        while q.value > p.value - 1e-4 * t * falls + _ROUNDING * p.value:
            yield q
            t /= 2
            if t < 1e-9:
                return None
            q = self._evaluate(p.u - t * step, curved)
        return q

    def go_on(
        self, last: Point, p: Point, model: Quadratic, curvature: Curvature, goal: float
    ) -> Generator[Point, None, Point]:
        """Steps from p by the Hessian that led there from `last`, while no more of them than cost
        as much as a Hessian seem to bring the gap to `goal`; then the lowest point, with a Hessian.
        """
        left = len(p.u) / PASS
        while p.value <= last.value and goal < p.gap < last.gap < math.inf:
            if math.log(goal / p.gap) < left * math.log(p.gap / last.gap):
                break
            yield p
            left -= 1.0
            last, p = p, self._evaluate(p.u - self._step(p, model, curvature), False)
        yield p
        self.far.add(last.u, last.u - p.u, last.value - p.value)
        return self._evaluate(p.u if p.value <= last.value else last.u, True)
