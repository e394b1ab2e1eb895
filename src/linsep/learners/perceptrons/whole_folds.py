"""Minibatches of rows that come in parts, cut where one pass over all rows would cut them.

The last minibatch of a part may be short of rows. The model returned has learned from it as it is;
when more rows come, that step is taken back, and taken again with the rows that were missing. So
the model does not depend on how the rows were cut into parts.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.train.online.method import Method
from linsep.train.online.solver import OnlineSolver
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]


class ShortFold(NamedTuple):
    """Rows of a minibatch that is short of some, and the solver as it was before their step."""

    rows: Problem
    solver: OnlineSolver
    made: Pass


class WholeFolds:
    """The rows of a stream, handed to a solver in the minibatches of one pass over them all."""

    def __init__(self) -> None:
        self.settled = 0  # rows whose minibatch is whole
        self.short: ShortFold | None = None

    def part_pass(
        self, solver: OnlineSolver, problem: Problem, method: Method, trace: Trace | None
    ) -> tuple[OnlineSolver, Pass]:
        """Learn from a part of the rows. Returns the solver to go on with, and what was done."""
        passes: list[tuple[Pass, float]] = []  # what was done, and the weight of the rows
        if self.short is not None:
            solver = self.short.solver
            passes.append((_undone(self.short.made), -_weights(self.short.rows).sum()))
            problem = _joined(self.short.rows, problem)
            self.short = None
        start = 0
        while start < problem.n_rows:
            block = BLOCK - self.settled % BLOCK  # a block of rows ends its last minibatch
            stop = min(start + block, problem.n_rows)
            whole = stop if stop - start == block else stop - (stop - start) % method.batch_size
            if whole > start:
                rows = _cut(problem, start, whole)
                passes.append((solver.part_pass(rows, method, trace), _weights(rows).sum()))
                self.settled += whole - start
            if whole < stop:
                rows, earlier = _cut(problem, whole, stop), deepcopy(solver)
                made = solver.part_pass(_cut(problem, whole, stop), method, None)
                passes.append((made, _weights(rows).sum()))
                self.short = ShortFold(rows, earlier, made)
            start = stop
        return solver, _together(passes)


def _cut(problem: Problem, start: int, stop: int) -> Problem:
    """Rows start..stop by themselves, in memory of their own."""
    X = problem.X[start:stop].copy()
    weights = problem.weights[start:stop].copy() if problem.weights.size else None
    part = Problem(X, problem.codes[start:stop].copy(), weights, problem.n_classes, problem.n_jobs)
    part.halt = problem.halt
    return part


def _joined(first: Problem, second: Problem) -> Problem:
    """The rows of both, in the layout of the second."""
    if sp.issparse(second.X):
        X = sp.vstack([sp.csr_array(first.X), sp.csr_array(second.X)], format="csr")
    else:
        dense = first.X.toarray() if sp.issparse(first.X) else first.X
        X = np.concatenate([dense, second.X])
    weights = None
    if first.weights.size or second.weights.size:
        weights = np.concatenate([_weights(first), _weights(second)])
    codes = np.concatenate([first.codes, second.codes])
    both = Problem(X, codes, weights, second.n_classes, second.n_jobs)
    both.halt = second.halt
    return both


def _weights(problem: Problem) -> Array:
    return problem.weights if problem.weights.size else np.ones(problem.n_rows)


def _undone(made: Pass) -> Pass:
    """What was told of a step that is taken back."""
    return replace(made, mistakes=-made.mistakes, updates=-made.updates)


def _together(passes: list[tuple[Pass, float]]) -> Pass:
    """What the passes did, with the mean loss of the rows that are new."""
    weight = sum(w for _, w in passes)
    loss = sum(w * made.loss for made, w in passes)
    return Pass(
        0,
        sum(made.mistakes for made, _ in passes),
        sum(made.updates for made, _ in passes),
        loss / weight if weight > 0 else 0.0,
        passes[-1][0].eta,
    )
