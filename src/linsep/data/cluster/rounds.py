"""One round over all partitions: tasks that carry no state, results in block order.

A task gets a packed function and a partition, and is pinned to no worker: where one dies, Dask
makes the partition again elsewhere and runs the task there. Results come back in the order of the
blocks; the sum of a partition is a few whole subtrees of the tree of `linsep.parallel.tree_sum`,
from which the client puts the tree together, so that neither the workers nor their number nor their
deaths can change a bit.
"""

import contextlib
import copy
import ctypes
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from linsep.data.cluster.layout import threads_for
from linsep.data.cluster.partition import Partition, Span
from linsep.data.cluster.row_numbers import RowNumbers
from linsep.data.cluster.shipping import Parcel, Slice, Vectors, unpacked
from linsep.data.cluster.waiting import FANIN, FETCHED, done, fetched, key_of, mapped, settled
from linsep.parallel import Pool

AHEAD = 64
"""Tasks that wait for their turn, at most, where results are taken one after the other."""

_known: set[tuple[str, bytes]] = set()  # functions that workers of a client have run before


@dataclass(frozen=True)
class Share:
    """What a function is asked for in one partition: items, and where they stand among all.

    No tuple: in tuples and lists the scheduler looks for futures, number by number.
    """

    places: list[range]
    items: list[Any]


class Subtree(NamedTuple):
    """The sum of 2^height parts, from number `first` on, which is a multiple of 2^height."""

    first: int
    height: int
    total: Any


def subtrees(parts: Iterable[Subtree], add: Callable[[Any, Any], Any]) -> list[Subtree]:
    """Subtrees in their order, grown together as far as they go.

    >>> parts = [Subtree(k, 0, one) for k, one in enumerate("abcdef") if one != "b"]
    >>> [total for _, _, total in subtrees(parts, "({}{})".format)]
    ['a', '(cd)', '(ef)']
    """
    grown: list[Subtree] = []
    for first, height, total in parts:
        while grown and grown[-1].height == height and first % (2 << height) == 1 << height:
            if grown[-1].first + (1 << height) != first:
                break
            left = grown.pop()
            first, height, total = left.first, height + 1, add(left.total, total)
        grown.append(Subtree(first, height, total))
    return grown


def whole(parts: Iterable[Subtree], add: Callable[[Any, Any], Any]) -> Any:
    """The sum of all parts, from subtrees in any order.

    >>> whole([Subtree(4, 0, "e"), Subtree(0, 1, "(ab)"), Subtree(2, 1, "(cd)")], "({}{})".format)
    '(((ab)(cd))e)'
    """
    grown = subtrees(sorted(parts, key=lambda part: part.first), add)
    total = grown.pop().total
    while grown:
        total = add(grown.pop().total, total)
    return total


