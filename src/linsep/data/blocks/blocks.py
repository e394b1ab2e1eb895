"""Fixed blocks of rows: the reason why threads, files and clusters do not change the answer.

Rows are cut into blocks by row number alone. Online rules *iterate* blocks in order; batch solvers
*sum* over blocks: each block's part is computed by one thread, and the parts are added along a
fixed binary tree over block numbers (`linsep.parallel`). Neither the number of threads nor the size
of the pieces a reader happens to deliver can change a bit of the result.
"""

from itertools import pairwise
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


FEW = 8 * BLOCK
"""Rows up to which any spans will do: on a cluster they lie in one partition."""
ALONE = 1 << 15
"""Entries up to which all rows are one span: handing parts over costs more."""
ENOUGH = 1 << 18
"""Entries of a span, at least, where rows are many."""


def sum_rows(n: int, d: int, entries: int, share: int = 4) -> int:
    """Rows in a span for sums of d numbers: whole blocks, 2^k of them.

    A span has enough entries, `share` or more for each number of its sum, while four are left.
    """
    rows, enough = BLOCK, max(share * d, ENOUGH)
    while rows * (entries / max(1, n)) < enough and 8 * rows <= n:
        rows *= 2
    return rows


def sum_spans(n: int, d: int, entries: int, share: int = 4) -> list[tuple[int, int]]:
    """Spans of rows whose sums of d numbers are added up, by the shape of X alone.

    Where rows are few there are four, or one where each of four would have fewer than `share`
    entries for each number of its sum.

    >>> sum_spans(8, 2, 16), len(sum_spans(8, 9000, 72_000)), len(sum_spans(8, 900, 72_000))
    ([(0, 8)], 1, 4)
    """
    if n > FEW:
        return spans(n, sum_rows(n, d, entries, share))
    count = 1 if entries <= max(ALONE, min(4 * share * d, 4 * ENOUGH // share)) else 4
    cuts = [k * n // count for k in range(count + 1)]
    return [span for span in pairwise(cuts) if span[0] < span[1]]
