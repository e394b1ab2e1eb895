"""Summaries of logistic and linear regressions, as tables of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from linsep.errors import DataError, ParameterError
from linsep.learners.inference.likelihood import LogisticLikelihood, Peak

Array = npt.NDArray[Any]

ALIKE = 1e-4  # least eigenvalue of correlations from which on a matrix of products is exact enough
SURE = 1e-6  # least eigenvalue of an information in units of its diagonal: far from singular
NEAR = 1e-7  # of the weights: a step as short as this is the last
FAR = 100.0  # means in units of the spread beyond which it is not


@dataclass(frozen=True)
class Summary:
    """A table of weights and figures of the whole fit.

    Attributes
    ----------
    title : what was fitted
    columns : by name, a value for every weight
    figures : log-likelihood, AIC, BIC, deviance and the like, by name
    notes : what else is to be known
    """

    title: str
    columns: dict[str, list[Any]]
    figures: dict[str, float | int]
    notes: list[str] = field(default_factory=list)

    @property
    def table(self) -> Any:
        """The columns as a frame of pandas, or as they are where there is none."""
        try:
            import pandas as pd
        except ImportError:
            return self.columns
        return pd.DataFrame(self.columns)

    def __str__(self) -> str:
        cells = [[_written(cell) for cell in column] for column in self.columns.values()]
        wide = [max(len(name), *map(len, column)) for name, column in
                zip(self.columns, cells, strict=True)]  # fmt: skip
        words = [isinstance(column[0], str) for column in self.columns.values()]

        def line(row: Sequence[str]) -> str:
            parts = [c.ljust(w) if left else c.rjust(w) for c, w, left in
                     zip(row, wide, words, strict=True)]  # fmt: skip
            return "  ".join(parts).rstrip()

        figures = [f"{name}: {_written(value)}" for name, value in self.figures.items()]
        rows = [line(row) for row in zip(*cells, strict=True)]
        text = [self.title, "", line(list(self.columns)), *rows, "", *figures]
        return "\n".join(text + (["", *self.notes] if self.notes else []))

    __repr__ = __str__


def _written(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _with_ones(X: Array, intercept: bool) -> Array:
    return np.column_stack([np.ones(len(X)), X]) if intercept else X


def _require_rows(n: int, weights: int) -> None:
    if n <= weights:
        raise DataError(
            f"there are {n} rows and {weights} weights; errors can be told of fewer weights than "
            "rows. Drop columns."
        )


def _surely_regular(information: Array) -> bool:
    """Whether an information matrix is that of columns none of which is a sum of others."""
    size = np.sqrt(np.maximum(np.diag(information), 0.0))
    if not (np.isfinite(information).all() and (size > 0).all()):
        return False
    return bool(np.linalg.eigvalsh(information / size / size[:, None])[0] > SURE)


def _require_rank(Z: Array, names: list[str]) -> None:
    scaled = Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300)
    if np.linalg.matrix_rank(scaled) < Z.shape[1]:
        r = np.abs(np.diag(np.linalg.qr(scaled - 0.0, mode="r")))
        name = names[int(np.argmin(r))]
        raise DataError(
            f"the column {name!r} is a sum of others, so that no single weight can be told for it; "
            "drop it (of texts as features, drop one text)."
        )


def logistic_summary(
    model: Any, X: Array, codes: Array, weights: Array | None, names: list[str], interval: str,
    level: float,
) -> Summary:  # fmt: skip
    """Wald's or profile figures of a maximum-likelihood or Firth fit."""
    firth = model.penalty == "firth"
    if not firth and np.inf != model.C and model.penalty is not None:
        raise ParameterError(
            f"C is {model.C!r}: the weights are held back by a penalty, and standard errors of "
            "maximum likelihood are not theirs. Fit with C=numpy.inf, or penalty='firth'; or give "
            "summary(bootstrap=500) for intervals by resampling."
        )
    if model.status_.name in ("no_optimum", "separable", "separated"):
        raise ParameterError(
            "The classes can be separated by a hyperplane, as proof_ shows: the likelihood grows "
            "without end, no maximum exists, and standard errors would be nonsense. Use "
            "LogisticRegression(penalty='firth'), whose estimates are finite."
        )
    Z = _with_ones(X, model.fit_intercept)
    labels = (["(intercept)"] if model.fit_intercept else []) + names
    _require_rows(*Z.shape)
    K = len(model.classes_)
    likelihood = LogisticLikelihood(Z, codes, weights, K, own=bool(model.fit_intercept))
    start = _start(model, K)
    fits = start.shape[1] == Z.shape[1]  # columns may have been left out
    peak = likelihood.peak(start if fits else np.zeros((K - 1, Z.shape[1])), firth)
    if peak is None or not _surely_regular(peak.information):
        _require_rank(likelihood.Z, labels)
    if peak is None:
        raise DataError(
            "The likelihood has no maximum that Newton's method finds: the classes may be "
            "separable in part. Run linsep.separability(X, y), or use penalty='firth'."
        )
    theta = peak.theta.ravel()
    covariance = np.linalg.inv(peak.information)
    error = np.sqrt(np.diag(covariance))
    z = theta / error
    reach = special.ndtri(0.5 + level / 2) * error
    kept = labels * (K - 1)
    columns: dict[str, list[Any]] = {}
    if K > 2:
        columns["class"] = [str(one) for one in model.classes_[1:].tolist() for _ in labels]
    p = 2 * special.ndtr(-np.abs(z))
    columns |= {"name": kept, "coef": theta.tolist(), "std err": error.tolist(),
                "z": z.tolist(), "P>|z|": p.tolist()}  # fmt: skip
    low, high = theta - reach, theta + reach
    if interval == "profile":
        low, high, ratio = _profiles(likelihood, peak, firth, level)
        columns |= {"LR": ratio.tolist(), "P>LR": special.chdtrc(1, ratio).tolist()}
    columns |= {
        f"low {level:.0%}": low.tolist(), f"high {level:.0%}": high.tolist(),
        "odds ratio": np.exp(theta).tolist(),
    }  # fmt: skip
    figures = _logistic_figures(model, likelihood, peak, firth)
    notes = []
    if K > 2:
        notes.append(f"Weights are against the class {model.classes_[0]!s}.")
    if firth:
        notes.append("Likelihoods hold Firth's penalty; z and Wald's intervals are approximate.")
    return Summary(f"LogisticRegression, {len(X):,} rows", columns, figures, notes)


