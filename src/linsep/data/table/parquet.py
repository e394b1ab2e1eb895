"""Parquet and Feather files, a batch of rows at a time, by pyarrow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linsep.data.blocks.page_release import trim
from linsep.data.files.bad_rows import BadRow
from linsep.data.files.system_errors import explain
from linsep.data.table.column import Texts, reading
from linsep.data.table.dialect import LOOK, judged
from linsep.data.table.memory import MISSING, USUAL, Words, kind_of_arrow
from linsep.data.table.table_part import (
    Columns,
    Dictionaries,
    Making,
    TablePart,
    from_arrow,
    rounds,
    wrong_cells,
)
from linsep.errors import DataError, ParameterError
from linsep.parallel import read_in_order, threads

BATCH = 1 << 22  # bytes of rows, about; half as many where row groups take memory already
LARGE = 1 << 27  # bytes of a row group
BUFFER = 1 << 16  # bytes of a column read together, in the place of all it has in a row group
TRIMMED = 64  # batches after which freed memory is given back
CODE = 3  # bytes of a text's code: columns that take no more are read as codes
LOOKED_AT = 16  # row groups whose sizes are taken for those of all
NEVER = 1 << 40


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
    arrow_of(path)
    fields = list(schema(path))
    names = [field.name for field in fields]
    kinds = [kind_of_arrow(field.type) for field in fields]
    kinds = [_judged(path, field, kind) for field, kind in zip(fields, kinds, strict=True)]
    if len(set(names)) < len(names):
        raise DataError(f"{path} has two columns of the same name; rename one of them.")
    return names, kinds


def _judged(path: Path, field: Any, kind: str) -> str:
    """What texts are, as those of a CSV file are judged; categories stay texts."""
    import pyarrow as pa

    if kind != "text" or pa.types.is_dictionary(field.type):
        return kind
    try:
        with _opened(path) as file:
            if hasattr(file, "iter_batches"):
                first = next(file.iter_batches(LOOK, columns=[field.name]), None)
            else:
                first = file.get_batch(0).select([field.name]) if file.num_record_batches else None
        texts = [] if first is None else first.column(0)[:LOOK].to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise _unread(path, "", problem) from None
    return judged([text.strip() for text in texts if text is not None], MISSING, ".")


def parts(
    path: Path,
    kinds: dict[str, str],
    required: frozenset[str] = frozenset(),
    n_jobs: int | None = None,
    make: Making | None = None,
    words: Words = USUAL,
) -> Iterator[TablePart]:
    """The rows of a file; bad rows are numbered from 0."""
    pa = arrow_of(path)
    wanted = {name: reading(kind) for name, kind in kinds.items() if kind != "drop"}
    with _opened(path) as file:
        there = _names(file)
        absent = [name for name in wanted if name not in there]
        if absent:
            raise DataError(
                f"{path} has no column {absent[0]!r}; there are {', '.join(there[:20])}."
            )
        texts = Dictionaries(words)
        start = 0

        def read(*batches: Any) -> TablePart:
            part = _part(batches, wanted, texts)
            part.columns.lines = np.arange(part.n)
            if make is not None and part.n:
                make(part.columns)
            whole = checked(part, required)
            if make is not None and whole is not part and whole.n:
                make(whole.columns)
            whole.columns.slim()
            return whole

        try:
            first, *others = _batches(path, file, wanted, threads(n_jobs))
            for part in read_in_order(read, first, n_jobs, others):
                part.columns.lines += start
                yield part._replace(bad=[row.moved(start) for row in part.bad])
                start += part.lines
        except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise _unread(path, f" after row {start}", problem) from None


def _part(batches: tuple[Any, ...], wanted: dict[str, str], texts: Dictionaries) -> TablePart:
    cells = {name: column for batch in batches
             for name, column in zip(batch.schema.names, batch.columns, strict=True)}  # fmt: skip
    columns = {name: from_arrow(name, cells[name], how, texts, texts.words)
               for name, how in wanted.items()}  # fmt: skip
    table = Columns(columns)
    table.rounded = frozenset(
        name for name, kind in wanted.items() if kind == "number" and rounds(cells[name])
    )
    n = batches[0].num_rows
    return TablePart(table, n, [], n)


def _batches(path: Path, file: Any, wanted: dict[str, str], readers: int) -> list[Iterator[Any]]:
    """Batches of the same rows: some of the columns by each reader."""
    about = getattr(file, "metadata", None)
    wide = about is not None and about.num_row_groups and about.row_group(0).total_byte_size > LARGE
    room = BATCH // 2 if wide else BATCH
    size = max(1 << 10, min(1 << 15, room // (8 * max(1, len(wanted)))) >> 10 << 10)  # rows
    if not hasattr(file, "iter_batches"):
        return [_slices(file, list(wanted), size)]
    stored, rows = _stored(file, list(wanted))
    coded = [n for n, how in wanted.items() if how == "text" and stored[n].codes <= CODE * rows]
    lots = _lots({name: one.packed + rows for name, one in stored.items()}, readers)
    files = [_parquet(path, coded, file.metadata) for _ in lots]
    return [_even(one.iter_batches(size, columns=lot, use_threads=False), size)
            for one, lot in zip(files, lots, strict=True)]  # fmt: skip


def _even(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Batches of `size` rows each: where the dictionary of texts changes, pyarrow cuts them."""
    waiting: list[Any] = []
    held = 0
    for number, batch in enumerate(batches):
        if number % TRIMMED == TRIMMED - 1:
            trim()  # each thread has memory of its own that it keeps
        while held + batch.num_rows >= size:
            waiting.append(batch.slice(0, size - held))
            batch = batch.slice(size - held)
            yield _joined(waiting)
            waiting, held = [], 0
        if batch.num_rows:
            waiting.append(batch)
            held += batch.num_rows
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    import pyarrow as pa

    return pa.Table.from_batches(batches).unify_dictionaries()


