"""CSV files, a piece of whole rows at a time, by pyarrow or, where it cannot, the plain reader.

The plain reader knows the line of every cell. A piece on which pyarrow stumbles is read again by
it, so that every bad row is named by line and column.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from linsep.data.files.bad_rows import BadRow
from linsep.data.files.compression import open_plain, unpacked, whole_lines
from linsep.data.table.cells import parser
from linsep.data.table.column import reading
from linsep.data.table.dialect import LastLine, Layout, Recoded
from linsep.data.table.table_part import (
    Columns,
    Making,
    TablePart,
    from_arrow,
    from_texts,
    wrong_cells,
)
from linsep.errors import DataError
from linsep.parallel import read_in_order

PIECE = 1 << 21  # bytes of text read together
_MAY_BE_HEADER = "pass header=True if this first row names the columns"
LONGEST = 1 << 26  # bytes a quoted cell may span before its quote counts as never closed


def parts(
    path: Path,
    layout: Layout,
    n_jobs: int | None = None,
    size: int | None = None,
    make: Making | None = None,
) -> Iterator[TablePart]:
    """The rows of a file, piece by piece; bad rows are numbered by line from 1."""
    with open_plain(path) as raw:
        plain = layout.encoding in ("utf-8", "utf-8-sig")
        stream: Any = raw if plain else Recoded(raw, layout.encoding, path)
        yield from stream_parts(stream, path, layout, n_jobs, size, make)


def stream_parts(
    stream: Any, path: Path, layout: Layout, n_jobs: int | None = None, size: int | None = None,
    make: Making | None = None,
) -> Iterator[TablePart]:  # fmt: skip
    """The same for rows in a stream of bytes that begins where a row begins."""
    line = 0
    pieces = _whole_rows(stream, layout.quote, size or PIECE, path)
    numbered = enumerate(unpacked(path, pieces))
    reader = _Reader(layout, make)

    def read(job: Any) -> TablePart:
        return reader.read(job[1][0], job[1][1], job[0] == 0)

    for part in read_in_order(read, numbered, n_jobs):
        if part.columns.lines is not None:
            part.columns.lines += line
        yield part._replace(bad=[row.moved(line) for row in part.bad])
        line += part.lines


def _whole_rows(
    stream: IO[bytes], quote: str, size: int, path: Path
) -> Iterator[tuple[bytes, bool]]:
    """Pieces that end where a line ends and no quote is open; whether that is so of the last."""
    waiting: list[bytes] = []
    held, mark = 0, quote.encode()
    for piece in whole_lines(stream, size):
        waiting.append(piece)
        held += piece.count(mark) if mark in piece else 0  # to look is ten times as fast
        if held % 2 == 0:
            yield (waiting[0] if len(waiting) == 1 else b"".join(waiting)), True
            waiting, held = [], 0
        elif sum(map(len, waiting)) > LONGEST:
            where = b"".join(waiting)
            raise DataError(
                f"{path}: a quote {quote} is opened near {_opened(where, mark)!r} and not closed "
                f"within {LONGEST >> 20} MB; close it, or pass quote= if another sign quotes."
            )
    if waiting:
        yield b"".join(waiting), False


def _opened(text: bytes, mark: bytes) -> str:
    """The line in which an odd number of quotes stands first."""
    for line in text.split(b"\n"):
        if line.count(mark) % 2:
            return line[:60].decode("utf-8", "replace")
    return ""


class _Reader:
    """Pieces of one layout."""

    def __init__(self, layout: Layout, make: Making | None = None) -> None:
        self.layout, self.make = layout, make
        self.wanted = [reading(kind) for kind in layout.kinds]
        self.parsers = [parser(how, layout.decimal) for how in self.wanted]
        self.words = layout.words
        self.quote, self.delimiter = layout.quote.encode(), layout.delimiter.encode()
        signs = re.escape((layout.delimiter + layout.quote).encode())
        # Neither opens nor closes a cell, nor is doubled: pyarrow takes it off without a word.
        self.stray = re.compile(b"[^\r\n%b]%b[^\r\n%b]" % (signs, re.escape(self.quote), signs))
        self.blank = re.compile(rb"^[ \t]+\r?$", re.MULTILINE)
        self.options: Any = None
        try:
            import pyarrow as pa
            from pyarrow import csv as arrow
        except ImportError:
            return
        self.pa, self.arrow = pa, arrow
        names = [str(j) for j in range(len(layout.names))]
        kinds = {
            names[j]: pa.float64()
            if how == "number" and layout.names[j] not in layout.loose
            else pa.dictionary(pa.int32(), pa.string())
            for j, how in enumerate(self.wanted)
            if how != "drop"
        }
        self.options = (
            names,
            [
                arrow.ParseOptions(
                    delimiter=layout.delimiter, quote_char=layout.quote, newlines_in_values=quoted
                )
                for quoted in (False, True)
            ],
            arrow.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=list(layout.missing),
                strings_can_be_null=False,
                decimal_point=layout.decimal,
            ),
        )

    def read(self, piece: bytes, closed: bool, first: bool) -> TablePart:
        """All rows of a piece, the header left out of the first; `closed` if its quotes are."""
        header = first and self.layout.header
        lines = _line_count(piece)
        if first:
            piece = piece.removeprefix(b"\xef\xbb\xbf")
            for _ in range(self.layout.skip):
                piece = piece[piece.find(b"\n") + 1 :]
        above = lines - _line_count(piece) if first else 0
        if not piece.strip() and self.delimiter not in piece:  # tabs may be all there is in rows
            return TablePart(Columns(), 0, [], lines)
        fast = self._fast(piece, header) if self.options and closed else None
        part = fast or self._made(self._plain(piece, header))
        if part.columns.lines is not None:
            part.columns.lines += above
        if first and not header and part.bad and part.bad[0].line == 1:
            part.bad[0] = part.bad[0]._replace(reason=f"{part.bad[0].reason}; {_MAY_BE_HEADER}")
        return part._replace(bad=[row.moved(above) for row in part.bad], lines=lines)

    def _fast(self, piece: bytes, header: bool) -> TablePart | None:
        names, parse, convert = self.options
        quoted = self.quote in piece
        if quoted and self.stray.search(piece):
            return None
        if len(names) == 1 and self.blank.search(piece):
            return None  # pyarrow would take a line of spaces for a cell
        reading = self.arrow.ReadOptions(
            column_names=names, use_threads=False, block_size=len(piece) + 16,
            skip_rows_after_names=int(header),
        )  # fmt: skip
        try:
            table = self.arrow.read_csv(
                self.pa.BufferReader(piece), reading, parse[quoted], convert
            )
        except self.pa.ArrowException:
            return None
        columns = Columns()
        by_name = dict(zip(table.column_names, table.columns, strict=True))
        for j, kind in enumerate(self.wanted):
            if kind == "drop":
                continue
            name = self.layout.names[j]
            try:
                columns[name] = from_arrow(name, by_name[names[j]], kind, None, self.words)
            except DataError:
                return None  # the plain reader names the line
        if self.layout.numbered:
            columns.lines = self._lines(piece, header, table.num_rows)
        part = self._made(TablePart(columns, table.num_rows, [], 0))
        if wrong_cells(part.columns, self.layout.required):
            return None
        part.columns.slim()
        return part

    def _lines(self, piece: bytes, header: bool, n: int) -> Any:
        """The line of each of n rows, from 1."""
        last = 0 if piece.endswith((b"\n", b"\r")) else 1
        if _line_count(piece) + last == n + header:
            return np.arange(1 + header, n + header + 1)
        return np.array([line for line, _ in self._rows(piece, [])][header:], np.int64)

    def _made(self, part: TablePart) -> TablePart:
        if self.make is not None and part.n:
            self.make(part.columns)
        return part

    def _plain(self, piece: bytes, header: bool) -> TablePart:
        layout, width = self.layout, len(self.layout.names)
        bad: list[BadRow] = []
        good: list[list[str]] = []
        lines: list[int] = []
        for line, row in self._rows(piece, bad):
            if header:
                header = False
                continue
            if len(row) != width:
                reason = (
                    f"the row has {len(row)} cells where {width} were wanted (a stray delimiter "
                    "or quote?)"
                )
                bad.append(BadRow(line, None, "", reason, self._written(row)))
            elif (wrong := self._wrong_cell(row)) is not None:
                j, reason = wrong
                bad.append(BadRow(line, layout.names[j], row[j], reason, self._written(row)))
            else:
                good.append(row)
                lines.append(line)
        columns = Columns()
        columns.lines = np.array(lines, np.int64) if layout.numbered else None
        for j, kind in enumerate(self.wanted):
            cells = [row[j] for row in good]
            if kind == "text":
                columns[layout.names[j]] = from_texts(cells, self.words)
            elif kind != "drop":
                read, missing = self.parsers[j], self.words.numbers
                values = [np.nan if cell in missing else read(cell) for cell in cells]
                columns[layout.names[j]] = np.array(values, np.float64)
        return TablePart(columns, len(good), bad, 0)

    def _written(self, row: list[str]) -> str:
        """A row as it stands in the file, but for blanks around cells."""
        text = io.StringIO()
        layout = self.layout
        write = csv.writer(text, delimiter=layout.delimiter, quotechar=layout.quote)
        write.writerow(row)
        return text.getvalue().rstrip("\r\n")

    def _wrong_cell(self, row: list[str]) -> tuple[int, str] | None:
        layout = self.layout
        for j, (kind, cell) in enumerate(zip(self.wanted, row, strict=True)):
            if "\ufffd" in cell and kind != "drop":
                return j, "is not UTF-8 text; pass encoding='latin-1' or whatever it is"
            missing = self.words.texts if kind == "text" else self.words.numbers
            if cell in missing and kind != "drop":
                if layout.names[j] in layout.required:
                    return j, "is a missing value; fill it in, or drop the row or the column"
            elif kind not in ("text", "drop") and self.parsers[j](cell) is None:
                return j, _unlike(kind, layout.names[j], layout.settled)
        return None

    def _rows(self, piece: bytes, bad: list[BadRow]) -> Iterator[tuple[int, list[str]]]:
        """(line, stripped cells) of every row that is not blank."""
        lines = LastLine(io.StringIO(piece.decode("utf-8", "replace"), newline=""))
        reader = csv.reader(
            lines, delimiter=self.layout.delimiter, quotechar=self.layout.quote, strict=True,
            skipinitialspace=True,
        )  # fmt: skip
        before = 0
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as problem:
                reason = f"{problem} (a quote that is not closed, or not doubled, inside a cell?)"
                bad.append(BadRow(before + 1, None, "", reason, ""))
                before = reader.line_num
                continue
            begun, before = before + 1, reader.line_num
            if not lines.blank(cells, self.layout.quote):
                yield begun, [cell.strip() for cell in cells]


def _unlike(kind: str, name: str, settled: bool) -> str:
    word = kind.partition(":")[0]
    of = {"truth": "true or false, in a column of these", "date": "a date, in a column of dates"}
    meant = of.get(word, "a finite number, in a column of numbers")
    if settled:
        return f"is not {meant}, as the model knows it"
    return f"is not {meant} (pass columns={{{name!r}: 'text'}} if texts are meant)"


def _line_count(piece: bytes) -> int:
    signs = np.frombuffer(piece, np.uint8)  # numpy counts without holding up other threads
    return int(np.count_nonzero(signs == 10)) or int(np.count_nonzero(signs == 13))
