"""The books of a convex fit kept a second time: primal, dual and rounding, in one pass over X.

A solver ends on bounds of its own. Here they are computed anew from data, stored weights and a
dual point that the solver proposes, by code it has no part in. The proposal is made feasible, never
trusted. With concave dual terms E(α), E(0) = 0, and 0 ≤ r ≤ 1,

    E(rα) ≥ r E(α),

so that a class that weighs too much is shrunk by the exact ratio of two sums, and a point that
reaches too far by the best factor, without another look at the rows. Bounds on all rounding errors
are added up on the way (Higham, *Accuracy and Stability of Numerical Algorithms*, ch. 3), with
lengths of rows in place of sums of absolute values: that costs one product for each block.
"""

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import PageRelease
from linsep.parallel import sum_over
from linsep.proofs.gap.penalty import RIDGE, Penalty
from linsep.proofs.gap.plane_sums import sum_plane
from linsep.proofs.gap.products import UNIT, Products

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALONE = 1 << 20
"""Entries up to which one thread counts."""
NONE: Floats = np.empty(0)
CLEAR = 0.05
"""Of the gap that is wanted: rounding by less is not what is in the way."""


class Certificate(NamedTuple):
    """Bounds on an objective, as a second count gives them.

    Attributes
    ----------
    primal : the objective of the stored weights
    dual : no weights have a smaller objective than about this
    rounding : by how much rounding can have made primal − dual too small
    low : dual less what rounding can have added to it
    """

    primal: float
    dual: float
    rounding: float
    low: float

    @property
    def high(self) -> float:
        """The objective, and what rounding can have taken from it."""
        return self.primal + (self.rounding - (self.dual - self.low))

    @property
    def gap(self) -> float:
        """How far above the optimum the weights can be at most, relative to the objective."""
        apart = self.primal - self.dual + self.rounding
        if not self.primal > 0:
            return 0.0
        return min(1.0, max(0.0, apart) / self.primal) if not math.isnan(apart) else 1.0  # P ≥ 0

    def clear(self, problem: "FittedProblem") -> bool:
        """Whether what was wanted is shown, or something else than rounding is in the way."""
        from linsep.proofs.gap.extended_sums import suits

        little = self.rounding <= CLEAR * (problem.wanted or self.gap) * self.primal
        return self.gap <= problem.wanted or little or not suits(problem)

    def times(self, factor: float) -> "Certificate":
        """The same of the objective times a number."""
        return Certificate(*(factor * one for one in self))


def gamma(terms: float) -> float:
    """The relative error of a sum of so many products, in any order."""
    share = terms * UNIT
    return share / (1.0 - share) if share < 1.0 else math.inf


class FittedProblem(NamedTuple):
    """What a fit minimised, and the weights it stored.

    Attributes
    ----------
    X : checked array or CSR matrix
    codes : class number of each row
    C : Cᵢ of each row, or one number for all
    W, b : the weights (K, d) and intercepts (K,) that are stored
    free : whether intercepts are free; otherwise there are none
    penalty : Ω; zeros stand for none, and then only the objective can be counted
    n_jobs : threads; they change no byte
    wanted : a relative gap below which no better proposal need be looked for
    told : offsets, weights of penalties and bounds: `linsep.proofs.gap.moves.Told`, or None
    """

    X: Any
    codes: Array
    C: Any
    W: Floats
    b: Floats
    free: bool
    penalty: Penalty = RIDGE
    n_jobs: int | None = None
    wanted: float = 0.0
    told: Any = None

    def beside(self, other: "FittedProblem") -> tuple[Floats, Floats]:
        """The stored weights, with those of `other` below where they differ."""
        W, b = np.asarray(self.W, np.float64), np.asarray(self.b, np.float64)
        if other is self:
            return W, b
        V, c = np.asarray(other.W, np.float64), np.asarray(other.b, np.float64)
        if np.array_equal(V, W) and np.array_equal(c, b):
            return W, b
        return np.concatenate([W, V]), np.concatenate([b, c])

    def caps(self, span: tuple[int, int]) -> Floats:
        """Cᵢ of some rows."""
        if np.ndim(self.C) == 0:
            return np.full(span[1] - span[0], float(self.C))
        return np.asarray(self.C[slice(*span)], np.float64)

    def judge(
        self, sums: Any, bound: "Bound", products: Products, again: Callable[[float], float]
    ) -> Certificate:
        """P and D from sums over rows, and what rounding may have done to both."""
        W = np.asarray(self.W, np.float64)
        l1, l2 = self.penalty
        square = float(np.vdot(W, W))
        primal = sums.loss + 0.5 * l2 * square
        if l1 > 0:
            primal += l1 * float(np.abs(W).sum())
        scores = gamma(products.terms + 8)
        long = math.sqrt(square) if len(W) == 1 else max(map(length, W))
        shift = max(map(abs, np.asarray(self.b).tolist()))
        off = scores * (long * sums.slope + shift * sums.tilt)
        rounding = off + gamma(W.size + products.added + 8) * (primal + sums.terms)
        rounding += 32 * UNIT * sums.fuzz
        if not scores * (long * sums.reach + shift * (sums.reach > 0)) < 1.0:
            rounding = math.inf
        if not any(self.penalty):  # no bound from below but zero
            return Certificate(primal, 0.0, rounding, 0.0)
        size = np.abs(bound.v) if l1 > 0 else bound.v
        most = float(size.max(initial=0.0)) if l2 == 0 else 0.0
        over = np.maximum(0.0, size - l1) if l1 > 0 else size
        far = length(over.ravel(order="K"))  # as it lies in memory
        low, dual = [self._highest(bound, sign, most, far, again) for sign in (-1.0, 0.0)]
        return Certificate(primal, dual, rounding + dual - low, low)

    def _highest(
        self, bound: "Bound", sign: float, most: float, far: float, again: Callable[[float], float]
    ) -> float:
        """D at tα, t between 0 and 1 as good as can be known from E(tα) ≥ tE(α).

        With errors as they are seen, or with all of them against us (−1); `most` is max |v|, and
        `far` the length of what is beyond l1.
        """
        l1, l2 = self.penalty
        E, error = bound.E * (1.0 + sign * bound.slip), sign * bound.error
        if l2 == 0:  # Ω* is 0 where |v| ≤ l1 everywhere, and infinite elsewhere
            value = again(l1 / (most - error)) if most - error > l1 else E
        else:
            over = max(0.0, far - error)
            conjugate = 0.5 * over * over / l2 * (1 - sign * gamma(bound.v.size + 8))
            t = min(1.0, max(0.0, E) / (2 * conjugate)) if conjugate > 0 else 1.0
            value = t * E - t * t * conjugate
        return max(0.0, value) if math.isfinite(value) else 0.0  # P ≥ 0 anyway


