"""What every linear classifier shares; the one level of inheritance in the package."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import (
    check_rows_meanwhile,
    check_shape,
    check_weights,
    require_finite,
)
from linsep.data.check.labels import agree, encode
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import scores_of
from linsep.data.sources.new_rows import labelled_rows, new_rows
from linsep.errors import DataError, OverflowedError, ParameterError
from linsep.learners.fitting.frame import Fitting
from linsep.learners.fitting.parameters import NamedParameters, check_types
from linsep.model.chances import check_reject, decided
from linsep.model.forms import Linear
from linsep.model.linear import labels, ranked
from linsep.status import Status
from linsep.train.problem import Block, Problem
from linsep.train.run.loop import Pass, tell

Array = npt.NDArray[Any]


class LinearClassifier(Fitting, NamedParameters, ClassifierMixin, BaseEstimator):
    """Checking, labels, weights, the ending of a fit, and prediction.

    A learner subclasses this directly, takes its parameters in `__init__`, and writes
    `_train(problem, listeners)`: it sets `coef_` and `intercept_` and returns a `Status`.
    """

    _order_matters = False
    """Whether rows are presented one after the other, so that shuffling them changes the answer."""

    _first_at_zero = False
    """Whether a score of exactly zero means the first of two classes (`FIRST_AT_ZERO`)."""

    _sparsifies: Any = True
    """Whether prediction needs nothing but `coef_` and `intercept_`, which may then be sparse."""

    classes_: Array
    coef_: Array
    intercept_: Array
    n_features_in_: int
    mistakes_: int
    mistakes_per_epoch_: list[int]
    _any_scale = False  # whether products of entries such as 1e300 are taken care of

    def _problem(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Problem:
        """Checked rows, classes and weights, from whatever the user handed in."""
        first = classes is None or not hasattr(self, "classes_")
        X, settle = check_rows_meanwhile(X, self, reset=first, in_range=not self._any_scale)
        present, codes = encode(y, X.shape[0], classes)
        weights = check_weights(sample_weight, X.shape[0])
        self.classes_ = present
        weights = self._by_class(weights, codes)
        problem = Problem(X, codes, weights, len(present), getattr(self, "n_jobs", None))
        problem.settle = settle
        return problem

    def _part(self, X: Any, y: Any, classes: Any, sample_weight: Any, first: bool) -> Problem:
        """`_problem` for rows that come in parts; only the first part settles the classes."""
        if getattr(self, "_from_file", False):
            raise ParameterError(
                "This learner comes from a model file, which holds what it predicts with but not "
                "the state of its training; use fit, or go on from a checkpoint."
            )
        check_types(self)
        self._check_parameters()
        if isinstance(getattr(self, "class_weight", None), str):
            raise ParameterError(
                "class_weight is 'balanced', which needs all rows at once; for partial_fit give a "
                "dict of label: weight."
            )
        if not first:
            known = self.classes_.tolist()
            if classes is not None and set(np.asarray(classes).tolist()) != set(known):
                raise DataError(
                    f"classes is {classes!r}, but the first call settled on {known!r}; "
                    "leave classes out after the first call, or start again with fit."
                )
            classes = self.classes_
        problem = self._problem(X, y, sample_weight, classes)
        self.data_ = None  # parts of the rows are gone before all of them were seen
        problem.settle()  # bad rows must not touch what the parts before have taught
        return problem

    def _fit_part(
        self,
        rows: tuple[Any, Any, Any, Any],
        first: bool,
        one_pass: Callable[[Problem], Pass],
    ) -> Self:
        """`partial_fit`: one pass over rows (X, y, classes, sample_weight) as they come."""
        problem = self._part(*rows, first)
        if first:
            self._reset(problem)
        with self._listening(None, False, problem) as listeners:
            tell(listeners, one_pass(problem))
            self._end(Status.streaming)
        return self

    def _count(self, done: Pass) -> None:
        """Note the corrections of a pass."""
        self.mistakes_ += done.updates
        self.mistakes_per_epoch_.append(done.updates)

    def _by_class(self, weights: Array | None, codes: Array) -> Array | None:
        """Sample weights times class weights."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        counts = np.bincount(codes, weights, minlength=len(self.classes_))
        if isinstance(class_weight, str) and class_weight == "balanced":
            total = counts.sum()
            per_class = np.divide(
                total, len(counts) * counts, out=np.zeros(len(counts)), where=counts > 0
            )
        elif isinstance(class_weight, dict):
            per_class = self._from_dict(class_weight)
        else:
            raise ParameterError(
                f"class_weight is {class_weight!r}; give None, 'balanced' or a dict of label: "
                "weight."
            )
        mine = per_class[codes] if weights is None else weights * per_class[codes]
        if not mine.any():
            raise ParameterError(
                f"class_weight is {class_weight!r}, which leaves no row any weight; some row must "
                "count."
            )
        return mine

    def _from_dict(self, by_label: dict[Any, float]) -> Array:
        labels = self.classes_.tolist()
        unknown = [label for label in by_label if label not in labels]
        if unknown:
            raise ParameterError(
                f"class_weight names {unknown[0]!r}, which is not a class of y; "
                f"the classes are {labels!r}."
            )
        per_class = np.array([float(by_label.get(label, 1.0)) for label in labels])
        if not (np.isfinite(per_class).all() and (per_class >= 0).all()):
            raise ParameterError(f"class_weight is {by_label!r}; weights must be finite, >= 0.")
        return per_class

    def _form(self) -> Any:
        """What training has made: all that prediction needs, and all that a file holds."""
        coef: Any = self.coef_
        return Linear(coef.toarray() if hasattr(coef, "toarray") else coef, self.intercept_)

    @available_if(lambda self: self._sparsifies)
    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix, for weights most of which are zero."""
        import scipy.sparse as sp

        check_is_fitted(self, "coef_")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    @available_if(lambda self: self._sparsifies)
    def densify(self) -> Self:
        """Keep `coef_` as an array again."""
        coef: Any = self.coef_
        self.coef_ = coef.toarray() if hasattr(coef, "toarray") else coef
        return self

    def _restore(self, form: Any) -> None:
        """Take over what a file holds; learners that keep more than weights override."""
        self.coef_, self.intercept_ = form.weights, form.intercept

    def decision_function(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each row: a vector for two classes, a column per class for more."""
        if "status_" not in self.__dict__:  # a third of what one row takes
            check_is_fitted(self, ["coef_", "n_iter_", "status_"], all_or_any=any)
        X = new_rows(X, self)
        if isinstance(X, Chunks):
            return scores_of(X, getattr(self, "encoding_", None), self.decision_function)
        X = check_shape(X, self, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        if not np.isfinite(scores).all():
            require_finite(X, self)  # NaN or infinity in a row cannot hide from its score
            raise OverflowedError(
                f"The scores of X leave the range of {scores.dtype}, although X is finite; its "
                "entries are too large for these weights. Scale X as the training rows were."
            )
        return scores

    def _scores(self, X: Any) -> Array:
        return np.asarray(self._form().scores(X))

    def _wrong(self, problem: Problem, block: Block) -> int:
        """How many rows of a block are predicted wrong."""
        rows = problem.X[block.start : block.start + len(block.codes)]
        return int((self.predict(rows) != self.classes_[block.codes]).sum())

    def predict(self, X: Any, reject: float | None = None) -> Array:
        """The class of each row; the first of those whose score is largest.

        Of two classes, a score above zero means the second. One of exactly zero means the first
        for `LogisticRegression`, `LinearSVC` and `LinearDiscriminantAnalysis`, as in scikit-learn,
        and the second for all others, as in the lectures.

        With `reject`, a probability, rows whose likeliest class has less than that get the label
        `linsep.NO_DECISION`; only learners with `predict_proba` know it.
        """
        return self._predicted(X, reject, {})

    def _predicted(self, X: Any, reject: float | None, told: dict[str, Any]) -> Array:
        """`predict`, where `told` is handed to what makes scores."""
        if reject is not None:
            least = check_reject(reject)
            if not hasattr(self, "predict_proba"):
                raise ParameterError(
                    f"reject is {reject!r}, but {type(self).__name__} has no probabilities as it "
                    "is set; use LogisticRegression, LinearDiscriminantAnalysis or "
                    "LinearSVC(probability=True)."
                )
            return decided(self.predict(X, **told), self.predict_proba(X, **told), least)
        scores = self.decision_function(X, **told)
        return labels(scores, self.classes_, self._first_at_zero)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right, each counted with its weight."""
        return self._scored(X, y, sample_weight, {})

    def _scored(self, X: Any, y: Any, sample_weight: Any, told: dict[str, Any]) -> float:
        X = labelled_rows(X, self) if y is None else X
        if isinstance(X, Chunks) and y is None:
            y = np.concatenate([part for _, part in X])
        right = agree(y, self.predict(X, **told))
        return float(np.average(right, weights=check_weights(sample_weight, len(right))))

    def rank(self, X: Any) -> Array:
        """All classes for each row, best first."""
        return self._ranked(X, {})

    def _ranked(self, X: Any, told: dict[str, Any]) -> Array:
        scores = self.decision_function(X, **told)
        return ranked(scores, self.classes_, self._first_at_zero)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
