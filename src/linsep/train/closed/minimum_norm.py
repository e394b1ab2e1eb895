"""The shortest weights through fewer rows than columns, from the products of the rows.

With A the rows about their mean, times the roots of their weights, the shortest a with Aa = y is

    a = Aᵀ(AAᵀ)⁻¹y,    a ← a + Aᵀ(AAᵀ)⁻¹(y − Aa),

a matrix as large as the rows are many, however wide they are. With an intercept AAᵀ has one
direction without spread, that of the roots themselves, which y does not have either.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import linalg as sl

from linsep.parallel import sum_over
from linsep.train.closed.moments import Floats
from linsep.train.problem import Problem

COLUMNS = 4096  # columns multiplied at a time
MOST = 4000  # rows whose products are made
LEAST = 1e-9  # the smallest share of the largest eigenvalue that refinement copes with
REFINEMENTS = 4
ROUNDING = 1e-13  # of y: a residual that is left to rounding
UNEVEN = 40  # powers of two between the spreads of two columns


class Shortest(NamedTuple):
    """Weights (d, t), predictions at the centre (t,), the centre (d,), residuals and rank."""

    weights: Floats
    at_centre: Floats
    centre: Floats
    squares: Floats
    rank: int


class _Rows(NamedTuple):
    """A without writing it out: X, its mean, and the root of each row's weight."""

    X: Any
    mean: Floats
    root: Floats

    def dot(self, a: Floats) -> Floats:
        return np.asarray(self.root[:, None] * (np.asarray(self.X @ a) - self.mean @ a))

    def back(self, v: Floats) -> Floats:
        s = self.root[:, None] * v
        return np.asarray(self.X.T @ s) - np.outer(self.mean, s.sum(axis=0))


def minimum_norm(problem: Problem, Y: Floats, fit_intercept: bool) -> Shortest | None:
    """The shortest weights; None where rows are too many, or depend on each other."""
    X, n = problem.X, problem.n_rows
    weights = problem.weights if problem.weights.size else np.ones(n)
    if n > MOST or not weights.all():
        return None
    root, total = np.sqrt(weights), float(weights.sum())
    X = X.astype(np.float64, copy=False)
    first = X[:1].toarray()[0] if sp.issparse(X) else X[0]
    mean, level = np.zeros(problem.n_features), np.zeros(Y.shape[1])
    if fit_intercept:
        mean = _mean(X, first, weights, total)
        level = Y[0] + weights @ (Y - Y[0]) / total
    rows = _Rows(X, mean, root)
    K = _products(rows, problem.n_jobs, float(np.finfo(problem.X.dtype).eps))
    if K is None:
        return None
    size = float(K.diagonal().sum()) / n
    if fit_intercept:
        K += np.outer(root, root) * (size / total)
    solve = _solver(K)
    if solve is None:
        return None
    T = root[:, None] * (Y - level)
    a, left = rows.back(solve(T)), T
    for _ in range(REFINEMENTS):
        left = T - rows.dot(a)
        if (_lengths(left) <= ROUNDING * math.sqrt(n) * _lengths(T)).all():
            rank = n - int(fit_intercept)
            return Shortest(a, level, mean, np.square(left).sum(axis=0), rank)
        a = a + rows.back(solve(left))
    return None


def _lengths(T: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(T).sum(axis=0)))


def _mean(X: Any, first: Floats, weights: Floats, total: float) -> Floats:
    """The mean of each column; of a constant column, its own number to the last digit."""
    if sp.issparse(X):
        return np.asarray(X.T @ weights) / total
    return np.asarray(first + weights @ (X - first) / total)


def _solver(K: Floats) -> Any:
    R, failed = sl.lapack.dpotrf(K, lower=1, clean=0)
    if failed:
        return None
    norm = float(np.abs(K).sum(axis=0).max())
    share, _ = sl.lapack.dpocon(R, norm, uplo="L")
    if share < LEAST:
        return None
    return lambda right: np.asarray(sl.lapack.dpotrs(R, right, lower=1)[0])


def _products(rows: _Rows, n_jobs: int, unit: float) -> Floats | None:
    """AAᵀ; None where columns are of very different size, or hardly vary about their mean."""
    X, mean, root = rows
    if sp.issparse(X):
        K = np.asarray((X @ X.T).toarray())
        own = K.diagonal().copy()
        along = np.asarray(X @ mean)
        K += float(mean @ mean) - along - along[:, None]
        if not (np.isfinite(own).all() and (K.diagonal() >= 1e-3 * own).all()):
            return None
        largest = np.asarray(abs(X).max(axis=0).toarray()).ravel()
        if not _even(largest):
            return None
        return np.asarray(K * root * root[:, None])
    d = X.shape[1]
    widths = np.empty(d)

    def of(start: int) -> Floats:
        some = slice(start, start + COLUMNS)
        A = X[:, some] - mean[some]
        top = np.abs(X[:, some]).max(axis=0)
        spread = np.abs(A).max(axis=0)
        widths[some] = np.where((spread > 0) & (spread < 1e3 * unit * top), np.nan, spread)
        A *= root[:, None]
        return np.asarray(A @ A.T)

    K = sum_over(of, range(0, d, COLUMNS), np.add, n_jobs)
    return K if np.isfinite(K).all() and _even(widths) else None


def _even(widths: Floats) -> bool:
    """Whether all columns with any spread are of a size."""
    filled = widths[widths != 0]
    if not len(filled) or not np.isfinite(filled).all():
        return False
    exponents = np.frexp(filled)[1]
    return bool(np.ptp(exponents) <= UNEVEN and np.abs(exponents).max() < 300)
