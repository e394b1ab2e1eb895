"""Rows of a table as columns: numbers with NaN for what is missing, or coded texts."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.files.bad_rows import BadRow
from linsep.data.table.cells import parser
from linsep.data.table.column import Texts
from linsep.data.table.memory import USUAL, Words, wanted_there
from linsep.errors import DataError

Array = npt.NDArray[Any]

EXACT = 1 << 53  # up to here every whole number is a float64


class Columns(dict[str, Any]):
    """Columns by name, and where that was done already the rows they make.

    Attributes
    ----------
    rows : features, or the columns of numbers side by side with their gaps; None without either
    by : the encoding that made features of them; None for numbers with their gaps
    names : the columns of the table that the rows were made of
    finite : those of numbers that were found to have no gap and no infinity
    rounded : columns of whole numbers, some of which no float64 is equal to
    passed : columns to be handed on as they were read, or None
    lines : where each row begins in the file, counted as bad rows are; None where nobody asks
    """

    rows: Any = None
    by: Any = None
    names: frozenset[str] = frozenset()
    finite: frozenset[str] = frozenset()
    rounded: frozenset[str] = frozenset()
    passed: Any = None
    lines: Any = None

    def made(self, rows: Any, names: Iterable[str], odd: Array, by: Any = None) -> None:
        """Take in the rows made of the columns `names`, and which of these have odd numbers."""
        sources = list(names)
        self.rows, self.by, self.names = rows, by, frozenset(sources)
        pairs = zip(sources, odd.tolist(), strict=True)
        self.finite = self.names - {name for name, one in pairs if one}

    def slim(self) -> None:
        """Let go of numbers that are in the rows."""
        for name in self.names:
            if not isinstance(self[name], Texts):
                del self[name]


class TablePart(NamedTuple):
    """Consecutive rows of a table, and those between them that could not be read.

    `lines` counts what the rows took of the file, in the unit bad rows are numbered by.
    """

    columns: Columns
    n: int
    bad: list[BadRow]
    lines: int


Making = Callable[[Columns], None]
"""Makes rows of columns and puts them there: done by the thread that has read them."""


def wrong_cells(columns: Columns, required: frozenset[str]) -> dict[str, Array]:
    """By name, the columns that have infinite cells, or lack some where `required`; and where."""
    bad_cells = {}
    for name, cells in columns.items():
        if isinstance(cells, Texts):
            wrong = cells.codes < 0 if name in required else None
        elif name in columns.finite:
            continue
        else:
            wrong = ~np.isfinite(cells) if name in required else np.isinf(cells)
        if wrong is not None and wrong.any():
            bad_cells[name] = wrong
    return bad_cells


def from_texts(cells: list[str], words: Words = USUAL) -> Texts:
    """A column of texts from its stripped cells."""
    texts: dict[str, int] = {}
    missing = words.texts
    codes = [-1 if c in missing else texts.setdefault(c, len(texts)) for c in cells]
    return Texts(np.array(codes, np.int32), list(texts))


class Dictionaries:
    """Texts of coded columns, looked at once where batch after batch has the same."""

    def __init__(self, words: Words = USUAL) -> None:
        self.words = words
        self._last: dict[str, tuple[Any, list[str], Array]] = {}

    def of(self, name: str, dictionary: Any) -> tuple[list[str], Array]:
        """The texts, stripped; and for each code its place among them, -1 for missing ones."""
        known = self._last.get(name)
        if known is None or not known[0].equals(dictionary):
            texts: dict[str, int] = {}
            own = dictionary.to_pylist()
            places = np.full(len(own) + 1, -1, np.int32)
            for place, text in enumerate(own):
                word = None if text is None else str(text).strip()
                if word is not None and word not in self.words.texts:
                    places[place] = texts.setdefault(word, len(texts))
            known = self._last[name] = (dictionary, list(texts), places)
        return known[1], known[2]


def from_arrow(
    name: str, values: Any, how: str, known: Dictionaries | None = None, words: Words = USUAL
) -> Any:
    """A column of an Arrow table: numbers (float64 with NaN for null), or coded texts.

    Without the conversions that import pandas.
    """
    if hasattr(values, "num_chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if how != "text":
        return (
            _parsed(name, values, how, words)
            if holds_texts(values.type)
            else _numbers(name, values, how)
        )
    values = _as_dictionary(values)
    texts, places = (known or Dictionaries(words)).of(name, values.dictionary)
    return Texts(places[_codes(values)], texts)


def holds_texts(kind: Any) -> bool:
    """Whether values of an Arrow type are texts, coded or not."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    types = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return any(is_text(kind) for is_text in types)


