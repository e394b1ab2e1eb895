"""Prediction against the bare matrix product it cannot do without; and `linsep predict`: how much
processor time a new process takes, and how its stream of rows compares with the reader alone."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sources import covtype, imdb, mnist
from benchmarks.stopwatch import as_installed, race
from linsep import LogisticRegression, Perceptron, read, save

COMMAND = "from linsep.views.cli import main; main()"
WIDTH = 30


def rows() -> Iterator[dict[str, Any]]:
    """Lines for rows in memory, then for files."""
    yield from _in_memory()
    with tempfile.TemporaryDirectory() as name:
        for kind in ("csv", "svm", "parquet"):
            yield from _from_file(Path(name), kind)


def _in_memory() -> list[dict[str, Any]]:
    X, y, name = mnist()
    lines = [_line(f"{name}, 10 classes, labels", Perceptron(max_iter=2), X, y)]
    X, y, name = covtype()
    lines.append(_line(f"{name}, 2 classes, labels", LogisticRegression(tol=1e-2), X, y == 2))
    X, y, name = imdb()
    return [*lines, _line(f"{name}, sparse, labels", LogisticRegression(tol=1e-2), X, y)]


def _line(name: str, learner: Any, X: Any, y: Any) -> dict[str, Any]:
    some = np.random.default_rng(0).permutation(X.shape[0])[:5000]
    learner.fit(X[some], y[some])
    W = np.ascontiguousarray(learner.coef_.T.astype(X.dtype))
    times = race({"linsep": lambda: learner.predict(X), "product": lambda: X @ W}, 9)
    ours, bare = times["linsep"].best, times["product"].best
    return {
        "workload": name, "linsep": ours, "peer": bare, "ratio": ours / bare, "wanted": -1.2,
        "note": "peer column: the bare product X @ W.T",
    }  # fmt: skip


def _write(path: Path, times: int) -> Path:
    """A file of the kind its name says, `times` the same 2000 rows."""
    if path.suffix == ".parquet":
        from pyarrow import csv, parquet

        text = _write(path.with_suffix(".csv"), times)
        parquet.write_table(csv.read_csv(text), path)
        return path
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, WIDTH))
    pairs = list(zip(X.tolist(), (X[:, 0] + X[:, 1] > 0).astype(int).tolist(), strict=True))
    if path.suffix == ".csv":
        head = ",".join([*(f"f{j}" for j in range(WIDTH)), "y"]) + "\n"
        body = "".join(",".join([*(f"{v:.6f}" for v in x), str(k)]) + "\n" for x, k in pairs)
    else:
        head = ""
        body = "".join(
            f"{k} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in enumerate(x)) + "\n" for x, k in pairs
        )
    with path.open("w") as file:
        file.write(head)
        for _ in range(times):
            file.write(body)
    return path


def _from_file(folder: Path, kind: str) -> Iterator[dict[str, Any]]:
    from linsep import load
    from linsep.views.cli.predict import _csv_lines
    from linsep.views.sources import Rate, open_source

    small, large = _write(folder / f"small.{kind}", 1), _write(folder / f"large.{kind}", 100)
    model = folder / f"{kind}.linsep"
    save(LogisticRegression(tol=1e-2).fit(read(small)), model)
    used = min(_processor_time("predict", model, small) for _ in range(5))
    yield {"workload": f"linsep predict, {kind}: processor time", "linsep": used, "peer": 0.4,
           "ratio": 0.4 / used, "wanted": 1.0, "note": "a new process, 2000 rows; limit 0.4 s",
           }  # fmt: skip
    known = load(model)

    def opened() -> Any:
        return open_source(str(large), None, None, "fail", like=known, labelled=False)

    def predicted() -> int:
        source = opened()
        with open(os.devnull, "w") as sink:  # noqa: PTH123
            lines = _csv_lines(known, source, False, False, None, Rate("", True))
            return sum(sink.write(text) for text in lines)

    def only_read() -> int:
        return sum(X.shape[0] for X, _ in opened())

    found = race({"linsep": predicted, "reader": only_read}, 8)
    ours, reader = found["linsep"].best, found["reader"].best
    size = large.stat().st_size / 1e6
    yield {"workload": f"linsep predict, {kind}: rows to labels", "linsep": ours, "peer": reader,
           "ratio": reader / ours, "wanted": 0.8,
           "note": f"{size / ours:.0f} MB/s; peer column: the reader alone"}  # fmt: skip


def _processor_time(*arguments: Any) -> float:
    """Seconds of user and system time of a `linsep` process."""
    command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=as_installed()
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime
