"""The linear support vector machine with the squared hinge, by Newton's method.

    minimise   P(w, b) = ½‖w‖² + Σ Uᵢ max(0, 1 − zᵢ)²,      zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

P is a quadratic wherever no row crosses zᵢ = 1, with the Hessian I + 2 Σ Uᵢ(xᵢ, 1)(xᵢ, 1)ᵀ over
the rows with zᵢ < 1 (Mangasarian, 2002; Keerthi and DeCoste, 2005). A step goes to the lowest point
along its direction, which is found exactly; once the rows with zᵢ < 1 are the right ones, one more
step ends at the optimum itself. Units of the features do not matter to Newton's method. Systems as
large as the smaller side of X are factored where that is small, and otherwise solved by conjugate
gradients.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError, ParameterError
from linsep.status import Status
from linsep.train.convex.dual.coordinate_descent import FINEST, Check, Solution
from linsep.train.convex.dual.interior_point import Best, Machine, Point, Rows, suits

Array = npt.NDArray[Any]


class WideRows:
    """Rows with too many columns for a matrix of their products: only sums over them are made."""

    def __init__(self, X: Any) -> None:
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

    def outside(self, v: Array, b: float) -> tuple[Array, float]:
        return v / self.scale, b


class Newton(Machine):
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
        found, _ = cg(
            LinearOperator(shape, matvec=times), right, rtol=tol, maxiter=400,
            M=LinearOperator(shape, matvec=lambda r: r / diagonal),
        )  # fmt: skip
        return found[:-1], float(found[-1])

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


def solve(
    X: Any,
    signs: Array,
    weights: Array | None = None,
    C: float = 1.0,
    *,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 200,
    start: tuple[Array, float] | None = None,
    listener: Callable[[Check], Any] | None = None,
) -> Solution:
    """Fit a two-class machine with the squared hinge to a certified relative gap.

    Parameters
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    fit_intercept : whether b is free, or zero
    tol : ends when (P − D)/P is at most this
    max_iter : most steps
    start : weights and intercept to begin from
    listener : told a `Check` before each step; returns True to stop

    Returns
    -------
    Solution
        As of `linsep.train.convex.dual.coordinate_descent.solve`; `n_iter` counts steps.

    Examples
    --------
    >>> X = np.array([[0.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 0.0]])
    >>> found = solve(X, np.array([1.0, 1.0, -1.0, -1.0]), C=1e6, tol=1e-8)
    >>> found.w.round(5) + 0.0, round(found.b, 5), found.status.name
    (array([0., 1.]), -1.0, 'converged')
    """
    if not 0.0 < C < np.inf:
        raise ParameterError(f"C is {C!r}; a penalty needs a positive finite number.")
    n = X.shape[0]
    caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, np.float64)
    used = caps > 0.0
    counted = X if used.all() else X[used]
    rows: Any = Rows(counted, fit_intercept) if suits(X) else WideRows(counted)
    unit = rows.scale**2  # ½‖w‖² = ½‖v‖²/scale²: for v the caps are scale² times as large
    y = np.asarray(signs, np.float64)[used]
    machine = Newton(rows, y, caps[used] * unit, True, fit_intercept)
    best = Best(machine)
    v, b = np.zeros(rows.width), 0.0
    if start is not None and isinstance(rows, Rows):
        v, b = rows.inside(*start)
    elif start is not None:
        v, b = np.asarray(start[0], np.float64) * rows.scale, float(start[1])
    status, n_iter = _follow(machine, best, v, b, max(tol, FINEST), max_iter, listener)
    w, b = rows.outside(best.point.v, best.point.b)
    alpha = np.zeros(n)
    alpha[used] = best.alpha / unit
    gap = best.gap / best.primal if best.primal > 0.0 else 0.0
    message = f"{n_iter} steps, relative gap {gap:.1e}, asked for {tol:.1e}."
    bounds = (best.primal / unit, best.dual / unit, best.gap / unit)
    return Solution(w, b, alpha, *bounds, n_iter, status, message)


def _follow(
    machine: Newton,
    best: Best,
    v: Array,
    b: float,
    tol: float,
    max_iter: int,
    listener: Callable[[Check], Any] | None,
) -> tuple[Status, int]:
    """Newton's steps until the gap is closed, or rounding lets none succeed."""
    gap, stuck = np.inf, 0
    for n_iter in range(1, max_iter + 1):
        try:
            with np.errstate(all="ignore"):
                p, z = machine.at(v, b)
                now = best.look(p, z)
                if best.gap <= tol * best.primal:
                    return Status.converged, n_iter
                seen = Check(n_iter, best.primal, best.dual, best.gap, int((z < 1.0).sum()))
                if listener is not None and listener(seen) is True:
                    return Status.stopped, n_iter
                stuck = 0 if now < 0.9 * gap else stuck + 1
                gap = min(gap, now)
                close = min(0.1, np.sqrt(max(now, 0.0) / best.primal)) if best.primal else 0.1
                dv, db = machine.direction(p, z, max(1e-12, 0.1 * float(close)))
                t = machine.best_step(p, z, dv, db)
        except KeyboardInterrupt:
            return Status.interrupted, n_iter
        except np.linalg.LinAlgError:
            return Status.budget, n_iter
        v, b = p.v + t * dv, p.b + t * db
        if stuck >= 20 or not np.isfinite(v).all():
            return Status.budget, n_iter
    return Status.budget, max_iter
