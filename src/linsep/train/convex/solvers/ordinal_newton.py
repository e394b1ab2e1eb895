"""Newton's method for proportional odds: one weight for each feature, thresholds between levels.

    p(y ≤ k | x) = σ(θₖ − ⟨w, x⟩),    θ₀ < θ₁ < …

With t the threshold above the level of a row, l the one below, δ = t − l and s = ⟨w, x⟩,

    −log(σ(t − s) − σ(l − s)) = ζ(s − t) + ζ(l − s) + h(δ),    ζ(z) = log(1 + eᶻ),
    h(δ) = −log(1 − e^{−δ}),

exactly, and without a difference of like numbers. So

    P(w, θ) = ½ Σ rⱼwⱼ² + Σ Uᵢ(ζ(sᵢ − tᵢ) + ζ(lᵢ − sᵢ)) + Σ Nₖ h(θₖ − θₖ₋₁)

with Nₖ the weight of a level: a sum of convex functions, in which h keeps the thresholds in order.
Slopes α, β of Uζ and Gₖ of −Nₖh are a point of the dual if Σ α = Σ β and every threshold is in
balance, Gₖ₊₁ = Gₖ + Σ_{level k} α − Σ_{level k+1} β ≥ 0; of α and β the heavier is shrunk.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.designs.design import ALONE, Design
from linsep.train.convex.drive import FINEST, Candidate
from linsep.train.convex.parts.conjugate_gradients import conjugate_gradients
from linsep.train.convex.solution import Solution, require_range

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FAR = 1e300  # where the thresholds below the lowest level and above the highest stand
FACTORED = 256  # features, and levels, up to which the Hessian is factored
EDGE = 0.95  # of the way to where two thresholds meet, at most
STILL = 0.1  # by which scores move in the last steps where there is no optimum


class Point(NamedTuple):
    """Weights with thresholds behind them, and what the rows say there.

    Attributes
    ----------
    u : w and θ
    s : scores
    alpha, beta : U times the slopes of ζ above and below each row
    primal, dual : bounds on the optimum
    gradient : of P in u
    """

    u: Floats
    s: Floats
    alpha: Floats
    beta: Floats
    primal: float
    dual: float
    gradient: Floats


class Step(NamedTuple):
    """Newton's step: of u, of scores, and its decrement squared."""

    u: Floats
    s: Floats
    decrement2: float

    @property
    def longest(self) -> float:
        return float(np.abs(self.s).max())


