"""The radius of a data set."""

from typing import Protocol

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


def largest_square(data: HasRows) -> float:
    """R² = max ‖xᵢ‖²."""
    return float(_largest(data.rows, data.n_rows))
