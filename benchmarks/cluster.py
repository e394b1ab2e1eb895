"""The cluster: the same fit on one and two workers, against dask-ml and XGBoost's linear booster.

    python -m benchmarks cluster            the comparison
    python -m benchmarks.cluster rounds     costs of a round, as JSON for `cluster_model`

100,000 made-up rows of 54 features are repeated to 1,000,000, or LINSEP_CLUSTER_ROWS.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROWS = int(os.environ.get("LINSEP_CLUSTER_ROWS", "1000000"))
CHUNK = 65_536


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Made-up rows of as many features as covtype has, repeated to n."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 54)).astype(np.float32)
    y = X @ rng.standard_normal(54) + 5 * rng.standard_normal(len(X)) > 0
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)
    times = -(-n // len(X))
    return np.tile(X, (times, 1))[:n].astype(np.float32), np.tile(y, times)[:n].astype(np.int64)


def part(k: int, n: int) -> np.ndarray:
    return data(n)[0][k * CHUNK : (k + 1) * CHUNK]


def seconds(call: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def objective(X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float, C: float) -> float:
    z = np.where(y > 0, 1.0, -1.0) * (X.astype(np.float64) @ w + b)
    return float(0.5 * w @ w + C * np.logaddexp(0.0, -z).sum())


def rows() -> list[dict[str, Any]]:
    """linsep against its own fit in memory, and against peers on the same two workers."""
    import dask.array as da
    from distributed import Client, LocalCluster

    import linsep

    warnings.simplefilter("ignore")
    X, y = data(ROWS)
    learner = linsep.LogisticRegression(tol=1e-4)
    learner.fit(X[:50_000], y[:50_000])
    memory, here = seconds(lambda: linsep.LogisticRegression(tol=1e-4).fit(X, y))
    lines = []
    for workers, threads, wanted in ((1, 2, -1.3), (2, 1, -1.5)):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=threads, dashboard_address=":0",
                silence_logs=50,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            dX = client.persist(da.from_array(X, chunks=(CHUNK, X.shape[1])))
            dy = client.persist(da.from_array(y, chunks=CHUNK))
            linsep.LogisticRegression(tol=1e-4).fit(dX, dy)  # kernels, connections
            took, there = seconds(
                lambda dX=dX, dy=dy: linsep.LogisticRegression(tol=1e-4).fit(dX, dy)
            )
            same = there.coef_.tobytes() == here.coef_.tobytes()
            name = f"logistic, {ROWS:,} rows, {workers} x {threads}"
            lines.append(
                _line(
                    f"{name} / memory", took, memory, took / memory, wanted, f"same bytes: {same}"
                )
            )
            if workers == 2:
                lines += _peers(dX, dy, X, y, took, here)
    return lines


def _line(
    workload: str, own: float, peer: float, ratio: float, wanted: float, note: str
) -> dict[str, Any]:
    return {"workload": workload, "linsep": own, "peer": peer, "ratio": ratio, "wanted": wanted,
            "note": note}  # fmt: skip


def _peers(dX: Any, dy: Any, X: Any, y: Any, took: float, here: Any) -> list[dict[str, Any]]:
    best = objective(X, y, here.coef_[0].astype(float), float(here.intercept_[0]), 1.0)
    lines = []
    try:
        from dask_ml.linear_model import LogisticRegression

        def peer() -> Any:
            return LogisticRegression(C=1.0, solver="lbfgs", max_iter=100).fit(dX, dy)

        theirs, fitted = seconds(peer)
        w = np.ravel(fitted.coef_)
        off = objective(X, y, w, float(np.ravel(fitted.intercept_)[0]), 1.0) / best - 1
        lines.append(
            _line("logistic / dask-ml lbfgs", took, theirs, theirs / took, 5.0, f"off {off:.1e}")
        )
    except Exception as problem:
        print(f"dask-ml: left out ({type(problem).__name__}: {str(problem)[:80]})")
    try:
        import xgboost as xgb
        from distributed import default_client

        def booster() -> Any:
            client = default_client()
            given = xgb.dask.DaskDMatrix(client, dX, dy)
            options = {"booster": "gblinear", "objective": "binary:logistic", "lambda": 1e-6,
                       "updater": "shotgun", "base_score": 0.5}  # fmt: skip
            return xgb.dask.train(client, options, given, num_boost_round=50)

        theirs, fitted = seconds(booster)
        model = json.loads(fitted["booster"].get_dump(dump_format="json")[0])
        w, b = np.array(model["weight"], float), float(np.ravel(model["bias"])[0])
        off = objective(X, y, w, b, 1.0) / best - 1
        lines.append(
            _line("logistic / XGBoost gblinear", took, theirs, theirs / took, 5.0, f"off {off:.1e}")
        )
    except Exception as problem:
        print(f"XGBoost: left out ({type(problem).__name__}: {str(problem)[:80]})")
    return lines


def rounds(workers: tuple[int, ...] = (1, 2, 4)) -> list[dict[str, float]]:
    """Seconds of a round of gradients, of one that does nothing, and of one task alone."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from linsep.data.cluster.collections import rows_of
    from linsep.parallel import Pool
    from linsep.train.convex.coordinates import Blocks, Columns
    from linsep.train.convex.newton.logistic_sums import LogisticSums

    found = []
    for n in (ROWS // 4, ROWS):
        X, y = data(n)
        signs = np.where(y > 0, 1, -1).astype(np.int8)
        for count in workers:
            with (
                LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0",
                             silence_logs=50) as cluster,
                Client(cluster) as client,
            ):  # fmt: skip
                there = rows_of(client, da.from_array(X, chunks=(CHUNK, X.shape[1])))
                plain = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
                u = np.zeros(X.shape[1] + 1)
                with Pool(1) as pool:
                    sums = LogisticSums(Blocks(there, plain), signs, np.array([1 / n]), pool)
                    sums.at(u)
                    looks = sorted(seconds(lambda sums=sums, u=u: sums.at(u))[0] for _ in range(5))
                nothing = sorted(_empty(client, len(there.rounds.partitions)) for _ in range(5))
                found.append({
                    "rows": n, "features": X.shape[1], "workers": count,
                    "partitions": len(there.rounds.partitions), "round": looks[2],
                    "scheduler": nothing[2],
                })  # fmt: skip
                print(json.dumps(found[-1]), flush=True)
    return found


def _empty(client: Any, tasks: int) -> float:
    start = time.perf_counter()
    client.gather([client.submit(abs, k, pure=False) for k in range(tasks)])
    return time.perf_counter() - start


if __name__ == "__main__":
    if sys.argv[1:] == ["rounds"]:
        out = Path("out")
        out.mkdir(exist_ok=True)
        (out / "cluster-rounds.json").write_text(json.dumps(rounds(), indent=1))
