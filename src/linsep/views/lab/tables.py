"""Files dropped on the page: read by the library's own reader, kept until others push them out."""

import re
import secrets
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from linsep.errors import DataError
from linsep.views.lab.opening import open_rows
from linsep.views.lab.runs import Opened

MOST = 8  # files held at a time
LETTERS = 10_000_000  # of a file
ADVICE = r" \(pass [^)]*\)|, or pass [^.]*|--target | To see some of the classes.*"  # for no page


def read_table(text: str, name: str, target: str | None) -> Opened:
    """The rows of a text of CSV, or an even sample of each class."""
    if len(text) > LETTERS:
        raise DataError(f"{name} has more than {LETTERS:,} letters; use `linsep fit` for it.")
    if not text.strip():
        raise DataError(f"{name} is empty.")
    with tempfile.TemporaryDirectory(prefix="linsep-lab-") as folder:
        path = Path(folder) / "dropped.csv"
        path.write_text(text, "utf-8")
        try:
            opened = open_rows(str(path), target, None)
        except DataError as problem:
            said = re.sub(ADVICE, "", str(problem).replace(str(path), name))
            raise DataError(said) from None
    lines = [line.replace(repr(str(path)), repr(name)) for line in opened.lines]
    return opened._replace(name=name, lines=lines)


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


def choice(text: str, name: str, target: str | None, problem: DataError) -> dict[str, Any]:
    """What the page shows where a column cannot be the label: the others, and a question."""
    header = columns_of(text)
    if len(header) < 2 or len(set(header)) < len(header):
        raise problem
    known = {"name": name, "header": header, "columns": [], "problem": str(problem)}
    asked = re.search(r"ask about them: '([^']+)'", str(problem))
    return known if asked is None else known | {"question": asked[1]}


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
