"""Interleaved timing: machines are shared and noisy, so systems take turns and the best counts."""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Timing:
    """Seconds of several runs, and what the last run returned."""

    seconds: list[float]
    result: Any

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """How much slower the median run was than the best."""
        return sorted(self.seconds)[len(self.seconds) // 2] / self.best - 1


def race(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Timing]:
    """Time each of `runs` `repeats` times, taking turns."""
    timings = {name: Timing([], None) for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            timings[name].result = run()
            timings[name].seconds.append(time.perf_counter() - start)
    return timings


def as_installed() -> dict[str, str]:
    """An environment in which a new process finds linsep's bytecode, as that of a user does.

    An installed package has it; a checkout used with PYTHONDONTWRITEBYTECODE compiles every module
    anew in every process, a third of a second that no user sees.
    """
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    env.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir(), "linsep-bytecode")))
    return env


def peak_memory() -> float:
    """The most megabytes this process has held so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def held_memory() -> float:
    """The megabytes this process holds now; from here on `peak_held` counts anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak_held() -> float:
    """The most megabytes held since `held_memory` was asked."""
    return _status("VmHWM")


def _status(field: str) -> float:
    return float(Path("/proc/self/status").read_text().split(f"{field}:")[1].split()[0]) / 1024
