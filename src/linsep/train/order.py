"""The order in which rows are presented, a pure function of (seed, pass, block)."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.errors import ParameterError
from linsep.kernels import shuffle as kernels

Order = npt.NDArray[np.int64]

WHOLE = 0xFFFFFFFFFFFFFFFF


def seed_of(random_state: Any) -> int:
    """One integer that stands for `random_state`: an int, None (fresh), or a generator (drawn)."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    raise ParameterError(
        f"random_state is {random_state!r:.60}; give a whole number, None, or numpy's generator."
    )


def block_order(n_blocks: int, seed: int, epoch: int, shuffle: bool | str) -> Order:
    """Which block comes when in this pass."""
    return _permutation(n_blocks, seed, epoch, 0) if shuffle else np.arange(n_blocks)


@lru_cache(256)  # machines of one against the rest meet the same rows in the same order
def row_order(n_rows: int, seed: int, epoch: int, block: int, shuffle: bool | str) -> Order:
    """Which row of this block comes when in this pass; with 'draw' each is drawn from all."""
    if shuffle == "draw":
        bits = np.random.Philox(key=_key(seed, epoch, block + 1))
        return _frozen(np.random.Generator(bits).integers(n_rows, size=n_rows))
    return _frozen(_permutation(n_rows, seed, epoch, block + 1) if shuffle else np.arange(n_rows))


@lru_cache(1)
def whole_order(n_rows: int, seed: int, epoch: int, shuffle: bool) -> Order:
    """The rows of all blocks in the order of a pass: `row_order` along `block_order`."""
    if not shuffle:
        return _frozen(np.arange(n_rows))
    order = np.empty(n_rows, np.int64)
    blocks = block_order(-(-n_rows // BLOCK), seed, epoch, True)
    kernels.rows_of_blocks(order, blocks, BLOCK, seed & WHOLE, epoch & WHOLE)
    return _frozen(order)


def _frozen(order: Order) -> Order:
    order.flags.writeable = False
    return order


def _permutation(n: int, seed: int, epoch: int, stream: int) -> Order:
    order = np.empty(n, np.int64)
    kernels.shuffled(order, *_key(seed, epoch, stream))
    return order


def _key(seed: int, epoch: int, stream: int) -> list[int]:
    # Philox is counter-based: any (seed, pass, block) can be had without the ones before it.
    return [seed & WHOLE, (epoch << 32 | stream) & WHOLE]
