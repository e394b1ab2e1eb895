"""Steps by single rows or small folds over rows that come once, and in parts.

Nothing about the rows to come is known: neither how long they are nor how many. So both the step
and the penalty's share follow the rows so far, each counted as it is met:

    η = 1/(bend · (mean cᵢ‖x̃ᵢ‖² + max cᵢ‖x̃ᵢ‖²/B))    unless it is given; x̃ = (x, 1)
    λ = 1/(C Σ cᵢ)

Where the parts are cut is in neither, which is why it does not change the weights.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.rows.radius import squares
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.steps.score_losses import ScoreLoss
from linsep.train.convex.steps.standardise import raw_lens
from linsep.train.online.method import Schedule
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ROWS, WEIGHT, SUM, LONGEST, ETA = range(5)  # what the tally holds of the rows so far
CHEAP = 64  # weights that may be touched for a row, beside its own, by the penalty


class StreamMethod(NamedTuple):
    """The parameters of a learner that steps, as what a part does."""

    loss: ScoreLoss
    penalty: Elastic
    C: float
    free: bool
    batch_size: int
    eta0: float | None  # None: by the rows so far
    schedule: Schedule | None
    before: int  # rows of the parts before, for the numbers in a trace


class StreamSteps:
    """Weights under way, and what is known of the rows so far."""

    def __init__(self, W: Array, b: Array) -> None:
        self.W, self.b = np.array(W, np.float64), np.array(b, np.float64)
        self.tally = np.zeros(5)
        self.clock = np.zeros(2)  # folds so far, and what is due of the penalty

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self.tally[ROWS])

    def part_pass(self, problem: Problem, method: StreamMethod, trace: Trace | None) -> Pass:
        """One pass over rows that lie in one block of the stream, in their order."""
        size, d, K = method.batch_size, problem.n_features, len(self.b)
        weights = problem.weights if problem.weights.size else np.ones(problem.n_rows)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = weights * (squares(problem.rows, problem.n_rows) + method.free)
            S = np.asarray(problem.X @ self.W.T) + self.b
            loss = float(weights @ method.loss.losses(S, problem.codes)) / weights.sum()
            wrong = method.loss.mistakes(S, problem.codes)
            eta, due = self._paces(method, weights, lengths)
        every = max(1, d // (size * CHEAP)) if sp.issparse(problem.X) else 1
        lens, penalty = tuple(raw_lens(d)), method.penalty
        decay = np.full(d, penalty.l1), np.full(d, penalty.l2)
        targets, order = method.loss.signs(problem.codes, K), np.arange(problem.n_rows)
        seen = np.zeros(K), np.zeros((size, K)), np.empty((0, 0)), self.clock
        planes, room, start, made = (self.W, self.b, method.free), np.empty(d), 0, 0
        before = int(self.tally[ROWS]) - method.before
        while start < problem.n_rows:
            stop = problem.n_rows if trace is None else min(start + size * trace.wait(), len(S))
            steps = -(-(stop - start) // size)
            pace = eta[made : made + steps], due[made : made + steps], every
            method.loss.steps(
                problem.rows, lens, (targets, weights, order[start:stop]), size, pace, decay,
                planes, seen, room,
            )  # fmt: skip
            made += steps
            if trace is not None:
                row = before + stop - 1 if size == 1 else None
                step = eta[made - 1] * seen[1][(stop - start - 1) % size]
                trace.update(steps, 0, row, seen[0], step, *self.kept(method))
            start = stop
        self._count(weights, lengths, eta)
        return Pass(0, wrong, made, loss, float(self.tally[ETA]))

    def _paces(self, method: StreamMethod, c: Floats, lengths: Floats) -> tuple[Floats, Floats]:
        """η of each fold and what it makes due of the penalty, each by the rows so far."""
        size, tally = method.batch_size, self.tally
        ends = np.minimum(np.arange(size, len(c) + size, size), len(c))
        rows, weight = tally[ROWS] + ends, _running(tally[WEIGHT], c)[ends]
        if method.eta0 is None:
            longest = np.maximum.accumulate(np.append(tally[LONGEST], lengths))[ends]
            mean = _running(tally[SUM], lengths)[ends] / rows
            steep = method.loss.bend * (mean + longest / size)
            eta = np.divide(
                1.0, steep, out=np.ones(len(ends)), where=(steep > 0) & (steep < np.inf)
            )
        else:
            eta = np.full(len(ends), method.eta0)
        if method.schedule is not None:  # a pass of t is a block of rows here
            eta *= method.schedule(1.0, 1 + int(tally[ROWS]) // BLOCK)
        return eta, eta / (method.C * weight)

    def _count(self, c: Floats, lengths: Floats, eta: Floats) -> None:
        tally = self.tally
        tally[ROWS] += len(c)
        tally[WEIGHT], tally[SUM] = (
            _running(tally[WEIGHT], c)[-1],
            _running(tally[SUM], lengths)[-1],
        )
        tally[LONGEST], tally[ETA] = max(tally[LONGEST], lengths.max()), eta[-1]

    def kept(self, method: StreamMethod) -> tuple[Floats, Floats]:
        """Weights and intercepts, with what the penalty still has to do to the former."""
        W, due = self.W, self.clock[1]
        if due > 0.0:
            W = np.copysign(np.maximum(np.abs(W) - due * method.penalty.l1, 0.0), W)
            W = W / (1.0 + due * method.penalty.l2)
        return W.copy(), self.b.copy()


def _running(before: float, values: Floats) -> Floats:
    """Sums so far, one value after the other."""
    return np.cumsum(np.append(before, values))
