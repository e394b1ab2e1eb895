"""The result of every linear learner: hyperplanes, and what they say of new rows.

Needs neither the compiler nor scikit-learn.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class LinearModel(NamedTuple):
    """One hyperplane for two classes, one per class for more.

    Attributes
    ----------
    weights : (K, d) array, with K = 1 for two classes
    intercept : (K,) array
    classes : the labels, sorted; with two, the second is the positive one
    """

    weights: Array
    intercept: Array
    classes: Array

    def scores(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each row: a vector for two classes, a column per class for more."""
        s = np.asarray(X @ self.weights.T)
        s += self.intercept.astype(s.dtype, copy=False)
        return s.ravel() if s.shape[1] == 1 else s

    def labels(self, scores: Array) -> Array:
        """The class of each row. A score of exactly zero is positive; ties go to the first."""
        if scores.ndim == 1:
            return self.classes[(scores >= 0).astype(np.intp)]
        return self.classes[scores.argmax(axis=1)]

    def ranked(self, scores: Array) -> Array:
        """All classes for each row, best first."""
        if scores.ndim == 1:
            positive = (scores >= 0).astype(np.intp)
            return self.classes[np.stack([positive, 1 - positive], axis=1)]
        return self.classes[np.argsort(-scores, axis=1, kind="stable")]
