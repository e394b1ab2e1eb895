"""Least squares on sparse rows too large to write out: conjugate gradients, and their proof.

With A the rows about their mean, times the root of their weights, the minimum of ½‖Aw − y‖² has
Aᵀr = 0 for r = y − Aw. Conjugate gradients on these normal equations (CGLS; Björck, 1996) take two
products with the rows in each pass and, begun at zero, end at the shortest solution. A solution is
believed when what is left, computed anew from the data, is rounding:

    ‖Aᵀr‖ ≤ ε‖A‖‖r‖    w is the exact answer for A + E with ‖E‖ = ‖Aᵀr‖/‖r‖ (Stewart, 1977), or
    ‖r‖ ≤ ε(‖A‖‖w‖ + ‖y‖)    w is an exact solution of equations changed by as little.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.closed.least_squares import Line, targets_of
from linsep.train.closed.moments import Floats, frame_of, power
from linsep.train.problem import Problem
from linsep.train.run.loop import UNCOUNTED, Listener, Pass, run

DENSE = 1 << 24  # numbers up to which sparse rows are written out
WORK = 2e10  # products up to which their triangular factor is made
ROUNDING = 1e-12  # ε
AGAIN = 10  # passes for each direction there is
FIRM = 3  # looks at all rows that may not get nearer, one after the other, before a run gives up


def suits(X: Any) -> bool:
    """Whether to write out these rows would take long, or more memory than they are worth."""
    n, d = X.shape
    return sp.issparse(X) and (min(n, d) * d > DENSE or float(n) * d * min(n, d) > WORK)


class _Rows(NamedTuple):
    """A = C^½(X − 1mᵀ)2^−E without writing it out."""

    X: Any
    root: Floats
    mean: Floats
    scale: Floats

    def dot(self, w: Floats) -> Floats:
        """Aw"""
        v = w * self.scale
        return np.asarray(self.root * (self.X @ v - float(self.mean @ v)))

    def back(self, r: Floats) -> Floats:
        """Aᵀr"""
        s = self.root * r
        return np.asarray((self.X.T @ s - self.mean * float(s.sum())) * self.scale)

    def length(self) -> float:
        """The largest singular value, from below, by the power method."""
        v = np.cos(np.arange(self.X.shape[1]))
        norm = 0.0
        for _ in range(8):
            size = math.sqrt(float(v @ v))
            if not size > 0:
                return norm
            u = self.dot(v / size)
            norm, v = math.sqrt(float(u @ u)), self.back(u)
        return norm


class _Run:
    """One target under way."""

    def __init__(self, rows: _Rows, y: Floats, length: float) -> None:
        self.rows, self.y, self.length = rows, y, length
        self.w = np.zeros(rows.X.shape[1])
        self.size = math.sqrt(float(y @ y))
        self.least, self.failures = math.inf, 0
        self._look()

    def _look(self) -> None:
        """Residual and slope from the data themselves, and whether they prove the minimum."""
        self.r = self.y - self.rows.dot(self.w)
        self.s = self.p = self.rows.back(self.r)
        self.gamma = float(self.s @ self.s)
        rest, slope = math.sqrt(float(self.r @ self.r)), math.sqrt(self.gamma)
        reach = self.length * math.sqrt(float(self.w @ self.w)) + self.size
        left = min(slope / (self.length * rest or 1.0), rest / (reach or 1.0))
        self.proved = left <= ROUNDING
        self.failures = 0 if left < 0.5 * self.least else self.failures + 1
        self.least = min(self.least, left)

    def step(self) -> None:
        """One pass; a look at the data where the recurrence says that the end is reached."""
        q = self.rows.dot(self.p)
        curve = float(q @ q)
        if not curve > 0:
            self._look()
            return
        a = self.gamma / curve
        self.w = self.w + a * self.p
        self.r = self.r - a * q
        self.s = self.rows.back(self.r)
        before, self.gamma = self.gamma, float(self.s @ self.s)
        self.p = self.s + (self.gamma / before) * self.p
        rest = math.sqrt(float(self.r @ self.r))
        reach = self.length * math.sqrt(float(self.w @ self.w)) + self.size
        small = 0.5 * ROUNDING
        if math.sqrt(self.gamma) <= small * self.length * rest or rest <= small * reach:
            self._look()


class ConjugateGradients:
    """All targets side by side.

    Columns whose sizes differ by more than 2⁴⁰ are measured each in its own unit, as for dense
    rows: what is shortest there is decided by the units alone.
    """

    def __init__(self, problem: Problem, Y: Floats, fit_intercept: bool) -> None:
        self.frame, self.targets = frame_of(problem), targets_of(Y, fit_intercept)
        filled = self.frame.top > 0
        self.exponents = self.frame.exponents.copy()
        if filled.any() and np.ptp(self.exponents[filled]) <= 40:
            self.exponents[:] = self.exponents[filled].max()
        mean = np.zeros(problem.n_features)
        root = np.ones(problem.n_rows)
        if problem.weights.size:
            root = np.sqrt(np.ldexp(problem.weights, -self.frame.weight_exponent))
        X = problem.X.astype(np.float64, copy=False)
        if fit_intercept:
            mean = np.asarray(X.T @ (np.square(root) / self.frame.total))
        self.rows = _Rows(X, root, mean, power(-self.exponents))
        T = self.targets.at(slice(None))
        self.level = np.zeros(T.shape[1])
        if fit_intercept:
            self.level = np.square(root) @ T / self.frame.total
        length = self.rows.length()
        self.runs = [_Run(self.rows, root * column, length) for column in (T - self.level).T]
        self.losses: list[float] = []

    def one_pass(self, epoch: int) -> Pass:
        """A step of every target that is not proved yet."""
        for one in self.runs:
            if not one.proved:
                one.step()
        squares = np.array([float(one.r @ one.r) for one in self.runs])
        losses = self.targets.raw(self.targets.raw(squares / (2 * self.frame.total)))
        self.losses.append(float(losses.sum()))
        return Pass(epoch, UNCOUNTED, 1, self.losses[-1])

    def ending(self, done: Pass) -> Status | None:
        """`converged` with the proof, `unfinished` where looks no longer get nearer to it."""
        if all(one.proved for one in self.runs):
            return Status.converged
        return Status.unfinished if any(one.failures >= FIRM for one in self.runs) else None

    def line(self) -> Line:
        """Where it stands, in the units of the data."""
        slopes = self.targets.raw(np.stack([one.w for one in self.runs]))
        at_centre = self.targets.raw(self.targets.shift + self.level)
        weights = np.ldexp(slopes, -self.exponents)
        return Line(weights, at_centre, self.rows.mean, self.losses[-1], None)


def sparse_least_squares(
    problem: Problem,
    Y: Floats,
    fit_intercept: bool,
    max_iter: int,
    listeners: list[Listener],
    publish: Callable[[Line, list[float]], None],
) -> Status:
    """The shortest minimiser of ½ Σ cᵢ (⟨w, xᵢ⟩ + b − yᵢ)² / Σ cᵢ, handed to `publish`.

    Ends `converged` with the proof above, or `unfinished`.
    """
    with Pool(1), np.errstate(over="ignore", invalid="ignore"):
        solver = ConjugateGradients(problem, Y, fit_intercept)

        def show() -> None:
            publish(solver.line(), solver.losses)

        # In exact arithmetic min(n, d) passes are enough; rounding asks for some of them again.
        most = max(max_iter, AGAIN * min(problem.X.shape))
        status = run(solver.one_pass, solver.ending, most, listeners, show)
        solver.losses = solver.losses or [math.nan]  # interrupted before the first pass
        show()
    return Status.unfinished if status is Status.budget else status
