"""What a report says, as plain values."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.check.labels import encode
from linsep.data.sources.dataset import Chunks
from linsep.data.table.memory import columns_of as columns_of_table
from linsep.data.table.memory import is_table
from linsep.model.files.store import as_model
from linsep.model.predictor import Model
from linsep.views.metrics import Confusion
from linsep.views.report.coefficients import Plane, planes_of, spread_of
from linsep.views.report.columns import Column, columns_of
from linsep.views.report.parts import Part, Refit, parts_of
from linsep.views.report.pipelines import prepared
from linsep.views.report.reproduce import data_print, lines_of, versions
from linsep.views.report.worst import Mistake, worst_of
from linsep.views.scoring import proof_of

Array = npt.NDArray[Any]

ENTRIES = 2_000_000  # numbers in the rows up to which separability is asked for
SECONDS = 10.0


class Found(NamedTuple):
    """All that a report shows.

    Attributes
    ----------
    model : as it would be saved
    steps : what prepares rows before it, or nothing
    parts : rows it is judged by, those that say most first
    proofs : what is certain of the fit and of the rows: a heading and a sentence each
    planes : weights
    mistakes : the rows it is most wrong about, of the first part
    columns : the features of the rows
    missing : how many cells of each column of a table are, where some are
    again : how to have the same numbers again: a heading and a text each
    """

    model: Any
    steps: str
    parts: list[Part]
    proofs: list[tuple[str, str]]
    planes: list[Plane]
    mistakes: list[Mistake]
    columns: list[Column]
    missing: dict[str, int]
    again: list[tuple[str, str]]


def find(
    learner: Any, X: Any, y: Any, *, test: Any = None, holdout: float | None = None,
    refit: Refit | None = None, command: str = "", source: str = "",
    missing: dict[str, int] | None = None,
) -> Found:  # fmt: skip
    """Predict, count and prove."""
    if isinstance(learner, Model) and hasattr(learner.form, "maps"):
        learner = learner.to_estimator()  # a pipeline, whose steps are told of
    missing = _missing(learner, X) if missing is None else missing
    parts = parts_of(learner, X, y, test, holdout, refit)
    known, _, piped, steps = prepared(learner, X[:1] if _sliced(X) else X)
    model, own = as_model(known), parts[-1]
    names = piped or model.feature_names or [f"x{k}" for k in range(model.n_features_in_)]
    spread = spread_of(own.X)
    proofs = [("How it ended", model.status_.value)]
    diagnosis = getattr(getattr(known, "learner_", known), "diagnosis_", None)
    if diagnosis and diagnosis != model.status_.value:
        proofs.append(("Why", diagnosis))
    proof = proof_of(known) if hasattr(known, "get_params") else None
    if proof:
        proofs.append(("Proved of the fit", proof[0].upper() + proof[1:]))
    if model.classes_ is not None:
        proofs += _of_rows(model, own, steps)
    again = [("Command", command)] if command else []
    again.append(("Python", lines_of(learner, model, parts[0].name == "Held-out rows",
                                     test is not None)))  # fmt: skip
    again.append(("Versions", versions()))
    again += [("Data", source)] if source else []
    again.append(("Rows, as the model takes them", data_print(own.X, own.y)))
    return Found(
        model, steps, parts, proofs, planes_of(model, names, spread),
        worst_of(parts[0], names, _means(own.X)), columns_of(own.X, names),
        missing, again,
    )  # fmt: skip


def _missing(learner: Any, X: Any) -> dict[str, int]:
    """Cells of a table that are missing, as the model reads it."""
    if isinstance(X, Chunks):
        return {name: n for name, n in getattr(X.source, "missing", {}).items() if n}
    encoding = getattr(learner, "encoding_", None)
    if encoding is None or not encoding.columns or not is_table(X):
        return {}
    return dict(encoding.gaps(columns_of_table(X)))


def _sliced(X: Any) -> bool:
    return isinstance(X, np.ndarray) or hasattr(X, "iloc")


def _means(X: Any) -> Array:
    return np.asarray(X.mean(axis=0)).ravel()


def _of_rows(model: Any, own: Part, steps: str) -> list[tuple[str, str]]:
    """Whether a plane separates the rows, and which classes the model does not know."""
    # what a learner fits to scaled rows through the origin is no plane through theirs
    fit_intercept = model.scaled is not None or bool(model.parameters.get("fit_intercept", True))
    heading = "Separable, as prepared" if steps else "Separable"
    facts = [(heading, _separable(own.X, own.y, fit_intercept))]
    if isinstance(own.tally, Confusion) and own.tally.unknown:
        facts.append(("Classes unknown to the model", ", ".join(map(str, own.tally.unknown))))
    return facts


def _separable(X: Any, y: Any, fit_intercept: bool) -> str:
    from linsep import separability

    if len(encode(y, X.shape[0], np.unique(np.asarray(y)))[0]) < 2:
        return "These rows are all of one class."
    if X.shape[0] * X.shape[1] > ENTRIES:
        return "Not asked: there are many rows. `linsep certify DATA` proves it."
    return separability(X, y, fit_intercept=fit_intercept, time_limit=SECONDS).verdict