class Bound(NamedTuple):
    """What bounds from below: dual terms E, rows combined to v, errors of ‖v‖ and (relative) E."""

    E: float
    v: Floats
    error: float
    slip: float = 0.0


class Sides(NamedTuple):
    """Sums over rows for one hyperplane; pairs hold the rows of sign −1 and of sign +1.

    Attributes
    ----------
    loss : Σ Cφ(z)
    slope, tilt : bounds on Σ Cφ'‖x‖ and Σ Cφ', for errors of scores
    reach : a bound on ‖x‖ where slopes are those for errors of scores below one
    terms : Σ of sizes that are added up
    fuzz : Σ of sizes that functions of single numbers round
    dual : Σ E(α), a pair
    weight : Σ α, a pair
    bend : Σ Cφ''(z), for a step of the intercept
    pull : a bound on Σ α‖x‖
    v : Σ αyx, a pair of rows where b is free
    """

    loss: float
    slope: float
    tilt: float
    reach: float
    terms: float
    fuzz: float
    dual: Floats
    weight: Floats
    bend: float
    pull: float
    v: Floats


def plus(a: Any, b: Any) -> Any:
    """The sum of two tuples of sums, field by field, or of two numbers."""
    if isinstance(a, float):
        return a + b
    return type(a)(*(one + other for one, other in zip(a, b, strict=True)))


def certify_planes(
    loss: str, problem: FittedProblem, alpha: Any = None, dual: Any = None
) -> Certificate:
    """Count again for hyperplanes of two classes each: the second class, or each, against the rest.

    Parameters
    ----------
    loss : 'hinge', 'squared_hinge' or 'logistic'
    problem : what was minimised, and the stored weights
    alpha : K times n multipliers to be proposed; negative ones, and those above Cᵢ, are cut
    dual : (W, b) whose slopes are proposed instead; the stored ones where None

    Examples
    --------
    >>> X, codes = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> problem = FittedProblem(X, codes, 1.0, np.ones((1, 1)), np.zeros(1), True)
    >>> bounds = certify_planes("hinge", problem, np.array([[0.5, 0.5]]))
    >>> bounds.primal, round(bounds.dual, 12), bounds.gap < 1e-11
    (0.5, 0.5, True)
    """
    from linsep.proofs.gap.told import certify_told

    bounds, alone = [], len(problem.W) == 1
    for k in range(len(problem.W)):
        at = slice(k, k + 1)
        given = None if alpha is None else np.asarray(alpha[k], np.float64)
        own = problem if alone else problem._replace(W=problem.W[at], b=problem.b[at])
        if problem.told is not None:
            second = problem.codes == (1 if alone else k)
            moves = None if given is None else np.where(second, given, -given)[None]
            own = own._replace(told=problem.told if alone else problem.told.plane(k))
            bounds.append(certify_told(loss, own, second, moves))
            continue
        other = own if dual is None else own._replace(W=dual[0][at], b=dual[1][at])
        plane = Plane(loss, own, 1 if alone else k, given, other)
        bounds.append(plane.count())
    return reduce(plus, bounds)


