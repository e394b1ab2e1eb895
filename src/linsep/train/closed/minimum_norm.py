"""The shortest weights through fewer rows than columns, from the products of the rows.

With Z the rows about their mean, times the roots of their weights, they are a = Z⁺y (`row_axes`):
a matrix as large as the rows are many, however wide they are.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.train.closed.centred_rows import CentredRows, sparse_rows
from linsep.train.closed.frame import power
from linsep.train.closed.moments import Floats, Moments, moments
from linsep.train.closed.row_axes import LostDigitsError, row_axes
from linsep.train.problem import Problem

MOST = 4000  # rows whose products are made
UNEVEN = 40  # powers of two between the spreads of two columns


class Line(NamedTuple):
    """Slopes and intercept about a centre, all in the units of the data.

    Attributes
    ----------
    weights : (t, d)
    at_centre : (t,) prediction at the centre
    centre : (d,)
    loss : ½ mean squared error
    rank : directions of the columns that have spread of their own; None where nobody counted
    intercept : (t,) prediction at zero, or None where it is at_centre − ⟨w, centre⟩
    """

    weights: Floats
    at_centre: Floats
    centre: Floats
    loss: float
    rank: int | None
    intercept: Floats | None = None


@np.errstate(all="ignore")
def minimum_norm(problem: Problem, Y: Floats, fit_intercept: bool) -> Line | None:
    """The shortest weights; None where rows are too many, or lose too many digits."""
    weights = problem.weights if problem.weights.size else np.ones(problem.n_rows)
    if not 0 < problem.n_rows <= MOST:
        return None
    total, level = math.fsum(weights), np.zeros(Y.shape[1])
    if fit_intercept:
        level = Y[0] + weights @ (Y - Y[0]) / total
    roots = np.sqrt(weights / total)
    rows, squares, centre, rounding = _rows(problem, roots, fit_intercept)
    spread = np.sqrt(squares)
    filled = spread[spread != 0]
    hidden = ~(filled > 1e3 * rounding[spread != 0])
    if hidden.any() or not len(filled) or not filled.max() <= 2.0**UNEVEN * filled.min() < np.inf:
        return None
    T = roots[:, None] * (Y - level)
    try:
        axes = row_axes(np.ones(len(spread)), rounding, rows, 0.0, 0.0, problem.n_jobs)
        found = axes.shortest(T)
    except LostDigitsError:
        return None
    loss = float(np.square(T - rows.dot(found)).sum()) / 2
    return Line(found, level, centre, loss, axes.rank)


def _rows(
    problem: Problem, roots: Floats, free: bool
) -> tuple[CentredRows, Floats, Floats, Floats]:
    """The rows about their mean or as they are, Σ z² of each column, that mean, and rounding."""
    X, unit = problem.X, float(np.finfo(problem.X.dtype).eps) / 2
    if sp.issparse(X):
        sums = moments(problem, scatter=False)
        frame = sums.frame
        if not free:
            zero = np.zeros_like(frame.means)
            sums = Moments(frame._replace(means=zero), zero[0], zero, zero, None)
        scale = power(frame.exponents)
        rows, squares = sparse_rows(problem, sums)
        mean = scale * (sums.centre + sums.offsets[0])
        return rows.times(scale), np.square(scale) * squares, mean, unit * scale * frame.top
    first, mean = np.asarray(X[0], np.float64), np.zeros(X.shape[1])
    if free:  # the mean of a constant column is its own number, to the last digit
        mean = first + np.square(roots) @ (X - first)
    Z = (X - mean) * roots[:, None]
    top = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    return CentredRows(Z, slice(None)), np.einsum("ij,ij->j", Z, Z), mean, unit * top
