"""Numbers in any container, checked once and handed on without a copy where that is possible."""

import copy
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import PageRelease
from linsep.data.check.plain import canonical, not_finite, where
from linsep.data.table.memory import NamedRows
from linsep.errors import DataError, KindError, OverflowedError
from linsep.kernels.tables import sum_of_squares

Array = npt.NDArray[Any]

SMALL = 1 << 13  # entries that are looked at sooner than a kernel is called
LARGE = 1 << 23  # bytes from which on a look at every entry deserves a thread of its own

_LIMITS = {
    kind: (float(np.finfo(kind).max), float(np.finfo(kind).tiny)) for kind in (*"fd",)
}  # the largest float of a type, and the smallest with all its digits
_FORM: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


def check_rows(
    X: Any, estimator: Any = None, reset: bool = True, in_range: bool = False
) -> Array | sp.csr_array:
    """Bring `X` to the form kernels read: finite, two-dimensional, float32 or float64.

    C-contiguous float arrays and canonical CSR matrices come back without a copy. Data frames
    (pandas, polars, Arrow), lists, integers, other sparse formats and other memory orders are
    converted.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
    estimator : scikit-learn estimator, optional
        Where the number and names of features are kept (`reset=True`) or compared.
    reset : bool
        Whether `X` sets the features of `estimator` or must agree with them.
    in_range : bool
        Whether to refuse numbers so large or so small that their products leave the range of
        floats, as those of 1e300 and of 1e-300 do.

    Raises
    ------
    DataError
        Naming the row and column of the first NaN or infinite entry.
    OverflowedError
        With `in_range`, naming the row and column of the largest entry.
    """
    if on_cluster(X):
        return _checked_there(X, estimator, in_range)
    X = check_shape(X, estimator, reset)
    require_finite(X, estimator, in_range)
    return X


def _checked_there(X: Any, estimator: Any, in_range: bool) -> Any:
    """Rows on a cluster, checked by the workers; the names of their columns are kept."""
    if estimator is not None:
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        if X.names is not None:
            estimator.feature_names_in_ = np.array(X.names, dtype=object)
    if in_range:
        X.require_range()
    return X


def check_rows_meanwhile(
    X: Any, estimator: Any = None, reset: bool = True, in_range: bool = False
) -> tuple[Array | sp.csr_array, Callable[[], None]]:
    """`check_rows` as read-only views, a thread of its own looking at the entries of a large `X`.

    Returns `X` and a function that waits for the end of the look and raises what was found. It
    must be called before anything is made of the first pass over the rows.
    """
    if type(X) is not np.ndarray and on_cluster(X):
        return _checked_there(X, estimator, in_range), lambda: None
    X = frozen_rows(check_shape(X, estimator, reset))
    if (X.data.nbytes if sp.issparse(X) else X.nbytes) < LARGE:
        require_finite(X, estimator, in_range)
        return X, lambda: None
    pool = ThreadPoolExecutor(1)
    look = pool.submit(require_finite, X, estimator, in_range)
    pool.shutdown(wait=False)
    return X, look.result


def frozen(array: Array) -> Array:
    """A read-only view: kernels then know one kind of array, whether it may be written or not."""
    if type(array) is np.ndarray and not array.flags.writeable:
        return array
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def frozen_rows(X: Any) -> Any:
    """`frozen` for rows in an array or a CSR matrix; the matrix handed in stays as it is.

    Frames of pandas and what joblib hands to its workers cannot be written, other arrays can: all
    kernels would be compiled for each of them.
    """
    if type(X) is np.ndarray:
        return frozen(X)
    if on_cluster(X):
        return X
    if not sp.issparse(X):
        return frozen(X)
    X = copy.copy(X)
    X.data, X.indices, X.indptr = frozen(X.data), frozen(X.indices), frozen(X.indptr)
    return X


def check_shape(X: Any, estimator: Any = None, reset: bool = True) -> Array | sp.csr_array:
    """`check_rows` without the look at every entry; for callers that look at the results."""
    if type(X) is not np.ndarray and on_cluster(X):
        return _checked_there(X, estimator, False)  # type: ignore[no-any-return]
    if isinstance(X, NamedRows) and X.shape[1] == getattr(estimator, "n_features_in_", None):
        return np.ascontiguousarray(X.view(np.ndarray))
    named = "feature_names_in_" in getattr(estimator, "__dict__", ())  # those of a frame of numbers
    if estimator is not None and not named and _ready(X):
        known = X.shape[1] if reset else estimator.n_features_in_
        if X.shape[1] == known:
            estimator.n_features_in_ = known
            return canonical(X) if sp.issparse(X) else np.asarray(X)
    from sklearn.utils.validation import check_array, validate_data

    X = _from_arrow(X)
    try:
        if estimator is None:
            X = check_array(X, **_FORM)
        else:
            least = 1 if reset else 0  # nothing can be learnt of no rows, but there is an answer
            with _unnamed() if not named else nullcontext():
                X = validate_data(estimator, X, reset=reset, ensure_min_samples=least, **_FORM)
    except DataError:
        raise
    except TypeError as problem:
        raise KindError(_no_numbers(X, problem)) from None
    except ValueError as problem:
        raise DataError(_no_table(X, str(problem), reset)) from None
    return canonical(X) if sp.issparse(X) else X