class OrdinalNewton:
    """Newton's steps as a solver.

    Parameters
    ----------
    design : the rows; where its columns are shifted, thresholds make up for it
    levels : of each row, from zero; every level has rows of some weight
    caps : Uᵢ
    penalised : whether there is ½‖w‖²
    n_jobs : threads; never changes the bytes of the result
    """

    name = "newton"
    tol = 1e-6

    def __init__(
        self, design: Design, levels: Array, caps: Floats, penalised: bool,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.design, self.levels, self.caps, self.penalised = design, levels, caps, penalised
        alone = design.entries <= ALONE
        self.pool = Pool(n_jobs, most=1 if alone else None, products=not alone)
        self.weight = np.bincount(levels, caps)
        scale = design.columns.scale.astype(np.float64)
        self._ridge = float(penalised) * (scale**2 if scale.size else np.ones(design.d))
        self.n_iter, self._status = 0, Status.budget
        self._at: Point
        self._next: Step | None = None

    def candidates(self) -> Iterator[Candidate]:
        """A point, and one after each step."""
        self.interrupted()
        yield self._candidate
        while self._step():
            yield self._candidate

    @property
    def _candidate(self) -> Candidate:
        return Candidate(self.n_iter, self._at.primal, self._low(), self.design.n)

    def _low(self) -> float:
        """The bound from below; without a penalty, what one more step would come to, if it is
        a short one."""
        if self.penalised:
            return self._at.dual
        step = self._direction()
        return self._at.primal - 0.5 * step.decrement2 if step.longest < STILL else 0.0

    def interrupted(self) -> None:
        """Begin at no weights, where thresholds are the log-odds of the levels."""
        if not self.n_iter:
            below, above = np.cumsum(self.weight), np.cumsum(self.weight[::-1])[::-1]
            theta = np.log(below[:-1]) - np.log(above[1:])
            u = np.append(np.zeros(self.design.d), theta)
            self._at, self.n_iter = self._look(u, np.zeros(self.design.n)), 1

    def _around(self, theta: Floats, end: float) -> tuple[Floats, Floats]:
        """What stands above and below each row; `end` above the highest level."""
        edges = np.concatenate([[-end], theta, [end]])
        return edges[self.levels + 1], edges[self.levels]

    def _value(self, u: Floats, s: Floats) -> tuple[float, Floats, Floats]:
        """P, and what ζ is taken of above and below each row."""
        d = self.design.d
        above, below = self._around(u[d:], FAR)
        up, down = s - above, below - s
        value = 0.5 * float(self._ridge @ (u[:d] * u[:d]))
        value += float(self.caps @ (np.logaddexp(0.0, up) + np.logaddexp(0.0, down)))
        apart = -np.log(-np.expm1(-np.diff(u[d:])))
        return value + float(self.weight[1:-1] @ apart), up, down

    def _look(self, u: Floats, s: Floats) -> Point:
        """The objective at u, its slopes, and what they bound from below."""
        d, K, inner = self.design.d, len(self.weight), self.weight[1:-1]
        primal, up, down = self._value(u, s)
        alpha, beta = self.caps * special.expit(up), self.caps * special.expit(down)
        A, B = np.bincount(self.levels, alpha, K), np.bincount(self.levels, beta, K)
        v, w = self.design.back_product(np.stack([alpha, beta]), self.pool)[:, :d]
        held = inner / np.expm1(np.diff(u[d:]))  # −N h′(δ)
        pushed = B[1:] - A[:-1] + np.append(held, 0.0) - np.append(0.0, held)
        gradient = np.append(self._ridge * u[:d] + v - w, pushed)
        if not (math.isfinite(primal) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        least = min(A.sum(), B.sum())
        r, q = (least / A.sum(), least / B.sum()) if least > 0.0 else (0.0, 0.0)
        g = np.cumsum(r * A[:-1] - q * B[1:])[:-1] / inner
        g[np.abs(g) < FINEST] = 0.0  # the certificate shrinks slopes until it is
        dual = 0.0
        if self.penalised and (g >= 0.0).all():
            E = r * float(self.caps @ np.logaddexp(0.0, up) - alpha @ up)  # Fenchel's equality
            E += q * float(self.caps @ np.logaddexp(0.0, down) - beta @ down)
            E += float(inner @ (np.log1p(g) + special.xlog1py(g, 1.0 / g)))
            square = float(np.sum((r * v - q * w) ** 2 / self._ridge))
            t = min(1.0, E / square) if square > 0.0 else 1.0
            dual = t * E - 0.5 * t * t * square
        return Point(u, s, alpha, beta, primal, max(0.0, dual), gradient)

    def _direction(self) -> Step:
        """Newton's step from where we are."""
        if self._next is None:
            d, gradient = self.design.d, self._at.gradient
            few = max(d, len(self.weight)) <= FACTORED
            u = -(self._factored() if few else self._by_products())
            s = self.design.product(np.append(u[:d], 0.0)[None], self.pool)[0]
            self._next = Step(u, s, -float(gradient @ u))
        return self._next

    def _bends(self) -> tuple[Floats, Floats, Floats]:
        """Second derivatives above and below each row, and in the thresholds."""
        cap = np.where(self.caps > 0.0, self.caps, 1.0)
        above, below = (a * (1.0 - a / cap) for a in (self._at.alpha, self._at.beta))
        delta = np.diff(self._at.u[self.design.d :])
        held = self.weight[1:-1] * np.exp(-delta) / np.expm1(-delta) ** 2
        own = np.bincount(self.levels, above)[:-1] + np.bincount(self.levels, below)[1:]
        T = np.diag(own + np.append(held, 0.0) + np.append(0.0, held))
        return above, below, T - np.diag(held, 1) - np.diag(held, -1)

    def _factored(self) -> Floats:
        """H⁻¹ times the gradient."""
        d = self.design.d
        above, below, T = self._bends()
        each = np.arange(len(T))[:, None]
        cross = (self.levels == each) * above + (self.levels == each + 1) * below
        H = np.empty((d + len(T), d + len(T)))
        H[:d, :d] = self.design.gram(above + below, self.pool)[:d, :d] + np.diag(self._ridge)
        H[d:, :d] = -self.design.back_product(cross, self.pool)[:, :d]
        H[:d, d:], H[d:, d:] = H[d:, :d].T, T
        return Curvature(H).solve(self._at.gradient)

    def _by_products(self) -> Floats:
        """About H⁻¹ times the gradient, by products with H alone."""
        d, design, gradient = self.design.d, self.design, self._at.gradient
        above, below, T = self._bends()
        own = Curvature(T)
        flat = design.squares(above + below, self.pool)[:d] + self._ridge
        flat = np.where(flat > 0.0, flat, 1.0)

        def product(p: Floats) -> Floats:
            s = design.product(np.append(p[:d], 0.0)[None], self.pool)[0]
            over, under = self._around(p[d:], 0.0)
            up, down = above * (s - over), below * (s - under)
            w = design.back_product((up + down)[None], self.pool)[0, :d] + self._ridge * p[:d]
            cross = (
                np.bincount(self.levels, above * s)[:-1] + np.bincount(self.levels, below * s)[1:]
            )
            return np.append(w, T @ p[d:] - cross)

        def inverse(r: Floats) -> Floats:
            return np.append(r[:d] / flat, own.solve(r[d:]))

        left = min(0.01, self.tol**0.5) ** 2
        return np.asarray(
            conjugate_gradients(product, inverse, gradient, left, 2 * len(gradient))[0]
        )

    def _step(self) -> bool:
        """A step; False where none leads down, or none ends."""
        at, step, d = self._at, self._direction(), self.design.d
        spent = step.decrement2 <= FINEST * at.primal and step.longest >= STILL
        if not self.penalised and (spent or self._inside(at)):
            self._status = Status.no_optimum
        if self._status is Status.no_optimum or not 0.0 < step.decrement2 < math.inf:
            return False
        delta, closer = np.diff(at.u[d:]), -np.diff(step.u[d:])
        met = closer > 0.0
        t = min(1.0, EDGE * float(np.min(delta[met] / closer[met], initial=math.inf)))
        u, s = at.u + t * step.u, at.s + t * step.s
        while not self._value(u, s)[0] <= at.primal * (1.0 + 4e-15) - 1e-4 * t * step.decrement2:
            t *= 0.5
            u, s = at.u + t * step.u, at.s + t * step.s
        if np.array_equal(u, at.u):
            return False
        self._at, self._next = self._look(u, s), None
        self.n_iter += 1
        return True

    def _inside(self, at: Point) -> bool:
        """Whether all rows lie between their thresholds: then larger weights are ever better."""
        above, below = self._around(at.u[self.design.d :], FAR)
        return bool(((below < at.s) & (at.s < above))[self.caps > 0.0].all())

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once: there is no other way here."""

    def state(self) -> dict[str, Any]:
        """Where the run stands; what rows say of it is read again."""
        return {"u": self._at.u, "s": self._at.s, "n_iter": self.n_iter}

    def restore(self, state: dict[str, Any]) -> None:
        self._at, self.n_iter = self._look(state["u"], state["s"]), state["n_iter"]

    def solution(self) -> Solution:
        """Weights, and −θ for an intercept; of maximum likelihood a last step farther."""
        d, at, dual = self.design.d, self._at, self._low()
        u, gap = at.u, max(0.0, at.primal - dual)
        if not self.penalised and gap <= 1e-8 * at.primal:
            u = u + self._direction().u
        w, shift = self.design.columns.outside(u[:d], 0.0)
        require_range(w, u[d:])
        return Solution(w, shift - u[d:], None, at.primal, dual, gap, self.n_iter, self._status)
