"""Bounds from below on the optimum of a problem of two classes, from points of Newton's steps.

The multipliers α = −Uℓ′ of a point, those of the heavier class shrunk until Σ αᵢyᵢ = 0, are
feasible for the dual. So are those that a step s foretells: with α̂ = α − D∘dz, Newton's equations
say Σ α̂ᵢyᵢxᵢ = r∘(w + s) and Σ α̂ᵢyᵢ = 0. What keeps P(w + s) and D(α̂) apart is of third order in
the step. Rows that are left out for a linear function have the multipliers that make its slope.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.parts.margin_sums import MarginSums, Sums
from linsep.train.convex.problem import Problem

Floats = npt.NDArray[np.float64]

BALANCED = 1e-9  # of Σ α: what Σ αy may be where it should be zero


class Rest(NamedTuple):
    """The quadratic in place of rows that are left out: its point, and what it is there.

    Attributes
    ----------
    at : the point a
    value, slope : e and c
    bend : G, empty where it is zero
    """

    at: Floats
    value: float
    slope: Floats
    bend: Floats

    @property
    def linear(self) -> bool:
        """Whether G = 0."""
        return not self.bend.size

    def moved(self, u: Floats) -> "Rest":
        """The same about u."""
        step = u - self.at
        if self.linear:
            return self._replace(at=u, value=self.value + float(self.slope @ step))
        bent = self.bend @ step
        value = self.value + float((self.slope + 0.5 * bent) @ step)
        return Rest(u, value, self.slope + bent, self.bend)

    def plus(self, other: "Rest") -> "Rest":
        """Both, of the same point."""
        bend = other.bend if self.linear else self.bend if other.linear else self.bend + other.bend
        return Rest(self.at, self.value + other.value, self.slope + other.slope, bend)


def nothing(size: int) -> Rest:
    """Where no row is left out."""
    return Rest(np.zeros(size), 0.0, np.zeros(size), np.empty((0, 0)))


class Point(NamedTuple):
    """Where the rows were read.

    Attributes
    ----------
    u : weights and intercept
    h : width of the rounded corner; 0 where there is none
    value, primal : the objective with the smooth loss, and as it is meant
    sums : what the rows say
    rest : what stands for rows that are left out, about u
    """

    u: Floats
    h: float
    value: float
    primal: float
    sums: Sums
    rest: Rest


class Bound(NamedTuple):
    """The highest bound from below, and whose multipliers give it: those of a point with a share
    for either class, or those that the step from it to `to` foretold; of some rows, those known."""

    value: float
    u: Floats
    h: float
    shares: Floats
    to: Floats | None = None
    which: Any = None
    known: Any = None


def rounded(loss: Any, h: float) -> Any:
    """A loss with a corner as wide as h, if it has one."""
    return loss.rounded(h) if loss.kinked else loss


class DualBounds:
    """The highest bound so far.

    Parameters
    ----------
    problem, sums : and the sums over its rows
    whole : whether no rows are left out, so that no optimum is below zero
    """

    def __init__(self, problem: Problem, sums: MarginSums, whole: bool) -> None:
        self._problem, self._ridge, self.sums = problem, problem.ridge, sums
        self.high = Bound(0.0 if whole else -math.inf, np.zeros(problem.size), 1.0, np.zeros(2))

    def raised(self, bound: Bound) -> None:
        """Keep a bound that is higher than all before."""
        if bound.value > self.high.value:
            self.high = bound

    def at(self, p: Point) -> None:
        """The bound that the multipliers of p give, those of the heavier class shrunk."""
        weight, v, shares = p.sums.weight, p.sums.v, np.ones(2)
        if not p.rest.linear:
            return
        excess = float(weight[0] - weight[1] - p.rest.slope[-1])
        heavy = 0 if excess > 0.0 else 1
        if self._problem.intercept and excess:
            shares[heavy] = 1.0 - abs(excess) / weight[heavy] if weight[heavy] > 0.0 else -1.0
        pull, ridge = (shares @ v - p.rest.slope)[:-1], self._ridge[:-1]
        held = ridge > 0.0
        bound = float(shares @ p.sums.dual) + p.rest.value - float(p.rest.slope @ p.u)
        bound -= 0.5 * float(pull[held] @ (pull[held] / ridge[held]))  # E(rα) ≥ rE(α)
        if shares.min() >= 0.0 and not pull[~held].any():
            self.raised(Bound(bound, p.u, p.h, shares))

    def foretold(self, p: Point, q: Point) -> None:
        """The bound that the multipliers after a whole step from p to q give."""
        terms, off, total = q.sums.foretold.tolist()
        bound = terms - 0.5 * float(self._ridge @ (q.u * q.u))
        bound += q.rest.value - float(q.rest.slope @ q.u)
        balanced = abs(off - float(q.rest.slope[-1])) <= BALANCED * total
        if balanced or not self._problem.intercept:
            self.raised(Bound(bound, p.u, p.h, np.ones(2), q.u))

    def multipliers(self) -> Any:
        """Those of the highest bound."""
        high, loss = self.high, rounded(self._problem.loss, self.high.h)
        if high.to is not None:
            return self.sums.foretold(high.u, high.to, loss)
        if high.known is not None and high.which is None:
            return high.known
        alpha = self.sums.multipliers(high.u, loss, high.shares)
        if high.which is not None:
            alpha[high.which] = high.known
        return alpha
