"""The last digits of a support vector machine, by an active-set method.

While it is known which rows lie on the margin (F), the best multipliers solve linear equations:
every row of F scores yᵢ(⟨w, xᵢ⟩ + b) + rᵢαᵢ = 1 with w = Σ αⱼyⱼxⱼ, and Σ αⱼyⱼ = 0 where the
intercept is free (rᵢ is 0 for the hinge and 1/(2Ccᵢ) for its square). Each round moves towards that
solution until a multiplier meets its bound and leaves F, or gets there and lets the worst placed
row in. The dual never falls, so that the rounds end at the optimum, to the last digit.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution

Floats = npt.NDArray[np.float64]

ROUNDS = 500
SNAP = 1e-5  # a multiplier this near to its bound, relative to it, counts as there
FINE = 1e-6  # relative gap from which on last digits are asked for
TINY = 100  # rows up to which they cost next to nothing
FREE = 300  # most rows on the margin: beyond, the equations cost more than they give


class PolishedPoint(NamedTuple):
    """Weights, intercept and multipliers, with the bounds they prove."""

    w: Floats
    b: float
    alpha: Floats
    primal: float
    dual: float


def polish(
    X: Any, signs: Floats, caps: Floats, alpha: Floats, *, squared: bool, fit_intercept: bool
) -> PolishedPoint | None:
    """Solve for the multipliers exactly, starting from nearly optimal ones.

    Parameters
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row
    caps : Ccᵢ of each row
    alpha : multipliers of a nearly optimal solution
    squared : whether the loss is the squared hinge
    fit_intercept : whether b is free

    Returns
    -------
    PolishedPoint, or None where the equations do not settle.
    """
    counts = caps > 0
    softness = np.zeros(len(caps))
    if squared:
        softness[counts] = 0.5 / caps[counts]
    upper = np.where(counts, np.inf, 0.0) if squared else caps
    alpha = np.clip(alpha, 0.0, upper)
    free = (alpha > 0) & (alpha < upper)
    for _ in range(ROUNDS):
        if free.sum() > FREE:
            return None
        step, b, whole = _towards(X, signs, alpha, free, softness, fit_intercept)
        reach, first = _room(alpha, step, upper)
        if not whole or reach < 1.0:
            if first < 0:
                return None  # nothing bounds the way, which exact arithmetic would rule out
            alpha = np.clip(alpha + reach * step, 0.0, upper)
            alpha[first] = 0.0 if step[first] < 0 else upper[first]
            free[first] = False
            continue
        alpha = np.clip(alpha + step, 0.0, upper)
        w = np.asarray((signs * alpha) @ X, np.float64)
        if b is None:
            b = _middle(X @ w, signs, alpha > 0, counts)
        worst = _worst(signs * (X @ w + b), alpha, upper, free)
        if worst is None:
            return _bounds(X, signs, caps, alpha, w, b, squared, softness)
        free[worst] = True
        if free.sum() == 1 and fit_intercept:  # one alone cannot move: Σ αⱼyⱼ is fixed
            free[_partner(X @ w, signs, alpha, upper, worst)] = True
    return None


def _towards(
    X: Any, signs: Floats, alpha: Floats, free: Any, softness: Floats, fit_intercept: bool
) -> tuple[Floats, float | None, bool]:
    """How the free multipliers should move, the intercept there, and whether that is the whole way.

    Where more rows are free than the equations can serve, there is a direction along which the
    dual grows without end: it is followed until a bound is met.
    """
    step = np.zeros(len(alpha))
    y = signs[free]
    n = len(y)
    if n == 0:
        return step, None if fit_intercept else 0.0, True
    rows = X[free]
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    signed = rows * y[:, None]
    w = np.asarray((signs * alpha) @ X, np.float64)
    size = n + fit_intercept
    system = np.zeros((size, size))
    system[:n, :n] = signed @ signed.T + np.diag(softness[free])
    right = np.append(1.0 - signed @ w - softness[free] * alpha[free], 0.0)[:size]
    if fit_intercept:
        system[:n, n] = system[n, :n] = y
        right[n] = -float(signs @ alpha)
    solution = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    left = right - system @ solution
    whole = float(np.abs(left).max()) <= 1e-9 * (1.0 + float(np.abs(right).max()))
    step[free] = solution[:n] if whole else left[:n]
    return step, float(solution[n]) if fit_intercept else 0.0, whole


def _room(alpha: Floats, step: Floats, upper: Floats) -> tuple[float, int]:
    """How much of the step the bounds allow, and which multiplier meets its bound first."""
    room = np.full(len(alpha), np.inf)
    down, up = step < 0, step > 0
    room[down] = alpha[down] / -step[down]
    room[up] = (upper[up] - alpha[up]) / step[up]
    first = int(room.argmin()) if len(room) else -1
    return (float(room[first]), first) if np.isfinite(room[first]) else (np.inf, -1)


def _worst(z: Floats, alpha: Floats, upper: Floats, free: Any) -> int | None:
    """The row at a bound that most wants to leave it, or None at the optimum."""
    wish = np.where(alpha <= 0, 1.0 - z, z - 1.0)  # at 0: z below one; at the cap: z above one
    wish[free | (upper <= 0)] = -np.inf
    wish -= 1e-9 * (1.0 + np.abs(z))
    worst = int(wish.argmax())
    return worst if wish[worst] > 0 else None


def _partner(scores: Floats, signs: Floats, alpha: Floats, upper: Floats, row: int) -> int:
    """The row that best moves together with `row` while Σ αⱼyⱼ stays as it is."""
    rises = alpha[row] <= 0
    # yⱼαⱼ must go the other way: up for a row that can grow with the opposite sign, and so on.
    toward = -signs[row] if rises else signs[row]
    able = np.where(signs == toward, alpha < upper, alpha > 0)
    able[row] = False
    ends = signs - scores  # the intercept at which the row lies on its margin
    reach = np.where(able, ends if toward < 0 else -ends, np.inf)
    return int(reach.argmin())


def _middle(scores: Floats, signs: Floats, bound: Any, counts: Any) -> float:
    """With no row on the margin any intercept of an interval is optimal: its middle."""
    ends = signs - scores  # where yᵢ(s + b) = 1
    low = [ends[counts & (signs > 0) & ~bound], ends[counts & (signs < 0) & bound]]
    high = [ends[counts & (signs < 0) & ~bound], ends[counts & (signs > 0) & bound]]
    least = max((float(e.max()) for e in low if e.size), default=-np.inf)
    most = min((float(e.min()) for e in high if e.size), default=np.inf)
    if np.isinf(least) or np.isinf(most):
        return (
            least
            if np.isinf(most) and not np.isinf(least)
            else (most if not np.isinf(most) else 0.0)
        )
    return 0.5 * (least + most)


def _bounds(
    X: Any,
    signs: Floats,
    caps: Floats,
    alpha: Floats,
    w: Floats,
    b: float,
    squared: bool,
    softness: Floats,
) -> PolishedPoint:
    """P(w, b) and D(α), each computed from the data."""
    lack = np.maximum(0.0, 1.0 - signs * (X @ w + b))
    primal = 0.5 * float(w @ w) + float(caps @ (lack**2 if squared else lack))
    v = (signs * alpha) @ X
    dual = float(alpha.sum()) - 0.5 * float(v @ v) - 0.5 * float(softness @ alpha**2)
    return PolishedPoint(w, b, alpha, primal, dual)


class PolishedSolver:
    """A solver of a small problem whose solution is brought to its last digits by `polish`.

    Parameters
    ----------
    solver : any solver of a two-class support vector machine
    X, signs, caps, squared, fit_intercept : as of `polish`
    start : multipliers of a neighbouring problem, polished before the solver begins
    """

    def __init__(
        self,
        solver: Any,
        X: Any,
        signs: Floats,
        caps: Floats,
        squared: bool,
        fit_intercept: bool,
        start: Floats | None = None,
    ) -> None:
        self._solver, self._given = solver, (X, signs.astype(np.float64), caps)
        self._how: Any = {"squared": squared, "fit_intercept": fit_intercept}
        self.pool: Pool = solver.pool
        self._start, self._first = start, True

    @property
    def name(self) -> str:
        return "active set" if self._first else str(self._solver.name)

    @property
    def tol(self) -> float:
        return float(self._solver.tol)

    @tol.setter
    def tol(self, tol: float) -> None:
        self._solver.tol = tol

    def candidates(self) -> Iterator[Candidate]:
        if self._start is not None and self._worth:
            better = self._polished(self._start, np.inf)
            if better is not None:
                self._settled = Solution(*better, max(0.0, better.primal - better.dual), 1)
                yield Candidate(1, better.primal, better.dual)
        self._first = False
        yield from self._solver.candidates()

    def state(self) -> dict[str, Any]:
        return {"solver": None if self._first else self._solver.state()}

    def restore(self, state: dict[str, Any]) -> None:
        if state["solver"] is not None:
            self._start = None
            self._solver.restore(state["solver"])

    def interrupted(self) -> None:
        self._first = False
        self._solver.interrupted()

    def rescaled(self) -> None:
        """Small problems are solved by methods that scale the rows themselves."""

    def solution(self) -> Solution:
        """The optimum itself where the equations settle, and otherwise what the solver has."""
        if self._first:
            return self._settled
        solution: Solution = self._solver.solution()
        if not self._worth and solution.gap <= self.tol * solution.primal:
            return solution
        better = self._polished(solution.alpha, solution.primal)
        if better is None:
            return solution
        return Solution(*better, max(0.0, better.primal - better.dual), solution.n_iter)

    @property
    def _worth(self) -> bool:
        """Whether last digits are asked for, or cost next to nothing."""
        return self.tol <= FINE or self._given[0].shape[0] <= TINY

    def _polished(self, alpha: Floats, most: float) -> PolishedPoint | None:
        """The optimum near these multipliers, if its objective is no higher than `most`."""
        caps = self._given[2]
        if not self._how["squared"]:  # a point inside all bounds has no multiplier at one
            alpha = np.where(alpha <= SNAP * caps, 0.0, alpha)
            alpha = np.where(alpha >= (1.0 - SNAP) * caps, caps, alpha)
        better = polish(*self._given, alpha, **self._how)
        within = better is not None and better.primal <= most * (1 + 1e-12)
        return better if within else None
