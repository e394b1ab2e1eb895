"""Rows that a fit does not learn from, to tell when further passes bring nothing."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError
from linsep.train.problem import Problem

Array = npt.NDArray[Any]


def divided(problem: Problem, share: float, seed: int) -> tuple[Problem, Problem]:
    """The rows to learn from and those held out: about `share` of each class, one at least."""
    codes = np.asarray(problem.codes)
    chance = np.random.default_rng(seed).random(len(codes))
    out = np.zeros(len(codes), bool)
    for k in range(problem.n_classes):
        own = np.flatnonzero(codes == k)
        if len(own) < 2:
            raise DataError(
                f"early_stopping=True holds out rows of each class, and a class has {len(own)} "
                "row. Give early_stopping=False, or more rows."
            )
        count = min(len(own) - 1, max(1, round(share * len(own))))
        out[own[np.argsort(chance[own], kind="stable")[:count]]] = True
    return _part(problem, ~out), _part(problem, out)


def _part(problem: Problem, rows: Array) -> Problem:
    weights = problem.weights[rows] if problem.weights.size else None
    part = Problem(problem.X[rows], problem.codes[rows], weights, problem.n_classes, problem.n_jobs)
    part.halt = problem.halt
    return part


def right(problem: Problem, W: Array, b: Array) -> float:
    """The share of rows, by weight, that hyperplanes place as their labels say."""
    S = np.asarray(problem.X @ W.T) + b
    codes = (S[:, 0] >= 0).astype(int) if len(W) == 1 else S.argmax(axis=1)
    weights = problem.weights if problem.weights.size else None
    return float(np.average(codes == problem.codes, weights=weights))
