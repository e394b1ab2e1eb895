"""Corrections by many rows at once: each sees the same weights, then all are applied."""

from typing import Any

import numpy as np

from linsep._compile import inline, kernel
from linsep.data.blocks.blocks import BLOCK
from linsep.rows.rows import add_to, scores
from linsep.train.online.averaging import NO_SUMS
from linsep.train.online.kernels import AVERAGE, LOSS, MISTAKES, ROW, SEEN, STEPS, UPDATES, correct
from linsep.train.online.method import Method
from linsep.train.online.trainer import Trainer
from linsep.train.run.loop import Pass
from linsep.train.run.trace import EVERY, Trace


@inline(shared=True)
def corrections(rule, rows, codes, weights, order, start, stop, bias, W, b, A, tally, wide):
    """Aₘ ← what row order[start + m] asks for, all rows seen by the same weights.

    Returns the total weight of the rows.
    """
    total = 0.0
    s = b.copy()
    for m in range(stop - start):
        i = order[start + m]
        scores(rows, i, W, wide)
        for k in range(b.shape[0]):
            s[k] = wide[k] + b[k]
        count, mistakes, cost = correct(rule, rows, i, codes[i], bias, 0.0, s, A[m])
        c = weights[i] if weights.shape[0] > 0 else 1.0
        if c != 1.0:
            for k in range(b.shape[0]):
                A[m, k] *= c
        total += c
        tally[UPDATES] += count if c > 0.0 else 0
        tally[MISTAKES] += mistakes if c > 0.0 else 0
        tally[LOSS] += c * cost
    return total


@inline(shared=True)
def apply(rows, order, start, stop, A, factor, bias, W, b):
    """wₖ ← wₖ + factor Σₘ Aₘₖ xₘ, and the intercepts likewise."""
    for m in range(stop - start):
        i = order[start + m]
        for k in range(b.shape[0]):
            if A[m, k] != 0.0:
                add_to(rows, i, factor * A[m, k], W, k)
                b[k] += factor * A[m, k] * bias


@kernel
def minibatches(
    rule, rows, codes, weights, order, start, limit, batch, mean, planes, kept, A, tally, wide
):
    """Correct by the sum (or mean) of each `batch` rows of order[start:]; stop after `limit` steps.

    Returns where it stopped.
    """
    W, b, bias = planes
    keep, U, ub, _ = kept
    steps = 0
    while start < order.shape[0]:
        stop = min(start + batch, order.shape[0])
        before = tally[UPDATES]
        total = corrections(
            rule, rows, codes, weights, order, start, stop, bias, W, b, A, tally, wide
        )
        if tally[UPDATES] > before:
            factor = 1.0 / total if mean else 1.0
            apply(rows, order, start, stop, A, factor, bias, W, b)
            if keep == AVERAGE:
                apply(rows, order, start, stop, A, factor * tally[SEEN], bias, U, ub)
            tally[ROW] = -1
            steps += 1
        tally[SEEN] += 1.0
        start = stop
        if steps == limit:
            break
    tally[STEPS] += steps
    return start


def minibatch_pass(
    trainer: Trainer, method: Method, problem: Any, epoch: int, trace: Trace | None
) -> Pass:
    """Correct after every few rows, by the sum or the mean of what they ask for."""
    trainer.open_pass(epoch)
    trainer.drop_weight_screen()
    rule, tally = method.rule_of(epoch), trainer.tally
    sums = NO_SUMS if trainer.average is None else trainer.average.sums
    A = np.zeros((min(method.batch_size, BLOCK), len(trainer.planes.b)))
    for block, order in problem.in_order(method.seed, epoch, method.shuffle):
        position = 0
        while position < len(order):
            before = tally[STEPS]
            limit = EVERY if trace is None else trace.wait()
            position = minibatches(
                rule, block.rows, block.codes, block.weights, order, position, limit,
                method.batch_size, method.mean, trainer.planes.given, trainer.kept_for(sums), A,
                tally, trainer.scratch.wide,
            )  # fmt: skip
            if trace is not None:
                trainer.record(trace, before, epoch, block.start)
    return trainer.close_pass(epoch, getattr(rule, "eta", 1.0))
