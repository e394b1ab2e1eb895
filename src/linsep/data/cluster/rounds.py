"""One round over all partitions: tasks that carry no state, results in block order.

A task gets a packed function and a partition, and is pinned to no worker: where one dies, Dask
makes the partition again elsewhere and runs the task there. Results come back in the order of the
blocks; sums are added within a partition along the tree of `linsep.parallel.tree_sum`, and between
partitions along what is left of the same tree, so that neither the workers nor their number nor
their deaths can change a bit.
"""

import contextlib
import ctypes
import hashlib
import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linsep.data.cluster.shipping import Parcel, Slice, unpacked
from linsep.errors import ClusterError, LinsepError
from linsep.parallel import Pool, tree_sum

AGAIN = 20
"""How often tasks whose workers died are handed in anew, after Dask itself has given up."""
INLINE = 1 << 16
"""Bytes of a function up to which every task carries it."""
FANIN = 16
"""Partitions whose sums are added by one task, where they are many."""
AHEAD = 64
"""Tasks that wait for their turn, at most, where results are taken one after the other."""

BESIDE = 4
"""Arrays with a number for each row that workers keep: labels, weights and the like."""

LOOK = 5.0
"""Seconds after which someone who waits looks whether there are workers at all."""
ALONE = 120.0
"""Seconds without any worker after which a fit does not wait for one any more."""

_numbers = itertools.count()


class Span(NamedTuple):
    """A partition's rows."""

    start: int
    stop: int


def task(
    content: bytes, partition: Any, span: Span, shape: tuple[int, int], slices: list[Any],
    items: list[Any], add: bytes | None,
) -> Any:  # fmt: skip
    """Run a packed function on the items of one partition: all results, or their sum."""
    from linsep.data.cluster.rows import LocalRows

    keep_pages()
    rows = LocalRows(partition, span.start, shape)
    beside = [Slice(span.start, one, shape[0]) for one in slices]
    function = unpacked(content, rows, beside)
    with Pool(1), np.errstate(over="ignore", invalid="ignore"):
        if add is None:
            return [function(item) for item in items]
        return tree_sum(map(function, items), unpacked(add, None, []))


@cache
def keep_pages() -> None:
    """Let the C library of a worker keep freed memory, up to 64 MB, for the next block.

    Dask tells it to hand back all beyond 64 kB, so that every block of numbers would be made of
    fresh pages: a certificate over 2,000,000 x 54 rows on two workers takes four times as long.
    """
    trim_threshold, mmap_threshold = -1, -3
    with contextlib.suppress(AttributeError, OSError, TypeError):  # glibc alone has it
        library = ctypes.CDLL(None)
        library.mallopt(mmap_threshold, 1 << 25)
        library.mallopt(trim_threshold, 1 << 26)


def add_up(add: bytes, *parts: Any) -> Any:
    """The sum of the sums of consecutive partitions."""
    with Pool(1):
        return tree_sum(parts, unpacked(add, None, []))


def held(content: Any) -> Any:
    """A large function or numbers of rows, sent to one worker; others fetch them there."""
    return content


