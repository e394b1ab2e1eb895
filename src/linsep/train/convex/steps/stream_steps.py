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

from linsep._compile import kernel
from linsep.data.blocks.blocks import BLOCK
from linsep.rows.radius import squares
from linsep.rows.rows import add_to, scores
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.steps.delta_rule import seen_through
from linsep.train.convex.steps.score_losses import ScoreLoss, pull
from linsep.train.convex.steps.standardise import raw_lens
from linsep.train.online.method import Schedule
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ROWS, WEIGHT, SUM, LONGEST, DUE, FOLDS, ETA = range(7)  # what the tally holds of the rows so far
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
        self.tally = np.zeros(7)

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self.tally[ROWS])

    def part_pass(self, problem: Problem, method: StreamMethod, trace: Trace | None) -> Pass:
        """One pass over rows that lie in one block of the stream, in their order."""
        size, d = method.batch_size, problem.n_features
        rows = seen_through(raw_lens(d), problem.rows)
        weights = problem.weights if problem.weights.size else np.ones(problem.n_rows)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = weights * (squares(problem.rows, problem.n_rows) + method.free)
            S = np.asarray(problem.X @ self.W.T) + self.b
            loss = float(weights @ method.loss.losses(S, problem.codes)) / weights.sum()
            wrong = method.loss.mistakes(S, problem.codes)
        shrinking = 0.0
        if method.schedule is not None:  # a pass of t is a block of rows here
            shrinking = method.schedule(1.0, 1 + int(self.tally[ROWS]) // BLOCK)
        every = max(1, d // (size * CHEAP)) if sp.issparse(problem.X) else 1
        settings = (
            size, method.eta0 or 0.0, shrinking or 1.0, method.loss.bend, method.C,
            *method.penalty[:2], every, float(method.free),
        )  # fmt: skip
        s, pulls = np.zeros(len(self.b)), np.zeros((size, len(self.b)))
        start, made = 0, 0
        while start < problem.n_rows:
            stop = problem.n_rows if trace is None else min(start + size * trace.wait(), len(S))
            stream_folds(
                rows, method.loss, problem.codes, weights, lengths, start, stop, settings,
                self.W, self.b, s, pulls, self.tally,
            )  # fmt: skip
            steps = -(-(stop - start) // size)
            if trace is not None:
                row = int(self.tally[ROWS]) - 1 - method.before if size == 1 else None
                step = self.tally[ETA] * pulls[(stop - start - 1) % size]
                trace.update(steps, 0, row, s, step, *self.kept(method))
            start, made = stop, made + steps
        return Pass(0, wrong, made, loss, float(self.tally[ETA]))

    def kept(self, method: StreamMethod) -> tuple[Floats, Floats]:
        """Weights and intercepts, with what the penalty still has to do to the former."""
        W, due = self.W, self.tally[DUE]
        if due > 0.0:
            W = np.copysign(np.maximum(np.abs(W) - due * method.penalty.l1, 0.0), W)
            W = W / (1.0 + due * method.penalty.l2)
        return W.copy(), self.b.copy()


@kernel
def stream_folds(  # type: ignore[no-untyped-def]
    rows, loss, codes, weights, lengths, first, last, settings, W, b, s, pulls, tally
):
    """Steps of η (1/B) Σ c·pull·(x, 1) over folds of B rows, each with the rows so far in view."""
    size, eta0, shrinking, bend, C, l1, l2, every, free = settings
    for start in range(first, last, size):
        stop = min(start + size, last)
        for i in range(start, stop):
            scores(rows, i, W, s)
            for k in range(len(s)):
                s[k] += b[k]
            pull(loss, s, codes[i], pulls[i - start])
            tally[ROWS] += 1.0
            tally[WEIGHT] += weights[i]
            tally[SUM] += lengths[i]
            tally[LONGEST] = max(tally[LONGEST], lengths[i])
        eta = eta0
        if eta0 == 0.0:
            steep = bend * (tally[SUM] / tally[ROWS] + tally[LONGEST] / size)
            eta = 1.0 / steep if 0.0 < steep < np.inf else 1.0
        eta *= shrinking
        tally[ETA] = eta
        for i in range(start, stop):
            step = eta / size * weights[i]
            for k in range(len(s)):
                a = step * pulls[i - start, k]  # η(t − σ)
                if a != 0.0:
                    add_to(rows, i, a, W, k)
                    b[k] += a * free
        tally[FOLDS] += 1.0
        if not np.isinf(C):
            tally[DUE] += eta / (C * tally[WEIGHT])
            if tally[FOLDS] % every == 0:  # taken implicitly: stable for any step
                for k in range(W.shape[0]):
                    for j in range(W.shape[1]):
                        a = abs(W[k, j]) - tally[DUE] * l1
                        W[k, j] = np.copysign(max(a, 0.0), W[k, j]) / (1.0 + tally[DUE] * l2)
                tally[DUE] = 0.0
