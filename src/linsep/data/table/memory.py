"""Cells of tables in memory, read as those of files are: frames, dicts of columns, records.

pandas, polars and Arrow are known by what they can do; none of them is imported here unless the
table is already one of theirs.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.table.cells import days_of, parser
from linsep.data.table.column import Texts
from linsep.errors import DataError

Array = npt.NDArray[Any]

MISSING = ("", "?", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "null", "NULL", "#N/A", "-")
"""Words that stand for a missing number."""

MISSING_TEXTS = frozenset(MISSING) - {"NA", "na", "-"}
"""Words that stand for a missing text: NA may be Namibia."""


MANY = 10_000  # texts from which on pyarrow is worth its import


class Words(NamedTuple):
    """Words that stand for a missing number, and for a missing text; and the decimal sign."""

    numbers: frozenset[str] = frozenset(MISSING)
    texts: frozenset[str] = MISSING_TEXTS
    decimal: str = "."

    @classmethod
    def of(cls, missing: Iterable[str] | None, decimal: str = ".") -> "Words":
        """From the words for numbers: what is not among the usual ones counts for texts too."""
        if missing is None:
            return cls(decimal=decimal)
        words = frozenset(missing)
        texts = words - {"NA", "na", "-"} if words > frozenset(MISSING) else words
        return cls(words, texts, decimal)


USUAL = Words()


class NamedRows(np.ndarray[Any, Any]):
    """Rows of numbers whose columns were found by the names of the fit, and stand in its order."""


def is_table(X: Any) -> bool:
    """Whether X has named columns: a frame, a dict of columns, or a list of records."""
    if isinstance(X, (list, tuple)):
        return bool(X) and isinstance(X[0], Mapping)
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr") or hasattr(X, "dask"):
        return False
    if isinstance(X, Mapping):
        return True
    return _is_arrow(X) or (hasattr(X, "columns") and hasattr(X, "__getitem__"))


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "schema")


def columns_of(X: Any) -> dict[str, Any]:
    """The columns of a table by name, their cells as they are.

    >>> columns_of([{"a": 1, "b ": "x"}, {"a": 2}])
    {'a': [1, 2], 'b': ['x', None]}
    """
    if isinstance(X, Mapping):
        one = all(isinstance(cells, (str, bytes)) or not _many(cells) for cells in X.values())
        listed = [[cells] if one else cells for cells in X.values()]
        return dict(zip(names_of(X), listed, strict=True))
    if isinstance(X, (list, tuple)):
        keys: dict[Any, None] = {}
        for record in X:
            if not isinstance(record, Mapping):
                raise DataError(f"X is a list of records, but one is {record!r}; give dicts.")
            keys.update(dict.fromkeys(record))
        named = zip(names_of(keys), keys, strict=True)
        return {name: [record.get(key) for record in X] for name, key in named}
    if _is_arrow(X):
        return dict(zip(names_of(X.column_names), X.columns, strict=True))
    if hasattr(X, "collect") and not hasattr(X, "height"):  # polars, not yet computed
        X = X.collect()
    names = names_of(X.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the table has two columns named {twice!r}; rename one of them.")
    by_place = getattr(X, "iloc", None)
    if by_place is not None:
        return {name: by_place[:, k] for k, name in enumerate(names)}
    return {name: X[own] for name, own in zip(names, X.columns, strict=True)}


def names_of(keys: Iterable[Any]) -> list[str]:
    """Names of columns without the blanks around them, as those of a file are read; as they are
    where two would be alike.

    >>> names_of(["a", " b ", 3]), names_of(["a", "a "])
    (['a', 'b', '3'], ['a', 'a '])
    """
    given = [str(key) for key in keys]
    trimmed = [name.strip() for name in given]
    return trimmed if len(set(trimmed)) == len(given) else given


def _many(cells: Any) -> bool:
    """Whether it is a column, not a single cell."""
    return (
        isinstance(cells, (list, tuple, range))
        or getattr(cells, "shape", ()) != ()
        or hasattr(cells, "num_chunks")
    )


def kind_of_arrow(kind: Any) -> str:
    """What a column of this Arrow type holds; of texts, only that they are texts."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(kind):
        return "truth"
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return "date:ymd"
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return "text" if texts or pa.types.is_string_view(kind) else "number"


def kind_of(raw: Any, judge: Callable[[list[str]], str], look: int) -> str:
    """What a column in memory holds; `judge` tells of the first cells, where these are texts.

    Categories are texts, whatever they look like.
    """
    if type(raw).__module__.startswith("pyarrow"):
        kind = kind_of_arrow(raw.type)
        if kind != "text" or str(raw.type).startswith("dictionary"):
            return kind
    stored = str(getattr(raw, "dtype", "")).lower()
    if stored.startswith(("int", "uint", "float", "decimal")):
        return "number"
    if stored.startswith("bool"):
        return "truth"
    if stored.startswith(("datetime", "date", "time", "<m8", ">m8")):
        return "date:ymd"
    if stored.startswith(("categor", "enum")):
        return "text"
    some = raw[:look]
    listed = some.to_pylist() if hasattr(some, "to_pylist") else list(some)
    cells = [cell for cell in listed if not (cell is None or _no_value(cell))]
    if any(isinstance(cell, str) for cell in cells):
        return judge([str(written(cell)) for cell in cells])
    if cells and all(isinstance(cell, (bool, np.bool_)) for cell in cells):
        return "truth"
    return "date:ymd" if any(isinstance(cell, (date, time)) for cell in cells) else "number"


