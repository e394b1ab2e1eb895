"""Labels of any kind, and the small integers that stand for them inside the library."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.label_statistics import EncodedLabels
from linsep.errors import DataError
from linsep.kernels.tables import number_integers

Codes = npt.NDArray[np.int32]


def encode(
    y: Any, n_rows: int | None = None, classes: Any = None
) -> tuple[npt.NDArray[Any], Codes]:
    """Sort out the classes in `y` and number every label by its place among them.

    Parameters
    ----------
    y : array-like of labels
        Strings, bytes, booleans, integers of any size, categories: anything that can be
        compared and is not missing. Whole floats such as 1.0 are labels, 1.5 is not.
    n_rows : int, optional
        The number of rows the labels must match.
    classes : array-like, optional
        The full list of classes, for labels that arrive in parts; otherwise those found in `y`,
        of which there must be at least two.

    Returns
    -------
    classes, codes
        The sorted classes, and for each label the index of its class.

    Examples
    --------
    >>> classes, codes = encode(["spam", "ham", "spam"])
    >>> classes.tolist(), codes.tolist()
    (['ham', 'spam'], [1, 0, 1])
    """
    if isinstance(y, EncodedLabels):
        _want_two(y.classes)
        return y.classes, y.codes
    labels = _as_array(y)
    if n_rows is not None and len(labels) != n_rows:
        raise DataError(
            f"X has {n_rows} rows but y has {len(labels)} labels; "
            "give one label per row (inconsistent numbers of samples)."
        )
    present, codes = _unique(labels)
    if classes is None:
        _want_two(present)
        return present, codes
    known, _ = _unique(_as_array(classes))
    _want_two(known)
    return known, _renumber(present, codes, known)


def present(y: Any) -> npt.NDArray[Any]:
    """The labels that occur in `y`, sorted: one class is enough in a part of all labels."""
    return _unique(_as_array(y))[0]


def agree(y: Any, predicted: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each label in `y` is the one predicted.

    >>> agree(["ham", "spam"], np.array(["ham", "ham"])).tolist()
    [True, False]
    >>> agree(["True", "false"], np.array([True, True])).tolist()  # as files and frames have them
    [True, False]
    """
    labels = _as_array(y)
    if predicted.dtype.kind == "b" and labels.dtype.kind in "UO":
        texts = [str(label).lower() for label in labels.tolist()]
        if {"true", "false"} >= set(texts):
            labels = np.array([text == "true" for text in texts])
    if len(labels) != len(predicted):
        raise DataError(
            f"X has {len(predicted)} rows but y has {len(labels)} labels; "
            "give one label per row (inconsistent numbers of samples)."
        )
    if labels.dtype.kind == predicted.dtype.kind and labels.dtype.kind in "bifUS":
        return np.asarray(labels == predicted)
    pairs = zip(labels.tolist(), predicted.tolist(), strict=True)
    right = np.fromiter((a == b for a, b in pairs), bool, len(labels))
    one, other = next(zip(labels.tolist(), predicted.tolist(), strict=True), ("", ""))
    if isinstance(one, str) != isinstance(other, str) and not right.any():
        warnings.warn(
            f"no label is predicted right: y has {one!r} ({type(one).__name__}), the model says "
            f"{other!r} ({type(other).__name__}); give labels of the kind that was fitted.",
            UserWarning, stacklevel=3,
        )  # fmt: skip
    return right


def _want_two(classes: npt.NDArray[Any]) -> None:
    if len(classes) == 0:
        raise DataError("y is empty; a separator needs rows of two classes.")
    if len(classes) == 1:
        raise DataError(
            f"y has one class, {classes.tolist()[0]!r}; a separator needs two. "
            "If you are streaming, pass all labels in classes= on the first call."
        )


def _renumber(present: npt.NDArray[Any], codes: Codes, known: npt.NDArray[Any]) -> Codes:
    places = {label: k for k, label in enumerate(known.tolist())}
    new = np.empty(len(present), np.int32)
    for k, label in enumerate(present.tolist()):
        if label not in places:
            raise DataError(
                f"y holds the label {label!r}, which is not among the classes "
                f"{known.tolist()!r}; pass every label in classes= on the first call."
            )
        new[k] = places[label]
    return new[codes]


def _as_array(y: Any) -> npt.NDArray[Any]:
    if y is None:
        raise DataError(
            "This learner requires y to be passed, but the target y is None; "
            "give one label per row."
        )
    if type(y) is not np.ndarray:
        if hasattr(y, "__arrow_array__") or hasattr(y, "to_pylist"):  # pyarrow: no numpy for text
            y = np.asarray(y.to_pylist() if hasattr(y, "to_pylist") else y)
        if isinstance(y, (list, tuple)):
            y = _from_list(y)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        labels = column_or_1d(y, warn=True)
    if labels.ndim != 1:
        raise DataError(
            f"y has shape {labels.shape}; give a one-dimensional list of labels, one per row "
            "(bad input shape for y: should be a 1d array). If these are the rows, X and y are "
            "swapped: call fit(X, y)."
        )
    if labels.dtype.kind == "f":
        _want_whole(labels)
    elif labels.dtype.kind == "c":
        raise DataError("y is complex. Complex data not supported; give labels.")
    elif labels.dtype.kind in "OTmM":  # objects, strings of variable length, times
        labels = labels.astype(object) if labels.dtype.kind == "T" else labels
        _want_present(labels)
    return labels


