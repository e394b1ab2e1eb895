"""The perceptron family on a cluster, by iterative parameter mixing.

Shards of the rows are trained apart, each by one serial pass from the same weights; then these are
mixed, and the next pass begins:

    w ← Σ μₛ wₛ,   μₛ = kₛ / Σ kₛ with kₛ the corrections of shard s.

That is another algorithm than the serial one, with a guarantee of the same kind (McDonald, Hall and
Mann, *Distributed training strategies for the structured perceptron*, 2010, theorem 3): where a
separator of margin γ exists and rows are no longer than R, Σ over passes and shards of μₛkₛ is at
most R²/γ². Shards are 32,768 rows each, counted from the first, so that neither the workers nor
the user's partitions change the result; rows of one shard are trained as by the serial rule.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.errors import ParameterError
from linsep.parallel import tree_sum
from linsep.status import Status
from linsep.train.online.hyperplanes import initial_weights
from linsep.train.online.solver import OnlineSolver
from linsep.train.order import seed_of
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener, Pass, run

Array = npt.NDArray[Any]

SHARD = 8 * BLOCK
"""Rows that are trained together in one pass."""


def check(learner: Any, checkpoint: Any) -> None:
    """Refuse what cannot be trained in shards."""
    if getattr(learner, "rule", "online") != "online" or learner.keep != "last" or learner.trace:
        raise ParameterError(
            f"{type(learner).__name__} on a cluster mixes the weights of shards, which is for "
            "rule='online', keep='last' and no trace; use these, or fit(..., in_order=True), which "
            "trains serially on a copy of the rows."
        )
    if checkpoint is not None:
        raise ParameterError(
            f"{type(learner).__name__} on a cluster keeps no checkpoint while it mixes the weights "
            "of shards; leave checkpoint out, or fit(..., in_order=True)."
        )
    if getattr(learner, "bias_step", "unit") == "radius" or getattr(learner, "warm_start", False):
        raise ParameterError(
            f"{type(learner).__name__} on a cluster knows no bias_step='radius' and no warm_start; "
            "leave them out, or fit(..., in_order=True)."
        )


class Shard:
    """One pass of the serial rule over the rows of a shard, run by the worker that has them."""

    def __init__(self, problem: Problem, learner: Any, method: Any, bias: float) -> None:
        self.X, self.codes, self.weights = problem.X, problem._codes, problem.weights
        self.n_classes, self.method, self.bias = problem.n_classes, method, bias
        self.kesler = learner.multiclass == "kesler"
        self.W: Array = np.empty(0)
        self.b: Array = np.empty(0)
        self.epoch = 0

    def __call__(self, start: int) -> tuple[Array, Array, int, int, float]:
        rows = slice(start, min(len(self.X), start + SHARD))
        weights = self.weights[rows] if self.weights.size else None
        problem = Problem(self.X[rows], self.codes[rows], weights, self.n_classes, 1)
        solver = OnlineSolver(problem, "last", self.bias, self.kesler, True)
        solver.start_at(self.W, self.b)
        done = solver.one_pass(problem, self.method, None, self.epoch)
        W, b = solver.now()
        return W, b, done.updates, done.mistakes, done.loss * (problem.n_rows / len(self.X))


def train(learner: Any, problem: Problem, listeners: list[Listener]) -> Status:
    """Fit a perceptron or a passive-aggressive learner on the shards of a cluster's rows."""
    method = learner._method(seed_of(learner.random_state), learner.shuffle)
    step = getattr(learner, "bias_step", "unit")
    square = 1.0 if step == "unit" else float(step) ** 2
    bias = square if learner.fit_intercept else 0.0
    shard = Shard(problem, learner, method, bias)
    planes = 1 if problem.binary else problem.n_classes
    shard.W = np.zeros((planes, problem.n_features), problem.X.dtype)
    shard.b = np.zeros(planes)
    if getattr(learner, "init", None) is not None:
        shard.W, shard.b = initial_weights(learner.init, planes, problem.n_features)
    starts = range(0, problem.n_rows, SHARD)
    learner.mixed_, learner.mistakes_, learner.mistakes_per_epoch_ = 0.0, 0, []

    def one_pass(number: int) -> Pass:
        shard.epoch = number
        parts = list(problem.X.in_order(shard, starts))
        corrections = np.array([part[2] for part in parts], np.float64)
        if corrections.any():
            share = corrections / corrections.sum()
            learner.mixed_ += float(share @ corrections)
            shard.W = _mixed(share, [part[0] for part in parts])
            shard.b = _mixed(share, [part[1] for part in parts])
        mistakes = sum(part[3] for part in parts)
        loss = sum(part[4] for part in parts)
        return Pass(number, mistakes, int(corrections.sum()), loss)

    def ending(done: Pass) -> Status | None:
        if done.updates == 0:
            return Status.mixed
        if hasattr(learner, "rule"):
            few = learner.tol > 0 and done.mistakes <= learner.tol * problem.n_rows
            return Status.converged if few else None
        return Status.converged if learner._waited(done) else None  # the loss falls no more

    def publish() -> None:
        learner.coef_ = np.asarray(shard.W, problem.X.dtype)
        learner.intercept_ = np.asarray(shard.b, problem.X.dtype)
        learner.n_iter_ = len(learner.mistakes_per_epoch_)

    learner.proof_ = None
    status = run(one_pass, ending, learner.max_iter, listeners, publish, learner._count)
    publish()
    return Status.mixing if status is Status.budget else status


def _mixed(share: Array, parts: list[Array]) -> Array:
    """Σ μₛ wₛ along the fixed tree; one shard's weights as they are."""
    chosen = [(m, w) for m, w in zip(share.tolist(), parts, strict=True) if m > 0]
    if len(chosen) == 1:
        return chosen[0][1]
    return np.asarray(tree_sum((m * w for m, w in chosen), np.add), parts[0].dtype)