def column_of(name: str, raw: Any, how: str, words: Words) -> Any:
    """A column in memory as those of files are read: float64 with NaN for gaps, or `Texts`."""
    arrow = _arrow(raw)
    if arrow is None and how == "text":
        arrow = _arrow_texts(raw)
    if arrow is not None:
        from linsep.data.table.table_part import from_arrow

        return from_arrow(name, arrow, how, words=words)
    if how != "text" and (plain := _plain_numbers(raw, how)) is not None:
        return plain
    if how == "text" and str(getattr(raw, "dtype", "")) == "category":
        return _coded(raw, words)
    cells = raw.to_list() if hasattr(raw, "to_list") else np.asarray(raw, object).tolist()
    return _texts(cells, words) if how == "text" else _numbers(name, cells, how, words)


def _arrow(raw: Any) -> Any:
    """The column as an Arrow array, where it is one, or holds texts in such a way."""
    if hasattr(raw, "num_chunks") or type(raw).__module__.startswith("pyarrow"):
        return raw
    module = type(raw).__module__.partition(".")[0]
    if module not in ("pandas", "polars") or len(raw) < 64:
        return None
    stored = str(raw.dtype).lower()
    texts = stored.startswith(("str", "string", "large_string", "utf8", "categorical", "enum"))
    if not texts:
        return None
    try:
        return raw.to_arrow() if module == "polars" else _pandas_arrow(raw)
    except (ImportError, TypeError, ValueError):
        return None


def _arrow_texts(raw: Any) -> Any:
    """Many texts, each an object of its own, as an Arrow array; None where some are no texts."""
    if len(raw) < MANY or str(getattr(raw, "dtype", "")) != "object":
        return None
    try:
        import pyarrow as pa

        made = pa.array(np.asarray(raw, object), from_pandas=True)
    except (ImportError, TypeError, ValueError):
        return None
    return made if pa.types.is_string(made.type) else None


def _pandas_arrow(raw: Any) -> Any:
    import pyarrow as pa

    return pa.array(raw.array, from_pandas=True)


def _plain_numbers(raw: Any, how: str) -> Array | None:
    """Numbers of an array or a column of a frame, without a look at single cells."""
    stored = str(getattr(raw, "dtype", ""))
    if isinstance(raw, np.ndarray):
        values = raw
    elif stored.lower().startswith(("int", "uint", "float", "bool")):
        missing = (
            bool(raw.isna().any())
            if hasattr(raw, "isna")
            else bool(getattr(raw, "null_count", lambda: 0)())
        )
        if hasattr(raw, "isna") and missing:
            values = raw.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = raw.to_numpy()
            if values.dtype.kind == "O":
                return None
    elif "datetime" in stored.lower() and hasattr(raw, "to_numpy"):
        zone = getattr(getattr(raw, "dt", None), "tz", None)
        moments = raw.dt.tz_convert("UTC").dt.tz_localize(None) if zone is not None else raw
        values = moments.to_numpy()
    else:
        return None
    if values.dtype.kind == "M":
        gaps = np.isnat(values)
        since = (values - np.datetime64(0, "D").astype(values.dtype)) / np.timedelta64(1, "s")
        numbers = since if how == "number" else since / 86_400.0
        return np.where(gaps, np.nan, numbers)
    if values.dtype.kind not in "iufb" or how.startswith("date"):
        return None
    return np.ascontiguousarray(values, np.float64)


def _coded(raw: Any, words: Words) -> Texts:
    """A categorical column of pandas."""
    own = [str(text).strip() for text in raw.cat.categories.tolist()]
    texts: dict[str, int] = {}
    places = [-1 if t in words.texts else texts.setdefault(t, len(texts)) for t in own]
    return Texts(np.array([*places, -1], np.int32)[raw.cat.codes.to_numpy()], list(texts))


def _texts(cells: Sequence[Any], words: Words) -> Texts:
    texts: dict[str, int] = {}
    codes = []
    for cell in cells:
        text = written(cell)
        gone = text is None or text in words.texts
        codes.append(-1 if gone else texts.setdefault(str(text), len(texts)))
    return Texts(np.array(codes, np.int32), list(texts))


def written(cell: Any) -> str | None:
    """A cell as a file would have it, None for a missing one.

    >>> written(" a "), written(3.0), written(float("nan")), written(True)
    ('a', '3', None, 'True')
    """
    if type(cell) is str:
        return cell.strip()
    if cell is None or _no_value(cell):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return str(bool(cell))
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def _no_value(cell: Any) -> bool:
    return type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def _numbers(name: str, cells: Sequence[Any], how: str, words: Words) -> Array:
    read = parser(how, words.decimal)
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        value = number_in(cell, read, words)
        if value is None:
            raise DataError(
                f"the column {name!r} holds {cell!r} at row {i}; {wanted_there(how)} wanted there."
            )
        values[i] = value
    return values


def wanted_there(how: str) -> str:
    """What a column read so should hold."""
    word = how.partition(":")[0]
    return {"truth": "true or false is", "date": "a date is"}.get(word, "a number is")


def number_in(cell: Any, read: Callable[[str], float | None], words: Words) -> float | None:
    """The number in a cell, NaN for a missing one, None where it is something else."""
    kind = type(cell)
    if kind is float or kind is int or kind is bool:
        return float(cell)
    if kind is str:
        text = cell.strip()
        return math.nan if text in words.numbers else read(text)
    if cell is None or _no_value(cell):
        return math.nan
    if isinstance(cell, (Real, np.bool_, Decimal)):
        return float(cell)
    return days_of(cell) if isinstance(cell, (date, time)) else None