def task(
    content: bytes, partition: Partition, shape: tuple[int, int], beside: list[Partition],
    vectors: list[Any], share: Share, add: bytes | None, threads: int, alone: bool,
) -> Any:  # fmt: skip
    """Run a packed function on the items of one partition: all results, or sums of subtrees.

    Where there is no other, the tree is put together at once: long sums travel as one.
    """
    from linsep.data.cluster.rows import LocalRows

    keep_pages()
    slices = [Slice(one, shape[0]) for one in beside]
    function = unpacked(content, LocalRows(partition, shape), slices, vectors)
    sum_up = None if add is None else unpacked(add, None, [], [])
    numbered = list(zip(chain(*share.places), chain(*share.items), strict=True))

    def some(begin: int) -> list[Any]:
        own = numbered[begin : begin + step]
        with np.errstate(over="ignore", invalid="ignore"):
            if sum_up is None:
                return [function(item) for _, item in own]
            return subtrees((Subtree(place, 0, function(item)) for place, item in own), sum_up)

    step = 1 << max(0, (len(numbered) // (8 * threads)).bit_length() - 1)  # items handed over
    with Pool(threads) as pool:
        made = chain.from_iterable(pool.in_order(some, range(0, len(numbered), step)))
        if sum_up is None:
            return list(made)
        return [Subtree(0, 0, whole(made, sum_up))] if alone else subtrees(made, sum_up)


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


def add_up(add: bytes, *parts: list[Subtree]) -> list[Subtree]:
    """The subtrees of several partitions, grown together."""
    own, function = _own(add, parts)
    with Pool(1):
        return subtrees(sorted(own, key=lambda one: one.first), function)


def add_whole(add: bytes, *parts: list[Subtree]) -> Any:
    """The sum of all parts, from the subtrees of all partitions."""
    own, function = _own(add, parts)
    with Pool(1):
        return whole(own, function)


def _own(add: bytes, parts: tuple[list[Subtree], ...]) -> tuple[list[Subtree], Any]:
    """Subtrees that may be added to, and what adds them."""
    own, function = [one for part in parts for one in part], unpacked(add, None, [], [])
    if not isinstance(function, np.ufunc):  # it may add in place, and others need the parts
        own = copy.deepcopy(own)
    return own, function


def taken(partition: Partition, rows: Any) -> Any:
    """Some rows of a partition."""
    return partition.some(rows)


def run_in(partition: Partition, start: int) -> Any:
    """The run of rows of a partition that begins with this row."""
    return partition.runs[partition.starts.index(start)]


class Rounds:
    """Runs functions over the partitions of one data set.

    Parameters
    ----------
    client : of Dask
    partitions : futures, in order
    spans : the runs of rows of each
    shape : of all rows
    """

    def __init__(
        self, client: Any, partitions: list[Any], spans: list[list[Span]], shape: tuple[int, int]
    ) -> None:
        self.client, self.partitions, self.spans, self.shape = client, partitions, spans, shape
        self.made = 0
        self.threads = threads_for(client, len(partitions))
        self.numbers = RowNumbers(client, partitions, spans)
        self.vectors = Vectors(client)
        self._last: list[Any] = []
        """Tasks of the last round, let go when those of the next are sent: a client sends a message
        every 10 ms, and one that lets go would hold up the next round."""
        self.runs = sorted((run, k) for k, own in enumerate(spans) for run in own)
        """All runs of rows in their order, each with the number of its partition."""

    def map(self, function: Any, rows: Any, shares: list[Share]) -> Iterator[Any]:
        """The results of all items, in order; those of some rows are fetched at a time."""
        parcel, name = Parcel(function, rows), _name(function)
        windows = list(_windows(shares, self.shape[0]))
        begun: list[Any] = []
        for k in range(len(windows)):
            for window in windows[len(begun) : k + max(1, AHEAD // len(shares)) + 1]:
                begun.append(self._submit(name, parcel, window, None))
            places = [place for share in windows[k] for place in chain(*share.places)]
            self._last = begun[k] if len(windows) == 1 else []
            results, begun[k] = chain(*fetched(self.client, begun[k], name)), None
            for _, result in sorted(zip(places, results, strict=True), key=itemgetter(0)):
                yield result
        self.made += 1

    def sum(self, function: Any, rows: Any, shares: list[Share], add: Any) -> Any:
        """The sum over all items along the fixed tree.

        Long sums, and sums of many partitions, are added up by the workers as far as they go.
        """
        parcel, name, packed = Parcel(function, rows), _name(function), Parcel(add, rows).content
        parts = sent = self._submit(name, parcel, shares, packed)
        while len(parts) > FANIN:
            groups = [parts[k : k + FANIN] for k in range(0, len(parts), FANIN)]
            parts = [self._add(add_up, name, packed, some) for some in groups]
            sent = sent + parts
        self.made += 1
        if parcel.vectors and len(parts) > 1:  # the sum is as long as they are, most likely
            parts = [self._add(add_whole, name, packed, parts)]
            self._last = sent + parts
            return settled(self.client, parts)[0]
        self._last = sent
        return whole([one for part in settled(self.client, parts) for one in part], add)

    def _add(self, function: Any, name: str, add: bytes, parts: list[Any]) -> Any:
        key = key_of(f"{name}-add")
        return self.client.submit(function, add, *parts, key=key, pure=False)

    def run(self, run: Span, k: int) -> Any:
        """A run of rows of partition k, brought here."""
        key = key_of("run-of-rows")
        future = self.client.submit(run_in, self.partitions[k], run.start, key=key, pure=False)
        return settled(self.client, [future])[0]

    def each(self, function: Callable[..., Any], *arguments: Any, name: str) -> list[Any]:
        """function(partition, *arguments) of every partition, in order."""
        return mapped(self.client, function, self.partitions, *arguments, name=name)

    def some(self, rows: Any) -> list[tuple[Any, Any]]:
        """Rows of these numbers by partition: their places in `rows`, and themselves."""
        starts = [run.start for run, _ in self.runs]
        owner = np.array([k for _, k in self.runs])[np.searchsorted(starts, rows, "right") - 1]
        which = np.unique(owner)
        places = [np.flatnonzero(owner == k) for k in which]
        places = [mine[np.argsort(rows[mine], kind="stable")] for mine in places]
        futures = self.client.map(
            taken, [self.partitions[k] for k in which], [rows[mine] for mine in places],
            key=[key_of("rows") for _ in which], pure=False,
        )  # fmt: skip
        return list(zip(places, fetched(self.client, futures, "rows"), strict=True))

    def _new(self, parcel: Parcel) -> bool:
        """Whether kernels may have to be compiled: a function as long as none before it."""
        mark = self.client.id, hashlib.blake2b(parcel.content[:200], digest_size=8).digest()
        new = mark not in _known
        _known.add(mark)
        return new

    def _submit(self, name: str, parcel: Parcel, shares: list[Share], add: Any) -> list[Any]:
        """A task for each partition that has a share, in one message to the scheduler."""
        which = [k for k, share in enumerate(shares) if share.items]
        beside = [self.numbers.of(one) for one in parcel.beside]
        content, *vectors = (
            self.vectors.sent(one, len(which)) for one in (parcel.content, *parcel.vectors)
        )
        begun: list[Any] = []
        alone = len(which) > 1 and self._new(
            parcel
        )  # one worker compiles kernels, others find them
        for some in (which[:1], which[1:]) if alone else (which,):
            begun += self.client.map(
                task, [content] * len(some), [self.partitions[k] for k in some],
                [self.shape] * len(some), [[there[k] for there in beside] for k in some],
                [vectors] * len(some), [shares[k] for k in some], [add] * len(some),
                [self.threads] * len(some), [len(which) == 1] * len(some),
                key=[key_of(name) for _ in some], pure=False,
            )  # fmt: skip
            if alone:
                done(self.client, begun)
        return begun


def _windows(shares: list[Share], n: int) -> Iterator[list[Share]]:
    """Shares cut into stretches of items, so that results of few rows are there at a time."""
    count = sum(len(place) for share in shares for place in share.places)
    step = max(1, count * FETCHED // max(1, n))
    if step >= count:
        yield shares
        return
    for first in range(0, count, step):
        yield [_within(share, first, first + step) for share in shares]


def _within(share: Share, first: int, last: int) -> Share:
    """The part of a share whose items have these places."""
    places, kept = [], []
    for place, items in zip(share.places, share.items, strict=True):
        low, high = max(place.start, first), min(place.stop, last)
        if low < high:
            places.append(range(low, high))
            kept.append(items[low - place.start : high - place.start])
    return Share(places, kept)


def _name(function: Any) -> str:
    """What the dashboard shows: the module and the function."""
    inner = getattr(function, "inner", function)
    place = getattr(inner, "__module__", "linsep").rpartition(".")[2]
    what = getattr(inner, "__qualname__", type(inner).__name__)
    return f"{place}.{what.replace('.<locals>', '')}".replace("<lambda>", "rows")
