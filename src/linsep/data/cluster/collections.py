"""Dask arrays, data frames and delayed blocks as rows on a cluster.

However the user has cut them, rows are put together anew into partitions of whole blocks, counted
from the first row; each partition is checked once by the worker that makes it. Labels are numbered
on the workers, and their numbers kept on the client, in a file where they are many.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._scipy import sp
from linsep.data.blocks.blocks import BLOCK, sum_rows
from linsep.data.blocks.page_release import release
from linsep.data.blocks.store import Growing
from linsep.data.check import labels as label_check
from linsep.data.check.arrays import check_shape, require_finite
from linsep.data.cluster.connect import client_of
from linsep.data.cluster.rounds import Rounds, Span, mapped, settled
from linsep.data.cluster.rows import ClusterRows, SparseClusterRows, joined
from linsep.data.encoding.label_statistics import EncodedLabels
from linsep.errors import DataError

Array = npt.NDArray[Any]

BYTES = 1 << 27
"""Most bytes in a partition, where it has more blocks than the fewest."""
FEWEST = 8
"""Blocks in a partition, at least: solvers look at so many together."""
SPARSE_SHARE = 16
"""Entries for each feature that sums over sparse rows take together, at most."""
SHARE = 2
"""Partitions for each thread of the cluster, at least, so that none waits for a long last one."""
IN_MEMORY = 1 << 26
"""Bytes of labels or weights up to which the client holds them in memory."""


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array, a Dask data frame, or a list of delayed blocks."""
    if isinstance(X, (list, tuple)) and X:
        return all(_is_dask(one) for one in X)
    return _is_dask(X)


def _is_dask(X: Any) -> bool:
    return hasattr(X, "__dask_graph__") or _is_future(X)


def _is_future(one: Any) -> bool:
    return type(one).__module__ == "distributed.client"  # a delayed block has any attribute


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
    chunks = _chunks(client, X)
    keys = [f"check-{finite}-{one.key}" for one in chunks]
    made = client.map(_checked, chunks, range(len(chunks)), [finite] * len(chunks), key=keys)
    shapes: list[Shape] = mapped(client, _shape, made, name="shape")
    _require_alike(shapes)
    first = next((one for one in shapes if one.rows), shapes[0])
    n, d = sum(one.rows for one in shapes), first.columns
    if n == 0 or d == 0:
        raise DataError(f"X has shape ({n}, {d}); rows with features are wanted.")
    spans = _cut(client, shapes, first, n, d)
    partitions = _partitions(client, made, [one.rows for one in shapes], spans)
    del made
    rounds = Rounds(client, partitions, spans, (n, d))
    names = None if first.names is None else list(first.names)
    if first.sparse:
        return SparseClusterRows(rounds, first.dtype, names, sum(one.entries for one in shapes))
    return ClusterRows(rounds, first.dtype, names)


@contextmanager
def opened(X: Any, y: Any, classes: Array | None = None) -> Iterator[tuple[Any, EncodedLabels]]:
    """Rows and labels of Dask collections on the active cluster, or on processes of this machine.

    Labels are numbered by their place in `classes` where these are given.
    """
    with client_of() as client:
        rows = rows_of(client, X)
        labels = labels_of(client, y, len(rows))
        if classes is not None and not np.array_equal(labels.classes, classes):
            _, numbers = label_check.encode(labels.classes, None, classes)
            labels = EncodedLabels(classes, np.asarray(numbers)[labels.codes])
        yield rows, labels


def _chunks(client: Any, X: Any) -> list[Any]:
    """A future for each chunk, in order."""
    if isinstance(X, (list, tuple)):
        return [one if _is_future(one) else client.compute(one) for one in X]
    if hasattr(X, "to_delayed"):
        if getattr(X, "ndim", 1) == 2 and hasattr(X, "numblocks") and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(client.compute(list(np.ravel(X.to_delayed()))))
    return [client.compute(X)]


