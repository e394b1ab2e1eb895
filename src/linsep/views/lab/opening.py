"""What the lab is started with: a recorded run, or rows for learners to run on."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linsep.data.blocks.sampling import sample_by_class
from linsep.errors import DataError
from linsep.train.run.trace import Trace
from linsep.views.film.story import story_of
from linsep.views.lab.choices import POINTS
from linsep.views.lab.runs import Opened
from linsep.views.scene.run import Run, open_run
from linsep.views.sources import open_source
from linsep.views.stored import open_model

CLASSES = 20  # at most: more cannot be told apart, and are numbers as a rule
FEATURES = 1000  # at most: the path of the weights is kept whole
ROWS = 100_000  # at most, to take a sample from


def open_trace(name: str) -> Opened:
    """The run that a trace recorded."""
    return Opened(Path(name).name, story_of(open_run(Trace.load(name), None, None)), None, [], [])


def open_rows(name: str, target: str | None, classes: list[str] | None) -> Opened:
    """The rows of a file or of an embedded set: at most 2,000, an even sample of each class."""
    source = open_source(name, target, classes)
    X, y, more, said = _taken(name, target, source)
    read = f"X, y = open_data({name!r}, target={target!r}, classes={classes!r})"
    lines = ["from linsep.views.sources import open_data", read, *more]
    encoding = source.encoding
    columns = range(X.shape[1]) if encoding is None else encoding.feature_names
    return Opened(Path(name).name, None, (X, y), lines, [str(one) for one in columns], said)


def open_fitted(model: str, name: str, target: str | None, classes: list[str] | None) -> Opened:
    """A saved model on the rows of a file: a run of one frame."""
    known = open_model(model)
    if known.classes_ is None or known.form.name not in ("linear", "centred"):
        raise DataError(f"{model} holds a {known.learner}, which has no boundary that is a plane.")
    X, y, _, said = _taken(name, target, open_source(name, target, classes, like=known))
    strangers = np.setdiff1d(y, known.classes_)
    if len(strangers):
        raise DataError(f"{name} has the class {strangers[0]!r}, which {model} does not know.")
    title = f"{known.learner} of {Path(model).name}"
    still = Trace(known.learner, known.parameters, known.classes_.tolist())
    still.status = known.status_
    still.keep_rows(X, np.searchsorted(known.classes_, y))
    W, b = np.atleast_2d(known.coef_)[None], np.atleast_1d(known.intercept_)[None]
    story = story_of(Run(still, still.rows, W, b, [], 1), title)  # type: ignore[arg-type]
    return Opened(f"{title} on {Path(name).name}", story, None, [], [], said)


def _taken(name: str, target: str | None, source: Any) -> tuple[Any, Any, list[str], str]:
    """Rows and labels of a source, Python that takes them, and what the page says of a sample."""
    if source.n_rows > ROWS or source.n_features > FEATURES:
        raise DataError(
            f"{name} has {source.n_rows:,} rows of {source.n_features:,} features; the lab takes "
            f"at most {ROWS:,} of {FEATURES:,}. Record a run with `linsep fit {name} --learner "
            "Perceptron --trace run.jsonl` and open that."
        )
    X, y = source.load()
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise DataError(f"{name} has rows of one class only; the lab needs two or more.")
    if len(labels) > CLASSES:
        raise DataError(_too_many(name, target or _target(source), labels))
    some, more, said = sampled(codes)
    X = X[some].toarray() if sparse.issparse(X) else np.asarray(X[some], float)
    return X, y[some], more, said


def sampled(codes: Any) -> tuple[Any, list[str], str]:
    """Places of the rows that the lab takes, Python that takes them, and what the page says."""
    some = sample_by_class(codes, POINTS)
    if len(some) == len(codes):
        return some, [], ""
    lines = [f"some = {some.tolist()}", "X, y = X[some], y[some]"]
    return some, lines, f"{len(some):,} of {len(codes):,} rows"


def _target(source: Any) -> str:
    """The column of the labels, where nobody named it."""
    target = getattr(source.encoding, "target", None)
    return "the label" if target is None else str(target.column)


def _too_many(name: str, target: str, labels: Any) -> str:
    said = (
        f"{target} has {len(labels):,} different values in {name}; the lab takes at most {CLASSES} "
        "classes. "
    )
    if labels.dtype.kind in "iuf":
        middle = labels[len(labels) // 2]
        said += f"If they are numbers to predict, ask about them: --target '{target} > {middle}'. "
    some = ",".join(str(one) for one in labels[:2])
    return f"{said}To see some of the classes, give --classes {some}."
