"""Rows that cannot be read: an error at the first, or counted, told and left out."""

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from linsep._arguments import path_of
from linsep.data.files import disk
from linsep.data.files.atomic import Beside
from linsep.data.files.special_files import kind_of, open_special, own_descriptor
from linsep.data.files.system_errors import explain
from linsep.errors import DataError, ParameterError, StorageError

KEPT = 20  # bad rows remembered for telling; all are counted
MOST_GROUPS = 200  # reasons that are told apart


class BadRow(NamedTuple):
    """A row that cannot be read: where, what was found there, and why that will not do.

    `line` counts from 1; `column` is a place in the line, or the name of a column.
    """

    line: int
    column: int | str | None
    found: str
    reason: str
    text: str = ""

    def moved(self, lines: int) -> "BadRow":
        """The same row, where `lines` more lines come before it."""
        return self._replace(line=self.line + lines)

    def sentence(self, path: Any, unit: str = "line") -> str:
        """One sentence: file, line, column, what was found and what is wrong with it."""
        column = "" if self.column is None else f", column {self.column!r}"
        return f"{path}, {unit} {self.line}{column}: {self.why}."

    @property
    def why(self) -> str:
        """What was found, where one cell is to blame, and what is wrong with it."""
        return self.reason if self.column is None else f"{_short(self.found)!r} {self.reason}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


class Group(NamedTuple):
    """Bad rows of one reason: the first lines, and how often each cell was met."""

    rows: list[int]
    cells: Counter[str]


class BadRows:
    """What to do with rows that cannot be read, and how many there were.

    Parameters
    ----------
    how : 'fail', 'skip', or the path of a CSV file that gets a line for each of them
    """

    def __init__(self, how: str | os.PathLike[str] = "fail") -> None:
        path_of("bad_rows", how)
        self.how = how
        kind = None if how in ("fail", "skip") or own_descriptor(how) else kind_of(how)
        if kind is not None and kind != "a device":  # each pass over the rows lists them anew
            raise ParameterError(f"bad_rows is {str(how)!r}, which is {kind}; name a file.")
        self.count = 0
        self.first: list[str] = []
        self.groups: dict[tuple[str, str], Group] = {}
        self._file: Any = None
        self._beside: Beside | None = None

    @property
    def fails(self) -> bool:
        """Whether the first bad row is an error."""
        return self.how == "fail"

    def begin(self) -> None:
        """Start counting anew: the rows are about to be read from the first on."""
        self.close()
        self.count, self.first = 0, []
        self.groups.clear()

    def take(self, path: Any, rows: Iterable[BadRow], unit: str = "line") -> None:
        """Raise, or count and note, some bad rows of a file."""
        for row in rows:
            sentence = row.sentence(path, unit)
            if self.fails:
                raise DataError(
                    f"{sentence} Mend it, or pass bad_rows='skip' to leave such rows out."
                )
            self.count += 1
            self._count_in_group(row)
            if len(self.first) < KEPT:
                self.first.append(sentence)
            if self.how != "skip":
                self._note(path, row)

    def _count_in_group(self, row: BadRow) -> None:
        """Rows with the same reason in the same column belong together."""
        key = ("" if row.column is None else str(row.column), row.reason)
        if key not in self.groups and len(self.groups) >= MOST_GROUPS:
            return
        group = self.groups.setdefault(key, Group([], Counter()))
        group.rows.append(row.line) if len(group.rows) < KEPT else None
        if len(group.cells) < MOST_GROUPS or row.found in group.cells:
            group.cells[row.found] += 1

    def _note(self, path: Any, row: BadRow) -> None:
        try:
            if self._file is None:
                where = open_special(self.how)
                if where is None:
                    self._beside = Beside(self.how)
                    where = self._beside.file
                raw = io.BufferedWriter(disk.Raw(where, closes=self._beside is None))
                self._file = io.TextIOWrapper(raw, encoding="utf-8", newline="")
                csv.writer(self._file).writerow(["file", "line", "column", "reason", "text"])
            csv.writer(self._file).writerow([path, row.line, row.column, row.why, row.text])
        except OSError as problem:
            raise self._unwritten(problem) from problem

    def close(self) -> None:
        """Finish the file of bad rows."""
        if self._file is not None:
            (file, self._file), (beside, self._beside) = (self._file, None), (self._beside, None)
            try:
                file.close()
                if beside is not None:
                    beside.settle()
            except BaseException as problem:
                if beside is not None:
                    beside.discard()
                if not isinstance(problem, OSError):
                    raise
                raise self._unwritten(problem) from problem

    def _unwritten(self, problem: OSError) -> StorageError:
        return StorageError(
            f"bad_rows is {str(self.how)!r}, which cannot be written: "
            f"{explain(problem, 'Choose another file.')}"
        )
