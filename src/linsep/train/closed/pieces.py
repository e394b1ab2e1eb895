"""Sums over pieces of blocks that stay near the processor while they are multiplied."""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import groupby
from typing import Any, TypeVar

from linsep.data.blocks.blocks import BLOCK, on_cluster
from linsep.data.blocks.page_release import maps_of
from linsep.parallel import in_order, tree_sum
from linsep.train.problem import Block, Problem

T = TypeVar("T")

CACHED = 1 << 17  # numbers of rows that are multiplied at a time
SHORTEST = 1024  # rows of a piece, however wide: with fewer, products are slow
EVEN = 2048  # rows of a piece that threads share out evenly enough
MANY = 64  # blocks that threads share out evenly enough as they are
ALONE = 1 << 23  # products up to which threads cost more than they spare


def sum_pieces(
    problem: Problem,
    of: Callable[[Block, int, int], T],
    add: Callable[[T, T], T],
    width: int,
    products: float,
    chunked: bool = False,
) -> T:
    """Σ of(block, first, last) over pieces, one after the other in a block, blocks along the tree.

    The same bytes for any number of threads: where there are few blocks, threads share out their
    pieces, otherwise whole blocks.

    Parameters
    ----------
    problem : whose blocks are cut
    of : the part of rows first..last of a block; what it returns may be changed by `add`
    add : adds two parts
    width : numbers that a row has in a piece
    products : multiplications of the whole sum
    chunked : whether `of` by itself keeps what it multiplies near the processor; then pieces only
        serve to share out rows, and are as long as threads can still be kept busy with
    """
    step = max(EVEN if chunked else SHORTEST, CACHED // max(1, width))
    if problem.n_rows <= min(step, BLOCK) and not on_cluster(problem.X):
        part = of(problem.block(0), 0, problem.n_rows)
        problem.settle()
        return part
    jobs = problem.n_jobs if products > ALONE else 1

    def cut(block: Block) -> Iterator[tuple[Block, int, int]]:
        n = len(block.codes)
        return ((block, first, min(n, first + step)) for first in range(0, n, step))

    def whole(block: Block) -> T:
        return reduce(add, (of(*one) for one in cut(block)))

    here = not (on_cluster(problem.X) or maps_of(problem.X))
    if jobs == 1 or not here or problem.n_rows > MANY * BLOCK:
        return problem.sum(whole, add, jobs)
    pieces = [one for block in problem.blocks() for one in cut(block)]
    ready = in_order(lambda one: of(*one), pieces, jobs)
    numbered = zip((block.number for block, _, _ in pieces), ready, strict=True)
    by_block = groupby(numbered, lambda one: one[0])
    total = tree_sum((reduce(add, (part for _, part in some)) for _, some in by_block), add)
    problem.settle()
    return total


def add_both(a: Any, b: Any) -> Any:
    """Add two sums at once, in place: second ones for each level of the tree would be too many."""
    first, second = a
    first += b[0]
    second += b[1]
    return first, second
