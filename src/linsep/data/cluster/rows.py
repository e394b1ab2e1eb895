"""X on the workers of a cluster, as a fit sees it: its shape, its blocks, sums over them.

What a solver asks of all rows it asks by functions of block numbers, row numbers or spans of rows;
these are run where the rows are. A slice of rows is fetched. Whatever else would need all rows in
one place is refused by `NotOnClusterError`, and the fit then goes on with a copy on the client.
"""

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep import parallel
from linsep._scipy import sp
from linsep.data.blocks.blocks import BLOCK
from linsep.data.check.arrays import frozen_rows
from linsep.data.cluster.rounds import Rounds
from linsep.data.cluster.shipping import NotOnClusterError, rows_in
from linsep.errors import OverflowedError

Array = npt.NDArray[Any]

_alive: weakref.WeakSet[Any] = weakref.WeakSet()

KEPT = 2
"""Partitions held on the client while rows are walked in order."""


class LocalRows:
    """The rows of one partition on its worker, asked for by their numbers in the whole."""

    def __init__(self, part: Any, first: int, shape: tuple[int, int]) -> None:
        self.part, self.first, self.shape, self.dtype = frozen_rows(part), first, shape, part.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if not isinstance(rows, slice):
            return self.part[np.asarray(rows) - self.first]
        start, stop, _ = rows.indices(self.shape[0])
        if start < self.first or stop > self.first + self.part.shape[0]:
            raise IndexError(f"rows {start} to {stop} are not in this partition")
        return frozen_rows(self.part[start - self.first : stop - self.first])

    def entries(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """Sparse rows without a copy: entries and places of the partition, where rows begin."""
        first = start - self.first
        return self.part.data, self.part.indices, self.part.indptr[first : stop - self.first + 1]


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
        self._near: OrderedDict[int, Any] = OrderedDict()
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
        for results in self.rounds.map(function, self, self._shared(items)):
            yield from results

    def sum(self, function: Callable[[Any], Any], items: Iterable[Any], add: Any) -> Any:
        """The sum of `function` over items along the tree of `tree_sum`."""
        return self.rounds.sum(function, self, self._shared(items), add)

    def _shared(self, items: Iterable[Any]) -> list[list[Any]]:
        """Items by partition: block numbers, first rows of several blocks, or spans of rows."""
        spans = self.rounds.spans
        ends = np.array([span.stop for span in spans])
        shares: list[list[Any]] = [[] for _ in spans]
        rows = isinstance(items, range) and items.step % BLOCK == 0
        for item in items:
            if isinstance(item, tuple):
                first, last = item[:2]
            else:
                first = item if rows else item * BLOCK
                last = min(len(self), first + BLOCK)
            k = int(np.searchsorted(ends, first, "right"))
            if k >= len(spans) or last > spans[k].stop:
                raise NotOnClusterError(f"rows {first} to {last} lie in two partitions")
            shares[k].append(item)
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
        parts = []
        for k, span in enumerate(self.rounds.spans):
            if span.start < stop and start < span.stop:
                low, high = max(start, span.start), min(stop, span.stop)
                parts.append(self._partition(k)[low - span.start : high - span.start])
        return frozen_rows(joined(parts))

    def _none(self) -> Any:
        return np.empty((0, self.shape[1]), self.dtype)

    def _partition(self, k: int) -> Any:
        if k not in self._near:
            self._near[k] = frozen_rows(self.rounds.fetched(k))
            while len(self._near) > KEPT:
                self._near.popitem(last=False)
        self._near.move_to_end(k)
        return self._near[k]

    def _some(self, rows: Array) -> Any:
        """Rows of these numbers, in that order."""
        if not len(rows):
            return self._none()
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
    found: ClusterRows | None = rows_in(function, ClusterRows)
    return found


def joined(parts: list[Any]) -> Any:
    """Rows of several arrays or CSR matrices, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        whole = sp.csr_array(sp.vstack(parts, format="csr"))
        whole.has_canonical_format = True
        return whole
    return np.concatenate(parts)


def _largest(partition: Any) -> float:
    values = partition.data if sp.issparse(partition) else partition
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _digest_of(X: Any) -> Callable[[int], bytes]:
    def digest(k: int) -> bytes:
        rows = X[k * BLOCK : (k + 1) * BLOCK]
        found = hashlib.blake2b(digest_size=16)
        for part in (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,):
            found.update(np.ascontiguousarray(part).view(np.uint8).data)
        return found.digest()

    return digest
