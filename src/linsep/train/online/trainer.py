"""Hyperplanes that are trained together, with what is kept of them, and a pass row by row."""

from typing import Any

import numpy.typing as npt

from linsep.kernels import online
from linsep.rows.int8_screen import Int8Screen
from linsep.rows.rows import aligned
from linsep.train.online.averaging import LazyAverage
from linsep.train.online.hyperplanes import Hyperplanes, growing_bias
from linsep.train.online.method import Method
from linsep.train.online.pocket import Pocket
from linsep.train.online.rules import Rule
from linsep.train.online.tally import (
    AVERAGE,
    BEST,
    LAST,
    LOSS,
    MISTAKES,
    NO_SUMS,
    NOTHING,
    POCKET,
    ROW,
    RUN,
    SEEN,
    STEPS,
    TALLY,
    UPDATES,
    Kept,
    Presented,
    Shown,
)
from linsep.train.problem import Block, Problem, presentations
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful
from linsep.train.run.trace import EVERY, Trace

Array = npt.NDArray[Any]


class Trainer(Stateful):
    """Hyperplanes under training: the current ones, and the average or the best of those before.

    Parameters
    ----------
    problem : what is being learned
    keep : 'last', 'average' or 'pocket'
    bias : square of the constant feature: 0 for no intercept, 1, or the squared radius
    first : with one-vs-rest, which class the (first) hyperplane is for
    n_planes : with one-vs-rest, how many classes from there on
    """

    state_names = ("planes", "average", "pocket", "tally", "moved")

    def __init__(
        self,
        problem: Problem,
        keep: str,
        bias: float,
        first: int | None = None,
        n_planes: int | None = None,
    ) -> None:
        n_planes = n_planes or (1 if problem.binary else problem.n_classes)
        self.binary = problem.binary and n_planes == 1
        self.first = first
        self.planes = Hyperplanes(problem, n_planes, bias)
        self.average = LazyAverage(self.planes) if keep == "average" else None
        self.pocket = Pocket(self.planes) if keep == "pocket" else None
        self.tally = aligned((TALLY,), float)
        self.tally[BEST] = -1
        self.moved = 0.0  # the norm of the last correction by all rows
        self.shown = Shown(aligned((n_planes,), float), aligned((n_planes,), float))
        self._meet(problem)

    def _meet(self, problem: Problem) -> None:
        """Note what has to be known of the rows."""
        self.total = problem.total
        self.rest()

    def rest(self) -> None:
        """Forget what only saves time: a screen."""
        self.row_screen: Int8Screen | None = None

    def start_at(self, coef: Array, intercept: Array) -> None:
        """Begin from these (K, d) weights and (K,) intercepts instead of zero."""
        self.planes.start_at(coef, intercept)

    def fit_layout(self, problem: Problem) -> None:
        """Carry everything over when later rows come in another layout."""
        shape = self.planes.W.shape
        carried = self.planes.fit_layout(problem)
        if carried is not None and self.average is not None:
            self.average.carry(carried)
        if carried is not None and self.pocket is not None:
            self.pocket.carry(carried, self.planes, shape)
        self._meet(problem)

    @property
    def seen(self) -> float:
        """Presentations so far."""
        return float(self.tally[SEEN])

    def kept_beside(self) -> Kept:
        """What a kernel keeps beside the last weights."""
        if self.average is not None:
            return Kept(AVERAGE, self.average.sums, self.average.bias_sums, NOTHING)
        if self.pocket is not None:
            return Kept(POCKET, NO_SUMS, NOTHING, self.pocket.longest)
        return Kept(LAST, NO_SUMS, NOTHING, NOTHING)

    def open_pass(self, epoch: int) -> None:
        """Count from zero; the longest-lived of rows that come in parts goes on living."""
        self.tally[[UPDATES, MISTAKES, LOSS]] = 0
        if epoch > 0:
            self.tally[RUN], self.tally[BEST] = 0, -1

    def close_pass(self, epoch: int, eta: float) -> Pass:
        """What the pass did."""
        t = self.tally
        loss = float(t[LOSS]) / (self.total or 1.0)  # a part of a stream may weigh nothing
        return Pass(epoch, int(t[MISTAKES]), int(t[UPDATES]), loss, eta)

    def record(self, trace: Trace, before: float, epoch: int, start: int) -> None:
        """Tell a trace of the corrections since there were `before`, in a block from row `start`"""
        one_row = self.tally[ROW] >= 0
        trace.update(
            int(self.tally[STEPS] - before),
            epoch,
            start + int(self.tally[ROW]) if one_row else None,
            self.shown.scores if one_row else NOTHING,
            self.shown.steps if one_row else NOTHING,
            self.planes.by_class(self.planes.W),
            self.planes.b,
            self.first,
        )

    def fill_pocket(self, problem: Problem, epoch: int) -> None:
        """At the end of a pass, keep its longest-lived hyperplanes if they are the best so far."""
        if self.pocket is not None:

            def count(W: Array, b: Array) -> float:
                return self.misplaced(problem, W, b)

            self.pocket.close_pass(self.planes, self.tally, count, epoch)

    def misplaced(self, problem: Problem, W: Array, b: Array) -> float:
        """The weight of rows that these hyperplanes do not put strictly on their own side."""
        first = -1 if self.first is None or self.binary else self.first
        return problem.sum(
            lambda block: online.misplaced(block.rows, block.codes, block.weights, first, W, b),
            lambda p, q: p + q,
        )

    def kept(self) -> tuple[Array, Array]:
        """The hyperplanes to keep, in this layout's own order."""
        W = self.planes.W
        if self.average is not None and self.seen:
            W = (W - self.average.sums / self.seen).astype(W.dtype)  # mean = w − u/T
        elif self.pocket is not None and self.pocket.best is not None:
            W = self.pocket.best[1]
        return W, self.kept_biases()

    def kept_biases(self) -> Array:
        """The biases that go with them."""
        if self.average is not None and self.seen:
            return self.planes.b - self.average.bias_sums / self.seen
        if self.pocket is not None and self.pocket.best is not None:
            return self.pocket.best[2]
        return self.planes.b

    def hand_out(self, coef: Array, start: int, stop: int) -> None:
        """`kept` for some features, put into its place in the (K, d) weights of all classes."""
        first = self.first or 0
        W, mine = self.planes.W, coef[first : first + len(self.planes.b)]
        sums = self.average.sums if self.average is not None and self.seen else NO_SUMS
        if self.planes.sparse and self.pocket is None:
            online.sparse_means(W, sums, self.seen, start, stop, mine)
            return
        if self.pocket is not None and self.pocket.best is not None:
            W = self.pocket.best[1]
        mine[:, start:stop] = self.planes.by_class(W)[:, start:stop]
        if sums.size:
            mine[:, start:stop] = W[:, start:stop] - sums[:, start:stop] / self.seen


def row_pass(
    trainer: Trainer, method: Method, problem: Problem, epoch: int, trace: Trace | None
) -> Pass:
    """Correct after every row."""
    trainer.open_pass(epoch)
    rule, tally = method.rule_of(epoch), trainer.tally
    whole = trace is None and not method.growing_bias and isinstance(problem, Problem)
    visit = problem.in_one if whole else problem.in_order
    blocks = visit(method.seed, epoch, method.shuffle)
    if method.growing_bias:
        blocks = growing_bias(trainer.planes, blocks)
    for block, order in blocks:
        order, scale = presentations(block, order)
        presented = Presented(block.codes, order, scale)
        position = 0
        while position < len(order):
            before = tally[STEPS]
            limit = EVERY if trace is None else trace.wait()
            while position < len(order) and tally[STEPS] < before + limit:
                left = int(before + limit - tally[STEPS])
                position = _present(trainer, rule, block, presented, position, left)
            if trace is not None:
                trainer.record(trace, before, epoch, block.start)
    return trainer.close_pass(epoch, getattr(rule, "eta", 1.0))


def _present(
    trainer: Trainer, rule: Rule, block: Block, presented: Presented, position: int, limit: int
) -> int:
    """Up to `limit` corrections from a position on; where they ended."""
    beside = trainer.planes.given, trainer.kept_beside(), trainer.tally, trainer.shown
    if trainer.binary:
        screen: Int8Screen | tuple[()] = ()
        if trainer.row_screen is not None:
            screen = trainer.row_screen.part(block.start, block.start + len(block.codes))
        return online.present(rule, block.rows, screen, presented, position, limit, *beside)
    first = -1 if trainer.first is None else trainer.first
    return online.present_classes(rule, first, block.rows, presented, position, limit, *beside)
