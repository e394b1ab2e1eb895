"""Room for ZᵀZ of rows that were just written down, a few hundred at a time, in one compiled call.

BLAS multiplies large matrices; here rows are short, and many. Columns are written in panels, each
with all rows of a few hundred, so that they are read in a row while their products stay in
registers.
"""

from typing import Any

import numpy as np

TOGETHER = 127  # rows that are multiplied at a time; odd, so that panels share no cache sets


def tiles(width: int, dtype: Any) -> tuple[Any, Any]:
    """Room for rows of so many columns in panels of 96 bytes, and zeros for their products."""
    columns = 96 // np.dtype(dtype).itemsize
    count = -(-width // columns)
    return np.empty((count, TOGETHER, columns), dtype), np.zeros((count * columns,) * 2, dtype)


def symmetric(G: Any, width: int) -> Any:
    """The whole matrix of so many columns, of which `products` makes the lower half."""
    lower = np.tril(G[:width, :width])
    return lower + np.tril(lower, -1).T
