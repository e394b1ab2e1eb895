"""The numbers that a regression is to predict: finite, one or several for each row."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import widened
from linsep.data.blocks.store import blocks
from linsep.errors import DataError

Array = npt.NDArray[Any]


def _first_wrong(y: Any) -> str:
    """The first target that is no finite number, and what to do; nothing where none is found."""
    for row, one in enumerate(np.asarray(y, dtype=object).reshape(-1)):
        try:
            number = float(one)
        except (TypeError, ValueError):
            return (
                f"y is {_plain(one)!r} at row {row}; a regression predicts numbers. Give numbers, "
                "or use a classifier such as LogisticRegression."
            )
        if not np.isfinite(number):
            kind = "NaN" if np.isnan(number) else "infinity"
            return (
                f"Input y contains {kind}: y is {number} at row {row}; give finite numbers, or "
                "leave the row out."
            )
    return ""


def _finite(y: Array) -> bool:
    return all(bool(np.isfinite(y[part]).all()) for part in blocks(y))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def targets_of(y: Any, n_rows: int) -> Array:
    """The numbers to predict, finite, one or several for each row."""
    if y is None:
        raise DataError(
            "This learner requires y to be passed, but the target y is None; "
            "give one number per row."
        )
    if type(y) in (np.ndarray, np.memmap) and y.dtype.kind in "fiub" and y.size and _finite(y):
        Y = widened(y, np.float64)  # as a file gives it
    else:
        from sklearn.utils.validation import check_array

        try:
            Y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        except (TypeError, ValueError) as problem:
            raise DataError(_first_wrong(y) or str(problem)) from None
    if Y.ndim not in (1, 2):
        raise DataError(f"y has shape {Y.shape}; give one number per row, or one row of numbers.")
    if len(Y) != n_rows:
        raise DataError(
            f"X has {n_rows} rows but y has {len(Y)} targets; "
            "give one per row (inconsistent numbers of samples)."
        )
    return np.asarray(Y)