def _slices(file: Any, names: list[str], size: int) -> Iterator[Any]:
    for k in range(file.num_record_batches):
        batch = file.get_batch(k).select(names)
        for first in range(0, batch.num_rows, size):
            yield batch.slice(first, size)


class _Stored(NamedTuple):
    """Bytes of a column in the file, and of the codes of its texts; NEVER where it has none."""

    packed: int
    codes: int


def _stored(file: Any, names: list[str]) -> tuple[dict[str, _Stored], int]:
    """What the file says of columns in some of its row groups, and the rows these have."""
    about, rows = file.metadata, 0
    stored = dict.fromkeys(names, _Stored(0, 0))
    groups = range(0, about.num_row_groups, max(1, about.num_row_groups // LOOKED_AT))
    for group in groups if len(groups) * about.num_columns <= LOOKED_AT**2 else ():
        next(file.iter_batches(1, [group]), None)  # damage that ends the process in `column` raises
    for group in groups:
        rows += about.row_group(group).num_rows
        for place in range(about.num_columns):
            one = about.row_group(group).column(place)
            if one.path_in_schema in stored:
                coded = any("DICTIONARY" in encoding for encoding in one.encodings)
                texts = one.physical_type == "BYTE_ARRAY" and coded
                packed, codes = stored[one.path_in_schema]
                codes += one.total_uncompressed_size if texts else NEVER
                stored[one.path_in_schema] = _Stored(packed + one.total_compressed_size, codes)
    return stored, rows


def _lots(costs: dict[str, int], readers: int) -> list[list[str]]:
    """The columns in at most so many lots that cost about the same.

    >>> _lots({"a": 5, "b": 3, "c": 1}, 2)
    [['a'], ['b', 'c']]
    """
    lots: list[list[str]] = [[] for _ in range(max(1, min(readers, len(costs))))]
    loads = [0] * len(lots)
    for name in sorted(costs, key=lambda one: -costs[one]):
        least = loads.index(min(loads))
        lots[least].append(name)
        loads[least] += costs[name]
    return lots


def _names(file: Any) -> list[str]:
    schema = file.schema_arrow if hasattr(file, "schema_arrow") else file.schema
    return list(schema.names)


def _opened(path: Path) -> Any:
    pa = arrow_of(path)
    try:
        with path.open("rb") as stream:
            feather = stream.read(6) == b"ARROW1"
        if feather:
            return pa.ipc.open_file(pa.memory_map(str(path)))
        return _parquet(path)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise _unread(path, " as Parquet or Feather", problem) from None


def _unread(path: Path, where: str, problem: BaseException) -> DataError:
    return DataError(f"{path} cannot be read{where}: {explain(problem)}")


def _parquet(path: Path, coded: list[str] | None = None, metadata: Any = None) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(
        str(path), metadata=metadata, read_dictionary=coded, buffer_size=BUFFER, pre_buffer=False
    )


def checked(part: TablePart, required: frozenset[str]) -> TablePart:
    """The part without rows that hold an infinite number, or lack what is required."""
    bad: dict[int, BadRow] = {}
    for name, wrong in wrong_cells(part.columns, required).items():
        cells = part.columns[name]
        for i in np.flatnonzero(wrong).tolist():
            infinite = not isinstance(cells, Texts) and np.isinf(cells[i])
            cell = "infinity" if infinite else "empty"
            reason = "stands here; fill it in, or drop the row or the column"
            bad.setdefault(i, BadRow(i, name, cell, reason))
    if not bad:
        return part
    keep = np.ones(part.n, bool)
    keep[list(bad)] = False
    columns = Columns({name: rows_of(cells, keep) for name, cells in part.columns.items()})
    columns.lines = None if part.columns.lines is None else part.columns.lines[keep]
    return TablePart(columns, part.n - len(bad), [bad[i] for i in sorted(bad)], part.lines)


def rows_of(cells: Any, keep: Any) -> Any:
    """Some rows of a column."""
    if isinstance(cells, Texts):
        return Texts(cells.codes[keep], cells.texts)
    return cells[keep]
