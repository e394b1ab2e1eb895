"""Interleaved timing: machines are shared and noisy, so systems take turns and the best counts."""

import time
from collections.abc import Callable
from dataclasses import dataclass
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


def peak_memory() -> float:
    """The most megabytes this process has held so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
