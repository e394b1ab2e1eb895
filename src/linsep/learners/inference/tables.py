"""Summaries as tables of numbers, and those of resampled rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]


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
        text = [
            self.title,
            "",
            line(list(self.columns)),
            *rows,
            *([""] if figures else []),
            *figures,
        ]
        return "\n".join(text + (["", *self.notes] if self.notes else []))

    __repr__ = __str__


def add_odds(columns: dict[str, list[Any]], level: float, told: Any = True) -> None:
    """Odds ratios beside weights that are log-odds, with their intervals; none where not `told`."""
    for name in ("coef", f"low {level:.0%}", f"high {level:.0%}"):
        odds = np.where(told, np.exp(columns[name]), np.nan).tolist()
        columns["odds ratio" if name == "coef" else f"OR {name}"] = odds


def likelihood_figures(
    value: float, null: float, free: int, fewer: int, rows: float
) -> dict[str, float | int]:
    """Measures of a fit of so many free weights, and of one without features that has fewer."""
    ratio = 2 * (value - null)
    return {
        "log-likelihood": value,
        "null log-likelihood": null,
        "deviance": -2 * value,
        "likelihood-ratio chi2": ratio,
        "degrees of freedom": free - fewer,
        "P>chi2": float(special.chdtrc(free - fewer, ratio)) if free > fewer else 1.0,
        "pseudo R2": 1 - value / null,
        "AIC": 2 * free - 2 * value,
        "BIC": free * float(np.log(rows)) - 2 * value,
    }


def _written(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


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
