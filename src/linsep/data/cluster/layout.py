"""How rows lie on a cluster: chunks of the user's in groups, and partitions of whole blocks.

Each task costs the scheduler some milliseconds in every round, so tasks are few: one for each
worker, whose threads share it, three on larger clusters. Dask hands out chunks to workers as these
become free. So the chunks that one worker has are taken together, wherever they lie in the whole,
and a partition is their runs of consecutive rows, each moved to the next whole block: rows stay
where they are, but for a few at the ends of runs.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.data.cluster.partition import Partition, Span, joined, run_of
from linsep.data.cluster.waiting import FETCHED, done, fetched, key_of, mapped
from linsep.parallel import share_out

BYTES = 1 << 30
"""Most bytes in a partition, where it has more blocks than the fewest."""
MEMORY_SHARE = 8
"""Partitions that the memory of a worker holds, at least."""
FEWEST = 8
"""Blocks in a partition, at least: solvers look at so many together."""
SHARE = 3
"""Partitions for each worker of a large cluster, so that none waits for a long last one."""
SMALL = 16
"""Workers up to which a cluster is small: one partition for each, and rounds of few tasks."""
UNEVEN = 1.5
"""Rows of the longest partition, relative to the mean, from which rows are shared out anew."""

Spans = list[Span]


class Room(NamedTuple):
    """What a cluster has.

    Attributes
    ----------
    workers : their number
    limit : bytes that a partition may take
    threads : of each worker
    """

    workers: int
    limit: int
    threads: int = 1

    def shares(self, size: int, workers: int = 1) -> int:
        """Partitions that so many bytes are cut into on some of the workers.

        Those of a worker keep its threads busy: they share them evenly, or take them in turns.

        >>> room = Room(1, 1 << 30, 4)
        >>> [room.shares(size << 30) for size in (1, 2, 3, 5)]
        [1, 2, 4, 8]
        """
        least = 1 if self.workers <= SMALL else SHARE
        wanted = max(least, -(-size // (self.limit * workers)))
        if wanted > self.threads:
            wanted = -(-wanted // self.threads) * self.threads
        while self.threads % wanted and wanted % self.threads:
            wanted += 1
        return workers * wanted


def room(client: Any) -> Room:
    """The room of a cluster as it is now."""
    workers = client.scheduler_info()["workers"].values()
    limits = [one["memory_limit"] // MEMORY_SHARE for one in workers if one.get("memory_limit")]
    threads = client.nthreads().values()
    return Room(max(1, len(threads)), min([BYTES, *limits]), min(threads, default=1))


class Groups(NamedTuple):
    """Chunks of a collection, in groups of those that lie together.

    Attributes
    ----------
    chunks : the numbers of each group's chunks, ascending
    futures : of each group: one of the list that some function made of its chunks, or a list of
        those of its chunks
    """

    chunks: list[list[int]]
    futures: list[Any]

    def each(
        self, client: Any, function: Callable[..., Any], name: str, *arguments: Any
    ) -> "Groups":
        """The groups of function(chunk, number, *arguments)."""
        lists = [one if isinstance(one, list) else [one] for one in self.futures]
        keys = [f"{name}-{_mark(one, arguments)}" for one in lists]
        threads = threads_for(client, len(self.futures))
        several = [[one] * len(self.futures) for one in (function, arguments, threads)]
        return Groups(
            self.chunks, list(client.map(_each, self.futures, self.chunks, *several, key=keys))
        )

    def one_by_one(self, client: Any) -> Iterator[Any]:
        """What was made of each chunk, in the order of all chunks, few rows held at a time."""
        lengths = self.in_order(mapped(client, _lengths, self.futures, name="lengths"))
        home_of = {k: (g, i) for g, own in enumerate(self.chunks) for i, k in enumerate(own)}
        first = 0
        while first < len(lengths):
            last, rows = first + 1, lengths[first]
            while last < len(lengths) and rows + lengths[last] <= FETCHED:
                rows, last = rows + lengths[last], last + 1
            places: dict[int, list[int]] = {}
            for k in range(first, last):
                places.setdefault(home_of[k][0], []).append(home_of[k][1])
            futures, keys = [self.futures[g] for g in places], [key_of("chunks") for _ in places]
            made = client.map(_picked, futures, list(places.values()), key=keys, pure=False)
            parts = dict(zip(places, fetched(client, made, "chunks"), strict=True))
            for k in range(first, last):
                g, i = home_of[k]
                yield parts[g][places[g].index(i)]
            first = last

    def in_order(self, results: list[list[Any]]) -> list[Any]:
        """What was found of each chunk, in the order of all chunks."""
        numbered = [
            pair for group in zip(self.chunks, results, strict=True)
            for pair in zip(*group, strict=True)
        ]  # fmt: skip
        return [result for _, result in sorted(numbered, key=lambda pair: pair[0])]


def grouped(client: Any, chunks: list[Any]) -> Groups:
    """Chunks in groups by the workers that have them."""
    done(client, chunks)
    where, sizes, there = client.who_has(chunks), client.nbytes(summary=False), room(client)
    homes: dict[Any, list[int]] = {}
    for k, one in enumerate(chunks):
        owners = where.get(one.key) or [None]
        homes.setdefault(owners[0], []).append(k)
    numbers = []
    for own in homes.values():
        bytes_there = sum(sizes.get(chunks[k].key, 0) for k in own)
        count = min(len(own), there.shares(bytes_there))
        cuts = [len(own) * k // count for k in range(count + 1)]
        numbers += [own[low:high] for low, high in pairwise(cuts)]
    return Groups(numbers, [[chunks[k] for k in own] for own in numbers])


def _lengths(made: list[Any]) -> list[int]:
    return [len(one) for one in made]


def _picked(made: list[Any], which: list[int]) -> list[Any]:
    return [made[i] for i in which]


def threads_for(client: Any, tasks: int) -> int:
    """Threads that each of so many tasks of a round may use."""
    return max(1, sum(client.nthreads().values()) // max(1, tasks))


def _each(
    chunks: list[Any], numbers: list[int], function: Any, arguments: Any, threads: int
) -> list[Any]:
    pairs = list(zip(chunks, numbers, strict=True))
    return share_out(lambda pair: function(*pair, *arguments), pairs, threads)


def _mark(futures: list[Any], *more: Any) -> str:
    text = "".join(str(one.key) for one in futures) + repr(more)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def cut(
    groups: list[list[int]], lengths: list[int], row: int, room: Room, unit: int = FEWEST
) -> list[Spans]:
    """The runs of rows of each partition: whole blocks, multiples of `unit` from the first row.

    Parameters
    ----------
    groups : chunk numbers that lie together
    lengths : rows of each chunk
    row : bytes of a row
    room : of the cluster

    >>> for runs in cut([[0, 2], [1]], [70_000, 60_000, 65_000], 100, Room(3, 1 << 27)):
    ...     print([(run.start, run.stop) for run in runs])
    [(0, 65536)]
    [(65536, 131072)]
    [(131072, 195000)]
    """
    n, step = sum(lengths), unit * BLOCK
    units = -(-n // step)
    count, least = min(room.shares(n * row, room.workers), units), room.shares(0, room.workers)
    followed = _followed(groups, lengths, step)
    own = [some for group in followed for some in _split(group, row, room, step)]
    longest, mean = max(map(_rows_in, followed)), n / len(followed)
    if longest <= max(step, UNEVEN * mean) and min(least, units) <= len(own) <= 4 * count:
        return own
    ends = [min(n, k * units // count * step) for k in range(count + 1)]
    return [[Span(*ends[k : k + 2])] for k in range(count)]


def _followed(groups: list[list[int]], lengths: list[int], step: int) -> list[Spans]:
    """The runs of each group, moved to multiples of `step`."""
    n = sum(lengths)
    ends = [min(n, round(end / step) * step) for end in [0, *accumulate(lengths)]]
    ends[-1] = n
    followed = []
    for group in groups:
        spans: Spans = []
        for k in group:
            if ends[k] == ends[k + 1]:
                continue
            if spans and spans[-1].stop == ends[k]:
                spans[-1] = Span(spans[-1].start, ends[k + 1])
            else:
                spans.append(Span(ends[k], ends[k + 1]))
        if spans:
            followed.append(spans)
    return followed


def _split(spans: Spans, row: int, room: Room, step: int) -> list[Spans]:
    """Runs in as many even shares as the bytes of a partition ask for."""
    rows = _rows_in(spans)
    count = -(-rows * row // room.limit)
    most = -(-rows // (count * step)) * step
    shares: list[Spans] = [[]]
    left = most
    for start, stop in spans:
        while start < stop:
            end = min(stop, start + left)
            shares[-1].append(Span(start, end))
            left, start = left - (end - start), end
            if left == 0:
                shares.append([])
                left = most
    return [one for one in shares if one]


def _rows_in(spans: Spans) -> int:
    return sum(stop - start for start, stop in spans)


def partitions(
    client: Any, groups: Groups, lengths: list[int], spans: list[Spans], name: str
) -> list[Any]:
    """A future for the `Partition` of each of these runs of rows.

    The group that has most of them is taken as it lies; of others the rows alone are sent.
    """
    begins = [0, *accumulate(lengths)]
    home_of = {k: (g, i) for g, own in enumerate(groups.chunks) for i, k in enumerate(own)}
    plans, sources, keys = [], [], []
    for number, runs in enumerate(spans):
        wanted = [_parts(begins, run) for run in runs]
        rows = np.zeros(len(groups.chunks), np.int64)
        for k, low, high in chain(*wanted):
            rows[home_of[k][0]] += high - low
        order = sorted(np.flatnonzero(rows).tolist(), key=lambda g: -rows[g])
        ends: list[list[tuple[int, int, int]]] = [[] for _ in order]
        plan: list[list[Any]] = [[] for _ in wanted]
        for k, (run, low, high) in ((k, part) for k, own in enumerate(wanted) for part in own):
            g, i = home_of[run]
            source = order.index(g)
            plan[k].append((0, i, low, high) if source == 0 else (source, len(ends[source])))
            ends[source].append((i, low, high))
        own = [groups.futures[g] for g in order]
        for source in range(1, len(own)):
            key = f"{name}-ends-{_mark([own[source]], ends[source])}"
            own[source] = client.submit(_cut_out, own[source], ends[source], key=key)
        sources.append(own)
        plans.append((runs, plan))
        keys.append(f"{name}-{number}-{_mark(own, runs, plan)}")
    return list(client.map(_partition, plans, sources, key=keys))


def _parts(begins: list[int], run: Span) -> list[tuple[int, int, int]]:
    """The chunks that a run of rows is made of, and their rows."""
    parts, k = [], max(0, bisect_right(begins, run.start) - 1)
    while k < len(begins) - 1 and begins[k] < run.stop:
        low, high = max(begins[k], run.start), min(begins[k + 1], run.stop)
        if low < high:
            parts.append((k, low - begins[k], high - begins[k]))
        k += 1
    return parts


def _cut_out(group: list[Any], parts: list[tuple[int, int, int]]) -> list[Any]:
    """Some rows of the chunks of a group, as arrays of their own."""
    rows = [_rows(group[k], low, high) for k, low, high in parts]
    return [one if sp.issparse(one) else np.array(one, order="C") for one in rows]


def _rows(chunk: Any, low: int, high: int) -> Any:
    """Some rows of a chunk; all of them as they are, where a slice of sparse rows is a copy."""
    return chunk[low:high] if (low, high) != (0, len(chunk)) else chunk[:]


def _partition(plan: tuple[Spans, list[list[Any]]], sources: list[list[Any]]) -> Partition:
    """The runs of a partition, from the group it lies with and from ends of others."""
    runs, made = plan[0], []
    for parts in plan[1]:
        rows = []
        for source, i, *ends in parts:
            rows.append(_rows(sources[source][i], *ends) if ends else sources[source][i])
        numbers = not sp.issparse(rows[0]) and rows[0].ndim == 1
        made.append(joined(rows) if numbers else run_of(rows))
    return Partition([run.start for run in runs], made)