def _start(model: Any, K: int) -> Array:
    """The weights that were fitted, against the first class."""
    W, b = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    rows = np.column_stack([b, W]) if model.fit_intercept else W
    return rows if K == 2 else rows[1:] - rows[0]


def _logistic_figures(
    model: Any, likelihood: LogisticLikelihood, peak: Peak, firth: bool
) -> dict[str, float | int]:
    free = peak.theta.size
    total = float(likelihood.weights.sum())
    if model.fit_intercept:
        shares = np.bincount(likelihood.codes, likelihood.weights, likelihood.K)
        null = float(shares @ np.log(shares / total))
        fewer = likelihood.K - 1
        if firth:  # the null model within the penalised likelihood: all weights but the first zero
            fixed = np.ones(peak.theta.shape, bool)
            fixed[:, 0] = False
            held = likelihood.peak(np.zeros(peak.theta.shape), True, fixed)
            null = np.nan if held is None else held.value
    else:
        null, fewer = -total * float(np.log(likelihood.K)), 0
    ratio = 2 * (peak.value - null)
    figures: dict[str, float | int] = {
        "log-likelihood": peak.value,
        "null log-likelihood": null,
        "deviance": -2 * peak.value,
        "likelihood-ratio chi2": ratio,
        "degrees of freedom": free - fewer,
        "P>chi2": float(special.chdtrc(free - fewer, ratio)) if free > fewer else 1.0,
        "pseudo R2": 1 - peak.value / null,
        "AIC": 2 * free - 2 * peak.value,
        "BIC": free * float(np.log(total)) - 2 * peak.value,
    }
    return figures


def _profiles(
    likelihood: LogisticLikelihood, peak: Peak, firth: bool, level: float
) -> tuple[Array, Array, Array]:
    """Ends of profile intervals, and likelihood ratios of each weight against zero."""
    limit = float(special.chdtri(1, 1 - level))
    error = np.sqrt(np.diag(np.linalg.inv(peak.information)))
    theta = peak.theta.ravel()

    def deviance(j: int, value: float) -> float:
        fixed = np.zeros(theta.size, bool)
        fixed[j] = True
        start = theta.copy()
        start[j] = value
        held = likelihood.peak(start.reshape(peak.theta.shape), firth, fixed)
        return np.inf if held is None else 2 * (peak.value - held.value)

    ends = np.empty((2, theta.size))
    for j in range(theta.size):
        for k, sign in enumerate((-1.0, 1.0)):
            ends[k, j] = _end(lambda v, j=j: deviance(j, v) - limit, theta[j], sign * error[j])  # type: ignore[misc]
    ratio = np.array([deviance(j, 0.0) for j in range(theta.size)])
    return ends[0], ends[1], ratio


def _end(above: Any, middle: float, step: float) -> float:
    """Where the profile deviance reaches its limit, on one side; infinite where it never does."""
    from scipy.optimize import brentq

    far = 2 * step
    for _ in range(30):
        if above(middle + far) > 0:
            return float(brentq(above, middle, middle + far, xtol=1e-10 * abs(step), rtol=1e-12))
        far *= 2
    return float(np.sign(step) * np.inf)


