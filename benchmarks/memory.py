"""Peak memory of `linsep fit` on files of growing size, each in a fresh process.

`python -m benchmarks memory` makes files of 100 MB and 1 GB (`LINSEP_MEGABYTES=100,1000,5000` for
others; `LINSEP_LEARNERS=Perceptron,LinearSVC` and `LINSEP_KINDS=csv` for some), fits them, and
removes them. In the place of seconds the table shows megabytes: the peak on the largest file, and
the 300 MB it is to stay below; the note gives the peaks and processor seconds of all sizes, and
whether the first rows of the largest file give the same weights as a file and as an array. Kernels
are compiled before, by a fit on a file of 30 MB: solvers change at 65,536 rows.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
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


def peak(path: Path, learner: str, *more: str) -> tuple[float, float]:
    """Megabytes that `linsep fit` took at most, by the system's count, and processor seconds."""
    command = [sys.executable, "-c", COMMAND, "fit", str(path), "--learner", learner, "-q", *more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime  # kilobytes on Linux


SAME = """
import sys, warnings
import linsep
from benchmarks.memory import head
warnings.simplefilter("ignore")
path, learner, target = sys.argv[1:4]
with head(path) as first:
    how = {"target": target} if target else {}
    models = [getattr(linsep, learner)().set_params(**eval(sys.argv[4])) for _ in range(2)]
    models[0].fit(linsep.read(first, memory=0, **how))
    models[1].fit(*linsep.read(first, **how).load())
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
    assert models[0].intercept_.tobytes() == models[1].intercept_.tobytes()
"""


@contextmanager
def head(path: str) -> Iterator[Path]:
    """A file of the first 20,000 rows or so of another."""
    source = Path(path)
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, source.name)
        if source.suffix == ".parquet":
            from pyarrow import parquet

            parquet.write_table(parquet.ParquetFile(source).read_row_group(0), first)
        else:
            with source.open() as lines:
                first.write_text("".join(islice(lines, ROWS)))
        yield first


def _same(path: Path, learner: str, more: list[str]) -> str:
    """Whether the first rows of a file give the same bytes when fitted as an array."""
    target = more[1] if more[:1] == ["--target"] else ""
    given = dict(one.split("=") for one in more[1::2]) if not target else {}
    given = {k: int(v) if v.isdigit() else v for k, v in given.items()}
    done = subprocess.run(
        [sys.executable, "-c", SAME, str(path), learner, target, repr(given)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "the same bytes" if done.returncode == 0 else f"NOT THE SAME: {done.stderr[-200:]}"


def _asked(name: str, default: tuple[str, ...]) -> list[str]:
    return os.environ.get(f"LINSEP_{name}", ",".join(default)).split(",")


def rows() -> Iterator[dict[str, Any]]:
    """A line for each kind of file and learner."""
    sizes = [float(s) for s in os.environ.get("LINSEP_MEGABYTES", "100,1000").split(",")]
    for kind in _asked("KINDS", ("csv", "svm", "parquet")):
        with tempfile.TemporaryDirectory() as name:
            paths = [Path(name, f"{size:.0f}.{kind}") for size in [30.0, *sizes]]
            for path in paths:  # by a process of its own: a child's peak is never below ours
                subprocess.run([sys.executable, "-m", "benchmarks.memory", path], check=True)
            for learner in _asked("LEARNERS", tuple(LEARNERS)):
                if kind == "svm" and learner in DENSE:
                    continue  # covariances are dense, and f0 is a name
                more = LEARNERS[learner]
                (_, *found) = (peak(path, learner, *more) for path in paths)  # the first compiles
                note = ", ".join(
                    f"{p:.0f} MB and {t:.0f} s on {s:.0f} MB"
                    for s, (p, t) in zip(sizes, found, strict=True)
                )
                same = _same(paths[-1], learner, more)
                yield {
                    "workload": f"memory, {kind}, {learner}"[:43], "linsep": found[-1][0],
                    "peer": LIMIT, "ratio": LIMIT / max(p for p, _ in found), "wanted": 1.0,
                    "note": f"{note}; file and array: {same}",
                }  # fmt: skip


if __name__ == "__main__":
    asked = Path(sys.argv[1])
    write(asked, asked.suffix[1:], float(asked.stem))
