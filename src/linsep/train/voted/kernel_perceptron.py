"""The online perceptron in a kernel's feature space: f(x) = Σⱼ αⱼ κ(xⱼ, x) + b.

The separator is known by its scores f(xᵢ) on the training rows. Where the Gram matrix fits into
the cache the walk over the rows is one compiled loop. Where it does not, the walk goes in windows:
from the next row that is wrong on, `WINDOW` presentations are gone through with the Gram matrix of
these rows alone, then all scores are moved at once by the rows corrected on the way. Rows on the
right side are passed over without a look at the kernel, so a pass costs what its mistakes cost.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.rows.gram import Gram, GramRows, Support
from linsep.rows.kernels import Each, Kernel
from linsep.train.order import Order
from linsep.train.problem import Problem, presentations
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful
from linsep.train.voted.corrections import CorrectionBatch, present

Array = npt.NDArray[Any]

WINDOW = 256


class KernelScores(Stateful):
    """The current separator as its scores on the training rows, moved from mistake to mistake.

    Parameters
    ----------
    kernel : κ
    problem : what is being learned
    support, coefficients : the separator to start from
    bias : what the constant feature adds to κ: 0 for no intercept, 1 with one
    cache : bytes for rows of the Gram matrix
    votes, seen : presentations since the last correction, and since the first
    each : how to go through pieces of the rows
    """

    state_names = ("F", "b", "votes", "seen")

    def __init__(
        self,
        kernel: Kernel,
        problem: Problem,
        support: Support,
        coefficients: Array,
        bias: float,
        cache: float,
        votes: float = 0.0,
        seen: int = 0,
        each: Each = map,
    ) -> None:
        self.kernel = kernel
        self.bias = bias
        self.gram = GramRows(kernel, problem.X, cache, each)
        self.codes = problem.codes
        F = support.expand(kernel, problem.X, coefficients, each)
        self.F = np.ascontiguousarray(F.T)
        self.b = bias * coefficients.sum(axis=0)
        self.votes = np.array([votes])
        self.seen = seen

    def one_pass(
        self,
        problem: Problem,
        seed: int,
        epoch: int,
        shuffle: bool | str,
        add: Callable[[CorrectionBatch], None],
    ) -> Pass:
        """Present all rows once; `add` receives the corrections, window by window."""
        mistakes = count = 0
        loss = 0.0

        def counted(batch: CorrectionBatch) -> None:
            nonlocal mistakes, count, loss
            add(batch._replace(when=self.seen + batch.when))
            mistakes += len(batch.rows)
            count += batch.made
            loss += batch.loss

        for block, order in problem.in_order(seed, epoch, shuffle):
            order, scale = presentations(block, order)
            order = block.start + order
            if self.gram.fits:
                rows = Gram(self.gram.whole())
                counted(
                    present(rows, self.codes, scale, order, self.bias, self.F, self.b, self.votes)
                )
                self.seen += len(order)
                self._require_in_range()
            else:
                self._windows(order, scale, counted)
        return Pass(epoch, mistakes, count, loss / problem.total)

    def _windows(self, order: Order, scale: Array, add: Callable[[CorrectionBatch], None]) -> None:
        """Go through one block, a window at a time."""
        while len(order):
            wrong = ~(gaps(self.F[:, order], self.b, self.codes[order]) > 0)
            right = int(wrong.argmax()) if wrong.any() else len(order)
            self._survive(right, scale[:right])
            order, scale = order[right:], scale[right:]
            if not len(order):
                return
            rows, place = np.unique(order[:WINDOW], return_inverse=True)
            K = self.kernel.square(self.gram.X[rows], rows)
            local = np.ascontiguousarray(self.F[:, rows])
            batch = present(
                Gram(K), self.codes[rows], scale[:WINDOW], place, self.bias, local, self.b,
                self.votes,
            )  # fmt: skip
            batch = batch._replace(rows=rows[batch.rows])
            add(batch)
            self.seen += len(place)
            with np.errstate(over="ignore", invalid="ignore"):
                self.F += self.gram.combine(batch.rows, batch.steps)
            self._require_in_range()
            order, scale = order[WINDOW:], scale[WINDOW:]

    def _require_in_range(self) -> None:
        if not np.isfinite(self.F).all():
            raise OverflowedError(
                f"The scores left the range of floats, although every value of kernel "
                f"{self.kernel.name} is finite. Divide X by abs(X).max()."
            )

    def _survive(self, n: int, scale: Array) -> None:
        """The separator survived `n` more presentations."""
        self.seen += n
        # One after the other, as a walk would have added them: fractions depend on the order.
        self.votes[0] = np.cumsum([self.votes[0], *scale])[-1] if len(scale) else self.votes[0] + n


def gaps(F: Array, b: Array, codes: Array) -> Array:
    """z of every row, given its scores: ± the score, or own class against the best rival."""
    s = F + b[:, None]
    if len(s) == 1:
        return np.where(codes == 1, s[0], -s[0])
    here = codes, np.arange(s.shape[1])
    own = s[here]
    s[here] = -np.inf
    return own - s.max(axis=0)


class Dual(Stateful):
    """The coefficients α of every row corrected so far, and those of the separator to keep.

    Parameters
    ----------
    planes : score functions: 1 for two classes, else one per class
    keep : 'last', 'average' or 'pocket'
    """

    state_names = ("seen", "alpha", "fewest", "_fresh", "_batches")

    def __init__(self, planes: int, keep: str) -> None:
        self.planes = planes
        self.keep = keep
        self.seen = 0
        self.rows_seen = 0
        self.support = Support()
        self.index = np.zeros(0, np.int64)
        # The second half is, for 'average', Σ t·(correction at presentation t); for 'pocket', α
        # of the best separator.
        self.alpha = np.zeros((0, 2 * planes))
        self.fewest = np.inf
        self._fresh = self.alpha
        self._batches: list[CorrectionBatch] = []

    def begin(self, problem: Problem) -> None:
        """Make room for corrections of these rows."""
        self._fresh = np.zeros((problem.n_rows, 2 * self.planes))
        self._batches = []

    def add(self, batch: CorrectionBatch) -> None:
        """Add corrections."""
        late = batch.steps * (batch.when[:, None] if self.keep == "average" else 0.0)
        np.add.at(self._fresh, batch.rows, np.hstack([batch.steps, late]))
        if self.keep == "pocket":
            self._batches.append(batch)

    def put_in_pocket(self, problem: Problem, scores: KernelScores, before: int) -> None:
        """Keep this pass's longest-lived separator if it places more rows right than the best.

        `before` is the number of presentations before this pass.
        """
        when, where, steps = self._since()
        lives = np.diff(np.concatenate([[before - 1], when, [scores.seen]])) - 1
        n = int(lives.argmax()) if lives.max() > lives[-1] else len(when)
        back = -steps[n:]  # from the last separator back to the longest-lived
        F = scores.F + scores.gram.combine(where[n:], back)
        b = scores.b + scores.bias * back.sum(axis=0)
        mistakes = misplaced(problem, F, b)
        if mistakes < self.fewest:
            self.fewest = mistakes
            a, fresh, K = self.alpha.copy(), self._fresh.copy(), self.planes
            a[:, K:], fresh[:, K:] = a[:, :K], fresh[:, :K]
            np.add.at(fresh[:, K:], where[n:], back)
            self.alpha, self._fresh = a, fresh

    def _since(self) -> tuple[Array, Array, Array]:
        """The corrections since the last call."""
        batches, self._batches = self._batches, []
        none = np.zeros(0, np.int64)
        return (
            np.concatenate([none, *(batch.when for batch in batches)]),
            np.concatenate([none, *(batch.rows for batch in batches)]),
            np.concatenate([np.zeros((0, self.planes)), *(batch.steps for batch in batches)]),
        )

    def settled(self, problem: Problem, seen: int) -> "Dual":
        """All that is known after `seen` presentations, with room for other rows."""
        rows = np.flatnonzero(self._fresh.any(axis=1))
        after = Dual(self.planes, self.keep)
        after.seen, after.rows_seen = seen, self.rows_seen + problem.n_rows
        after.support = self.support.plus(problem.X[rows])
        after.index = np.concatenate([self.index, self.rows_seen + rows])
        after.alpha = np.concatenate([self.alpha, self._fresh[rows]])
        after.fewest = self.fewest
        return after

    @property
    def last(self) -> Array:
        """α of the current separator."""
        return self.alpha[:, : self.planes]

    @property
    def kept(self) -> Array:
        """α of the separator to keep."""
        other = self.alpha[:, self.planes :]
        if self.keep == "average" and self.seen:
            return self.last - other / self.seen  # mean = α − u/T
        return other if self.keep == "pocket" and np.isfinite(self.fewest) else self.last


def misplaced(problem: Problem, F: Array, b: Array) -> float:
    """The weight of rows that these scores do not put strictly on their own side."""
    wrong = ~(gaps(F, b, problem.codes) > 0)
    return float(problem.weights[wrong].sum() if problem.weights.size else wrong.sum())
