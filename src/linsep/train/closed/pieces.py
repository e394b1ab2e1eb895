"""Sums over pieces of blocks that stay near the processor while they are multiplied."""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import groupby
from typing import TypeVar

from linsep.data.blocks.blocks import BLOCK, on_cluster
from linsep.data.blocks.page_release import maps_of
from linsep.parallel import in_order, share_out, threads, tree_sum
from linsep.train.problem import Block, Problem

T = TypeVar("T")

CACHED = 1 << 17  # numbers of rows that are multiplied at a time
SHORTEST = 1024  # rows of a piece, however wide: with fewer, products are slow
EVEN = 2048  # rows of a piece that threads share out evenly enough
HELD = 1 << 22  # numbers of all pieces' products that may wait until all are made
MANY = 64  # blocks that threads share out evenly enough as they are
SUBTREES = 32  # parts of many blocks that threads are handed, at least
LONG = 1 << 26  # products from which on one more thread costs nothing to speak of
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
    step = max(SHORTEST, CACHED // max(1, width))
    if chunked:
        step = BLOCK if problem.n_rows > MANY * BLOCK else max(EVEN, step)
    if problem.n_rows <= min(step, BLOCK) and not on_cluster(problem.X):
        part = of(problem.block(0), 0, problem.n_rows)
        problem.settle()
        return part
    jobs = problem.n_jobs if products > ALONE else 1
    long = chunked and products >= LONG

    def cut(block: Block) -> Iterator[tuple[Block, int, int]]:
        n = len(block.codes)
        return ((block, first, min(n, first + step)) for first in range(0, n, step))

    def whole(block: Block) -> T:
        return reduce(add, (of(*one) for one in cut(block)))

    here = not (on_cluster(problem.X) or maps_of(problem.X))
    held = chunked and SUBTREES * width**2 <= HELD
    if jobs > 1 and here and problem.n_rows > MANY * BLOCK and held:
        total = _by_subtrees(problem, whole, add, _hands(jobs) if long else jobs)
        problem.settle()
        return total
    if jobs == 1 or not here or problem.n_rows > MANY * BLOCK:
        return problem.sum(whole, add, jobs)
    pieces = [one for block in problem.blocks() for one in cut(block)]
    few = problem.n_rows / step * width**2 <= HELD
    hands = _hands(jobs) if long and len(pieces) >= 8 * jobs else jobs
    parts = share_out(lambda one: of(*one), pieces, hands) if few else None
    ready = iter(parts) if parts else in_order(lambda one: of(*one), pieces, jobs)
    numbered = zip((block.number for block, _, _ in pieces), ready, strict=True)
    by_block = groupby(numbered, lambda one: one[0])
    total = tree_sum((reduce(add, (part for _, part in some)) for _, some in by_block), add)
    problem.settle()
    return total


def _hands(jobs: int) -> int:
    """Threads for long work in many pieces: one more than cores, where all cores are asked for.

    A thread of another library may be waiting for work in a loop, as those of BLAS do for a tenth
    of a second after each product, and take one of two cores from us; from three threads it takes
    less: covtype right after a product by BLAS 72 -> 57 ms, otherwise 40 ms either way.
    """
    return jobs + 1 if jobs == threads(None) > 1 else jobs


def _by_subtrees(
    problem: Problem, of: Callable[[Block], T], add: Callable[[T, T], T], jobs: int
) -> T:
    """The sum over blocks along the tree, of which threads take a branch at a time."""
    count = -(-problem.n_rows // BLOCK)
    together = 1
    while 2 * together * SUBTREES <= count:
        together *= 2

    def branch(first: int) -> T:
        numbers = range(first, min(count, first + together))
        return tree_sum((of(problem.block(k)) for k in numbers), add)

    return tree_sum(share_out(branch, range(0, count, together), jobs), add)
