"""Newton's method with the full Hessian, for several classes of dense rows of few features.

    F(u) = ½ Σ ridge u² + Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ) = P / (C Σ c),   s = ux̃,   x̃ = (x, 1)

A step foretells the probabilities. With p̂ = p + (diag p − ppᵀ)ds, Newton's equations say that
Σ cᵢ(e_y − p̂ᵢ) ⊗ x̃ᵢ = ridge (u + du): a feasible point of the dual. What keeps F(u + du) and D(p̂)
apart is of third order in the step, however weak the penalty. Without a penalty there is no dual,
and the decrement bounds what is left (`linsep.train.convex.curvature`); then, and where more than
eight digits are asked for, the run goes on until the decrement of the next step is as small too:
the weights have as many digits as the objective.

Adding one vector to all classes' weights changes no probability. That direction is filled in where
the penalty does not: it is neither a step nor a singularity. Of many rows a sample gives the first
point, with some rows of each class.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.classes.class_sums import COPIED, ClassProblem, ClassSums
from linsep.train.convex.coordinates import TOO_LARGE
from linsep.train.convex.curvature import Curvature, at_rounding, decrease_left
from linsep.train.convex.drive import Candidate
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution, end_of_newton
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALONE = 1 << 21  # products of a Hessian up to which one thread does all
OF_CLASS, PER_FEATURE, PER_WEIGHT = 16, 40, 8  # rows of a sample at least: of a class, and for each
WORTH, SAMPLED = 4, 12  # times as many rows, from which a sample pays; steps with it, at most
ERROR = 0.2  # of weights for each row of a sample, about which its solution errs
NEAR = 4.0  # times the gap asked for that a step may err by and foretell the end
PATIENCE = 30  # steps that may fail to halve the gap
DIGITS = 1e-8  # relative gap below which weights are asked for as many digits
ROUNDED = 1e-11  # a relative gap this small is as good as any, once no step succeeds
WEAK = 1e-7  # of the curvature in a column: a ridge below this does not keep it from singular


class NewtonClasses(Stateful):
    """The method as a solver.

    Parameters
    ----------
    problem : of dense rows
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercepts to begin from

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [0.5]]), np.array([0, 1, 2, 1])
    >>> problem = ClassProblem.of(X, codes, None, 1.0, 3, True)
    >>> solution = drive(NewtonClasses(problem), Goal(1e-7))
    >>> solution.w.round(4).ravel(), solution.status.name
    (array([-0.599 , -0.1242,  0.7232]), 'converged')
    """

    name = "newton"
    tol = 1e-4
    state_names = (
        "_u", "_bottom", "_foreseen", "_halved", "_since", "_digits", "_left", "n_iter"
    )  # fmt: skip

    def __init__(
        self,
        problem: ClassProblem,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        self._problem, self._n_jobs, self._start = problem, n_jobs, start
        small = problem.design.n * (problem.K * problem.design.d) ** 2 <= ALONE
        self.pool = Pool(n_jobs, most=1 if small else None, products=not small)
        self._sums = ClassSums(problem, self.pool)
        self.n_iter, self._restored, self._status = 0, False, Status.budget

    def candidates(self) -> Iterator[Candidate]:
        """Newton's steps, and what they foretell."""
        if not self._restored:
            problem, start = self._problem, self._start
            self._digits = self.tol if not problem.penalised or self.tol < DIGITS else 0.0
            self._u = problem.begin(start)
            if start is None:
                self._u = _from_sample(problem, self._u, self.pool)
            self._look()
            self._bottom = 0.0 if problem.penalised else -math.inf
            self._foreseen: tuple[Floats, Floats] | None = None
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
        self._value, self._gradient = _evaluate(self._problem, self._sums, self._u)
        if not math.isfinite(self._value):
            raise OverflowedError(TOO_LARGE)

    @property
    def _gap(self) -> float:
        """What is left to gain: by the dual, or by the decrement."""
        return min(self._value - self._bottom, self._left)

    def _candidate(self) -> Candidate:
        unit, value, gap = self._problem.unit, self._value, self._gap
        if self._digits and not self._enough():
            gap = max(gap, 2.0 * self.tol * value)
        dual = value - gap if self._digits else self._bottom
        return Candidate(self.n_iter, value * unit, dual * unit, 1)

    def _newton(self) -> tuple[Floats, float]:
        """The next step, and its decrement squared."""
        self._curvature = _curvature(self._problem, self._sums, self._u)
        return _direction(self._curvature, self._gradient)

    def _step(self) -> bool:
        """One step; whether F fell."""
        value, u = self._value, self._u
        du, decrement2 = self._next if self._digits else self._newton()
        t, after, gradient = _search(self._problem, self._sums, u, du, value, decrement2)
        near = t == 1.0 and abs(after - value + 0.5 * decrement2) <= NEAR * self.tol * value
        if self._problem.penalised and near:
            bound = self._foretold(u, du)
            if bound > self._bottom:
                self._bottom, self._foreseen = bound, (u, du)
        if t == 0.0 or self._since > PATIENCE:
            self._bound(decrement2)
            self._at_rounding()
            return False
        self._u, self._value, self._gradient = u + t * du, after, gradient
        if self._digits:
            self._judge(decrement2, value - after)
        halved = self._gap <= 0.5 * self._halved
        self._halved, self._since = (self._gap, 0) if halved else (self._halved, self._since + 1)
        return True

    def _foretold(self, u: Floats, du: Floats) -> float:
        """D of the probabilities that a whole step foretells, less what it costs to mix them until
        no class has more than its share."""
        problem = self._problem
        entropy, slope = self._sums.foretold(u, du)
        w = slope[:, : problem.design.d]
        penalty = 0.5 * float(np.vdot(w / problem.ridge[: w.shape[1]], w))
        cost = problem.mixed(slope[:, -1], penalty - entropy) if problem.free else 0.0
        return -entropy - penalty - cost

    def _enough(self) -> bool:
        """Whether the bound, and ‖step‖² by the Hessian, are as small as was asked for."""
        gap, value = self._gap, self._value
        return gap <= self.tol * value and self._next[1] <= self._digits**2 * value

    def _judge(self, before: float, fell: float) -> None:
        """The next step, what it says of this point, and whether the run ends here by itself.

        `before` is the decrement of the step that led here, and F `fell` by it.
        """
        penalised, value = self._problem.penalised, self._value
        self._next = self._newton()
        decrement2 = self._next[1]
        stuck = at_rounding(decrement2, before, value, fell)
        self._left, far = math.inf, True
        if decrement2 <= 1e-3 * value and (stuck or not penalised):
            far = decrement2 * self._bound(decrement2) > 0.1
        if stuck and not self._enough():
            self._at_rounding()
            self._since = PATIENCE  # one step more, at most
        elif not penalised and self._runs_away(far):
            self._status = Status.no_optimum

    def _bound(self, decrement2: float) -> float:
        """Bound what is left by the decrement; the square of the largest change of a difference of
        scores per unit length that the bound goes by, infinite where the Hessian is blind."""
        if self._curvature.overlooks(self._gradient.ravel()):
            return math.inf
        Q = self._curvature.whiten().reshape(*self._u.shape, -1)
        radius2 = 4 * self._sums.widest(Q - Q.mean(axis=0))  # |sₖ − sₗ| ≤ 2 maxₖ |sₖ|
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
        sums, (du, _) = self._sums, self._next
        if sums.margins(self._u)[0] > 0:
            return True
        if not far:
            return False
        low, high = sums.margins(du)
        if not (high > 0 and low >= -1e-9 * high):
            return False
        u = self._u
        for t in 4.0 ** np.arange(20):
            self._u = u + t * du
            if sums.margins(self._u)[0] > 0 or low <= 0:
                break
        self._look()
        return True

    def state(self) -> dict[str, Any]:
        """Points, not what rows said of them: they are read again."""
        return {**super().state(), "status": self._status.name}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._status, self._restored = Status[state["status"]], True
        self._look()
        if self._digits:
            self._next = self._newton()

    def interrupted(self) -> None:
        if not hasattr(self, "_bottom"):
            K, d = self._problem.K, self._problem.design.d
            self._start = self._start or (np.zeros((K, d)), np.zeros(K))
            next(self.candidates())

    def rescaled(self) -> "NewtonClasses | None":
        """Columns of extreme scale, as far as some rows show them, are brought near one at once."""
        other = self._problem.rescaled()
        return None if other is None else NewtonClasses(other, self._n_jobs, self._start)

    def solution(self) -> Solution:
        problem = self._problem
        W, b = problem.outside(self._u)
        at = end_of_newton(W, b, self._value, self._gap, problem.unit, self.n_iter, self._status)
        if self._foreseen is None or problem.design.entries > COPIED:
            return at
        return replace(at, alpha=self._sums.multipliers(*self._foreseen))


