"""The radius of a data set."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from linsep.kernels import rows as kernels
from linsep.rows.rows import Rows


class HasRows(Protocol):
    """Anything with rows and their number."""

    rows: Rows
    n_rows: int


def squares(rows: Rows, n_rows: int) -> npt.NDArray[np.float64]:
    """‖xᵢ‖² of each row."""
    lengths = np.empty(n_rows)
    kernels.squares(rows, lengths)
    return lengths


def largest_square(data: HasRows) -> float:
    """R² = max ‖xᵢ‖²."""
    return float(kernels.largest_square(data.rows))
