"""Pieces of rows of any length, cut into blocks by row number alone."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.buffer_pool import lent
from linsep.data.check.plain import is_sparse

Array = npt.NDArray[Any]


def in_blocks(pieces: Iterable[tuple[Any, Any]], size: int) -> Iterator[tuple[Any, Any]]:
    """(X, y) with `size` rows each, the last with what is left; y may be None in all of them.

    A block that lies within one piece is not copied.

    >>> pieces = [(np.full((n, 1), n), None) for n in (3, 1, 2)]
    >>> [X.ravel().tolist() for X, _ in in_blocks(pieces, 2)]
    [[3, 3], [3, 1], [2, 2]]
    """
    waiting: list[tuple[Any, Any]] = []
    held = 0
    for X, y in pieces:
        first, n = 0, X.shape[0]
        if held and held + n >= size:  # complete the block begun before
            first = size - held
            waiting.append(_cut(X, y, 0, first))
            yield _joined(waiting)
            waiting, held = [], 0
        while not held and first + size <= n:
            yield _cut(X, y, first, first + size)
            first += size
        if first < n:
            waiting.append(_cut(X, y, first, n))
            held += n - first
    if held:
        yield _joined(waiting)


def _cut(X: Any, y: Any, first: int, last: int) -> tuple[Any, Any]:
    if first == 0 and last == X.shape[0]:
        return X, y
    rest = None if y is None else y[first:last]
    if not is_sparse(X):
        return X[first:last], rest
    pointers = X.indptr[first : last + 1]
    part = slice(pointers[0], pointers[-1])
    return _sparse(X.data[part], X.indices[part], pointers - pointers[0], X), rest


def _joined(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    if len(parts) == 1:
        return parts[0]
    y = None if parts[0][1] is None else np.concatenate([y for _, y in parts])
    rows = [X for X, _ in parts]
    if not is_sparse(rows[0]):
        return _end_to_end(rows), y
    ends = np.cumsum([0, *(X.nnz for X in rows)])
    kind = rows[0].indptr.dtype if ends[-1] <= np.iinfo(np.int32).max else np.int64
    pointers = [X.indptr[1:] + end for X, end in zip(rows, ends.tolist(), strict=False)]
    values = _end_to_end([X.data.reshape(-1, 1) for X in rows]).reshape(-1)
    places = _end_to_end([X.indices.reshape(-1, 1) for X in rows]).reshape(-1)
    begin = np.zeros(1, kind)
    return _sparse(values, places, np.concatenate([begin, *pointers], dtype=kind), rows[0]), y


def _end_to_end(parts: list[Array]) -> Array:
    whole = lent(sum(map(len, parts)), parts[0].shape[1], parts[0].dtype)
    return np.concatenate(parts, out=whole)


def _sparse(values: Array, places: Array, pointers: Array, like: Any) -> Any:
    """Rows of these entries, with as many columns as `like`; in order where its entries are."""
    matrix = type(like)((len(pointers) - 1, like.shape[1]), dtype=values.dtype)
    # Made of three arrays, it would copy those that are small parts of larger ones.
    matrix.data, matrix.indices, matrix.indptr = values, places, pointers
    matrix.has_canonical_format = like.has_canonical_format
    return matrix
