"""Least squares with bounds on weights, or a penalty of each, by active sets on a triangle."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import lsq_linear

from linsep.errors import ParameterError
from linsep.proofs.gap.moves import Told
from linsep.train.closed.minimum_norm import Line
from linsep.train.problem import Problem

Array = npt.NDArray[Any]

MOST = 1 << 24  # numbers in sparse rows up to which they are written out


def bounded_line(problem: Problem, Y: Array, fit_intercept: bool, told: Told) -> Line:
    """Minimise ½ Σ cᵢ (⟨w, xᵢ⟩ + b − yᵢ)² + ½ Σ pⱼwⱼ² over low ≤ w ≤ high, target by target.

    By Stark and Parker's active sets (*Bounded-variable least squares*, 1995) on the triangular
    factor of the rows, below which stand the roots of p.
    """
    problem.settle()
    X = problem.X
    if hasattr(X, "tocsr"):
        if X.shape[0] * X.shape[1] > MOST:
            raise ParameterError(
                f"X is sparse, with {X.shape[0]} x {X.shape[1]} numbers written out; bounds and "
                "penalty_weights are for rows that can be. LogisticRegression has them for any."
            )
        X = X.toarray()
    X = np.asarray(X, np.float64)
    c = problem.weights if problem.weights.size else np.ones(len(X))
    share, d = c / c.sum(), X.shape[1]
    centre = share @ X if fit_intercept else np.zeros(d)
    means = share @ Y if fit_intercept else np.zeros(Y.shape[1])
    root = np.sqrt(c)[:, None]
    triangle: Any = np.linalg.qr(
        np.column_stack([root * (X - centre), root * (Y - means)]), mode="r"
    )
    A = np.vstack([triangle[:, :d], np.diag(np.sqrt(told.weight))])
    right = np.vstack([triangle[:, d:], np.zeros((d, Y.shape[1]))])
    each = [_bounded(A, right[:, k], told.low[k], told.high[k]) for k in range(Y.shape[1])]
    weights = np.stack(each)
    left = Y - (X - centre) @ weights.T - means
    loss = 0.5 * float(share @ np.square(left).sum(axis=1))
    return Line(weights, means, centre, loss, int(np.linalg.matrix_rank(triangle[:, :d])))


def _bounded(A: Array, right: Array, low: Array, high: Array) -> Array:
    """The w between bounds with the least ‖Aw − right‖."""
    w, free = low.copy(), low < high
    if not free.any():
        return w
    size = np.sqrt(np.square(A[:, free]).sum(axis=0))  # columns of one length
    size[size == 0.0] = 1.0
    rest = right - A[:, ~free] @ w[~free]
    found = lsq_linear(
        A[:, free] / size, rest, (low[free] * size, high[free] * size), method="bvls", tol=1e-15,
        max_iter=50 * len(w),
    )  # fmt: skip
    w[free] = np.clip(found.x / size, low[free], high[free])
    at_low, at_high = found.active_mask < 0, found.active_mask > 0
    w[free] = np.where(at_low, low[free], np.where(at_high, high[free], w[free]))
    return w
