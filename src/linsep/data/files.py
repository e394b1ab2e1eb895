"""Data files, read whole: the first bytes say which format, whatever the name."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.idx import load_idx, open_plain
from linsep.data.tables import read_csv, read_parquet, to_matrix
from linsep.errors import DataError, ParameterError

FORMATS = ("csv", "svmlight", "npy", "npz", "idx", "parquet")

_PAIRS = (("X", "y"), ("x", "y"), ("data", "target"), ("x_train", "y_train"))


def load(
    path: str | os.PathLike[str], target: str | int | None = None, format: str | None = None
) -> tuple[npt.NDArray[Any] | sp.csr_array, npt.NDArray[Any]]:
    """Read a data file into memory as rows `X` and labels `y`.

    Gzip and bzip2 are unpacked on the way. The format is known from the first bytes:

    =========  ==================================================================================
    csv        comma, semicolon, tab or bar; with or without a header; columns of texts become
               zeros and ones; a missing value is an error that names its line and column
    svmlight   `label index:value …`; comes back sparse
    npy        one array of numbers; `target` is a column of it
    npz        arrays `X` and `y`; or a matrix of `scipy.sparse.save_npz`, `NAME_counts.npz` or
               `NAME.npz`, with its labels in `NAME_y.npy`
    idx        images (MNIST), labels beside them; also the folder of both
    parquet    numbers and texts; needs pyarrow
    =========  ==================================================================================

    Parameters
    ----------
    path : path
        The file, or a folder of IDX files.
    target : str or int, optional
        Name or index of the column of labels, for csv, npy and parquet. Default: the last.
    format : str, optional
        One of the names above, where the first bytes should not decide.

    Returns
    -------
    X, y
        Rows (a dense array or, for svmlight and sparse npz, `scipy.sparse.csr_array`) and labels.

    Raises
    ------
    DataError
        Naming the file, the place, what was found there and what was wanted.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.csv"
    ...     _ = path.write_text("height,sex,ok\\n1.5,f,yes\\n2,m,no\\n")
    ...     X, y = load(path)
    >>> X.tolist(), y.tolist()
    ([[1.5, 1.0, 0.0], [2.0, 0.0, 1.0]], ['yes', 'no'])
    """
    if format is not None and format not in FORMATS:
        raise ParameterError(f"format is {format!r}; choose one of {', '.join(FORMATS)}.")
    path = Path(path)
    if path.is_dir():
        return load_idx(path)
    kind = format or _recognise(path)
    if target is not None and kind in ("svmlight", "npz", "idx"):
        raise ParameterError(
            f"target is {target!r}, but {path} is {kind}, whose labels have a fixed place; "
            "leave target out."
        )
    X: Any
    y: npt.NDArray[Any]
    match kind:
        case "csv":
            X, y = to_matrix(read_csv(path, target), target)
        case "parquet":
            X, y = to_matrix(read_parquet(path), target)
        case "svmlight":
            X, y = _svmlight(path)
        case "idx":
            X, y = load_idx(path)
        case "npy":
            X, y = _npy(path, target)
        case _:
            X, y = _npz(path)
    if X.shape[0] != len(y):
        raise DataError(
            f"{path} holds {X.shape[0]} rows and {len(y)} labels; give one label per row."
        )
    return X, y


def _recognise(path: Path) -> str:
    """The format a file's first bytes announce; text is svmlight if it has index:value pairs."""
    with open_plain(path) as stream:
        try:
            start = stream.read(1 << 16)
        except (EOFError, OSError) as problem:
            raise DataError(f"{path} cannot be unpacked ({problem}); fetch it again.") from None
    if not start:
        raise DataError(f"{path} is empty; rows are wanted.")
    for magic, kind in ((b"\x93NUMPY", "npy"), (b"PK", "npz"), (b"PAR1", "parquet")):
        if start.startswith(magic):
            return kind
    if start[:2] == b"\0\0":
        return "idx"
    for line in start.split(b"\n")[:20]:
        words = line.partition(b"#")[0].split()
        if words and all(w.partition(b":")[0].isdigit() and b":" in w for w in words[1:]):
            if len(words) > 1:
                return "svmlight"
        elif words:
            break
    return "csv"


def _svmlight(path: Path) -> tuple[sp.csr_array, npt.NDArray[Any]]:
    from sklearn.datasets import load_svmlight_file

    try:
        with open_plain(path) as stream:
            X, y = load_svmlight_file(stream)
    except (ValueError, OverflowError, EOFError, OSError, TypeError) as problem:
        raise DataError(
            f"{path} cannot be read as svmlight ({problem}); lines are `label index:value …` with "
            "indices that increase."
        ) from None
    if X.nnz == 0:
        raise DataError(f"{path} holds no index:value pair; is it another format?")
    return _narrow(X), y.astype(np.int64) if np.all(y == np.floor(y)) else y


def _narrow(X: Any) -> sp.csr_array:
    """CSR with 32-bit indices and row pointers where they fit: half the memory."""
    X = sp.csr_array(X)
    if max(X.nnz, X.shape[1]) <= np.iinfo(np.int32).max:
        parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        return sp.csr_array(parts, shape=X.shape)
    return X


def _arrays(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as problem:
        raise DataError(
            f"{path} cannot be read as arrays of numbers ({problem}); save it again by numpy.save "
            "or numpy.savez, without objects."
        ) from None


def _npy(path: Path, target: str | int | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    values = _arrays(path)
    if values.ndim != 2 or values.shape[1] < 2 or values.dtype.kind not in "fiub":
        raise DataError(
            f"{path} holds an array of shape {values.shape} and type {values.dtype}; numbers in "
            "two or more columns are wanted, one of them the target."
        )
    place = values.shape[1] - 1 if target is None else int(target)
    if not -values.shape[1] <= place < values.shape[1]:
        raise ParameterError(f"target is {place}; {path} has columns 0 to {values.shape[1] - 1}.")
    place %= values.shape[1]
    y = values[:, place]
    whole = y.dtype.kind == "f" and np.all(y == np.floor(y))
    return np.delete(values, place, axis=1), y.astype(np.int64) if whole else y


def _npz(path: Path) -> tuple[Any, npt.NDArray[Any]]:
    with _arrays(path) as archive:
        names = set(archive.files)
        if {"data", "indices", "indptr", "format"} <= names:
            stem = path.stem.removesuffix("_counts")
            beside = path.with_name(f"{stem}_y.npy")
            if not beside.exists():
                raise DataError(
                    f"{path} holds a sparse matrix; its labels were wanted in {beside}."
                )
            return _narrow(sp.load_npz(path)), _arrays(beside)
        for rows, labels in _PAIRS:
            if {rows, labels} <= names:
                try:
                    X, y = archive[rows], archive[labels]
                except ValueError as problem:
                    raise DataError(f"{path} cannot be read: {problem}") from None
                return X.reshape(len(X), -1), y
    raise DataError(
        f"{path} holds the arrays {', '.join(sorted(names)) or 'none'}; X and y were wanted."
    )
