"""Least squares: errors, t tests and figures of a fit."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from linsep.errors import ParameterError
from linsep.learners.inference.covariances import Estimate, spread_of
from linsep.learners.inference.regular import require_rank, require_rows, with_ones
from linsep.learners.inference.tables import Summary

Array = npt.NDArray[Any]

ALIKE = 1e-4  # least eigenvalue of correlations from which on a matrix of products is exact enough
NEAR = 1e-7  # of the weights: a step as short as this is the last
FAR = 100.0  # means in units of the spread beyond which it is not


class LinearFit:
    """A fit looked at again, to rounding, at all of its rows.

    Parameters
    ----------
    model : fitted `LinearRegression`
    X, y, weights : the rows, their targets and weights
    names : of the columns of X
    """

    def __init__(
        self, model: Any, X: Array, y: Any, weights: Array | None, names: list[str]
    ) -> None:
        self.y = np.asarray(y, np.float64)
        if self.y.ndim != 1:
            raise ParameterError("y has several targets; a summary is of one. Fit them one by one.")
        self.model, self.rows, self.weights = model, X, weights
        self.names = (["(intercept)"] if model.fit_intercept else []) + names
        root = None if weights is None else np.sqrt(weights)
        known = _by_products(model, X, self.y, root) if model.coef_.ndim == 1 else None
        known = known or _by_factors(model, X, self.y, root, self.names)
        self.theta, self.inverse, self.squares = known
        self.freedom = len(X) - len(self.theta)

    def estimate(self) -> Estimate:
        bread = self.inverse @ self.inverse.T
        model = bread * (self.squares / self.freedom)
        return Estimate(
            self.names, [], self.theta, model, bread, self._scores, len(self.y), self.freedom
        )

    def _scores(self) -> Array:
        """cᵢ(yᵢ − ⟨θ, zᵢ⟩) zᵢ"""
        Z = with_ones(self.rows, self.model.fit_intercept)
        left = self.y - Z @ self.theta
        left = left if self.weights is None else left * self.weights
        return np.asarray(left[:, None] * Z)

    def table(self, level: float, cov: str, groups: Any) -> Summary:
        estimate = self.estimate()
        spread = spread_of(estimate, cov, groups)
        columns = spread.columns(self.names, self.theta, level, spread.errors)
        notes = [spread.note] if spread.note else []
        title = f"LinearRegression, {len(self.y):,} rows"
        return Summary(title, columns, self.figures(), notes)

    @property
    def size(self) -> int:
        return len(self.theta)

    def same_labels(self, other: "LinearFit") -> bool:
        one, two = (1.0 if fit.weights is None else fit.weights for fit in (self, other))
        return np.array_equal(self.y, other.y) and bool(np.all(np.equal(one, two)))

    @property
    def value(self) -> float:
        """The log-likelihood of normal errors, with the variance that makes it largest."""
        n = len(self.y)
        value = -n / 2 * (np.log(2 * np.pi * self.squares / n) + 1)
        return float(value + (0.0 if self.weights is None else np.log(self.weights).sum() / 2))

    def figures(self) -> dict[str, float | int]:
        free, n, width = int(self.model.fit_intercept), len(self.y), len(self.theta)
        mean = np.average(self.y, weights=self.weights) if free else 0.0
        apart = self.y - mean if self.weights is None else (self.y - mean) * np.sqrt(self.weights)
        total, squares, freedom = float(apart @ apart), self.squares, self.freedom
        between = width - free
        F = (total - squares) / between / (squares / freedom) if between else np.nan
        return {
            "R2": 1 - squares / total,
            "adjusted R2": 1 - squares / total * (n - free) / freedom,
            "F": float(F),
            "P>F": float(special.fdtrc(between, freedom, F)) if between else 1.0,
            "residual std err": float(np.sqrt(squares / freedom)),
            "degrees of freedom": freedom,
            "log-likelihood": self.value,
            "AIC": float(2 * width - 2 * self.value),
            "BIC": float(width * np.log(n) - 2 * self.value),
        }


def _by_products(model: Any, X: Array, y: Array, root: Array | None) -> Any:
    """Weights, a root of the inverse of ZᵀZ and the squared residual, by the matrix of products;
    None where columns are so much alike, or so far from the origin, that it loses too many digits.
    """
    n, d = X.shape
    free = bool(model.fit_intercept)
    if n <= d + free or root is not None or not d:
        return None
    mean = np.full(n, 1 / n) @ X if free else np.zeros(d)
    products = X.T @ X - n * np.outer(mean, mean)
    size = np.sqrt(np.maximum(np.diag(products), 0.0))
    if not (size > 0).all() or (np.abs(mean) * np.sqrt(n) > FAR * size).any():
        return None
    backwards = _root_of_inverse(products / size / size[:, None])
    if backwards is None:
        return None
    inverse = backwards / size[:, None]
    theta, b = np.array(model.coef_, np.float64), float(model.intercept_) if free else 0.0
    for _ in range(3):  # from the weights of the fit to the end of the digits
        left = y - X @ theta - b
        over = float(left.sum()) if free else 0.0
        slope = left @ X - mean * over
        step = inverse @ (slope @ inverse)
        theta += step
        b = float(y.mean() - mean @ theta) if free else 0.0
        squares = float(left @ left) - over * over / n - float(slope @ step)  # after the step
        if np.abs(step * size).max() <= NEAR * np.abs(theta * size).max():
            break  # a step leaves a share of about 1e-16 / ALIKE of what it takes
    if free:
        first = np.append(-(mean @ inverse), 1 / np.sqrt(n))
        inverse = np.vstack([first, np.column_stack([inverse, np.zeros(d)])])
        theta = np.append(b, theta)
    return theta, inverse, squares


def _root_of_inverse(R: Array) -> Array | None:
    """M with M Mᵀ = R⁻¹ for a matrix of correlations; None where its columns are too much alike."""
    try:
        lower = np.linalg.cholesky(R)
    except np.linalg.LinAlgError:
        return None
    inverse, _ = linalg.lapack.dtrtri(lower, lower=1)
    if 1 / np.square(inverse).sum() < ALIKE and np.linalg.eigvalsh(R)[0] < ALIKE:
        return None  # the first is never above the least eigenvalue
    return np.ascontiguousarray(inverse.T)


def _by_factors(model: Any, X: Array, y: Array, root: Array | None, labels: list[str]) -> Any:
    """The same by orthogonal factors of the rows seen from their means."""
    Z = with_ones(X, model.fit_intercept)
    require_rows(*Z.shape)
    require_rank(Z, labels)
    root = np.ones(len(Z)) if root is None else root
    middle = np.zeros(Z.shape[1])
    if model.fit_intercept:  # far from the origin, columns look alike: seen from their means
        middle[1:] = Z[:, 1:].mean(axis=0)
    size = np.maximum(np.sqrt(np.square(Z - middle).sum(axis=0)), 1e-300)
    Q, R = np.linalg.qr((Z - middle) / size * root[:, None])
    theta = np.linalg.solve(R, Q.T @ (y * root))
    left = (y * root) - Q @ (R @ theta)
    theta += np.linalg.solve(R, Q.T @ left)  # one refinement
    left = y - (Z - middle) / size @ theta
    inverse = np.linalg.solve(R, np.eye(Z.shape[1])) / size[:, None]
    theta = theta / size
    if model.fit_intercept:
        inverse[0] -= middle[1:] @ inverse[1:]
        theta[0] -= middle[1:] @ theta[1:]
    return theta, inverse, float(np.square(left * root).sum())
