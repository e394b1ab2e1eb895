"""Long calls into LAPACK that leave Ctrl-C its answer."""

from collections.abc import Callable
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


QUICK = 1 << 14
"""Numbers in a matrix whose factors take less time than a thread to make them in."""


def factored(function: Callable[..., T], matrix: Any, **options: Any) -> T:
    """`function(matrix, **options)`, in another thread where it takes long enough to wait for."""
    if matrix.size <= QUICK:
        return function(matrix, **options)
    return in_background(function, matrix, **options)


def in_background(function: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """`function(*arguments, **options)` in another thread, while this one listens for Ctrl-C.

    An interrupt is raised here at once. The call itself cannot be ended; its result is dropped.

    >>> in_background(max, [3, 1, 2], key=lambda x: -x)
    1
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function(*arguments, **options))
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
    if errors:
        raise errors[0]
    return results[0]
