"""Rows without scikit-learn: what prediction from a model file needs.

`linsep.data.check.arrays` checks rows for training, and shares the looks at single entries with
this module.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError

Array = npt.NDArray[Any]


def is_sparse(X: Any) -> bool:
    """Whether X is one of scipy's sparse containers, without importing scipy to ask."""
    return hasattr(X, "tocsr")


def plain_rows(X: Any, n_features: int, names: list[str] | None = None) -> Any:
    """Bring rows to predict into the form that training rows had.

    Two-dimensional, float32 or float64 and C-contiguous, or canonical CSR. A data frame must have
    the columns `names`, in this order.

    Raises
    ------
    DataError
        Naming what was found and what was wanted.
    """
    _require_names(X, names)
    if is_sparse(X):
        X = X.tocsr()
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        X = canonical(X.astype(dtype, copy=False))
    else:
        X = _numbers(X)
    if X.shape[1] != n_features:
        raise DataError(
            f"X has {X.shape[1]} features, but the model expects {n_features}; give the columns it "
            "was trained on, in the same order."
        )
    return X


def _numbers(X: Any) -> Array:
    if hasattr(X, "column_names") and hasattr(X, "columns"):  # an Arrow table
        X = np.column_stack([np.asarray(column) for column in X.columns])
    try:
        table = np.asarray(X)
        if table.dtype not in (np.float32, np.float64):
            if table.dtype.kind in "cSUmM":
                raise DataError(f"X has the type {table.dtype}; real numbers are wanted.")
            table = table.astype(np.float64)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, DataError):
            raise
        raise DataError(f"X cannot be read as rows of numbers: {problem}.") from None
    if table.ndim != 2:
        raise DataError(
            f"X has shape {table.shape}; give a table, one row for each example. A single row is "
            "[[...]]: X.reshape(1, -1)."
        )
    return np.ascontiguousarray(table)


def _require_names(X: Any, names: list[str] | None) -> None:
    columns = getattr(X, "column_names", None) or getattr(X, "columns", None)
    if names is None or columns is None or callable(columns):
        return
    given = [str(name) for name in columns]
    if given != names and all(isinstance(name, str) for name in columns):
        place = next((i for i, (a, b) in enumerate(zip(given, names, strict=False)) if a != b), -1)
        seen = f"column {place} is {given[place]!r}" if place >= 0 else f"X has {len(given)}"
        wanted = repr(names[place]) if place >= 0 else f"{len(names)}"
        raise DataError(
            f"The columns of X are not those of the training data: {seen}, {wanted} was wanted. "
            "Give the same columns in the same order."
        )


def first_bad(X: Any) -> tuple[int, str] | None:
    """Place and kind of the first entry that is NaN or infinite; None where all are finite."""
    values = X.data if is_sparse(X) else X.reshape(-1)
    bad = ~np.isfinite(values)
    if not bad.any():
        return None
    place = int(bad.argmax())
    return place, "NaN" if np.isnan(values[place]) else "infinity"


def not_finite(X: Any, names: Any = None) -> DataError | None:
    """The error that names the first entry that is NaN or infinite, if there is one."""
    bad = first_bad(X)
    if bad is None:
        return None
    return DataError(
        f"X contains {bad[1]}: {where(X, bad[0], names)}. Fill it in "
        "(scikit-learn's SimpleImputer does) or drop the row; -inf and inf count as missing."
    )


def where(X: Any, place: int, names: Any = None) -> str:
    """Row, column and the column's name if it has one, of an entry given by its place."""
    if is_sparse(X):
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column = int(X.indices[place])
    else:
        row, column = divmod(place, X.shape[1])
    name = "" if names is None or column >= len(names) else f" ({names[column]!r})"
    return f"row {row}, column {column}{name}"


def canonical(X: Any) -> Any:
    """CSR with int32 indices, no duplicates; a copy only where the input has neither."""
    if X.shape[1] > np.iinfo(np.int32).max:
        raise DataError(
            f"X has {X.shape[1]} columns; sparse data may have at most 2147483647. "
            "Hash or renumber the features."
        )
    _require_format(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32:
        # Row pointers too, where they fit: scipy would widen the indices again to match them.
        pointers = X.indptr.astype(np.int32) if X.nnz <= np.iinfo(np.int32).max else X.indptr
        X = type(X)((X.data, X.indices.astype(np.int32), pointers), shape=X.shape, copy=False)
    return X


def _require_format(X: Any) -> None:
    """Refuse indices that point outside the matrix: kernels would follow them into other memory."""
    unsigned = X.indices.view(f"u{X.indices.dtype.itemsize}")  # negative ones become the largest
    if unsigned.size and int(unsigned.max()) >= X.shape[1]:
        raise DataError(
            f"X has a column index {int(X.indices[unsigned.argmax()])}, but {X.shape[1]} columns; "
            "build the matrix again from its entries."
        )
    if X.indptr[0] != 0 or X.indptr[-1] > X.indices.size or (np.diff(X.indptr) < 0).any():
        raise DataError(
            "X.indptr does not run from 0 up to the number of entries; "
            "build the matrix again from its entries."
        )


def check_offset(offset: Any, n: int | None, planes: int) -> npt.NDArray[np.float64]:
    """Offsets as numbers: for each row, and for more than two classes each of them."""
    try:
        numbers = np.array(offset, np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"offset is {offset!r:.60}; give a number for each row, or the name of a column of a "
            "frame or file."
        ) from None
    if numbers.ndim == 0:
        numbers = np.full((n or 1,) if planes == 1 else (n or 1, planes), float(numbers))
    wanted = (n,) if planes == 1 else (n, planes)
    if n is not None and numbers.shape != wanted and not (planes == 1 and numbers.shape == (n, 1)):
        raise DataError(
            f"offset has shape {numbers.shape}; X has {n} rows"
            f"{'' if planes == 1 else f' and there are {planes} classes'}, so give {wanted}."
        )
    if not np.isfinite(numbers).all():
        i = int(np.argmax(~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)))
        raise DataError(f"offset is {numbers[i]} at row {i}; offsets must be finite.")
    return numbers[:, 0] if planes == 1 and numbers.ndim == 2 else numbers
