"""A few records at once, each cell read by itself: for services that predict row by row."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.drift import Drift, tell
from linsep.data.encoding.encoding import Encoding
from linsep.data.table.cells import parser
from linsep.data.table.memory import number_in, wanted_there, written
from linsep.errors import DataError

Array = npt.NDArray[Any]

_ABSENT = object()


class RecordReader:
    """Turns records into rows of features by an encoding, as `Encoding.apply` does of columns."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding, self.words = encoding, encoding.words
        self.numbers: list[Any] = []
        self.texts: list[Any] = []
        self.parts: list[Any] = []
        self.worded: list[Any] = []
        first, decimal = 0, encoding.decimal
        for column in encoding.columns:
            name = column.table_name
            if column.kind == "words":
                self.worded.append((name, first, column))
            elif not column.numeric:
                self.texts.append((name, first, column.place, {}))
            elif column.part:
                self.parts.append((name, first, column, parser(column.reading, decimal)))
            else:
                how = column.reading
                self.numbers.append((name, first, column.mean, parser(how, decimal), how))
            first += column.width
        self.width = first

    def rows(self, records: Sequence[Mapping[str, Any]]) -> Array:
        """One dense row for each record."""
        rows, strange = np.zeros((len(records), self.width)), Drift()
        for i, record in enumerate(records):
            row = rows[i]
            for name, place, mean, read, how in self.numbers:
                cell = record.get(name, _ABSENT)
                kind = type(cell)
                value: Any = cell
                if kind is int or kind is float:
                    value = float(value)
                else:
                    value = self._number(name, cell, read, how, i, record)
                row[place] = mean if value != value else value
            for name, first, place_of, known in self.texts:
                cell = record.get(name, _ABSENT)
                place = known.get(cell) if type(cell) is str else None
                if place is None:
                    place = self._place(name, cell, place_of, known, record)
                if place >= 0:
                    row[first + place] = 1.0
                elif (text := self._text(cell)) is not None:
                    strange.unknown.setdefault(name, Counter())[text] += 1
            for name, place, column, read in self.parts:
                cell = record.get(name, _ABSENT)
                value = self._number(name, cell, read, column.reading, i, record)
                value = float(column.derived(np.array([value]))[0])
                row[place] = column.mean if value != value else value
            for name, first, column in self.worded:
                cell = record.get(name, _ABSENT)
                if cell is _ABSENT:
                    raise self._absent(record)
                text = written(cell)
                if text is not None and text not in self.words.texts:
                    for place, count in column.counts(text).items():
                        row[first + place] = count
        if not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0].tolist()
            owners = [c.name for c in self.encoding.columns for _ in range(c.width)]
            name = owners[j]
            raise DataError(f"X contains infinity: row {i}, column {name!r}. Drop the row.")
        tell(strange.sentences())
        return rows if self.encoding.formula is None else self.encoding.formula.apply(rows)

    def _number(
        self, name: str, cell: Any, read: Any, how: str, row: int, record: Mapping[str, Any]
    ) -> float:
        if cell is _ABSENT:
            raise self._absent(record)
        value = number_in(cell, read, self.words)
        if value is None:
            raise DataError(
                f"the column {name!r} holds {cell!r} at row {row}; {wanted_there(how)} wanted "
                "there."
            )
        return value

    def _place(
        self, name: str, cell: Any, place_of: Any, known: dict[str, int], record: Mapping[str, Any]
    ) -> int:
        if cell is _ABSENT:
            raise self._absent(record)
        text = self._text(cell)
        place = -1 if text is None else int(place_of(text))
        if type(cell) is str and len(known) < 10_000:
            known[cell] = place
        return place

    def _text(self, cell: Any) -> str | None:
        """The text of a cell, None where it is missing."""
        text = written(cell)
        return None if text is None or text in self.words.texts else text

    def _absent(self, record: Mapping[str, Any]) -> DataError:
        return self.encoding.lacking(record, "a record", " Give None for a cell that is missing.")