@contextmanager
def _unnamed() -> Iterator[None]:
    """Names that are those of an encoding are asked of tables alone."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def _no_table(X: Any, problem: str, fitting: bool) -> str:
    """Why X is no table of numbers, and what to do about it."""
    if "could not convert string" in problem:
        return (
            f"X has text among its numbers ({problem}). Encode it (scikit-learn's OneHotEncoder "
            "does), or give fit a data frame with a column of texts, which linsep encodes itself."
        )
    if "inhomogeneous" in problem or "with a sequence" in problem:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in X]
        other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if other is not None:
            return (
                f"X has rows of different lengths: {lengths[0]} in row 0, {lengths[other]} in row "
                f"{other} (inhomogeneous). Give every row as many numbers."
            )
    if fitting and "got 1D array" in problem:
        return f"{problem} If these are the labels, X and y are swapped: call fit(X, y)."
    return problem


def _no_numbers(X: Any, problem: Exception) -> str:
    """Why X cannot be rows, and what can."""
    kind = type(X).__name__
    if isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "columns"):
        return f"X is a {kind} with entries that are no numbers ({problem}); give numbers."
    wanted = "list(X), if that fits into memory" if hasattr(X, "__next__") else "rows"
    return (
        f"X is a {kind} ({problem}); give {wanted}: a two-dimensional array, a list of lists, a "
        "sparse matrix or a data frame."
    )


def _ready(X: Any) -> bool:
    """Whether X is a table of floats as kernels read it, in which scikit-learn finds no fault."""
    if type(X) in (np.ndarray, np.memmap):
        fine = X.ndim == 2 and X.flags.c_contiguous
    else:
        fine = type(X) in (sp.csr_array, sp.csr_matrix) and X.ndim == 2
    return bool(fine and X.dtype in (np.float32, np.float64) and min(X.shape) > 0)


def require_finite(X: Any, estimator: Any = None, in_range: bool = False) -> None:
    """Raise a DataError that names the first entry of `X` that is NaN or infinite.

    With `in_range`, also one that names the largest entry if products would leave the range.
    """
    if type(X) is not np.ndarray and on_cluster(X):  # the workers have looked
        return
    values = frozen(X.data if sp.issparse(X) else X.reshape(-1))
    step = LARGE >> 4
    if len(values) <= SMALL:  # BLAS wakes no thread for so few
        with np.errstate(all="ignore"):
            total = float(values @ values)
    else:
        pages, total = PageRelease(values), 0.0
        for first in range(0, len(values), step):
            total += sum_of_squares(values[first : first + step])
            pages.advance(step)
    most, tiny = _LIMITS[X.dtype.char]
    if tiny * values.size <= total <= most:
        return  # then every entry is finite, and the largest square is not below the smallest float
    bad = not_finite(X, _names(estimator))
    if bad is not None:
        raise bad
    if in_range and values.size:
        _require_range(X, values, estimator)


def _require_range(X: Any, values: Array, estimator: Any) -> None:
    """Refuse data whose largest square is lost below, or whose largest row is lost above."""
    place = int(np.abs(values).argmax())
    largest = abs(float(values[place]))
    limits = np.finfo(X.dtype)
    low, high = np.sqrt(limits.tiny), np.sqrt(limits.max / 1024 / X.shape[1])
    if largest == 0 or low <= largest <= high:
        return
    fate = "vanish" if largest < 1 else "overflow"
    other = " or pass float64" if X.dtype == np.float32 else ""
    at = where(X, place, _names(estimator))
    raise OverflowedError(
        f"X has its largest entry, {values[place]:g}, at {at}; products "
        f"of such numbers {fate} in {X.dtype}. Divide X by {10.0 ** np.floor(np.log10(largest)):g}"
        f"{other}."
    )


def _names(estimator: Any) -> Any:
    return getattr(estimator, "feature_names_in_", None)


def _from_arrow(X: Any) -> Any:
    """Arrow tables keep their names through `to_pandas`; the rest is scikit-learn's."""
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X


def check_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Sample weights as float64, or None where every row counts once."""
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"sample_weight must be numbers, one per row: {problem}.") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {weights.shape}; X has {n_rows} rows, so give {n_rows} "
            "weights (Sample weights must be 1D array or scalar)."
        )
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        i = int(bad.argmax())
        raise DataError(
            f"sample_weight is {weights[i]} at row {i}; weights must be finite and not negative."
        )
    if not weights.any():
        raise DataError("sample_weight is zero for every row; at least one row must count.")
    return weights