def _evaluate(problem: ClassProblem, sums: ClassSums, u: Floats) -> tuple[float, Floats]:
    """F and its gradient at u."""
    seen = sums.at(u)
    return problem.half(u) + seen.loss, u * problem.ridge + seen.slope


def _curvature(problem: ClassProblem, sums: ClassSums, u: Floats) -> Curvature:
    """The Hessian at u, filled in where one number more for all classes is the same model."""
    H, size, K = sums.hessian(u), len(problem.ridge), problem.K
    H.flat[:: len(H) + 1] += np.tile(problem.ridge, K)
    curved = H.diagonal().reshape(K, size).sum(axis=0)
    for j in np.flatnonzero(problem.ridge * K <= WEAK * curved):
        same = slice(j, None, size)
        H[same, same] += np.trace(H[same, same]) / K**2
    return Curvature(H)


def _direction(curvature: Curvature, gradient: Floats) -> tuple[Floats, float]:
    if not np.isfinite(gradient).all():
        raise OverflowedError(TOO_LARGE)
    du = -curvature.solve(gradient.ravel()).reshape(gradient.shape)
    return du, -float(np.vdot(gradient, du))


def _search(
    problem: ClassProblem, sums: ClassSums, u: Floats, du: Floats, value: float, decrement2: float
) -> tuple[float, float, Floats]:
    """How far to go along a step, F and its gradient there; no step where F does not fall."""
    t, noise = 1.0, 4e-15 * abs(value)
    while t > 1e-6:
        after, gradient = _evaluate(problem, sums, u + t * du)
        if after <= value - 1e-4 * t * decrement2 + noise:
            return t, after, gradient
        if math.isfinite(after):
            t *= max(0.1, min(0.5, 0.5 * decrement2 * t / (after - value + t * decrement2)))
        else:
            t *= 0.1
    return 0.0, value, np.empty(0)


