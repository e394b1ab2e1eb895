"""Data for the command line: an embedded set by its name, or files of any format and size."""

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linsep.errors import DataError, ParameterError

EMBEDDED = {
    "digits": "8x8 images of handwritten digits, ten classes",
    "digits01": "zeros against ones of the same",
    "iris": "three kinds of iris",
    "cancer": "breast cancer, benign or malignant",
    "wine": "three kinds of wine",
    "xor": "the four rows no hyperplane separates",
}


def left_out(count: int, which: str = "") -> str:
    """That rows could not be read: nothing is dropped in silence."""
    rows, were = ("row", "was") if count == 1 else ("rows", "were")
    return f"{count:,} {which}{rows} could not be read and {were} left out"


class Rows:
    """Rows in memory, with the face of `linsep.read`'s Chunks."""

    encoding = None
    skipped = 0
    left_out = 0

    def __init__(self, name: str, X: Any, y: Any) -> None:
        self.X, self.y = X, y
        self.notes = [f"{name}: {EMBEDDED[name]}; built in, {len(y)} rows, {X.shape[1]} features."]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """How many features each row has."""
        return int(self.X.shape[1])

    @property
    def classes(self) -> Any:
        """The classes, sorted."""
        return np.unique(self.y)

    def load(self) -> tuple[Any, Any]:
        """All rows and labels."""
        return self.X, self.y

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield self.X, self.y


class NoRows:
    """An empty batch, with the face of `linsep.read`'s Chunks."""

    skipped = 0
    paths: tuple[Path, ...] = ()
    unit = "line"
    drift = None

    @property
    def source(self) -> "NoRows":
        """Where the rows would come from."""
        return self

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(())

    def with_columns(self, names: list[str], lines: bool = False) -> Iterator[Any]:
        """No piece."""
        return iter(())


def is_empty(name: str) -> bool:
    """Whether standard input, or a file, ends before its first byte."""
    if name == "-":
        peek = getattr(sys.stdin.buffer, "peek", None)
        return peek is not None and not peek(1)
    return Path(name).is_file() and Path(name).stat().st_size == 0


def open_source(
    name: str,
    target: str | None = None,
    classes: list[str] | None = None,
    bad_rows: str = "fail",
    like: Any = None,
    labelled: bool = True,
    **reading: Any,
) -> Any:
    """An embedded set, or the rows of files, ready to be walked or fitted.

    `labelled` is whether labels are wanted where the files have them; `reading` are more keywords
    of `linsep.read`.
    """
    require_there("DATA", name)
    if _is_read(name):
        from linsep.data.sources.read import read

        if "formula" in reading:
            from linsep.data.sources.formula import formula

            if target is not None:
                raise ParameterError("the formula names the labels; leave --target out.")
            text = reading.pop("formula")
            return formula(text, name, classes=classes, bad_rows=bad_rows, **reading)
        known = getattr(like, "encoding_", None) or like
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # notes tell them
            chunks = read(name, target, classes=classes, bad_rows=bad_rows, like=known, **reading)
        if not labelled:
            chunks.source.without_labels()
        return chunks
    if reading.get("cluster") is not None:
        raise ParameterError(
            f"{name} is a built-in set, and the workers of a cluster read files; leave out "
            "--cluster, or give files."
        )
    if target is not None or reading:
        option = "--target" if target is not None else f"{next(iter(reading))} of how to read it"
        raise ParameterError(
            f"{name} is a built-in set, whose columns are fixed; leave out {option}."
        )
    return Rows(name, *_kept(*_embedded(name), classes))


def require_there(option: str, name: str) -> None:
    """Refuse a name that is neither a file nor an embedded set."""
    if not _is_read(name) and name not in EMBEDDED:
        known_sets = ", ".join(EMBEDDED)
        raise DataError(f"{option} is {name!r}: no such file, nor a built-in set ({known_sets}).")


def _is_read(name: str) -> bool:
    return name == "-" or Path(name).exists() or any(sign in name for sign in "*?[")


def open_data(
    name: str,
    target: str | None = None,
    classes: list[str] | None = None,
    bad_rows: str = "fail",
    **reading: Any,
) -> tuple[Any, Any]:
    """Rows and labels of an embedded set or of the file `name`, in memory."""
    X, y = open_source(name, target, classes, bad_rows, **reading).load()
    return X, y


def _embedded(name: str) -> tuple[Any, Any]:
    if name == "xor":
        from linsep.data import toys

        return toys.xor()
    from sklearn import datasets

    loader = {"cancer": "breast_cancer", "digits01": "digits"}.get(name, name)
    X, y = getattr(datasets, f"load_{loader}")(return_X_y=True)
    if name == "digits01":
        X, y = X[y < 2], y[y < 2]
    return np.ascontiguousarray(X, float), y


def _kept(X: Any, y: Any, classes: list[str] | None) -> tuple[Any, Any]:
    if classes is None:
        return X, y
    keep = np.isin(y.astype(str), classes)
    return X[keep], y[keep]


class Rate:
    """Rows per second on stderr: one moving line on a terminal, else at rows 2ⁿ · 65,536.

    With the `total` of rows known, also the seconds that are left.
    """

    def __init__(self, doing: str, quiet: bool = False, total: int | None = None) -> None:
        self.doing, self.quiet, self.total = doing, quiet, total
        self.rows, self._next, self._start = 0, 1 << 16, time.perf_counter()
        self._moving = sys.stderr.isatty()
        self._shown = 0.0

    def add(self, rows: int) -> None:
        """Some rows more are done."""
        self.rows += rows
        now = time.perf_counter()
        if self.quiet or (self._moving and now - self._shown < 0.2):
            return
        if self._moving or self.rows >= self._next:
            while self._next <= self.rows:
                self._next *= 2
            self._shown = now
            speed = self.rows / max(now - self._start, 1e-9)
            end = "\r" if self._moving else "\n"
            left = "" if self.total is None else f", {(self.total - self.rows) / speed:.0f} s left"
            print(f"{self.doing}: {self.rows:,} rows, {speed:,.0f} rows/s{left}", end=end,
                  file=sys.stderr, flush=True)  # fmt: skip

    def end(self) -> None:
        """Leave the line."""
        if self._moving and self._shown:
            print(" " * 60, end="\r", file=sys.stderr)
