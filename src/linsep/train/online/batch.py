"""The batch perceptron: one step a pass, by all wrongly placed rows together."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from linsep.kernels import online
from linsep.train.online.hyperplanes import Planes
from linsep.train.online.line_search import exact_step
from linsep.train.online.method import Method
from linsep.train.online.rules import Rosenblatt, Rule
from linsep.train.online.tally import NOTHING, RUN, SEEN, TALLY, UPDATES
from linsep.train.online.trainer import Trainer
from linsep.train.problem import Block, Problem
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]


def batch_pass(
    trainer: Trainer, method: Method, problem: Problem, epoch: int, trace: Trace | None
) -> Pass:
    """Correct after all rows, by the sum or the mean of what they ask for."""
    trainer.open_pass(1)
    planes, rule = trainer.planes, cast(Rosenblatt, method.rule_of(epoch))
    delta, db, total = direction(trainer, rule._replace(eta=1.0), problem)
    if method.mean:
        delta, db = delta / total, db / total
    eta = rule.eta
    if method.schedule is None:
        eta = max(eta, exact_step(problem, planes, delta, db, method.margin))
    trainer.moved = float(np.sqrt((delta**2).sum() + (db**2).sum()))
    planes.W += (eta * delta).astype(planes.W.dtype)
    planes.b += eta * db
    if trainer.average is not None:
        trainer.average.move(trainer.seen * eta, delta, db)
    trainer.tally[SEEN] += 1
    if trace is not None and trainer.tally[UPDATES]:
        w = planes.by_class(planes.W)
        trace.update(1, epoch, None, NOTHING, NOTHING, w, planes.b, trainer.first)
    return trainer.close_pass(epoch, eta)


def direction(trainer: Trainer, rule: Rule, problem: Problem) -> tuple[Array, Array, float]:
    """What all wrongly placed rows ask for together: Σ yᵢ(xᵢ, 1), and the total weight."""
    planes = trainer.planes.given
    W, b, bias = planes

    def part(block: Block) -> tuple[Array, Array, Array, float]:
        n = len(block.codes)
        tally, A, order = np.zeros(TALLY), np.zeros((n, len(b))), np.arange(n)
        delta, db = np.zeros_like(W), np.zeros(len(b))
        total = online.corrections(
            rule, block.rows, block.codes, block.weights, order, 0, n, planes, A, tally
        )
        online.apply(block.rows, order, 0, n, A, 1.0, Planes(delta, db, bias))
        return delta.astype(np.float64), db, tally, total

    delta, db, tally, total = problem.sum(
        part, lambda p, q: tuple(u + v for u, v in zip(p, q, strict=True))
    )
    trainer.tally[UPDATES:RUN] = tally[UPDATES:RUN]
    return delta, db, total
