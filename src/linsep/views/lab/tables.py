"""Files dropped on the page: read by the library's own reader, kept until others push them out."""

import re
import secrets
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linsep.errors import DataError
from linsep.views.lab.opening import CLASSES, FEATURES, sampled
from linsep.views.lab.runs import Opened

MOST = 8  # files held at a time
LETTERS = 10_000_000  # of a file
ADVICE = r" \(pass [^)]*\)|, or pass [^.]*"  # to who writes Python


def read_table(text: str, name: str, target: str | None) -> Opened:
    """The rows of a text of CSV, at most 500 of them, an even sample of each class."""
    if len(text) > LETTERS:
        raise DataError(f"{name} has more than {LETTERS:,} letters; use `linsep fit` for it.")
    if not text.strip():
        raise DataError(f"{name} is empty.")
    with tempfile.TemporaryDirectory(prefix="linsep-lab-") as folder:
        path = Path(folder) / "dropped.csv"
        path.write_text(text, "utf-8")
        try:
            return _opened(str(path), name, target)
        except DataError as problem:
            said = re.sub(ADVICE, "", str(problem).replace(str(path), name))
            raise DataError(said) from None


def _opened(path: str, name: str, target: str | None) -> Opened:
    from linsep.views.sources import open_source

    source = open_source(path, target, None)
    X, y = source.load()
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, float)
    labels, codes = np.unique(y, return_inverse=True)
    if not 2 <= len(labels) <= CLASSES:
        raise DataError(
            f"The column of labels has {len(labels):,} different values; 2 to {CLASSES} were "
            "wanted. Choose another column, or ask about it, such as 'price > 100'."
        )
    if X.shape[1] > FEATURES:
        raise DataError(f"{name} has {X.shape[1]:,} features; the lab takes {FEATURES:,}.")
    some, more, said = sampled(codes)
    file = f"X, y = open_data({name!r}, target={target!r})"
    lines = ["from linsep.views.sources import open_data", file]
    columns = source.encoding.feature_names if source.encoding is not None else None
    names = [str(one) for one in columns or range(X.shape[1])]
    return Opened(name, None, (X[some], y[some]), lines + more, names, said)


def columns_of(text: str) -> list[str]:
    """The names in the first line, to choose the label from; none where it is no header."""
    first = text.lstrip("\ufeff").splitlines()[0][:100_000] if text.strip() else ""
    mark = max(",;\t", key=first.count)
    return [part.strip().strip('"')[:60] for part in first.split(mark)][:1001]


class Shelf:
    """Files by names that nobody can guess; the oldest gives way."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Opened] = OrderedDict()

    def add(self, table: Opened) -> str:
        """Keep a file; returns its name."""
        name = secrets.token_urlsafe(12)
        self._held[name] = table
        while len(self._held) > MOST:
            self._held.popitem(last=False)
        return name

    def get(self, name: str) -> Opened:
        """The file of a name."""
        if name not in self._held:
            raise DataError("The file was closed meanwhile: drop it on the page again.")
        self._held.move_to_end(name)
        return self._held[name]


def summary(table: Opened, name: str, header: list[str]) -> dict[str, Any]:
    """What the page needs to know of a file: columns, classes, and its points if two features."""
    assert table.rows is not None
    y = table.rows[1]
    labels, codes = np.unique(y, return_inverse=True)
    return {
        "id": name,
        "name": table.name,
        "header": header,
        "columns": table.columns,
        "rows": len(y),
        "sample": table.sample,
        "classes": [str(one)[:60] for one in labels],
        "codes": codes.tolist(),
    }
