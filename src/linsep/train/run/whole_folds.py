"""Minibatches of rows that come in parts, cut where one pass over all rows would cut them.

The last minibatch of a part may be short of rows. The model returned has learned from it as it is;
when more rows come, that step is taken back, and taken again with the rows that were missing. So
the model does not depend on how the rows were cut into parts.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.train.problem import Problem
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]


class Method(Protocol):
    """What is done in a pass, as far as it matters here."""

    @property
    def batch_size(self) -> int:
        """Rows in a minibatch."""


class Solver(Protocol):
    """Whatever learns from some rows, and can be copied."""

    def part_pass(self, problem: Problem, method: Any, trace: Trace | None) -> Pass:
        """Learn from these rows once, in their order."""


S = TypeVar("S", bound=Solver)


class FoldRows(NamedTuple):
    """Some rows with their classes and weights, and nothing that could not be pickled."""

    X: Any
    codes: Array
    weights: Array

    @classmethod
    def cut(cls, problem: Problem, start: int, stop: int) -> Self:
        """Rows start..stop of a problem, in memory of their own."""
        return cls(
            problem.X[start:stop].copy(),
            problem.codes[start:stop].copy(),
            _weights(problem)[start:stop].copy(),
        )

    def as_problem(self, like: Problem) -> Problem:
        """The rows as a problem by themselves."""
        weights = self.weights if like.weights.size else None
        part = Problem(self.X, self.codes, weights, like.n_classes, like.n_jobs)
        part.halt = like.halt
        return part

    def before(self, problem: Problem) -> Problem:
        """These rows and then those of the problem, in the layout of the problem."""
        if sp.issparse(problem.X):
            X = sp.vstack([sp.csr_array(self.X), sp.csr_array(problem.X)], format="csr")
        else:
            dense = self.X.toarray() if sp.issparse(self.X) else self.X
            X = np.concatenate([dense, problem.X])
        weights = None
        if problem.weights.size or (self.weights != 1.0).any():
            weights = np.concatenate([self.weights, _weights(problem)])
        codes = np.concatenate([self.codes, problem.codes])
        both = Problem(X, codes, weights, problem.n_classes, problem.n_jobs)
        both.halt = problem.halt
        return both


class ShortFold(NamedTuple, Generic[S]):
    """Rows of a minibatch that is short of some, and the solver as it was before their step."""

    rows: FoldRows
    solver: S
    made: Pass


class WholeFolds(Generic[S]):
    """The rows of a stream, handed to a solver in the minibatches of one pass over them all."""

    def __init__(self) -> None:
        self.settled = 0  # rows whose minibatch is whole
        self.short: ShortFold[S] | None = None

    def part_pass(
        self, solver: S, problem: Problem, method: Method, trace: Trace | None
    ) -> tuple[S, Pass]:
        """Learn from a part of the rows. Returns the solver to go on with, and what was done."""
        passes: list[tuple[Pass, float]] = []  # what was done, and the weight of the rows
        if self.short is not None:
            solver = self.short.solver
            passes.append((_undone(self.short.made), -float(self.short.rows.weights.sum())))
            problem = self.short.rows.before(problem)
            self.short = None
        start = 0
        while start < problem.n_rows:
            block = BLOCK - self.settled % BLOCK  # a block of rows ends its last minibatch
            stop = min(start + block, problem.n_rows)
            whole = stop if stop - start == block else stop - (stop - start) % method.batch_size
            if whole > start:
                rows = FoldRows.cut(problem, start, whole)
                made = solver.part_pass(rows.as_problem(problem), method, trace)
                passes.append((made, float(rows.weights.sum())))
                self.settled += whole - start
            if whole < stop:
                rows, earlier = FoldRows.cut(problem, whole, stop), deepcopy(solver)
                made = solver.part_pass(rows.as_problem(problem), method, None)
                passes.append((made, float(rows.weights.sum())))
                self.short = ShortFold(rows, earlier, made)
            start = stop
        return solver, _together(passes)


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
