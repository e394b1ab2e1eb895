"""Memory given back: pages of mapped files that were read, and what the allocator keeps.

A page of a mapped file counts as memory of the process from the first look at it on, although the
system could take it away at any time. Whoever walks rows that may lie in a file gives them back
behind itself, so that a pass needs a few megabytes however long the file is.
"""

import contextlib
import ctypes
import mmap
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.files.system_errors import storing, temporary_folder

Array = npt.NDArray[Any]

STRETCH = 1 << 22
"""Bytes of mapped rows after which a pass gives pages back."""


def release(array: Any) -> None:
    """Give the pages of a memory-mapped array back; they are read again when they are needed."""
    file = getattr(array, "_mmap", None)
    if file is not None and hasattr(mmap, "MADV_DONTNEED"):
        with contextlib.suppress(ValueError, OSError):
            file.madvise(mmap.MADV_DONTNEED)


def maps_of(X: Any) -> list[Any]:
    """The mapped files in which an array or a CSR matrix lies.

    Private ones (mode 'c') are left alone: what was written there is nowhere else.
    """
    if type(X) is np.ndarray:
        if type(owner := _owner(X)) is np.ndarray:
            return []
        owners = [owner]
    else:
        parts = (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,)
        owners = [_owner(part) for part in parts]
    return [one for one in owners if isinstance(one, np.memmap) and one.mode in ("r", "r+", "w+")]


def _owner(array: Any) -> Any:
    while isinstance(base := getattr(array, "base", None), np.ndarray):
        array = base
    return array


class PageRelease:
    """Gives pages back while rows are read, every few megabytes; does nothing for other rows.

    Parameters
    ----------
    X : the rows
    beside : arrays with a number for each row that are read with them; None stands for no array
    """

    def __init__(self, X: Any, *beside: Any) -> None:
        self._maps = [one for part in (X, *beside) if part is not None for one in maps_of(part)]
        self._row = self._taken = 0.0
        if self._maps:
            self._row = sum(one.nbytes for one in self._maps) / max(1, X.shape[0])

    def advance(self, n_rows: int) -> None:
        """So many more rows were read."""
        if not self._maps:
            return
        self._taken += n_rows * self._row
        if self._taken > STRETCH:
            self._taken = 0.0
            for one in self._maps:
                release(one)

    def scattered(self, n: int, step: int = 8) -> Iterator[slice]:
        """Slices of a list of n rows anywhere: the system may map 2 MB around each of them."""
        step = step if self._maps else max(1, n)
        for first in range(0, n, step):
            yield slice(first, min(n, first + step))
            for one in self._maps:
                release(one)


def rows_of(X: Any, rows: Array) -> Any:
    """Some rows of an array or a CSR matrix, wherever it lies."""
    if not maps_of(X):
        return X[rows]
    slices = PageRelease(X).scattered(len(rows))
    if hasattr(X, "indptr"):
        import scipy.sparse as sp

        return sp.vstack([X[rows[some]] for some in slices], format="csr")
    gathered = np.empty((len(rows), *X.shape[1:]), X.dtype)
    for some in slices:
        gathered[some] = X[rows[some]]
    return gathered


def room_for(array: Any, beside: Any) -> Any:
    """An array like `array` to be filled: in a nameless file where `beside` lies in one.

    The file goes with the array.
    """
    if not (on_cluster(beside) or maps_of(beside)) or not array.size:
        return np.empty(array.shape, array.dtype)
    failure = f"a temporary file in {temporary_folder()} could not be made"
    with (
        storing(failure, "For another folder set TMPDIR."),
        tempfile.TemporaryFile(prefix="linsep-") as file,
    ):
        return np.memmap(file, array.dtype, "w+", shape=array.shape)


def widened(array: Any, dtype: Any) -> Any:
    """An array in another type, in a nameless file where it lies in one; itself if it has it."""
    if array.dtype == dtype or not maps_of(array):
        return array.astype(dtype, copy=False)
    wide, step = room_for(np.broadcast_to(np.dtype(dtype).type(0), array.shape), array), 1 << 18
    for first in range(0, len(array), step):
        wide[first : first + step] = array[first : first + step]
        release(wide)
    return np.asarray(wide)


def trim() -> None:
    """Give freed memory back to the system, where pyarrow and the C library keep it for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc
