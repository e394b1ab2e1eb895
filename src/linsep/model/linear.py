"""The result of every linear learner: hyperplanes, and what they say of new rows.

Does not need scikit-learn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FIRST_AT_ZERO = (
    "LinearDiscriminantAnalysis", "LinearSVC", "LogisticRegression", "OrdinalRegression",
)  # fmt: skip
"""Learners for which a score of exactly zero means the first of two classes, as in scikit-learn and
as the likeliest class says. For all others it means the second, as in the lectures."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """One hyperplane for two classes, one per class for more.

    Attributes
    ----------
    weights : (K, d) array, with K = 1 for two classes
    intercept : (K,) array
    """

    weights: Array
    intercept: Array

    def scores(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each row: a vector for two classes, a column per class for more."""
        s = np.asarray(X @ np.ascontiguousarray(self.weights).T)
        s += self.intercept.astype(s.dtype, copy=False)
        return s.ravel() if s.shape[1] == 1 else s


def labels(scores: Array, classes: Array, first_at_zero: bool) -> Array:
    """The class of each row; of several classes with the same score, the first."""
    return classes[places(scores, first_at_zero)]


def places(scores: Array, first_at_zero: bool) -> Array:
    """The place of each row's class among the classes."""
    if scores.ndim == 1:
        return (scores > 0 if first_at_zero else scores >= 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


def ranked(scores: Array, classes: Array, first_at_zero: bool) -> Array:
    """All classes for each row, best first."""
    if scores.ndim == 1:
        best = places(scores, first_at_zero)
        return classes[np.stack([best, 1 - best], axis=1)]
    return classes[np.argsort(-scores, axis=1, kind="stable")]