def _cut(client: Any, shapes: list[Shape], first: Shape, n: int, d: int) -> list[Span]:
    """Where partitions begin and end; sparse ones hold as many rows as their sums ask for."""
    threads, item = sum(client.nthreads().values()), np.dtype(first.dtype).itemsize
    if not first.sparse:
        return cut(n, d * item, threads)
    entries = sum(one.entries for one in shapes)
    together = sum_rows(n, d, entries, SPARSE_SHARE) // BLOCK
    return cut(n, -(-entries * (item + 4) // n), threads, max(2 * FEWEST, together))


def cut(n: int, row: int, threads: int, fewest: int = FEWEST) -> list[Span]:
    """Partitions of 2^k blocks: few for the scheduler, small for memory, enough for all threads."""
    blocks = fewest
    while 2 * blocks * BLOCK * row <= BYTES and n >= SHARE * threads * 2 * blocks * BLOCK:
        blocks *= 2
    size = blocks * BLOCK
    return [Span(start, min(n, start + size)) for start in range(0, n, size)]


def _checked(chunk: Any, number: int, finite: bool = True) -> tuple[Any, tuple[str, ...] | None]:
    """A chunk as kernels read rows, and the names of its columns."""
    try:
        names = None
        if hasattr(chunk, "columns"):
            names = tuple(map(str, chunk.columns))
        if chunk.shape[0] == 0 and not sp.issparse(chunk):
            kinds: Any = getattr(chunk, "dtypes", getattr(chunk, "dtype", np.float64))
            kind = np.result_type(*kinds) if names else np.dtype(kinds)
            kind = kind if kind in (np.float32, np.float64) else np.dtype(np.float64)
            return np.empty(chunk.shape, kind), names
        rows = check_shape(chunk)
        if finite:
            require_finite(rows)
    except (DataError, TypeError, ValueError, IndexError, AttributeError) as problem:
        raise DataError(f"partition {number} of X cannot be used: {problem}") from None
    return rows, names


def _shape(made: tuple[Any, tuple[str, ...] | None]) -> Shape:
    rows, names = made
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


def _partitions(client: Any, chunks: list[Any], lengths: list[int], spans: list[Span]) -> list[Any]:
    """A future for each partition, of parts of chunks."""
    begins = np.concatenate([[0], np.cumsum(lengths)])
    cuts, parts = [], []
    for start, stop in spans:
        first = int(np.searchsorted(begins, start, "right")) - 1
        last = int(np.searchsorted(begins, stop, "left"))
        some = [j for j in range(first, last) if lengths[j]]
        cuts.append([
            (max(0, start - int(begins[j])), min(lengths[j], stop - int(begins[j]))) for j in some
        ])  # fmt: skip
        parts.append([chunks[j] for j in some])
    keys = [f"partition-{k}-{_mark(own)}" for k, own in enumerate(parts)]
    return list(client.map(_joined, cuts, parts, key=keys))


def _mark(futures: list[Any]) -> str:
    return hashlib.blake2b("".join(str(f.key) for f in futures).encode(), digest_size=8).hexdigest()


def _joined(cuts: list[tuple[int, int]], chunks: list[tuple[Any, Any]]) -> Any:
    """The rows of a partition; those of one chunk without a copy."""
    parts = [rows[low:high] for (rows, _), (low, high) in zip(chunks, cuts, strict=True)]
    whole = joined(parts)
    return whole if sp.issparse(whole) else np.ascontiguousarray(whole)


def numbers_of(client: Any, values: Any, n: int, name: str) -> Any:
    """Targets or weights of all rows, on the client: as given, or gathered from Dask."""
    if values is None or not is_collection(values):
        return values
    growing, width = Growing(name, np.float64), None
    chunks = _chunks(client, values)
    futures = [client.submit(_floats, one, k, name) for k, one in enumerate(chunks)]
    for future in futures:
        part = settled(client, future)
        width = part.shape[1] if part.ndim == 2 else None
        growing.add(part)
        _spill(growing)
    found = growing.finish()
    return found if width is None else found.reshape(-1, width)


def _spill(growing: Growing) -> None:
    if growing.held > IN_MEMORY:
        growing.spill(None)


def _floats(chunk: Any, number: int, name: str) -> Array:
    try:
        return np.asarray(chunk, np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"partition {number} of {name} holds no numbers: {problem}") from None


def labels_of(client: Any, y: Any, n: int) -> EncodedLabels:
    """The classes of all labels, and the number of the class of each row."""
    if not is_collection(y):
        return EncodedLabels(*label_check.encode(y, n))
    chunks = _chunks(client, y)
    found = [
        client.submit(_classes, one, k, key=f"classes-{one.key}") for k, one in enumerate(chunks)
    ]
    some = [part for part in (settled(client, one) for one in found) if len(part)]
    if not some:
        raise DataError("y is empty; a separator needs rows of two classes.")
    classes, _ = label_check.encode(together(some))
    growing = Growing("codes", np.int32)
    futures = [client.submit(_codes, one, classes, pure=False) for one in chunks]
    for future in futures:
        growing.add(settled(client, future))
        _spill(growing)
    codes = growing.finish()
    if len(codes) != n:
        raise DataError(
            f"X has {n} rows but y has {len(codes)} labels; give one label per row (inconsistent "
            "numbers of samples)."
        )
    release(codes)
    return EncodedLabels(classes, codes)


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


def _codes(chunk: Any, classes: Array) -> Array:
    if len(chunk) == 0:
        return np.empty(0, np.int32)
    return np.asarray(label_check.encode(chunk, None, classes)[1], np.int32)
