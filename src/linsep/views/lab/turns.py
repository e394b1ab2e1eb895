"""Runs one after the other, away from the server's loop, which none of them keeps from closing."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Closing(Exception):  # noqa: N818
    """The lab closes: nobody waits for this run any more."""


class Turns:
    """One run at a time. Those that wait cost no thread, and give up when the lab closes.

    A run that has begun cannot be stopped; it works in a daemon thread, for which no process waits.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._closed: set[asyncio.Future[None]] = set()

    async def result(self, work: Callable[[], Any]) -> Any:
        """What `work` returns or raises, when its turn has come; Closing if it never does."""
        closed = asyncio.get_running_loop().create_future()
        self._closed.add(closed)
        task = asyncio.ensure_future(self._in_turn(work))
        try:
            await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Closing
            return task.result()
        finally:
            task.cancel()
            self._closed.discard(closed)

    def close(self) -> None:
        """Let all who wait give up."""
        for closed in self._closed:
            if not closed.done():
                closed.set_result(None)

    async def _in_turn(self, work: Callable[[], Any]) -> Any:
        async with self._turn:
            return await _in_a_thread(work)


async def _in_a_thread(work: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def hand_over(value: Any, problem: BaseException | None) -> None:
        if answer.cancelled():
            return
        if problem is None:
            answer.set_result(value)
        else:
            answer.set_exception(problem)

    def do() -> None:
        value, problem = None, None
        try:
            value = work()
        except BaseException as found:  # whatever it is belongs to who asked
            problem = found
        with suppress(RuntimeError):  # the loop may have closed meanwhile
            loop.call_soon_threadsafe(hand_over, value, problem)

    threading.Thread(target=do, name="linsep lab run", daemon=True).start()
    return await answer
