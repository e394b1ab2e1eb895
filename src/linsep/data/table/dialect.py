"""How a CSV file is written, judged from its first lines: delimiter, quotes, header, kinds."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from linsep.data.files.compression import open_plain, unpacking
from linsep.data.table.cells import amount, number, order_of, truth
from linsep.data.table.column import wanted
from linsep.data.table.memory import MISSING, Words
from linsep.data.table.number_signs import decimal_of, doubts
from linsep.data.table.target import is_position
from linsep.errors import DataError, ParameterError

csv.field_size_limit(1 << 27)  # the default, 128 KB, is less than some cells have

HEAD = 1 << 20  # bytes looked at
LOOK = 1000  # rows looked at
LONG = 16  # digits of a whole number from which on it may be no float64

_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass
class Layout:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter, quote, decimal : one character each
    header : whether the first row names the columns
    names : a name for every column; positions where there is no header
    kinds : for every column what `linsep.data.table.column` knows
    skip : lines before the first row
    encoding : of the text
    missing : words that stand for a missing number
    required : columns in which a missing cell makes a bad row
    rounded : columns with whole numbers that no float64 is equal to
    loose : columns of numbers some of which have signs or separators
    settled : whether a model settles what columns hold
    numbered : whether the line of every row is wanted
    doubts : by column, what is not sure about its numbers, and whether that has to be settled
    """

    delimiter: str
    quote: str = '"'
    decimal: str = "."
    header: bool = True
    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    skip: int = 0
    encoding: str = "utf-8"
    missing: tuple[str, ...] = MISSING
    required: frozenset[str] = frozenset()
    rounded: tuple[str, ...] = ()
    loose: frozenset[str] = frozenset()
    settled: bool = False
    numbered: bool = False
    doubts: dict[str, tuple[bool, str]] = field(default_factory=dict)

    @property
    def words(self) -> Words:
        """Words that stand for a missing cell, and the decimal sign."""
        return Words.of(None if self.missing == MISSING else self.missing, self.decimal)

    def summary(self) -> str:
        """What was found, in a sentence."""
        signs = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
        parts = [f"CSV with {signs.get(self.delimiter, repr(self.delimiter))}s"]
        parts.append("a header" if self.header else "no header")
        if self.decimal != ".":
            parts.append(f"decimal {self.decimal!r}")
        if self.quote != '"':
            parts.append(f"quotes {self.quote!r}")
        if self.encoding not in ("utf-8", "utf-8-sig"):
            parts.append(self.encoding)
        counts = Counter(wanted(kind).word for kind in self.kinds)
        counts["date"] += counts["parts"]
        names = {"number": "numbers", "truth": "truth values", "date": "dates", "text": "texts"}
        kinds = [f"{counts[kind]} of {plural}" for kind, plural in names.items() if counts[kind]]
        kinds += [f"{counts['hash']} hashed"] if counts["hash"] else []
        return f"{', '.join(parts)}; columns: {', '.join(kinds)}."


def sniff(path: Path, target: Any = None, given: Mapping[str, Any] | None = None) -> Layout:
    """The layout of a CSV file; `given` settles parts of it beforehand."""
    given = dict(given or {})
    skip = int(given.get("skip", 0))
    with unpacking(path), open_plain(path) as raw:
        head = bytes(raw.read(HEAD))
        complete = not raw.read(1)
    encoding = given.get("encoding") or _encoding(head)
    text = _decoded(head, encoding, path)
    lines = list(io.StringIO(text, newline=""))
    if not complete and len(lines) > 1:
        lines.pop()  # cut off somewhere
    lines = lines[skip:]
    quote = given.get("quote") or _quote(lines)
    delimiter = given.get("delimiter") or _delimiter(lines, quote)
    rows = list(islice(cells_of(lines, delimiter, quote), LOOK + 1))
    if not rows:
        raise DataError(f"{path} is empty; a header or a first row was wanted.")
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    first = rows[0]
    if "delimiter" not in given and _doubled(rows):
        raise DataError(
            f"{path} has {delimiter * 2!r} between its cells, and a delimiter is one sign; replace "
            f"it, for example with sed 's/{delimiter * 2}/{delimiter}/g', or pass "
            f"delimiter={delimiter!r} if every second column is meant to be empty."
        )
    if len(first) != width:
        raise DataError(
            f"{path}, line {skip + 1} has {len(first)} cells where most lines have {width}; "
            "pass skip= to leave out lines before the header, or mend the line."
        )
    header = given.get("header")
    body = [row for row in rows[header is not False :] if len(row) == width]
    missing = missing_words(given)
    cells = [[row[j] for row in body] for j in range(width)]
    decimal = given.get("decimal") or _decimal(cells, delimiter, given.get("usual_decimal"))
    kinds = [judged(column, missing, decimal) for column in cells]
    numeric = [kind == "number" for kind in kinds]
    if header is None:
        header = _has_header(first, body, numeric, target, decimal, missing)
    if header and not body and given.get("empty"):
        kinds = ["number"] * width
    elif header and not body:
        if len(rows) > 1 and "".join(lines).count(quote) % 2:
            raise DataError(
                f"{path}: a quote ({quote}) that is opened near {lines[1].strip()[:40]!r} is not "
                "closed before the file ends; close it, or pass quote= if another sign quotes."
            )
        raise DataError(f"{path} holds one line, {delimiter.join(first)!r}; rows are wanted.")
    names = unique_names(first) if header else [str(j) for j in range(width)]
    of_numbers = [(n, column) for n, column, one in zip(names, cells, numeric, strict=True) if one]
    rounded = tuple(
        name
        for name, column in of_numbers
        if column and max(map(len, column)) >= LONG and any(map(is_rounded, column))
    )
    loose = frozenset(name for name, column in of_numbers if _is_loose(column, missing, decimal))
    unsure = doubts_of(zip(names, kinds, cells, strict=True), missing, decimal, given, delimiter)
    return Layout(delimiter, quote, decimal, header, names, kinds, skip, encoding, missing,
                  rounded=rounded, loose=loose, doubts=unsure)  # fmt: skip


