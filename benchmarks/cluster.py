"""The cluster: the same fit in memory and on workers, against dask-ml and XGBoost's linear booster.

    python -m benchmarks cluster       the comparison

Forest cover (two classes, columns of unit spread, float32) and text are repeated to
LINSEP_CLUSTER_ROWS rows (10,000,000, where 10 GB of memory are free) and a twentieth as many;
workers make their rows from a file, so that the client holds none. linsep's seconds are medians of
FITS fits, in memory and on the cluster in turn. Peers get as many iterations as bring them within
1e-4 of the optimum, if any do; only the last of these runs is counted. What a round costs is
measured by `benchmarks.cluster_rounds`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]
import scipy.sparse as sp

FREE = psutil.virtual_memory().available
ROWS = int(os.environ.get("LINSEP_CLUSTER_ROWS", "10000000" if FREE > 10 << 30 else "2000000"))
FITS = 3
CHUNKS = {"table": 131_072, "text": 16_384}
"""Rows of a chunk, of some 30 MB each."""
LIMIT = float(os.environ.get("LINSEP_CLUSTER_SECONDS", "120"))
"""Seconds after which a peer is not asked for more iterations."""
CLOSE = 1e-4


def write_sets(folder: Path) -> dict[str, tuple[int, int]]:
    """Both sets as files; their rows and how often they are repeated."""
    from benchmarks.sources import covtype, imdb

    X, y, _ = covtype()
    X = ((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)).astype(np.float32)
    np.save(folder / "table.npy", X)
    np.save(folder / "table-y.npy", (y == 2).astype(np.int64))
    T, t, _ = imdb()
    sp.save_npz(folder / "text.npz", sp.csr_matrix(T, dtype=np.float32), compressed=False)
    np.save(folder / "text-y.npy", np.asarray(t).astype(np.int64))
    return {"table": (len(y), ROWS), "text": (T.shape[0], ROWS // 20)}


def rows_of(folder: str, name: str, start: int, stop: int) -> Any:
    """Rows start..stop of a set repeated for ever."""
    if name == "table":
        X: Any = np.load(Path(folder) / "table.npy", mmap_mode="r")
    else:
        X = sp.load_npz(Path(folder) / "text.npz").tocsr()
    which = np.arange(start, stop) % X.shape[0]
    return sp.csr_array(X[which]) if sp.issparse(X) else np.ascontiguousarray(X[which])


def labels_of(folder: str, name: str, n: int) -> np.ndarray:
    y = np.load(Path(folder) / f"{name}-y.npy")
    return y[np.arange(n) % len(y)]


def collection(client: Any, folder: str, name: str, n: int) -> tuple[list[Any], np.ndarray]:
    """Delayed blocks that are made and kept by the workers, and labels."""
    import dask
    from distributed import wait

    cuts = [(i, min(n, i + CHUNKS[name])) for i in range(0, n, CHUNKS[name])]
    parts = [dask.delayed(rows_of)(folder, name, *cut) for cut in cuts]
    kept = client.persist(parts)
    wait(kept)
    return kept, labels_of(folder, name, n)


def in_turn(*calls: Any) -> list[float]:
    """Median seconds of each of some calls, made one after the other, FITS times."""
    took = [[seconds(call)[0] for call in calls] for _ in range(FITS)]
    return np.median(took, axis=0).tolist()


def seconds(call: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def objective(X: Any, y: np.ndarray, w: np.ndarray, b: float, C: float = 1.0) -> float:
    """½‖w‖² + C Σ log(1 + e^{−z}), a few rows at a time."""
    total = 0.5 * float(w @ w)
    step = CHUNKS["text"]
    for start in range(0, X.shape[0], step):
        part = X[start : start + step].astype(np.float64)
        sides = np.where(y[start : start + step] > 0, 1.0, -1.0)
        total += C * float(np.logaddexp(0.0, -sides * (part @ w + b)).sum())
    return total


def rows() -> Iterator[dict[str, Any]]:
    """linsep against its own fit in memory, and against peers on the same two workers."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        sets = write_sets(Path(folder))
        for name, (_, n) in sets.items():
            yield from _compared(folder, name, n)


def _compared(folder: str, name: str, n: int) -> Iterator[dict[str, Any]]:
    from distributed import Client, LocalCluster

    import linsep

    X, y = rows_of(folder, name, 0, n), labels_of(folder, name, n)

    def fit(*data: Any) -> Any:
        return linsep.LogisticRegression(tol=CLOSE).fit(*data)

    here, before = fit(X, y), None
    for workers, threads, wanted in ((1, 2, -1.3), (2, 1, -1.15)):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=threads, dashboard_address=":0",
                silence_logs=50,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            dX, dy = collection(client, folder, name, n)
            there = fit(dX, dy)  # kernels, connections
            memory, took = in_turn(lambda: fit(X, y), lambda dX=dX, dy=dy: fit(dX, dy))
            same = there.coef_.tobytes() == here.coef_.tobytes()
            than, ratio = ("memory", took / memory) if workers == 1 else ("1 x 2", took / before)
            yield _line(
                f"{name}, {n:,} rows, {workers} x {threads} / {than}", took,
                memory if workers == 1 else before, ratio, wanted,
                f"same bytes: {same}, {there.solver_}, in memory {memory:.2f} s",
            )  # fmt: skip
            before = took
            if workers == 2:
                best = objective(X, y, here.coef_[0].astype(float), float(here.intercept_[0]))
                yield from _peers(client, name, dX, dy, X, took, best)


def _line(
    workload: str, own: float, peer: float, ratio: float, wanted: float, note: str
) -> dict[str, Any]:
    return {"workload": workload, "linsep": own, "peer": peer, "ratio": ratio, "wanted": wanted,
            "note": note}  # fmt: skip


def _peers(
    client: Any, name: str, parts: list[Any], y: np.ndarray, X: Any, took: float, best: float
) -> list[dict[str, Any]]:
    import dask.array as da

    d, step = X.shape[1], CHUNKS[name]
    lengths = [len(y[i : i + step]) for i in range(0, len(y), step)]
    meta = np.empty((0, d), np.float32) if name == "table" else sp.csr_matrix((0, d))
    arrays = [
        da.from_delayed(p, (m, d), np.float32, meta=meta)
        for p, m in zip(parts, lengths, strict=True)
    ]
    dX = da.concatenate(arrays).persist()
    dy = da.from_array(y, chunks=step).persist()
    lines = []
    for peer, fit in (("dask-ml lbfgs", _dask_ml), ("XGBoost gblinear", _xgboost)):
        try:
            off, theirs, iterations = np.inf, 0.0, 0
            while off > CLOSE and theirs < LIMIT / 3 and iterations < 3000:
                iterations = 4 * iterations or 25
                theirs, (w, b) = seconds(lambda fit=fit, k=iterations: fit(client, dX, dy, k))
                off = objective(X, y, w, b) / best - 1
            note = f"{off:.1e} above linsep's objective after {iterations} iterations"
            lines.append(_line(f"{name} / {peer}", took, theirs, theirs / took, 5.0, note))
        except Exception as problem:
            print(f"{name}, {peer}: left out ({type(problem).__name__}: {str(problem)[:160]})")
    return lines


def _dask_ml(client: Any, dX: Any, dy: Any, iterations: int) -> tuple[np.ndarray, float]:
    from dask_ml.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1.0, solver="lbfgs", max_iter=iterations, tol=1e-9).fit(dX, dy)
    return np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0])


def _xgboost(client: Any, dX: Any, dy: Any, iterations: int) -> tuple[np.ndarray, float]:
    from xgboost import dask as xgb

    given = xgb.DaskDMatrix(client, dX, dy)
    options = {"booster": "gblinear", "objective": "binary:logistic", "lambda": 1e-6,
               "updater": "coord_descent", "base_score": 0.5, "eta": 1.0}  # fmt: skip
    fitted = xgb.train(client, options, given, num_boost_round=iterations)
    model = json.loads(fitted["booster"].get_dump(dump_format="json")[0])
    return np.array(model["weight"], float), float(np.ravel(model["bias"])[0])


def client_memory(name: str = "table", n: int = ROWS) -> float:
    """Megabytes that the client of a fit needs at most; in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        write_sets(Path(folder))
        command = [sys.executable, "-m", "benchmarks.cluster", "client", folder, name, str(n)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _client(folder: str, name: str, n: int) -> None:
    from distributed import Client, LocalCluster

    import linsep

    warnings.simplefilter("ignore")
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        dX, dy = collection(client, folder, name, n)
        linsep.LogisticRegression(tol=CLOSE).fit(dX, dy)
    status = Path("/proc/self/status").read_text()  # getrusage tells of the parent too
    print(float(status.split("VmHWM:")[1].split()[0]) / 1024)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        _client(sys.argv[2], sys.argv[3], int(sys.argv[4]))
