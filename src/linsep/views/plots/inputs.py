"""Models and rows as pictures take them: fitted, of two columns, with the names of a frame."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.check.labels import encode
from linsep.errors import DataError

Array = npt.NDArray[Any]


class Plane(NamedTuple):
    """Rows of two features.

    Attributes
    ----------
    rows : (n, 2)
    labels : (n,)
    names : of the two columns
    """

    rows: Array
    labels: Array
    names: tuple[str, str]


def fitted(model: Any, wanted: str = "classes_") -> Any:
    """The model, if it is fitted and has what a picture needs."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if hasattr(model, wanted):
        return model
    try:
        known = hasattr(model, "fit") and check_is_fitted(model) is None
    except (NotFittedError, TypeError):
        raise DataError(f"model is {model!r}, which is not fitted; call fit first.") from None
    what = f"{wanted}, which this picture is drawn from" if known else "a fit method"
    raise DataError(f"model is {model!r}; it has no {what}.")


def plane_of(X: Any, y: Any) -> Plane:
    """Rows and labels of arrays, frames and sparse matrices."""
    names = [str(one) for one in X.columns] if hasattr(X, "columns") else ["x₁", "x₂"]
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise DataError(f"X has shape {rows.shape}; a picture of the plane needs two columns.")
    if not len(rows):
        raise DataError("X has no rows to draw.")
    try:
        rows = rows.astype(float)
    except (TypeError, ValueError):
        raise DataError(
            "X has columns that are no numbers; a picture needs two of numbers."
        ) from None
    labels = np.asarray(y)
    if labels.shape != (len(rows),):
        raise DataError(f"y has shape {labels.shape}; X has {len(rows)} rows.")
    return Plane(rows, labels, (names[0], names[1]))


def numbers(name: str, value: Any, shape: tuple[int, ...] | None = None) -> Array:
    """A parameter as an array of finite numbers, of the shape asked for."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise DataError(f"{name} is {value!r:.60}; give numbers.") from None
    if shape is not None and array.shape != shape:
        raise DataError(f"{name} has shape {array.shape}; give numbers of shape {shape}.")
    if not np.isfinite(array).all():
        raise DataError(f"{name} holds NaN or infinity; give finite numbers.")
    return array


def two_classes(X: Any, y: Any) -> tuple[Array, Array, list[Any]]:
    """Rows, their signs (+1 for the second class), and the two classes."""
    rows, labels = numbers("X", X.toarray() if hasattr(X, "toarray") else X), np.asarray(y)
    if rows.ndim != 2 or labels.shape != (len(rows),):
        raise DataError(
            f"X has shape {rows.shape} and y {labels.shape}; give rows of numbers in two "
            "dimensions, and a label for each."
        )
    classes, codes = encode(labels, len(rows))
    if len(classes) != 2:
        raise DataError(f"y has {len(classes)} classes; this picture is drawn for two.")
    return rows, np.where(codes == 1, 1.0, -1.0), classes.tolist()


def ask(method: Any, grid: Array, X: Any) -> Array:
    """What a method of a model says of places, given as rows of the kind that X is."""
    if hasattr(X, "iloc"):
        grid = type(X)(grid, columns=X.columns)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of names, without them
        return np.asarray(method(grid))


def names_of(model: Any, d: int) -> list[str]:
    """What the features of a model are called."""
    known = getattr(model, "feature_names_in_", None)
    if known is None and getattr(model, "encoding_", None) is not None:
        known = model.encoding_.feature_names
    return [f"x{k}" for k in range(d)] if known is None else [str(one) for one in known]
