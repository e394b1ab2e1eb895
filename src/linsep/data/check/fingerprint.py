"""What tells one set of training rows from another, at next to no cost.

A digest of all rows would take as long as a quick fit. So it is taken of rows evenly spread over
all of them, thirty kilobytes or so, with the number of rows that are not of the first class;
small data are covered whole. It is a function of the rows alone: an array and a file of the same
rows have the same.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import rows_of
from linsep.data.blocks.store import blocks

Array = npt.NDArray[Any]

NUMBERS = 1 << 12
"""Entries of X up to which all rows count."""
FEWEST = 64
"""Rows that count at least, however wide."""


def sample_of(X: Any) -> Array:
    """The rows that count: all of them, or rows evenly spread.

    >>> sample_of(np.zeros((3, 2)))
    array([0, 1, 2])
    """
    n, d = X.shape
    return spread_rows(n, max(1, int(X.nnz) // max(1, n)) if hasattr(X, "nnz") else d)


def spread_rows(n: int, width: int) -> Array:
    """Numbers of the rows that count among n rows of `width` entries."""
    count = _count(n, width)
    return np.arange(count) * n // count


def _count(n: int, width: int) -> int:
    return min(n, max(FEWEST, NUMBERS // max(1, width)))


def sample_digest(X: Any, y: Array, weights: Array | None) -> dict[str, Any]:
    """`rows`, `columns`, and `sample`, a digest of some rows, their targets and weights.

    See `sampled`.

    >>> sample_digest(np.zeros((2, 1)), np.array([0, 1]), None)
    {'rows': 2, 'columns': 1, 'sample': 'e90ad1f3f8e716cd30483587cadb9022'}
    """
    return sampled(X, y, weights)()


def sampled(X: Any, y: Array, weights: Array | None) -> Callable[[], dict[str, Any]]:
    """`sample_digest` of the data as they are now, worked out when it is asked for.

    Parameters
    ----------
    X : checked rows
    y : class numbers (whole numbers, of which also a count enters) or targets
    weights : weight of each row, or None
    """
    if isinstance(X, np.ndarray) and X.shape[0] <= _count(*X.shape):
        return partial(_whole, X.copy(), y.copy(), None if weights is None else weights.copy())
    rows = sample_of(X)
    some = rows_of(X, rows)
    parts = [some.data, some.indices, some.indptr] if hasattr(some, "indptr") else [some]
    if y.dtype.kind in "iu":
        parts.append(_nonzero(y))
    parts += [np.array(y[rows]), np.empty(0) if weights is None else np.array(weights[rows])]
    return partial(digest_of, parts, X.shape)


def _whole(X: Array, y: Array, weights: Array | None) -> dict[str, Any]:
    """`sample_digest` of few dense rows, all of which are looked at."""
    count = [_nonzero(y)] if y.dtype.kind in "iu" else []
    return digest_of([X, *count, y, np.empty(0) if weights is None else weights], X.shape)


def _nonzero(y: Array) -> Array:
    return np.array([sum(int(np.count_nonzero(y[part])) for part in blocks(y))])


def digest_of(parts: list[Array], shape: tuple[int, ...]) -> dict[str, Any]:
    """The digest of these arrays, with the number of all rows and columns."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        plain = np.ascontiguousarray(part)
        if plain.dtype.kind in "iu":
            plain = plain.astype("<i8")
        digest.update(f"{plain.dtype.newbyteorder('<').str}{plain.shape}".encode())
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        digest.update(plain.data.cast("B") if plain.size else b"")
    n, d = shape
    return {"rows": int(n), "columns": int(d), "sample": digest.hexdigest()}
