"""What a decision of two classes costs and finds, wherever its threshold is put."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

CHANCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Threshold(NamedTuple):
    """Rows at or above `at` are taken for the second class.

    Attributes
    ----------
    at : probability or score
    taken : share of rows taken for it
    precision, recall, f1, specificity : as usual; NaN where nothing was taken or there
    """

    at: float
    taken: float
    precision: float
    recall: float
    f1: float
    specificity: float


def thresholds(scores: Array, positive: Array, at: Any) -> list[Threshold]:
    """The figures at each threshold.

    >>> thresholds(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]), [0.5])[0][2:5]
    (1.0, 0.5, 0.6666666666666666)
    """
    table = []
    for one in at:
        said = scores >= one
        hits, there, taken = int((said & positive).sum()), int(positive.sum()), int(said.sum())
        precision = hits / taken if taken else float("nan")
        recall = hits / there if there else float("nan")
        both = taken + there
        f1 = 2 * hits / both if both else float("nan")
        others = len(positive) - there
        spared = (others - (taken - hits)) / others if others else float("nan")
        table.append(Threshold(float(one), taken / len(said), precision, recall, f1, spared))
    return table


def places_of(scores: Array, chances: Array | None) -> tuple[Array, Array, str]:
    """What thresholds are put on, where, and what it is called."""
    if chances is not None:
        return chances[:, 1], np.array(CHANCES), "probability"
    between = np.quantile(scores, np.linspace(0.05, 0.95, 9))
    return scores, np.unique(np.append(between, 0.0)), "score"
