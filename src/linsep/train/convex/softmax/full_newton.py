"""Newton's method with the full Hessian for several classes of dense rows.

A step costs one product for the Hessian (`linsep.train.convex.parts.class_hessian`), one for the
gradient, and one for how the scores change; a search along the line reads no row. The
probabilities that a step foretells are a point of the dual (see `full_problem`), so that a run ends
a step or two earlier than by the probabilities of its last point.

Without a penalty, or where more than eight digits are asked for, the run goes on until the
decrement of the next step is as small too: then the weights have as many digits as the objective.

Of many rows a sample gives the first point, with some rows of each class.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import TOO_LARGE, Blocks, moderate, prepare, spread
from linsep.train.convex.curvature import at_rounding, decrease_left
from linsep.train.convex.drive import Candidate
from linsep.train.convex.softmax.descent import require_classes
from linsep.train.convex.softmax.full_problem import (
    Problem,
    extended,
    sample_of_classes,
    search,
)
from linsep.train.convex.softmax.streamed_problem import StreamedProblem
from linsep.train.convex.solution import Solution, end_of_newton

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

COPIED = 1 << 22  # entries up to which rows are copied
ALONE = 1 << 21  # products of a Hessian up to which one thread does all
SAMPLED = 12  # steps with a sample, at most
PER_FEATURE, PER_WEIGHT = 40, 8  # rows of a sample, at least
WORTH = 4  # times as many rows, from which a sample pays
ERROR = 0.2  # of weights for each row of a sample, about which its solution errs
NEAR = 4.0  # times the gap asked for that a step may err by and foretell the end
PATIENCE = 30  # steps that may fail to halve the gap
DIGITS = 1e-8  # relative gap below which weights are asked for as many digits
ROUNDED = 1e-11  # a relative gap this small is as good as any, once no step succeeds


class FullSoftmaxNewton:
    """The method as a solver.

    Parameters
    ----------
    X : checked array
    codes : class number of each row
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty
    n_classes : how many classes there are
    fit_intercept : whether the biases are free; otherwise they are 0
    n_jobs : threads; never changes the bytes of the result
    start : (W, b) to start from
    rescale : bring all columns to one scale, from a look at all rows

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [0.5]]), np.array([0, 1, 2, 1])
    >>> solution = drive(FullSoftmaxNewton(X, codes, None, 1.0, n_classes=3), Goal(1e-7))
    >>> solution.w.round(4).ravel(), solution.status.name
    (array([-0.599 , -0.1242,  0.7232]), 'converged')
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        codes: Array,
        weights: Floats | None,
        C: float,
        *,
        n_classes: int,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
        rescale: bool = False,
    ) -> None:
        n, d = X.shape
        self._given = X, codes, weights, C
        self._settings: dict[str, Any] = {
            "n_classes": n_classes, "fit_intercept": fit_intercept, "n_jobs": n_jobs, "start": start
        }  # fmt: skip
        self._X, self._codes, self._K, self._free = X, codes, n_classes, bool(fit_intercept)
        total = float(n if weights is None else weights.sum())
        self._penalised = math.isfinite(C)
        self._unit = C * total if self._penalised else total
        self._c = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, float) / total
        small = n * (n_classes * d) ** 2 <= ALONE
        self.pool = Pool(n_jobs, most=1 if small else None, products=not small)
        self._start, self._rescale, self.n_iter, self._restored = start, rescale, 0, False
        self._status = Status.budget

    def _begin(self) -> None:
        X: Any = self._X
        d, streamed = X.shape[1], X.size > COPIED
        if not streamed:
            X = np.asarray(X[0 : len(X)] if on_cluster(X) else X, np.float64)  # to be fetched
        self._used = np.ones(len(X), bool) if streamed else self._c > 0.0
        codes, c = self._codes, self._c
        if not self._used.all():
            X, codes, c = X[self._used], codes[self._used], c[self._used]
        penalty = 1.0 / self._unit if self._penalised else 0.0
        if streamed or self._rescale:
            about = spread(X, self._rescale)
            self._columns = prepare(X, about, self._free, penalty, self._rescale)
            X = X if streamed else Blocks(X, self._columns).rows(slice(0, len(X)))
        else:
            X, self._columns = moderate(X, self._free)
        scale, ridge = self._columns.scale.astype(np.float64), np.zeros(d + self._free)
        ridge[:d] = (scale**2 if scale.size else 1.0) * penalty
        given = codes, c, ridge, self._K, self._free, self.pool
        if streamed:
            self._problem: Problem = StreamedProblem(Blocks(X, self._columns), *given)
        else:
            self._problem = Problem(extended(X, self._free), *given)
        require_classes(self._problem.share, self._free)
        self._u = np.zeros((self._K, len(ridge)))
        if self._start is not None:
            W, b = self._columns.inside(np.asarray(self._start[0], np.float64), self._start[1])
            self._u[:, :d] = W - W.mean(axis=0)
            if self._free:
                self._u[:, -1] = b - np.mean(b)
        else:
            if self._free:
                self._u[:, -1] = np.log(self._problem.share)
                self._u[:, -1] -= self._u[:, -1].mean()
            self._by_sample()

    def _by_sample(self) -> None:
        """Where some rows of each class have their optimum, as far as they can know."""
        n, D = len(self._problem.codes), self._u.shape[1]
        wanted = max(1024, PER_FEATURE * D, PER_WEIGHT * self._K * D)
        if n < WORTH * wanted:
            return
        u, whole = self._u, self._problem
        rows, weights = sample_of_classes(whole.codes, self._K, wanted)
        rows, weights = rows[whole.c[rows] > 0.0], weights[whole.c[rows] > 0.0]
        c = whole.c[rows] * weights
        given = whole.codes[rows], c / c.sum(), whole.ridge, self._K, self._free, self.pool
        some, error = Problem(whole.rows(rows), *given), ERROR * u.size / len(rows)
        S = some.scores(u)
        value, d = some.at(u, S, S, 0.0)
        for _ in range(SAMPLED):
            du, decrement2 = some.step(u, d)
            ds = some.scores(du)
            t, after, d = search(some, u, S, du, ds, value, decrement2)
            if t == 0.0:
                break
            u, S, value = u + t * du, S + t * ds, after
            if t == 1.0 and 0.5 * decrement2 <= error * value:
                break
        self._u = u

    def candidates(self) -> Iterator[Candidate]:
        """Newton's steps, and what they foretell."""
        if not self._restored:
            self._digits = self.tol if not self._penalised or self.tol < DIGITS else 0.0
            self._begin()
            self._look()
            if not math.isfinite(self._value):
                raise OverflowedError(TOO_LARGE)
            self._dual: tuple[float, Floats] = -math.inf, np.zeros(0)
            if self._penalised:
                self._dual = 0.0, np.zeros(0)
            self._halved, self._since, self._left = math.inf, 0, math.inf
            self.n_iter = 1
            if self._digits:
                self._judge(math.inf, math.inf)
        while True:
            yield self._candidate()
            if self._status is not Status.budget or not self._step():
                return
            self.n_iter += 1

    def _look(self) -> None:
        """Scores and probabilities at u, from the rows."""
        self._S = self._problem.scores(self._u)
        self._value, self._d = self._problem.at(self._u, self._S, self._S, 0.0)

    @property
    def _gap(self) -> float:
        """What is left to gain: by the dual, or by the decrement."""
        return min(self._value - self._dual[0], self._left)

    def _candidate(self) -> Candidate:
        unit, value, gap = self._unit, self._value, self._gap
        if self._digits and not self._enough():
            gap = max(gap, 2.0 * self.tol * value)
        dual = value - gap if self._digits else self._dual[0]
        return Candidate(self.n_iter, value * unit, dual * unit, 1)

    def _step(self) -> bool:
        """One step; whether F fell."""
        problem, u, S, value, d = self._problem, self._u, self._S, self._value, self._d
        du, decrement2 = self._next if self._digits else problem.step(u, d)
        ds = problem.scores(du)
        t, after, then = search(problem, u, S, du, ds, value, decrement2)
        asked = self.tol * value
        near = t == 1.0 and abs(after - value + 0.5 * decrement2) <= NEAR * asked
        if self._penalised and near:
            foretold = problem.foretold(d, ds)
            if foretold[0] > self._dual[0]:
                self._dual = foretold
        if t == 0.0 or self._since > PATIENCE:
            self._bound(decrement2)
            self._at_rounding()
            return False
        self._u, self._S, self._value, self._d = u + t * du, S + t * ds, after, then
        if self._digits:
            self._look()
            self._judge(decrement2, value - self._value)
        halved = self._gap <= 0.5 * self._halved
        self._halved, self._since = (self._gap, 0) if halved else (self._halved, self._since + 1)
        return True

    def _enough(self) -> bool:
        """Whether the bound, and ‖step‖² by the Hessian, are as small as was asked for."""
        gap, value = self._gap, self._value
        return gap <= self.tol * value and self._next[1] <= self._digits**2 * value

    def _judge(self, before: float, fell: float) -> None:
        """The next step, what it says of this point, and whether the run ends here by itself.

        `before` is the decrement of the step that led here, and F `fell` by it.
        """
        problem, value = self._problem, self._value
        self._next = problem.step(self._u, self._d)
        decrement2 = self._next[1]
        stuck = at_rounding(decrement2, before, value, fell)
        self._left, far = math.inf, True
        if decrement2 <= 1e-3 * value and (stuck or not self._penalised):
            far = decrement2 * self._bound(decrement2) > 0.1
        if stuck and not self._enough():
            self._at_rounding()
            self._since = PATIENCE  # one step more, at most
        elif not self._penalised and self._runs_away(far):
            self._status = Status.no_optimum

    def _bound(self, decrement2: float) -> float:
        """Bound what is left by the decrement; the radius² that the bound goes by."""
        radius2 = self._problem.radius2()
        if radius2 < math.inf:
            self._left = min(self._left, decrease_left(decrement2, radius2))
        return radius2

    def _at_rounding(self) -> None:
        """No step lowers F by more than rounding raises it: the ending, whatever was asked."""
        if self._gap <= max(self.tol, ROUNDED) * self._value:
            self._status = Status.converged

    def _runs_away(self, far: bool) -> bool:
        """Whether the losses fall for ever: u, or the step, puts every row on its own side.

        The point kept then does so, if any does.
        """
        problem, (du, _) = self._problem, self._next
        if problem.margins(self._S)[0] > 0:
            return True
        if not far:
            return False
        ds = problem.scores(du)
        low, high = problem.margins(ds)
        if not (high > 0 and low >= -1e-9 * high):
            return False
        u = self._u
        for t in 4.0 ** np.arange(20):
            self._u = u + t * du
            self._look()
            if problem.margins(self._S)[0] > 0 or low <= 0:
                break
        return True

    def state(self) -> dict[str, Any]:
        known = {"u": self._u, "value": self._value, "dual": self._dual, "n_iter": self.n_iter}
        known["status"] = self._status.name
        seen = {"halved": self._halved, "since": self._since, "digits": self._digits}
        if self._digits:  # scores are made anew at each point
            return {**known, **seen, "left": self._left, "next": self._next}
        return {**known, **seen, "S": self._S, "d": self._d}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = (np.zeros((self._K, self._X.shape[1])), np.zeros(self._K))
        self._begin()
        self._u, self._digits, self._left = state["u"], state["digits"], math.inf
        if self._digits:
            self._look()
            self._left, self._next = state["left"], tuple(state["next"])
        else:
            self._S, self._d, self._value = state["S"], state["d"], state["value"]
        self._dual, self._halved, self._since = (state[k] for k in ("dual", "halved", "since"))
        self.n_iter, self._restored = state["n_iter"], True
        self._status = Status[state["status"]]

    def interrupted(self) -> None:
        if not hasattr(self, "_dual"):
            self._start = self._start or (np.zeros((self._K, self._X.shape[1])), np.zeros(self._K))
            next(self.candidates())

    def rescaled(self) -> "FullSoftmaxNewton | None":
        """Columns of extreme scale, as far as some rows show them, are brought near one at once."""
        if self._rescale:
            return None
        return FullSoftmaxNewton(*self._given, **self._settings, rescale=True)

    def solution(self) -> Solution:
        d = self._X.shape[1]
        b = self._u[:, -1] if self._free else np.zeros(self._K)
        W, b = self._columns.outside(self._u[:, :d].copy(), b)
        b = b - b.mean() if self._free else np.zeros(self._K)
        at = end_of_newton(W, b, self._value, self._gap, self._unit, self.n_iter, self._status)
        if not self._dual[1].size:
            return at
        alpha = np.zeros((len(self._codes), self._K))  # C c (e_y − p̂)
        alpha[self._used] = -self._unit * self._dual[1].T
        alpha[np.flatnonzero(self._used), self._problem.codes] += self._unit * self._problem.c
        return replace(at, alpha=alpha)
