"""The linear support vector machine by an interior point method: few, costly, certain steps.

    minimise   ½‖w‖² + Σ Uᵢ max(0, 1 − zᵢ)^p,      zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   p = 1 or 2

Multipliers α stay strictly between their bounds and follow the central path

    αᵢηᵢ = μ,   (Uᵢ − αᵢ)ξᵢ = μ,   ηᵢ − ξᵢ = zᵢ − 1,   w = Σ αᵢyᵢxᵢ,   Σ αᵢyᵢ = 0

as μ falls to zero (Mehrotra's predictor and corrector; for p = 2 there is no upper bound, and
ηᵢ = zᵢ − 1 + αᵢ/2Uᵢ). A step solves one system of the size of the smaller side of X (Ferris and
Munson, 2002). Coordinate descent crawls where C is huge or the features are badly scaled; here
neither matters, and twenty to forty steps are enough.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.errors import OverflowedError, ParameterError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import middle, unit_of
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful, record

Array = npt.NDArray[Any]

WIDEST = 4096  # the smaller side of X up to which a system of its size is solved at each step
WRITTEN_OUT = 1 << 25  # numbers up to which rows are written out where there are fewer than columns
BACK_OFF = 0.995  # of the way to the boundary
SMALL = 1 << 22  # numbers up to which the centred rows are kept
FINE = 1e-6  # relative gap from which on last digits are asked for
FEW, FEW_TOL = 5000, 1e-8  # rows up to which last digits cost little, and what is asked of them
FREE = 300  # most rows on the margin: beyond, the equations cost more than they give
SNAP = 1e-5  # a multiplier this near to its bound, relative to it, counts as there
PATIENCE = 60  # steps that may fail to lessen the gap


def suits(X: Any) -> bool:
    """Whether the smaller side of X is small enough, and rows longer than many few enough."""
    n, d = X.shape
    return min(n, d) <= WIDEST and (n >= d or n * d <= WRITTEN_OUT)


class Rows:
    """Rows z = (x − μ)/scale, read in blocks; with fewer rows than features, their coordinates.

    The columns are rotated in the second case: lengths and angles are all that matters.
    """

    def __init__(self, X: Any, centred: bool) -> None:
        n, d = X.shape
        self.n = n
        self._X = X
        self._turn: Array | None = None
        self._small: Array | None = None
        self.centre, self.scale = np.zeros(d), 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            if centred:
                self.centre = middle(X)
            largest = max(float(np.abs(block).max(initial=0.0)) for block in self._blocks())
        if not np.isfinite(largest):
            raise OverflowedError("X less its mean overflows. Divide X by its largest entry.")
        self.scale = unit_of(largest)
        if n < d:
            Q, R = np.linalg.qr(np.concatenate(list(self._blocks())).T)
            self._turn, self._small = Q, np.ascontiguousarray(R.T)
        elif n * d <= SMALL:
            self._small = np.concatenate(list(self._blocks()))
        self.width = min(n, d)

    def _blocks(self) -> Iterator[Array]:
        for start in range(0, self.n, BLOCK):
            part = self._X[start : start + BLOCK]
            dense = part.toarray() if sp.issparse(part) else part
            yield (dense.astype(np.float64) - self.centre) / self.scale

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        if self._small is not None:
            yield slice(0, self.n), self._small
            return
        for k, block in enumerate(self._blocks()):
            yield slice(k * BLOCK, k * BLOCK + len(block)), block

    def scores(self, v: Array) -> Array:
        """⟨v, z⟩ of each row."""
        return np.concatenate([block @ v for _, block in self.blocks()])

    def total(self, a: Array) -> Array:
        """Σ az"""
        total = np.zeros(self.width)
        for rows, block in self.blocks():
            total += block.T @ a[rows]
        return total

    def gram(self, theta: Array) -> Array:
        """Σ θ(z, 1)(z, 1)ᵀ"""
        G = np.zeros((self.width + 1, self.width + 1))
        for rows, block in self.blocks():
            part, weight = block, theta[rows]
            used = np.flatnonzero(weight)
            if 2 * len(used) < len(weight):
                part, weight = part[used], weight[used]
            root = np.sqrt(weight)[:, None] * part
            G[:-1, :-1] += root.T @ root  # a matrix by itself: half the products
            G[-1, :-1] += weight @ part
        G[:-1, -1] = G[-1, :-1]
        G[-1, -1] = theta.sum()
        return G

    def outside(self, v: Array, b: float) -> tuple[Array, float]:
        """Weights and intercept for the rows as they were given."""
        w = (self._turn @ v if self._turn is not None else v) / self.scale
        return w, b - float(self.centre @ w)


@record
class Point(NamedTuple):
    """A point inside: weights, intercept, multipliers and both slacks."""

    v: Array
    b: float
    alpha: Array
    eta: Array
    xi: Array

    def moved(self, step: "Point", size: float) -> "Point":
        pairs: Any = zip(self, step, strict=True)
        return Point(*(value + size * change for value, change in pairs))


class InteriorProblem:
    """The problem in the scaled rows, and one step of the method.

    For p = 2 multipliers have no upper bound (`most` is infinite, ξ zero), but a price: ½hα² each
    with h = 1/2U, which is zero for p = 1.
    """

    def __init__(self, rows: Rows, signs: Array, caps: Array, squared: bool, free: bool) -> None:
        self.rows, self.y, self.U, self.squared, self.free = rows, signs, caps, squared, free
        self.most = np.full(len(caps), np.inf) if squared else caps
        self.h = 0.5 / caps if squared else np.zeros(len(caps))

    def starts(self) -> list[Point]:
        """Far from all bounds, with η − ξ = −1 or η = −1 + α/2U as z = 0 asks; and near zero.

        The second is for caps so huge that halfway to them all digits are lost.
        """
        U, v, one = self.U, np.zeros(self.rows.width), np.ones(len(self.y))
        small = np.minimum(0.5 * U, 1.0)
        if self.squared:
            return [Point(v, 0.0, alpha, one, 0.0 * one) for alpha in (4.0 * U, small)]
        return [
            Point(v, 0.0, 0.5 * U, one, 2.0 * one),
            Point(v, 0.0, small, one, small / (U - small)),
        ]

    def complementarity(self, p: Point) -> float:
        total = float(p.alpha @ p.eta)
        if self.squared:
            return total / len(self.y)
        return (total + float((self.U - p.alpha) @ p.xi)) / (2 * len(self.y))

    def step(self, p: Point, z: Array) -> Point:
        """The next point, by two solutions with one factor: where it leads, then what to aim at."""
        room, y = self.most - p.alpha, self.y
        theta = 1.0 / (p.eta / p.alpha + p.xi / room + self.h)
        G = self.rows.gram(theta)
        G[np.arange(self.rows.width), np.arange(self.rows.width)] += 1.0
        if not self.free:
            G[-1, :] = G[:, -1] = 0.0
        inverse = Curvature(G)
        pull, none = self.rows.total(y * p.alpha) - p.v, np.zeros(len(y))
        excess, lack = float(y @ p.alpha), z - 1.0 + self.h * p.alpha

        def direction(mu: float, bent: Array, bent_above: Array) -> Point:
            c = (mu - bent) / p.alpha - lack - (mu - bent_above) / room
            right = np.append(pull + self.rows.total(y * theta * c), y @ (theta * c) + excess)
            at = inverse.solve(right)
            dv, db = at[:-1], float(at[-1])
            dz = y * (self.rows.scores(dv) + db)
            da = theta * (c - dz)
            deta = (mu - bent - p.eta * da) / p.alpha - p.eta
            return Point(dv, db, da, deta, (mu - bent_above + p.xi * da) / room - p.xi)

        mu = self.complementarity(p)
        guess = direction(0.0, none, none)
        after = self.complementarity(p.moved(guess, self.longest(p, guess)))
        aim = mu * min(1.0, max(after, 0.0) / mu) ** 3 if mu > 0.0 else 0.0
        step = direction(aim, guess.alpha * guess.eta, -guess.alpha * guess.xi)
        return p.moved(step, min(1.0, BACK_OFF * self.longest(p, step)))

    def longest(self, p: Point, step: Point) -> float:
        """How far one may go along a step and stay inside."""
        size, room = 1.0, self.most - p.alpha
        pairs = ((p.alpha, step.alpha), (p.eta, step.eta), (room, -step.alpha), (p.xi, step.xi))
        for value, change in pairs:
            down = change < 0.0
            size = min(size, float((value[down] / -change[down]).min(initial=1.0)))
        return size

    def margins(self, p: Point) -> Array:
        return np.asarray(self.y * (self.rows.scores(p.v) + p.b))

    def exact(self, alpha: Array) -> Point | None:
        """The point whose rows at no bound are those of nearly optimal multipliers.

        While it is known which rows lie on the margin (F), the best multipliers solve linear
        equations: yᵢ(⟨v, zᵢ⟩ + b) + hᵢαᵢ = 1 for each row of F, and Σ αᵢyᵢ = 0 if b is free. None
        where they lead beyond a bound.
        """
        most = self.most
        alpha = np.where(alpha <= SNAP * self.U, 0.0, alpha)
        alpha = np.where(alpha >= (1.0 - SNAP) * most, most, alpha)
        inside = np.flatnonzero((alpha > 0.0) & (alpha < most))
        if not 0 < len(inside) <= FREE:
            return None
        m, y, held = len(inside), self.y[inside], np.where(alpha < most, 0.0, alpha)
        rows = y[:, None] * np.concatenate(
            [block[inside[(inside >= s.start) & (inside < s.stop)] - s.start]
             for s, block in self.rows.blocks()]
        )  # fmt: skip
        system, right = np.zeros((m + 1, m + 1)), np.ones(m + 1)
        system[:m, :m] = rows @ rows.T + np.diag(self.h[inside])
        system[:m, m] = system[m, :m] = y
        right[:m] -= rows @ self.rows.total(self.y * held)
        right[m] = -float(self.y @ held)
        size = m + self.free
        answer = np.zeros(m + 1)
        answer[:size] = np.linalg.lstsq(system[:size, :size], right[:size], rcond=1e-13)[0]
        alpha = held.copy()
        alpha[inside] = answer[:m]
        if np.any(alpha < 0.0) or np.any(alpha > most):
            return None
        none = np.zeros(len(alpha))
        return Point(self.rows.total(self.y * alpha), float(answer[m]), alpha, none, none)

    def bounds(self, p: Point, z: Array) -> tuple[float, float, Array]:
        """P at the weights, D at the multipliers once balanced, and these."""
        alpha = p.alpha
        if self.free:
            heavy = self.y * float(self.y @ alpha) > 0.0
            light, weight = alpha[~heavy].sum(), alpha[heavy].sum()
            alpha = np.where(heavy, alpha * (light / weight if weight > 0.0 else 0.0), alpha)
        v = self.rows.total(self.y * alpha)
        lost = np.maximum(0.0, 1.0 - z)
        primal = 0.5 * float(p.v @ p.v) + float(self.U @ (lost**2 if self.squared else lost))
        # The intercept is given back for rows with their mean, and loses digits to it.
        shaken = float(np.finfo(np.float64).eps) * float(np.linalg.norm(self.rows.centre))
        primal += shaken * float(self.U.sum()) / self.rows.scale * float(np.linalg.norm(p.v))
        return primal, float(alpha.sum()) - 0.5 * float(v @ v + (self.h * alpha) @ alpha), alpha


class InteriorPoint(Stateful):
    """The interior point method as a solver.

    Parameters
    ----------
    X : checked array or CSR matrix, one of whose sides is small (see `suits`)
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'hinge' or 'squared_hinge'
    fit_intercept : whether b is free, or zero
    """

    name = "interior_point"
    state_names = ("_at", "n_iter", "_low", "_high")

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        fit_intercept: bool = True,
    ) -> None:
        if loss not in ("hinge", "squared_hinge"):
            raise ParameterError(f"loss is {loss!r}; choose 'hinge' or 'squared_hinge'.")
        if not 0.0 < C < np.inf:
            raise ParameterError(f"C is {C!r}; a penalty needs a positive finite number.")
        caps = np.full(X.shape[0], float(C)) if weights is None else C * np.asarray(weights, float)
        self._X, self._used, self._tol = X, caps > 0.0, 1e-4
        self._given = np.asarray(signs, np.float64), caps, loss == "squared_hinge", fit_intercept
        self.pool, self.n_iter = Pool(1), 0
        self._at: Any = None  # which start; point, least gap, steps stuck

    @property
    def tol(self) -> float:
        """Few rows are worth the last digits."""
        return min(FEW_TOL, self._tol) if len(self._used) <= FEW else self._tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._tol = tol

    def _begin(self) -> None:
        """Rows of positive weight, divided by one number: ½‖w‖² = ½‖v‖²/scale², so that for v the
        caps are scale² times as large."""
        used, (signs, caps, squared, free) = self._used, self._given
        rows = Rows(self._X if used.all() else self._X[used], free)
        self._unit = rows.scale**2
        self._problem = InteriorProblem(rows, signs[used], caps[used] * self._unit, squared, free)
        none = np.zeros(int(used.sum()))
        self._low: tuple[float, Array, float] = (
            float(self._problem.U.sum()), np.zeros(rows.width), 0.0
        )  # fmt: skip
        self._high: tuple[float, Array] = (0.0, none)

    def candidates(self) -> Iterator[Candidate]:
        """Steps along the central path, until rounding lets none succeed."""
        if self._at is None:
            self._begin()
        problem, restored = self._problem, self._at
        for k, p in enumerate(problem.starts()):
            gap, stuck = np.inf, 0
            if restored is not None:
                if k < restored[0]:
                    continue
                (_, p, gap, stuck), restored = restored, None
            while stuck < PATIENCE and np.isfinite(p.v).all():
                self._at = k, p, gap, stuck
                z = problem.margins(p)
                now = self._keep(p, z)
                self.n_iter += 1
                primal, dual = self._low[0] / self._unit, self._high[0] / self._unit
                yield Candidate(self.n_iter, primal, dual, len(problem.y))
                try:
                    p = problem.step(p, z)
                except np.linalg.LinAlgError:
                    break
                stuck = 0 if now < 0.9 * gap else stuck + 1
                gap = min(gap, now)

    def _keep(self, p: Point, z: Array) -> float:
        """Keep what is better; returns the gap at this point."""
        primal, dual, alpha = self._problem.bounds(p, z)
        if primal < self._low[0]:
            self._low = primal, p.v, p.b
        if dual > self._high[0]:
            self._high = dual, alpha
        return primal - dual

    def state(self) -> dict[str, Any]:
        return {**super().state(), "n_iter": self.n_iter - 1}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        super().restore(state)

    def interrupted(self) -> None:
        if not hasattr(self, "_low"):
            self._begin()

    def rescaled(self) -> None:
        """Rows are scaled as a whole already."""

    def solution(self) -> Solution:
        """The optimum itself where the equations of the rows on the margin tell it."""
        (primal, v, b), (dual, best) = self._low, self._high
        exact = self._problem.exact(best) if self.tol <= FINE else None
        if exact is not None:
            value, bound, multipliers = self._problem.bounds(exact, self._problem.margins(exact))
            if value - bound < primal - dual:
                primal, v, b, dual, best = value, exact.v, exact.b, bound, multipliers
        w, b = self._problem.rows.outside(v, b)
        alpha, unit = np.zeros(len(self._used)), self._unit
        alpha[self._used] = best / unit
        bounds = primal / unit, dual / unit, max(0.0, primal - dual) / unit
        return Solution(w, b, alpha, *bounds, self.n_iter)
