"""The result of every linear learner: hyperplanes, and what they say of new rows.

Needs neither the compiler nor scikit-learn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


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


def labels(scores: Array, classes: Array) -> Array:
    """The class of each row. A score of exactly zero is positive; ties go to the first."""
    return classes[places(scores)]


def places(scores: Array) -> Array:
    """The place of each row's class among the classes."""
    if scores.ndim == 1:
        return (scores >= 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


def ranked(scores: Array, classes: Array) -> Array:
    """All classes for each row, best first."""
    if scores.ndim == 1:
        positive = (scores >= 0).astype(np.intp)
        return classes[np.stack([positive, 1 - positive], axis=1)]
    return classes[np.argsort(-scores, axis=1, kind="stable")]
