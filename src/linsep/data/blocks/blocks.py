"""Fixed blocks of rows: the reason why threads, files and clusters do not change the answer.

Rows are cut into blocks by row number alone. Online rules *iterate* blocks in order; batch solvers
*sum* over blocks: each block's part is computed by one thread, and the parts are added along a
fixed binary tree over block numbers (`linsep.parallel`). Neither the number of threads nor the size
of the pieces a reader happens to deliver can change a bit of the result.
"""

from typing import Any

BLOCK = 4096
"""Rows in a block. Part of the definition of every sum: changing it changes last digits."""


def on_cluster(X: Any) -> bool:
    """Whether rows lie on the workers of a cluster (`linsep.data.cluster.rows`)."""
    return getattr(type(X), "on_cluster", False)


def spans(n_rows: int, block: int = BLOCK) -> list[tuple[int, int]]:
    """The first and last-plus-one row of each block.

    >>> spans(10, block=4)
    [(0, 4), (4, 8), (8, 10)]
    """
    return [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
