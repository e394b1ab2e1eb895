"""`linsep.export`: a model for other programs, kept only if it answers as the model does."""

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._arguments import path_of
from linsep.data.files.atomic import replace
from linsep.errors import ModelFileError, ParameterError
from linsep.model.files.selftest import ROWS, row
from linsep.model.files.store import as_model
from linsep.model.forms import Framed
from linsep.model.ordinal import Ordinal
from linsep.model.pipeline import Mapped
from linsep.model.predictor import Model
from linsep.rows.channel_map import ChannelMap

Array = npt.NDArray[Any]

SAMPLES = 40


class Exported(NamedTuple):
    """What `export` wrote.

    Attributes
    ----------
    path : the file
    format : 'onnx', 'sql' or 'py'
    size : of the file, in bytes
    rows : sample rows on which the file and the model were compared
    difference : the largest between their scores
    """

    path: str
    format: str
    size: int
    rows: int
    difference: float


class Planes(NamedTuple):
    """Hyperplanes as ⟨w, x − c⟩ + b, whatever the form they were found in."""

    weights: Array
    intercept: Array
    centre: Array


def export(model: Any, path: str | os.PathLike[str], *, table: str = "data") -> Exported:
    """Write a fitted learner or loaded model for other programs, by the suffix of `path`.

    ======  ====================================================================================
    .onnx   a graph from features `X` (in float32 where the model is) to `label`, `scores` and,
            where there are, `probabilities`; needs the package onnx
    .sql    a SELECT over the columns of a table that adds `linsep_score` and `linsep_label`; works
            in SQLite, DuckDB, PostgreSQL and others. Texts are encoded as in the fit.
    .py     one file with `predict(rows)` and `predict_proba(rows)` that needs Python alone; rows
            are dicts by column, or lists of numbers, or an array of NumPy
    ======  ====================================================================================

    The file is run on sample rows first, and kept only if its scores are those of the model.

    Parameters
    ----------
    model : a fitted learner, or what `linsep.load` returned
    path : where to write, ending in .onnx, .sql or .py
    table : for .sql, the name of the table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from linsep import Perceptron, export
    >>> learner = Perceptron(shuffle=False).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = export(learner, Path(folder) / "model.sql")
    >>> made.format, made.rows
    ('sql', 40)
    """
    path = path_of("path", path)
    if not isinstance(table, str) or not table:
        raise ParameterError(f"table is {table!r:.60}; give the name of a table.")
    suffix = path.suffix.lower()
    known = as_model(model)
    if known.parameters.get("offset_") is True:
        raise ParameterError(
            "model was fitted with an offset given as numbers, which no export asks for. Fit with "
            "the name of a column, offset='NAME': then it is a feature whose weight is 1."
        )
    maps = known.form.maps if isinstance(known.form, Mapped) else ()
    if any(isinstance(one, ChannelMap) for one in maps):
        raise ParameterError(
            "a step of the pipeline is a Channels, which no export holds. Save the model "
            "(linsep.load and predict need NumPy alone), or export the last step."
        )
    if suffix == ".onnx":
        from linsep.model.export.onnx_graph import answers, graph_of, takes

        content, rows = graph_of(known), _feature_rows(known).astype(takes(known))
        scores, labels = answers(content, rows)
        wanted = rows.astype(np.float64)
    elif suffix == ".sql":
        from linsep.model.export.sql import answers_of, query_of, sample

        content = query_of(known, table).encode()
        columns, wanted = sample(known, SAMPLES)
        scores, labels = answers_of(content.decode(), table, columns)
        levels = levels_of(known)
        if levels is not None:  # SQL has scores and cuts between them, no logarithms
            scores = levels.of_levels(scores[:, 0], -levels.intercept.astype(np.float64))
    elif suffix == ".py":
        from linsep.model.export import python_source

        content = python_source.source_of(known).encode()
        rows, wanted = python_source.sample(known, SAMPLES)
        scores, labels = python_source.answers_of(content.decode(), rows)
    else:
        raise ParameterError(
            f"path ends in {suffix or 'nothing'!r}; end it in .onnx, .sql or .py to say what is "
            "wanted."
        )
    difference = _require_same(known, wanted, scores, labels, suffix)
    replace(path, [content])
    rows_checked = int(np.asarray(scores).shape[0])
    return Exported(str(path), suffix[1:], len(content), rows_checked, difference)


