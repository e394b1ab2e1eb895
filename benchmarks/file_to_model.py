"""From a file to a saved model, each in a fresh process: linsep beside LIBLINEAR and Vowpal Wabbit.

The text set IMDB as TF-IDF rows in the svmlight format (88 MB), and the same rows repeated to 1 GB.
LIBLINEAR is its official Python package, which parses in Python and trains in C: the program
`train` of its authors is taken instead where it is found as `liblinear-train`. Vowpal Wabbit makes
one pass over the same rows in its own format, which is written beforehand. linsep's time includes
the certificate of the machine and its errors on the training rows; of a single pass it tells
the mistakes made on the way, which need no second reading.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.sources import imdb
from benchmarks.stopwatch import as_installed, race

PEERS = Path(__file__).resolve().parents[1] / ".venv" / "peers" / "bin" / "python"
LINSEP = "from linsep.views.cli import main; main()"
LIBLINEAR = """
import sys
from liblinear.liblinearutil import save_model, svm_read_problem, train
y, X = svm_read_problem(sys.argv[1], return_scipy=True)
save_model(sys.argv[2], train(y, X, "-s 1 -q"))
"""
VW = """
import sys
from vowpalwabbit import Workspace
Workspace(f"-d {sys.argv[1]} -f {sys.argv[2]} --loss_function hinge -b 18 --quiet").finish()
"""


def _write(folder: Path) -> tuple[Path, Path, str]:
    X, y, name = imdb()
    svm, vw = folder / "t.svm", folder / "t.vw"
    with svm.open("w") as a, vw.open("w") as b:
        for i in range(X.shape[0]):
            part = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
            text = " ".join(f"{j + 1}:{v:.17g}" for j, v in pairs)
            sign = 1 if y[i] else -1
            a.write(f"{sign} {text}\n")
            b.write(f"{sign} | {text}\n")
    return svm, vw, name


def _repeated(path: Path, size: float) -> Path:
    large = path.with_name("large" + path.suffix)
    body = path.read_bytes()
    with large.open("wb") as file:
        while file.tell() < size:
            file.write(body)
    return large


def _run(*command: Any) -> None:
    subprocess.run(
        [str(one) for one in command], check=True, capture_output=True, env=as_installed()
    )


def _ours(path: Path, out: Path, learner: str, *parameters: str) -> None:
    more = [one for p in parameters for one in ("-p", p)]
    _run(sys.executable, "-c", LINSEP, "fit", path, "--learner", learner, *more, "-q", "--out", out)


def _line(workload: str, found: Any, note: str) -> dict[str, Any]:
    ours, peer = found["linsep"].best, found["peer"].best
    return {"workload": workload, "linsep": ours, "peer": peer, "ratio": peer / ours,
            "wanted": 1.0, "note": note}  # fmt: skip


def rows() -> Iterator[dict[str, Any]]:
    """Seconds from the start of the process to the saved model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        svm, vw, data = _write(folder)
        out, size = folder / "model", svm.stat().st_size / 1e6
        program = shutil.which("liblinear-train")
        told = "liblinear-train -s 1" if program else "LIBLINEAR's Python package, -s 1"
        liblinear = [program, "-s", "1", "-q"] if program else [PEERS, "-c", LIBLINEAR]
        machine = ("loss=squared_hinge", "fit_intercept=false")
        _ours(svm, out, "LinearSVC", *machine)  # kernels are compiled here
        _ours(svm, out, "Perceptron", "max_iter=1", "keep=average")
        if program or PEERS.exists():
            found = race({"linsep": lambda: _ours(svm, out, "LinearSVC", *machine),
                          "peer": lambda: _run(*liblinear, svm, out)}, 3)  # fmt: skip
            yield _line(f"{data} file of {size:.0f} MB to model", found, told)
        if PEERS.exists():
            gigabyte = float(os.environ.get("LINSEP_RACE_MEGABYTES", "1000")) * 1e6
            large, other = _repeated(svm, gigabyte), _repeated(vw, gigabyte)
            for path, peer, size in ((svm, vw, svm.stat().st_size), (large, other, gigabyte)):
                found = race({
                    "linsep": lambda path=path: _ours(  # type: ignore[misc]
                        path, out, "Perceptron", "max_iter=1", "keep=average"),
                    "peer": lambda peer=peer: _run(PEERS, "-c", VW, peer, out),  # type: ignore[misc]
                }, 2)  # fmt: skip
                note = "Vowpal Wabbit, one pass, hinge; averaged perceptron here"
                yield _line(f"{size / 1e6:.0f} MB to model, one pass", found, note)
