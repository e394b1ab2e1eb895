"""Fixed blocks of rows: the reason why threads, files and clusters do not change the answer.

Rows are cut into blocks by row number alone. Online rules *iterate* blocks in order; batch solvers
*sum* over blocks: each block's part is computed by one thread, and the parts are added along a
fixed binary tree over block numbers. Neither the number of threads nor the size of the pieces a
reader happens to deliver can change a bit of the result.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from numbers import Integral
from threading import Event, Lock
from typing import Any, TypeVar

from linsep.errors import ParameterError

BLOCK = 4096
"""Rows in a block. Part of the definition of every sum: changing it changes last digits."""

T = TypeVar("T")


def spans(n_rows: int, block: int = BLOCK) -> list[tuple[int, int]]:
    """The first and last-plus-one row of each block.

    >>> spans(10, block=4)
    [(0, 4), (4, 8), (8, 10)]
    """
    return [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]


def threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for; None and -1 mean every core this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ParameterError(f"n_jobs is {n_jobs!r}; give a number of threads, or -1 for all.")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def tree_sum(parts: Iterable[T], add: Callable[[T, T], T]) -> T:
    """Add `parts` along a binary tree fixed by their positions, holding O(log n) of them.

    >>> tree_sum(["a", "b", "c", "d", "e"], lambda s, t: f"({s}{t})")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, T]] = []  # (height of the subtree, its sum), heights decreasing
    for part in parts:
        height = 0
        while waiting and waiting[-1][0] == height:
            part = add(waiting.pop()[1], part)
            height += 1
        waiting.append((height, part))
    if not waiting:
        raise ValueError("tree_sum of no parts")
    _, total = waiting.pop()
    while waiting:
        total = add(waiting.pop()[1], total)
    return total


def in_order(
    function: Callable[[Any], T],
    blocks: Iterable[Any],
    n_jobs: int | None = None,
    halt: Event | None = None,
) -> Iterator[T]:
    """`function` of every block, computed by several threads, delivered in block order.

    An interrupt drops the blocks not yet begun; `halt` is set, so that a long `function` can look
    at it and end early.
    """
    workers = threads(n_jobs)
    source = iter(blocks)
    if workers == 1:
        yield from map(function, source)
        return
    first = list(islice(source, 2))
    if len(first) < 2:
        yield from map(function, first)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        # A bounded queue: a fast reader must not pile up blocks that no thread has got to.
        ahead = [pool.submit(function, block) for block in first]
        ahead += [pool.submit(function, block) for block in islice(source, 2 * workers - 2)]
        while ahead:
            result = ahead.pop(0).result()
            ahead += [pool.submit(function, block) for block in islice(source, 1)]
            yield result
    except BaseException:
        if halt is not None:
            halt.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def read_in_order(
    function: Callable[..., T],
    pieces: Iterable[Any],
    n_jobs: int | None = None,
    beside: Sequence[Iterable[Any]] = (),
) -> Iterator[T]:
    """`in_order` for pieces that cost something to get: the threads get them too, one at a time.

    What getting or working on a piece raises is raised in its place, after the pieces before it.
    `beside` are further sources, with as many pieces: `function` gets one of each. Different
    threads get pieces of different sources at the same time.
    """
    workers = threads(n_jobs)
    sources = [iter(one) for one in (pieces, *beside)]
    if workers == 1:
        yield from map(function, *sources)
        return
    locks = [Lock() for _ in sources]
    done = 0  # pieces that were got

    def got() -> tuple[int, list[Any]]:
        """The number of the next piece, and it from every source; -1 where there is none."""
        nonlocal done
        found: list[Any] = []
        number = -1
        held = locks[0]
        held.acquire()
        try:
            for place, source in enumerate(sources):
                if place:  # nobody overtakes: the next lock is taken before this one is let go
                    locks[place].acquire()
                    held.release()
                    held = locks[place]
                else:
                    number, done = done, done + 1
                piece = next(source, locks)
                if piece is locks:
                    return -1, []
                found.append(piece)
            return number, found
        except BaseException as problem:
            return number, [problem]
        finally:
            held.release()

    def turn() -> tuple[int, T | None, BaseException | None]:
        number, found = got()
        if number < 0:
            return -1, None, None
        if isinstance(found[-1], BaseException):
            return number, None, found[-1]
        try:
            return number, function(*found), None
        except BaseException as problem:
            return number, None, problem

    pool = ThreadPoolExecutor(workers)
    try:
        turns = deque(pool.submit(turn) for _ in range(2 * workers))
        ready: dict[int, tuple[T | None, BaseException | None]] = {}
        wanted = 0
        while turns:
            number, result, problem = turns.popleft().result()
            if number < 0:
                continue
            turns.append(pool.submit(turn))
            ready[number] = result, problem
            while wanted in ready:
                result, problem = ready.pop(wanted)
                wanted += 1
                if problem is not None:
                    raise problem
                yield result  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)


def sum_over(
    function: Callable[[Any], T],
    blocks: Iterable[Any],
    add: Callable[[T, T], T],
    n_jobs: int | None = None,
) -> T:
    """The sum of `function` over blocks: the same bytes for any number of threads."""
    return tree_sum(in_order(function, blocks, n_jobs), add)
