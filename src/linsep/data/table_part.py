"""Rows of a table as columns: numbers with NaN for what is missing, or coded texts."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.bad_rows import BadRow
from linsep.data.encoding import Texts
from linsep.data.layout import MISSING_TEXTS
from linsep.errors import DataError

Array = npt.NDArray[Any]


class Columns(dict[str, Any]):
    """Columns by name, and the rows they make where that was done already."""

    rows: Any = None


class TablePart(NamedTuple):
    """Consecutive rows of a table, and those between them that could not be read.

    `lines` counts what the rows took of the file, in the unit bad rows are numbered by.
    """

    columns: dict[str, Any]
    n: int
    bad: list[BadRow]
    lines: int


def from_texts(cells: list[str]) -> Texts:
    """A column of texts from its stripped cells."""
    texts: dict[str, int] = {}
    missing = MISSING_TEXTS
    codes = [-1 if c in missing else texts.setdefault(c, len(texts)) for c in cells]
    return Texts(np.array(codes, np.int64), list(texts))


def from_arrow(name: str, values: Any, kind: str) -> Any:
    """A column of an Arrow table: numbers as float64 with NaN for null, or coded texts.

    Without the conversions that import pandas.
    """
    import pyarrow as pa

    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    if kind == "number":
        parts = [_numbers(name, chunk) for chunk in chunks]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])
    texts: dict[str, int] = {}
    codes = [_codes(chunk, texts) for chunk in chunks]
    whole = codes[0] if len(codes) == 1 else np.concatenate([np.empty(0, np.int64), *codes])
    return Texts(whole, list(texts))


def _codes(chunk: Any, texts: dict[str, int]) -> Array:
    import pyarrow as pa

    if not pa.types.is_dictionary(chunk.type):
        kind = chunk.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            chunk = chunk.cast(pa.string())
        chunk = chunk.dictionary_encode()
    own = chunk.dictionary.to_pylist()
    places = np.full(len(own) + 1, -1, np.int64)
    for place, text in enumerate(own):
        word = None if text is None else str(text).strip()
        if word is not None and word not in MISSING_TEXTS:
            places[place] = texts.setdefault(word, len(texts))
    codes = _plain(chunk.indices).astype(np.int64)
    codes[_gaps(chunk.indices)] = len(own)
    return places[codes]


def _numbers(name: str, chunk: Any) -> Array:
    import pyarrow as pa

    kind = chunk.type
    if pa.types.is_dictionary(kind):
        return _numbers(name, chunk.dictionary_decode())
    if pa.types.is_null(kind):
        return np.full(len(chunk), np.nan)
    if pa.types.is_boolean(kind):
        chunk = chunk.cast(pa.uint8())
    elif pa.types.is_timestamp(kind):
        chunk = chunk.cast(pa.int64())
    elif pa.types.is_date(kind):
        chunk = chunk.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    elif pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        chunk = chunk.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(
            f"column {name!r} holds values of the type {kind}; numbers and texts can be used. "
            "Drop it (columns={...: 'drop'}) or convert it."
        )
    values = _plain(chunk).astype(np.float64, copy=False)
    if pa.types.is_timestamp(kind):
        values = values / {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
    gaps = _gaps(chunk)
    if gaps.any():
        values = np.where(gaps, np.nan, values)
    return values


def _plain(chunk: Any) -> Array:
    """The memory of an Arrow array of numbers."""
    dtype = np.dtype(chunk.type.to_pandas_dtype())
    values = np.frombuffer(chunk.buffers()[1] or b"", dtype)
    return values[chunk.offset : chunk.offset + len(chunk)]


def _gaps(chunk: Any) -> npt.NDArray[np.bool_]:
    """Which values are null."""
    if chunk.null_count == 0:
        return np.zeros(len(chunk), bool)
    bits = np.frombuffer(chunk.buffers()[0], np.uint8)
    present = np.unpackbits(bits, bitorder="little")[chunk.offset : chunk.offset + len(chunk)]
    return present == 0
