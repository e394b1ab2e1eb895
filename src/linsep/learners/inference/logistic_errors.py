"""Logistic regressions: errors, intervals and figures of a maximum-likelihood or Firth fit."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.errors import DataError, ParameterError
from linsep.learners.inference.covariances import Estimate, spread_of
from linsep.learners.inference.likelihood import LogisticLikelihood, Peak
from linsep.learners.inference.regular import (
    require_rank,
    require_rows,
    surely_regular,
    with_ones,
)
from linsep.learners.inference.tables import Summary, add_odds, likelihood_figures

Array = npt.NDArray[Any]


class LogisticFit:
    """A fit looked at again, to rounding, at all of its rows.

    Parameters
    ----------
    model : fitted `LogisticRegression`
    X, codes, weights : the rows, the number of each one's class, and their weights
    names : of the columns of X
    base : the class that the others are against
    """

    def __init__(
        self, model: Any, X: Array, codes: Array, weights: Array | None, names: list[str], base: int
    ) -> None:
        _require_likelihood(model)
        Z = with_ones(X, model.fit_intercept)
        self.names = (["(intercept)"] if model.fit_intercept else []) + names
        require_rows(*Z.shape)
        self.model, self.rows, self.base = model, X, base
        self.firth, self.K = model.penalty == "firth", len(model.classes_)
        self.order = [base, *(k for k in range(self.K) if k != base)]
        place = np.argsort(self.order)
        likelihood = LogisticLikelihood(
            Z, place[codes], weights, self.K, own=bool(model.fit_intercept)
        )
        start = _start(model, self.K, self.order)
        fits = start.shape[1] == Z.shape[1]  # columns may have been left out
        peak = likelihood.peak(start if fits else np.zeros((self.K - 1, Z.shape[1])), self.firth)
        if peak is None or not surely_regular(peak.information):
            require_rank(likelihood.Z, self.names)
        if peak is None:
            raise DataError(
                "The likelihood has no maximum that Newton's method finds: the classes may be "
                "separable in part. Run linsep.separability(X, y), or use penalty='firth'."
            )
        self.likelihood, self.peak, self.weights = likelihood, peak, likelihood.weights

    @property
    def classes(self) -> list[str]:
        """The classes, the one that the others are against first."""
        known = self.model.classes_.tolist()
        return [str(known[k]) for k in self.order]

    def estimate(self) -> Estimate:
        inverse = np.linalg.inv(self.peak.information)
        outcomes = self.classes[1:] if self.K > 2 else []
        return Estimate(
            self.names, outcomes, self.peak.theta.ravel(), inverse, inverse, self._scores,
            len(self.rows), None,
        )  # fmt: skip

    def _scores(self) -> Array:
        """cᵢ(1[yᵢ = k] − pₖ) zᵢ, class by class"""
        one = self.likelihood
        p = one.chances(self.peak.theta * one.size)
        left = (one.codes[:, None] == np.arange(1, self.K)) - p[:, 1:]
        left = left * one.weights[:, None]
        Z = one.Z * one.size
        return np.asarray((left[:, :, None] * Z[:, None, :]).reshape(len(Z), -1))

    def table(self, interval: str, level: float, cov: str, groups: Any) -> Summary:
        estimate = self.estimate()
        spread = spread_of(estimate, cov, groups)
        columns: dict[str, list[Any]] = {}
        if self.K > 2:
            columns["class"] = [one for one in estimate.outcomes for _ in self.names]
        names = self.names * (self.K - 1)
        columns |= spread.columns(names, estimate.theta, level, spread.errors)
        if interval == "profile":
            ends = [f"low {level:.0%}", f"high {level:.0%}"]
            low, high, ratio = _profiles(self.likelihood, self.peak, self.firth, level)
            columns = {name: cells for name, cells in columns.items() if name not in ends}
            columns |= {"LR": ratio.tolist(), "P>LR": special.chdtrc(1, ratio).tolist()}
            columns |= dict(zip(ends, (low.tolist(), high.tolist()), strict=True))
        add_odds(columns, level)
        notes = [self._meaning(), *([spread.note] if spread.note else [])]
        if self.firth:
            notes.append(
                "Likelihoods hold Firth's penalty; z and Wald's intervals are approximate."
            )
        title = f"LogisticRegression, {len(self.rows):,} rows"
        return Summary(title, columns, self.figures(), notes)

    @property
    def size(self) -> int:
        return int(self.peak.theta.size)

    def figures(self) -> dict[str, float | int]:
        return _figures(self.model, self.likelihood, self.peak, self.firth)

    @property
    def columns(self) -> list[str]:
        """The features, without the intercept."""
        return self.names[int(self.model.fit_intercept) :]

    def effects(self, rows: Array, counted: Array) -> tuple[list[Array], list[Array]]:
        """Effects of the features on the probability of each class, and their slopes in the
        weights, class by class."""
        Z, theta = with_ones(rows, self.model.fit_intercept), self.peak.theta
        free = Z.shape[1] - rows.shape[1]
        p = special.softmax(np.column_stack([np.zeros(len(Z)), Z @ theta.T]), axis=1)
        beta = np.vstack([np.zeros(theta.shape[1]), theta])[:, free:]  # the first class has zeros
        mean, each, slopes = p @ beta, [], []
        for k in range(self.K):
            apart = beta[k] - mean
            each.append((counted * p[:, k]) @ apart)
            turns = []
            for m in range(1, self.K):
                turn = p[:, k] * ((k == m) - p[:, m])
                other = (p[:, k] * p[:, m])[:, None] * (beta[m] - mean)
                slope = ((turn[:, None] * apart - other) * counted[:, None]).T @ Z
                slope[:, free:] += float(counted @ turn) * np.eye(len(slope))
                turns.append(slope)
            slopes.append(np.hstack(turns))
        return each, slopes

    def same_labels(self, other: "LogisticFit") -> bool:
        one, two = self.likelihood, other.likelihood
        return np.array_equal(one.codes, two.codes) and np.array_equal(one.weights, two.weights)

    def _meaning(self) -> str:
        base, *others = self.classes
        if self.K == 2:
            return f"Modelled are the log-odds of the class {others[0]} against {base}."
        return f"Weights are against the class {base}."


def _require_likelihood(model: Any) -> None:
    """Refuse fits whose errors are not those of maximum likelihood."""
    if model.prior is not None:
        raise ParameterError(
            "prior moved the intercept after the fit. Fit without it for this table: all other "
            "weights, and their errors, are the same."
        )
    if model.penalty != "firth" and np.inf != model.C and model.penalty is not None:
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


def _start(model: Any, K: int, order: list[int]) -> Array:
    """The weights that were fitted, against the first class of the order."""
    W, b = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    rows = np.column_stack([b, W]) if model.fit_intercept else W
    if K == 2:
        return rows if order[0] == 0 else -rows
    return np.asarray(rows[order[1:]] - rows[order[0]])


def _figures(
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
    return likelihood_figures(peak.value, null, free, fewer, total)


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
