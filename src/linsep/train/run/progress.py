"""A progress bar for long fits: a listener that writes to stderr, or to the logger `linsep`."""

import logging
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from linsep.train.run.loop import UNCOUNTED, Pass


class Progress:
    """Show passes, mistakes, loss and (with `rows` in a pass) rows per second while a fit runs.

    `workers` tells how many workers of a cluster there are at the moment.

    On a terminal this is one line that moves. Elsewhere a row is written at passes 1, 2, 4, 8, ...
    (or the first told of after each, for some solvers tell of every tenth only); with `log`, as
    records of the logger `linsep` with level INFO, which have the pass as `passed`.
    """

    def __init__(
        self, total: int, name: str, rows: int = 0, log: bool = False,
        workers: Callable[[], int] | None = None,
    ) -> None:  # fmt: skip
        self.total, self.rows, self.log, self.workers = total, rows, log, workers
        self._start = time.perf_counter()
        self.name = name
        self._bar = None
        self._next, self._before = 1, 0
        if sys.stderr.isatty() and not log:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("pass {task.completed}/{task.total}  {task.fields[note]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(name, total=total, note="")

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def go_on_from(self, epoch: int) -> None:
        """So many passes were made by an earlier run, and took none of the time of this one."""
        self._before = epoch

    def __call__(self, done: Pass) -> None:
        counted = "" if done.mistakes == UNCOUNTED else f"{done.mistakes} mistakes, "
        note = f"{counted}loss {done.loss:.4g}"
        if self.rows:
            speed = (
                (done.epoch - self._before)
                * self.rows
                / max(time.perf_counter() - self._start, 1e-9)
            )
            note += f", {speed:,.0f} rows/s"
        if self.workers is not None:
            note += f", {self.workers()} workers"
        if self._bar:
            self._bar.update(self._task, completed=done.epoch, note=note)
        elif done.epoch >= self._next:
            self._next = 1 << done.epoch.bit_length()
            line = f"{self.name}: pass {done.epoch}: {note}"
            if self.log:
                logging.getLogger("linsep").info(line, extra={"passed": done})
            else:
                print(line, file=sys.stderr)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()
