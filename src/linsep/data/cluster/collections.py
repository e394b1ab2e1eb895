"""Dask arrays, data frames and delayed blocks as rows on a cluster.

However the user has cut them, rows are put together anew into partitions of whole blocks, counted
from the first row; each partition is checked once by the worker that makes it. Labels are numbered
on the workers, and their numbers kept on the client, in a file where they are many.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK, sum_rows
from linsep.data.blocks.page_release import release
from linsep.data.blocks.store import Growing
from linsep.data.check import labels as label_check
from linsep.data.check.arrays import check_shape, require_finite
from linsep.data.cluster import layout
from linsep.data.cluster.connect import client_of
from linsep.data.cluster.recognise import is_dask, is_future
from linsep.data.cluster.rounds import Rounds
from linsep.data.cluster.row_numbers import narrow
from linsep.data.cluster.rows import ClusterRows, SparseClusterRows
from linsep.data.cluster.waiting import fetched, mapped
from linsep.data.encoding.label_statistics import EncodedLabels
from linsep.data.sources.frames import needs_encoding
from linsep.errors import DataError

Array = npt.NDArray[Any]

SPARSE_SHARE = 16
"""Entries for each feature that sums over sparse rows take together, at most."""
NARROW = 1024
"""Features of sparse rows up to which solvers look at twice as many blocks together."""
IN_MEMORY = 1 << 26
"""Bytes of labels or weights up to which the client holds them in memory."""


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array, a Dask data frame, or a list of delayed blocks."""
    if isinstance(X, (list, tuple)) and X:
        return all(map(is_dask, X))
    return is_dask(X)


class TextsError(DataError):
    """A partition has columns that have to be encoded before they are numbers."""


class Shape(NamedTuple):
    """What a chunk of the user's turned out to be."""

    rows: int
    columns: int
    dtype: str
    names: tuple[str, ...] | None
    sparse: bool
    entries: int


