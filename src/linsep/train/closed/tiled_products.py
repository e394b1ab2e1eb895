"""ZᵀZ of rows that were just written down, a few hundred at a time, in one compiled call.

BLAS multiplies large matrices; here rows are short, and many. Columns are written in tiles of 64
bytes, each with all rows of a few hundred, so that they are read in a row while their products stay
in registers: covtype's 581,012 x 54 take two thirds of the time of `syrk`.
"""

from typing import Any

import numpy as np

from linsep._compile import inline, outer_sums, write_tile

TOGETHER = 127  # rows that are multiplied at a time; odd, so that tiles share no cache sets
DOUBLES, SINGLES = 8, 16  # columns of a tile


def tiles(width: int, dtype: Any) -> tuple[Any, Any]:
    """Room for rows of so many columns in tiles, and zeros for their products."""
    lanes = SINGLES if dtype == np.float32 else DOUBLES
    count = -(-width // lanes)
    return np.zeros((count, TOGETHER, lanes), dtype), np.zeros((count * lanes,) * 2, dtype)


def filled(values: Any, lanes: int) -> Any:
    """A number for each column of `tiles`, those of no column included."""
    return np.concatenate([values, np.zeros(-len(values) % lanes)])


def symmetric(G: Any, width: int) -> Any:
    """The whole matrix of so many columns, of which `multiply` makes the lower half."""
    lower = np.tril(G[:width, :width])
    return lower + np.tril(lower, -1).T


@inline(shared=True)
def multiply(Z, rows, G):  # type: ignore[no-untyped-def]
    """G += ZᵀZ of the first rows, where the column is not beyond the row's tile."""
    lanes = Z.shape[2]
    for a in range(Z.shape[0] * lanes // 8):
        last = 8 * a // lanes + 1
        for b in range(0, last - 1, 2):
            outer_sums(Z, rows, a, b, 2, G)
        if last % 2 == 1:
            outer_sums(Z, rows, a, last - 1, 1, G)


@inline(shared=True)
def write_row(X, i, shift, scale, root, Z, k):  # type: ignore[no-untyped-def]
    """Write (xᵢ − shift)·scale·root down as row k; what lies beyond its end is anything."""
    n, d, lanes = X.shape[0], X.shape[1], Z.shape[2]
    for m in range(d // lanes):
        write_tile(X, i * d + lanes * m, shift, scale, root, Z, m, k)
    if d % lanes > 0:
        m = d // lanes
        if i * d + lanes * (m + 1) <= n * d:
            write_tile(X, i * d + lanes * m, shift, scale, root, Z, m, k)
        else:  # the end of the memory of X
            for j in range(lanes * m, d):
                Z[m, k, j - lanes * m] = (X[i, j] - shift[j]) * (scale[j] * root)
