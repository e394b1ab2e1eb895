"""The rows that a model is most wrong about, and what in them led it astray."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.views.metrics import plain
from linsep.views.report.parts import Part

Array = npt.NDArray[Any]

SHOWN = 10
FEATURES = 5


class Mistake(NamedTuple):
    """A row that was predicted wrong.

    Attributes
    ----------
    row : its number among the rows given, counted from 0
    truth, said : what it is, and what was predicted
    by : how far wrong: a probability, a lead of scores, or the error of a number
    values : the features that spoke most for the wrong answer, with their values
    """

    row: int
    truth: str
    said: str
    by: float
    values: list[tuple[str, float]]


def worst_of(part: Part, names: list[str], middle: Array) -> list[Mistake]:
    """The rows with the largest errors, the worst first."""
    if part.codes is None:
        errors = np.abs(part.said.ravel() - np.asarray(part.y, float).ravel())
        order = np.argsort(-errors, kind="stable")[:SHOWN]
        wrong, by = order, (part.said.ravel() - np.asarray(part.y, float).ravel())
    else:
        by = _wrongness(part)
        wrong = np.flatnonzero(np.asarray(part.said).astype(str) != part.y.astype(str))
        wrong = wrong[np.argsort(-by[wrong], kind="stable")][:SHOWN]
    return [
        Mistake(int(part.numbers[k]), str(plain(part.y[k])), _said(part.said[k]), float(by[k]),
                _values(part, names, middle, int(k)))
        for k in wrong
    ]  # fmt: skip


def _said(value: Any) -> str:
    value = plain(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _wrongness(part: Part) -> Array:
    """Probability of what was said, or how far its score is above that of the truth."""
    assert part.codes is not None and part.scores is not None
    rows = np.arange(len(part.codes))
    if part.chances is not None:
        return np.asarray(part.chances.max(axis=1))
    if part.scores.ndim == 1:
        return np.asarray(np.abs(part.scores))
    own = np.where(part.codes >= 0, part.scores[rows, np.maximum(part.codes, 0)], -np.inf)
    return np.asarray(part.scores.max(axis=1) - own)


def _values(part: Part, names: list[str], middle: Array, k: int) -> list[tuple[str, float]]:
    """The features of a row that moved its score most from that of the mean row."""
    row = part.X[[k]]
    row = np.asarray(row.toarray() if hasattr(row, "toarray") else row, float)[0]
    try:
        planes = np.atleast_2d(part.model.coef_)
    except AttributeError:
        pulls = np.abs(row - middle)
    else:
        pulls = _direction(part, planes, k) * (row - middle)
    order = np.argsort(-pulls, kind="stable")[:FEATURES]
    return [(names[j], float(row[j])) for j in order if pulls[j] > 0]


def _direction(part: Part, planes: Array, k: int) -> Array:
    """The weights that speak for what was said of a row, and against what it is."""
    if part.codes is None:
        too_high = float(part.said.ravel()[k]) > float(part.y.ravel()[k])
        return np.asarray(planes[0] if too_high else -planes[0])
    assert part.scores is not None
    said, ranks = int(np.argmax(part.scores[k])), part.model.ranks
    if ranks is not None and len(ranks) > 2:
        return np.asarray(planes[0] if ranks[said] > ranks[part.codes[k]] else -planes[0])
    if len(planes) == 1:
        return np.asarray(planes[0] if part.codes[k] != 1 else -planes[0])
    return np.asarray(planes[said] - (planes[part.codes[k]] if part.codes[k] >= 0 else 0))
