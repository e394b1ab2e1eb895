"""Least squares on sparse rows too large to write out: conjugate gradients, and their proof.

With A the rows about their mean, times the root of their weights, the minimum of ½‖Aw − y‖² has
Aᵀr = 0 for r = y − Aw. Conjugate gradients on these normal equations (CGLS; Björck, 1996) take two
products with the rows in each pass and, begun at zero, end at the shortest solution. In units where
all columns are of length one they need far fewer passes, but end at what is shortest in these units
if columns depend on each other: what A does not see of w is then taken away. A solution is believed
when what is left, computed anew from the data, is rounding:

    ‖Aᵀr‖ ≤ ε‖A‖‖r‖    w is the exact answer for A + E with ‖E‖ = ‖Aᵀr‖/‖r‖ (Stewart, 1977), or
    ‖r‖ ≤ ε(‖A‖‖w‖ + ‖y‖)    w is an exact solution of equations changed by as little.
"""

import math
from collections.abc import Callable, Generator, Iterator
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
FINEST = 1e-14  # the same where all of a target can be met, for directions that A does not see
AGAIN = 20  # passes for each direction there is
SHORT = 1e-7  # share of weights that A may not see, for which they still are the shortest
SQUARE = 1e-3  # cosine of what is kept and what is left, in exact arithmetic zero
UNSEEN = 16  # directions that A does not see which are taken from weights one by one
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

    def in_units(self, unit: Floats) -> "_Rows":
        """AU"""
        return self._replace(scale=self.scale * unit)

    def units(self) -> Floats:
        """One over the length of each column, means and all; zero for those without entries."""
        X = sp.csr_array(self.X)
        rows = np.repeat(self.root, np.diff(X.indptr))
        squares = np.square(X.data * self.scale[X.indices] * rows)
        lengths = np.sqrt(np.bincount(X.indices, squares, len(self.scale)))
        return np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)

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
    """One target under way, from `w` on or from zero."""

    def __init__(
        self,
        rows: _Rows,
        y: Floats,
        length: float,
        w: Floats | None = None,
        rounding: float = ROUNDING,
    ) -> None:
        self.rows, self.y, self.length, self.rounding = rows, y, length, rounding
        self.w = np.zeros(rows.X.shape[1]) if w is None else w
        self.size = math.sqrt(float(y @ y))
        self.least, self.failures, self.looks = math.inf, 0, 0
        self._look()

    @property
    def ended(self) -> bool:
        """Whether the proof is there, or looks no longer get nearer to it."""
        return self.proved or self.failures >= FIRM

    def _look(self) -> None:
        """Residual and slope from the data themselves, and whether they prove the minimum."""
        self.looks += 1
        self.r = self.y - self.rows.dot(self.w)
        self.s = self.p = self.rows.back(self.r)
        self.gamma = float(self.s @ self.s)
        rest, slope = math.sqrt(float(self.r @ self.r)), math.sqrt(self.gamma)
        reach = self.length * math.sqrt(float(self.w @ self.w)) + self.size
        left = min(slope / (self.length * rest or 1.0), rest / (reach or 1.0))
        self.proved = left <= self.rounding
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
        small = 0.5 * self.rounding
        if math.sqrt(self.gamma) <= small * self.length * rest or rest <= small * reach:
            self._look()


class _Target:
    """One target, by steps in the units where all columns are of length one if that is possible.

    Attributes
    ----------
    w, r : the weights and what they leave of y, after each pass
    run : the run in the units of A, once it is begun; its proof is the one that counts
    """

    def __init__(self, rows: _Rows, y: Floats, length: float, unit: Floats | None) -> None:
        self.rows, self.y, self.length, self.unit = rows, y, length, unit
        self.w, self.r = np.zeros(rows.X.shape[1]), y
        self.run: _Run | None = None
        self._passes = self._all()
        if unit is None:
            self.run = _Run(rows, y, length)

    @property
    def proved(self) -> bool:
        return self.run is not None and self.run.proved

    @property
    def failed(self) -> bool:
        return self.run is not None and not self.run.proved and self.run.ended

    def step(self) -> None:
        next(self._passes, None)

    def _all(self) -> Iterator[None]:
        """A pass at a time: in the units of columns, until w is shortest, in the units of A."""
        if self.unit is not None:
            scaled = self.rows.in_units(self.unit)
            length = scaled.length()
            run = _Run(scaled, self.y, length)
            while not run.ended:
                run.step()
                self.w, self.r = self.unit * run.w, run.r
                if not run.ended:
                    yield
            shortest = run.proved and (yield from self._shorten(scaled, length))
            self.run = _Run(self.rows, self.y, self.length, self.w if shortest else None)
            yield
        assert self.run is not None
        while not self.run.ended:
            self.run.step()
            self.w, self.r = self.run.w, self.run.r
            yield

    def _shorten(self, scaled: _Rows, length: float) -> Generator[None, None, bool]:
        """Take from w what A does not see, direction by direction; whether nothing is left of it.

        What steps in units U leave of x = U²w, z = x − U²Aᵀ(AU²Aᵀ)⁺Ax, has Az = 0, and is zero
        where w has no such part: as a map of w it is symmetric (Gould, Hribar and Nocedal, 2001).
        """
        assert self.unit is not None
        least = float(np.min(self.unit, where=self.unit > 0, initial=np.inf))
        directions: list[Floats] = []
        seen: Floats | None = None  # what is kept of x; that of the next differs little
        while True:
            yield
            x = self.unit * self.w
            run = _Run(scaled, scaled.dot(x), length, seen, FINEST)
            while run.looks == 1 and not run.ended:  # begun anew, steps would follow rounding alone
                run.step()
                yield
            seen, rest = run.w, x - run.w
            if run.least > ROUNDING:
                return False
            # A part n that A does not see leaves ‖n‖²/‖n/U‖ or more of x, that is ‖n‖ min U.
            short = _norm(rest) <= SHORT * least * _norm(self.w)
            if short or len(directions) == UNSEEN:
                return short
            if abs(seen @ rest) > SQUARE * _norm(seen) * _norm(rest):
                return False
            z = self.unit * rest
            for q in directions + directions:
                z = z - (q @ z) * q
            q = z / _norm(z)
            part = float(q @ self.w)
            if abs(part) * _norm(self.rows.dot(q)) > 10 * ROUNDING * self.length * _norm(self.w):
                return False
            directions.append(q)
            self.w = self.w - part * q


def _norm(v: Floats) -> float:
    return math.sqrt(float(v @ v))


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
        unit = self.rows.units() if problem.n_rows > problem.n_features else None
        columns = (T - self.level).T
        self.runs = [_Target(self.rows, root * column, length, unit) for column in columns]
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
        return Status.unfinished if any(one.failed for one in self.runs) else None

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
