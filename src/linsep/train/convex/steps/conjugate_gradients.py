"""Least squares on sparse rows too large to write out: conjugate gradients, and their proof.

With A the rows about their mean, times the root of their weights, in units where all columns are
of length one, the minimum of ½‖Aw − y‖² has Aᵀr = 0 for r = y − Aw. Conjugate gradients on these
normal equations (CGLS; Björck, 1996) take two products with the rows in each pass and, begun at
zero, end at the solution that is shortest in these units, where columns depend on each other. A
solution is believed when what is left, computed anew from the data, is rounding:

    ‖Aᵀr‖ ≤ ε‖A‖‖r‖    w is the exact answer for A + E with ‖E‖ = ‖Aᵀr‖/‖r‖ (Stewart, 1977), or
    ‖r‖ ≤ ε(‖A‖‖w‖ + ‖y‖)    w is an exact solution of equations changed by as little.

Where singular values go down to zero without a gap, as those of a square of random entries do, the
last digits take as many passes as there are rows. So runs that have become long end on a larger ε,
or as descents do: where neither a pass nor any weight by itself lowers ‖r‖² by more than tol·‖y‖².
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.kernels.tables import sum_of_squares
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.closed.frame import frame_of, power
from linsep.train.closed.least_squares import targets_of
from linsep.train.closed.minimum_norm import Line
from linsep.train.closed.moments import Floats
from linsep.train.convex.designs.design import Design
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.problem import Problem
from linsep.train.run.state import Stateful

DENSE = 1 << 24  # numbers up to which sparse rows are written out
WORK = 2e10  # products up to which their triangular factor is made
ROUNDING = 1e-12  # ε
ENOUGH = 1e-8  # ε of a long run: digits that data hardly ever have
LONG = 1e9  # products with entries, about a second, from which on a run is long
AGAIN = 20  # passes for each direction there is
FIRM = 3  # looks at all rows that may not get nearer, one after the other, before a run gives up


def suits(X: Any) -> bool:
    """Whether to write out these rows would take long, or more memory than they are worth."""
    n, d = X.shape
    return sp.issparse(X) and (min(n, d) * d > DENSE or float(n) * d * min(n, d) > WORK)


class _Rows:
    """A = C^½(X − 1mᵀ)U without writing it out.

    Parameters
    ----------
    X : CSR matrix
    root : (n,) roots of the weights
    mean : (d,) m
    scale : (d,) powers of two in which entries are tame; U also makes columns of length one
    """

    def __init__(self, X: Any, root: Floats, mean: Floats, scale: Floats, pool: Pool) -> None:
        self.entries, self.mean, self._root, self._pool = X.nnz, mean, root, pool
        B = sp.csr_array(X, dtype=np.float64, copy=True)
        B.data *= scale[B.indices]
        B.data *= np.repeat(root, np.diff(B.indptr))
        lengths = np.sqrt(np.bincount(B.indices, np.square(B.data), X.shape[1]))
        self._unit = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        self.scale, self._middle = scale * self._unit, mean * scale
        self._rows, self._columns = Design(B), Design(sp.csr_array(B.T))

    def dot(self, w: Floats) -> Floats:
        """Aw"""
        v = w * self._unit
        scores = self._rows.product(v[None], self._pool)[0]
        return np.asarray(scores - self._root * (self._middle @ v))

    def back(self, r: Floats) -> Floats:
        """Aᵀr"""
        sums = self._columns.product(r[None], self._pool)[0]
        return np.asarray((sums - self._middle * (self._root @ r)) * self._unit)

    def length(self) -> float:
        """The largest singular value, from below, by the power method."""
        v, norm = np.cos(np.arange(len(self.scale))), 0.0
        for _ in range(8):
            size = _norm(v)
            if not size > 0:
                break
            u = self.dot(v / size)
            norm, v = _norm(u), self.back(u)
        return norm


class _Target(Stateful):
    """One target under way, from zero.

    Attributes
    ----------
    w, r : the weights in units of the columns' lengths, and what they leave of y
    proved : whether only rounding is left
    """

    state_names = ("w", "r", "p", "gamma", "least", "failures", "passes", "fall", "proved")

    def __init__(self, rows: _Rows, y: Floats, length: float, tol: float) -> None:
        self.rows, self.y, self.length, self.tol = rows, y, length, tol
        self.passes, self.fall = 0, math.inf
        self.w, self.size = np.zeros(len(rows.scale)), _norm(y)
        self.least, self.failures = math.inf, 0
        self.p, self.gamma = np.zeros(len(rows.scale)), 1.0
        self._evaluate()

    @property
    def failed(self) -> bool:
        """Whether looks no longer get nearer to a proof."""
        return not self.proved and self.failures >= FIRM

    def _share(self) -> float:
        """ε for ‖r‖ and ‖w‖."""
        rest, reach = _norm(self.r), self.length * _norm(self.w) + self.size
        return min(math.sqrt(self.gamma) / (self.length * rest or 1.0), rest / (reach or 1.0))

    def _near(self, share: float, s: Floats) -> bool:
        """Whether ε, or in a long run what there is to gain along the slope s, is small enough."""
        if share <= ROUNDING or not 2.0 * self.passes * self.rows.entries > LONG:
            return share <= ROUNDING
        gain = max(self.fall, float(np.abs(s).max()) ** 2)
        return share <= ENOUGH or gain <= self.tol * self.size * self.size

    def _evaluate(self) -> None:
        """Residual and slope from the data themselves, and whether they prove the minimum.

        Where they do not, steps go on along the directions they had: begun anew, they would have to
        learn the spectrum of A once more.
        """
        self.r = self.y - self.rows.dot(self.w)
        s = self._turn()
        left = self._share()
        self.proved = self._near(left, s)
        self.failures = 0 if left < 0.5 * self.least else self.failures + 1
        self.least = min(self.least, left)

    def _turn(self) -> Floats:
        """The slope; the next direction is that, less what earlier directions have seen to."""
        s = self.rows.back(self.r)
        gamma = _square(s)
        self.p = s + gamma / self.gamma * self.p
        self.gamma = gamma
        return s

    def step(self) -> None:
        """One pass; a look at the data where the recurrence says that the end is reached."""
        self.passes += 1
        q = self.rows.dot(self.p)
        curve = _square(q)
        if not curve > 0:
            self._evaluate()
            return
        a = self.gamma / curve
        self.fall = a * self.gamma
        self.w += a * self.p
        self.r -= a * q
        s = self._turn()
        if self._near(2.0 * self._share(), s):
            self._evaluate()


def _square(v: Floats) -> float:
    return float(sum_of_squares(v))


def _norm(v: Floats) -> float:
    return math.sqrt(float(v @ v))


class ConjugateGradients:
    """The minimum of ½ Σ cᵢ (⟨w, xᵢ⟩ + b − yᵢ)² / Σ cᵢ as a solver, all targets side by side.

    Where many weights have it, those that are shortest in units of the columns' lengths. Ends
    `converged` with the proof above, or `unfinished`.
    """

    name = "conjugate gradients"
    tol = 0.0

    def __init__(self, problem: Problem, Y: Floats, fit_intercept: bool, tol: float = 1e-8) -> None:
        self._given, self.enough = (problem, Y, fit_intercept), tol
        self.pool = Pool(problem.n_jobs)
        # In exact arithmetic min(n, d) passes are enough; rounding asks for some of them again.
        self.most = AGAIN * min(problem.X.shape)
        self.runs: list[_Target] = []
        self.losses: list[float] = []

    def _begin(self) -> None:
        problem, Y, fit_intercept = self._given
        self.frame, self.targets = frame_of(problem), targets_of(Y, fit_intercept)
        T, weights = self.targets.at(slice(None)), np.ones(problem.n_rows)
        if problem.weights.size:
            weights = np.ldexp(problem.weights, -self.frame.weight_exponent)
        shares = weights / self.frame.total if fit_intercept else 0.0 * weights
        mean, self.level = np.asarray(problem.X.T @ shares), shares @ T
        root = np.sqrt(weights)
        self.rows = _Rows(problem.X, root, mean, power(-self.frame.exponents), self.pool)
        length = self.rows.length()
        columns = (T - self.level).T * root
        self.runs = [_Target(self.rows, column, length, self.enough) for column in columns]

    def candidates(self) -> Iterator[Candidate]:
        """One after each pass; a proof, which no bound on the loss is part of, ends them."""
        if self.losses:
            yield self._candidate()
        else:
            self._begin()
        while not self.losses or self._ending() is Status.budget:
            self._pass()
            yield self._candidate()

    def _pass(self) -> None:
        """A step of every target that is not proved yet."""
        for one in self.runs:
            if not one.proved:
                one.step()
        squares = np.array([float(one.r @ one.r) for one in self.runs])
        losses = self.targets.raw(self.targets.raw(squares / (2 * self.frame.total)))
        self.losses.append(float(losses.sum()))

    def _candidate(self) -> Candidate:
        return Candidate(len(self.losses), self.losses[-1], -math.inf, 1)

    def _ending(self) -> Status:
        """`converged` with the proof, `unfinished` where looks no longer get nearer to it."""
        if all(one.proved for one in self.runs):
            return Status.converged
        return Status.unfinished if any(one.failed for one in self.runs) else Status.budget

    def state(self) -> dict[str, Any]:
        return {"losses": self.losses, "runs": [one.state() for one in self.runs]}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        self.losses = state["losses"]
        for one, known in zip(self.runs, state["runs"], strict=True):
            one.restore(known)

    def interrupted(self) -> None:
        """Weights are replaced whole."""
        if not self.runs:
            self._begin()
        self.losses = self.losses or [math.nan]  # interrupted before the first pass

    def rescaled(self) -> None:
        """Columns are in units of their own already."""

    def solution(self) -> Solution:
        """The weights in units of the columns' lengths; `line` has them in those of the data."""
        W, loss = np.stack([one.w for one in self.runs]), self.losses[-1]
        bounds = (loss, -math.inf, math.inf)
        return Solution(W, self.level, None, *bounds, len(self.losses), self._ending())

    def line(self) -> Line:
        """Where it stands, in the units of the data."""
        slopes = self.targets.raw(np.stack([one.w for one in self.runs]))
        at_centre = self.targets.raw(self.targets.shift + self.level)
        return Line(slopes * self.rows.scale, at_centre, self.rows.mean, self.losses[-1], None)