class Plane:
    """One hyperplane between class `k` and the rest."""

    def __init__(
        self, loss: str, problem: FittedProblem, k: int, alpha: Floats | None, other: FittedProblem
    ) -> None:
        self.loss, self.problem, self.k, self.alpha = loss, problem, k, alpha
        self.C = np.array(problem.C, np.float64, ndmin=1, copy=None)
        self.products = Products(problem.X, 1)
        self._pages = PageRelease(problem.X, alpha, self.products.pointers)
        W, self.b = problem.beside(other if alpha is None else problem)
        self.W = np.ascontiguousarray(W)
        self.shift = 0.0

    def count(self) -> Certificate:
        """In plain sums, and in pairs of doubles where rounding may be what is in the way."""
        from linsep.proofs.gap.extended_certificate import ExtendedPlane

        plain, problem = self._count(), self.problem
        if plain.clear(problem):
            return plain
        own = problem.codes == self.k
        fine = ExtendedPlane(self.loss, problem, own, self.alpha, self.W, self.b).certificate()
        return min(plain, fine, key=lambda one: one.gap)

    def _count(self) -> Certificate:
        """One pass; more where another intercept would have made a far better proposal."""
        with np.errstate(all="ignore"):
            best, sums = self._evaluate()
            for _ in range(3):
                off = float(sums.weight[1] - sums.weight[0])
                fixed = self.alpha is not None or not self.problem.free or self.loss == "hinge"
                fixed |= not any(self.problem.penalty)
                if fixed or off == 0.0 or best.gap <= self.problem.wanted or not sums.bend > 0:
                    break
                self.shift += off / sums.bend  # Σ αy falls as b rises
                better, sums = self._evaluate()
                if not better.dual > best.dual:
                    break
                best = better
            return best

    def _evaluate(self) -> tuple[Certificate, Sides]:
        sums, free = self.sum(), self.problem.free
        below, above = sums.weight.tolist()
        r = s = 1.0
        if free and max(below, above) > 0:
            r, s = (1.0, below / above) if above > below else (above / below, 1.0)

        def terms(sums: Sides) -> float:
            of_below, of_above = sums.dual.tolist()
            return float(r * of_below + s * of_above)

        error = 3 * gamma(self.products.added + 16) * sums.pull
        v = r * sums.v[0] + s * sums.v[1] if free else sums.v[0]
        bound = Bound(terms(sums), v, error)
        return self.problem.judge(
            sums, bound, self.products, lambda t: terms(self.sum(t))
        ), sums  # fmt: skip

    def sum(self, shrink: float | None = None) -> Sides:
        spans = self.products.spans
        if len(spans) == 1 and not on_cluster(self.problem.X):
            return self._part(spans[0], shrink)
        # A block or two are summed sooner than threads are woken.
        n_jobs = self.problem.n_jobs if self.products.entries > ALONE else 1
        sums: Sides = sum_over(lambda span: self._part(span, shrink), spans, plus, n_jobs)
        return sums

    def _part(self, span: tuple[int, int], shrink: float | None) -> Sides:
        """The sums of one block, or with `shrink` those that E(shrink · α) needs."""
        problem, loss, rows = self.problem, self.loss, self.products.rows(span)
        cut = slice(*span)
        C = self.C if len(self.C) == 1 else self.C[cut]
        codes = problem.codes[cut]
        W, b = self.W, self.b
        if self.shift:
            W, b = np.concatenate([W[:1], W[-1:]]), np.array([b[0], b[-1] + self.shift])
        alpha = NONE if self.alpha is None else np.ascontiguousarray(self.alpha[cut])
        s, v = sum_plane(
            loss, rows, codes == self.k, C, W, b, alpha, problem.free,
            1.0 if shrink is None else shrink,
        )  # fmt: skip
        self._pages.advance(len(codes))
        charged, squares, tilt, terms, fuzz, *_, bend, long, square = s.tolist()
        size = self.products.size(span, square)
        return Sides(
            charged,
            size * math.sqrt(squares),
            tilt,
            size if loss == "squared_hinge" else 0.0,
            charged + terms,
            charged + fuzz,
            s[5:7],
            s[7:9],
            bend,
            size * math.sqrt(long),
            v if shrink is None else np.zeros((len(v), 0)),
        )


def length(values: Floats) -> float:
    """‖values‖"""
    return math.sqrt(float(values @ values))


def entropies(p: Floats) -> Floats:
    """−p log p"""
    return -p * np.log(np.where(p > 0.0, p, 1.0))
