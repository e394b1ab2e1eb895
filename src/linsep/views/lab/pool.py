"""Worker processes: each does one job at a time, and is ended when its answer is not wanted."""

import asyncio
import pickle
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from linsep.errors import DataError

READY = b"ready\n"  # what a worker says first
START = "from linsep.views.lab.worker import main; main()"


class Overrun(Exception):  # noqa: N818
    """A job took longer than it may."""


class Worker:
    """One process; started at once, so that it is warm when a job comes."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._ended: list[asyncio.subprocess.Process] = []
        self._starting = asyncio.Lock()
        self._warm: asyncio.Future[bytes] | None = None
        self.closed = False

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the process, unless it runs."""
        async with self._starting:  # who warms it and who uses it may come at the same time
            if not self.runs:
                await self._start()

    async def _start(self) -> None:
        if self.closed:
            raise DataError("The lab is closed.")
        self._ended = [one for one in self._ended if one.returncode is None]
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", START, stdin=pipe, stdout=pipe,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._warm = asyncio.ensure_future(self._process.stdout.readexactly(len(READY)))

    async def ready(self) -> None:
        """Wait until the process has loaded what it needs; who leaves meanwhile does not end it."""
        await self.start()
        assert self._warm is not None
        try:
            await asyncio.shield(self._warm)
        except asyncio.IncompleteReadError:
            self.end()
            raise DataError("The lab's worker could not start.") from None

    async def do(self, work: str, given: Any) -> Any:
        """The answer to a job; a DataError with its words where there is none."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        message = pickle.dumps((work, given))
        try:
            process.stdin.write(len(message).to_bytes(8, "little") + message)
            await process.stdin.drain()
            head = await process.stdout.readexactly(8)
            fine, answer = pickle.loads(
                await process.stdout.readexactly(int.from_bytes(head, "little"))
            )
        except (asyncio.IncompleteReadError, ConnectionError):
            self.end()
            raise DataError("The run ended early; it may have needed too much memory.") from None
        except BaseException:
            self.end()  # nobody waits for it
            raise
        if not fine:
            raise DataError(answer)
        return answer

    def end(self) -> None:
        """End the process at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._ended.append(self._process)
        self._process = None

    async def close(self) -> None:
        """End the process, and wait until it and those before it are gone."""
        self.closed = True
        self.end()
        if self._warm is not None:
            await asyncio.gather(self._warm, return_exceptions=True)
        for one in self._ended:
            await one.wait()
        self._ended.clear()


class Pool:
    """A few workers. Whoever asks waits for a free one; the smallest job goes first."""

    def __init__(self, size: int, seconds: float) -> None:
        self._workers = [Worker() for _ in range(size)]
        self._free = list(self._workers)
        self._waiting: list[tuple[int, int, asyncio.Future[Worker]]] = []
        self._count = 0
        self._seconds = seconds
        self._closed = False
        self._warming: set[asyncio.Task[None]] = set()

    async def warm(self) -> None:
        """Start all processes."""
        for one in self._workers:
            await one.start()

    async def do(self, work: str, given: Any, size: int) -> Any:
        """The answer to a job, when a worker is free; Overrun where it takes too long."""
        async with self._worker(size) as worker:
            await worker.ready()  # the first time on a machine this compiles: no clock runs
            try:
                async with asyncio.timeout(self._seconds):
                    return await worker.do(work, given)
            except TimeoutError:
                raise Overrun(f"The run took longer than {self._seconds:g} s.") from None

    @asynccontextmanager
    async def _worker(self, size: int) -> AsyncIterator[Worker]:
        worker = await self._wait(size)
        try:
            yield worker
        finally:
            if not worker.runs and not self._closed:
                task = asyncio.ensure_future(worker.start())  # warm for the next one
                self._warming.add(task)
                task.add_done_callback(self._warming.discard)
            self._release(worker)

    async def _wait(self, size: int) -> Worker:
        if self._free:
            return self._free.pop()
        turn: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._count += 1
        place = (size, self._count, turn)
        self._waiting.append(place)
        try:
            return await turn
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
            elif turn.done() and not turn.cancelled():
                self._release(turn.result())
            raise

    def _release(self, worker: Worker) -> None:
        while self._waiting:
            first = min(self._waiting, key=lambda one: one[:2])
            self._waiting.remove(first)
            if not first[2].done():
                first[2].set_result(worker)
                return
        self._free.append(worker)

    async def close(self) -> None:
        """End all processes, and see them gone."""
        self._closed = True
        await asyncio.gather(*self._warming, return_exceptions=True)
        for one in self._workers:
            await one.close()
