"""The perceptron that remembers every separator, as the list of corrections that made them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import exact, kernel
from linsep.rows.gram import Gram, Support
from linsep.rows.kernels import Each, Kernel
from linsep.rows.rows import CSR, Rows, scores
from linsep.train.online.kernels import correct, move
from linsep.train.online.rules import Rosenblatt
from linsep.train.order import Order
from linsep.train.problem import Problem, presentations
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful, record

Array = npt.NDArray[Any]


@kernel
def outlive(rows, codes, scale, order, bias, W, b, wide, s, a, votes, where, when, steps, survived):  # type: ignore[no-untyped-def]
    """Present rows; write down each correction, and how long the separator before it lived.

    Returns (rows corrected, corrections by Kesler's count, perceptron loss).
    """
    written = made = 0
    total = 0.0
    rule = Rosenblatt(1.0, 0.0, 0.0)
    for p in range(order.shape[0]):
        i = order[p]
        share = scale[p] if scale.shape[0] > 0 else 1.0
        scores(rows, i, W, wide)
        for k in range(b.shape[0]):
            s[k] = wide[k] + b[k]
        found, _, charge = correct(rule, rows, i, codes[i], bias, share, s, a)
        total += share * charge
        if found == 0:
            votes[0] += share  # cₙ ← cₙ + 1
            continue
        for k in range(a.shape[0]):
            a[k] *= share
            steps[written, k] = a[k]
        move(rows, i, a, bias, W, b)  # wₙ₊₁ ← wₙ + yx
        where[written] = i
        when[written] = p
        survived[written] = votes[0]
        votes[0] = 0.0  # cₙ₊₁ ← 0
        written += 1
        made += found
    return written, made, total


@record
class Found(NamedTuple):
    """Corrections in the order they were made.

    Attributes
    ----------
    where : (m,) numbers of the rows corrected
    when : (m,) presentations before each
    steps : (m, K) array, what each class received of its row
    survived : (m,) array, how long the separator before each had lived
    made : corrections by Kesler's count
    loss : sum over all rows presented
    """

    where: Array
    when: Array
    steps: Array
    survived: Array
    made: int
    loss: float


def live(
    rows: Rows | Gram, codes: Array, scale: Array, order: Order, bias: float,
    W: Array, b: Array, votes: Array,
) -> Found:  # fmt: skip
    """`outlive` with room for what it writes."""
    n, planes = len(order), len(b)
    where, when = np.zeros(n, np.int64), np.zeros(n, np.int64)
    steps, survived = np.zeros((n, planes)), np.zeros(n)
    wide = np.zeros(W.shape[1] if isinstance(rows, CSR) else planes)
    written, made, loss = outlive(
        rows, codes, scale, order, bias, W, b, wide, np.zeros(planes), np.zeros(planes),
        votes, where, when, steps, survived,
    )  # fmt: skip
    some = slice(written)
    return Found(where[some], when[some], steps[some].copy(), survived[some], made, loss)


class Hyperplanes(Stateful):
    """The current separator as weights, moved from mistake to mistake.

    Parameters
    ----------
    problem : what is being learned
    bias : square of the constant feature: 0 for no intercept, 1 with one
    """

    state_names = ("W", "b", "votes", "seen")

    def __init__(self, problem: Problem, bias: float) -> None:
        planes = 1 if problem.binary else problem.n_classes
        self.bias = bias
        self.sparse = isinstance(problem.rows, CSR)
        self.W = problem.rows.weights(planes, problem.n_features)
        self.b = np.zeros(planes)
        self.votes = np.zeros(1)
        self.seen = 0

    def one_pass(
        self, problem: Problem, seed: int, epoch: int, shuffle: bool, tell: Callable[[Found], None]
    ) -> Pass:
        """Present all rows once; `tell` hears of the corrections, block by block."""
        mistakes = made = 0
        loss = 0.0
        for block, order in problem.in_order(seed, epoch, shuffle):
            order, scale = presentations(block, order)
            found = live(
                block.rows, block.codes, scale, order, self.bias, self.W, self.b, self.votes
            )
            tell(found._replace(where=block.start + found.where, when=self.seen + found.when))
            self.seen += len(order)
            mistakes += len(found.where)
            made += found.made
            loss += found.loss
        problem.require_in_range(self.W, self.b)
        return Pass(epoch, mistakes, made, loss / problem.total)

    def fit_layout(self, problem: Problem) -> None:
        """Carry the weights over when later rows come in another layout."""
        sparse = isinstance(problem.rows, CSR)
        planes = len(self.b)
        fresh = problem.rows.weights(planes, problem.n_features)
        dtype = np.promote_types(self.W.dtype, fresh.dtype)
        if sparse != self.sparse or dtype != self.W.dtype:
            old = self.W[:, :planes].T if self.sparse else self.W
            self.W, self.sparse = fresh.astype(dtype), sparse
            (self.W[:, :planes].T if sparse else self.W)[...] = old
        problem.widen(dtype)


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


class Survivors(Stateful):
    """All corrections of a run, as they are heard of."""

    state_names = ("_fresh",)

    def __init__(self, corrections: Corrections) -> None:
        self.settled = corrections
        self._fresh: list[Found] = []

    def tell(self, found: Found) -> None:
        """Listen to corrections of rows that are being learned from."""
        if len(found.where):
            self._fresh.append(found)

    def corrections(self, X: Any, votes: float) -> Corrections:
        """All corrections up to now, the fresh ones of rows X; `votes` are the last separator's."""
        support, where, steps, survival = self.settled
        if not self._fresh:
            return Corrections(support, where, steps, np.append(survival[:-1], votes))
        fresh = [np.concatenate(part) for part in zip(*(f[:4] for f in self._fresh), strict=True)]
        rows, place = np.unique(fresh[0], return_inverse=True)  # each row once
        return Corrections(
            support.plus(X[rows]),
            np.concatenate([where, len(support) + place]),
            np.concatenate([steps, fresh[2]]),
            np.concatenate([survival[:-1], fresh[3], [votes]]),
        )


def nothing_yet(planes: int) -> Corrections:
    """Separator 0 alone: all weights zero."""
    return Corrections(Support(), np.zeros(0, np.int64), np.zeros((0, planes)), np.zeros(1))


@exact
def _count(K, where, steps, survival, bias, s, counted):  # type: ignore[no-untyped-def]
    """Let every separator vote on every row; separator 0 has voted already.

    `linsep.model.expansion.Votes` does the same without the compiler, bit by bit.
    """
    for x in range(K.shape[0]):
        for k in range(s.shape[0]):
            s[k] = 0.0
        for m in range(where.shape[0]):
            product = K[x, where[m]] + bias
            for k in range(s.shape[0]):
                s[k] += steps[m, k] * product  # ⟨wₙ₊₁, x⟩ = ⟨wₙ, x⟩ + a⟨xᵢ, x⟩
            c = survival[m + 1]
            if c == 0.0:
                continue
            best = 0
            for k in range(1, s.shape[0]):
                if s[k] > s[best]:
                    best = k
            counted[x, best] += c if s.shape[0] > 1 or s[0] >= 0.0 else -c


def votes(corrections: Corrections, kernel: Kernel, X: Any, bias: float, each: Each = map) -> Array:
    """The weighted vote of every separator on every row, counted in blocks.

    For two classes Σ cₙ sgn(⟨wₙ, x⟩ + bₙ) / Σ cₙ; for more, the share of votes of each class.
    """
    support, where, steps, survival = corrections
    planes = steps.shape[1]
    counted = np.zeros((X.shape[0], planes))
    counted[:, 0] += survival[0]  # w₀ = 0: every score is zero, so the first place wins

    def count(top: int, K: Array) -> None:
        here = counted[top : top + len(K)]
        _count(K, where, steps, survival, bias, np.zeros(planes), here)

    support.by_blocks(kernel, X, count, each)
    counted /= survival.sum() or 1.0
    return counted.ravel() if planes == 1 else counted
