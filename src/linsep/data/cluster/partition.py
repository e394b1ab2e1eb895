"""What one task has of the rows: runs of consecutive rows, and numbers of rows beside them.

Dense rows stay as they came, arrays one below the other, without a copy: partitions are made of
chunks that the user has cut elsewhere, and joining them would hold all rows twice. Only a slice
that reaches over the end of a chunk is put together when it is asked for.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.store import pointers
from linsep.data.check.arrays import frozen_rows
from linsep.parallel import share_out

Array = npt.NDArray[Any]

SHORT = 1 << 16
"""Rows of a chunk, on average, below which chunks are joined: too many slices would be put
together again and again."""


class Span(NamedTuple):
    """Consecutive rows."""

    start: int
    stop: int


class Partition:
    """Runs of rows or of numbers of rows, asked for by the numbers that rows have in the whole.

    Parameters
    ----------
    starts : the first row of each run
    runs : arrays, `Pieces`, or CSR matrices
    """

    def __init__(self, starts: list[int], runs: list[Any]) -> None:
        self.starts, self.runs = starts, runs

    def __sizeof__(self) -> int:
        return sum(_bytes(run) for run in self.runs)

    def place(self, start: int, stop: int) -> tuple[Any, int]:
        """The run that has these rows, and its first row."""
        k = bisect_right(self.starts, start) - 1
        if k < 0 or stop > self.starts[k] + self.runs[k].shape[0]:
            raise IndexError(f"rows {start} to {stop} are not in this partition")
        return self.runs[k], self.starts[k]

    def slice(self, start: int, stop: int) -> Any:
        """Rows start..stop."""
        run, first = self.place(start, stop)
        return run[start - first : stop - first]

    def some(self, rows: Array) -> Any:
        """Rows of these numbers, in their order; numbers ascend."""
        cuts = np.searchsorted(rows, [*self.starts, rows[-1] + 1])
        parts = [
            run[rows[low:high] - start]
            for run, start, low, high in zip(
                self.runs, self.starts, cuts[:-1], cuts[1:], strict=True
            )
            if low < high
        ]
        return joined(parts)


def _bytes(run: Any) -> int:
    if sp.issparse(run):
        return int(run.data.nbytes + run.indices.nbytes + run.indptr.nbytes)
    return int(run.nbytes)


def joined(parts: list[Any]) -> Any:
    """Rows of several arrays or CSR matrices, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if not sp.issparse(parts[0]):
        return np.concatenate(parts)
    arrays = [[one.data[: one.nnz] for one in parts], [one.indices[: one.nnz] for one in parts]]
    data, indices = share_out(np.concatenate, arrays)
    counts = [np.diff(one.indptr) for one in parts]
    shape = (sum(map(len, counts)), parts[0].shape[1])
    whole = sp.csr_array((data, indices, pointers(np.concatenate(counts))), shape=shape)
    whole.has_canonical_format = True
    return whole


def run_of(parts: list[Any]) -> Any:
    """Consecutive rows of one or more chunks; long dense ones are not copied."""
    if sp.issparse(parts[0]):
        return frozen_rows(joined(parts))
    if len(parts) == 1 or sum(map(len, parts)) < SHORT * len(parts):
        return frozen_rows(np.ascontiguousarray(joined(parts)))
    return Pieces([frozen_rows(np.ascontiguousarray(one)) for one in parts])


class Pieces:
    """Arrays one below the other, to be asked for by slices or numbers of rows."""

    ndim = 2

    def __init__(self, arrays: list[Array]) -> None:
        self.arrays = arrays
        self.ends = list(accumulate(map(len, arrays)))
        self.shape, self.dtype = (self.ends[-1], *arrays[0].shape[1:]), arrays[0].dtype
        self.nbytes = sum(one.nbytes for one in arrays)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Array:
        if isinstance(rows, slice):
            return self._slice(*rows.indices(len(self))[:2])
        which = np.searchsorted(self.ends, rows, "right")
        some = np.empty((len(rows), *self.shape[1:]), self.dtype)
        for k in np.unique(which):
            mine = which == k
            some[mine] = self.arrays[k][rows[mine] - self._begin(k)]
        return some

    def _begin(self, k: int) -> int:
        return self.ends[k - 1] if k else 0

    def _slice(self, start: int, stop: int) -> Array:
        first = min(bisect_right(self.ends, start), len(self.ends) - 1)
        parts = []
        for k in range(first, len(self.arrays)):
            begin = self._begin(k)
            parts.append(self.arrays[k][max(0, start - begin) : max(0, stop - begin)])
            if stop <= self.ends[k]:
                break
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
