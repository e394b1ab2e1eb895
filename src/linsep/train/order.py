"""The order in which rows are presented, a pure function of (seed, pass, block)."""

from typing import Any

import numpy as np
import numpy.typing as npt

Order = npt.NDArray[np.int64]


def seed_of(random_state: Any) -> int:
    """One integer that stands for `random_state`: an int, None (fresh), or a generator (drawn)."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 32))
    return int(random_state.randint(np.iinfo(np.int32).max))


def block_order(n_blocks: int, seed: int, epoch: int, shuffle: bool | str) -> Order:
    """Which block comes when in this pass."""
    return _generator(seed, epoch, 0).permutation(n_blocks) if shuffle else np.arange(n_blocks)


def row_order(n_rows: int, seed: int, epoch: int, block: int, shuffle: bool | str) -> Order:
    """Which row of this block comes when in this pass; with 'draw' each is drawn from all."""
    if shuffle == "draw":
        return _generator(seed, epoch, block + 1).integers(n_rows, size=n_rows)
    return _generator(seed, epoch, block + 1).permutation(n_rows) if shuffle else np.arange(n_rows)


def _generator(seed: int, epoch: int, stream: int) -> np.random.Generator:
    # Philox is counter-based: any (seed, pass, block) can be had without the ones before it.
    key = [seed & 0xFFFFFFFFFFFFFFFF, (epoch << 32 | stream) & 0xFFFFFFFFFFFFFFFF]
    return np.random.Generator(np.random.Philox(key=key))
