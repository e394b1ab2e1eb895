"""Classes that no row of any weight belongs to, as a resample may have of a rare one.

With a free intercept such a class has no optimum: its probability is to be zero, so that its score
falls without end. The others are fitted without it, whose objective is the limit, and it is placed
as low as probabilities can tell.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.learners.fitting.sklearn_compat import l1_share
from linsep.status import Status
from linsep.train.problem import Problem
from linsep.train.run.loop import Listener

Array = npt.NDArray[Any]

LOWEST = -float(np.log(np.finfo(np.float64).max))
"""The score of a class that never occurs: its exponential is the smallest that has all digits."""


def present_classes(problem: Problem) -> npt.NDArray[np.bool_]:
    """Which classes have a row of positive weight."""
    if not problem.weights.size:
        return np.ones(problem.n_classes, bool)
    return np.bincount(problem.codes, problem.weights, problem.n_classes) > 0


def train_present(learner: Any, problem: Problem, listeners: list[Listener]) -> Status:
    """`learner._train`, on the classes that have weight."""
    if not problem.weights.size:
        return learner._train(problem, listeners)  # type: ignore[no-any-return]
    present = present_classes(problem)
    if present.all() or not learner.fit_intercept:
        return learner._train(problem, listeners)  # type: ignore[no-any-return]
    if present.sum() == 1:
        problem.settle()
        return _only(learner, problem, int(np.argmax(present)))
    if learner._is_told:
        raise ParameterError(
            "offset, penalty_weights or bounds are given, and y has a class whose rows have no "
            "weight. Leave the rows out."
        )
    used = problem.weights > 0
    codes = (np.cumsum(present) - 1).astype(np.int32)[problem.codes[used]]
    count = int(present.sum())
    part = Problem(problem.X[used], codes, problem.weights[used], count, problem.n_jobs)
    part.halt, part.settle = problem.halt, problem.settle
    before = learner.classes_, learner.C, learner.l1_ratio
    ratio = l1_share(learner)
    share = _share(ratio) if count == 2 else 1.0
    learner.classes_ = learner.classes_[present]
    learner.C, learner.l1_ratio = learner.C / share, ratio / share
    try:
        status: Status = learner._train(part, listeners)
    finally:
        learner.classes_, learner.C, learner.l1_ratio = before
    learner.objective_ *= share
    learner._learned, learner._fitted_C = learner.classes_.tolist(), float(learner.C)
    _place(learner, present)
    return status


def _share(l1_ratio: float) -> float:
    """By what a pair of hyperplanes ±w/2 is penalised less than the one of two classes, w.

    ρ‖w‖₁ + (1 − ρ)/4 ‖w‖² is s times the penalty of w for the ratio ρ/s, with s = (1 + ρ)/2.
    """
    return (1.0 + float(l1_ratio)) / 2.0


def _place(learner: Any, present: npt.NDArray[np.bool_]) -> None:
    """Put the classes that were fitted among all of them, and the others below."""
    W, b = learner.coef_, learner.intercept_
    if len(W) == 1:  # sigmoid(s) is the softmax of (−s/2, s/2)
        W, b = np.vstack([-W, W]) / 2, np.concatenate([-b, b]) / 2
    learner.coef_ = np.zeros((len(present), W.shape[1]), W.dtype)
    learner.intercept_ = np.full(len(present), LOWEST, b.dtype)
    learner.coef_[present] = W
    learner.intercept_[present] = b - b.mean()


def _only(learner: Any, problem: Problem, k: int) -> Status:
    """One class has all the weight, and every row is of it."""
    planes = 1 if problem.binary else problem.n_classes
    learner.coef_ = np.zeros((planes, problem.n_features), problem.X.dtype)
    learner.intercept_ = np.full(planes, LOWEST, problem.X.dtype)
    if problem.binary:
        learner.intercept_ *= 1 if k == 0 else -1
    else:
        learner.intercept_[k] = 0.0
    learner.solver_, learner.n_iter_ = learner.solver, 0
    learner.objective_ = learner.gap_ = 0.0
    learner.proof_ = learner.diagnosis_ = None
    learner._learned, learner._fitted_C = learner.classes_.tolist(), float(learner.C)
    return Status.converged
