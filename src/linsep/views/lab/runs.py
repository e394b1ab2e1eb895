"""Fits with the real library, told as the player plays them, and as Python lines."""

import threading
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import linsep
from linsep.errors import DataError, NotConverged
from linsep.train.run.trace import Trace
from linsep.views.film.story import story_of
from linsep.views.lab.choices import LEARNERS, TOYS
from linsep.views.lab.request import Asked
from linsep.views.scene.run import Run, open_run

Array = npt.NDArray[Any]

_one_at_a_time = threading.Lock()  # warnings are filtered for the whole process


class Opened(NamedTuple):
    """What the lab was started with.

    Attributes
    ----------
    name : what the page calls it
    story : the run of a trace, or None
    rows : rows and labels of data, or None
    lines : Python that reads the data
    """

    name: str
    story: dict[str, Any] | None
    rows: tuple[Array, Array] | None
    lines: list[str]


def run(asked: Asked, opened: Opened | None = None) -> dict[str, Any]:
    """The stories of a request, the models that came out, and Python that does the same."""
    X, y, lines = _rows(asked, opened)
    stories, models = [], []
    lines = ["import linsep", *lines]
    for place, name in zip(("first", "second"), asked.learners, strict=False):
        kind, given = LEARNERS[name].kind, settings(name, asked.parameters)
        learner = getattr(linsep, kind)(**given)
        with _one_at_a_time, warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.fit(X, y)
            stories.append(_story(learner, X, y, LEARNERS[name].label))
        sentence = learner.status_.value
        cause = getattr(learner, "diagnosis_", None) or sentence
        ending = stories[-1]["status"].replace(sentence, cause)
        models.append(_model(learner, X, y, LEARNERS[name].label, ending))
        said = ", ".join(f"{key}={value!r}" for key, value in given.items())
        lines.append(f"{place} = linsep.{kind}({said}).fit(X, y)")
        lines.append(f'linsep.film({place}.trace_, "{place}.html")')
    return {"stories": stories, "models": models, "python": "\n".join(lines)}


def settings(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """All arguments of a learner of the menu."""
    learner = LEARNERS[name]
    return learner.fixed | {key: parameters[key] for key in learner.takes} | {"trace": True}


def _rows(asked: Asked, opened: Opened | None) -> tuple[Array, Array, list[str]]:
    if asked.toy is not None:
        toy = TOYS[asked.toy]
        said = ", ".join(f"{key}={value!r}" for key, value in toy.given.items())
        make = toy.make.__name__
        lines = [f"from linsep.data.toys import {make}", f"X, y = {make}({said})"]
        return *toy.rows(), lines
    if asked.rows is not None:
        X, y = asked.rows
        return X, y, [f"X = {X.tolist()}", f"y = {y.tolist()}"]
    if opened is None or opened.rows is None:
        raise DataError("The lab was opened without data; ask for a toy or for points.")
    return *opened.rows, opened.lines


def _story(learner: Any, X: Array, y: Array, title: str) -> dict[str, Any]:
    trace = learner.trace_
    if trace.updates:
        return story_of(open_run(learner, None, None), title)
    # Not one step: the start is where the fit ended, as for logistic regression on XOR.
    codes = np.searchsorted(learner.classes_, y)
    still = Trace(trace.learner, trace.parameters, learner.classes_.tolist())
    still.keep_rows(X, codes)
    still.status = learner.status_
    W, b = learner.coef_[None], learner.intercept_[None]
    return story_of(Run(still, still.rows, W, b, [], 1), title)  # type: ignore[arg-type]


def _model(learner: Any, X: Array, y: Array, title: str, ending: str) -> dict[str, Any]:
    """What the fit returned, which is what the last frame shows."""
    return {
        "learner": title,
        "w": learner.coef_.tolist(),
        "b": np.atleast_1d(learner.intercept_).tolist(),
        "wrong": int((learner.predict(X) != y).sum()),
        "rows": len(y),
        "status": ending,
    }
