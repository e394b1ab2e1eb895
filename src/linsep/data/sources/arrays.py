"""Rows that are numbers already: NPY and NPZ files, memory-mapped, and IDX."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.encoding.encoding import Encoding
from linsep.data.files.bad_rows import BadRow, BadRows
from linsep.data.files.compression import unpacking, unreadable
from linsep.data.files.idx import images_and_labels
from linsep.data.sources.tables import Source
from linsep.data.table.target import Target
from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]

_PAIRS = (("X", "y"), ("x", "y"), ("data", "target"), ("x_train", "y_train"))
STEP = 1 << 14  # rows handed on together


class ArraySource(Source):
    """Arrays of rows and of labels, opened when they are needed."""

    unit = "row"

    def __init__(
        self, paths: list[Path], format: str, target: Any, n_features: int | None = None
    ) -> None:
        super().__init__(paths)
        self.format, self.target_wanted, self.known_width = format, target, n_features
        self.summary = f"{format.upper()} array"
        self.begin()

    def begin(self) -> None:
        self.width: int | None = None
        self.sparse = False

    def opened(self, path: Path) -> tuple[Any, Array | None]:
        """Rows and labels of one file."""
        y: Array | None
        with unpacking(path):
            if self.format == "idx":
                X, y = images_and_labels(path)
            elif self.format == "npy":
                X, y = _npy(path, self.target_wanted, self.known_width)
            else:
                X, y = _npz(path)
        if y is not None and X.shape[0] != len(y):
            raise DataError(
                f"{path} holds {X.shape[0]} rows and {len(y)} labels; give one label per row."
            )
        return X, y

    def _raw(self, path: Path, bad: BadRows) -> Iterator[tuple[Any, Any]]:
        X, y = self.opened(path)
        for first in range(0, X.shape[0], STEP):
            part = X[first : first + STEP]
            labels = None if y is None else y[first : first + STEP]
            keep = _finite_rows(part, path, first, bad)
            self.numbers = first + np.arange(part.shape[0])
            if keep is not None:
                self.numbers = self.numbers[keep]
                part, labels = part[keep], None if labels is None else labels[keep]
            yield part, labels

    def note(self, piece: Any) -> None:
        if self.width is not None and piece.shape[1] != self.width:
            raise DataError(
                f"one file has {self.width} columns and another {piece.shape[1]}; they must agree."
            )
        self.width, self.sparse = piece.shape[1], sp.issparse(piece)

    def settled(self) -> Encoding:
        width = self.width or 0
        self.summary = f"{self.format.upper()} array, {width} columns."
        return Encoding(n_features=width, base=0 if self.sparse else None)

    def rows(self, piece: Any, encoding: Encoding) -> Any:
        if piece.shape[1] != encoding.n_features:
            raise DataError(
                f"{self.paths[0]} has {piece.shape[1]} columns; the model was fitted on "
                f"{encoding.n_features}."
            )
        return self.provisional(piece)

    def provisional(self, piece: Any) -> Any:
        if piece.dtype in (np.float32, np.float64):
            return piece if sp.issparse(piece) else np.asarray(piece)
        return piece.astype(np.float32 if self.format == "idx" else np.float64)


def _finite_rows(part: Any, path: Path, first: int, bad: BadRows) -> Array | None:
    """Which rows to keep, None for all; rows with NaN or infinity are bad."""
    values = part.data if sp.issparse(part) else part
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return None
    if sp.issparse(part):
        owner = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        wrong = np.flatnonzero(~np.isfinite(values))
        cells = {int(owner[k]): (int(part.indices[k]), values[k]) for k in wrong[::-1]}
    else:
        rows, columns = np.nonzero(~np.isfinite(values))
        pairs = zip(rows.tolist()[::-1], columns.tolist()[::-1], strict=True)
        cells = {i: (j, values[i, j]) for i, j in pairs}
    reason = "is no finite number; fill it in, or drop the row"
    bad.take(path, [BadRow(first + i, j, str(v), reason) for i, (j, v) in sorted(cells.items())],
             "row")  # fmt: skip
    keep = np.ones(part.shape[0], bool)
    keep[list(cells)] = False
    return keep


def _loaded(path: Path, mode: Any = None) -> Any:
    try:
        return np.load(path, mmap_mode=mode, allow_pickle=False)
    except OSError as problem:
        if problem.errno is not None:
            raise unreadable(path, problem) from problem
        raise DataError(f"{path} cannot be read ({problem}); fetch it again.") from None
    except (ValueError, TypeError, EOFError, SyntaxError, OverflowError, MemoryError,
            TokenError) as problem:  # fmt: skip
        if path.suffix in (".gz", ".bz2", ".zst"):
            raise DataError(
                f"{path} is compressed, and arrays are read as they lie on disk; unpack it, or "
                "save it by numpy.savez_compressed."
            ) from None
        raise DataError(
            f"{path} cannot be read as arrays of numbers ({problem}); save it again by numpy.save "
            "or numpy.savez, without objects."
        ) from None


def _npy(path: Path, target: Any, n_features: int | None) -> tuple[Array, Array | None]:
    """Rows and labels: those of a column, unless a model knows all columns as features."""
    values = _loaded(path, "r")
    width = values.shape[1] if values.ndim == 2 else 0
    labelled = target is not None or n_features is None or width == n_features + 1
    if values.ndim != 2 or values.shape[1] < 1 + labelled or values.dtype.kind not in "fiub":
        raise DataError(
            f"{path} holds an array of shape {values.shape} and type {values.dtype}; numbers in "
            "two or more columns are wanted, one of them the target."
        )
    beside = path.with_name(f"{path.stem}_y.npy")
    if target is None and beside.exists():
        return values, _loaded(beside, "r")
    if not labelled:
        return values, None
    return _split(values, target, path)


class _WithoutColumn:
    """An array without one of its columns, cut when rows are taken."""

    def __init__(self, values: Array, place: int) -> None:
        self.values, self.place = values, place
        self.shape = (values.shape[0], values.shape[1] - 1)

    def __getitem__(self, rows: Any) -> Array:
        return np.delete(self.values[rows], self.place, axis=1)


def _split(values: Array, target: Any, path: Path) -> tuple[Any, Array]:
    width = values.shape[1]
    if isinstance(target, Target):
        target = target.column
    try:
        place = width - 1 if target is None else int(target)
    except ValueError:
        raise ParameterError(
            f"target is {target!r}; {path} has no names, give the number of a column."
        ) from None
    if not -width <= place < width:
        raise ParameterError(f"target is {place}; {path} has columns 0 to {width - 1}.")
    return _WithoutColumn(values, place % width), values[:, place % width]


def _npz(path: Path) -> tuple[Any, Array]:
    with _loaded(path) as archive:
        names = set(archive.files)
        if {"data", "indices", "indptr", "format"} <= names:
            stem = path.stem.removesuffix("_counts")
            beside = path.with_name(f"{stem}_y.npy")
            if not beside.exists():
                raise DataError(
                    f"{path} holds a sparse matrix; its labels were wanted in {beside}."
                )
            return narrow(sp.load_npz(path)), _loaded(beside)
        for rows, labels in _PAIRS:
            if {rows, labels} <= names:
                try:
                    X = _stored(path, rows)
                    X, y = archive[rows] if X is None else X, archive[labels]
                except ValueError as problem:
                    raise DataError(f"{path} cannot be read: {problem}") from None
                if X.dtype.kind not in "fiub":
                    raise DataError(f"{path} cannot be read: {rows} holds {X.dtype}, not numbers.")
                return X.reshape(len(X), -1), y
    raise DataError(
        f"{path} holds the arrays {', '.join(sorted(names)) or 'none'}; X and y were wanted."
    )


def _stored(path: Path, name: str) -> Array | None:
    """An array that lies unpacked in an archive, memory-mapped; None where it cannot be."""
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(f"{name}.npy")
        if member.compress_type != zipfile.ZIP_STORED:
            return None
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            if version not in ((1, 0), (2, 0)):
                return None
            read: Any = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
            shape, fortran, dtype = read(stream)
            inside = stream.tell()
    if dtype.hasobject or fortran or 0 in shape:
        return None
    with path.open("rb") as file:
        file.seek(member.header_offset + 26)
        name_length, extra = np.frombuffer(file.read(4), "<u2").tolist()
    offset = member.header_offset + 30 + name_length + extra + inside
    return np.memmap(path, dtype, "r", offset=offset, shape=shape)


def narrow(X: Any) -> sp.csr_array:
    """CSR with 32-bit indices and row pointers where they fit: half the memory."""
    X = sp.csr_array(X)
    if not X.has_canonical_format:
        X.sum_duplicates()
    if max(X.nnz, X.shape[1]) <= np.iinfo(np.int32).max:
        parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        return sp.csr_array(parts, shape=X.shape)
    return X
