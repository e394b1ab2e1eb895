"""Least squares with weights that are not negative, by Lawson and Hanson's active sets."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from linsep.errors import ParameterError
from linsep.train.closed.minimum_norm import Line
from linsep.train.problem import Problem

Array = npt.NDArray[Any]


def nonnegative_line(problem: Problem, Y: Array, fit_intercept: bool) -> Line:
    """Minimise ½ Σ cᵢ (⟨w, xᵢ⟩ + b − yᵢ)² / Σ cᵢ over w ≥ 0, target by target."""
    if hasattr(problem.X, "tocsr"):
        raise ParameterError(
            "positive is True and X is sparse; weights that are not negative are found for dense "
            "rows. Give X.toarray()."
        )
    problem.settle()
    X = np.asarray(problem.X, np.float64)
    c = problem.weights if problem.weights.size else np.ones(len(X))
    share = c / c.sum()
    centre = share @ X if fit_intercept else np.zeros(X.shape[1])
    means = share @ Y if fit_intercept else np.zeros(Y.shape[1])
    root = np.sqrt(c)[:, None]
    triangle: Any = np.linalg.qr(
        np.column_stack([root * (X - centre), root * (Y - means)]), mode="r"
    )
    d = X.shape[1]
    weights = np.stack([nnls(triangle[:, :d], triangle[:, d + k])[0] for k in range(Y.shape[1])])
    left = Y - (X - centre) @ weights.T - means
    loss = 0.5 * float(share @ np.square(left).sum(axis=1))
    rank = int(np.linalg.matrix_rank(triangle[:, :d]))
    return Line(weights, means, centre, loss, rank)
