"""Corrections by many rows at once: each sees the same weights, then all are applied."""

from typing import Any

import numpy as np

from linsep.data.blocks.blocks import BLOCK
from linsep.kernels import online
from linsep.train.online.method import Method
from linsep.train.online.tally import STEPS
from linsep.train.online.trainer import Trainer
from linsep.train.run.loop import Pass
from linsep.train.run.trace import EVERY, Trace


def minibatch_pass(
    trainer: Trainer, method: Method, problem: Any, epoch: int, trace: Trace | None
) -> Pass:
    """Correct after every few rows, by the sum or the mean of what they ask for."""
    trainer.open_pass(epoch)
    rule, tally = method.rule_of(epoch), trainer.tally
    A = np.zeros((min(method.batch_size, BLOCK), len(trainer.planes.b)))
    for block, order in problem.in_order(method.seed, epoch, method.shuffle):
        position = 0
        while position < len(order):
            before = tally[STEPS]
            limit = EVERY if trace is None else trace.wait()
            position = online.minibatches(
                rule, block.rows, block.codes, block.weights, order, position, limit,
                method.batch_size, method.mean, trainer.planes.given, trainer.kept_beside(), A,
                tally,
            )  # fmt: skip
            if trace is not None:
                trainer.record(trace, before, epoch, block.start)
    return trainer.close_pass(epoch, getattr(rule, "eta", 1.0))
