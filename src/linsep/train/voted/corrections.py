"""The perceptron that remembers every separator, as the list of corrections that made them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import voted
from linsep.rows.gram import Gram, Support
from linsep.rows.kernels import Each, Kernel
from linsep.rows.rows import Rows
from linsep.train.online.hyperplanes import Hyperplanes, Planes
from linsep.train.online.tally import Presented
from linsep.train.order import Order
from linsep.train.problem import Problem, presentations
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful, record

Array = npt.NDArray[Any]


@record
class CorrectionBatch(NamedTuple):
    """Corrections in the order they were made.

    Attributes
    ----------
    rows : (m,) numbers of the rows corrected
    when : (m,) presentations before each
    steps : (m, K) array, what each class received of its row
    lives : (m,) array, how long the separator before each had lived
    made : corrections by Kesler's count
    loss : sum over all rows presented
    """

    rows: Array
    when: Array
    steps: Array
    lives: Array
    made: int
    loss: float


def present(
    rows: Rows | Gram, codes: Array, scale: Array, order: Order, bias: float,
    W: Array, b: Array, votes: Array,
) -> CorrectionBatch:  # fmt: skip
    """Present rows in this order, from the separator (W, b), which has lived for `votes` rows."""
    n = len(order)
    where, when = np.zeros(n, np.int64), np.zeros(n, np.int64)
    steps, lives = np.zeros((n, len(b))), np.zeros(n)
    walk: Any = voted.present_gram if isinstance(rows, Gram) else voted.present
    written, count, loss = walk(
        rows.K if isinstance(rows, Gram) else rows, Presented(codes, order, scale),
        Planes(W, b, bias), votes, (where, when, steps, lives),
    )  # fmt: skip
    some = slice(written)
    return CorrectionBatch(where[some], when[some], steps[some].copy(), lives[some], count, loss)


class VotedPlanes(Stateful):
    """The current separator as weights, moved from mistake to mistake.

    Parameters
    ----------
    problem : what is being learned
    bias : square of the constant feature: 0 for no intercept, 1 with one
    """

    state_names = ("planes", "votes", "seen")

    def __init__(self, problem: Problem, bias: float) -> None:
        self.planes = Hyperplanes(problem, 1 if problem.binary else problem.n_classes, bias)
        self.votes = np.zeros(1)
        self.seen = 0

    def one_pass(
        self,
        problem: Problem,
        seed: int,
        epoch: int,
        shuffle: bool | str,
        add: Callable[[CorrectionBatch], None],
    ) -> Pass:
        """Present all rows once; `add` receives the corrections, block by block."""
        mistakes = count = 0
        loss = 0.0
        W, b, bias = self.planes.given
        for block, order in problem.in_order(seed, epoch, shuffle):
            order, scale = presentations(block, order)
            batch = present(block.rows, block.codes, scale, order, bias, W, b, self.votes)
            add(batch._replace(rows=block.start + batch.rows, when=self.seen + batch.when))
            self.seen += len(order)
            mistakes += len(batch.rows)
            count += batch.made
            loss += batch.loss
        problem.require_in_range(W, b)
        return Pass(epoch, mistakes, count, loss / problem.total)

    def fit_layout(self, problem: Problem) -> None:
        """Carry the weights over when later rows come in another layout."""
        self.planes.fit_layout(problem)
        problem.widen(self.planes.W.dtype)


class Corrections(NamedTuple):
    """Separators 0..M in compressed form: separator n is the sum of the first n corrections.

    Attributes
    ----------
    support : the corrected rows, each once
    where : (M,) array, which of them each correction was about
    steps : (M, K) array, what each class received of its row
    survival : (M + 1,) array, how many rows each separator got right before its first mistake
    """

    support: Support
    where: Array
    steps: Array
    survival: Array

    def merged(self, share: Array | float = 1.0) -> Array:
        """What each class received of each supporting row, correction m counted share[m] times."""
        total = np.zeros((len(self.support), self.steps.shape[1]))
        np.add.at(total, self.where, (self.steps.T * share).T)
        return total


class History(Stateful):
    """All corrections of a run, as they are made."""

    state_names = ("_batches",)

    def __init__(self, corrections: Corrections) -> None:
        self.settled = corrections
        self._batches: list[CorrectionBatch] = []

    def add(self, batch: CorrectionBatch) -> None:
        """Keep corrections of rows that are being learned from."""
        if len(batch.rows):
            self._batches.append(batch)

    def corrections(self, X: Any, votes: float) -> Corrections:
        """All corrections up to now, the new ones of rows X; `votes` are the last separator's."""
        support, where, steps, survival = self.settled
        if not self._batches:
            return Corrections(support, where, steps, np.append(survival[:-1], votes))
        corrected = np.concatenate([batch.rows for batch in self._batches])
        rows, place = np.unique(corrected, return_inverse=True)  # each row once
        return Corrections(
            support.plus(X[rows]),
            np.concatenate([where, len(support) + place]),
            np.concatenate([steps, *(batch.steps for batch in self._batches)]),
            np.concatenate([survival[:-1], *(batch.lives for batch in self._batches), [votes]]),
        )


def nothing_yet(planes: int) -> Corrections:
    """Separator 0 alone: all weights zero."""
    return Corrections(Support(), np.zeros(0, np.int64), np.zeros((0, planes)), np.zeros(1))


def votes(corrections: Corrections, kernel: Kernel, X: Any, bias: float, each: Each = map) -> Array:
    """The weighted vote of every separator on every row, counted in blocks.

    For two classes Σ cₙ sgn(⟨wₙ, x⟩ + bₙ) / Σ cₙ; for more, the share of votes of each class.
    """
    support, where, steps, survival = corrections
    planes = steps.shape[1]
    counted = np.zeros((X.shape[0], planes))
    counted[:, 0] += survival[0]  # w₀ = 0: every score is zero, so the first place wins

    def count(top: int, K: Array) -> None:
        columns, here = np.ascontiguousarray(K.T), counted[top : top + len(K)]
        voted.count_votes(columns, where, steps, survival, bias, here)

    support.by_blocks(kernel, X, count, each)
    counted /= survival.sum() or 1.0
    return counted.ravel() if planes == 1 else counted
