"""What a round on a cluster costs: passes over made rows with 1, 2 and 4 workers.

    python -m benchmarks.cluster_rounds     writes out/cluster-rounds.json for `cluster_model`
    python -m benchmarks.cluster_rounds 2   the lines of two workers anew

A last line, four times as many rows on two workers, is there to check the model that is fitted to
the others. Each line has the seconds of a round of logistic sums (loss, gradient) over n rows of d
features, of as many tasks that do nothing, and the bytes sent and received.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROWS = int(os.environ.get("LINSEP_CLUSTER_ROWS", "1000000"))
SHAPES = ((ROWS // 4, 54), (ROWS, 54), (ROWS // 16, 512), (ROWS // 64, 20_000))
HELD_OUT = 4 * ROWS, 54


def made(seed: int, n: int, d: int) -> np.ndarray:
    """Rows that a worker makes for itself."""
    return np.random.default_rng(seed).standard_normal((n, d), np.float32)


def measured(workers: tuple[int, ...] = (1, 2, 4)) -> list[dict[str, float]]:
    """Median seconds of seven rounds for each shape and number of workers."""
    from distributed import Client, LocalCluster

    lines = []
    for count in workers:
        with (
            LocalCluster(
                n_workers=count, threads_per_worker=1, dashboard_address=":0", silence_logs=50
            ) as cluster,
            Client(cluster) as client,
        ):
            for n, d in (*SHAPES, *([HELD_OUT] if count == 2 else [])):
                lines.append({"workers": count, **_round(client, n, d)})
                print(json.dumps(lines[-1]), flush=True)
    return lines


def _round(client: Any, n: int, d: int) -> dict[str, float]:
    import dask

    from linsep.data.cluster.collections import rows_of
    from linsep.parallel import Pool
    from linsep.train.convex.losses import Logistic
    from linsep.train.convex.parts.curved_sums import CurvedSums
    from linsep.train.convex.problem import Problem

    step = max(32_768, 1 << 24 >> (d - 1).bit_length())
    chunks = [dask.delayed(made)(k, min(step, n - k), d) for k in range(0, n, step)]
    there = rows_of(client, chunks)
    signs = np.where(np.arange(n) % 3 == 0, np.int8(1), np.int8(-1))
    there.keep(signs)
    loss, u = Logistic(), np.zeros(d + 1)
    with Pool(1) as pool:
        sums = CurvedSums(Problem.of(there, signs, None, 1.0, loss, intercept=True), pool)
        sums.look(u, loss)
        evaluations = sorted(_timed(lambda: sums.look(u, loss)) for _ in range(7))
    tasks = len(there.rounds.partitions)
    nothing = sorted(_timed(lambda: _empty(client, tasks)) for _ in range(7))
    return {
        "rows": n, "features": d, "tasks": tasks, "round": evaluations[3], "nothing": nothing[3],
        "sent": 8.0 * (d + 1), "received": 16.0 * (d + 1) * tasks,
    }  # fmt: skip


def _timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _empty(client: Any, tasks: int) -> None:
    client.gather([client.submit(abs, k, pure=False) for k in range(tasks)])


if __name__ == "__main__":
    out = Path("out")
    out.mkdir(exist_ok=True)
    path, counts = out / "cluster-rounds.json", tuple(map(int, sys.argv[1:])) or (1, 2, 4)
    kept = json.loads(path.read_text()) if path.exists() and sys.argv[1:] else []
    kept = [line for line in kept if line["workers"] not in counts]
    path.write_text(json.dumps(kept + measured(counts), indent=1))
