"""A progress bar for long fits: a listener that writes to stderr."""

import sys
import time
from types import TracebackType
from typing import Self

from linsep.train.run.loop import UNCOUNTED, Pass


class Progress:
    """Show passes, mistakes, loss and (with `rows` in a pass) rows per second while a fit runs.

    On a terminal this is one line that moves. Elsewhere a row is written at passes 1, 2, 4, 8, ...
    (or the first told of after each, for some solvers tell of every tenth only).
    """

    def __init__(self, total: int, name: str, rows: int = 0) -> None:
        self.total, self.rows = total, rows
        self._start = time.perf_counter()
        self.name = name
        self._bar = None
        self._next = 1
        if sys.stderr.isatty():
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

    def __call__(self, done: Pass) -> None:
        counted = "" if done.mistakes == UNCOUNTED else f"{done.mistakes} mistakes, "
        note = f"{counted}loss {done.loss:.4g}"
        if self.rows:
            speed = done.epoch * self.rows / max(time.perf_counter() - self._start, 1e-9)
            note += f", {speed:,.0f} rows/s"
        if self._bar:
            self._bar.update(self._task, completed=done.epoch, note=note)
        elif done.epoch >= self._next:
            self._next = 1 << done.epoch.bit_length()
            print(f"{self.name}: pass {done.epoch}: {note}", file=sys.stderr)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()
