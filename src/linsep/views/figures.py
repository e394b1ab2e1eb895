"""The figures people quote of a classifier, from the labels, scores and probabilities of rows.

Definitions are scikit-learn's: of several classes, `roc_auc` and `average_precision` are means over
one class against the rest.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

RESAMPLES = 200
MOST_RESAMPLED = 200_000  # rows beyond which an interval by resampling would say nothing new


class Interval(NamedTuple):
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


def exact_interval(right: int, n: int) -> Interval:
    """Clopper and Pearson's interval for a share of `right` in n.

    >>> [round(end, 4) for end in exact_interval(8, 10)]
    [0.4439, 0.9748]
    """
    low = 0.0 if right == 0 else _beta_quantile(right, n - right + 1, 0.025)
    high = 1.0 if right == n else _beta_quantile(right + 1, n - right, 0.975)
    return Interval(low, high)


def _beta_quantile(a: int, b: int, level: float) -> float:
    """Where a beta distribution reaches a level, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        below = _beta_share(a, b, middle) < level
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def _beta_share(a: int, b: int, x: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction."""
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta_share(b, a, 1.0 - x)
    if x <= 0.0:
        return 0.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(front + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1))
    f = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d, c = 1.0 / (1.0 + term * d), 1.0 + term / c
            step = c * d
            f *= step
        if abs(step - 1.0) < 1e-14:
            break
    return front * f


def roc_auc(positive: Array, scores: Array, weights: Array | None = None) -> float | None:
    """The chance that a positive row scores above a negative one, ties counting half.

    >>> roc_auc(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.35, 0.8]))
    1.0
    """
    if weights is None:
        return _area(*_apart(positive, scores))
    return _Ranked(positive, scores).roc_auc(weights)


def average_precision(positive: Array, scores: Array) -> float | None:
    """Σ (Rₖ − Rₖ₋₁) Pₖ over thresholds from high to low: precisions P by gains of recall R."""
    return _precision(*_apart(positive, scores))


def _apart(positive: Array, scores: Array) -> tuple[Array, Array]:
    """The scores of positive and of negative rows, each from the lowest on."""
    positive, scores = np.asarray(positive, bool), np.asarray(scores, np.float64)
    high, low = scores[positive], scores[~positive]
    high.sort()
    low.sort()
    return high, low


def _area(high: Array, low: Array) -> float | None:
    """The share of pairs that are in order, ties counting half."""
    if not (len(high) and len(low)):
        return None
    pairs = sum(int(np.searchsorted(low, high, side).sum()) for side in ("left", "right"))
    return pairs / (2 * len(high) * len(low))


def _precision(high: Array, low: Array) -> float | None:
    if not len(high):
        return None
    first = np.flatnonzero(np.append(True, high[1:] != high[:-1]))  # of each tie
    true = len(high) - first
    said = true + (len(low) - np.searchsorted(low, high[first]))
    gained = np.diff(first, append=len(high))
    return float(np.sum(gained * (true / said)) / len(high))


class _Ranked:
    """Rows from the highest score to the lowest, equal scores together, to be weighted."""

    def __init__(self, positive: Array, scores: Array) -> None:
        self.order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
        self.positive = np.asarray(positive)[self.order]
        ranked = np.asarray(scores)[self.order]
        self.last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))  # of each tie

    def _sums(self, weights: Array | None) -> tuple[Array, Array]:
        w = np.ones(len(self.order)) if weights is None else weights[self.order]
        true = np.cumsum(w * self.positive)[self.last]
        false = np.cumsum(w * ~self.positive)[self.last]
        return true, false

    def roc_auc(self, weights: Array | None = None) -> float | None:
        if not len(self.order):
            return None
        true, false = self._sums(weights)
        if true[-1] == 0 or false[-1] == 0:
            return None
        before = np.append(0.0, true[:-1])
        area = np.sum(np.diff(false, prepend=0.0) * (true + before)) / 2
        return float(area / (true[-1] * false[-1]))

    def interval(self) -> Interval | None:
        """Of the area, by resampling rows."""
        n = len(self.order)
        if not 1 < n <= MOST_RESAMPLED:
            return None
        rng = np.random.default_rng(0)
        areas = []
        for _ in range(RESAMPLES):
            drawn = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
            area = self.roc_auc(drawn)
            if area is not None:
                areas.append(area)
        if len(areas) < RESAMPLES // 2:
            return None
        low, high = np.quantile(areas, [0.025, 0.975]).tolist()
        return Interval(low, high)


def ranking_figures(codes: Array, scores: Array) -> dict[str, Any]:
    """Areas for scores: a vector for two classes, a column for each of more."""
    if scores.ndim == 1:
        high, low = _apart(codes == 1, scores)
        area, interval = _area(high, low), None
        if area is not None and len(codes) <= MOST_RESAMPLED:
            interval = _Ranked(codes == 1, scores).interval()
        return {
            "roc_auc": area,
            "roc_auc_interval": None if interval is None else list(interval),
            "average_precision": _precision(high, low),
        }
    areas, precisions = [], []
    for k in range(scores.shape[1]):
        high, low = _apart(codes == k, scores[:, k])
        areas.append(_area(high, low))
        precisions.append(_precision(high, low))
    return {
        "roc_auc": _mean(areas),
        "roc_auc_interval": None,
        "average_precision": _mean(precisions),
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else math.fsum(known) / len(known)


def probability_figures(codes: Array, chances: Array) -> dict[str, float]:
    """Log loss and Brier's score of probabilities, a column for each class; of two classes also
    from those of the own class alone."""
    if chances.ndim == 1:
        own, brier = chances, float(np.mean(np.square(1.0 - chances)))
    else:
        rows = np.arange(len(codes))
        own, hit = chances[rows, codes], np.zeros_like(chances)
        hit[rows, codes] = 1.0
        brier = float(np.mean(np.square(chances - hit).sum(axis=1)))
    own = np.clip(own, np.finfo(np.float64).eps, 1.0)
    return {"log_loss": float(-np.mean(np.log(own))), "brier": brier}


def per_class(matrix: Array, labels: list[Any]) -> list[dict[str, Any]]:
    """Precision, recall and F1 of every class, zero where nothing was predicted or there."""
    counts = np.asarray(matrix, np.float64)
    right, there, said = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    figures = []
    for k, label in enumerate(labels):
        precision = float(right[k] / said[k]) if said[k] else 0.0
        recall = float(right[k] / there[k]) if there[k] else 0.0
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        figures.append({"class": label, "precision": precision, "recall": recall, "f1": f1,
                        "rows": int(there[k])})  # fmt: skip
    return figures
