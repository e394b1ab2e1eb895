"""A progress bar for long fits: a listener that writes to stderr."""

import sys
import time
from types import TracebackType
from typing import Self

from linsep.train.loop import Pass


class Progress:
    """Show passes, mistakes, loss and (with `rows` in a pass) rows per second while a fit runs.

    On a terminal this is one line that moves. Elsewhere a row is written at passes 1, 2, 4, 8, ...
    """

    def __init__(self, total: int, name: str, rows: int = 0) -> None:
        self.total, self.rows = total, rows
        self._start = time.perf_counter()
        self.name = name
        self._bar = None
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
        note = f"{done.mistakes} mistakes, loss {done.loss:.4g}"
        if self.rows:
            speed = done.epoch * self.rows / max(time.perf_counter() - self._start, 1e-9)
            note += f", {speed:,.0f} rows/s"
        if self._bar:
            self._bar.update(self._task, completed=done.epoch, note=note)
        elif done.epoch & (done.epoch - 1) == 0:
            print(f"{self.name}: pass {done.epoch}: {note}", file=sys.stderr)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()