def _from_list(y: list[Any] | tuple[Any, ...]) -> npt.NDArray[Any]:
    """Keep Python values where numpy would turn 1 into '1', or 2**63 + 1 and −1 into floats."""
    kinds = {type(label) for label in y}
    whole = all(issubclass(kind, (bool, np.bool_, int, np.integer)) for kind in kinds)
    numbers = all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds)
    if (len(kinds) <= 1 or whole or numbers) and not kinds & {tuple, frozenset}:
        try:
            labels = np.asarray(y)
        except ValueError:  # lists of unequal lengths
            raise DataError(f"y begins with {y[0]!r}; give one label per row, not lists.") from None
        same = len(kinds) <= 1 or labels.tolist() == list(y)
        if same and not (whole and labels.dtype.kind == "f" and len(y)):
            return labels
    return _objects(list(y))


def _want_whole(labels: npt.NDArray[Any]) -> None:
    bad = ~np.isfinite(labels)
    if bad.any():
        i = int(bad.argmax())
        raise DataError(
            f"y is {labels[i]} at row {i}: Input y contains "
            f"{'NaN' if np.isnan(labels[i]) else 'infinity'}; drop the row or give its label."
        )
    broken = labels != np.floor(labels)
    if broken.any():
        i = int(broken.argmax())
        raise DataError(
            f"Unknown label type: continuous. y is {labels[i]} at row {i}; labels name classes. "
            "For numbers to be predicted use a regressor such as linsep.LinearRegression."
        )
    limit = 2.0 ** (np.finfo(labels.dtype).nmant + 1)
    beyond = np.abs(labels) > limit
    if beyond.any():
        i = int(beyond.argmax())
        raise DataError(
            f"y is {labels[i]} at row {i}: beyond {limit:.0f} a {labels.dtype} may stand for "
            "several whole numbers. Give such labels as integers or texts; of a file, read the "
            "column as texts with columns={...: 'text'}."
        )


def _want_present(labels: npt.NDArray[Any]) -> None:
    for i, label in enumerate(labels):
        # NaN is the one value that differs from itself; pandas.NA answers neither way.
        missing = label is None or type(label).__name__ in {"NAType", "NaTType"} or label != label
        if missing:
            raise DataError(f"y is {label!s} at row {i}; drop the row or give its label.")


def _unique(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    if labels.dtype.kind == "b":
        labels = labels.view(np.uint8)
        classes, codes = np.unique(labels, return_inverse=True)
        return classes.astype(bool), codes.astype(np.int32)
    if labels.dtype.kind == "O":
        return _unique_objects(labels)
    if labels.dtype.kind in "iu" and labels.size:
        return _unique_integers(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int32)


def _unique_integers(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """Count small integers instead of sorting them: many times faster on long columns."""
    low, high = int(np.minimum.reduce(labels)), int(np.maximum.reduce(labels))
    second = labels != low
    if low < high and np.count_nonzero(labels == high) == np.count_nonzero(second):
        return np.array([low, high], labels.dtype), second.astype(np.int32)
    if high - low > 1 << 16:
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes.astype(np.int32)
    kind = labels.dtype.type
    if labels.dtype == np.uint64:  # may be beyond the integers kernels read
        labels, start = labels - kind(low), 0
    else:
        start = low
    places = np.zeros(high - low + 1, np.int32)
    numbers = np.empty(len(labels), np.int32)
    number_integers(np.ascontiguousarray(labels, np.int64), start, places, numbers)
    return np.flatnonzero(places).astype(kind) + kind(low), numbers


def _unique_objects(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    try:
        values = list(dict.fromkeys(labels.tolist()))
    except TypeError:
        raise DataError("y holds values that are not hashable; labels must be.") from None
    try:
        values.sort()
    except TypeError:
        kinds = sorted({type(v).__name__ for v in values})
        raise DataError(
            f"y holds labels of type {' and '.join(kinds)}, which cannot be sorted "
            "(Unknown label type); make them all strings or all numbers."
        ) from None
    places = {value: k for k, value in enumerate(values)}
    codes = np.fromiter((places[v] for v in labels.tolist()), np.int32, len(labels))
    classes = np.asarray(values) if isinstance(values[0], str) else _objects(values)
    return classes, codes


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    objects = np.empty(len(values), object)
    for k, value in enumerate(values):  # a slice would take tuples apart
        objects[k] = value
    return objects
