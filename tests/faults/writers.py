"""Everything of linsep that writes a file, each as a function that writes one at a path."""

import functools
import warnings

import numpy as np
from click.testing import CliRunner

import linsep
from linsep.errors import NotConverged, StorageError
from linsep.views.cli import group


@functools.cache
def model():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((60, 3)), 2)
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(60) > 0, "p", "q")
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return linsep.Perceptron(max_iter=3, trace=True).fit(X, y), X, y


def table(folder, bad=False):
    """The rows as CSV, beside what is written."""
    path = folder / "rows.csv"
    if not path.exists():
        _, X, y = model()
        lines = ["a,b,c,y", *(f"{r[0]},{r[1]},{r[2]},{t}" for r, t in zip(X, y, strict=True))]
        path.write_text("\n".join(lines + ["x,1,2,p"] * bad) + "\n")
    return path


def _command(*arguments):
    """A command in this process: what it says when it fails is raised."""
    made = CliRunner().invoke(group, [*map(str, arguments)])
    if isinstance(made.exception, StorageError):  # `main` makes it a sentence and exit code 1
        raise made.exception
    assert made.exit_code in (0, 3), made.exception or made.output


def _model_file(folder):
    path = folder / "given.linsep"
    if not path.exists():
        linsep.save(model()[0], path)
    return path


def _bad_rows(path):
    linsep.read(table(path.parent, bad=True), target="y", bad_rows=str(path)).load()


def _predict(path):
    np.savetxt(path.parent / "new.csv", model()[1], delimiter=",")
    _command("predict", _model_file(path.parent), path.parent / "new.csv", "--out", path, "-q")


WRITERS = {
    "model": lambda path: linsep.save(model()[0], path),
    "export.sql": lambda path: linsep.export(model()[0], path),
    "export.py": lambda path: linsep.export(model()[0], path),
    "export.onnx": lambda path: linsep.export(model()[0], path),
    "trace": lambda path: model()[0].trace_.save(path),
    "film.html": lambda path: linsep.film(model()[0].trace_, path),
    "report.html": lambda path: linsep.report(*model(), path),
    "certificate": lambda path: _command("certify", table(path.parent), "--out", path),
    "predictions": _predict,
    "bad-rows": _bad_rows,
}
SLOW = {"export.onnx", "film.html", "report.html"}
"""Those that take a second: let fail at every operation by `make faults` alone."""
