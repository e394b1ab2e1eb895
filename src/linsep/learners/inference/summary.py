"""`model.summary()`: what the weights can be trusted to say, or why they cannot."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from linsep.data.check.arrays import check_shape, check_weights
from linsep.data.check.labels import encode
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.new_rows import labelled_rows, new_rows
from linsep.errors import ParameterError
from linsep.learners.inference.comparison import Comparison, compared
from linsep.learners.inference.covariances import spread_of
from linsep.learners.inference.effects import marginal_effects
from linsep.learners.inference.intervals import interval_of
from linsep.learners.inference.linear_errors import LinearFit
from linsep.learners.inference.logistic_errors import LogisticFit
from linsep.learners.inference.ordinal_errors import OrdinalFit
from linsep.learners.inference.tables import Summary, bootstrap_table

Array = npt.NDArray[Any]

MOST = 1 << 24  # entries of rows that a fitted learner keeps at hand for its summary


class Inference:
    """What statistics says of weights, for learners that maximise a likelihood."""

    _ranks: Array
    """The level of each class, of classes with an order."""
    _by_class: Callable[[Any, Any], Any]

    def __getstate__(self) -> dict[str, Any]:
        inherited: Any = super()
        state = inherited.__getstate__() if hasattr(inherited, "__getstate__") else self.__dict__
        return {key: value for key, value in dict(state).items() if key != "_rows_of_fit"}

    def _note_rows(self, X: Any, y: Any, weights: Any) -> None:
        """Keep rows in memory at hand, unless they are many; no file or pickle holds them."""
        self.__dict__.pop("_rows_of_fit", None)
        if isinstance(X, Chunks) and hasattr(X.source, "cells"):  # a table in memory
            if X.source.size() <= 8 * MOST:
                self._rows_of_fit = X, None, weights
            return
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
        cov: str = "model", groups: Any = None, reference: dict[str, Any] | None = None,
        against: Any = None,
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
        cov : {'model', 'HC0', 'HC1', 'robust', 'cluster'}
            Whose standard errors: those of the model, or those that allow for rows of unequal
            spread ('robust' is HC1), or for rows that depend on each other within groups.
        groups : (n,) labels
            The group of each row, for 'cluster'.
        reference : dict
            For columns of texts, the text that weights are against, by name of the column; the
            first of the alphabet unless told.
        against : label
            The class that weights are against; the first unless told.

        Returns
        -------
        Summary
        """
        if interval not in ("wald", "profile"):
            raise ParameterError(f"interval is {interval!r}; choose 'wald' or 'profile'.")
        _require_level(level)
        if interval == "profile" and cov != "model":
            raise ParameterError("profile intervals are those of the model; leave cov as it is.")
        if bootstrap is not None:
            rows, labels, weights = self._training_rows(X, y, sample_weight)
            names = self._feature_names(rows.shape[1])
            return bootstrap_table(self, rows, labels, weights, names, bootstrap, level)
        fit, notes = self._look_again(X, y, sample_weight, reference, against)
        if isinstance(fit, LinearFit):
            made = fit.table(level, cov, groups)
        else:
            made = fit.table(interval, level, cov, groups)
        return replace(made, notes=[*made.notes, *notes])

    def covariance(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, cov: str = "model",
        groups: Any = None,
    ) -> Array:  # fmt: skip
        """The covariance matrix of the weights, in the order of the summary's rows.

        Arguments are those of `summary`.
        """
        fit, _ = self._look_again(X, y, sample_weight)
        return spread_of(fit.estimate(), cov, groups).matrix

    @available_if(lambda self: hasattr(self, "predict_proba"))
    def marginal_effects(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, at: str = "rows",
        level: float = 0.95, cov: str = "model", groups: Any = None,
    ) -> Summary:  # fmt: skip
        """How much the probability changes for one unit of each feature, with delta-method errors.

        Parameters
        ----------
        at : {'rows', 'mean'}
            On average over the rows, or at their mean.
        X, y, sample_weight, level, cov, groups : as of `summary`
        """
        _require_level(level)
        fit, notes = self._look_again(X, y, sample_weight)
        made = marginal_effects(fit, at, level, cov, groups)
        return replace(made, notes=[*made.notes, *notes])

    def compare(self, other: Any) -> Comparison:
        """The likelihood-ratio test of two fits of the same rows, one with columns left out.

        Both must have their training rows at hand.
        """
        if not isinstance(other, Inference):
            raise ParameterError(f"other is {other!r:.60}; give a fitted learner with a summary.")
        return compared(self._look_again()[0], other._look_again()[0])

    def predict_interval(
        self, X: Any, *, level: float = 0.95, new: bool = False, cov: str = "model",
        groups: Any = None,
    ) -> Array:  # fmt: skip
        """(n, 2) ends of an interval for each row: of the probability of the second class, or of
        the mean.

        Parameters
        ----------
        X : rows to predict; those of the fit must be at hand
        level : the confidence
        new : whether the interval is for the number of a new row, and not for the mean of such
            rows; for `LinearRegression`
        cov, groups : as of `summary`
        """
        _require_level(level)
        if new and hasattr(self, "predict_proba"):
            raise ParameterError("new=True is for numbers; a class is drawn with its probability.")
        fit, _ = self._look_again(whole=True)
        rows = check_shape(new_rows(X, self), self, reset=False)
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, np.float64)
        return interval_of(fit, rows, level, new, spread_of(fit.estimate(), cov, groups))

    def _look_again(
        self, X: Any = None, y: Any = None, sample_weight: Any = None,
        reference: dict[str, Any] | None = None, against: Any = None, whole: bool = False,
    ) -> tuple[Any, list[str]]:  # fmt: skip
        """The fit looked at again at its training rows, and what is to be said of its columns."""
        rows, labels, weights = self._training_rows(X, y, sample_weight)
        names = self._feature_names(rows.shape[1])
        notes: list[str] = []
        if not whole:
            rows, kept, notes = self._without_references(rows, reference or {})
            names = [names[j] for j in kept]
        classes = getattr(self, "classes_", None)
        if classes is None:
            if against is not None:
                raise ParameterError("against is for classes; numbers have none.")
            return LinearFit(self, rows, labels, weights, names), notes
        known = [str(one) for one in classes.tolist()]
        if against is not None and str(against) not in known:
            raise ParameterError(f"against is {against!r}; the classes are {', '.join(known)}.")
        base = 0 if against is None else known.index(str(against))
        codes = encode(labels, rows.shape[0], classes)[1]
        if getattr(self, "class_weight", None) is not None:
            weights = self._by_class(weights, codes)
            notes.append(
                "Rows count by class_weight, which errors of the model take for repetitions; those "
                "of cov='robust' do not."
            )
        if hasattr(self, "thresholds_"):
            if against is not None:
                raise ParameterError("against is for classes without an order; leave it out.")
            return OrdinalFit(self, rows, self._ranks[codes], weights, names), notes
        return LogisticFit(self, rows, codes, weights, names, base), notes

    def _without_references(
        self, rows: Array, wanted: dict[str, Any]
    ) -> tuple[Array, list[int], list[str]]:
        """Rows without one text of columns in which every row has one: with an intercept only
        differences from it can be told."""
        encoding = getattr(self, "encoding_", None)
        if getattr(encoding, "formula", None) is not None:  # which says itself what is left out
            encoding = None
        kept, first = list(range(rows.shape[1])), 0
        notes: list[str] = []
        left = dict(wanted)
        for column in encoding.columns if encoding is not None else ():
            own = rows[:, first : first + column.width]
            whole = column.kind == "text" and bool((own.sum(axis=1) == 1).all())
            if whole and (getattr(self, "fit_intercept", True) or notes):
                at = _place_of(column, left.pop(column.name, None))
                kept.remove(first + at)
                notes.append(f"Weights of {column.name} are against {column.features[at]}.")
            first += column.width
        if left:
            raise ParameterError(
                f"reference names {', '.join(map(repr, left))}; it is for columns of texts of "
                "which each row has one."
            )
        return rows if len(kept) == rows.shape[1] else rows[:, kept], kept, notes

    def _training_rows(self, X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
        known = vars(self)
        told = [
            name for name in ("penalty_weights", "bounds", "offset_") if known.get(name) is not None
        ]
        if told:
            raise ParameterError(
                f"The fit was told {' and '.join(told).replace('offset_', 'an offset')}, of which "
                "the table of errors knows nothing; it is for fits without."
            )
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


def _require_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level is {level!r}; give a number between 0 and 1.")


def _place_of(column: Any, wanted: Any) -> int:
    """The number of the text that others are against."""
    if wanted is None:
        return 0
    known = [str(one) for one in column.categories]
    if str(wanted) not in known:
        raise ParameterError(
            f"reference is {wanted!r} for {column.name}; its texts are {', '.join(known[:20])}."
        )
    return known.index(str(wanted))
