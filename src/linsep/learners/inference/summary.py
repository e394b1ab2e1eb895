"""`model.summary()`: what the weights can be trusted to say, or why they cannot."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import check_shape, check_weights
from linsep.data.check.labels import encode
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.new_rows import labelled_rows, new_rows
from linsep.errors import ParameterError
from linsep.learners.inference.tables import (
    Summary,
    bootstrap_table,
    linear_summary,
    logistic_summary,
)

Array = npt.NDArray[Any]

MOST = 1 << 24  # entries of rows that a fitted learner keeps at hand for its summary


class Inference:
    """`summary`, for learners that maximise a likelihood."""

    def __getstate__(self) -> dict[str, Any]:
        inherited: Any = super()
        state = inherited.__getstate__() if hasattr(inherited, "__getstate__") else self.__dict__
        return {key: value for key, value in dict(state).items() if key != "_rows_of_fit"}

    def _note_rows(self, X: Any, y: Any, weights: Any) -> None:
        """Keep rows in memory at hand, unless they are many; no file or pickle holds them."""
        self.__dict__.pop("_rows_of_fit", None)
        if isinstance(X, (Chunks, np.memmap)) or y is None or hasattr(X, "dask"):
            return
        shape = getattr(
            X, "shape", (len(X),) if isinstance(X, (list, tuple, dict)) else (MOST + 1,)
        )
        if math.prod(shape) <= MOST:
            self._rows_of_fit = X, y, weights

    def summary(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *,
        interval: str = "wald", level: float = 0.95, bootstrap: int | None = None,
    ) -> Summary:  # fmt: skip
        """Coefficients with standard errors, tests, intervals, and measures of the whole fit.

        Printing it shows the table; `table` is a frame of pandas, or a dict of columns without it.
        Fits with a penalty are refused, for their errors are not those of the table: give
        `bootstrap=500` for intervals by resampling, or fit with C=numpy.inf or penalty='firth'.

        Parameters
        ----------
        X, y, sample_weight : the training rows, where they are no longer at hand
            After a fit on a file, on more than 2²⁴ entries, or after loading; a file opened by
            `linsep.read` brings its labels.
        interval : {'wald', 'profile'}
            From the standard errors; or from the likelihood with all other weights fitted anew,
            for `LogisticRegression`, with a likelihood-ratio test for each weight.
        level : float
            The confidence of the intervals.
        bootstrap : int
            Resamples of the rows, for percentile intervals instead.

        Returns
        -------
        Summary
        """
        if interval not in ("wald", "profile"):
            raise ParameterError(f"interval is {interval!r}; choose 'wald' or 'profile'.")
        if not 0 < level < 1:
            raise ParameterError(f"level is {level!r}; give a number between 0 and 1.")
        rows, labels, weights = self._training_rows(X, y, sample_weight)
        names = self._feature_names(rows.shape[1])
        classes = getattr(self, "classes_", None)
        if bootstrap is not None:
            return bootstrap_table(self, rows, labels, weights, names, bootstrap, level)
        rows, kept, notes = self._without_references(rows)
        names = [names[j] for j in kept]
        if classes is None:
            made = linear_summary(self, rows, labels, weights, names, level)
        else:
            codes = encode(labels, rows.shape[0], classes)[1]
            made = logistic_summary(self, rows, codes, weights, names, interval, level)
        return replace(made, notes=[*made.notes, *notes])

    def _without_references(self, rows: Array) -> tuple[Array, list[int], list[str]]:
        """Rows without the first text of columns in which every row has one: with an intercept
        only differences from it can be told."""
        encoding = getattr(self, "encoding_", None)
        kept, first = list(range(rows.shape[1])), 0
        notes: list[str] = []
        for column in encoding.columns if encoding is not None else ():
            own = rows[:, first : first + column.width]
            whole = column.kind == "text" and bool((own.sum(axis=1) == 1).all())
            if whole and (getattr(self, "fit_intercept", True) or notes):
                kept.remove(first)
                notes.append(f"Weights of {column.name} are against {column.features[0]}.")
            first += column.width
        return rows if len(kept) == rows.shape[1] else rows[:, kept], kept, notes

    def _training_rows(self, X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
        if X is None:
            kept = getattr(self, "_rows_of_fit", None)
            if kept is None:
                raise ParameterError(
                    "the training rows are no longer at hand; give them: summary(X, y)."
                )
            X, y, weights = kept
        X = labelled_rows(X, self) if y is None else new_rows(X, self)
        if isinstance(X, Chunks):
            X, y = X.load()
        rows = check_shape(X, self, reset=False)
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        return np.asarray(rows, np.float64), y, check_weights(weights, rows.shape[0])

    def _feature_names(self, width: int) -> list[str]:
        encoding = getattr(self, "encoding_", None)
        if encoding is not None:
            return list(encoding.feature_names)
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(width)] if names is None else [str(n) for n in names]
