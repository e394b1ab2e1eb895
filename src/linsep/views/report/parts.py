"""Which rows a report judges a model by: test rows, rows held out, or those it was given."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._arguments import require_number
from linsep.data.check.arrays import check_rows
from linsep.data.check.fingerprint import sample_digest
from linsep.data.check.labels import encode, present
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.new_rows import new_rows
from linsep.errors import DataError, NotConverged, ParameterError
from linsep.model.files.store import as_model
from linsep.model.predictor import Model
from linsep.views.metrics import tally_for
from linsep.views.report.pipelines import prepared
from linsep.views.scoring import add_rows
from linsep.views.validation import spares

Array = npt.NDArray[Any]
Refit = Callable[[Any, Any], Any]

SHARE = 0.2


class Part(NamedTuple):
    """Rows, and what a model says of them.

    Attributes
    ----------
    name : what the page calls them
    words : a sentence on which rows they are
    model : the model that says it, fitted without these rows where they were held out
    numbers : their numbers among the rows given
    X, y : rows as the model takes them, and labels
    tally : errors, and the confusion matrix of classes
    scores : (n,) for two classes, (n, K) for more, None for numbers
    codes : (n,) class of each row, −1 where the model does not know it; None for numbers
    chances : (n, K) probabilities, or None
    said : what was predicted
    """

    name: str
    words: str
    model: Model
    numbers: Array
    X: Any
    y: Array
    tally: Any
    scores: Array | None
    codes: Array | None
    chances: Array | None
    said: Array


def parts_of(
    learner: Any, X: Any, y: Any, test: Any, holdout: float | None, refit: Refit | None
) -> list[Part]:
    """The rows to judge by, those that say most first."""
    if holdout is not None:
        require_number("holdout", holdout, "a share of rows from 0 to below 1")
    if holdout is not None and not 0 <= holdout < 1:
        raise ParameterError(f"holdout is {holdout!r}; give a share of rows from 0 to below 1.")
    known, rows = _rows(learner, X)
    y = _labels(y, rows)
    model = as_model(known)
    seen = _was_fitted_on(known, rows, y)
    names = {True: "Training rows", False: "These rows", None: "These rows"}
    words = {
        True: f"All {len(y):,} rows of the fit: figures of rows that the model has seen.",
        False: f"{len(y):,} rows that differ in number from those of the fit.",
        None: f"{len(y):,} rows; whether the model was fitted on them is not known.",
    }
    own = part_of(names[seen], words[seen], model, np.arange(len(y)), rows, y)
    if test is not None:
        if not isinstance(test, (tuple, list)) or len(test) != 2:
            raise ParameterError(f"test is {test!r:.60}; give (X, y) of rows to judge by.")
        X_test, y_test = test
        unseen = _rows(learner, X_test)[1]
        y_test = _labels(y_test, unseen)
        said = f"{len(y_test):,} rows given as test rows."
        return [part_of("Test rows", said, model, np.arange(len(y_test)), unseen, y_test), own]
    share = SHARE if holdout is None and seen and _spares(model, rows, y) else holdout or 0.0
    if not share:
        return [own]
    return [_held_out(learner, X, y, share, refit or _clone_of(learner), rows), own]


def _labels(y: Any, rows: Any) -> Array:
    labels = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (rows.shape[0],):
        raise DataError(
            f"y has shape {labels.shape}; X has {rows.shape[0]} rows: a label for each."
        )
    if labels.dtype == object:
        present(labels)  # refuses what is missing
    return labels


def _rows(learner: Any, X: Any) -> tuple[Any, Any]:
    """The learner of linsep that decides, and the rows as it takes them."""
    known, X, _, _ = prepared(learner, X)
    model = as_model(known)
    X = new_rows(X, model)
    rows = X.load()[0] if isinstance(X, Chunks) else check_rows(X)
    if rows.shape[1] != model.n_features_in_:
        raise DataError(
            f"X has {rows.shape[1]} features; the model was fitted on {model.n_features_in_}."
        )
    return known, rows


def _was_fitted_on(learner: Any, rows: Any, y: Array) -> bool | None:
    """Whether the fit noted the digest of these rows; None where it cannot be told."""
    noted = as_model(learner).data
    if noted is None or noted["rows"] is None:
        return None
    if noted["rows"] != len(y):
        return False
    frame = getattr(learner, "_frame", None)
    rows = rows if frame is None else frame.apply(rows)
    classes = as_model(learner).classes_
    try:
        codes = np.asarray(y, float) if classes is None else encode(y, len(y), classes)[1]
    except (DataError, ValueError):
        return False
    same = sample_digest(rows, codes, None)["sample"] == noted["sample"]
    return True if same else None


def _spares(model: Model, rows: Any, y: Array) -> bool:
    return spares(y, rows.shape[1], model.classes_ is not None)


def _clone_of(learner: Any) -> Refit:
    """Fits a copy of what the report is about."""
    if isinstance(learner, Model):
        learner = learner.to_estimator()
    learner = getattr(learner, "best_estimator_", learner)

    def fit(X: Any, y: Any) -> Any:
        from sklearn.base import clone

        return clone(learner).fit(X, y)

    return fit


def _held_out(learner: Any, X: Any, y: Array, share: float, refit: Refit, rows: Any) -> Part:
    """Figures of some rows by a fit to the others; classes keep their shares."""
    from sklearn.utils import _safe_indexing

    piped = hasattr(getattr(learner, "best_estimator_", learner), "steps")
    given = X if piped else rows  # a pipeline prepares rows itself
    classes = as_model(_rows(learner, X)[0]).classes_ is not None
    test = held_out_rows(y, share, classes)
    train = np.setdiff1d(np.arange(len(y)), test)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        again = refit(_safe_indexing(given, train), y[train])
    known, unseen = _rows(again, _safe_indexing(given, test))
    words = (
        f"{len(test):,} rows ({share:.0%} of each class) of a fit to the other {len(train):,}; the "
        "model of this page is fitted on all."
    )
    words = words if classes else words.replace(" of each class", "")
    return part_of("Held-out rows", words, as_model(known), test, unseen, y[test])


def held_out_rows(y: Array, share: float, classes: bool) -> Array:
    """The rows to hold out, the same each time: `share` of all, or of each class."""
    rng = np.random.default_rng(0)
    groups = [np.flatnonzero(y == one) for one in np.unique(y)] if classes else [np.arange(len(y))]
    taken = [
        rng.permutation(rows)[: min(len(rows) - 1, max(1, round(share * len(rows))))]
        for rows in groups
    ]
    return np.sort(np.concatenate(taken))


def part_of(name: str, words: str, model: Model, numbers: Array, X: Any, y: Array) -> Part:
    """What a model says of rows."""
    tally = tally_for(model.classes_)
    add_rows(tally, model, X, y)
    if model.classes_ is None:
        said = np.asarray(model.predict(X))
        return Part(name, words, model, numbers, X, y, tally, None, None, None, said)
    scores = np.asarray(model.decision_function(X))
    places = {str(one): k for k, one in enumerate(model.classes_.tolist())}
    codes = np.array([places.get(str(one), -1) for one in y.tolist()])
    chances = np.asarray(model.chances_of(scores)) if model.probabilistic else None
    said = model.classes_[model.places(scores)]
    return Part(name, words, model, numbers, X, y, tally, scores, codes, chances, said)
