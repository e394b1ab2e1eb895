"""The radius of a data set."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.rows.rows import Rows, square


class HasRows(Protocol):
    """Anything with rows and their number."""

    rows: Rows
    n_rows: int


@kernel
def _largest(rows, n):  # type: ignore[no-untyped-def]
    largest = 0.0
    for i in range(n):
        largest = max(largest, square(rows, i))
    return largest


@kernel
def _each(rows, lengths):  # type: ignore[no-untyped-def]
    for i in range(len(lengths)):
        lengths[i] = square(rows, i)


def squares(rows: Rows, n_rows: int) -> npt.NDArray[np.float64]:
    """‖xᵢ‖² of each row."""
    lengths = np.empty(n_rows)
    _each(rows, lengths)
    return lengths


def largest_square(data: HasRows) -> float:
    """R² = max ‖xᵢ‖²."""
    return float(_largest(data.rows, data.n_rows))
