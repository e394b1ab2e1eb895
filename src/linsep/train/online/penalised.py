"""The perceptron's rule with weights that a penalty draws towards zero at every row.

    w ← (1 − ηα(1 − ρ)) w                 the l2 part, at every row
    w ← w + ηyx                           where the row is a mistake
    wⱼ ← wⱼ moved to zero by at most what the l1 part, ηαρ at every row, has not taken yet

The l1 part is the cumulative one (Tsuruoka, Tsujii and Ananiadou, 2009), taken where a row has an
entry: these are the steps of scikit-learn's `SGDClassifier(loss="perceptron")`. The factor of the
l2 part is kept beside the weights, W = factor · V, so that a sparse row costs its own entries; it
stays there between passes, so that rows give the same bytes in however many parts they come.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import penalised
from linsep.train.online.method import Method
from linsep.train.online.tally import Presented
from linsep.train.problem import Problem, presentations
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]


class Shrink(NamedTuple):
    """What a row takes of the weights with a step of one: α(1 − ρ) of each, and αρ."""

    ridge: float
    lasso: float


class PenalisedSolver(Stateful):
    """Hyperplanes for Kesler's construct, or each of one class against the rest."""

    state_names = ("V", "factor", "b", "taken", "due")
    moved = np.inf

    def __init__(self, problem: Problem, shrink: Shrink, bias: float, kesler: bool) -> None:
        planes = 1 if problem.binary else problem.n_classes
        self.shrink, self.bias, self.apart = shrink, bias, not (problem.binary or kesler)
        self.V, self.b = np.zeros((planes, problem.n_features)), np.zeros(planes)
        self.factor = np.ones(planes)
        self.taken, self.due = np.zeros_like(self.V), np.zeros(planes)
        self.dtype = problem.X.dtype

    @property
    def n_planes(self) -> int:
        return len(self.b)

    def start_at(self, coef: Array, intercept: Array) -> None:
        self.V[...], self.factor[...], self.b[...] = coef, 1.0, intercept

    def one_pass(self, problem: Problem, method: Method, trace: Any, epoch: int) -> Pass:
        """One pass of every hyperplane."""
        rule, counts, total = method.rule_of(epoch), np.zeros(2, np.int64), 0.0
        eta = float(getattr(rule, "eta", 1.0))
        parts = problem.one_vs_rest() if self.apart else [problem]
        for k, part in enumerate(parts):
            planes = slice(k, k + 1) if self.apart else slice(None)
            for block, order in part.in_order(method.seed, epoch, method.shuffle):
                order, scale = presentations(block, order)
                total += penalised.walk(
                    rule, block.rows, Presented(block.codes, order, scale),
                    self.V[planes], self.factor[planes], self.b[planes], self.bias,
                    self.taken[planes], self.due[planes],
                    eta * self.shrink.ridge, eta * self.shrink.lasso, counts,
                )  # fmt: skip
        problem.require_in_range(*self.now())
        return Pass(epoch, int(counts[1]), int(counts[0]), total / (problem.total or 1.0), eta)

    def part_pass(self, problem: Problem, method: Method, trace: Any) -> Pass:
        return self.one_pass(problem, method, trace, 0)

    def misplaced_now(self, problem: Problem) -> float:
        """How many rows are not strictly on their own side of each hyperplane."""
        W, b = self.now()
        S = problem.X @ W.T + b
        if len(self.b) == 1:
            return float((np.where(problem.codes == 1, S[:, 0], -S[:, 0]) <= 0).sum())
        own = np.arange(len(self.b)) == np.asarray(problem.codes)[:, None]
        if self.apart:
            return float((np.where(own, S, -S) <= 0).any(axis=1).sum())
        return float((S[own] <= np.where(own, -np.inf, S).max(axis=1)).sum())

    def set_bias(self, square: float) -> None:
        self.bias = square

    def rest(self) -> None:
        """Nothing is kept to save time."""

    def now(self) -> tuple[Array, Array]:
        return self.factor[:, None] * self.V, self.b

    def kept(self) -> tuple[Array, Array]:
        W, b = self.now()
        return W.astype(self.dtype), b.astype(self.dtype)
