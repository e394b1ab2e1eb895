"""X on the workers of a cluster, as a fit sees it: its shape, its blocks, sums over them.

What a solver asks of all rows it asks by functions of block numbers, row numbers or spans of rows;
these are run where the rows are. A slice of rows is fetched. Whatever else would need all rows in
one place is refused by `NotOnClusterError`, and the fit then goes on with a copy on the client.
"""

import hashlib
import weakref
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep import parallel
from linsep.data.blocks.blocks import BLOCK
from linsep.data.blocks.store import MEMORY, Gathered, Growing, pointers
from linsep.data.check.arrays import frozen_rows
from linsep.data.cluster.partition import Partition, Pieces, Span, joined
from linsep.data.cluster.rounds import Rounds, Share
from linsep.data.cluster.shipping import NotOnClusterError, rows_in
from linsep.errors import OverflowedError

Array = npt.NDArray[Any]

_alive: weakref.WeakSet[Any] = weakref.WeakSet()

KEPT = 2
"""Runs of rows held on the client while rows are walked in order."""

GLANCE = 4096
"""Rows that solvers look at first, evenly spread: fetched with the first few that are asked for."""
GLANCE_NUMBERS = 1 << 20
"""Numbers in them up to which that is done."""


class LocalRows:
    """The rows of one partition on its worker, asked for by their numbers in the whole."""

    def __init__(self, part: Partition, shape: tuple[int, int]) -> None:
        self.part, self.shape, self.dtype = part, shape, part.runs[0].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if not isinstance(rows, slice):
            return self.part.some(np.asarray(rows))
        return frozen_rows(self.part.slice(*rows.indices(self.shape[0])[:2]))

    def entries(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """Sparse rows without a copy: entries and places of the partition, where rows begin."""
        run, first = self.part.place(start, stop)
        return run.data, run.indices, run.indptr[start - first : stop - first + 1]


class ClusterRows:
    """Dense rows on a cluster; `SparseClusterRows` are sparse ones.

    Parameters
    ----------
    rounds : runs functions over the partitions
    dtype : of the entries
    names : of the columns, or None
    """

    ndim = 2
    on_cluster = True
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, rounds: Rounds, dtype: Any, names: list[str] | None = None) -> None:
        self.rounds, self.names = rounds, names
        self._shape, self._dtype = rounds.shape, np.dtype(dtype)
        self._seen: tuple[Array, Array] | None = None
        self._near: OrderedDict[Span, Partition] = OrderedDict()
        _alive.add(self)
        parallel.distant = find

    def __getattr__(self, name: str) -> Any:
        raise NotOnClusterError(f"rows on a cluster have no {name}")

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def size(self) -> int:
        return self._shape[0] * self._shape[1]

    def __len__(self) -> int:
        return self._shape[0]

    def __reduce__(self) -> Any:
        raise NotOnClusterError("rows on a cluster are not to be copied")

    def __deepcopy__(self, memo: Any) -> "ClusterRows":
        return self

    def __array__(self, *arguments: Any, **options: Any) -> Array:
        raise NotOnClusterError("rows on a cluster are no array")

    def workers(self) -> int:
        """How many workers the cluster has now."""
        return len(self.rounds.client.nthreads())

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """`function` of every item, in the order of the items."""
        return list(self.in_order(function, items))

    def in_order(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """`map` for results that are taken one after the other."""
        yield from self.rounds.map(function, self, self._shared(items))

    def sum(self, function: Callable[[Any], Any], items: Iterable[Any], add: Any) -> Any:
        """The sum of `function` over items along the tree of `tree_sum`."""
        return self.rounds.sum(function, self, self._shared(items), add)

    def keep(self, numbers: Array, table: Array | None = None) -> None:
        """Take an array with a number for each row to stay as it is, and send it once.

        `table` has the number of each class, where it depends on the class alone.
        """
        self.rounds.numbers.keep(numbers, table)

    def _shared(self, items: Iterable[Any]) -> list[Share]:
        """Items by partition: block numbers, first rows of several blocks, or spans of rows."""
        items = items if isinstance(items, range) else list(items)
        rows = isinstance(items, range) and items.step % BLOCK == 0

        def ends(item: Any) -> tuple[int, int]:
            if isinstance(item, tuple):
                return item[0], item[1]
            first = item if rows else item * BLOCK
            return first, min(len(self), first + BLOCK)

        shares = [Share([], []) for _ in self.rounds.partitions]
        begin = 0
        for run, k in self.rounds.runs:
            end = bisect_left(items, run.stop, begin, key=lambda item: ends(item)[0])
            if end > begin:
                first, last = ends(items[begin])[0], ends(items[end - 1])[1]
                if not run.start <= first < last <= run.stop:
                    raise NotOnClusterError(f"rows {first} to {last} lie in two partitions")
                shares[k].places.append(range(begin, end))
                shares[k].items.append(items[begin:end])
            begin = end
        return shares

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            start, stop, step = which.indices(len(self))
            if step == 1:
                return self._slice(start, stop)
            which = np.arange(start, stop, step)
        which = np.asarray(which)
        if which.ndim != 1:
            raise NotOnClusterError("rows on a cluster are asked for by their numbers")
        return self._some(np.flatnonzero(which) if which.dtype == bool else which)

    def _slice(self, start: int, stop: int) -> Any:
        if start >= stop:
            return self._none()
        near = [(run, k) for run, k in self.rounds.runs if run.start < stop and start < run.stop]
        parts = []
        for run, k in near:
            parts.append(self._run(run, k).slice(max(start, run.start), min(stop, run.stop)))
        return frozen_rows(joined(parts))

    def _none(self) -> Any:
        return np.empty((0, self.shape[1]), self.dtype)

    def _run(self, run: Span, k: int) -> Partition:
        """A run of rows, brought here."""
        if run not in self._near:
            rows = self.rounds.run(run, k)
            self._near[run] = Partition([run.start], [rows])
            while len(self._near) > KEPT:
                self._near.popitem(last=False)
        self._near.move_to_end(run)
        return self._near[run]

    def _some(self, rows: Array) -> Any:
        """Rows of these numbers, in that order."""
        if not len(rows):
            return self._none()
        if len(rows) > GLANCE or GLANCE * self.shape[1] > GLANCE_NUMBERS or sp.issparse(self):
            return self._fetched(rows)
        if self._seen is None or not np.isin(rows, self._seen[0], kind="sort").all():
            n = len(self)
            numbers = np.union1d(rows, np.arange(min(n, GLANCE)) * n // min(n, GLANCE))
            self._seen = numbers, self._fetched(numbers)
        return self._seen[1][np.searchsorted(self._seen[0], rows)]

    def _fetched(self, rows: Array) -> Any:
        parts = self.rounds.some(rows)
        together = joined([part for _, part in parts])
        back = np.empty(len(rows), np.int64)
        back[np.concatenate([places for places, _ in parts])] = np.arange(len(rows))
        return together[back]

    def digest(self) -> str:
        """What tells these rows from others: the same for any partitions of the user's."""
        blocks = hashlib.blake2b(digest_size=16)
        for one in self.in_order(_digest_of(self), range(-(-len(self) // BLOCK))):
            blocks.update(one)
        return blocks.hexdigest()

    def require_range(self) -> None:
        """Refuse numbers so large or so small that products leave the range of floats."""
        largest = max(self.rounds.each(_largest, name="largest"))
        limits = np.finfo(self.dtype)
        low, high = np.sqrt(limits.tiny), np.sqrt(limits.max / 1024 / self.shape[1])
        if largest and not low <= largest <= high:
            raise OverflowedError(
                f"X has entries of {largest:g}; products of such numbers leave the range of "
                f"{self.dtype}. Divide X by {10.0 ** np.floor(np.log10(largest)):g}."
            )


class SparseClusterRows(ClusterRows, sp.csr_array):
    """CSR rows on a cluster."""

    def __init__(
        self, rounds: Rounds, dtype: Any, names: list[str] | None = None, nnz: int = 0
    ) -> None:
        ClusterRows.__init__(self, rounds, dtype, names)
        self._entries = nnz

    def _none(self) -> Any:
        return sp.csr_array((0, self.shape[1]), dtype=self.dtype)

    @property
    def nnz(self) -> int:
        return self._entries

    def __getitem__(self, which: Any) -> Any:
        return ClusterRows.__getitem__(self, which)

    def __matmul__(self, other: Any) -> Any:
        raise NotOnClusterError("rows on a cluster are multiplied where they are")

    def toarray(self, *arguments: Any, **options: Any) -> Any:
        raise NotOnClusterError("rows on a cluster are not written out")

    def astype(self, *arguments: Any, **options: Any) -> Any:
        raise NotOnClusterError("rows on a cluster keep their type")

    def power(self, *arguments: Any, **options: Any) -> Any:
        raise NotOnClusterError("rows on a cluster are computed with where they are")


def find(function: Any) -> ClusterRows | None:
    """The rows on a cluster that a function reads, if it reads any."""
    if not _alive:
        return None
    rows: ClusterRows | None = rows_in(function, ClusterRows)
    return rows


@contextmanager
def gathered(rows: ClusterRows) -> Iterator[Any]:
    """All rows on the client, an array or CSR matrix: in memory while they are few, else in a file.

    The file is read like an array, block by block, and its pages are given back: the client stays
    small however many rows there are.
    """
    n, d = rows.shape
    if sp.issparse(rows):
        kinds: dict[str, Any] = {"values": rows.dtype, "places": np.int32, "counts": np.int32}
    else:
        kinds = {"rows": rows.dtype}
    arrays = {name: Growing(name, kind) for name, kind in kinds.items()}
    for run, k in rows.rounds.runs:
        _take_in(arrays, rows.rounds.run(run, k))
    finished = {name: one.finish() for name, one in arrays.items()}
    X: Any
    if sp.issparse(rows):
        entries = finished["values"], finished["places"], pointers(finished["counts"])
        X = sp.csr_array(entries, shape=(n, d), copy=False)
        X.has_canonical_format = True
    else:
        X = finished["rows"].reshape(n, d)
    with Gathered(X, None, None, None, list(finished.values()), True):
        yield X


def _take_in(arrays: dict[str, Growing], part: Any) -> None:
    if sp.issparse(part):
        arrays["values"].add(part.data)
        arrays["places"].add(part.indices)
        arrays["counts"].add(np.diff(part.indptr))
    else:
        for rows in part.arrays if isinstance(part, Pieces) else [part]:
            arrays["rows"].add(rows)
    if sum(one.held for one in arrays.values()) > MEMORY:
        for one in arrays.values():
            one.spill(None)


def _largest(partition: Partition) -> float:
    return max(map(_largest_of, partition.runs))


def _largest_of(rows: Any) -> float:
    if isinstance(rows, Pieces):
        return max(map(_largest_of, rows.arrays))
    values = rows.data if sp.issparse(rows) else rows
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _digest_of(X: Any) -> Callable[[int], bytes]:
    def digest(k: int) -> bytes:
        rows = X[k * BLOCK : (k + 1) * BLOCK]
        own = hashlib.blake2b(digest_size=16)
        for part in (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,):
            own.update(np.ascontiguousarray(part).view(np.uint8).data)
        return own.digest()

    return digest
