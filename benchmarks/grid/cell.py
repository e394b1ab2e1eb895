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

from benchmarks.grid import peers
from benchmarks.grid.learners import LEARNERS, Learner, answer_of
from benchmarks.grid.sets import SETS, get, in_order, two_classes

OURS = "linsep"
TOL, TIGHT = 1e-4, 1e-7
ROUNDS = 3  # in which systems take turns; short fits have more
SHORT, SHORT_ROUNDS = 0.15, 8
HOPELESS = 15.0  # times linsep's seconds: tighter efforts of such a system are not tried
LONG = 5.0  # seconds of a fit from which other row orders are not timed
RIVAL = 2.0  # times the best peer's seconds: slower ones take no more turns


class Cell:
    """The runs of one set and learner."""

    def __init__(self, name: str, learner: str, X: Any, y: Any, seconds: float) -> None:
        self.name, self.learner, self.X, self.y = name, learner, X, y
        self.problem: Learner = LEARNERS[learner]
        self.end = time.monotonic() + seconds
        self.best = np.inf

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
        value = self.problem.value(answer, self.X, self.y)
        self.best = min(self.best, value)
        self.tell(system=system, seconds=seconds, value=value, **facts)
        return seconds, value

    def ours(self, tol: float = TOL, order: int = 0, **facts: Any) -> float:
        """One fit of linsep with how it ended."""
        X, y = in_order(self.X, self.y, order)
        model = self.problem.make(tol)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tell(began=OURS)
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
        value = self.problem.value(answer_of(model), X, y)
        self.best = min(self.best, value)
        gap, solver = getattr(model, "gap_", np.nan), getattr(model, "solver_", "")
        self.tell(
            system=OURS, seconds=seconds, value=value, tol=tol, order=order, gap=float(gap),
            status=model.status_.name, solver=str(solver), **facts,
        )  # fmt: skip
        return seconds

    def orders(self, count: int, seconds: float) -> None:
        """linsep alone on the rows in several orders, which take turns; not of long fits."""
        if count < 2 or seconds > LONG:
            return
        for _ in range(SHORT_ROUNDS if seconds < SHORT else 2):
            for order in range(count):
                self.ours(order=order)

    def compare(self, classes: int, ours: float) -> None:
        """Each peer from its loosest effort to the first that comes near enough; then turns."""
        near: dict[str, tuple[float, Callable[[], Any]]] = {}
        for system, efforts in peers.systems(self.learner, self.X, classes).items():
            self.tell(began=system)
            peers.warm(efforts[0], self.X, classes)
            for effort in efforts:
                if self.left() < 1.0:
                    self.tell(system=system, error="no time left to try it")
                    break
                fit = self._guarded(system, effort)
                try:
                    seconds, value = self.run(system, fit)
                    if seconds < 2.0:
                        seconds = min(seconds, self.run(system, fit)[0])
                except Exception as problem:
                    self.tell(system=system, error=f"{type(problem).__name__}: {problem}"[:200])
                    break
                if value <= self.problem.allowed(self.best):
                    near[system] = (seconds, fit)
                    break
                if seconds > max(8.0, HOPELESS * ours):
                    break
        self._turns(near, ours)

    def _turns(self, near: dict[str, tuple[float, Callable[[], Any]]], ours: float) -> None:
        if not near:
            return
        first = min(seconds for seconds, _ in near.values())
        for _ in range(SHORT_ROUNDS if max(first, ours) < SHORT else ROUNDS):
            if self.left() < ours:
                return
            self.ours()
            for system, (seconds, fit) in near.items():
                if seconds <= RIVAL * first and self.left() > seconds:
                    self.run(system, fit)

    def _guarded(self, system: str, effort: peers.Effort) -> Callable[[], Any]:
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
    cell.ours(first=True)  # compiles what is not kept; the cell's time begins afterwards
    cell.end = time.monotonic() + seconds
    ours = min(cell.ours() for _ in range(2 if cell.left() > 0.5 * seconds else 1))
    if LEARNERS[learner].exact and learner != "regression" and cell.left() > 4 * ours:
        cell.ours(TIGHT)
    cell.orders(orders, ours)
    cell.end = time.monotonic() + seconds
    if not alone:
        cell.compare(classes, ours)
    cell.tell(ended=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), "--alone" in sys.argv[5:])