def planes_of(model: Model, what: str) -> Planes:
    """The hyperplanes of a model, or a refusal where it is something else."""
    form = model.form.inner if isinstance(model.form, Mapped) else model.form
    if form.name not in ("linear", "centred", "ordinal"):
        raise ParameterError(
            f"{model.learner} scores rows by {model.carries_rows} kept rows, which {what} cannot "
            "hold; fit a linear one, such as VotedPerceptron(decide='average') without a kernel."
        )
    inner = form.inner if isinstance(form, Framed) else form
    if inner.name == "centred":
        weights, intercept, centre = inner.planes[:3]
    else:
        weights = np.atleast_2d(inner.weights).astype(np.float64)
        intercept = np.atleast_1d(inner.intercept).astype(np.float64)
        centre = np.zeros(weights.shape[1])
    if levels_of(model) is not None:
        intercept = np.zeros(1)
    elif inner.name == "ordinal" and not inner.ranks[1]:
        weights, intercept = -weights, -intercept
    if isinstance(form, Framed):  # ⟨w, (x − c)/s − c'⟩ = ⟨w/s, x − (c + s c')⟩
        weights = weights / form.frame.scale
        centre = form.frame.centre + form.frame.scale * centre
    return Planes(weights, intercept, centre)


def levels_of(model: Model) -> Ordinal | None:
    """The thresholds of more than two ordered classes, whose one plane has no intercept."""
    form = model.inner
    return form if isinstance(form, Ordinal) and len(form.ranks) > 2 else None


def _feature_rows(model: Model) -> Array:
    """Sample rows of features around where the training rows were."""
    d = model.n_features_in_
    rows = np.concatenate([row(i, d) for i in range(ROWS)])
    spread = np.random.default_rng(0).normal(size=(SAMPLES - ROWS, d))
    return np.concatenate([rows, 3.0 * spread])


def _equal(label: Any, other: Any) -> bool:
    """Whether a label is what another program makes of it: truths are 1 and 0, bytes are texts."""
    if isinstance(label, bytes):
        label = label.decode("latin-1")
    return bool(label == other) or str(label) == str(other)


def _require_same(model: Model, X: Any, scores: Array, labels: list[Any], suffix: str) -> float:
    """Compare scores and labels with the model's; ModelFileError where they differ."""
    wanted = np.asarray(model.form.scores(X), np.float64).reshape(X.shape[0], -1)
    dense = X.toarray() if hasattr(X, "toarray") else X
    reach = np.asarray(model.form.reach(dense), np.float64).reshape(X.shape[0], -1)
    apart = np.abs(np.asarray(scores, np.float64).reshape(wanted.shape) - wanted)
    room = max(model.form.tolerance, 1e-9) * reach
    same = (apart <= room).all()
    if same and model.classes_ is not None:
        own = np.sort(wanted, axis=1)
        clear = np.abs(wanted[:, 0]) if wanted.shape[1] == 1 else own[:, -1] - own[:, -2]
        sure = clear > 2 * room.max(axis=1)
        said = model.predict(X).tolist()
        same = all(_equal(a, b) for a, b, s in zip(said, labels, sure, strict=True) if s)
    if not same:
        raise ModelFileError(
            f"The {suffix} made from this model answers otherwise than the model on sample rows "
            f"(scores differ by up to {apart.max():g}), so it was not kept. Scale the features, "
            "or report this."
        )
    return float(apart.max())
