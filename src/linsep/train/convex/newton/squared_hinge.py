"""The linear support vector machine with the squared hinge, by Newton's method.

    minimise   P(w, b) = ½‖w‖² + Σ Uᵢ max(0, 1 − zᵢ)²,      zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

P is a quadratic wherever no row crosses zᵢ = 1, with the Hessian I + 2 Σ Uᵢ(xᵢ, 1)(xᵢ, 1)ᵀ over
the rows with zᵢ < 1 (Mangasarian, 2002; Keerthi and DeCoste, 2005). A step goes to the lowest point
along its direction, which is found exactly; once the rows with zᵢ < 1 are the right ones, one more
step ends at the optimum itself. Units of the features do not matter to Newton's method. Systems as
large as the smaller side of X are factored where that is small, and otherwise solved by conjugate
gradients.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solvers.interior_point import (
    Best,
    InteriorProblem,
    Point,
    Rows,
    ScaledProblem,
    ScaledSolver,
    suits,
)

Array = npt.NDArray[Any]

PATIENCE = 20  # steps that may fail to lessen the gap


class WideRows:
    """Rows with too many columns for a matrix of their products: only sums over them are made."""

    def __init__(self, X: Any, centred: bool) -> None:
        self._X = X.astype(np.float64, copy=False)
        self.n, self.width = X.shape
        self.centre = np.zeros(1)
        largest = float(abs(self._X).max())
        self.scale = 2.0 ** float(np.clip(np.ceil(np.log2(largest)), -400, 400)) if largest else 1.0
        squares = self._X.multiply(self._X) if hasattr(X, "multiply") else self._X * self._X
        self.squares = squares / self.scale**2
        if not np.isfinite(squares.sum()):
            raise OverflowedError("Squares of X overflow. Divide X by its largest entry.")

    def scores(self, v: Array) -> Array:
        return np.asarray(self._X @ (v / self.scale))

    def total(self, a: Array) -> Array:
        return np.asarray(self._X.T @ a) / self.scale

    def inside(self, w: Array, b: float) -> tuple[Array, float]:
        return np.asarray(w, np.float64) * self.scale, float(b)

    def outside(self, v: Array, b: float) -> tuple[Array, float]:
        return v / self.scale, b


class Newton(InteriorProblem):
    """The problem in scaled rows, and one step of Newton's method."""

    def at(self, v: Array, b: float) -> tuple[Point, Array]:
        """The multipliers αᵢ = 2Uᵢ max(0, 1 − zᵢ) that belong to weights, and z."""
        z = self.y * (self.rows.scores(v) + b)
        alpha = 2.0 * self.U * np.maximum(0.0, 1.0 - z)
        return Point(v, b, alpha, alpha, alpha), z

    def direction(self, p: Point, z: Array, tol: float) -> tuple[Array, float]:
        """−H⁻¹∇P"""
        inside = np.where(z < 1.0, 2.0 * self.U, 0.0)
        slope = self.rows.total(self.y * p.alpha) - p.v
        right = np.append(slope, float(self.y @ p.alpha) if self.free else 0.0)
        if isinstance(self.rows, Rows):
            return self._system(inside)(right)
        return self._conjugate(inside, right, tol)

    def _conjugate(self, inside: Array, right: Array, tol: float) -> tuple[Array, float]:
        rows: Any = self.rows
        free = float(self.free)
        level = max(float(inside.sum()), 1e-300) if self.free else 1.0

        def times(u: Array) -> Array:
            s = inside * (rows.scores(u[:-1]) + free * u[-1])
            last = s.sum() if self.free else u[-1]
            return np.append(u[:-1] + rows.total(s), last)

        from scipy.sparse.linalg import LinearOperator, cg  # long to import, and seldom needed

        diagonal = np.append(1.0 + np.asarray(rows.squares.T @ inside).ravel(), level)
        shape = (len(right), len(right))
        at, _ = cg(
            LinearOperator(shape, matvec=times), right, rtol=tol, maxiter=400,
            M=LinearOperator(shape, matvec=lambda r: r / diagonal),
        )  # fmt: skip
        return at[:-1], float(at[-1])

    def best_step(self, p: Point, z: Array, dv: Array, db: float) -> float:
        """The t with the smallest P(p + t·step): P′ is piecewise linear and grows with t."""
        dz = self.y * (self.rows.scores(dv) + db)
        start, bend = float(p.v @ dv), float(dv @ dv)

        def slope(t: float) -> tuple[float, float]:
            lack = 1.0 - z - t * dz
            on = lack > 0.0
            pull = 2.0 * self.U[on] * dz[on]
            return start + t * bend - float(pull @ lack[on]), bend + float(pull @ dz[on])

        low, high, t = 0.0, np.inf, 1.0
        for _ in range(100):
            value, curvature = slope(t)
            low, high = (t, high) if value < 0.0 else (low, t)
            trial = t - value / curvature if curvature > 0.0 else t
            if not low < trial < high:
                trial = 0.5 * (low + high) if np.isfinite(high) else 2.0 * t
            if abs(trial - t) <= 1e-15 * t or abs(value) <= 1e-15 * abs(start):
                break
            t = trial
        return t


class SquaredHingeNewton(ScaledSolver):
    """Newton's method for the squared hinge as a solver.

    Parameters
    ----------
    X, signs, weights, C, fit_intercept : as of `linsep.train.convex.solvers.interior_point`
    start : weights and intercept to begin from
    """

    name = "newton"
    _at: tuple[Array, float, float, int] | None = None  # weights, intercept; least gap, steps stuck

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        start: tuple[Array, float] | None = None,
    ) -> None:
        super().__init__(X, signs, weights, C, fit_intercept)
        self._start = start

    def _begin(self) -> None:
        X, signs, weights, C, free = self._given
        kind = Rows if suits(X) else WideRows
        self.scaled = ScaledProblem(X, signs, weights, C, free, kind)
        rows, scaled = self.scaled.rows, self.scaled
        self.problem = Newton(rows, scaled.signs, scaled.caps, True, free)
        self.best = Best(self.problem)
        self.v, self.b = np.zeros(rows.width), 0.0
        if self._start is not None:
            self.v, self.b = rows.inside(*self._start)

    def candidates(self) -> Iterator[Candidate]:
        """Newton's steps, until rounding lets none succeed."""
        if self._at is None:
            self._begin()
            self._at = self.v, self.b, np.inf, 0
        problem, best = self.problem, self.best
        v, b, gap, stuck = self._at
        while stuck < PATIENCE and np.isfinite(v).all():
            self._at = v, b, gap, stuck
            p, z = problem.at(v, b)
            now = best.update(p, z)
            self.n_iter += 1
            yield self.scaled.seen(best, self.n_iter, int((z < 1.0).sum()))
            stuck = 0 if now < 0.9 * gap else stuck + 1
            gap = min(gap, now)
            close = min(0.1, np.sqrt(max(now, 0.0) / best.primal)) if best.primal else 0.1
            try:
                dv, db = problem.direction(p, z, max(1e-12, 0.1 * float(close)))
                t = problem.best_step(p, z, dv, db)
                v, b = p.v + t * dv, p.b + t * db
            except np.linalg.LinAlgError:
                v = np.full_like(v, np.nan)
            if self._start is not None and not np.isfinite(v).all():
                # All rows beyond the margin: nothing there says where the intercept should go.
                self._start, v, b = None, np.zeros_like(v), 0.0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "started": self._start is not None}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = self._start if state["started"] else None
        super().restore(state)
