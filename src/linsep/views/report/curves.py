"""ROC, precision and recall, calibration, and how far right classes are ahead, as numbers."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.views.figures import Interval, average_precision, exact_interval

Array = npt.NDArray[Any]

BINS = 10
MOST = 2000  # points of a curve


def leads_of(scores: Array, codes: Array) -> Array:
    """Signed scores of two classes; for more, how far the right one is ahead of the next."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    own = np.arange(scores.shape[1]) == codes[:, None]
    others = np.where(own, -np.inf, scores).max(axis=1)
    right = np.where(codes >= 0, scores[np.arange(len(codes)), np.maximum(codes, 0)], -np.inf)
    return right - others


def _counts(scores: Array, positive: Array) -> tuple[Array, Array]:
    """Rows of the class, and others, at or above each score from the highest down; first none."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # ties move together
    hits = np.concatenate([[0], np.cumsum(positive[order])[last]])
    wrong = np.concatenate([[0], np.cumsum(~positive[order])[last]])
    return hits, wrong


def _thin(most: int, *curves: Array) -> tuple[Array, ...]:
    if len(curves[0]) <= most:
        return curves
    keep = np.unique(np.linspace(0, len(curves[0]) - 1, most).astype(int))
    return tuple(one[keep] for one in curves)


def roc(scores: Array, codes: Array, most: int = MOST) -> tuple[Array, Array, float]:
    """Shares of others and of the second class at or above each score, and the area.

    >>> roc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))[2]
    0.75
    """
    some = codes >= 0
    hits, wrong = _counts(scores[some], codes[some] == 1)
    true, false = hits / hits[-1], wrong / wrong[-1]
    area = float(np.trapezoid(true, false))
    false, true = _thin(most, false, true)
    return false, true, area


def precision_recall(
    scores: Array, positive: Array, most: int = MOST
) -> tuple[Array, Array, float]:
    """Recall and precision at or above each score, and the average precision.

    >>> precision_recall(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]))[2]
    1.0
    """
    hits, wrong = _counts(scores, positive)
    recall, precision = hits[1:] / hits[-1], hits[1:] / (hits[1:] + wrong[1:])
    mean = average_precision(positive, scores)
    recall, precision = _thin(most, np.append(0.0, recall), np.append(precision[0], precision))
    return recall, precision, float("nan") if mean is None else mean


class Tenth(NamedTuple):
    """Rows of about one probability: its mean, the share that came true with its interval."""

    said: float
    came: float
    interval: Interval
    rows: int


def calibration(chances: Array, positive: Array) -> list[Tenth]:
    """Rows sorted by what was said of them, in tenths."""
    order = np.argsort(chances, kind="stable")
    tenths = []
    for part in np.array_split(order, BINS):
        if len(part):
            right = int(positive[part].sum())
            came = right / len(part)
            ends = exact_interval(right, len(part))
            tenths.append(Tenth(float(chances[part].mean()), came, ends, len(part)))
    return tenths


def mean_interval(values: Array) -> Interval:
    """Where the mean of independent losses lies with 95 % confidence, by the normal law.

    Losses are never negative, so that their mean is not either.

    >>> mean_interval(np.array([1.0, 1.0]))
    Interval(low=1.0, high=1.0)
    >>> mean_interval(np.array([0.0, 0.0, 0.0, 1.0])).low
    0.0
    """
    n, mean = len(values), float(np.mean(values))
    half = 1.959964 * float(np.std(values, ddof=1)) / n**0.5 if n > 1 else float("inf")
    return Interval(max(0.0, mean - half), mean + half)


def losses(codes: Array, chances: Array) -> tuple[Array, Array]:
    """Log loss and Brier's score of each row."""
    rows = np.arange(len(codes))
    own = np.clip(chances[rows, codes], np.finfo(np.float64).eps, 1.0)
    if chances.shape[1] == 2:
        return -np.log(own), np.square(1.0 - own)
    hit = np.zeros_like(chances)
    hit[rows, codes] = 1.0
    return -np.log(own), np.square(chances - hit).sum(axis=1)
