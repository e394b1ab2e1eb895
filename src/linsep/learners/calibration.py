"""Probabilities for a machine that has only scores, by cross-fitting."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import NotConverged
from linsep.rows.row_hash import row_hashes
from linsep.train.problem import Problem

Array = npt.NDArray[Any]


def cross_fitted(learner: Any, problem: Problem) -> Array:
    """Platt's a and b of each hyperplane, (K, 2), from scores of rows that were left out.

    Five machines are fitted, each without one fold, and score that fold. A class with only one
    distinct row cannot be left out: then the learner's own scores stand in, which are too sure.
    """
    from sklearn.base import clone

    from linsep.learners.platt import fit_sigmoid, folds

    n, weights = problem.n_rows, problem.weights
    c = weights if weights.size else np.ones(n)
    counts = c > 0
    fold = np.full(n, -1)
    fold[counts] = folds(row_hashes(problem.X)[counts], problem.codes[counts])
    planes = len(learner.coef_)
    S = np.asarray(learner._form().scores(problem.X), np.float64).reshape(n, planes)
    spread = [np.unique(fold[counts & (problem.codes == k)]) for k in range(problem.n_classes)]
    plain = clone(learner).set_params(
        probability=False, class_weight=None, callback=None, verbose=False, trace=False,
        warm_start=False,
    )  # fmt: skip
    present = np.flatnonzero([len(one) > 0 for one in spread])
    if len(present) > 1 and min(len(spread[k]) for k in present) > 1:
        for k in np.unique(fold[counts]):
            out = fold == k
            fit = counts & ~out
            with warnings.catch_warnings(action="ignore", category=NotConverged):
                plain.fit(problem.X[fit], problem.codes[fit], c[fit] if weights.size else None)
            scores = np.asarray(plain.decision_function(problem.X[out]))
            if planes > 1 and scores.ndim == 1:  # two of several classes have weight
                scores = np.stack([-scores, scores], axis=1)
            S[np.ix_(out, present if planes > 1 else [0])] = scores.reshape(len(scores), -1)
    own = np.arange(problem.n_classes) if planes > 1 else np.ones(1, int)
    return np.stack([
        fit_sigmoid(S[counts, p], problem.codes[counts] == own[p], c[counts])
        for p in range(planes)
    ])  # fmt: skip
