"""Threads: one pool, the limit on BLAS, results in order, sums along a fixed tree.

Nothing here can change a bit of a result: what is computed together is decided by block numbers
alone, and parts are added along a binary tree fixed by their positions.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import islice
from numbers import Integral
from threading import Event, Lock
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError

Array = npt.NDArray[Any]
S = TypeVar("S")
T = TypeVar("T")


def _nowhere(function: Any) -> Any:
    """No function reads rows that lie elsewhere."""
    return None


distant: Callable[[Any], Any] = _nowhere
"""Finds the rows on a cluster that a function reads, if any (`linsep.data.cluster.rows`): these
have `map`, `in_order` and `sum` of their own, which run the function where the rows are."""


MOST = 10_000  # threads that can be asked for


def threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for; None and -1 mean every core this process may use."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0 or n_jobs > MOST):
        raise ParameterError(
            f"n_jobs is {n_jobs!r}; give a number of threads from 1 to {MOST:,}, or -1 for all."
        )
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    return cores if n_jobs is None else max(1, cores + 1 + int(n_jobs))


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


def share_out(function: Callable[[S], T], items: Iterable[S], n_jobs: int | None = None) -> list[T]:
    """`function` of every item, in their order; this thread takes part, others are started beside.

    For short work: nothing is handed over but the number of the next item.

    >>> share_out(lambda k: k * k, range(4), 2)
    [0, 1, 4, 9]
    """
    items = list(items)
    results: list[Any] = [None] * len(items)
    errors: list[BaseException] = []
    places = iter(range(len(items)))

    def work() -> None:
        try:
            for k in places:
                results[k] = function(items[k])
        except BaseException as error:
            errors.append(error)
            deque(places, maxlen=0)  # no one begins another

    beside = [
        threading.Thread(target=work, daemon=True)
        for _ in range(min(threads(n_jobs), len(items)) - 1)
    ]
    for one in beside:
        one.start()
    work()
    for one in beside:
        one.join()
    if errors:
        raise errors[0]
    return results


class _SharedSources:
    """Sources that threads get pieces of in turn, each source by one thread at a time."""

    def __init__(self, sources: list[Iterator[Any]]) -> None:
        self._sources, self._locks = sources, [Lock() for _ in sources]
        self._done = 0  # pieces that were got

    def next(self) -> tuple[int, list[Any]]:
        """The number of the next piece, and it from every source; -1 where there is none.

        What getting it raises stands in its place.
        """
        results: list[Any] = []
        number, locks = -1, self._locks
        held = locks[0]
        held.acquire()
        try:
            for place, source in enumerate(self._sources):
                if place:  # nobody overtakes: the next lock is taken before this one is let go
                    locks[place].acquire()
                    held.release()
                    held = locks[place]
                else:
                    number, self._done = self._done, self._done + 1
                piece = next(source, locks)
                if piece is locks:
                    return -1, []
                results.append(piece)
            return number, results
        except BaseException as problem:
            return number, [problem]
        finally:
            held.release()


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
    shared = _SharedSources(sources)

    def turn() -> tuple[int, T | None, BaseException | None]:
        number, results = shared.next()
        if number < 0:
            return -1, None, None
        if isinstance(results[-1], BaseException):
            return number, None, results[-1]
        try:
            return number, function(*results), None
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
    place = distant(function)
    if place is not None:
        return place.sum(function, blocks, add)  # type: ignore[no-any-return]
    if isinstance(blocks, list) and len(blocks) == 1:
        return function(blocks[0])
    return tree_sum(in_order(function, blocks, n_jobs), add)


@cache
def _blas() -> list[Any]:
    """What sets the threads of each BLAS that this process has loaded."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _OneThread:
    """One thread inside each matrix product while any fit runs.

    That number belongs to the whole process: fits side by side share the limit, and the last one
    to leave lifts it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fits = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._fits == 0:
                self._before = [one.num_threads for one in _blas()]
                for one in _blas():
                    one.set_num_threads(1)
            self._fits += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._fits -= 1
            if self._fits == 0:
                for one, number in zip(_blas(), self._before, strict=True):
                    one.set_num_threads(number)


one_thread = _OneThread()


class Pool:
    """Threads that share the work of one fit: the calls make the answer, the threads the pace.

    While it is open, matrix products use one thread each (`one_thread`).

    Parameters
    ----------
    n_jobs : number of threads, None or -1 for every core; one makes the calls one after the other
    most : how many threads there can be work for, where that is known
    products : whether matrix products large enough for several threads are made meanwhile

    Examples
    --------
    >>> with Pool(2) as pool:
    ...     pool.map(lambda k: k * k, range(4)), pool.run(pow, [(2, 3), (3, 2)])
    ([0, 1, 4, 9], [8, 9])
    """

    def __init__(self, n_jobs: int | None, most: int | None = None, products: bool = True) -> None:
        size = threads(n_jobs)
        self.size = size if most is None else max(1, min(size, most))
        self._products = products
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        if self._products:
            one_thread.__enter__()
        if self.size > 1:
            self._pool = ThreadPoolExecutor(self.size)
        return self

    def __exit__(self, *error: object) -> None:
        if self._products:
            one_thread.__exit__()
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
        """`function` of every item, in the order of the items."""
        place = distant(function)
        if place is not None:
            return place.map(function, items)  # type: ignore[no-any-return]
        items = list(items)
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def sum(self, function: Callable[[S], Array], items: Iterable[S]) -> Array:
        """The sum of `function` over items along the tree of `add_up`, few parts held at a time."""
        place = distant(function)
        if place is not None:
            return place.sum(function, items, np.add)  # type: ignore[no-any-return]
        items = list(items)
        together = 1  # parts that one call adds up: a subtree, so that no byte changes
        while self._pool is not None and len(items) >= 4 * together * self.size:
            together *= 2
        if together == 1:
            return tree_sum(self.in_order(function, items), np.add)
        groups = [items[k : k + together] for k in range(0, len(items), together)]
        return tree_sum(
            self.in_order(lambda some: tree_sum(map(function, some), np.add), groups), np.add
        )

    def in_order(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """`map` for results that are taken one after the other: few are made ahead."""
        place = distant(function)
        if place is not None:
            yield from place.in_order(function, items)
            return
        if self._pool is None:
            yield from map(function, items)
            return
        source = iter(items)
        waiting = deque(self._pool.submit(function, one) for one in islice(source, 2 * self.size))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(self._pool.submit(function, one) for one in islice(source, 1))
            yield result

    def run(self, function: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
        """The results of `function` for each tuple of arguments, in their order.

        An interrupt is passed on only after every call under way has ended.
        """
        if self._pool is None or len(calls) < 2:
            return [function(*call) for call in calls]
        later = [self._pool.submit(function, *call) for call in calls[1:]]
        try:
            first = function(*calls[0])
        finally:
            wait(later)
        return [first, *(call.result() for call in later)]
