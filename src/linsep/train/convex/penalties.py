"""Penalties of the weights and bounds on them: value, conjugate, and what each bound costs."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Bounds(NamedTuple):
    """low ≤ w ≤ high, weight by weight; arrays of (d,) for all planes alike, or (K, d).

    >>> box = Bounds(np.array([0.0, -np.inf]), np.array([np.inf, 1.0]))
    >>> box.project(np.array([[-3.0, 4.0]]))
    array([[0., 1.]])
    >>> box.multipliers(np.array([[0.0, 1.0]]), np.array([[2.0, -3.0]]), 0.5).tolist()
    [[1.5, -2.5]]
    """

    low: Any = -np.inf
    high: Any = np.inf

    def project(self, W: Array) -> Array:
        """The nearest weights within the bounds."""
        return np.clip(W, self.low, self.high)

    def multipliers(self, W: Array, slope: Array, corner: Any) -> Array:
        """How fast the minimum falls as each active bound gives way; negative at upper bounds.

        `slope` is that of the objective but for the corner Σ cornerⱼ|wⱼ|, in each weight.
        """
        below = np.where(self.low == W, slope + np.where(W > 0.0, corner, -corner), 0.0)
        above = np.where(self.high == W, slope + np.where(W < 0.0, -corner, corner), 0.0)
        return np.asarray(np.maximum(below, 0.0) + np.minimum(above, 0.0))


FREE = Bounds()


class Elastic(NamedTuple):
    """Ω(w) = l1 ‖w‖₁ + ½ l2 ‖w‖²: the lasso's corner at zero, the ridge's roundness, or both.

    >>> w = np.array([3.0, -4.0])
    >>> Elastic(1.0, 0.0).value(w), Elastic(0.0, 1.0).value(w)
    (7.0, 12.5)
    >>> Elastic(1.0, 1.0).conjugate(np.array([0.5, 3.0]))  # ½(3 − 1)²
    2.0

    Solvers that take a `weight` for each feature count |wⱼ| and wⱼ² so many times; 0 stands for a
    feature that is not penalised.
    """

    l1: float
    l2: float
    weight: Any = None

    def ridge(self, d: int) -> Array:
        """What multiplies ½wⱼ² of d weights.

        >>> Elastic(0.0, 2.0, np.array([1.0, 0.0])).ridge(2)
        array([2., 0.])
        """
        return np.full(d, self.l2) if self.weight is None else self.l2 * np.asarray(self.weight)

    def of_columns(self, d: int, scale: Array, bounds: Bounds | None = None) -> "Corners":
        """The same of d weights in columns that were multiplied by `scale`, empty for one.

        >>> Elastic(3.0, 1.0, np.array([1.0, 0.0])).of_columns(2, np.array([2.0, 4.0])).corner
        array([6., 0.])
        """
        unit = scale.astype(np.float64) if scale.size else np.ones(d)
        times = unit if self.weight is None else unit * self.weight
        low, high = bounds or FREE
        return Corners(self.l1 * times, self.l2 * times * unit, unit, low / unit, high / unit)

    def value(self, W: Array) -> float:
        """Ω(W)"""
        return self.l1 * float(np.abs(W).sum()) + 0.5 * self.l2 * float(np.vdot(W, W))

    def room(self, V: Array) -> float:
        """The largest s ≤ 1 with Ω*(sV) finite."""
        if self.l2 > 0:
            return 1.0
        largest = float(np.abs(V).max(initial=0.0))
        return min(1.0, self.l1 / largest) if largest > 0 else 1.0

    def conjugate(self, V: Array) -> float:
        """Ω*(V) = max ⟨V, W⟩ − Ω(W), for V within `room`."""
        if self.l2 == 0:
            return 0.0
        over = np.maximum(np.abs(V) - self.l1, 0.0)
        return float(np.vdot(over, over)) / (2.0 * self.l2)


class Corners(NamedTuple):
    """Ω(w) = Σ cornerⱼ|wⱼ| + ½ Σ ridgeⱼwⱼ² over low ≤ w ≤ high: a penalty for each weight, or none.

    `unit` is what slopes of each column are counted in. Weights may be rows of several planes.

    >>> two = Corners(np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.ones(2))
    >>> two.value(np.array([-3.0, 5.0])), two.room(np.array([2.0, 0.0]))
    (3.0, 0.5)
    >>> bounded = two._replace(low=np.zeros(2), high=np.array([1.0, np.inf]))
    >>> bounded.room(np.array([2.0, -9.0])), bounded.conjugate(np.array([2.0, -9.0]))
    (1.0, 1.0)
    """

    corner: Array
    ridge: Array
    unit: Array
    low: Any = -np.inf
    high: Any = np.inf

    def some(self, which: Array) -> "Corners":
        """Those of some columns."""
        return Corners(*(one if np.ndim(one) == 0 else one[..., which] for one in self))

    def flat(self, K: int, d: int) -> "Corners":
        """One after the other for K planes, as a model lists them."""
        return Corners(*(np.broadcast_to(one, (K, d)).ravel().astype(np.float64) for one in self))

    def value(self, W: Array) -> float:
        """Ω(W)"""
        return float((np.abs(W) @ self.corner + 0.5 * (W * W) @ self.ridge).sum())

    def slope(self, W: Array, D: Array, t: float) -> float:
        """The derivative of Ω(W + tD) in t."""
        at = W + t * D
        return float((D * (self.corner * np.sign(at) + self.ridge * at)).sum())

    def inside(self, V: Array) -> float:
        """The largest s ≤ 1 at which no sVⱼ is beyond the corner."""
        part = np.divide(self.corner, np.abs(V), out=np.ones(V.shape), where=abs(V) > self.corner)
        return float(part.min(initial=1.0))

    def room(self, V: Array) -> float:
        """The largest s ≤ 1 with Ω*(sV) finite."""
        end = np.where(V > 0.0, self.high, self.low)
        return self.inside(np.where((self.ridge > 0.0) | np.isfinite(end), 0.0, V))

    def conjugate(self, V: Array) -> float:
        """Ω*(V) = max ⟨V, W⟩ − Ω(W) over the bounds, for V within `room`."""
        over = np.maximum(np.abs(V) - self.corner, 0.0)
        far = np.divide(
            over, self.ridge, out=np.where(over > 0.0, np.inf, 0.0), where=self.ridge > 0
        )
        if np.ndim(self.low) == 0:
            return 0.5 * float((over * np.where(over > 0.0, far, 0.0)).sum())
        W = np.clip(np.copysign(far, V), self.low, self.high)
        return float((V * W - self.corner * np.abs(W) - 0.5 * self.ridge * W * W).sum())


RIDGE, LASSO, NO_PENALTY = Elastic(0.0, 1.0), Elastic(1.0, 0.0), Elastic(0.0, 0.0)


def highest(terms: Any, penalty: Elastic, V: Array) -> tuple[float, float]:
    """The s ≤ 1 with the largest of some D(s) = terms(s) − Ω*(sV), and that value.

    Far from the optimum multipliers point too far, and shrinking them all gives a better bound;
    without an l2 part nothing else is feasible.
    """
    most = penalty.room(V)
    largest = float(np.abs(V).max(initial=0.0))
    inside = min(most, penalty.l1 / largest) if largest > 0 else most

    def at(s: float) -> tuple[float, float]:
        return s, terms(s) - penalty.conjugate(s * V)

    first, between = at(most), 0.7 * most + 0.3 * inside
    second = at(between)
    if between < most and first[1] >= second[1] and first[1] > 0.0:  # D is concave
        return first
    best = (0.0, 0.0)
    for one in (first, at(inside), second, at(0.5 * most), at(0.2 * most), at(0.05 * most)):
        if one[1] > best[1]:
            best = one
    return best
