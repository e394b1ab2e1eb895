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
from linsep.learners.inference.ordinal_errors import OrdinalFit
from linsep.learners.inference.tables import Summary

Array = npt.NDArray[Any]

PLACES = ("rows", "mean")


def marginal_effects(
    fit: LogisticFit | OrdinalFit, at: str, level: float, cov: str, groups: Any
) -> Summary:
    """The table of effects on the probability of each class; of the second one of two."""
    if at not in PLACES:
        raise ParameterError(f"at is {at!r}; choose 'rows' (their average effect) or 'mean'.")
    weights = fit.weights
    rows = fit.rows if at == "rows" else np.average(fit.rows, axis=0, weights=weights)[None]
    counted = weights / weights.sum() if at == "rows" else np.ones(1)
    spread = spread_of(fit.estimate(), cov, groups)
    told = range(1, 2) if fit.K == 2 else range(fit.K)
    effects, turns = fit.effects(rows, counted)
    effect = np.concatenate([effects[k] for k in told])
    slopes = np.vstack([turns[k] for k in told])
    error = np.sqrt(np.einsum("ij,jk,ik->i", slopes, spread.matrix, slopes))
    columns: dict[str, list[Any]] = {}
    names = fit.columns
    if fit.K > 2:
        columns["class"] = [fit.classes[k] for k in told for _ in names]
    columns |= spread.columns(names * len(told), effect, level, error, "effect")
    where = "on average over the rows" if at == "rows" else "at the mean row"
    of = f"the class {fit.classes[1]}" if fit.K == 2 else "each class"
    notes = [f"Change of the probability of {of} for one unit of each feature, {where}."]
    notes += [spread.note] if spread.note else []
    title = f"Marginal effects of {type(fit.model).__name__}, {len(fit.rows):,} rows"
    return Summary(title, columns, {}, notes)
