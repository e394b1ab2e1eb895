"""A layer: several units over the same inputs, trained at once."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_rows, check_weights
from linsep.errors import DataError, ParameterError
from linsep.learners.fitting.parameters import NamedParameters
from linsep.learners.perceptrons.perceptron import Perceptron
from linsep.parallel import in_order

Array = npt.NDArray[Any]


class Layer(NamedParameters, MetaEstimatorMixin, BaseEstimator):
    """Train M units at once, each on its own column of labels.

    The layer computes y = σ(Wx + b), component by component. The units share nothing but their
    inputs, so each is what the learner alone would have become on that column.

    Parameters
    ----------
    learner : classifier, optional
        What every unit is; a `Perceptron()` when None. Clones of it are fitted.
    n_jobs : int, optional
        Threads; they never change the result.

    Attributes
    ----------
    units_ : list of the M fitted learners
    coef_ : (M, d), and intercept_ : (M,)
        W and b, where the learner has them.
    classes_ : list of the two labels of each column
    status_ : list of how each fit ended, where the learner says it
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from linsep import Layer
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> gates = Layer().fit(X, [[0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 1, 0]])  # and, or, nand
    >>> gates.predict(X).tolist()
    [[0, 0, 1], [0, 1, 1], [0, 1, 1], [1, 1, 0]]
    >>> gates.coef_.shape, gates.intercept_.shape
    ((3, 2), (3,))
    """

    coef_: Array
    intercept_: Array

    def __init__(self, learner: Any = None, *, n_jobs: int | None = 1) -> None:
        self.learner = learner
        self.n_jobs = n_jobs

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train every unit.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or data frame
        Y : (n, M) array, a column of two labels for each unit
        sample_weight : (n,) weights, optional
        """
        X = check_rows(X, self)
        columns = np.asarray(Y)
        if columns.ndim != 2 or columns.shape[0] != X.shape[0] or not columns.shape[1]:
            raise DataError(
                f"Y has shape {columns.shape}; X has {X.shape[0]} rows, so give "
                f"({X.shape[0]}, M): one column of labels for each of M units."
            )
        for unit, column in enumerate(columns.T):
            if len(set(column.tolist())) > 2:
                raise DataError(
                    f"Y has {len(set(column.tolist()))} labels in column {unit}; a unit tells two "
                    "apart. Give one column for each class."
                )
        weights = check_weights(sample_weight, X.shape[0])
        extra = {} if weights is None else {"sample_weight": weights}
        kind = Perceptron() if self.learner is None else self.learner
        if not hasattr(kind, "fit") or not hasattr(kind, "get_params"):
            raise ParameterError(f"learner is {kind!r:.60}; give a learner, such as Perceptron().")
        self.units_ = list(
            in_order(
                lambda column: clone(kind).fit(X, column, **extra),
                [np.ascontiguousarray(column) for column in columns.T],
                self.n_jobs,
            )
        )
        self.classes_ = [unit.classes_ for unit in self.units_]
        if all(hasattr(unit, "status_") for unit in self.units_):
            self.status_ = [unit.status_ for unit in self.units_]
        if all(hasattr(unit, "coef_") for unit in self.units_):
            self.coef_ = np.concatenate([unit.coef_ for unit in self.units_])
            self.intercept_ = np.concatenate([unit.intercept_ for unit in self.units_])
        return self

    def _each(self, X: Any, method: str) -> list[Array]:
        check_is_fitted(self, "units_")
        X = check_rows(X, self, reset=False)
        return [getattr(unit, method)(X) for unit in self.units_]

    def predict(self, X: Any) -> Array:
        """(n, M): the label that each unit gives each row."""
        return np.column_stack(self._each(X, "predict"))

    def decision_function(self, X: Any) -> Array:
        """(n, M): Wx + b."""
        return np.column_stack(self._each(X, "decision_function"))

    @available_if(lambda self: hasattr(self.learner, "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """(n, M): σ(Wx + b), the probability of the second label of each unit."""
        return np.column_stack([p[:, 1] for p in self._each(X, "predict_proba")])

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """The share of labels, over all rows and units, that are right."""
        said = self.predict(X)
        labels = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
        if labels.shape != said.shape:
            raise DataError(
                f"Y has shape {labels.shape}; the layer gives {len(said)} rows of "
                f"{said.shape[1]} labels, so give {said.shape}."
            )
        right = (said == labels).mean(axis=1)
        return float(np.average(right, weights=check_weights(sample_weight, len(right))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags
