"""Weights under training, and the passes that move them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.rows.int8_screen import Draft, NoDraft
from linsep.rows.rows import CSR, aligned
from linsep.train.online import kernels as online
from linsep.train.online import minibatch as batches
from linsep.train.online.averaging import NO_SUMS, NOTHING, Averages, means
from linsep.train.online.bf16_screen import NO_SHORT, Short, shortened
from linsep.train.online.kernels import (
    AVERAGE,
    BEST,
    LAST,
    LOSS,
    MISTAKES,
    POCKET,
    ROW,
    RUN,
    SEEN,
    STEPS,
    TALLY,
    UPDATES,
)  # fmt: skip
from linsep.train.online.line_search import best_step
from linsep.train.online.rules import Rosenblatt, Rule
from linsep.train.order import Order
from linsep.train.problem import NO_WEIGHTS, Block, Problem, presentations
from linsep.train.run.loop import Pass
from linsep.train.run.state import Stateful
from linsep.train.run.trace import EVERY, Trace

Array = npt.NDArray[Any]
Blocks = Iterable[tuple[Block, Order]]
LARGE = 1 << 20  # bytes of sparse weights: fewer are near enough not to need their first digits
KEEPS = {"last": LAST, "average": AVERAGE, "pocket": POCKET}


class Weights(Stateful):
    """The hyperplanes of a run: the current ones, and the average or the best of those before.

    Parameters
    ----------
    problem : what is being learned
    keep : 'last', 'average' or 'pocket'
    plane : with one-vs-rest, which class the (first) hyperplane is for
    n_planes : with one-vs-rest, how many classes from there on
    bias : square of the constant feature: 0 for no intercept, 1, or the squared radius
    """

    state_names = ("W", "b", "sums", "ub", "best", "pocket", "life", "tally", "moved")

    def __init__(
        self,
        problem: Problem,
        keep: str,
        bias: float,
        plane: int | None = None,
        n_planes: int | None = None,
    ) -> None:
        n_planes = n_planes or (1 if problem.binary else problem.n_classes)
        self.keep = KEEPS[keep]
        self.binary = problem.binary and n_planes == 1
        self.plane = plane
        self.bias = bias
        self.sparse = isinstance(problem.rows, CSR)
        self.W = problem.rows.weights(n_planes, problem.n_features)
        self.b = aligned((n_planes,), float)
        averaging = self.keep == AVERAGE
        self._U = np.zeros(self.W.shape if averaging else (0, 0))
        self.ub = np.zeros(n_planes if averaging else 0)
        self.best = np.zeros(self.W.size + n_planes if self.keep == POCKET else 0)
        self.pocket: tuple[float, Array, Array] | None = None
        self.life = 0.0
        self.tally = aligned((TALLY,), float)
        self.tally[BEST] = -1
        self.moved = 0.0
        self.spare = False  # whether a thread has nothing else to do
        self._averages: Averages | None = None
        self.wide = self._wide()
        self._meet(problem)
        self.s = aligned((n_planes,), float)
        self.a = aligned((n_planes,), float)

    def _meet(self, problem: Problem) -> None:
        """Note what has to be known of the rows."""
        self.total = problem.total
        several = self.sparse and self.W.shape[1] > 1
        worth_it = several and self.W.nbytes > LARGE and problem.entries > self.W.size // 8
        self._radius = problem.radius if worth_it else 0.0
        self.rest()

    def rest(self) -> None:
        """Forget what only saves time: first digits, drafts, a thread for averages."""
        if self._averages is not None:
            self._averages.close()
        self._averages = None
        self._short: Short | None = None
        self.draft: Draft | NoDraft = NoDraft()

    def start_at(self, coef: Array, intercept: Array) -> None:
        """Begin from these (K, d) weights and (K,) intercepts instead of zero."""
        self.by_class(self.W)[...] = coef
        self.b[...] = intercept
        self._short = None

    def fit_layout(self, problem: Problem) -> None:
        """Carry the weights over when later rows come in another layout."""
        sparse = isinstance(problem.rows, CSR)
        dtype = np.promote_types(self.W.dtype, problem.rows.weights(1, 1).dtype)
        if sparse != self.sparse or dtype != self.W.dtype:
            self._lay_out(problem, sparse, dtype)
        self._meet(problem)

    def _lay_out(self, problem: Problem, sparse: bool, dtype: Any) -> None:
        new = problem.rows.weights(len(self.b), problem.n_features).astype(dtype, copy=False)
        n = self.W.size
        parts = [
            self.W,
            self.sums,
            self.best[:n].reshape(self.W.shape if self.best.size else (0, 0)),
        ]
        parts += [self.pocket[1]] if self.pocket else []
        parts = [self.by_class(part) for part in parts]
        self.sparse = sparse
        self.by_class(new)[...] = parts[0]
        self.W = new
        self.sums = self._carried(parts[1])
        self.best = np.append(self._carried(parts[2]), self.best[n:])
        if self.pocket:
            self.pocket = (self.pocket[0], self._carried(parts[3]).astype(dtype), self.pocket[2])
        self.wide = self._wide()

    def _carried(self, part: Array) -> Array:
        """(K, d) numbers in the order of the present layout."""
        if not part.size:
            return part
        new = np.zeros(self.W.shape)
        self.by_class(new)[...] = part
        return new

    @property
    def sums(self) -> Array:
        """U, the sums that make the average: see `online`."""
        return self._U if self._averages is None else self._averages.join()

    @sums.setter
    def sums(self, new: Array) -> None:
        self._averages, self._U = None, new

    def settle(self) -> None:
        """Wait until the average includes every correction: then threads may share it."""
        if self._averages is not None:
            self._averages.join()

    @property
    def bounded(self) -> bool:
        """Whether no score can be anywhere near the end of the range of floats."""
        short = self._short
        return short is not None and short.reach.size > 0 and bool((short.reach < 1e37).all())

    @property
    def seen(self) -> float:
        """Presentations so far."""
        return float(self.tally[SEEN])

    def online(self, rule: Rule, blocks: Blocks, epoch: int, recorder: Trace | None) -> Pass:
        """Correct after every row."""
        self._open(epoch)
        if epoch > 1 and self._short is None:  # at first too many rows are corrected
            self._short = shortened(self.W, len(self.b), self._radius)
        if self.keep == AVERAGE and not self.binary and self._averages is None:
            self._averages = Averages(self._U, len(self.b), self.spare and epoch > 0)
        for block, order in blocks:
            order, scale = presentations(block, order)
            position = 0
            while position < len(order):
                before = self.tally[STEPS]
                limit = EVERY if recorder is None else recorder.wait()
                while position < len(order) and self.tally[STEPS] < before + limit:
                    left = int(before + limit - self.tally[STEPS])
                    position = self._present(rule, block, scale, order, position, left)
                if recorder is not None:
                    self._record(recorder, before, epoch, block.start)
        return self._close(epoch, getattr(rule, "eta", 1.0))

    def _present(
        self,
        rule: Rule,
        block: Block,
        scale: Array,
        order: Order,
        position: int,
        limit: int,
    ) -> int:
        rows, labels = block.rows, block.codes
        if self.binary:
            draft = self.draft.part(block.start, block.start + len(labels))
            return online.present(
                rule, rows, draft, labels, scale, order, position, limit, self.bias, self.keep,
                self.W.reshape(-1), self.b, self._U.reshape(-1), self.ub, self.best, self.tally,
                self.s, self.a,
            )  # fmt: skip
        short = (self._short or NO_SHORT) if self._radius > 0.0 else None
        log = NOTHING
        if self._averages is not None:
            log, limit = self._averages.log(rows), min(limit, self._averages.room)
        if self.plane is not None:
            return online.present_rivals(
                rule, rows, labels, self.plane, scale, order, position, limit, self.bias,
                self.keep, self.W, self.b, log, self.ub, self.tally, self.s, self.a, self.wide,
                short,
            )  # fmt: skip
        return online.present_classes(
            rule, rows, labels, scale, order, position, limit, self.bias, self.keep,
            self.W, self.b, log, self.ub, self.best, self.tally, self.s, self.a, self.wide,
            short,
        )  # fmt: skip

    def minibatch(
        self,
        rule: Rule,
        blocks: Blocks,
        epoch: int,
        size: int,
        mean: bool,
        recorder: Trace | None,
    ) -> Pass:
        """Correct after every `size` rows, by the sum or the mean of what they ask for."""
        self._open(epoch)
        self._short = None
        A = np.zeros((min(size, BLOCK), len(self.b)))
        for block, order in blocks:
            position = 0
            while position < len(order):
                before = self.tally[STEPS]
                limit = EVERY if recorder is None else recorder.wait()
                position = batches.minibatches(
                    rule, block.rows, block.codes, block.weights, order, position, limit, size,
                    mean, self.bias, self.keep, self.W, self.b, self.sums, self.ub, A, self.tally,
                    self.wide,
                )  # fmt: skip
                if recorder is not None:
                    self._record(recorder, before, epoch, block.start)
        return self._close(epoch, getattr(rule, "eta", 1.0))

    def direction(self, problem: Problem, rule: Rosenblatt) -> tuple[Array, Array, float]:
        """What all wrongly placed rows ask for together: Σ yᵢ(xᵢ, 1), and the total weight."""
        self._open(1)
        planes = len(self.b)

        def part(block: Block) -> tuple[Array, Array, Array, float]:
            n = len(block.codes)
            tally, A, order = np.zeros(TALLY), np.zeros((n, planes)), np.arange(n)
            delta, db = np.zeros_like(self.W), np.zeros(planes)
            total = batches.corrections(
                rule, block.rows, block.codes, block.weights, order, 0, n, self.bias, self.W,
                self.b, A, tally, self._wide(),
            )  # fmt: skip
            batches.apply(block.rows, order, 0, n, A, 1.0, self.bias, delta, db)
            return delta.astype(np.float64), db, tally, total

        delta, db, tally, total = problem.sum(
            part, lambda p, q: tuple(u + v for u, v in zip(p, q, strict=True))
        )
        self.tally[UPDATES:RUN] = tally[UPDATES:RUN]
        return delta, db, total

    def step(self, delta: Array, db: Array, eta: float, epoch: int, recorder: Trace | None) -> Pass:
        """Move by η times the direction, and close the pass."""
        self.moved = float(np.sqrt((delta**2).sum() + (db**2).sum()))
        self._short = None
        self.W += (eta * delta).astype(self.W.dtype)
        self.b += eta * db
        if self.keep == AVERAGE:
            self.sums += self.seen * eta * delta
            self.ub += self.seen * eta * db
        self.tally[SEEN] += 1
        if recorder is not None and self.tally[UPDATES]:
            w = self.by_class(self.W)
            recorder.update(1, epoch, None, NO_WEIGHTS, NO_WEIGHTS, w, self.b, self.plane)
        return self._close(epoch, eta)

    def line_search(self, problem: Problem, delta: Array, db: Array, margin: float) -> float:
        """The step that minimises the perceptron criterion along the direction, exactly."""
        s = self._signed(problem, problem.X @ self.by_class(self.W).T + self.b)
        ds = self._signed(problem, problem.X @ self.by_class(delta).T + db)
        weights = problem.weights
        if weights.size:
            weights = np.repeat(weights, s.shape[1])
        return best_step(s.ravel(), ds.ravel(), weights, margin)

    def _signed(self, problem: Problem, scores: Array) -> Array:
        """Signed scores, one column per question the rule asks of a row."""
        own = np.arange(problem.n_classes) == problem.codes[:, None]
        if problem.binary:
            return scores * np.where(own[:, 1:], 1.0, -1.0)
        gaps = scores[own][:, None] - scores
        return gaps[~own].reshape(len(scores), -1)

    def put_in_pocket(self, problem: Problem, epoch: int) -> None:
        """Keep this pass's longest-lived separator if it places more rows right than the best.

        Of rows that come in parts (epoch 0) it is the longest-lived of all: earlier parts are gone.
        """
        planes = len(self.b)
        W, b = self.W, self.b
        if self.tally[BEST] > self.tally[RUN]:
            W, b = self.best[:-planes].reshape(self.W.shape), self.best[-planes:]
            W = W.astype(self.W.dtype)
        mistakes = self.misplaced(problem, W, b)
        if epoch == 0 or self.pocket is None or mistakes < self.pocket[0]:
            self.pocket = mistakes, W.copy(), b.copy()
            self.life = self.tally[[BEST, RUN]].max()
        if epoch > 0:  # parts that follow a fit go on from its pocket
            self.best[:-planes], self.best[-planes:] = self.pocket[1].ravel(), self.pocket[2]
            self.tally[BEST] = self.life

    def misplaced(self, problem: Problem, W: Array, b: Array) -> float:
        """The weight of rows that these hyperplanes do not put strictly on their own side."""
        first = -1 if self.plane is None or self.binary else self.plane
        return problem.sum(
            lambda block: online.misplaced(
                block.rows, block.codes, block.weights, first, W, b, self._wide()
            ),
            lambda p, q: p + q,
        )

    def kept(self) -> tuple[Array, Array]:
        """The hyperplanes to keep, in this layout's own order."""
        W = self.W
        if self.keep == AVERAGE and self.seen:
            W = (self.W - self.sums / self.seen).astype(self.W.dtype)  # mean = w − u/T
        elif self.keep == POCKET and self.pocket is not None:
            W = self.pocket[1]
        return W, self.kept_biases()

    def hand_out(self, coef: Array, start: int, stop: int) -> None:
        """`kept` for some features, put into its place in the (K, d) weights of all classes."""
        first = self.plane or 0
        mine = coef[first : first + len(self.b)]
        averaging = self.keep == AVERAGE and self.seen > 0
        if self.sparse and self.keep != POCKET:
            means(self.W, self._U if averaging else NO_SUMS, self.seen, start, stop, mine)
            return
        W = self.pocket[1] if self.keep == POCKET and self.pocket is not None else self.W
        mine[:, start:stop] = self.by_class(W)[:, start:stop]
        if averaging:
            mine[:, start:stop] = W[:, start:stop] - self._U[:, start:stop] / self.seen

    def kept_biases(self) -> Array:
        """The biases that go with them."""
        if self.keep == AVERAGE and self.seen:
            return self.b - self.ub / self.seen
        if self.keep == POCKET and self.pocket is not None:
            return self.pocket[2]
        return self.b

    def by_class(self, W: Array) -> Array:
        """Weights as (K, d)."""
        return W[:, : len(self.b)].T if self.sparse else W

    def _wide(self) -> Array:
        """Room for the scores of a row, as wide as the layout's weights."""
        return aligned((self.W.shape[1] if self.sparse else len(self.b),), float)

    def _open(self, epoch: int) -> None:
        self.tally[[UPDATES, MISTAKES, LOSS]] = 0
        if epoch > 0:
            self.tally[RUN], self.tally[BEST] = 0, -1

    def _close(self, epoch: int, eta: float) -> Pass:
        t = self.tally
        return Pass(epoch, int(t[MISTAKES]), int(t[UPDATES]), float(t[LOSS]) / self.total, eta)

    def _record(self, recorder: Trace, before: float, epoch: int, start: int) -> None:
        one_row = self.tally[ROW] >= 0
        recorder.update(
            int(self.tally[STEPS] - before),
            epoch,
            start + int(self.tally[ROW]) if one_row else None,
            self.s if one_row else NO_WEIGHTS,
            self.a if one_row else NO_WEIGHTS,
            self.by_class(self.W),
            self.b,
            self.plane,
        )
