"""Threads that share a fixed list of calls: the list makes the answer, the threads the pace."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

from linsep.data.chunks import threads

T = TypeVar("T")


class Crew:
    """Make calls side by side on compiled functions that let go of the interpreter.

    Parameters
    ----------
    n_jobs : number of threads, None or -1 for every core; one runs the calls one after the other
    most : how many threads there can be work for

    Examples
    --------
    >>> with Crew(2) as crew:
    ...     crew.run(pow, [(2, 3), (3, 2)])
    [8, 9]
    """

    def __init__(self, n_jobs: int | None, most: int = 2) -> None:
        self.size = max(1, min(threads(n_jobs), most))
        self._pool = ThreadPoolExecutor(self.size - 1) if self.size > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, function: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
        """The results of `function` for each tuple of arguments, in their order.

        An interrupt is passed on only after every call under way has ended.
        """
        if self._pool is None or len(calls) == 1:
            return [function(*call) for call in calls]
        later = [self._pool.submit(function, *call) for call in calls[1:]]
        try:
            first = function(*calls[0])
        finally:
            wait(later)
        return [first, *(call.result() for call in later)]
