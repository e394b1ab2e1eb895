"""One cell of the grid, in a process of its own: a line of JSON for every run, as soon as it ends.

    python -m benchmarks.grid.cell SET LEARNER SECONDS ORDERS [--alone]

The parent may end this process at any time; what was told until then counts.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.grid import peers
from benchmarks.grid.learners import LEARNERS, Learner, answer_of
from benchmarks.grid.sets import SETS, get, in_order, two_classes

OURS = "linsep"
TOL, TIGHT = 1e-4, 1e-7
ROUNDS = 3  # in which systems take turns; short fits have more
SHORT, SHORT_ROUNDS = 0.15, 8
HOPELESS = 15.0  # times linsep's seconds: tighter efforts of such a system are not tried
COMPILING = 40.0  # seconds that the kernels of a first fit may take
LONG = 5.0  # seconds of a fit from which other row orders are not timed
RIVAL = 3.0  # times the best peer's seconds: slower ones take no more turns


class Cell:
    """The runs of one set and learner."""

    def __init__(self, name: str, learner: str, X: Any, y: Any, seconds: float) -> None:
        self.name, self.learner, self.X, self.y = name, learner, X, y
        self.problem: Learner = LEARNERS[learner]
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.best = self.fastest = np.inf
        self.near: dict[str, tuple[float, Callable[[], Any]]] = {}

    def tell(self, **facts: Any) -> None:
        print(json.dumps(facts, default=float), flush=True)

    def left(self) -> float:
        return self.end - time.monotonic()

    def run(self, system: str, fit: Callable[[], Any], **facts: Any) -> tuple[float, float]:
        """Time one fit, judge its answer, and tell both."""
        self.tell(began=system)
        start = time.perf_counter()
        answer = fit()
        seconds = time.perf_counter() - start
        value = self._value(answer, self.X, self.y)
        self.best = min(self.best, value)
        self.tell(system=system, seconds=seconds, value=value, **facts)
        return seconds, value

    def ours(self, tol: float = TOL, rows: Any = None, order: int = 0, **facts: Any) -> float:
        """One fit of linsep, to the rows in an order, with how it ended."""
        X, y = rows or (self.X, self.y)
        model = self.problem.make(tol)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tell(began=OURS)
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
        value = self._value(answer_of(model), X, y)
        self.best = min(self.best, value)
        gap, solver = getattr(model, "gap_", np.nan), getattr(model, "solver_", "")
        self.tell(
            system=OURS, seconds=seconds, value=value, tol=tol, order=order, gap=float(gap),
            status=model.status_.name, solver=str(solver), **facts,
        )  # fmt: skip
        return seconds

    def _value(self, answer: Any, X: Any, y: Any) -> float:
        """What an answer is judged by, on one thread: others would go on waiting for work, at full
        speed, into the fit of whoever is timed next."""
        with threadpool_limits(1, "blas"):
            return self.problem.value(answer, X, y)

    def search(self, peers_too: bool, classes: int) -> None:
        """Who comes near enough: linsep, then each peer from its loosest effort on.

        What runs first compiles and loads; its time is told, but the turns are what counts.
        """
        self.fastest = self.ours(first=True)
        self.end = time.monotonic() + self.seconds
        if self.fastest < max(3 * LONG, COMPILING):  # or the time went to compiling
            self.fastest = self.ours()
        if self.problem.exact and self.learner != "regression" and self.left() > 4 * self.fastest:
            self.ours(TIGHT)
        if peers_too:
            for system, efforts in peers.systems(self.learner, self.X, classes).items():
                self._try(system, efforts, classes)

    def _try(self, system: str, efforts: list[peers.Effort], classes: int) -> None:
        self.tell(began=system)
        peers.warm(efforts[0], self.X, classes)
        self.end = time.monotonic() + self.seconds  # each system has its own
        for effort in efforts:
            if self.left() < 1.0:
                self.tell(system=system, error="not near in its time")
                return
            fit = self._guarded(effort)
            try:
                seconds, value = self.run(system, fit)
            except Exception as problem:
                self.tell(system=system, error=f"{type(problem).__name__}: {problem}"[:200])
                return
            if value <= self.problem.allowed(self.best):
                self.near[system] = (seconds, fit)
                return
            first = min((near[0] for near in self.near.values()), default=np.inf)
            if seconds > min(max(8.0, HOPELESS * self.fastest), 0.2 + RIVAL * first):
                self.tell(system=system, error=f"not near after {seconds:.1f} s")
                return

    def turns(self) -> None:
        """linsep and the peers that came near, one after the other.

        Who begins changes from turn to turn: what ran before leaves its traces in the caches, and
        its threads may still be waiting for more.
        """
        self.end = time.monotonic() + self.seconds
        first = min((seconds for seconds, _ in self.near.values()), default=0.0)
        short = max(first, self.fastest) < SHORT
        for turn in range(SHORT_ROUNDS if short else ROUNDS):
            if turn and self.left() < self.fastest:
                break
            systems = [OURS, *self.near]
            for system in systems[turn % len(systems) :] + systems[: turn % len(systems)]:
                if system == OURS:
                    self.fastest = min(self.fastest, self.ours())
                    continue
                seconds, fit = self.near[system]
                if seconds <= RIVAL * first and (not turn or self.left() > seconds):
                    again = self.run(system, fit)[0]
                    self.near[system] = (min(seconds, again), fit)
            first = min((seconds for seconds, _ in self.near.values()), default=0.0)

    def orders(self, count: int) -> None:
        """linsep alone on the rows in several orders, which take turns."""
        if self.fastest > LONG or count < 2:
            return
        rows = [in_order(self.X, self.y, order) for order in range(count)]
        for _ in range(SHORT_ROUNDS if self.fastest < SHORT else 2):
            for order in range(count):
                self.ours(rows=rows[order], order=order, compared=True)

    def _guarded(self, effort: peers.Effort) -> Callable[[], Any]:
        def fit() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return effort(self.X, self.y)

        return fit


def labels(name: str, y: Any, learner: str) -> Any:
    """The labels a learner is given, or None where the set has none for it."""
    if LEARNERS[learner].several:
        several = len(np.unique(y)) > 2
        return y.astype(np.int64) if several else None
    two = two_classes(y, SETS[name].positive)
    return two.astype(np.float64) if two is not None and learner == "regression" else two


def main(name: str, learner: str, seconds: float, orders: int, alone: bool) -> None:
    X, y = get(name)
    y = labels(name, y, learner)
    classes = 0 if y is None else len(np.unique(y))
    if y is None or not LEARNERS[learner].suits(X, classes):
        print(json.dumps({"unsuited": True}), flush=True)
        return
    cell = Cell(name, learner, X, y, seconds)
    cell.search(not alone, classes)
    cell.turns()
    cell.orders(orders)
    cell.tell(ended=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), "--alone" in sys.argv[5:])