def doubts_of(
    columns: Iterable[tuple[str, str, list[str]]], missing: tuple[str, ...], decimal: str,
    given: Mapping[str, Any], delimiter: str = "",
) -> dict[str, tuple[bool, str]]:  # fmt: skip
    """What is not sure about the numbers of columns, unless it was settled beforehand."""
    if {"decimal", "thousands", "usual_decimal"} & set(given):
        return {}
    words = set(missing)
    return doubts(
        [(name, kind, [cell for cell in cells if cell not in words])
         for name, kind, cells in columns if kind in ("number", "text")],
        decimal, delimiter,
    )  # fmt: skip


def missing_words(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Words for missing numbers: those of `missing_only`, or the usual ones and `missing`."""
    only, more = given.get("missing_only"), given.get("missing")
    words = only if only is not None else (more or ())
    listed = (words,) if isinstance(words, str) else tuple(words)
    return listed if only is not None else tuple(dict.fromkeys((*MISSING, *listed)))


def is_rounded(cell: str) -> bool:
    """Whether a cell is a whole number that no float64 is equal to.

    >>> is_rounded("9007199254740993"), is_rounded("9007199254740992"), is_rounded("1e30")
    (True, False, False)
    """
    if len(cell) < LONG or not cell.lstrip("+-").isdecimal():
        return False
    try:
        return int(float(cell)) != int(cell)
    except (OverflowError, ValueError):
        return False


def _doubled(rows: list[list[str]]) -> bool:
    """Whether every second cell of all rows is empty, as where the delimiter has two signs."""
    width = len(rows[0])
    even = width > 2 and width % 2 == 1 and all(len(row) == width for row in rows)
    return even and all(not cell for row in rows for cell in row[1::2])


def cells_of(lines: Any, delimiter: str, quote: str) -> Iterator[list[str]]:
    """Stripped cells of every row that is not blank."""
    noted = LastLine(lines)
    for cells in csv.reader(noted, delimiter=delimiter, quotechar=quote, skipinitialspace=True):
        if not noted.blank(cells, quote):
            yield [cell.strip() for cell in cells]


class LastLine:
    """Lines for a reader of CSV, of which the last is known: what it gives does not tell a line of
    nothing but an empty cell in quotes, which is a row, from a blank one.

    >>> list(cells_of(["a", '""', " "], ",", '"'))
    [['a'], ['']]
    """

    def __init__(self, lines: Any) -> None:
        self._lines = iter(lines)
        self.text = ""

    def __iter__(self) -> "LastLine":
        return self

    def __next__(self) -> str:
        self.text = next(self._lines)
        return self.text

    def blank(self, cells: list[str], quote: str) -> bool:
        """Whether the row that was read last is a blank line."""
        if len(cells) > 1:
            return False
        return not cells or (not cells[0].strip() and quote not in self.text)


def unique_names(cells: list[str]) -> list[str]:
    """Names of columns: an empty one is its position, one seen before gets a number.

    >>> unique_names(["a", "", "a"])
    ['a', '1', 'a.2']
    """
    names: list[str] = []
    for j, cell in enumerate(cells):
        name = cell or str(j)
        again = 2
        while name in names:
            name, again = f"{cell}.{again}", again + 1
        names.append(name)
    return names


class Recoded(io.RawIOBase):
    """A stream of bytes in some encoding, read as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, path: Path) -> None:
        super().__init__()
        self._text = io.TextIOWrapper(stream, encoding, newline="")
        self._path = path

    def read(self, size: int = -1) -> bytes:
        try:
            return self._text.read(size).encode()
        except (UnicodeDecodeError, UnicodeError) as problem:
            raise DataError(f"{self._path} is not text in this encoding: {problem}.") from None

    def close(self) -> None:
        self._text.close()
        super().close()


