"""Tables in memory as a source of rows: what a file of the same cells would give, to the last bit.

Frames of pandas, polars and Arrow, dicts of columns, and lists of records.
"""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linsep.data.blocks.blocks import BLOCK
from linsep.data.encoding.encoding import Encoding
from linsep.data.files.bad_rows import BadRows
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.tables import TableSource
from linsep.data.table.column import Texts, reading
from linsep.data.table.dialect import LOOK, Layout, doubts_of, judged, missing_words
from linsep.data.table.memory import USUAL, column_of, columns_of, kind_of
from linsep.data.table.number_signs import decimal_of
from linsep.data.table.parquet import checked, rows_of
from linsep.data.table.table_part import Columns, TablePart
from linsep.errors import DataError

NAME = Path("the table")


class FrameSource(TableSource):
    """Columns in memory; with the option target=False none of them holds labels."""

    def __init__(
        self, table: Any, options: dict[str, Any], encoding: Encoding | None,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        self.cells = columns_of(table)
        lengths = {name: len(cells) for name, cells in self.cells.items()}
        if len(set(lengths.values())) > 1:
            some = ", ".join(f"{name!r} has {n} cells" for name, n in list(lengths.items())[:5])
            raise DataError(f"the columns differ in length: {some}; give one cell per row.")
        if not lengths:
            raise DataError("the table has no columns; rows with columns are wanted.")
        self.n = next(iter(lengths.values()))
        self._read: dict[tuple[str, str], Any] = {}
        super().__init__([NAME], options | {"format": "frame"}, encoding, n_jobs)
        self.summary = f"Columns: {', '.join(self.layout.names[:30])}."

    def holding(self, table: Any) -> "FrameSource":
        """The same source with the rows of another table, of the same columns."""
        other = copy.copy(self)
        other.cells, other._read = columns_of(table), {}
        odd = sorted(set(other.cells) ^ set(self.cells))
        if odd:
            raise DataError(f"the table differs in the column {odd[0]!r} from others.")
        if list(other.cells) != list(self.cells):
            raise DataError("the table differs in the order of its columns from others.")
        for name, cells in other.cells.items():
            if _categories(cells) != _categories(self.cells[name]):
                raise DataError(f"the categories of column {name!r} differ from those of others.")
        other.n = len(next(iter(other.cells.values())))
        return other

    def _layout(self, path: Path, options: dict[str, Any], encoding: Encoding | None) -> Layout:
        given = {k: v for k, v in options["layout"].items() if k.startswith("missing")}
        if encoding is not None and encoding.missing is not None:
            given = {"missing_only": encoding.missing}
        missing = missing_words(given)
        names, decimal = list(self.cells), options["layout"].get("decimal")
        unsure = {}
        if encoding is not None:  # which kinds there are was settled in the fit
            own = {column.table_name for column in encoding.columns}
            decimal = decimal or encoding.decimal
            kinds = [
                "drop" if name in own else kind_in_memory(cells, missing, decimal)
                for name, cells in self.cells.items()
            ]
        else:
            texts: dict[str, list[str]] = {name: [] for name in names}
            cells = self.cells.items()
            kinds = [kind_in_memory(c, missing, decimal or ".", texts[n]) for n, c in cells]
            if decimal is None:
                decimal = decimal_of(c for some in texts.values() for c in some[:200])
                if decimal != ".":
                    kinds = [kind_in_memory(c, missing, decimal) for _, c in cells]
            looked = zip(names, kinds, texts.values(), strict=True)
            unsure = doubts_of(looked, missing, decimal, options["layout"])
        return Layout(
            ",", decimal=decimal, names=names, kinds=kinds, missing=missing, doubts=unsure
        )

    def raw(self, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        bad.begin()
        try:
            yield from self._raw(NAME, bad)
        finally:
            bad.close()

    def _parts(self, path: Path) -> Iterator[TablePart]:
        make = self._encoded if self.known else self._beside
        names = zip(self.layout.names, self.cells.values(), strict=True)
        columns = {
            name: self._column(name, cells, reading(self.kinds[name]))
            for name, cells in names
            if self.kinds[name] != "drop"
        }
        for first in range(0, self.n, BLOCK):
            rows = slice(first, min(self.n, first + BLOCK))
            n = rows.stop - first
            part = TablePart(Columns({k: rows_of(c, rows) for k, c in columns.items()}), n, [], n)
            make(part.columns)
            whole = checked(part, self.layout.required)
            if whole is not part and whole.n:
                make(whole.columns)
            yield whole._replace(bad=[row.moved(first) for row in whole.bad])

    def _column(self, name: str, cells: Any, how: str) -> Any:
        if (name, how) not in self._read:
            self._read[name, how] = column_of(name, cells, how, self.layout.words)
        return self._read[name, how]

    def size(self) -> int:
        return 8 * self.n * len(self.cells)


def frame_chunks(table: Any, memory: int) -> Chunks:
    """The rows of a table all of whose columns are features."""
    options: dict[str, Any] = {"target": False, "columns": {}, "fill": "mean", "layout": {}}
    source = FrameSource(table, options, None)
    return Chunks(source, options, None, None, "fail", memory, None)


def kind_in_memory(
    cells: Any, missing: tuple[str, ...], decimal: str = ".", seen: list[str] | None = None
) -> str:
    """What a column holds, judged by its first cells; `seen` takes in some that are texts."""

    def judge(texts: list[str]) -> str:
        if seen is not None:
            seen.extend(texts)
        return judged(texts, missing, decimal)

    return kind_of(cells, judge, LOOK)


def needs_encoding(table: Any) -> bool:
    """Whether some column of a table in memory holds something else than numbers, or a gap."""
    if isinstance(table, (Mapping, list, tuple)):
        return True
    for name, cells in columns_of(table).items():
        kind = "text" if isinstance(cells, Texts) else kind_in_memory(cells, missing_words({}))
        if kind not in ("number", "truth"):
            return True
        if not isinstance(cells, np.ndarray) and _holds_texts(cells):
            return True
        if kind == "number" and _has_gap(name, cells):
            return True
    return False


def _has_gap(name: str, cells: Any) -> bool:
    """Whether a number of a column is missing."""
    if getattr(getattr(cells, "dtype", None), "kind", "") in ("i", "u", "b"):
        return bool(hasattr(cells, "isna") and cells.isna().any())  # pandas has integers with gaps
    try:
        return bool(np.isnan(column_of(name, cells, "number", USUAL)).any())
    except DataError:  # what is no number is refused by those who want numbers
        return False


def _categories(cells: Any) -> list[Any] | None:
    """Those that a column of pandas was given."""
    return list(cells.cat.categories) if str(getattr(cells, "dtype", "")) == "category" else None


def _holds_texts(cells: Any) -> bool:
    """Numbers written as texts: those have to be read."""
    stored = str(getattr(cells, "dtype", getattr(cells, "type", "object"))).lower()
    if stored.startswith(("int", "uint", "float", "double", "bool", "decimal", "half")):
        return False
    return any(isinstance(cell, str) for cell in list(cells[:LOOK]))