def rows_of(client: Any, X: Any, finite: bool = True) -> ClusterRows:
    """X as rows on the cluster of `client`; entries must be finite unless told otherwise."""
    groups = layout.grouped(client, chunks_of(client, X))
    made = groups.each(client, _checked, f"check-{finite}", finite)
    shapes: list[Shape] = made.in_order(mapped(client, _shapes, made.futures, name="shape"))
    _require_alike(shapes)
    first = next((one for one in shapes if one.rows), shapes[0])
    n, d = sum(one.rows for one in shapes), first.columns
    if n == 0 or d == 0:
        raise DataError(f"X has shape ({n}, {d}); rows with features are wanted.")
    lengths, entries = [one.rows for one in shapes], 0
    item, unit = np.dtype(first.dtype).itemsize, layout.FEWEST
    width = d * item
    if first.sparse:  # partitions hold as many rows as sums ask for
        entries = sum(one.entries for one in shapes)
        unit = max(unit * (2 if d <= NARROW else 1), sum_rows(n, d, entries, SPARSE_SHARE) // BLOCK)
        width = -(-entries * (item + 4) // n)
    spans = layout.cut(made.chunks, lengths, width, layout.room(client), unit)
    partitions = layout.partitions(client, made, lengths, spans, "partition")
    del made
    rounds = Rounds(client, partitions, spans, (n, d))
    names = None if first.names is None else list(first.names)
    if first.sparse:
        return SparseClusterRows(rounds, first.dtype, names, entries)
    return ClusterRows(rounds, first.dtype, names)


@contextmanager
def opened(X: Any, y: Any, classes: Array | None = None) -> Iterator[tuple[Any, EncodedLabels]]:
    """Rows and labels of Dask collections on the active cluster, or on processes of this machine.

    Labels are numbered by their place in `classes` where these are given.
    """
    with client_of() as client:
        rows = rows_of(client, X)
        labels = labels_of(rows, y)
        if classes is not None and not np.array_equal(labels.classes, classes):
            _, numbers = label_check.encode(labels.classes, None, classes)
            labels = EncodedLabels(classes, np.asarray(numbers)[labels.codes])
        yield rows, labels


def chunks_of(client: Any, X: Any) -> list[Any]:
    """A future for each chunk, in order."""
    if isinstance(X, (list, tuple)):
        later = iter(client.compute([one for one in X if not is_future(one)]))
        return [one if is_future(one) else next(later) for one in X]
    if hasattr(X, "to_delayed"):
        if getattr(X, "ndim", 1) == 2 and hasattr(X, "numblocks") and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(client.compute(list(np.ravel(X.to_delayed()))))
    return [client.compute(X)]


@dataclass(frozen=True)
class Checked:
    """A chunk as kernels read rows, and the names of its columns."""

    rows: Any
    names: tuple[str, ...] | None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, rows: Any) -> Any:
        return self.rows if isinstance(rows, slice) and rows == slice(None) else self.rows[rows]

    def __sizeof__(self) -> int:
        """Bytes, by which Dask decides where tasks run."""
        sparse = sp.issparse(self.rows)
        return int(self.rows.nnz) * (self.rows.dtype.itemsize + 4) if sparse else self.rows.nbytes


def _checked(chunk: Any, number: int, finite: bool = True) -> Checked:
    """A chunk that can be trained on."""
    try:
        names = None
        if hasattr(chunk, "columns"):
            names = tuple(map(str, chunk.columns))
        if chunk.shape[0] == 0 and not sp.issparse(chunk):
            return Checked(np.empty(chunk.shape, _kind_of_none(chunk)), names)
        if names and needs_encoding(chunk):
            raise TextsError(f"partition {number} of X holds texts; give a file or numbers.")
        rows = check_shape(chunk)
        if finite:
            require_finite(rows)
    except TextsError:
        raise
    except (DataError, TypeError, ValueError, IndexError, AttributeError) as problem:
        raise DataError(f"partition {number} of X cannot be used: {problem}") from None
    return Checked(rows, names)


def _kind_of_none(chunk: Any) -> Any:
    """The type of the numbers that an empty chunk would hold."""
    kinds: Any = getattr(chunk, "dtypes", getattr(chunk, "dtype", np.float64))
    try:
        kind = np.result_type(*kinds) if hasattr(chunk, "columns") else np.dtype(kinds)
    except TypeError:  # categories
        return np.float64
    return kind if kind in (np.float32, np.float64) else np.float64


def _shapes(group: list[Checked]) -> list[Shape]:
    return [_shape(one.rows, one.names) for one in group]


def _shape(rows: Any, names: tuple[str, ...] | None) -> Shape:
    sparse = bool(sp.issparse(rows))
    entries = int(rows.nnz) if sparse else int(rows.size)
    return Shape(rows.shape[0], rows.shape[1], rows.dtype.str, names, sparse, entries)


def _require_alike(shapes: list[Shape]) -> None:
    """Refuse partitions that differ in what all rows share."""
    first = next((one for one in shapes if one.rows), shapes[0])
    for k, one in enumerate(shapes):
        if one.rows and one.columns != first.columns:
            raise DataError(
                f"partition {k} of X has {one.columns} features and others have {first.columns}; "
                "all must have the same."
            )
        if one.rows and one.names != first.names:
            odd = sorted(set(one.names or ()) ^ set(first.names or ()))
            which = f"the column {odd[0]!r}" if odd else "the order of its columns"
            raise DataError(f"partition {k} of X differs from others in {which}.")
        if one.rows and one.dtype != first.dtype:
            raise DataError(
                f"partition {k} of X holds {np.dtype(one.dtype)} and others hold "
                f"{np.dtype(first.dtype)}; bring all to one type."
            )


def numbers_of(client: Any, values: Any, n: int, name: str) -> Any:
    """Targets or weights of all rows, on the client: as given, or gathered from Dask."""
    if values is None or not is_collection(values):
        return values
    growing, width = Growing(name, np.float64), None
    groups = layout.grouped(client, chunks_of(client, values))
    there = groups.each(client, _floats, name, name)
    for part in there.one_by_one(client):
        width = part.shape[1] if part.ndim == 2 else None
        growing.add(part)
        _spill(growing)
    numbers = growing.finish()
    return numbers if width is None else numbers.reshape(-1, width)


def _spill(growing: Growing) -> None:
    if growing.held > IN_MEMORY:
        growing.spill(None)


def _floats(chunk: Any, number: int, name: str) -> Array:
    try:
        return np.asarray(chunk, np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"partition {number} of {name} holds no numbers: {problem}") from None


def labels_of(rows: ClusterRows, y: Any) -> EncodedLabels:
    """The classes of all labels, and the number of the class of each row."""
    client, n = rows.rounds.client, len(rows)
    if not is_collection(y):
        labels = EncodedLabels(*label_check.encode(y, n))
        rows.rounds.numbers.know(labels.codes)
        return labels
    groups = layout.grouped(client, chunks_of(client, y))
    present = groups.each(client, _classes, "classes")
    every = present.in_order(fetched(client, present.futures, "classes"))
    some = [part for part in every if len(part)]
    if not some:
        raise DataError("y is empty; a separator needs rows of two classes.")
    classes, _ = label_check.encode(together(some))
    there = groups.each(client, _codes, "codes", classes)
    lengths, codes = gathered_codes(client, there)
    if len(codes) != n:
        raise DataError(
            f"X has {n} rows but y has {len(codes)} labels; give one label per row (inconsistent "
            "numbers of samples)."
        )
    spans = rows.rounds.spans
    rows.rounds.numbers.know(codes, layout.partitions(client, there, lengths, spans, "classes-of"))
    return EncodedLabels(classes, codes)


def gathered_codes(client: Any, there: layout.Groups) -> tuple[list[int], Array]:
    """How many class numbers each chunk has, and all of them on the client."""
    growing, lengths = Growing("codes", np.int32), []
    for part in there.one_by_one(client):
        lengths.append(len(part))
        growing.add(part)
        _spill(growing)
    codes = growing.finish()
    release(codes)
    return lengths, codes


def together(parts: list[Array]) -> Any:
    """Labels of several partitions, of the type that all of them in one array would have."""
    if len({part.dtype.kind for part in parts}) == 1:
        return np.concatenate(parts)
    return [label for part in parts for label in part.tolist()]


def _classes(chunk: Any, number: int) -> Array:
    """The labels that occur in a chunk."""
    if len(chunk) == 0:
        return np.empty(0)
    try:
        return label_check.present(chunk)
    except DataError as problem:
        raise DataError(f"partition {number} of y: {problem}") from None


def _codes(chunk: Any, number: int, classes: Array) -> Array:
    if len(chunk) == 0:
        return np.empty(0, np.uint8)
    return narrow(np.asarray(label_check.encode(chunk, None, classes)[1], np.int32), len(classes))
