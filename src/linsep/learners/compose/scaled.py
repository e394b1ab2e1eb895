"""Any learner on features of one size, with its weights in the units of the data."""

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_rows, check_weights
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import opened, scores_of
from linsep.data.sources.new_rows import labelled_rows, new_rows
from linsep.errors import ParameterError
from linsep.learners.fitting.frame import require_intercept
from linsep.learners.fitting.missing import names_of_features
from linsep.learners.fitting.parameters import NamedParameters, one_of
from linsep.model.chances import check_reject, decided
from linsep.model.forms import Framed, carried
from linsep.rows.scaling import measure

Array = npt.NDArray[Any]


def _can(name: str) -> Any:
    """Offer a method only where the learner has it."""
    return available_if(lambda self: hasattr(getattr(self, "learner_", self.learner), name))


class Scaled(NamedParameters, MetaEstimatorMixin, BaseEstimator):
    """Let a learner see features of one size, and read its weights in the units of the data.

    Large features dominate gradients and corrections. Inside the fit, each becomes (x − c)/s; a
    hyperplane ⟨v, (x − c)/s⟩ + a found there is ⟨w, x⟩ + b with w = v/s and b = a − ⟨w, c⟩, and
    these are what `coef_` and `intercept_` hold. Nothing has to be scaled before `predict`.

    Sparse rows are divided by s but not shifted, so they stay sparse. For learners with a free
    intercept that reach their optimum (`LogisticRegression`, `LinearSVC`, exact
    `LinearRegression`) the answer is the same: the intercept makes up for c.

    Parameters
    ----------
    learner : classifier or regressor
        Of linsep or scikit-learn; a clone of it is fitted.
    how : {'mean', 'min-max'}
        Mean zero and standard deviation one, or the range 0 to 1. Both heed sample weights.

    Attributes
    ----------
    learner_ : the fitted clone, in scaled units
    coef_, intercept_ : in the units of the data, where the learner has them
    centre_, scale_ : (d,) c and s
    classes_, status_, n_iter_
        Of the learner, where it has them.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import LinearRegression, Scaled
    >>> X, y = np.array([[1.0, 3e6], [2.0, 1e6], [3.0, 2e6], [4.0, 5e6]]), [1.0, 2.0, 3.0, 4.0]
    >>> descent = LinearRegression("batch", scale=False, tol=1e-12)
    >>> model = Scaled(descent, how="min-max").fit(X, y)
    >>> model.coef_.round(3).tolist(), model.predict([[10.0, 0.0]]).round(2).tolist()
    ([1.0, 0.0], [10.0])
    """

    coef_: Array
    intercept_: Array

    def __init__(self, learner: Any, *, how: str = "mean") -> None:
        self.learner = learner
        self.how = how

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **parameters: Any) -> Self:
        """Measure the features, fit a clone of the learner to scaled rows, carry weights back.

        Parameters
        ----------
        X : (n, d) array, sparse matrix, data frame, or a file opened by `linsep.read`
        y : (n,) labels or numbers; a file brings its own
        sample_weight : (n,) weights, optional
        **parameters : handed on to the learner's `fit`, such as `callback`
        """
        one_of("how", self.how, ("mean", "min-max"))
        if not hasattr(self.learner, "fit"):
            raise ParameterError(
                f"learner is {self.learner!r}; give a classifier or regressor, such as "
                "LogisticRegression()."
            )
        quiet = np.errstate(over="ignore", invalid="ignore")  # the learner refuses what is lost
        with opened(X, y) as (rows, labels, encoding), quiet:
            require_intercept(self.learner, encoding)
            self._fit(rows, labels, sample_weight, parameters)
        self.encoding_ = encoding
        self._rows_of_fit = None
        if hasattr(self.learner_, "_note_rows"):
            keeper = copy(self.learner_)
            keeper._note_rows(X, y, sample_weight)
            self._rows_of_fit = keeper.__dict__.get("_rows_of_fit")
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> None:
        self.__dict__.pop("encoding_", None)
        X = check_rows(X, self)
        weights = check_weights(sample_weight, X.shape[0])
        self._frame = measure(X, weights, self.how, getattr(self.learner, "n_jobs", None))
        self.centre_, self.scale_ = self._frame
        if weights is not None:
            parameters["sample_weight"] = weights
        self.learner_ = clone(self.learner).fit(self._frame.apply(X), y, **parameters)
        for name in ("coef_", "intercept_", "classes_", "status_", "n_iter_"):
            if hasattr(self, name):
                delattr(self, name)
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        if hasattr(self, "coef_"):
            form = self.learner_.coef_, self.learner_.intercept_
            self.coef_, self.intercept_ = carried(self._frame, *form, X.dtype)

    if not TYPE_CHECKING:  # which goes on knowing what is there

        def __getattr__(self, name: str) -> Any:
            if name == "feature_names_in_" and (names := names_of_features(self)) is not None:
                return names
            raise AttributeError(f"'Scaled' object has no attribute {name!r}", name=name, obj=self)

    def _fitted(self) -> Any:
        check_is_fitted(self, "learner_")
        return self.learner_

    def _rows(self, X: Any) -> Any:
        rows = new_rows(X, self)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._frame.apply(check_rows(rows, self, reset=False))

    def _ask(self, method: str, X: Any) -> Array:
        """What the learner's method says of scaled rows, block by block where they are a file's."""
        X = new_rows(X, self) if hasattr(self, "learner_") else X
        if isinstance(X, Chunks):
            known = getattr(self, "encoding_", None)
            return scores_of(X, known, lambda rows: self._ask(method, rows))
        return np.asarray(getattr(self._fitted(), method)(self._rows(X)))

    @_can("predict")
    def predict(self, X: Any, reject: float | None = None) -> Array:
        """What the learner predicts for rows in the units of the data; with `reject`, as there."""
        if reject is None:
            return self._ask("predict", X)
        if not hasattr(self, "predict_proba"):
            return np.asarray(self._fitted().predict(X, reject=reject))  # refuses, by name
        return decided(self._ask("predict", X), self.predict_proba(X), check_reject(reject))

    @_can("decision_function")
    def decision_function(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each row."""
        return self._ask("decision_function", X)

    @_can("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        return self._ask("predict_proba", X)

    @_can("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        return self._ask("predict_log_proba", X)

    @_can("rank")
    def rank(self, X: Any) -> Array:
        """All classes for each row, best first."""
        return self._ask("rank", X)

    @_can("draw")
    def draw(self, X: Any, random_state: Any = 0) -> Array:
        """A class for each row, drawn with its probability."""
        rows = X.load()[0] if isinstance(X, Chunks) else X
        return self._fitted().draw(self._rows(rows), random_state)

    @_can("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The learner's own score: the share of rows right, or R² for numbers."""
        X = labelled_rows(X, self) if y is None else X
        if not isinstance(X, Chunks):
            return float(self._fitted().score(self._rows(X), y, sample_weight))
        y = np.concatenate([part for _, part in X]) if y is None else y
        score = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(score(y, self.predict(X), sample_weight=sample_weight))

    @_can("summary")
    def summary(self, *rows: Any, **how: Any) -> Any:
        """The learner's summary, of the weights in the units of the data; arguments as there."""
        return self._unscaled().summary(*rows, **how)

    @_can("covariance")
    def covariance(self, *rows: Any, **how: Any) -> Array:
        """The covariance of the weights in the units of the data; arguments as the learner's."""
        return np.asarray(self._unscaled().covariance(*rows, **how))

    @_can("marginal_effects")
    def marginal_effects(self, *rows: Any, **how: Any) -> Any:
        """Effects of a unit of each feature as it was given; arguments as the learner's."""
        return self._unscaled().marginal_effects(*rows, **how)

    @_can("compare")
    def compare(self, other: Any) -> Any:
        """The learner's test of two fits, one with columns left out; the other may be scaled."""
        return self._unscaled().compare(other._unscaled() if isinstance(other, Scaled) else other)

    @_can("predict_interval")
    def predict_interval(self, X: Any, **how: Any) -> Array:
        """Intervals for rows in the units of the data; arguments as the learner's."""
        return np.asarray(self._unscaled().predict_interval(X, **how))

    def _unscaled(self) -> Any:
        """The learner as if it had found its weights in the units of the data."""
        twin = copy(self._fitted())
        for name in ("coef_", "intercept_", "encoding_", "feature_names_in_", "n_features_in_"):
            if name in vars(self):
                setattr(twin, name, getattr(self, name))
        twin.__dict__.pop("_rows_of_fit", None)
        if self._rows_of_fit is not None:
            twin._note_rows(*self._rows_of_fit)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_rows_of_fit": None}

    _rows_of_fit: Any = None

    def _form(self) -> Framed:
        return Framed(self.learner_._form(), self._frame)

    def _restore(self, form: Framed, learner: Any) -> None:
        """Take over what a file holds, around a learner already restored."""
        self.learner_, self._frame = learner, form.frame
        self.centre_, self.scale_ = form.frame
        for name in ("classes_", "n_iter_"):
            if hasattr(learner, name):
                setattr(self, name, getattr(learner, name))
        if hasattr(learner, "coef_"):
            self.coef_, self.intercept_ = form.weights, form.intercept

    @property
    def _order_matters(self) -> bool:
        return getattr(self.learner, "_order_matters", False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.learner)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.non_deterministic = inner.non_deterministic
        return tags