def _encoding(head: bytes) -> str:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    zeros = head[:1000].count(b"\0")
    if zeros > len(head[:1000]) // 4:  # UTF-16 without its mark: every other byte of ASCII is zero
        return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
    return "utf-8"


def _decoded(head: bytes, encoding: str, path: Path) -> str:
    try:
        return head.decode(encoding)
    except LookupError:
        raise ParameterError(f"encoding is {encoding!r}, which is not known.") from None
    except UnicodeDecodeError as problem:
        if problem.start > len(head) - 8:  # a letter cut in two
            return head.decode(encoding, "ignore")
        line = head.count(b"\n", 0, problem.start) + 1
        raise DataError(
            f"{path}, line {line} is not UTF-8 text ({problem.reason}); pass encoding='latin-1' "
            "or whatever it is, or convert it, for example with iconv."
        ) from None


def _quote(lines: list[str]) -> str:
    text = "".join(lines[:100])
    single = sum(text.count(pair) for pair in ("',", "';", "'\t", "'\n", "'\r"))
    return "'" if '"' not in text and single >= max(2, len(lines[:100])) else '"'


def _delimiter(lines: list[str], quote: str) -> str:
    """The delimiter that cuts the most rows into equally many cells, and into numbers."""

    def merit(delimiter: str) -> tuple[float, float, bool, int]:
        rows = list(islice(cells_of(lines, delimiter, quote), 100)) or [[]]
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        cells = [cell for row in rows[1:] for cell in row]
        numbers = sum(amount(cell) is not None or amount(cell, ",") is not None for cell in cells)
        even = count / len(rows) if width > 1 else 0.0
        share = round(numbers / max(1, len(cells)), 1)
        return round(even, 1), share, len(rows[0]) == width, width

    best = max(",;\t|", key=merit)
    return best if merit(best)[3] > 1 or merit(" ")[3] == 1 else " "


def _decimal(columns: list[list[str]], delimiter: str, usual: str | None) -> str:
    if delimiter == ",":  # a comma in quotes now and then is a slip
        columns = [cells for cells in columns if 2 * sum("," in c for c in cells) > len(cells)]
    usual = usual or ("." if delimiter == "," else ",")
    return decimal_of([cell for cells in columns for cell in cells], usual)


def judged(cells: list[str], missing: tuple[str, ...], decimal: str) -> str:
    """What a column of cells as texts holds: 'number', 'truth', 'date:…' or 'text'."""
    words = set(missing)
    there = [cell for cell in cells if cell not in words]
    if not there:
        return "number" if cells else "text"
    if decimal == "." and _all_numbers(there):
        return "number"
    if 2 * sum(amount(cell, decimal) is not None for cell in there) > len(there):
        return "number"
    if all(truth(cell) is not None for cell in there):
        return "truth"
    order = order_of(there)
    return "text" if order is None else f"date:{order}"


def _is_loose(cells: list[str], missing: tuple[str, ...], decimal: str) -> bool:
    """Whether some number has a sign or separators that machines do not write."""
    there = [cell for cell in cells if cell not in missing]
    if decimal == "." and _all_numbers(there):
        return False
    return any(
        number(cell, decimal) is None and amount(cell, decimal) is not None for cell in there
    )


def _all_numbers(cells: list[str]) -> bool:
    """Whether surely all are finite numbers; asked of all together, which is faster."""
    try:
        return math.isfinite(math.fsum(map(float, cells))) and "_" not in "".join(cells)
    except (ValueError, OverflowError):
        return False


def _has_header(
    first: list[str], body: list[list[str]], numeric: list[bool], target: Any, decimal: str,
    missing: tuple[str, ...],
) -> bool:  # fmt: skip
    if isinstance(target, str) and target in first and not is_position(target):
        return True
    if any(numeric):
        pairs = [(c, number(c, decimal)) for n, c in zip(numeric, first, strict=True) if n]
        named = any(value is None and c not in missing and not _is_amount(c, decimal)
                    for c, value in pairs)  # fmt: skip
        return named and _may_name([c for c, value in pairs if value is not None])
    # Texts only: names do not come again below themselves.
    return all(all(row[j] != c for row in body) for j, c in enumerate(first))


def _is_amount(cell: str, decimal: str) -> bool:
    """Whether a cell is a number with separators: 52.514,60; but 25% may be a name."""
    return ("." in cell or "," in cell) and amount(cell, decimal) is not None


def _may_name(numbers: list[str]) -> bool:
    """Whether numbers of the first row may be names: years or places, all different; not 2.5.

    >>> _may_name(["2001", "2002"]), _may_name(["2.5"]), _may_name(["0", "0"])
    (True, False, False)
    """
    return all(map(str.isdecimal, numbers)) and len(set(numbers)) == len(numbers)
