"""Tables of named columns: CSV and Parquet, turned into numbers and labels.

Numbers stay numbers; a column of texts becomes one column of zeros and ones per text, in sorted
order. pyarrow reads the file when it is installed; anything it stumbles on is read again by the
plain reader, which knows the line of every cell and says which one is wrong.
"""

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.idx import open_plain
from linsep.errors import DataError, ParameterError

_MISSING = {"", "na", "n/a", "nan", "null"}
_LOOK = 1000
_MOST_TEXTS = 1000


@dataclass
class Column:
    """Values of one column: numbers, or codes into a list of texts."""

    name: str
    values: npt.NDArray[Any]
    texts: list[str] | None = None


@dataclass
class Layout:
    """How a CSV file is written, judged from its first lines."""

    delimiter: str
    header: bool
    names: list[str]
    numeric: list[bool]


def to_matrix(
    columns: list[Column], target: str | int | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Split off the target (default: the last column) and put the others side by side."""
    place = _place([column.name for column in columns], target)
    label = columns.pop(place)
    if not columns:
        raise DataError(f"the only column is the target, {label.name!r}; features are wanted.")
    blocks = []
    for column in columns:
        if column.texts is None:
            blocks.append(column.values.astype(np.float64)[:, None])
            continue
        order = np.argsort(np.array(column.texts))
        if len(order) > _MOST_TEXTS:
            raise DataError(
                f"column {column.name!r} holds {len(order)} different texts; at most {_MOST_TEXTS} "
                "become columns of zeros and ones. Drop it, or code it as numbers."
            )
        blocks.append((column.values[:, None] == order).astype(np.float64))
    return np.hstack(blocks), _labels(label)


def _labels(column: Column) -> npt.NDArray[Any]:
    if column.texts is not None:
        numbers = [number(text) for text in column.texts]
        if any(value is None for value in numbers):
            return np.array(column.texts)[column.values]
        column = Column(column.name, np.array(numbers, np.float64)[column.values])
    whole = column.values.astype(np.int64, copy=False) if _is_whole(column.values) else None
    return column.values if whole is None else whole


def _is_whole(values: npt.NDArray[Any]) -> bool:
    return bool(np.all(np.abs(values) <= 2**53) and np.all(values == np.floor(values)))


def _place(names: list[str], target: str | int | None) -> int:
    if target is None:
        return len(names) - 1
    if isinstance(target, str):
        if target in names:
            return names.index(target)
        if not target.lstrip("-").isdigit():
            known = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise ParameterError(f"target is {target!r}, which is no column; there are {known}.")
        target = int(target)
    if not -len(names) <= target < len(names):
        raise ParameterError(f"target is {target}; there are columns 0 to {len(names) - 1}.")
    return target % len(names)


def number(text: str) -> float | None:
    """The finite number a cell holds, or None."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_csv(path: Path, target: str | int | None) -> list[Column]:
    """The columns of a CSV file, by pyarrow where it can, by the plain reader otherwise."""
    layout = _layout(path, target)
    place = _place(layout.names, target)
    layout.numeric[place] = False  # labels are texts until all of them have been seen
    return _arrow_csv(path, layout) or _plain_csv(path, layout)


def _lines(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, stripped cells) of every line that is not blank."""
    with open_plain(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter)
        try:
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except UnicodeDecodeError as problem:
            raise DataError(
                f"{path} is not UTF-8 text after line {reader.line_num} ({problem.reason}); "
                "convert it, for example with iconv."
            ) from None
        except (csv.Error, EOFError, OSError) as problem:
            raise DataError(f"{path}, after line {reader.line_num}: {problem}.") from None


def _layout(path: Path, target: str | int | None) -> Layout:
    with open_plain(path) as raw:
        first = raw.readline(1 << 20).decode("utf-8-sig", "replace")
    delimiter = max(",;\t|", key=first.count)
    head = [cells for _, cells in islice(_lines(path, delimiter), _LOOK + 1)]
    if not head:
        raise DataError(f"{path} is empty; a header or a first row was wanted.")
    first_row, body = head[0], [row for row in head[1:] if len(row) == len(head[0])]
    numeric = [
        bool(body) and 2 * sum(number(row[j]) is not None for row in body) > len(body)
        for j in range(len(first_row))
    ]
    if isinstance(target, str) and target in first_row:
        header = True
    elif any(numeric):
        header = any(n and number(c) is None for n, c in zip(numeric, first_row, strict=True))
    else:  # texts only: names do not come again below themselves
        header = all(all(row[j] != c for row in body) for j, c in enumerate(first_row))
    if len(head) == 1:
        raise DataError(f"{path} holds one line, {','.join(first_row)!r}; rows are wanted.")
    names = first_row if header else [str(j) for j in range(len(first_row))]
    return Layout(delimiter, header, names, numeric)


def _plain_csv(path: Path, layout: Layout) -> list[Column]:
    width = len(layout.names)
    cells: list[list[Any]] = [[] for _ in range(width)]
    codes: list[dict[str, int]] = [{} for _ in range(width)]
    lines = _lines(path, layout.delimiter)
    if layout.header:
        next(lines)
    for line, row in lines:
        if len(row) != width:
            raise DataError(
                f"{path}, line {line} has {len(row)} cells where {width} were wanted; mend the "
                "line (a stray delimiter or quote?) or drop it."
            )
        for j, cell in enumerate(row):
            if layout.numeric[j]:
                value = number(cell)
                if value is None:
                    raise DataError(_bad_cell(path, line, layout.names[j], cell))
                cells[j].append(value)
            elif cell.lower() in _MISSING:
                raise DataError(_bad_cell(path, line, layout.names[j], cell))
            else:
                cells[j].append(codes[j].setdefault(cell, len(codes[j])))
    return [
        Column(name, np.array(cells[j], np.float64))
        if layout.numeric[j]
        else Column(name, np.array(cells[j], np.int64), list(codes[j]))
        for j, name in enumerate(layout.names)
    ]


def _bad_cell(path: Path, line: int, name: str, cell: str) -> str:
    what = "a missing value" if cell.lower() in _MISSING else "not a finite number"
    return (
        f"{path}, line {line}, column {name!r}: {cell!r} is {what}; fill it in, or drop the row "
        "or the column."
    )


def _arrow_csv(path: Path, layout: Layout) -> list[Column] | None:
    """The columns by pyarrow, or None where it is not installed or stumbles on the file."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow
    except ImportError:
        return None
    names = [str(j) for j in range(len(layout.names))]  # own names: headers may repeat themselves
    kinds = [pa.float64() if numeric else pa.string() for numeric in layout.numeric]
    try:
        with open_plain(path) as stream:
            table = arrow.read_csv(
                stream,
                arrow.ReadOptions(column_names=names, skip_rows=int(layout.header)),
                arrow.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
                arrow.ConvertOptions(
                    column_types=dict(zip(names, kinds, strict=True)), null_values=[]
                ),
            )
    except (pa.ArrowInvalid, EOFError, OSError):
        return None
    columns = []
    for j, name in enumerate(layout.names):
        column = _arrow_column(name, table.column(j))
        bad = (
            not np.isfinite(column.values).all()
            if column.texts is None
            else any(text.lower() in _MISSING for text in column.texts)
        )
        if bad:
            return None
        columns.append(column)
    return columns


def read_parquet(path: Path) -> list[Column]:
    """The columns of a Parquet file; empty places and types that are no numbers are refused."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ParameterError(
            f"{path} is Parquet, which needs pyarrow; install it with pip install linsep[io]."
        ) from None
    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"{path} cannot be read as Parquet: {problem}.") from None
    columns = []
    for name, values in zip(table.column_names, table.columns, strict=True):
        if values.null_count:
            row = next(i for i, present in enumerate(values.is_valid()) if not present.as_py())
            raise DataError(
                f"{path}, row {row}, column {name!r} is empty; fill it in, or drop the row or the "
                "column."
            )
        columns.append(_arrow_column(name, values))
    return columns


def _arrow_column(name: str, values: Any) -> Column:
    """Arrow values as a Column; texts are stripped, as the plain reader does."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        coded = values.combine_chunks().dictionary_encode()
        raw = [text.strip() for text in coded.dictionary.to_pylist()]
        texts = {text: code for code, text in enumerate(dict.fromkeys(raw))}
        same = np.array([texts[text] for text in raw], np.int64)
        return Column(name, same[_numbers(coded.indices)] if len(raw) else same, list(texts))
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(
            f"column {name!r} holds values of the type {kind}; numbers and texts can be used. "
            "Drop or convert it."
        )
    parts = [_numbers(chunk) for chunk in values.chunks]
    return Column(name, np.concatenate(parts) if parts else np.empty(0))


def _numbers(chunk: Any) -> npt.NDArray[Any]:
    """An Arrow array of numbers as numpy, without the detour that imports pandas."""
    dtype = np.dtype(chunk.type.to_pandas_dtype())
    values = np.frombuffer(chunk.buffers()[1] or b"", dtype)
    return values[chunk.offset : chunk.offset + len(chunk)]
