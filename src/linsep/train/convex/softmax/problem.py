"""The objective of multinomial logistic regression, over all rows or a sample, in W alone.

    F(W) = ½ Σ lⱼwₖⱼ² + min_b Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ) = P / (C Σcᵢ),   Σ cᵢ = 1

With b at its best, A = Σ cᵢ(e_yᵢ − pᵢ)xᵢᵀ belongs to a feasible dual point, and weak duality says
F − min F ≤ ½ Σ gₖⱼ²/lⱼ, g the gradient.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.train.convex.lbfgs import Memory
from linsep.train.convex.softmax.sums import TOO_LARGE, SoftmaxSums

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Point(NamedTuple):
    """A point its rows were seen from: F, its gradient in W, and the best biases."""

    W: Floats
    b: Floats
    value: float
    gradient: Floats


class Objective:
    """F(W) − ⟨shift, W⟩ over the rows of `sums`."""

    def __init__(self, sums: SoftmaxSums, ridge: Floats, fit_intercept: bool) -> None:
        self.sums = sums
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.shift: Floats | None = None

    def value(self, W: Floats, b: Floats) -> tuple[float, Floats]:
        """F at W with the best biases, which are returned too; half a pass."""
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            raise OverflowedError(TOO_LARGE)
        self.sums.score(W)
        loss, b, _ = self.sums.best_bias(b, self.fit_intercept)
        value = loss + 0.5 * float(np.vdot(W * self.ridge, W))
        if self.shift is not None:
            value -= float(np.vdot(self.shift, W))
        if not math.isfinite(value):
            raise OverflowedError(TOO_LARGE)
        return value, b

    def slope(self, W: Floats) -> Floats:
        """The gradient where `value` was asked last; the other half."""
        gradient = self.sums.gradient() + W * self.ridge
        return gradient if self.shift is None else gradient - self.shift

    def point(self, W: Floats, b: Floats) -> Point:
        """One pass."""
        value, b = self.value(W, b)
        return Point(W, b, value, self.slope(W))

    def tilt(self, p: Point, gradient: Floats) -> Point:
        """Choose the shift that gives F this gradient at p; p as it is then."""
        change = p.gradient - gradient
        self.shift = change if self.shift is None else self.shift + change
        return Point(p.W, p.b, p.value - float(np.vdot(change, p.W)), gradient)

    def gap(self, p: Point) -> float:
        """The bound on F − min F; infinite where some feature has no penalty."""
        if not self.ridge.all():
            return math.inf
        return 0.5 * float(np.vdot(p.gradient / self.ridge, p.gradient))


def descend(
    objective: Objective,
    p: Point,
    inverse: Any,
    memory: Memory,
    most: int,
    stop: float,
    told: Callable[[Point, float], bool] | None = None,
) -> Point:
    """Limited-memory BFGS from p: at most `most` steps, or until a step promises less than `stop`.

    `inverse` is a first guess at the inverse Hessian; its `bias` says how b will follow W.
    `told` hears of every new point and what the next step promises; True ends the run.
    """
    for _ in range(most):
        direction = -memory.apply(p.gradient, inverse)
        slope = float(np.vdot(p.gradient, direction))
        if not slope < 0:
            direction = -np.asarray(inverse(p.gradient))
            slope = float(np.vdot(p.gradient, direction))
        if not -slope > 2 * stop:
            break
        follow = inverse.bias(direction) if objective.fit_intercept else 0.0 * p.b
        t, noise = 1.0, 4 * float(np.finfo(objective.sums.real).eps) * abs(p.value)
        while True:
            W = p.W + t * direction
            value, b = objective.value(W, p.b + t * follow)
            if value <= p.value + 1e-4 * t * slope + noise:
                break
            t *= max(0.1, min(0.5, -0.5 * slope * t / (value - p.value - t * slope)))
            if t < 1e-8:
                return p
        q = Point(W, b, value, objective.slope(W))
        memory.add(q.W - p.W, q.gradient - p.gradient)
        p = q
        if told is not None and told(p, -slope):
            break
    return p
