"""What a round on a cluster costs: a model fitted to measurements, and a simulation of large ones.

    python -m benchmarks.cluster rounds     measures (out/cluster-rounds.json)
    python -m benchmarks.cluster_model      fits, checks and simulates: the tables of docs/scale.md

A round over n rows of d features in p partitions on m workers takes about

    t = a·n·d / min(m, cores) + s·p + c

with a the work on a number, s what the scheduler and the client spend on a task, c what is left.
The simulation plays rounds by events: each of p tasks waits for a free worker; its time is drawn
about the model's; some workers are slow; workers die, lose their partitions and come back.
"""

import heapq
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CORES = 2


class Cost(NamedTuple):
    """Seconds: of a number, of a task, of a round."""

    number: float
    task: float
    round: float

    def of(self, n: float, d: float, p: float, m: float, cores: float = CORES) -> float:
        return self.number * n * d / min(m, cores) + self.task * p + self.round


def fitted(lines: list[dict[str, Any]]) -> Cost:
    """Least squares, relative errors, no cost below zero."""
    from scipy.optimize import nnls

    rows = [
        [one["rows"] * one["features"] / min(one["workers"], CORES), one["partitions"], 1.0]
        for one in lines
    ]
    t = np.array([one["round"] for one in lines])
    A = np.array(rows) / t[:, None]
    scale = np.abs(A).max(axis=0)
    found, _ = nnls(A / scale, np.ones(len(t)))
    return Cost(*(found / scale).tolist())


def simulate(
    cost: Cost, n: float, d: float, partitions: int, workers: int, rounds: int, *,
    slow: float = 0.05, slowness: float = 3.0, deaths: float = 1e-4, back: float = 30.0,
    read: float = 4e-9, weights: float = 0.0, bandwidth: float = 1e9, seed: int = 0,
) -> float:  # fmt: skip
    """Seconds of `rounds` rounds.

    `slow` is the share of workers that take `slowness` times as long; `deaths` the chance that a
    worker dies in a second; it is `back` after so many seconds, and its partitions are read again
    at `read` seconds a number. `weights` bytes go to each worker in every round.
    """
    rng = np.random.default_rng(seed)
    speed = np.where(rng.random(workers) < slow, slowness, 1.0)
    work = cost.number * n * d / partitions
    load = read * n * d / partitions
    now = 0.0
    cold = np.zeros(workers)  # partitions to be made again
    for _ in range(rounds):
        sent = weights / bandwidth * np.log2(max(2, workers))  # worker to worker, along a tree
        free = [(now + sent, k) for k in range(workers)]
        heapq.heapify(free)
        done = now
        for task in range(partitions):
            at, k = heapq.heappop(free)
            at = max(at, now + cost.task * task)  # the scheduler hands them out one by one
            took = (work + (load if cold[k] > 0 else 0.0)) * speed[k] * rng.uniform(0.9, 1.2)
            cold[k] = max(0.0, cold[k] - 1)
            if rng.random() < 1.0 - np.exp(-deaths * took):  # it dies: the task goes elsewhere
                cold[k] = partitions / workers
                heapq.heappush(free, (at + back, k))
                at, k = heapq.heappop(free)
                took = (work + load) * speed[k] * rng.uniform(0.9, 1.2)
            done = max(done, at + took)
            heapq.heappush(free, (at + took, k))
        now = done + cost.round
    return now


def main(path: str = "out/cluster-rounds.json") -> None:
    lines = json.loads(Path(path).read_text())
    known = [one for one in lines if one["workers"] != 2 or one["rows"] != lines[-1]["rows"]]
    held = [one for one in lines if one not in known]
    cost = fitted(known)
    print(f"cost of a number {cost.number:.2e} s, of a task {cost.task:.2e} s, "
          f"of a round {cost.round:.2e} s")  # fmt: skip
    for one in lines:
        told = cost.of(one["rows"], one["features"], one["partitions"], one["workers"])
        kind = "held out" if one in held else "fitted"
        print(f"{one['rows']:>9,} rows {one['workers']} workers {one['partitions']:>3} tasks: "
              f"measured {one['round']:.3f} s, model {told:.3f} s ({kind})")  # fmt: skip
    for name, n, d, bytes_of_weights in (
        ("1e10 x 1e3 dense", 1e10, 1e3, 8e3), ("1e8 rows of 100, 1e6 features", 1e8, 1e2, 8e6),
    ):  # fmt: skip
        for workers in (10, 100, 1000):
            for per_worker in (4, 64):
                p = workers * per_worker
                plain = simulate(cost, n, d, p, workers, 10, slow=0.0, deaths=0.0,
                                 weights=bytes_of_weights)  # fmt: skip
                real = simulate(cost, n, d, p, workers, 10, weights=bytes_of_weights)
                tasks = cost.task * p * 10
                print(
                    f"{name}: {workers} workers, {p} tasks: ten rounds {plain:,.0f} s; with "
                    f"stragglers and deaths {real:,.0f} s; scheduler alone {tasks:,.1f} s"
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