def linear_summary(
    model: Any, X: Array, y: Any, weights: Array | None, names: list[str], level: float
) -> Summary:
    """Standard errors, t tests and figures of least squares."""
    y = np.asarray(y, np.float64)
    if y.ndim != 1:
        raise ParameterError("y has several targets; a summary is of one. Fit them one by one.")
    labels = (["(intercept)"] if model.fit_intercept else []) + names
    root = None if weights is None else np.sqrt(weights)
    known = _by_products(model, X, y, root) if model.coef_.ndim == 1 else None
    theta, inverse, squares = known or _by_factors(model, X, y, root, labels)
    n, width = len(X), len(theta)
    freedom = n - width
    error = np.sqrt(np.square(inverse).sum(axis=1) * squares / freedom)
    t = theta / error
    reach = special.stdtrit(freedom, 0.5 + level / 2) * error
    mean = np.average(y, weights=weights) if model.fit_intercept else 0.0
    apart = y - mean if root is None else (y - mean) * root
    total = float(apart @ apart)
    value = -n / 2 * (np.log(2 * np.pi * squares / n) + 1)
    value += 0.0 if root is None else float(np.log(root).sum())
    between = width - int(model.fit_intercept)
    F = (total - squares) / between / (squares / freedom) if between else np.nan
    columns = {
        "name": labels, "coef": theta.tolist(), "std err": error.tolist(), "t": t.tolist(),
        "P>|t|": (2 * special.stdtr(freedom, -np.abs(t))).tolist(),
        f"low {level:.0%}": (theta - reach).tolist(),
        f"high {level:.0%}": (theta + reach).tolist(),
    }  # fmt: skip
    figures: dict[str, float | int] = {
        "R2": 1 - squares / total,
        "adjusted R2": 1 - squares / total * (n - int(model.fit_intercept)) / freedom,
        "F": float(F),
        "P>F": float(special.fdtrc(between, freedom, F)) if between else 1.0,
        "residual std err": float(np.sqrt(squares / freedom)),
        "degrees of freedom": freedom,
        "log-likelihood": float(value),
        "AIC": float(2 * width - 2 * value),
        "BIC": float(width * np.log(n) - 2 * value),
    }
    return Summary(f"LinearRegression, {n:,} rows", columns, figures)


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
    Z = _with_ones(X, model.fit_intercept)
    _require_rows(*Z.shape)
    _require_rank(Z, labels)
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


def bootstrap_table(
    model: Any, X: Array, y: Any, weights: Array | None, names: list[str], times: int, level: float
) -> Summary:
    """Percentile intervals over fits to resampled rows; for fits of any kind."""
    import warnings

    from sklearn.base import clone

    from linsep.errors import LinsepError, NotConverged

    if isinstance(times, bool) or not isinstance(times, int) or times < 2:
        raise ParameterError(f"bootstrap is {times!r}; give a number of resamples, such as 500.")
    rng, n = np.random.default_rng(0), len(X)
    labels, drawn, failed = np.asarray(y), [], 0
    for _ in range(times):
        rows = rng.integers(0, n, n)
        own = None if weights is None else weights[rows]
        try:
            with warnings.catch_warnings(action="ignore", category=NotConverged):
                again = clone(model).fit(X[rows], labels[rows], sample_weight=own)
            drawn.append(_flat(again))
        except LinsepError:
            failed += 1
    shape = _flat(model).shape
    drawn = [one for one in drawn if one.shape == shape]
    if len(drawn) < 2:
        raise DataError("hardly any resample could be fitted; there are too few rows.")
    fits = np.array(drawn)
    low, high = np.quantile(fits, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    W = np.atleast_2d(model.coef_)
    kept = [name for _ in W for name in ["(intercept)", *names]]
    columns: dict[str, list[Any]] = {}
    if len(W) > 1 and hasattr(model, "classes_"):
        width = W.shape[1] + 1
        columns["class"] = [str(one) for one in model.classes_.tolist() for _ in range(width)]
    columns |= {
        "name": kept, "coef": _flat(model).tolist(), "std err": fits.std(axis=0, ddof=1).tolist(),
        f"low {level:.0%}": low.tolist(), f"high {level:.0%}": high.tolist(),
    }  # fmt: skip
    notes = [f"Standard errors and percentile intervals of {len(fits)} fits to resampled rows."]
    if failed or len(drawn) < times:
        notes.append(f"{times - len(fits)} resamples could not be fitted and are left out.")
    return Summary(f"{type(model).__name__}, {n:,} rows", columns, {"resamples": len(fits)}, notes)


def _flat(model: Any) -> Array:
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    return np.column_stack([np.broadcast_to(b, len(W)), W]).ravel()
