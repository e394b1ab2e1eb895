"""What a round on a cluster costs: a model fitted to measurements, and a simulation of large ones.

    python -m benchmarks.cluster_rounds     measures (out/cluster-rounds.json)
    python -m benchmarks.cluster_model      fits, checks and simulates: the tables of docs/scale.md

A round over n rows of d features in p tasks on m workers takes about

    t = (a·d + r)·n / min(m, cores, p) + s·p + c

with a the work on a number, r that on a row, s what the scheduler and the client spend on a task
and c what is left. The simulation plays rounds by events: each of p tasks waits for a free worker;
its time is drawn about the model's; some workers are slow; workers die, lose their partitions and
come back. Weights go to the workers and sums come back along trees, at a gigabyte a second.
"""

import heapq
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CORES = 2


class Cost(NamedTuple):
    """Seconds: of a number, of a row, of a task, of a round."""

    number: float
    row: float
    task: float
    round: float

    def of(self, n: float, d: float, p: float, m: float, cores: float = CORES) -> float:
        work = (self.number * d + self.row) * n
        return work / min(m, cores, p) + self.task * p + self.round


def fitted(lines: list[dict[str, Any]]) -> Cost:
    """Least squares, relative errors, no cost below zero."""
    from scipy.optimize import nnls

    rows = []
    for one in lines:
        share = one["rows"] / min(one["workers"], CORES, one["tasks"])
        rows.append([share * one["features"], share, one["tasks"], 1.0])
    t = np.array([one["round"] for one in lines])
    A = np.array(rows) / t[:, None]
    scale = np.abs(A).max(axis=0)
    costs, _ = nnls(A / scale, np.ones(len(t)))
    return Cost(*(costs / scale).tolist())


def simulate(
    cost: Cost, n: float, d: float, tasks: int, workers: int, rounds: int, *,
    slow: float = 0.05, slowness: float = 3.0, deaths: float = 1e-5, back: float = 30.0,
    read: float = 4e-9, vector: float = 0.0, bandwidth: float = 1e9, seed: int = 0,
) -> float:  # fmt: skip
    """Seconds of `rounds` rounds.

    `slow` is the share of workers that take `slowness` times as long; `deaths` the chance that a
    worker dies in a second; it is `back` after so many seconds, and its partitions are read again
    at `read` seconds a number. `vector` bytes of weights go to each worker in every round, and
    twice as many come back from each task.
    """
    rng = np.random.default_rng(seed)
    speed = np.where(rng.random(workers) < slow, slowness, 1.0)
    work = (cost.number * d + cost.row) * n / tasks
    load = read * n * d / tasks
    now = 0.0
    cold = np.zeros(workers)  # partitions to be made again
    for _ in range(rounds):
        sent = vector / bandwidth * np.log2(max(2, workers))  # worker to worker, along a tree
        free = [(now + sent, k) for k in range(workers)]
        heapq.heapify(free)
        done = now
        for task in range(tasks):
            at, k = heapq.heappop(free)
            at = max(at, now + cost.task * task)  # the scheduler hands them out one by one
            took = (work + (load if cold[k] > 0 else 0.0)) * speed[k] * rng.uniform(0.9, 1.2)
            took += 2 * vector / bandwidth
            cold[k] = max(0.0, cold[k] - 1)
            if rng.random() < 1.0 - np.exp(-deaths * took):  # it dies: the task goes elsewhere
                cold[k] = tasks / workers
                heapq.heappush(free, (at + back, k))
                at, k = heapq.heappop(free)
                took = (work + load) * speed[k] * rng.uniform(0.9, 1.2)
            done = max(done, at + took)
            heapq.heappush(free, (at + took, k))
        now = done + cost.round + 2 * vector / bandwidth * np.log2(max(2, tasks / 16))
    return now


def _short(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 20 else f"{seconds:.1f}"


def main(path: str = "out/cluster-rounds.json") -> None:
    lines = json.loads(Path(path).read_text())
    largest = max(one["rows"] for one in lines)
    held = [one for one in lines if one["workers"] == 2 and one["rows"] == largest]
    cost = fitted([one for one in lines if one not in held])
    print(f"a = {cost.number:.2e} s a number, r = {cost.row:.2e} s a row, "
          f"s = {cost.task:.2e} s a task, c = {cost.round:.2e} s a round")  # fmt: skip
    for one in lines:
        model = cost.of(one["rows"], one["features"], one["tasks"], one["workers"])
        kind = f", not fitted to: {model / one['round'] - 1:+.0%}" if one in held else ""
        print(f"| {one['workers']} | {one['rows']:,} × {one['features']:,}{kind} | {one['tasks']} "
              f"| {one['round']:.3f} | {model:.3f} | {one['nothing']:.3f} |")  # fmt: skip
    for name, n, d, vector in (
        ("10¹⁰ × 10³", 1e10, 1e3, 8e3),
        ("10⁹ of 100 entries, 10⁶ features", 1e9, 1e2, 8e6),
    ):
        for workers in (10, 100, 1000):
            for per_worker in (3, 16):
                p = workers * per_worker
                plain = simulate(cost, n, d, p, workers, 1, slow=0.0, deaths=0.0, vector=vector)
                ten = simulate(cost, n, d, p, workers, 10, vector=vector)
                print(f"| {name} | {workers:,} | {p:,} | {_short(plain)} | {_short(ten / 10)} "
                      f"| {cost.task * p:,.1f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
