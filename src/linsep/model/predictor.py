"""A model read from a file: it predicts without scikit-learn."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.check.labels import agree
from linsep.data.check.plain import check_offset, not_finite, plain_rows
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.learner_rows import scores_of
from linsep.data.sources.new_rows import labelled_rows, new_rows
from linsep.errors import DataError, ParameterError
from linsep.model.centred import in_range
from linsep.model.chances import calibrated_chances, chances, check_reject, decided, log_chances
from linsep.model.files.values import Unsaved
from linsep.model.linear import FIRST_AT_ZERO, labels, places, ranked
from linsep.status import Status

Array = npt.NDArray[Any]

LOG_ODDS = ("LogisticRegression", "LinearDiscriminantAnalysis", "OrdinalRegression")
"""Learners whose scores are logarithms of odds, so that they have probabilities."""


@dataclass(frozen=True, eq=False)
class Model:
    """What a fitted learner predicts with. Made by `linsep.load`.

    Predictions have the bytes that the learner gave which was saved.

    Attributes
    ----------
    learner : name of the class that was fitted
    parameters : what it was fitted with
    classes_ : the labels, or None for a regression
    n_features_in_, feature_names_in_ : of the training rows; names may be None
    status_ : how training ended
    encoding_ : how columns of a file became features, or None
    results : numbers of the fit: n_iter, gap, objective, mistakes; None where there is none
    certificate : what was proved of the training rows, as the text of a certificate, or None
    data : numbers and digests of the training rows, or None: `rows`, `columns`, `sample`, `sha256`
    scaled : whether rows are brought to one size first: None, "mean" or "min-max"
    version : of the linsep that saved it
    """

    learner: str
    parameters: dict[str, Any]
    classes_: Any
    n_features_in_: int
    feature_names_in_: Any
    status_: Status
    form: Any = field(repr=False)
    encoding_: Any = field(default=None, repr=False)
    results: dict[str, Any] = field(default_factory=dict)
    certificate: str | None = field(default=None, repr=False)
    data: dict[str, Any] | None = None
    scaled: str | None = None
    version: str = ""

    @property
    def feature_names(self) -> list[str] | None:
        """What the features are called: by the columns of a frame or of a file, if these were."""
        if self.feature_names_in_ is not None:
            return [str(one) for one in self.feature_names_in_]
        return None if self.encoding_ is None else list(self.encoding_.feature_names)

    @property
    def weight_names(self) -> list[str] | None:
        """What the features are called that weights belong to; after feature maps, theirs."""
        if not hasattr(self.form, "maps"):
            return self.feature_names
        given = self.feature_names or [f"x{j}" for j in range(self.n_features_in_)]
        return list(self.form.names(given))

    @property
    def coef_(self) -> Array:
        """(K, d) weights, where the model consists of hyperplanes."""
        return self._linear("weights")

    @property
    def intercept_(self) -> Any:
        """(K,) intercepts, where the model consists of hyperplanes."""
        return self._linear("intercept")

    def _linear(self, name: str) -> Any:
        if self.form.name not in ("linear", "centred", "ordinal"):
            raise AttributeError(
                f"{self.learner} of the form {self.form.name!r} has no {name}; it scores rows by "
                f"{self.form.carries} kept rows."
            )
        return getattr(self.form, name)

    @property
    def carries_rows(self) -> int:
        """How many training rows the model holds: none, unless its kernel or vote needs them."""
        return int(self.form.carries)

    @property
    def first_at_zero(self) -> bool:
        """Whether a score of exactly zero means the first of two classes, not the second."""
        return self.learner in FIRST_AT_ZERO

    @property
    def probabilistic(self) -> bool:
        """Whether there is `predict_proba`."""
        return self.learner in LOG_ODDS or self._sigmoids is not None

    @property
    def inner(self) -> Any:
        """The form that is in no frame and behind no map."""
        form = self.form
        while hasattr(form, "inner"):
            form = form.inner
        return form

    @property
    def _sigmoids(self) -> Any:
        return getattr(self.inner, "sigmoids", None)

    @property
    def ranks(self) -> Array | None:
        """The level of each class, where classes have an order."""
        return getattr(self.inner, "ranks", None)

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """Scores of each row, with its offset where the fit had one: a vector for two classes, a
        column per class for more."""
        self._want_classes("decision_function")
        return self._scores(X, offset)

    def _scores(self, X: Any, offset: Any = None) -> Array:
        known, scores = self.parameters.get("offset_"), self._own_scores(X)
        if offset is None and known is not True:
            return scores
        if offset is None or known is not True:
            raise DataError(
                "The model was fitted with an offset; give offset= with a number for each row, 0 "
                "for none." if offset is None
                else f"offset is {offset!r:.60}, but the model was fitted without numbers for it."
            )  # fmt: skip
        planes = 1 if scores.ndim == 1 else scores.shape[1]
        return np.asarray(scores + check_offset(offset, len(scores), planes))

    def _own_scores(self, X: Any) -> Array:
        X = new_rows(X, self)
        if isinstance(X, Chunks):
            return scores_of(X, self.encoding_, self._own_scores)
        names = self.feature_names_in_
        X = plain_rows(X, self.n_features_in_, None if names is None else names.tolist())
        if self.carries_rows:
            self._require_finite(X)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(self.form.scores(X))
        if not np.isfinite(scores).all():
            self._require_finite(X)
        return in_range(scores)

    def _require_finite(self, X: Any) -> None:
        problem = not_finite(X, self.feature_names_in_)
        if problem is not None:
            raise problem

    def predict(self, X: Any, reject: float | None = None, offset: Any = None) -> Array:
        """The class of each row, or for a regression its number.

        With `reject`, rows whose likeliest class has a smaller probability than that get the label
        `linsep.NO_DECISION`.
        """
        if reject is not None:
            least = check_reject(reject)
            self._want_chances()
            chances = self.predict_proba(X, offset)
            return decided(self.predict(X, offset=offset), chances, least)
        scores = self._scores(X, offset)
        if self.classes_ is not None:
            return labels(scores, self.classes_, self.first_at_zero)
        return scores if self.form.weights.ndim == 1 else scores.reshape(len(scores), -1)

    def places(self, scores: Array) -> Array:
        """The place among the classes of rows with these scores."""
        return places(scores, self.first_at_zero)

    def rank(self, X: Any) -> Array:
        """All classes for each row, best first."""
        return ranked(self.decision_function(X), self.classes_, self.first_at_zero)

    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """The probability of each class for each row."""
        self._want_chances()
        return self.chances_of(self.decision_function(X, offset))

    def chances_of(self, scores: Array) -> Array:
        """The probability of each class for rows with these scores."""
        if self._sigmoids is not None:
            return calibrated_chances(scores, self._sigmoids)
        if self.learner == "LinearDiscriminantAnalysis":
            return np.exp(log_chances(scores))
        return chances(scores)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        self._want_chances()
        if self._sigmoids is not None:
            return np.asarray(np.log(self.predict_proba(X)))
        return log_chances(self.decision_function(X))

    def transform(self, X: Any) -> Array:
        """Coordinates along the axes of a linear discriminant analysis."""
        axes = getattr(self.form, "axes", None)
        if axes is None:
            raise ParameterError(f"{self.learner} has no axes; LinearDiscriminantAnalysis does.")
        X = new_rows(X, self)
        if isinstance(X, Chunks):
            return scores_of(X, self.encoding_, self.transform)
        X = plain_rows(X, self.n_features_in_)
        self._require_finite(X)
        along = in_range(axes.scores(X)).reshape(X.shape[0], -1)
        return along.astype(X.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of rows predicted right; for a regression R², one minus the share unexplained.

        With several targets, the mean of R² over them. What `linsep.read` opens brings its labels.
        """
        X = labelled_rows(X, self) if y is None else X
        if isinstance(X, Chunks) and y is None:
            y = np.concatenate([part for _, part in X])
        if self.classes_ is not None:
            return float(np.mean(agree(y, self.predict(X))))
        y = np.asarray(y, np.float64)
        left = np.square(y - self.predict(X)).sum(axis=0)
        return float(np.mean(1.0 - left / np.square(y - y.mean(axis=0)).sum(axis=0)))

    def to_estimator(self) -> Any:
        """The scikit-learn estimator again: for pipelines, pictures and proofs.

        It predicts as this model does; `fit` starts anew. Imports scikit-learn.
        """
        import linsep  # the learners lie downstream: reached as a user would, by public name

        if hasattr(self.form, "maps"):
            from linsep.model.pipeline import estimator_of

            return estimator_of(self)
        kept = {k: v for k, v in self.parameters.items() if not isinstance(v, Unsaved)}
        offset = kept.pop("offset_", None)
        learner = getattr(linsep, self.learner)(**kept)
        learner.__dict__.update({} if offset is None else {"offset_": offset})
        learner._restore(self.form if self.scaled is None else self.form.inner)
        self._publish(learner)
        if self.scaled is None:
            return learner
        around = linsep.Scaled(getattr(linsep, self.learner)(**kept), how=self.scaled)
        around._restore(self.form, learner)
        self._publish(around)
        return around

    def _publish(self, learner: Any) -> None:
        """What every fitted estimator says of its training."""
        learner.n_features_in_ = self.n_features_in_
        learner.status_ = self.status_
        learner.data_ = self.data
        if self.feature_names_in_ is not None:
            learner.feature_names_in_ = self.feature_names_in_
        if self.classes_ is not None:
            learner.classes_ = self.classes_
        if self.encoding_ is not None:
            learner.encoding_ = self.encoding_
        for name, value in self.results.items():
            if value is not None:
                listed = name == "n_iter" and getattr(learner, "_lists_passes", False)
                kind = np.int32 if value < 1 << 31 else np.int64
                setattr(learner, f"{name}_", np.array([value], kind) if listed else value)
        learner._from_file = True

    def _want_classes(self, what: str) -> None:
        if self.classes_ is None:
            raise ParameterError(f"{self.learner} predicts numbers and has no {what}; use predict.")

    def _want_chances(self) -> None:
        if not self.probabilistic:
            raise ParameterError(
                f"{self.learner} has no probabilities; use decision_function, or fit one of "
                f"{' or '.join(LOG_ODDS)}, or LinearSVC(probability=True)."
            )
