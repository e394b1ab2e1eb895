"""What a report says, as plain values."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.errors import DataError
from linsep.model.store import as_model
from linsep.views.metrics import Confusion, tally_for
from linsep.views.report.pipelines import prepared
from linsep.views.scoring import proof_of

Array = npt.NDArray[Any]
Plane = tuple[str, float, list[tuple[str, float]]]  # name, intercept, (feature, weight) each

ENTRIES = 2_000_000  # numbers in the rows up to which separability is asked for
SECONDS = 10.0
LARGEST = 25  # weights shown for each plane
PLANES = 12


class Found(NamedTuple):
    """All that a report shows.

    Attributes
    ----------
    model : as it would be saved
    rows : how many rows it was tried on
    facts : sentences with a heading each
    tally : errors, and the confusion matrix of classes
    weights : for each plane its name, intercept, and (feature, weight) largest first
    scores : (n,) for two classes, (n, K) for more, None for numbers
    codes : (n,) class of each row, None for numbers
    chances : (n,) probability of the second class of two, or None
    truth, said : numbers and predictions of a regression, or None
    X : the rows, where they have two features
    """

    model: Any
    rows: int
    facts: list[tuple[str, str]]
    tally: Any
    weights: list[Plane]
    scores: Array | None
    codes: Array | None
    chances: Array | None
    truth: Array | None
    said: Array | None
    X: Array | None


def find(learner: Any, X: Any, y: Any) -> Found:
    """Predict, count and prove."""
    learner, X, names, steps = prepared(learner, X)
    model = as_model(learner)
    rows = check_rows(X)
    n, d = rows.shape
    if d != model.n_features_in_:
        raise DataError(f"X has {d} features; the model was fitted on {model.n_features_in_}.")
    said = np.asarray(model.predict(rows))
    tally = tally_for(model.classes_)
    tally.add(np.asarray(y), said)
    facts = [("Rows prepared by", steps)] if steps else []
    facts.append(("How it ended", model.status_.value))
    proof = proof_of(learner) if hasattr(learner, "get_params") else None
    if proof:
        facts.append(("Proved of the fit", proof[0].upper() + proof[1:]))
    weights = _weights(model, names or model.feature_names)
    shared = {"model": model, "rows": n, "facts": facts, "tally": tally, "weights": weights}
    if model.classes_ is None:
        truth = np.asarray(y, float)
        return Found(
            **shared, scores=None, codes=None, chances=None, truth=truth, said=said, X=None
        )
    # what a learner fits to scaled rows through the origin is no plane through theirs
    fit_intercept = model.scaled is not None or bool(model.parameters.get("fit_intercept", True))
    facts.append(
        ("Separable, as prepared" if steps else "Separable", _separable(rows, y, fit_intercept))
    )
    if isinstance(tally, Confusion) and tally.unknown:
        facts.append(("Classes unknown to the model", ", ".join(map(str, tally.unknown))))
    binary = len(model.classes_) == 2
    known = {str(one): k for k, one in enumerate(model.classes_.tolist())}
    codes = np.array([known.get(str(one), -1) for one in np.asarray(y).tolist()])
    chances = None
    if binary and model.probabilistic:
        chances = np.asarray(model.predict_proba(rows))[:, 1]
    plane = np.asarray(rows, float) if d == 2 and not hasattr(rows, "toarray") else None
    scores = np.asarray(model.decision_function(rows))
    return Found(
        **shared, scores=scores, codes=codes, chances=chances, truth=None, said=None, X=plane
    )


def _separable(X: Any, y: Any, fit_intercept: bool) -> str:
    from linsep import separability

    if len(encode(y, X.shape[0], np.unique(np.asarray(y)))[0]) < 2:
        return "These rows are all of one class."
    if X.shape[0] * X.shape[1] > ENTRIES:
        return "Not asked: there are many rows. `linsep certify DATA` proves it."
    return separability(X, y, fit_intercept=fit_intercept, time_limit=SECONDS).verdict


def _weights(model: Any, names: list[str] | None) -> list[Plane]:
    """Each plane with its largest weights; nothing where the model has none."""
    try:
        planes, biases = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    except AttributeError:
        return []
    d = planes.shape[1]
    names = names or [f"x{k}" for k in range(d)]
    classes = [] if model.classes_ is None else [str(one) for one in model.classes_.tolist()]
    if len(classes) == 2:
        called = [f"towards {classes[1]}, away from {classes[0]}"]
    else:
        called = [f"towards {one}" for one in classes] or ["of the prediction"]
    rows = []
    for name, w, b in zip(called[:PLANES], planes[:PLANES], biases[:PLANES], strict=False):
        order = np.argsort(-np.abs(w), kind="stable")[:LARGEST]
        rows.append((name, float(b), [(names[k], float(w[k])) for k in order]))
    return rows