class Rounds:
    """Runs functions over the partitions of one data set.

    Parameters
    ----------
    client : of Dask
    partitions : futures, in order
    spans : the rows of each
    shape : of all rows
    """

    def __init__(
        self, client: Any, partitions: list[Any], spans: list[Span], shape: tuple[int, int]
    ) -> None:
        self.client, self.partitions, self.spans, self.shape = client, partitions, spans, shape
        self.made = 0
        self._known: set[bytes] = set()
        self._beside: OrderedDict[tuple[int, bytes], Any] = OrderedDict()

    def map(self, function: Any, rows: Any, items: list[list[Any]]) -> Iterator[list[Any]]:
        """The results of each partition's items, in order; few are waited for at a time."""
        parcel, name = Parcel(function, rows), _name(function)
        content = self._sent(parcel, name)
        waiting: list[Any] = []
        for k in range(len(self.partitions)):
            waiting.append(self._submit(name, content, parcel, k, items[k], None))
            if k == 0 and self._new(parcel):
                waiting[0] = _Ready(self._result(waiting[0]))
            if len(waiting) >= AHEAD:
                yield self._result(waiting.pop(0))
        for future in waiting:
            yield self._result(future)
        self.made += 1

    def sum(self, function: Any, rows: Any, items: list[list[Any]], add: Any) -> Any:
        """The sum over all items along the fixed tree."""
        parcel, name = Parcel(function, rows), _name(function)
        content, packed = self._sent(parcel, name), Parcel(add, rows).content
        futures = []
        for k in range(len(self.partitions)):
            futures.append(self._submit(name, content, parcel, k, items[k], packed))
            if k == 0 and self._new(parcel):
                self._result(futures[0])  # kernels are compiled by one worker; others find them
        while len(futures) > 2 * FANIN:
            groups = [futures[k : k + FANIN] for k in range(0, len(futures), FANIN)]
            futures = [
                self.client.submit(add_up, packed, *group, key=_key(f"{name}-add"), pure=False)
                for group in groups
            ]
        total = tree_sum((self._result(one) for one in futures), add)
        self.made += 1
        return total

    def fetched(self, k: int) -> Any:
        """A partition, brought here."""
        return self._result(self.partitions[k])

    def each(self, function: Callable[..., Any], *arguments: Any, name: str) -> Iterator[Any]:
        """function(partition, *arguments) of every partition, in order."""
        futures = [
            self.client.submit(function, one, *arguments, key=_key(name), pure=False)
            for one in self.partitions
        ]
        for future in futures:
            yield self._result(future)

    def _sent(self, parcel: Parcel, name: str) -> Any:
        if len(parcel.content) <= INLINE:
            return parcel.content
        return self.client.submit(held, parcel.content, key=_key(f"{name}-weights"), pure=False)

    def _new(self, parcel: Parcel) -> bool:
        """Whether kernels may have to be compiled: a function as long as none before it."""
        mark = hashlib.blake2b(parcel.content[:200], digest_size=8).digest()
        new = mark not in self._known
        self._known.add(mark)
        return new

    def _submit(
        self, name: str, content: Any, parcel: Parcel, k: int, items: list[Any], add: Any
    ) -> Any:
        span = self.spans[k]
        slices = [self._there(k, one) for one in parcel.slices(*span)]
        return self.client.submit(
            task, content, self.partitions[k], span, self.shape, slices, items, add,
            key=_key(name), pure=False,
        )  # fmt: skip

    def _there(self, k: int, numbers: Any) -> Any:
        """Numbers of the rows of a partition: sent once, then asked for where they are."""
        mark = k, hashlib.blake2b(numbers.view(np.uint8).data, digest_size=16).digest()
        if mark not in self._beside:
            self._beside[mark] = self.client.submit(
                held, numbers, key=_key("numbers-of-rows"), pure=False
            )
            while len(self._beside) > BESIDE * len(self.partitions):
                self._beside.popitem(last=False)
        self._beside.move_to_end(mark)
        return self._beside[mark]

    def _result(self, future: Any) -> Any:
        return settled(self.client, future)


class _Ready(NamedTuple):
    value: Any


def settled(client: Any, future: Any) -> Any:
    """The result of a future, handed in again where workers died too often under it."""
    if isinstance(future, _Ready):
        return future.value
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    for attempt in range(AGAIN):
        try:
            return _awaited(client, future)
        except KilledWorker:
            if attempt == AGAIN - 1:
                raise ClusterError(
                    f"workers died {AGAIN} times in a row under the same task; look at their "
                    "memory limit and their logs, or make partitions smaller."
                ) from None
            time.sleep(0.1 * attempt)
            future.retry()
        except LinsepError:
            raise
        except (CommClosedError, TimeoutError) as problem:
            raise lost(client) from problem
        except Exception as problem:
            if "Cancelled" in type(problem).__name__:
                raise lost(client) from problem
            raise
    raise AssertionError


def _awaited(client: Any, future: Any) -> Any:
    """The result of a future, waited for as long as there are workers that may bring it."""
    alone_since = None
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            if future.status != "pending":  # the task's own
                raise
        if client.nthreads():
            alone_since = None
            continue
        now = time.monotonic()
        alone_since = now if alone_since is None else alone_since
        if now - alone_since >= ALONE:
            raise ClusterError(
                f"the cluster has had no worker for {ALONE:.0f} seconds. Start workers and repeat "
                "the fit; with checkpoint= (on the command line --resume) it goes on from the last "
                "round and ends with the same bytes."
            )


def lost(client: Any) -> ClusterError:
    """The sentence for a scheduler that does not answer any more."""
    address = getattr(getattr(client, "scheduler", None), "address", "the address given")
    return ClusterError(
        f"the scheduler at {address} is gone, and with it the rows on its workers. Start it again "
        "and repeat the fit; with checkpoint= (on the command line --resume) it goes on from the "
        "last round and ends with the same bytes."
    )


def _name(function: Any) -> str:
    """What the dashboard shows: the module and the function."""
    inner = getattr(function, "inner", function)
    place = getattr(inner, "__module__", "linsep").rpartition(".")[2]
    what = getattr(inner, "__qualname__", type(inner).__name__)
    return f"{place}.{what.replace('.<locals>', '')}".replace("<lambda>", "rows")


def _key(name: str) -> str:
    return f"{name}-{next(_numbers)}-{time.monotonic_ns():x}"
