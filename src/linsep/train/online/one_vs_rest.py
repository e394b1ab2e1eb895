"""All hyperplanes of a learner, trained together or each on its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.parallel import in_order
from linsep.rows.int8_screen import draft
from linsep.rows.rows import CSR, WIDEST, Dense
from linsep.train.online.kernels import SEEN
from linsep.train.online.weights import Weights
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]

WORTH = 4  # passes that repay a draft of dense rows
NEAR = 1 << 18  # weights that fit near the processor
SMALL = 1 << 16  # numbers in the rows from which on hyperplanes are shared out among threads


class Ensemble(Stateful):
    """All hyperplanes of a learner: one `Weights`, or with one-vs-rest one per class.

    The hyperplanes of one-vs-rest know nothing of each other, so threads share them out, and one
    that made no mistakes in a pass is left alone from then on: it never will again.
    """

    state_names = ("parts", "done")

    def __init__(
        self,
        problem: Problem,
        keep: str,
        bias: float,
        kesler: bool,
        grouped: bool = False,
        passes: int = 1,
    ) -> None:
        self.often = passes >= WORTH
        self.n_jobs = problem.n_jobs if problem.entries >= SMALL else 1
        self.apart = not (problem.binary or kesler)
        self.grouped = self.apart and grouped and isinstance(problem.rows, CSR) and keep != "pocket"
        if self.grouped:
            # One visit to a sparse entry serves many classes. Weights that do not fit near the
            # processor are not shared out among threads: each would fetch as many cache lines.
            K = problem.n_classes
            near = problem.n_features * K <= NEAR
            most = min(WIDEST, -(-K // problem.n_jobs)) if near else WIDEST
            self.parts = [
                Weights(problem, keep, bias, k, min(most, K - k)) for k in range(0, K, most)
            ]
        elif self.apart:
            parts = problem.one_vs_rest()
            self.parts = [Weights(part, keep, bias, k) for k, part in enumerate(parts)]
        else:
            self.parts = [Weights(problem, keep, bias)]
        alone = len(self.parts) == 1
        self.parts[0].spare = alone and self.n_jobs > 1
        self.done = [False] * len(self.parts)

    @property
    def planes(self) -> int:
        """How many hyperplanes there are."""
        return sum(len(weights.b) for weights in self.parts)

    @property
    def moved(self) -> float:
        """The norm of the last batch correction."""
        return float(np.sqrt(sum(weights.moved**2 for weights in self.parts)))

    def _problems(self, problem: Problem) -> list[Problem]:
        if self.apart and not self.grouped:
            return problem.one_vs_rest()
        return [problem] * len(self.parts)

    def start_at(self, coef: Array, intercept: Array) -> None:
        """Begin from these (K, d) weights and (K,) intercepts instead of zero."""
        for weights in self.parts:
            first = weights.plane or 0
            mine = slice(first, first + len(weights.b))
            weights.start_at(coef[mine], intercept[mine])

    def fit_layout(self, problem: Problem) -> None:
        """Carry the weights over when later rows come in another layout."""
        self.done = [False] * len(self.parts)
        for weights in self.parts:
            weights.fit_layout(problem)
        problem.widen(self.parts[0].W.dtype)

    def each(
        self,
        one: Callable[[Weights, Problem], Pass],
        problem: Problem,
        epoch: int,
        recorder: Trace | None,
    ) -> Pass:
        """Let `one` make a pass with every hyperplane not done, and add up what they did."""
        active = [
            (k, weights, part)
            for k, (weights, part) in enumerate(
                zip(self.parts, self._problems(problem), strict=True)
            )
            if not self.done[k]
        ]
        if epoch == 1 and self.parts[0].binary and isinstance(problem.rows, Dense) and self.often:
            made = draft(problem.rows.X, problem.n_jobs)
            for weights in self.parts:
                weights.draft = made
        # A recording has one order of events; and threads cost more than a short pass.
        n_jobs = problem.n_jobs if recorder is None and problem.entries >= SMALL else 1
        passes = list(in_order(lambda job: one(job[1], job[2]), active, n_jobs, problem.halt))
        for (k, _, _), done in zip(active, passes, strict=True):
            self.done[k] = done.updates == 0
        seen = max(weights.seen for weights in self.parts)
        for weights in self.parts:  # a mean is over all presentations, also of those left alone
            weights.tally[SEEN] = seen
        return Pass(
            epoch,
            sum(p.mistakes for p in passes),
            sum(p.updates for p in passes),
            sum(p.loss for p in passes),
            passes[0].eta,
        )

    def misplaced(self, problem: Problem) -> float:
        """The weight of rows that the kept hyperplanes do not put strictly on their own side."""
        return sum(
            weights.misplaced(part, *weights.kept())
            for weights, part in zip(self.parts, self._problems(problem), strict=True)
        )

    def misplaced_now(self, problem: Problem) -> float:
        """The same for the hyperplanes as they stand."""
        return sum(
            weights.misplaced(part, weights.W, weights.b)
            for weights, part in zip(self.parts, self._problems(problem), strict=True)
        )

    def set_bias(self, square: float) -> None:
        """Let the constant feature that stands for the bias have this square from now on."""
        for weights in self.parts:
            weights.bias = square

    def require_in_range(self, problem: Problem) -> None:
        """Raise where scores could leave the range of floats although the data are finite."""
        for weights in self.parts:
            if not weights.bounded:
                problem.require_in_range(weights.W, weights.b)

    def rest(self) -> None:
        """Give back the memory of what only saves time, at the end of a fit."""
        for weights in self.parts:
            weights.rest()

    def now(self) -> tuple[Array, Array]:
        """The hyperplanes as they stand, whatever will be kept of them."""
        parts = [(weights.by_class(weights.W), weights.b) for weights in self.parts]
        return np.concatenate([w for w, _ in parts]), np.concatenate([b for _, b in parts])

    def kept(self) -> tuple[Array, Array]:
        """The hyperplanes to keep, as (K, d) weights and (K,) intercepts."""
        intercept = np.concatenate([weights.kept_biases() for weights in self.parts])
        W = self.parts[0].W
        coef = np.empty((len(intercept), self.parts[0].by_class(W).shape[1]), W.dtype)

        def fill(span: tuple[int, int]) -> None:  # near each other in both orders
            for weights in self.parts:
                weights.hand_out(coef, *span)

        for weights in self.parts:
            weights.settle()
        for _ in in_order(fill, spans(coef.shape[1]), self.n_jobs):
            pass
        return coef, intercept.astype(coef.dtype)
