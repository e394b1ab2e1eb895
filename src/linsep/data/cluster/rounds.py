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
"""Partitions whose sums, or results, are put together by one task."""
AHEAD = 64
"""Tasks that wait for their turn, at most, where results are taken one after the other."""

BESIDE = 4
"""Arrays with a number for each row that workers keep: labels, weights and the like."""

LOOK = 5.0
"""Seconds after which someone who waits looks whether there are workers at all."""
ALONE = 120.0
"""Seconds without any worker after which a fit does not wait for one any more."""

_numbers = itertools.count()
_known: set[tuple[str, bytes]] = set()  # functions that workers of a client have run before


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


def together(*parts: Any) -> list[Any]:
    """Results of several tasks, to be fetched in one go."""
    return list(parts)


def taken(partition: Any, rows: Any) -> Any:
    """Some rows of a partition."""
    return partition[rows]


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
        self._beside: OrderedDict[tuple[int, bytes], Any] = OrderedDict()

    def map(self, function: Any, rows: Any, items: list[list[Any]]) -> Iterator[list[Any]]:
        """The results of each partition's items, in order; few are waited for at a time."""
        parcel, name = Parcel(function, rows), _name(function)
        content, last = self._sent(parcel, name), len(self.partitions)
        cuts = [*range(0, last, FANIN), last]
        waiting: list[Any] = []
        for span in itertools.pairwise(cuts):
            parts = self._submit(name, content, parcel, range(*span), items, None)
            waiting.append(self._gathering(f"{name}-results", together, parts))
            if len(waiting) * FANIN >= AHEAD:
                yield from self._result(waiting.pop(0))
        for future in waiting:
            yield from self._result(future)
        self.made += 1

    def sum(self, function: Any, rows: Any, items: list[list[Any]], add: Any) -> Any:
        """The sum over all items along the fixed tree; added up by the workers."""
        parcel, name = Parcel(function, rows), _name(function)
        content, packed = self._sent(parcel, name), Parcel(add, rows).content
        parts = self._submit(name, content, parcel, range(len(self.partitions)), items, packed)
        while len(parts) > 1:
            groups = [parts[k : k + FANIN] for k in range(0, len(parts), FANIN)]
            parts = [self._gathering(f"{name}-add", add_up, one, packed) for one in groups]
        self.made += 1
        return self._result(parts[0])

    def fetched(self, k: int) -> Any:
        """A partition, brought here."""
        return self._result(self.partitions[k])

    def each(self, function: Callable[..., Any], *arguments: Any, name: str) -> list[Any]:
        """function(partition, *arguments) of every partition, in order."""
        return mapped(self.client, function, self.partitions, *arguments, name=name)

    def some(self, rows: Any) -> list[tuple[Any, Any]]:
        """Rows of these numbers by partition: their places in `rows`, and themselves."""
        starts = np.array([span.start for span in self.spans])
        owner = np.searchsorted(starts, rows, "right") - 1
        which = np.unique(owner)
        places = [np.flatnonzero(owner == k) for k in which]
        futures = self.client.map(
            taken, [self.partitions[k] for k in which],
            [rows[mine] - starts[k] for k, mine in zip(which, places, strict=True)],
            key=[_key("rows") for _ in which], pure=False,
        )  # fmt: skip
        whole = self._result(self._gathering("rows-together", together, futures))
        return list(zip(places, whole, strict=True))

    def _gathering(
        self, name: str, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> Any:
        """function(*arguments, *parts): one result to wait for, instead of many."""
        return self.client.submit(function, *arguments, *parts, key=_key(name), pure=False)

    def _sent(self, parcel: Parcel, name: str) -> Any:
        if len(parcel.content) <= INLINE:
            return parcel.content
        return self.client.submit(held, parcel.content, key=_key(f"{name}-weights"), pure=False)

    def _new(self, parcel: Parcel) -> bool:
        """Whether kernels may have to be compiled: a function as long as none before it."""
        mark = self.client.id, hashlib.blake2b(parcel.content[:200], digest_size=8).digest()
        new = mark not in _known
        _known.add(mark)
        return new

    def _submit(
        self, name: str, content: Any, parcel: Parcel, which: range, items: list[list[Any]],
        add: Any,
    ) -> list[Any]:  # fmt: skip
        """A task for each of these partitions, in one message to the scheduler."""
        if 0 in which and self._new(parcel) and len(which) > 1:
            first = self._submit(name, content, parcel, range(1), items, add)
            self._result(first[0])  # kernels are compiled by one worker; others find them
            return first + self._submit(name, content, parcel, which[1:], items, add)
        slices = self._there(parcel, which)
        return list(
            self.client.map(
                task, [content] * len(which), [self.partitions[k] for k in which],
                [self.spans[k] for k in which], [self.shape] * len(which), slices,
                [items[k] for k in which], [add] * len(which),
                key=[_key(name) for _ in which], pure=False,
            )
        )  # fmt: skip

    def _there(self, parcel: Parcel, which: range) -> list[list[Any]]:
        """Numbers of the rows of partitions: sent once, then asked for where they are."""
        marks: list[list[tuple[int, bytes]]] = []
        new: dict[tuple[int, bytes], Any] = {}
        for k in which:
            marks.append([])
            for numbers in parcel.slices(*self.spans[k]):
                mark = k, hashlib.blake2b(numbers.view(np.uint8).data, digest_size=16).digest()
                marks[-1].append(mark)
                if mark in self._beside:
                    self._beside.move_to_end(mark)
                else:
                    new[mark] = numbers
        if new:
            keys = [_key("numbers-of-rows") for _ in new]
            sent = self.client.map(held, list(new.values()), key=keys, pure=False)
            self._beside.update(zip(new, sent, strict=True))
        there = [[self._beside[mark] for mark in one] for one in marks]
        while len(self._beside) > BESIDE * len(self.partitions):
            self._beside.popitem(last=False)
        return there

    def _result(self, future: Any) -> Any:
        return settled(self.client, future)


def mapped(
    client: Any, function: Callable[..., Any], futures: list[Any], *arguments: Any, name: str
) -> list[Any]:
    """function(future, *arguments) of each of some futures; their results, in order."""
    several = [[one] * len(futures) for one in arguments]
    keys = [_key(name) for _ in futures]
    made = client.map(function, futures, *several, key=keys, pure=False)
    results: list[Any] = []
    for k in range(0, len(made), AHEAD):
        group = client.submit(together, *made[k : k + AHEAD], key=_key(f"{name}-results"))
        results += settled(client, group)
    return results


def settled(client: Any, future: Any) -> Any:
    """The result of a future, handed in again where workers died too often under it."""
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
            if future.status == "error":  # the task's own, or one that came while time ran out
                raise future.exception() from None
        if client.nthreads():
            alone_since = None
            continue
        now = time.monotonic()
        alone_since = now if alone_since is None else alone_since
        if now - alone_since >= ALONE:
            raise ClusterError(
                f"the cluster has had no worker for {ALONE:.0f} seconds. Start workers and repeat "
                "the fit; with checkpoint= (on the command line --resume) it goes on from the last "
                "round and ends with the same bytes. A LocalCluster gives up workers that died and "
                "are not back in time: raise distributed.deploy.lost-worker-timeout (15 s)."
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