def _as_dictionary(values: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        return values
    if pa.types.is_boolean(values.type):
        names = pa.array(["False", "True"])
        return pa.DictionaryArray.from_arrays(values.cast(pa.int32()), names)
    if not holds_texts(values.type):
        values = values.cast(pa.string())
    return values.dictionary_encode()


def _codes(values: Any) -> Array:
    """The codes of a dictionary array, -1 for null."""
    codes = _plain(values.indices, _plain_types()[values.indices.type.id])
    return np.where(_gaps(values.indices), -1, codes) if values.indices.null_count else codes


def _parsed(name: str, values: Any, how: str, words: Words) -> Array:
    """Numbers, truth values or dates written as texts: each text is read once."""
    values = _as_dictionary(values)
    read = parser(how, words.decimal)
    own = [None if text is None else text.strip() for text in values.dictionary.to_pylist()]
    parsed = [np.nan if t is None or t in words.numbers else read(t) for t in own]
    if None in parsed:
        raise DataError(
            f"column {name!r} holds {own[parsed.index(None)]!r}; {wanted_there(how)} wanted there."
        )
    return np.array([*parsed, np.nan], np.float64)[_codes(values)]


def rounds(values: Any) -> bool:
    """Whether a column of an Arrow table has whole numbers that no float64 is equal to."""
    if _plain_types().get(values.type.id) not in (np.int64, np.uint64):
        return False
    for chunk in getattr(values, "chunks", [values]):
        kept = _plain(chunk, _plain_types()[chunk.type.id])
        if len(kept) and (kept.max() > EXACT or kept.min() < -EXACT):
            there = kept[~_gaps(chunk)] if chunk.null_count else kept
            large = there[(there > EXACT) | (there < -EXACT)].tolist()
            if any(int(float(value)) != value for value in large):
                return True
    return False


def _numbers(name: str, chunk: Any, how: str = "number") -> Array:
    import pyarrow as pa

    kind = chunk.type
    dtype = _plain_types().get(kind.id)
    if dtype is not None:
        kept = _plain(chunk, dtype)
        if dtype in (np.int32, np.int64) and not chunk.null_count:
            return kept  # they are made floats where they become rows
        values = kept.astype(np.float64, copy=False)
        if pa.types.is_date64(kind) and how != "number":
            values = values / 86_400_000.0
    elif pa.types.is_dictionary(kind):
        return _numbers(name, chunk.dictionary_decode(), how)
    elif pa.types.is_null(kind):
        return np.full(len(chunk), np.nan)
    elif pa.types.is_timestamp(kind):
        kept = _plain(chunk, np.int64)
        seconds = 1.0 if how == "number" else 86_400.0
        values = kept / ({"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit] * seconds)
    elif pa.types.is_time(kind):
        kept = _plain(chunk, np.int32 if pa.types.is_time32(kind) else np.int64)
        values = kept / ({"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit] * 86_400.0)
    elif pa.types.is_boolean(kind):
        return _numbers(name, chunk.cast(pa.uint8()))
    elif pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return _numbers(name, chunk.cast(pa.float64()))
    else:
        raise DataError(
            f"column {name!r} holds values of the type {kind}; numbers and texts can be used. "
            "Drop it (columns={...: 'drop'}) or convert it."
        )
    if chunk.null_count:
        values = values.copy() if values is kept else values
        np.copyto(values, np.nan, where=_gaps(chunk))
    return values


@cache
def _plain_types() -> dict[int, Any]:
    """Types of Arrow whose memory is that of a NumPy array of numbers."""
    import pyarrow as pa

    kinds = {
        pa.float64(): np.float64, pa.float32(): np.float32, pa.int64(): np.int64,
        pa.int32(): np.int32, pa.int16(): np.int16, pa.int8(): np.int8, pa.uint64(): np.uint64,
        pa.uint32(): np.uint32, pa.uint16(): np.uint16, pa.uint8(): np.uint8,
        pa.date32(): np.int32, pa.date64(): np.int64,
    }  # fmt: skip
    return {kind.id: dtype for kind, dtype in kinds.items()}


def _plain(chunk: Any, dtype: Any) -> Array:
    """The memory of an Arrow array of numbers."""
    memory = chunk.buffers()[1]
    if memory is None or not len(chunk):
        return np.empty(0, dtype)
    return np.frombuffer(memory, dtype, len(chunk), chunk.offset * np.dtype(dtype).itemsize)


def _gaps(chunk: Any) -> npt.NDArray[np.bool_]:
    """Which values are null."""
    bits = np.frombuffer(chunk.buffers()[0], np.uint8)
    first, n = chunk.offset, len(chunk)
    some = bits[first // 8 : -(-(first + n) // 8)]
    present = np.unpackbits(some, bitorder="little")[first % 8 : first % 8 + n]
    return present == 0
