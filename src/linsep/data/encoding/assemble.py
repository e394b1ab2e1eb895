"""Columns of a table side by side, as rows: by compiled code, or NumPy where there is none.

A process that only predicts never compiles anything, and one that sees few rows does not even load
what was compiled before: NumPy gives the same bytes.
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.buffer_pool import lent
from linsep.data.encoding.assemble_dense import FLOATS, LONG, WHOLE, turn
from linsep.data.encoding.assemble_sparse import thin

Array = npt.NDArray[Any]

NUMBERS = {np.dtype(np.float64): FLOATS, np.dtype(np.int32): WHOLE, np.dtype(np.int64): LONG}
FEW = 1 << 16  # cells a process turns by NumPy before compiled code is worth loading

_turned = 0  # cells so far
_ready: set[str] = set()  # kernels that were found to be at hand


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
    n, width = len(cells[0]), sum(one.width for one in become)
    odd = np.zeros(len(cells), np.int64)
    rows = lent(n, width)
    if _run(turn, n * width, *_described(cells, become), odd, rows) is not None:
        return rows, odd != 0
    if any(one.places is not None for one in become):
        rows[:] = 0.0
    step = max(64, (1 << 15) // width)
    for begin in range(0, n, step):
        part = rows[begin : begin + step]
        for j, (column, one) in enumerate(zip(cells, become, strict=True)):
            some = column[begin : begin + step]
            if one.places is None:
                odd[j] |= _put(some, one, part[:, one.first])
            else:
                codes = one.places[some]
                there = np.flatnonzero(codes >= 0)
                part[there, one.first + codes[there]] = 1.0
    return rows, odd != 0


def sparse(
    columns: Sequence[Array], become: Sequence[Beside]
) -> tuple[tuple[Array, Array, Array], Array]:
    """Rows as entries, places and pointers of a CSR matrix; and which columns `dense` calls odd."""
    cells = [_cells(*pair) for pair in zip(columns, become, strict=True)]
    n = len(cells[0])
    odd = np.zeros(len(cells), np.int64)
    values, places = lent(n, len(cells)), lent(n, len(cells), np.int32)
    pointers = np.zeros(n + 1, np.int32)
    flat, also = values.reshape(-1), places.reshape(-1)
    described = (*_described(cells, become), odd, flat, also, pointers[1:])
    entries = _run(thin, n * len(cells), *described)
    if entries is not None:
        return (flat[:entries], also[:entries], pointers), odd != 0
    for j, (column, one) in enumerate(zip(cells, become, strict=True)):
        if one.places is None:
            odd[j] = _put(column, one, values[:, j])
            places[:, j] = one.first
        else:
            codes = one.places[column]
            values[:, j] = 1.0
            places[:, j] = np.where(codes >= 0, one.first + codes, -1)
    there = places >= 0
    np.cumsum(there.sum(axis=1), out=pointers[1:])
    return (values[there], places[there], pointers), odd != 0


def _cells(column: Array, one: Beside) -> Array:
    """The column as kernels take it: codes of texts, or numbers of the types they know."""
    if one.places is not None:
        return np.ascontiguousarray(column, np.int32)
    return np.ascontiguousarray(column, None if column.dtype in NUMBERS else np.float64)


def _put(cells: Array, one: Beside, out: Array) -> bool:
    """Numbers with gaps filled; whether any was a gap or infinite."""
    out[:] = cells
    if np.isfinite(cells).all():
        return False
    if not np.isnan(one.fill):
        out[np.isnan(cells)] = one.fill
    return True


def _described(cells: list[Array], become: Sequence[Beside]) -> tuple[Array, ...]:
    """What kernels take: addresses of cells and of places, first features, fills."""
    maps = [
        NUMBERS[column.dtype] if one.places is None else _address(one.places)
        for column, one in zip(cells, become, strict=True)
    ]
    return (
        np.array([_address(column) for column in cells], np.int64),
        np.array(maps, np.int64),
        np.array([one.first for one in become], np.int64),
        np.array([one.fill for one in become], np.float64),
    )


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _run(kernel: Any, cells: int, *given: Array) -> int | None:
    """What compiled code returns; None where it is not at hand, or not worth loading."""
    global _turned
    _turned += cells
    if kernel.__name__ not in _ready:
        if "numba" not in sys.modules and (_turned < FEW or not kernel.at_hand(*given)):
            return None
        _ready.add(kernel.__name__)
    return int(kernel(*given))
