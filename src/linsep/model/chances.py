"""Probabilities from scores, for the learners whose scores are log-odds."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def chances(scores: Array) -> Array:
    """The probability of each class: sigmoid of one score, or softmax of one for each class."""
    from scipy.special import expit, softmax

    if scores.ndim == 1:
        return np.stack([expit(-scores), expit(scores)], axis=1)
    return np.asarray(softmax(scores, axis=1))


def log_chances(scores: Array) -> Array:
    """Logarithms of the probabilities, exact where these would round to zero or one."""
    from scipy.special import log_expit, log_softmax

    if scores.ndim == 1:
        return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
    return np.asarray(log_softmax(scores, axis=1))
