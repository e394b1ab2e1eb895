"""A few of many rows, with every class among them."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def sample_by_class(codes: Array, most: int) -> Array:
    """Places of `most` rows, in order: of every class at least one, and else its share, evenly.

    Every so many-th row would do for rows in no order, but of rows whose labels alternate it leaves
    out whole classes.

    >>> sample_by_class(np.array([0, 1, 0, 1, 0, 1, 0, 2]), 4).tolist()
    [0, 1, 3, 7]
    """
    n = len(codes)
    if n <= most:
        return np.arange(n)
    order = np.argsort(codes, kind="stable")
    sizes = np.unique(codes, return_counts=True)[1]
    first = np.cumsum(sizes) - sizes
    if most <= len(sizes):
        return np.sort(order[first[:most]])
    beyond = np.cumsum(sizes - 1) * (most - len(sizes)) // (n - len(sizes))
    counts = 1 + np.diff(beyond, prepend=0)
    chosen = [
        order[start + np.arange(count) * size // count]
        for start, size, count in zip(first, sizes, counts, strict=True)
    ]
    return np.sort(np.concatenate(chosen))
