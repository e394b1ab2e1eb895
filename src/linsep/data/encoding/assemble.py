"""Columns of a table side by side, as rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.buffer_pool import lent
from linsep.kernels import tables

Array = npt.NDArray[Any]

NUMBERS = {np.dtype(kind) for kind in (np.float64, np.int32, np.int64)}
"""What kernels read as it is."""


class Beside(NamedTuple):
    """What becomes of a column: its first feature, how many there are, and what fills a gap.

    `places` has for a column of texts the feature of each code, -1 for none and at the end for a
    missing text; None says that the cells are numbers.
    """

    first: int
    width: int
    fill: float = np.nan
    places: Array | None = None


def dense(columns: Sequence[Array], become: Sequence[Beside]) -> tuple[Array, Array]:
    """Rows of all features; and for each column whether it has a NaN or an infinity."""
    cells = [_cells(*pair) for pair in zip(columns, become, strict=True)]
    odd = np.zeros(len(cells), np.int64)
    rows = lent(len(columns[0]), sum(one.width for one in become))
    tables.dense(cells, odd, rows)
    return rows, odd != 0


def sparse(
    columns: Sequence[Array], become: Sequence[Beside]
) -> tuple[tuple[Array, Array, Array], Array]:
    """Rows as entries, places and pointers of a CSR matrix; and which columns `dense` calls odd."""
    cells = [_cells(*pair) for pair in zip(columns, become, strict=True)]
    n = len(columns[0])
    odd = np.zeros(len(cells), np.int64)
    values, places = lent(1, n * len(cells))[0], lent(1, n * len(cells), np.int32)[0]
    pointers = np.zeros(n + 1, np.int32)
    entries = tables.sparse(cells, odd, values, places, pointers[1:])
    return (values[:entries], places[:entries], pointers), odd != 0


def _cells(column: Array, one: Beside) -> tuple[Array, int, float, Array | None]:
    """A column as kernels take it: codes of texts, or numbers of the types they know."""
    kind = column.dtype if column.dtype in NUMBERS else np.dtype(np.float64)
    if one.places is not None:
        kind = np.dtype(np.int32)
    return np.ascontiguousarray(column, kind), one.first, one.fill, one.places