def _from_sample(problem: ClassProblem, u: Floats, pool: Pool) -> Floats:
    """Where some rows of each class have their optimum, as far as they can know."""
    n, size = problem.design.n, u.shape[1]
    wanted = max(1024, PER_FEATURE * size, PER_WEIGHT * u.size)
    if n < WORTH * wanted:
        return u
    rows, weights = sample_of_classes(problem.codes, problem.K, wanted)
    used = problem.c[rows] > 0.0
    some = problem.of_rows(rows[used], weights[used])
    sums, error = ClassSums(some, pool), ERROR * u.size / len(rows)
    value, gradient = _evaluate(some, sums, u)
    for _ in range(SAMPLED):
        du, decrement2 = _direction(_curvature(some, sums, u), gradient)
        t, value, after = _search(some, sums, u, du, value, decrement2)
        if t == 0.0:
            break
        u, gradient = u + t * du, after
        if t == 1.0 and 0.5 * decrement2 <= error * value:
            break
    return u


def sample_of_classes(codes: Array, n_classes: int, wanted: int) -> tuple[Array, Floats]:
    """About `wanted` rows, some of each class, and how many rows each of them stands for.

    >>> rows, weights = sample_of_classes(np.array([0] * 90 + [1] * 10), 2, 20)
    >>> np.bincount(np.array([0] * 90 + [1] * 10)[rows], weights)
    array([90., 10.])
    """
    rows, weights = [], []
    for k in range(n_classes):
        own = np.flatnonzero(codes == k)
        m = max(OF_CLASS, wanted * len(own) // len(codes))
        own_rows = own if m >= len(own) else own[scattered(len(own), m)]
        rows.append(own_rows)
        weights.append(np.full(len(own_rows), len(own) / max(1, len(own_rows))))
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[order], np.concatenate(weights)[order]
