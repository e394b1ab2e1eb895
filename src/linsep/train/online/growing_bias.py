"""The constant feature of rows that come in parts: as long as the longest row so far."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from linsep.rows.radius import squares
from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.order import Order
from linsep.train.problem import Block


def growing_bias(
    planes: Hyperplanes, blocks: Iterator[tuple[Block, Order]]
) -> Iterator[tuple[Block, Order]]:
    """Blocks in the order given, cut before each row that is longer than all before it.

    The bias moves by the square of the longest row so far, this one included.
    """
    for block, order in blocks:
        here = squares(block.rows, len(order))
        lengths = np.maximum.accumulate(np.append(planes.bias, here))
        cuts = [0, *(np.flatnonzero(np.diff(lengths[1:])) + 1), len(order)]
        for start, stop in pairwise(cuts):
            planes.bias = float(lengths[start + 1])
            yield block, order[start:stop]
