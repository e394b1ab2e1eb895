"""Memory for rows, lent again and again.

Rows of a file come in blocks of megabytes. To ask the system for such a block, have its pages
cleared and give them back takes longer than to fill it. A block that nobody looks at any more is
kept for the next.
"""

import ctypes
import threading
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

KEPT = 1 << 24  # bytes held ready
STEP = 1 << 16  # sizes are rounded up, so that blocks of about the same size fit

_free: list[Array] = []
_lock = threading.RLock()  # what ends here may end while another block is asked for


def lent(n: int, width: int, dtype: Any = np.float64) -> Array:
    """(n, width) numbers to be filled; their memory is taken back with the last view of them."""
    kind = np.dtype(dtype)
    size = max(1, n * width * kind.itemsize)
    memory = _taken(size)
    if memory is None:
        memory = np.empty(-(-size // STEP) * STEP, np.uint8)
    loan = (ctypes.c_char * size).from_address(memory.ctypes.data)
    weakref.finalize(loan, _take_back, memory).atexit = False
    return np.frombuffer(loan, kind, n * width).reshape(n, width)


def forget() -> None:
    """Give what is held ready back to the system."""
    with _lock:
        _free.clear()


def _taken(size: int) -> Array | None:
    with _lock:
        for place in reversed(range(len(_free))):  # the last one may still be in the cache
            if size <= _free[place].nbytes <= 2 * size + STEP:
                return _free.pop(place)
    return None


def _take_back(memory: Array) -> None:
    with _lock:
        _free.append(memory)
        while sum(one.nbytes for one in _free) > KEPT:
            _free.pop(0)
