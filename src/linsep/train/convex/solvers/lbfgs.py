"""L-BFGS for multinomial logistic regression: many weights, sparse rows, or no penalty.

    P(W, b) = ½‖W‖² + C Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ,   b not penalised

The rows are `classes.dense_classes`, passes that keep nothing of a row, so that a million rows of a
thousand classes need the memory of the weights; or `classes.sparse_classes`, which keeps the scores
of all rows. Their first guess at the inverse Hessian takes correlations and units of
features out of the way, so that a few passes do where plain L-BFGS takes dozens or hundreds; it is
made anew once passes have cost as much as making it. Past steps correct it (Nocedal and Wright,
*Numerical Optimization*, algorithm 7.4). Every pass tells the duality gap ½‖W − A‖², with the
multipliers A that belong to the gradient. Without a penalty there is no dual: the run ends where
the slope is lost in rounding, or at a separator, beyond which the losses fall for ever.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.classes.class_sums import ClassProblem
from linsep.train.convex.classes.dense_classes import DenseClasses
from linsep.train.convex.classes.sparse_classes import SparseClasses
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution, end_of_newton
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PAIRS, NUMBERS = (6, 40), 1 << 22  # steps remembered, at least and at most, of so many weights
FRESH = 10  # passes at least, before another guess: each forgets the steps before it
COARSE = 1e-5  # tolerance from which products are made in the type of the rows
ROUNDED = 1e-14  # of the objective, a promised fall that rounding hides
LEAST = 1e-16  # without a penalty, one that stands for eight digits of the weights


class Memory:
    """The last pairs (s, y) of a step and the change of the gradient along it.

    `apply` corrects an approximate inverse Hessian by them: exact along the remembered steps,
    unchanged elsewhere.

    Attributes
    ----------
    pairs : (s, y, 1/⟨s, y⟩) of each, the latest last

    Examples
    --------
    >>> memory = Memory(5)
    >>> memory.add(np.array([1.0, 0.0]), np.array([4.0, 0.0]))  # the curvature there is 4
    >>> memory.apply(np.array([8.0, 3.0]), lambda g: g)
    array([2., 3.])
    """

    def __init__(self, size: int, dot: Callable[[Floats, Floats], Any] = np.vdot) -> None:
        self.size, self._dot = size, dot
        self.pairs: list[tuple[Floats, Floats, float]] = []

    def add(self, s: Floats, y: Floats) -> None:
        """Remember a pair, unless rounding has hidden its curvature."""
        curvature = float(self._dot(s, y))
        if curvature > 1e-12 * math.sqrt(self._dot(s, s) * self._dot(y, y)):
            self.pairs.append((s, y, 1 / curvature))
            del self.pairs[: -self.size]

    def apply(self, g: Floats, inverse: Callable[[Floats], Any]) -> Floats:
        """An approximation of H⁻¹g, starting from `inverse`."""
        q, taken = g.copy(), []
        for s, y, rho in reversed(self.pairs):
            alpha = rho * float(self._dot(s, q))
            taken.append(alpha)
            q -= alpha * y
        r: Floats = np.asarray(inverse(q))
        for (s, y, rho), alpha in zip(self.pairs, reversed(taken), strict=True):
            r = r + (alpha - rho * float(self._dot(y, r))) * s
        return r


class LBFGS(Stateful):
    """The method as a solver.

    Parameters
    ----------
    problem : of several classes
    tol : the relative gap asked for, which decides the precision of products
    n_jobs : threads; never changes the bytes of the result
    start : (W, b) to start from
    alpha : multipliers Cc(e_y − p), (n, K), that sparse rows may start from

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from linsep.train.convex.drive import Goal, drive
    >>> problem = ClassProblem.of(sp.csr_array(np.eye(3, 5)), np.arange(3), None, 1.0, 3, True)
    >>> solution = drive(LBFGS(problem), Goal(1e-9, 100))
    >>> solution.w[:, :3].argmax(axis=1).tolist(), solution.status.name
    ([0, 1, 2], 'converged')
    """

    name = "lbfgs"
    state_names = (
        "_p", "_best", "_guessed", "_scale", "_gap", "_promised", "_spent", "_separated"
    )  # fmt: skip

    def __init__(
        self,
        problem: ClassProblem,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
        alpha: Array | None = None,
    ) -> None:
        self._problem, self._given = problem, (tol, n_jobs, start, alpha)
        self.pool, self.tol, self._separated = Pool(n_jobs), tol, False
        self._model: Any = None
        self._best: Any = None
        self._gap, self._promised, self._scale = math.inf, math.inf, 1.0

    def candidates(self) -> Iterator[Candidate]:
        """One for each step, after the passes that it took."""
        if self._best is None:
            self._begin()
            self._renew(0)
            self._keep()
        while True:
            yield self._candidate()
            if self._separated or not self._go_on():
                return
            self._keep()

    @property
    def n_iter(self) -> int:
        return 0 if self._model is None else self._model.passes

    def _open(self) -> None:
        problem = self._problem
        if problem.design.sparse:
            self._model = SparseClasses(problem, self.pool)
        else:
            real = np.float64 if self._given[0] < COARSE else problem.real
            self._model = DenseClasses(problem, self.pool, real)
        size = problem.K * (problem.design.d + 1)
        self._memory = Memory(max(PAIRS[0], min(PAIRS[1], NUMBERS // size)), self._model.dot)

    def _begin(self) -> None:
        self._open()
        self._p = self._model.begin(*self._given[2:])

    def _renew(self, stage: int) -> None:
        """Guess at the Hessian anew, from where the run stands."""
        self._guessed, self._spent = (self._p.u, stage), self._model.passes
        self._model.guess(*self._guessed)
        self._memory.pairs.clear()

    def _go_on(self) -> bool:
        """One step, if need be with another guess at the Hessian; whether there was one."""
        model, free = self._model, not self._problem.penalised
        if model.passes - self._spent >= max(FRESH, model.price(self._guessed[1])):
            self._renew(self._guessed[1] + 1)
        while not self._step():
            if model.price(self._guessed[1]) == math.inf:
                if not self._memory.pairs:  # rounding forbids more
                    self._gap = min(self._gap, self._promised) if free else self._gap
                    return False
                self._memory.pairs.clear()
            else:
                self._renew(self._guessed[1] + 1)
        self._separated = self._all_right()
        return True

    def _inverse(self, G: Floats) -> Floats:
        return self._scale * np.asarray(self._model.inverse(self._p, G))

    def _step(self) -> bool:
        """One step; False where no point along it is better."""
        model, p, memory = self._model, self._p, self._memory
        direction = -memory.apply(p.gradient, self._inverse)
        slope = model.dot(p.gradient, direction)
        if not slope < 0:
            memory.pairs.clear()
            direction = -self._inverse(p.gradient)
            slope = model.dot(p.gradient, direction)
        if not -slope > (ROUNDED if self._problem.penalised else LEAST**1.25) * abs(p.value):
            return False
        q = model.search(p, direction, slope, not memory.pairs)
        if q is None:
            return False
        s, y = q.u - p.u, q.gradient - p.gradient
        memory.add(s, y)
        guessed, along = model.dot(y, self._inverse(y)) / self._scale, model.dot(s, y)
        if guessed > 0.0 and along > 0.0:
            self._scale = along / guessed
        self._promised, self._p = -slope, q
        return True

    def _all_right(self) -> bool:
        """Whether, without a penalty, every row has more than half for its own class: the losses
        then fall for ever. No row can have less where all losses together are below log 2."""
        problem, c = self._problem, self._problem.c
        return not problem.penalised and self._p.loss < 0.69 * float(c[c > 0].min())

    def _keep(self) -> None:
        """The best point so far, by its bound or by its value."""
        p, best, gap = self._p, self._best, self._promised
        if self._problem.penalised:
            gap = self._model.bound(p)
        elif gap > LEAST * p.value:
            gap = max(gap, 2.0 * self.tol * p.value)
        if best is None or gap <= self._gap or (self._gap > best.value > p.value):
            self._best, self._gap = p, gap

    def _candidate(self) -> Candidate:
        p, unit = self._best, self._problem.unit
        return Candidate(self.n_iter, p.value * unit, (p.value - self._gap) * unit)

    def interrupted(self) -> None:
        """A pass changes nothing but its own sums."""
        if self._best is None:
            self._begin()
            self._best, self._gap = self._p, self._p.value

    def rescaled(self) -> "LBFGS | None":
        """The same in columns of moderate scale."""
        other = self._problem.rescaled()
        return None if other is None else LBFGS(other, *self._given)

    def state(self) -> dict[str, Any]:
        """The point, past steps, and where the guess at the Hessian was made: that is made again
        from there, which needs rows but no memory."""
        return {**super().state(), "passes": self._model.passes, "pairs": self._memory.pairs}

    def restore(self, state: dict[str, Any]) -> None:
        self._open()
        super().restore(state)
        self._model.guess(*self._guessed)
        self._memory.pairs, self._model.passes = list(state["pairs"]), state["passes"]

    def solution(self) -> Solution:
        """The best weights so far, in the units of the data."""
        problem = self._problem
        W, b, value, gap, start = self._model.answer(self._best)
        status = Status.no_optimum if self._separated else Status.budget
        gap = gap if problem.penalised else self._gap
        at = end_of_newton(W, b, value, gap, problem.unit, self.n_iter, status)
        return at if start is None else replace(at, start=start)
