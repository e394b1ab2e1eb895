"""Long calls into LAPACK that leave Ctrl-C its answer."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

QUICK = 1 << 14
"""Numbers in a matrix whose factors take less time than a thread to make them in."""


def factored(function: Callable[..., T], matrix: Any, **options: Any) -> T:
    """`function(matrix, **options)`, while this thread listens for Ctrl-C if it takes long.

    An interrupt is raised here at once. The call itself cannot be ended; its result is dropped.
    """
    if matrix.size <= QUICK:
        return function(matrix, **options)
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(function(matrix, **options))
        except BaseException as error:
            answer.set_exception(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
    return answer.result()
