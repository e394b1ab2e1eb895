"""Reading files: svmlight beside scikit-learn's loader, CSV and Parquet beside pyarrow's readers;
and the memory of a streaming pass and of a fit, for a file and for one eight times as large."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sources import imdb
from benchmarks.stopwatch import race
from linsep import read

ROWS, WIDTH = 20_000, 30
TOLD = {
    "pass": "rows and labels in blocks, the encoding known",
    "gather": "classes and means found, rows in a binary copy on disk",
}

MEMORY = """
import sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
import linsep
chunks = linsep.read(sys.argv[2])
if sys.argv[1] == "pass":
    for X, y in chunks:
        pass
else:
    linsep.Perceptron(max_iter=2).fit(chunks)
status = Path("/proc/self/status").read_text().split("VmHWM:")[1]
print(int(status.split()[0]) / 1024)
"""


def _table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, WIDTH))
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(ROWS) > 0


def _write(path: Path, head: str, body: str, times: int) -> float:
    """Write `body` again and again; returns the size in MB."""
    with path.open("w") as file:
        file.write(head)
        for _ in range(times):
            file.write(body)
    return path.stat().st_size / 1e6


def _line(workload: str, ours: float, peer: float, wanted: float, note: str) -> dict[str, Any]:
    return {"workload": workload, "linsep": ours, "peer": peer, "ratio": peer / ours,
            "wanted": wanted, "note": note}  # fmt: skip


def _svmlight(folder: Path) -> list[dict[str, Any]]:
    from sklearn.datasets import load_svmlight_file

    X, y = _table()
    lines = (
        f"{int(k)} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x) if abs(v) > 0.5)
        for x, k in zip(X.tolist(), y, strict=True)
    )
    path = folder / "t.svm"
    size = _write(path, "", "\n".join(lines) + "\n", 12)
    read(path).load()
    found = race(
        {"ours": lambda: read(path).load(), "peer": lambda: load_svmlight_file(str(path))}, 3
    )
    ours, peer = found["ours"].best, found["peer"].best
    note = f"{size / ours:.0f} MB/s against {size / peer:.0f}"
    return [
        _line("svmlight file, scikit-learn's loader", ours, peer, 10.0, note),
        _line("svmlight file, 400 MB/s", ours, size / 400, 1.0, f"{size / ours:.0f} MB/s"),
        _long_rows(folder),
    ]


def _long_rows(folder: Path) -> dict[str, Any]:
    """Rows of text: many entries, indices of five digits, values of seventeen."""
    X, y, name = imdb()
    lines = []
    for i in range(2000):
        part = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
        lines.append(f"{int(y[i])} " + " ".join(f"{j + 1}:{v:.17g}" for j, v in pairs) + "\n")
    path = folder / "long.svm"
    size = _write(path, "", "".join(lines), 15)
    ours = race({"ours": lambda: read(path).load()}, 4)["ours"].best
    return _line(f"svmlight file of {name}, 400 MB/s", ours, size / 400, 1.0,
                 f"{size / ours:.0f} MB/s; 17 digits, long rows")  # fmt: skip


def _csv(folder: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    X, y = _table()
    head = ",".join([*(f"f{j}" for j in range(WIDTH)), "y"]) + "\n"
    pairs = zip(X.tolist(), y, strict=True)
    body = "".join(
        ",".join([*(f"{v:.6f}" for v in x), "yes" if k else "no"]) + "\n" for x, k in pairs
    )
    path = folder / "t.csv"
    _write(path, head, body, 15)
    columns = folder / "t.parquet"
    parquet.write_table(csv.read_csv(path), columns)
    distinct = folder / "distinct.parquet"
    fresh = np.random.default_rng(1).standard_normal((15 * ROWS, WIDTH))
    table = {f"f{j}": fresh[:, j] for j in range(WIDTH)} | {
        "y": np.where(fresh[:, 0] > 0, "a", "b")
    }
    parquet.write_table(pa.table(table), distinct)
    lines = [
        *_tables(path, "CSV"),
        *_tables(columns, "Parquet, numbers that come again"),
        *_tables(distinct, "Parquet, numbers that do not"),
    ]
    small, large = folder / "small.csv", folder / "large.csv"
    _write(small, head, body, 10)
    _write(large, head, body, 80)
    return [*lines, *_memory(small, large)]


def _tables(path: Path, name: str) -> list[dict[str, Any]]:
    """One pass in blocks of rows, then all rows gathered, beside pyarrow's two ways to read."""
    from pyarrow import csv, parquet

    text, size = path.suffix == ".csv", path.stat().st_size / 1e6
    known = read(path).encoding

    def walked() -> None:
        for _ in read(path, like=known):
            pass

    def streamed() -> None:
        batches = csv.open_csv(path) if text else parquet.ParquetFile(path).iter_batches()
        for _ in batches:
            pass

    def whole() -> None:
        csv.read_csv(path) if text else parquet.read_table(path)

    found = race({"pass": walked, "gather": lambda: read(path).gather(), "streamed": streamed,
                  "whole": whole}, 7)  # fmt: skip
    peers = ("open_csv", "read_csv") if text else ("iter_batches", "read_table")
    lines = []
    for what in ("pass", "gather"):
        ours = found[what].best
        note = f"{size / ours:.0f} MB/s, {found[what].spread:.0%} spread; {TOLD[what]}"
        for peer, called in zip(("streamed", "whole"), peers, strict=True):
            lines.append(_line(f"{name}, {size:.0f} MB, {what}, pyarrow {called}", ours,
                               found[peer].best, 1 / 1.3, note))  # fmt: skip
    return lines


def _memory(small: Path, large: Path) -> list[dict[str, Any]]:
    """Peak memory, in the place of seconds: a larger file must not need more."""
    lines = []
    for what in ("pass", "fit"):
        peaks = []
        for path in (small, large):
            done = subprocess.run(
                [sys.executable, "-c", MEMORY, what, str(path)],
                capture_output=True, text=True, check=True, env=dict(os.environ),
            )  # fmt: skip
            peaks.append(float(done.stdout))
        note = f"peak MB for {large.stat().st_size >> 20} MB and for {small.stat().st_size >> 20}"
        lines.append(_line(f"memory of a {what} over a CSV file", peaks[1], peaks[0], 0.8, note))
    return lines


def rows() -> list[dict[str, Any]]:
    """Speed of reading, and memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*_svmlight(folder), *_csv(folder)]
