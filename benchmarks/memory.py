"""Peak memory of `linsep fit` on files of growing size, each in a fresh process.

`python -m benchmarks memory` makes files of 100 MB and 1 GB (`LINSEP_MEGABYTES=100,1000,5000` for
others; `LINSEP_LEARNERS=Perceptron,LinearSVC` and `LINSEP_KINDS=csv` for some), fits them, and
removes them. In the place of seconds the table shows megabytes: the peak on
the largest file, and the 300 MB it is to stay below; the note gives the peaks of all sizes. Kernels
are compiled before, by a fit on a small file of the same kind.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 300.0
ROWS, WIDTH = 20_000, 30
LEARNERS = {
    "Perceptron": ["-p", "max_iter=3"],
    "PassiveAggressive": ["-p", "max_iter=3"],
    "VotedPerceptron": ["-p", "max_iter=1", "-p", "decide=average"],
    "LogisticRegression": [],
    "LinearSVC": [],
    "LinearDiscriminantAnalysis": [],
    "FisherDiscriminant": [],
    "LinearRegression": ["--target", "f0"],
}
"""A kernel machine keeps its support, which grows with the rows, and is not among them."""
DENSE = ("LinearDiscriminantAnalysis", "FisherDiscriminant", "LinearRegression")
COMMAND = "from linsep.views.cli import main; main()"


def _body(kind: str) -> str:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, WIDTH))
    y = X[:, 0] + X[:, 1] + rng.standard_normal(ROWS) > 0
    pairs = zip(X.tolist(), y.tolist(), strict=True)
    if kind == "csv":
        return "".join(",".join([*(f"{v:.6f}" for v in x), str(k)]) + "\n" for x, k in pairs)
    return "".join(
        f"{int(k)} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x) if abs(v) > 0.5) + "\n"
        for x, k in pairs
    )


def write(path: Path, kind: str, megabytes: float) -> None:
    """A file of this size at least: the same 20,000 rows again and again."""
    size = megabytes * 1e6
    if kind == "parquet":
        _write_parquet(path, size)
        return
    body = _body(kind)
    with path.open("w") as file:
        if kind == "csv":
            file.write(",".join([*(f"f{j}" for j in range(WIDTH)), "y"]) + "\n")
        while file.tell() < size:
            file.write(body)


def _write_parquet(path: Path, size: float) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    X = np.random.default_rng(0).standard_normal((ROWS, WIDTH))
    columns = {f"f{j}": X[:, j] for j in range(WIDTH)}
    table = pa.table({**columns, "y": X[:, 0] + X[:, 1] > 0})
    with parquet.ParquetWriter(path, table.schema, use_dictionary=False) as file:
        for _ in range(max(1, round(size / X.nbytes))):
            file.write_table(table)


def peak(path: Path, learner: str, *more: str) -> float:
    """Megabytes that `linsep fit` took at most, by the system's count."""
    command = [sys.executable, "-c", COMMAND, "fit", str(path), "--learner", learner, "-q", *more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_maxrss / 1024  # kilobytes on Linux


def _asked(name: str, default: tuple[str, ...]) -> list[str]:
    return os.environ.get(f"LINSEP_{name}", ",".join(default)).split(",")


def rows() -> Iterator[dict[str, Any]]:
    """A line for each kind of file and learner."""
    sizes = [float(s) for s in os.environ.get("LINSEP_MEGABYTES", "100,1000").split(",")]
    learners = _asked("LEARNERS", tuple(LEARNERS))
    with tempfile.TemporaryDirectory() as name:
        for kind in _asked("KINDS", ("csv", "svm", "parquet")):
            found: dict[str, list[float]] = {learner: [] for learner in learners}
            for size in [4.0, *sizes]:  # the first compiles
                path = Path(name, f"t.{kind}")
                write(path, kind, size)
                for learner in learners:
                    if kind == "svm" and learner in DENSE:
                        continue  # covariances are dense, and f0 is a name
                    found[learner].append(peak(path, learner, *LEARNERS[learner]))
                path.unlink()
            for learner, (_, *peaks) in ((k, v) for k, v in found.items() if v):
                note = ", ".join(
                    f"{p:.0f} MB on {s:.0f} MB" for s, p in zip(sizes, peaks, strict=True)
                )
                yield {
                    "workload": f"memory, {kind}, {learner}"[:43], "linsep": peaks[-1],
                    "peer": LIMIT, "ratio": LIMIT / peaks[-1], "wanted": 1.0, "note": note,
                }  # fmt: skip
