"""Average marginal effects of a logistic regression: slopes of probabilities, with their errors.

The probability of class k rises with feature j by pₖ(βₖⱼ − Σ pₗβₗⱼ) for each unit, averaged over
the rows, or at their mean. Errors are those of the delta method: J V Jᵀ with the slopes J of the
effects in all weights.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.learners.inference.covariances import spread_of
from linsep.learners.inference.logistic_errors import LogisticFit
from linsep.learners.inference.regular import with_ones
from linsep.learners.inference.tables import Summary

Array = npt.NDArray[Any]

PLACES = ("rows", "mean")


def marginal_effects(fit: LogisticFit, at: str, level: float, cov: str, groups: Any) -> Summary:
    """The table of effects on the probability of each class; of the second one of two."""
    if at not in PLACES:
        raise ParameterError(f"at is {at!r}; choose 'rows' (their average effect) or 'mean'.")
    weights = fit.likelihood.weights
    rows = fit.rows if at == "rows" else np.average(fit.rows, axis=0, weights=weights)[None]
    counted = weights / weights.sum() if at == "rows" else np.ones(1)
    Z = with_ones(rows, fit.model.fit_intercept)
    p = _chances(Z, fit.peak.theta)
    free = int(fit.model.fit_intercept)
    spread = spread_of(fit.estimate(), cov, groups)
    told = range(1, 2) if fit.K == 2 else range(fit.K)
    parts = [_effects(Z, p, fit.peak.theta, counted, k, free) for k in told]
    effect = np.concatenate([one for one, _ in parts])
    slopes = np.vstack([slope for _, slope in parts])
    error = np.sqrt(np.einsum("ij,jk,ik->i", slopes, spread.matrix, slopes))
    reach = spread.reach(level) * error
    columns: dict[str, list[Any]] = {}
    names = fit.names[free:]
    if fit.K > 2:
        columns["class"] = [fit.classes[k] for k in told for _ in names]
    columns |= {
        "name": names * len(told), "effect": effect.tolist(), "std err": error.tolist(),
        "z": (effect / error).tolist(), "P>|z|": spread.chance(effect / error).tolist(),
        f"low {level:.0%}": (effect - reach).tolist(),
        f"high {level:.0%}": (effect + reach).tolist(),
    }  # fmt: skip
    where = "on average over the rows" if at == "rows" else "at the mean row"
    of = f"the class {fit.classes[1]}" if fit.K == 2 else "each class"
    notes = [f"Change of the probability of {of} for one unit of each feature, {where}."]
    notes += [spread.note] if spread.note else []
    title = f"Marginal effects of LogisticRegression, {len(fit.rows):,} rows"
    return Summary(title, columns, {}, notes)


def _chances(Z: Array, theta: Array) -> Array:
    scores = np.column_stack([np.zeros(len(Z)), Z @ theta.T])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _effects(
    Z: Array, p: Array, theta: Array, counted: Array, k: int, free: int
) -> tuple[Array, Array]:
    """Effects on the probability of class k, and their slopes in the weights, class by class."""
    beta = np.vstack([np.zeros(theta.shape[1]), theta])[:, free:]  # the first class has zeros
    apart = beta[k] - p @ beta  # (n, d)
    effect = (counted * p[:, k]) @ apart
    slopes = []
    for m in range(1, len(beta)):
        turn = p[:, k] * ((k == m) - p[:, m])
        other = (p[:, k] * p[:, m])[:, None] * (beta[m] - p @ beta)
        slope = ((turn[:, None] * apart - other) * counted[:, None]).T @ Z
        slope[:, free:] += float(counted @ turn) * np.eye(len(slope))
        slopes.append(slope)
    return effect, np.hstack(slopes)
