"""The linear support vector machine by an interior point method: few, costly, certain steps.

    minimise   ½‖w‖² + Σ Uᵢ max(0, 1 − zᵢ)^p,      zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   p = 1 or 2

Multipliers α stay strictly between their bounds and follow the central path

    αᵢηᵢ = μ,   (Uᵢ − αᵢ)ξᵢ = μ,   ηᵢ − ξᵢ = zᵢ − 1,   w = Σ αᵢyᵢxᵢ,   Σ αᵢyᵢ = 0

as μ falls to zero (Mehrotra's predictor and corrector; for p = 2 there is no upper bound, and
ηᵢ = zᵢ − 1 + αᵢ/2Uᵢ). A step solves one system of the size of the smaller side of X (Ferris and
Munson, 2002). Coordinate descent crawls where C is huge or the features are badly scaled; here
neither matters, and twenty to forty steps are enough.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg

from linsep.data.blocks.blocks import BLOCK
from linsep.errors import OverflowedError, ParameterError
from linsep.parallel import Pool
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful, record

Array = npt.NDArray[Any]

WIDEST = 4096  # the smaller side of X up to which a system of its size is solved at each step
WRITTEN_OUT = 1 << 25  # numbers up to which rows are written out where there are fewer than columns
EPS = float(np.finfo(np.float64).eps)
BACK_OFF = 0.995  # of the way to the boundary
SMALL = 1 << 22  # numbers up to which the centred rows are kept
MEDIAN = 255  # rows of which the median is taken
FINE = 1e-6  # relative gap from which on last digits are asked for
FEW, FEW_TOL = 5000, 1e-8  # rows up to which last digits cost little, and what is asked of them
FREE = 300  # most rows on the margin: beyond, the equations cost more than they give
SNAP = 1e-5  # a multiplier this near to its bound, relative to it, counts as there
PATIENCE = 60  # steps that may fail to lessen the gap


def suits(X: Any) -> bool:
    """Whether the smaller side of X is small enough, and rows longer than many few enough."""
    n, d = X.shape
    return min(n, d) <= WIDEST and (n >= d or n * d <= WRITTEN_OUT)


def middle(X: Any) -> Array:
    """A centre of the rows that no outlier moves: the median of some of them."""
    some = X[:: max(1, X.shape[0] // MEDIAN)]
    some = some.toarray() if sp.issparse(some) else some
    return np.median(some.astype(np.float64), axis=0)


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
        self.centre = np.zeros(d)
        self.scale = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            if centred:
                self.centre = middle(X)
            largest = max(float(np.abs(block).max(initial=0.0)) for block in self._blocks())
        if not np.isfinite(largest):
            raise OverflowedError("X less its mean overflows. Divide X by its largest entry.")
        if largest > 0.0:
            self.scale = 2.0 ** float(np.clip(np.ceil(np.log2(largest)), -400, 400))
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

    def inside(self, w: Array, b: float) -> tuple[Array, float]:
        """Weights and intercept for the rows z; what no row can see is left out."""
        v = np.asarray(w, np.float64) * self.scale
        return v if self._turn is None else self._turn.T @ v, float(b) + float(self.centre @ w)

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
    """The problem in the scaled rows, and one step of the method."""

    def __init__(self, rows: Rows, signs: Array, caps: Array, squared: bool, free: bool) -> None:
        self.rows, self.y, self.U, self.squared, self.free = rows, signs, caps, squared, free

    def starts(self) -> list[Point]:
        """Far from all bounds, with η − ξ = −1 or η = −1 + α/2U as z = 0 asks; and near zero.

        The second is for caps so huge that halfway to them all digits are lost.
        """
        one, none = np.ones(len(self.y)), np.zeros(len(self.y))
        v = np.zeros(self.rows.width)
        small = np.minimum(0.5 * self.U, 1.0)
        if self.squared:
            return [Point(v, 0.0, 4.0 * self.U, one, none), Point(v, 0.0, small, one, none)]
        return [
            Point(v, 0.0, 0.5 * self.U, one, 2.0 * one),
            Point(v, 0.0, small, one, small / (self.U - small)),
        ]

    def room(self, p: Point) -> Array:
        """What is left of α to its upper bound."""
        return np.full(len(self.y), np.inf) if self.squared else self.U - p.alpha

    def lack(self, p: Point, z: Array) -> Array:
        """z − 1, and for the squared loss what α adds to it."""
        return z - 1.0 + (0.5 * p.alpha / self.U if self.squared else 0.0)

    def complementarity(self, p: Point) -> float:
        total = float(p.alpha @ p.eta)
        if self.squared:
            return total / len(self.y)
        return (total + float(self.room(p) @ p.xi)) / (2 * len(self.y))

    def step(self, p: Point, z: Array) -> Point:
        """The next point, by two solutions with one factor: where it leads, then what to aim at."""
        room = self.room(p)
        own = 0.5 / self.U if self.squared else p.xi / room
        theta = 1.0 / (p.eta / p.alpha + own)
        solve = self._system(theta)
        pull = self.rows.total(self.y * p.alpha) - p.v
        excess = float(self.y @ p.alpha)
        none = np.zeros(len(self.y))

        def direction(mu: float, bent: Array, bent_above: Array) -> Point:
            c = (mu - bent) / p.alpha - self.lack(p, z)
            if not self.squared:
                c -= (mu - bent_above) / room
            right = np.append(pull + self.rows.total(self.y * theta * c), 0.0)
            right[-1] = self.y @ (theta * c) + excess
            dv, db = solve(right)
            dz = self.y * (self.rows.scores(dv) + db)
            da = theta * (c - dz)
            deta = (mu - bent - p.eta * da) / p.alpha - p.eta
            dxi = none if self.squared else (mu - bent_above + p.xi * da) / room - p.xi
            return Point(dv, db, da, deta, dxi)

        mu = self.complementarity(p)
        guess = direction(0.0, none, none)
        after = self.complementarity(p.moved(guess, self.longest(p, guess)))
        aim = mu * min(1.0, max(after, 0.0) / mu) ** 3 if mu > 0.0 else 0.0
        step = direction(aim, guess.alpha * guess.eta, -guess.alpha * guess.xi)
        return p.moved(step, min(1.0, BACK_OFF * self.longest(p, step)))

    def longest(self, p: Point, step: Point) -> float:
        """How far one may go along a step and stay inside."""
        room = self.room(p)
        size = 1.0
        pairs = [(p.alpha, step.alpha), (p.eta, step.eta)]
        if not self.squared:
            pairs += [(room, -step.alpha), (p.xi, step.xi)]
        for value, change in pairs:
            down = change < 0.0
            if down.any():
                size = min(size, float((value[down] / -change[down]).min()))
        return size

    def margins(self, p: Point) -> Array:
        return np.asarray(self.y * (self.rows.scores(p.v) + p.b))

    def exact(self, alpha: Array) -> Point | None:
        """The point whose rows at no bound are those of nearly optimal multipliers.

        While it is known which rows lie on the margin (F), the best multipliers solve linear
        equations: yᵢ(⟨v, zᵢ⟩ + b) + hᵢαᵢ = 1 for each row of F, and Σ αᵢyᵢ = 0 if b is free
        (hᵢ is 0 for the hinge, 1/2Uᵢ for its square). None where they lead beyond a bound.
        """
        most = np.full(len(alpha), np.inf) if self.squared else self.U
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
        system[:m, :m] = rows @ rows.T
        if self.squared:
            system[np.arange(m), np.arange(m)] += 0.5 / self.U[inside]
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

    def _system(self, theta: Array) -> Callable[[Array], tuple[Array, float]]:
        G = self.rows.gram(theta)
        G[np.arange(self.rows.width), np.arange(self.rows.width)] += 1.0
        if not self.free:
            G[-1, :] = G[:, -1] = 0.0
            G[-1, -1] = 1.0
        unit = 1.0 / np.sqrt(np.diag(G))
        G *= unit * unit[:, None]
        factor = _factor(G)

        def solve(right: Array) -> tuple[Array, float]:
            if not self.free:
                right[-1] = 0.0
            at = unit * linalg.cho_solve(factor, unit * right, check_finite=False)
            return at[:-1], float(at[-1])

        return solve

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
        dual = float(alpha.sum()) - 0.5 * float(v @ v)
        if self.squared:
            dual -= 0.25 * float((alpha / self.U) @ alpha)
        return primal, dual, alpha


def _factor(G: Array) -> Any:
    """Cholesky's factor, of a matrix a little larger where rounding made it indefinite."""
    diagonal = np.arange(len(G))
    for more in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        G[diagonal, diagonal] += more
        try:
            return linalg.cho_factor(G, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError


class Best(Stateful):
    """The lowest P and the highest D met, from w = 0 and α = 0 on."""

    state_names = ("point", "alpha", "primal", "dual")

    def __init__(self, problem: InteriorProblem) -> None:
        self._problem = problem
        rows = problem.rows
        self.point = Point(np.zeros(rows.width), 0.0, *(np.zeros(len(problem.y)),) * 3)
        self.alpha = np.zeros(len(problem.y))
        self.primal = float(problem.U.sum())
        self.dual = 0.0
        # The intercept is given back for rows with their mean, and loses digits to it.
        self._shaken = EPS * self.primal * float(np.linalg.norm(rows.centre)) / rows.scale

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    def update(self, p: Point, z: Array) -> float:
        """Keep what is better; returns the gap at this point."""
        primal, dual, alpha = self._problem.bounds(p, z)
        primal += self._shaken * float(np.linalg.norm(p.v))
        if primal < self.primal:
            self.primal, self.point = primal, p
        if dual > self.dual:
            self.dual, self.alpha = dual, alpha
        return primal - dual


class ScaledSolver:
    """What solvers of a `ScaledProblem` share: how they are stopped, gone on with and ended."""

    _given: tuple[Any, ...]
    scaled: "ScaledProblem"
    best: Best
    _at: Any = None  # what the next step depends on, besides the best point
    tol = 1e-4

    def __init__(self, *given: Any) -> None:
        self._given, self.pool, self.n_iter = given, Pool(1), 0

    def _begin(self) -> None:
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        return {"at": self._at, "n_iter": self.n_iter - 1, "best": self.best.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self._at, self.n_iter = state["at"], state["n_iter"]
        self._begin()
        self.best.restore(state["best"])

    def interrupted(self) -> None:
        if not hasattr(self, "best"):
            self._begin()

    def rescaled(self) -> None:
        """Rows are scaled as a whole already."""

    def solution(self) -> Solution:
        return self.scaled.solution(self.best, self.n_iter)


class InteriorPoint(ScaledSolver):
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
    _at: tuple[int, Any, float, int] | None = None  # which start; point, least gap, steps stuck
    _tol = 1e-4

    @property
    def tol(self) -> float:
        """Few rows are worth the last digits."""
        return min(FEW_TOL, self._tol) if self._given[0].shape[0] <= FEW else self._tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._tol = tol

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
        super().__init__(X, signs, weights, C, loss == "squared_hinge", fit_intercept)

    def _begin(self) -> None:
        X, signs, weights, C, squared, free = self._given
        self.scaled = ScaledProblem(X, signs, weights, C, free, Rows)
        self.problem = InteriorProblem(
            self.scaled.rows, self.scaled.signs, self.scaled.caps, squared, free
        )
        self.best = Best(self.problem)

    def candidates(self) -> Iterator[Candidate]:
        """Steps along the central path, until rounding lets none succeed."""
        if self._at is None:
            self._begin()
        problem, best, restored = self.problem, self.best, self._at
        for k, p in enumerate(problem.starts()):
            gap, stuck = np.inf, 0
            if restored is not None:
                if k < restored[0]:
                    continue
                (_, p, gap, stuck), restored = restored, None
            while stuck < PATIENCE and np.isfinite(p.v).all():
                self._at = k, p, gap, stuck
                z = problem.margins(p)
                now = best.update(p, z)
                self.n_iter += 1
                yield self.scaled.seen(best, self.n_iter, len(problem.y))
                try:
                    p = problem.step(p, z)
                except np.linalg.LinAlgError:
                    break
                stuck = 0 if now < 0.9 * gap else stuck + 1
                gap = min(gap, now)

    def solution(self) -> Solution:
        """The optimum itself where the equations of the rows on the margin tell it."""
        if self.tol <= FINE:
            exact = self.problem.exact(self.best.alpha)
            if exact is not None:
                better = Best(self.problem)
                better.update(exact, self.problem.margins(exact))
                if better.gap < self.best.gap:
                    return self.scaled.solution(better, self.n_iter)
        return super().solution()


class ScaledProblem:
    """Rows of positive weight, divided by one number: ½‖w‖² = ½‖v‖²/scale².

    For v the caps are scale² times as large.
    """

    def __init__(
        self, X: Any, signs: Array, weights: Array | None, C: float, free: bool, kind: Any
    ) -> None:
        if not 0.0 < C < np.inf:
            raise ParameterError(f"C is {C!r}; a penalty needs a positive finite number.")
        self.n = X.shape[0]
        caps = np.full(self.n, float(C)) if weights is None else C * np.asarray(weights, float)
        self.used = caps > 0.0
        self.rows: Any = kind(X if self.used.all() else X[self.used], free)
        self.unit = self.rows.scale**2
        self.signs = np.asarray(signs, np.float64)[self.used]
        self.caps = caps[self.used] * self.unit

    def seen(self, best: "Best", n_iter: int, active: int) -> Candidate:
        return Candidate(n_iter, best.primal / self.unit, best.dual / self.unit, active)

    def solution(self, best: "Best", n_iter: int) -> Solution:
        w, b = self.rows.outside(best.point.v, best.point.b)
        alpha = np.zeros(self.n)
        alpha[self.used] = best.alpha / self.unit
        bounds = (best.primal / self.unit, best.dual / self.unit, best.gap / self.unit)
        return Solution(w, b, alpha, *bounds, n_iter)
