"""New rows for a model, in whatever they come: frames, dicts of columns, records, buffers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.encoding.drift import Drift, tell
from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.records import RecordReader
from linsep.data.sources.dataset import Chunks
from linsep.data.table.memory import USUAL, NamedRows, column_of, columns_of, is_table, names_of
from linsep.errors import DataError

Array = npt.NDArray[Any]

FEW = 64  # records that are read one by one


def new_rows(X: Any, model: Any) -> Any:
    """Rows for a fitted learner or model: features, or `Chunks`; or X itself, where it is neither
    a table nor a buffer, or the model knows no names.
    """
    if type(X) is np.ndarray or isinstance(X, Chunks):
        return X
    encoding = getattr(model, "encoding_", None)
    listed = type(X) is list or type(X) is tuple
    if listed and not X:
        return np.empty((0, model.n_features_in_))
    if not listed and is_buffer(X):
        return opened_like(X, encoding)
    if not is_table(X):
        return X
    names = vars(model).get("feature_names_in_")  # those of a frame of numbers
    if encoding is None or not encoding.columns or names is not None:
        return _numbers(X, names)
    if listed and len(X) <= FEW and encoding.header and encoding.n_features <= 1 << 16:
        try:
            return _reader(encoding).rows(X)
        except DataError:
            if names_of(X[0]) == list(X[0]):
                raise
            return _reader(encoding).rows(_with_names(X))
    columns = _renamed(columns_of(X), encoding)
    if _are_features(columns, encoding):
        return np.column_stack([np.asarray(columns[name], float) for name in columns])
    n = len(next(iter(columns.values()), ()))
    if n > BLOCK:
        return opened_like(columns, encoding)
    drift = Drift()
    rows, odd = encoding.looked_at(columns, drift)
    tell(drift.sentences())
    if odd.any():
        _require_no_infinity(rows, encoding)
    return rows


def labelled_rows(X: Any, model: Any) -> Any:
    """A table or buffer that brings its labels, opened as the rows of the fit were."""
    if isinstance(X, Chunks) or not (is_table(X) or is_buffer(X)):
        return X
    return opened_like(X, getattr(model, "encoding_", None))


def is_buffer(X: Any) -> bool:
    """Whether X is the content of a file, or an open one."""
    return isinstance(X, (bytes, bytearray, memoryview)) or (
        hasattr(X, "read") and not hasattr(X, "shape")
    )


def opened_like(X: Any, encoding: Encoding | None) -> Chunks:
    """What `linsep.read` makes of X for a model."""
    from linsep.data.sources.read import read

    if encoding is None:
        raise DataError(
            "X is a table with labels or the content of a file, but the model was fitted on rows "
            "of numbers; give such rows, or fit it by fit(linsep.read(...))."
        )
    return read(X, like=encoding)


def _reader(encoding: Encoding) -> RecordReader:
    known = encoding.__dict__.get("_record_reader")
    if known is None:
        known = encoding.__dict__["_record_reader"] = RecordReader(encoding)
    return known


def _with_names(records: Any) -> list[dict[str, Any]]:
    """Records by the names that columns of a table have."""
    return [dict(zip(names_of(record), record.values(), strict=True)) for record in records]


def _renamed(columns: dict[str, Any], encoding: Encoding) -> dict[str, Any]:
    """Columns by position, where the model knows them so."""
    if encoding.header or set(encoding.table_columns) <= set(columns):
        return columns
    target = None if encoding.target is None else encoding.target.column
    places = [str(j) for j in range(len(columns) + 1)]
    width = encoding.width
    if target is not None and width is not None and len(columns) == width - 1:
        places.remove(target)
    return dict(zip(places, columns.values(), strict=False))


def _are_features(columns: Mapping[str, Any], encoding: Encoding) -> bool:
    """Whether a frame holds the features themselves, under their names."""
    if all(name in columns for name in encoding.table_columns):
        return False
    return list(columns) == encoding.feature_names


def _numbers(X: Any, names: Any) -> Any:
    """Dicts and records for a model that was fitted on a frame of numbers; others as they are."""
    if not isinstance(X, (Mapping, list, tuple)):
        return X
    columns = columns_of(X)
    wanted = list(columns) if names is None else [str(name) for name in names]
    absent = [name for name in wanted if name not in columns]
    if absent:
        raise DataError(
            f"the column {absent[0]!r} is not there; there are {', '.join(list(columns)[:20])}. "
            f"The model was fitted on {', '.join(wanted[:20])}."
        )
    if not wanted:
        raise DataError("X is empty; give the columns by name, or an array of rows.")
    cells = [column_of(name, columns[name], "number", USUAL) for name in wanted]
    return np.column_stack(cells).view(NamedRows)


def _require_no_infinity(rows: Any, encoding: Encoding) -> None:
    values = rows.data if hasattr(rows, "tocsr") else rows
    if np.isfinite(values).all():
        return
    dense = rows.toarray() if hasattr(rows, "tocsr") else rows
    i, j = np.argwhere(~np.isfinite(dense))[0].tolist()
    raise DataError(
        f"X contains infinity: row {i}, column {encoding.feature_names[j]!r}. Drop the row, or "
        "leave the cell empty."
    )
