"""Parquet and Feather files, a batch of rows at a time, by pyarrow."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linsep.data.bad_rows import BadRow
from linsep.data.chunks import read_in_order
from linsep.data.encoding import Texts
from linsep.data.pages import trim
from linsep.data.table_part import TablePart, from_arrow
from linsep.errors import DataError, ParameterError

BATCH = 1 << 21  # bytes of rows, about
TRIMMED = 4  # batches after which freed memory is given back
BUFFER = 1 << 18  # bytes of a column read together, in the place of all it has in a row group


def arrow_of(path: Path) -> Any:
    """pyarrow, or an error that says how to get it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ParameterError(
            f"{path} is Parquet or Feather, which needs pyarrow; pip install linsep[io]."
        ) from None
    return pa


def schema(path: Path) -> Any:
    """The Arrow schema of a file."""
    with _opened(path) as file:
        return file.schema_arrow if hasattr(file, "schema_arrow") else file.schema


def kinds_of(path: Path) -> tuple[list[str], list[str]]:
    """Names and kinds of the columns, by their types."""
    pa = arrow_of(path)
    names, kinds = [], []
    for field in schema(path):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        texts = any(
            is_text(kind)
            for is_text in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        )
        names.append(field.name)
        kinds.append("text" if texts else "number")
    if len(set(names)) < len(names):
        raise DataError(f"{path} has two columns of the same name; rename one of them.")
    return names, kinds


def parts(
    path: Path,
    kinds: dict[str, str],
    required: frozenset[str] = frozenset(),
    n_jobs: int | None = None,
    then: Callable[[TablePart], TablePart] | None = None,
) -> Iterator[TablePart]:
    """The rows of a file; bad rows are numbered from 0. `then` is done to each part in a thread."""
    pa = arrow_of(path)
    wanted = {name: kind.partition(":")[0] for name, kind in kinds.items() if kind != "drop"}
    with _opened(path) as file:
        there = _names(file)
        absent = [name for name in wanted if name not in there]
        if absent:
            raise DataError(
                f"{path} has no column {absent[0]!r}; there are {', '.join(there[:20])}."
            )
        start = 0
        try:

            def read(batch: Any) -> TablePart:
                part = _part(batch, wanted, required)
                return part if then is None else then(part)

            for part in read_in_order(read, _batches(file, list(wanted)), n_jobs):
                yield part._replace(bad=[row.moved(start) for row in part.bad])
                start += part.lines
        except (pa.ArrowException, OSError) as problem:
            raise DataError(f"{path} cannot be read after row {start}: {problem}.") from None


def _part(batch: Any, wanted: dict[str, str], required: frozenset[str]) -> TablePart:
    columns = {
        name: from_arrow(name, batch.column(batch.schema.get_field_index(name)), kind)
        for name, kind in wanted.items()
    }
    return _checked(columns, batch.num_rows, required)


def _batches(file: Any, names: list[str]) -> Iterator[Any]:
    size = max(1 << 10, min(1 << 15, BATCH // (8 * max(1, len(names)))) >> 10 << 10)  # rows
    if hasattr(file, "iter_batches"):
        for number, batch in enumerate(file.iter_batches(size, columns=names)):
            yield batch
            if number % TRIMMED == TRIMMED - 1:
                trim()
        return
    for k in range(file.num_record_batches):
        batch = file.get_batch(k)
        for first in range(0, batch.num_rows, size):
            yield batch.slice(first, size)


def _names(file: Any) -> list[str]:
    found = file.schema_arrow if hasattr(file, "schema_arrow") else file.schema
    return list(found.names)


def _opened(path: Path) -> Any:
    pa = arrow_of(path)
    try:
        with path.open("rb") as stream:
            feather = stream.read(6) == b"ARROW1"
        if feather:
            return pa.ipc.open_file(pa.memory_map(str(path)))
        from pyarrow import parquet

        return parquet.ParquetFile(str(path), buffer_size=BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"{path} cannot be read as Parquet or Feather: {problem}.") from None


def _checked(columns: dict[str, Any], n: int, required: frozenset[str]) -> TablePart:
    """The part without rows that hold an infinite number, or lack what is required."""
    bad: dict[int, BadRow] = {}
    for name, cells in columns.items():
        if isinstance(cells, Texts):
            wrong = cells.codes < 0 if name in required else np.zeros(n, bool)
        elif _surely_finite(cells):
            continue
        else:
            wrong = ~np.isfinite(cells) if name in required else np.isinf(cells)
        for i in np.flatnonzero(wrong).tolist():
            infinite = not isinstance(cells, Texts) and np.isinf(cells[i])
            found = "infinity" if infinite else "empty"
            reason = "stands here; fill it in, or drop the row or the column"
            bad.setdefault(i, BadRow(i, name, found, reason))
    if bad:
        keep = np.ones(n, bool)
        keep[list(bad)] = False
        columns = {name: rows_of(cells, keep) for name, cells in columns.items()}
        n -= len(bad)
    return TablePart(columns, n, [bad[i] for i in sorted(bad)], n + len(bad))


def _surely_finite(cells: Any) -> bool:
    """Whether the sum is finite: then every cell is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(cells)))


def rows_of(cells: Any, keep: Any) -> Any:
    """Some rows of a column."""
    if isinstance(cells, Texts):
        return Texts(cells.codes[keep], cells.texts)
    return cells[keep]
