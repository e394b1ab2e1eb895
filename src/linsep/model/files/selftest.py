"""Five rows that every model is asked about when it is saved, and again when it is loaded.

The rows are made by a formula, from nothing but their size, so a file holds no data:

    x[i, j] = ((2654435761 (j + 1) + 2246822519 (i + 1) (j + 7)) mod 2³² div 2²⁴ − 128) / 64

which lies in [−2, 2) and is exact in both float types. What was answered is in the file. Sums are
rounded differently by different processors, so answers must agree to a part of the sizes added up.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans

Array = npt.NDArray[Any]

ROWS = 5


def row(i: int, n_features: int, dtype: Any = np.float64) -> Array:
    """Row i, as a table of one row.

    >>> row(0, 4)
    array([[-0.890625, -0.328125,  0.234375,  0.8125  ]])
    """
    x = np.empty((1, n_features), dtype)
    for start, stop in spans(n_features, 1 << 16):
        j = np.arange(start, stop, dtype=np.uint64)
        mixed = np.uint64(2654435761) * (j + np.uint64(1))
        mixed += np.uint64(2246822519 * (i + 1)) * (j + np.uint64(7))
        top = (mixed % np.uint64(1 << 32)) >> np.uint64(24)
        x[0, start:stop] = (top.astype(dtype) - dtype(128)) / dtype(64)
    return x


def answers(form: Any, n_features: int) -> list[list[float]] | None:
    """The scores of the five rows; None where they leave the range of floats."""
    by_row = []
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(ROWS):
            scores = np.asarray(form.scores(row(i, n_features)), np.float64).reshape(-1)
            if not np.isfinite(scores).all():
                return None
            by_row.append(scores.tolist())
    return by_row


def agrees(form: Any, n_features: int, expected: list[list[float]] | None) -> bool:
    """Whether the model answers as it did when it was saved."""
    scores = answers(form, n_features)
    if scores is None or expected is None:
        return scores is expected
    for i, (here, there) in enumerate(zip(scores, expected, strict=True)):
        reach = form.reach(row(i, n_features)).reshape(-1)
        apart = np.abs(np.array(here) - np.array(there))
        if not (apart <= form.tolerance * reach).all():
            return False
    return True
