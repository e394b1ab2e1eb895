"""A problem whose rows pass by once: what `Problem` is to rows that can be had again."""

from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.check.arrays import frozen, sum_of_squares
from linsep.data.check.fingerprint import digest_of, spread_rows
from linsep.data.sources.one_pass import Flow, Unlike
from linsep.parallel import threads
from linsep.rows.rows import CSR
from linsep.train.order import Order, block_order, row_order
from linsep.train.problem import NO_WEIGHTS, Block

Array = npt.NDArray[Any]


class Passing:
    """Rows, parsed while they are learnt from. What only rows at rest could tell is `Unlike`."""

    X = None
    binary = True
    n_classes = 2
    weights = NO_WEIGHTS
    radius = 0.0  # known of no row before it has come; asked for where there are several passes

    def __init__(self, flow: Flow, n_jobs: int | None) -> None:
        self.flow = flow
        self.rows = CSR(np.empty(0), np.empty(0, np.uint32), np.zeros(1, np.int64))
        self.n_rows, self.n_features = flow.n_rows, flow.n_features
        self.n_jobs = threads(n_jobs)
        self.total = float(flow.n_rows)
        self.entries = flow.found.size // 8  # or so
        self.halt = Event()

    def in_order(self, seed: int, epoch: int, shuffle: bool) -> Iterator[tuple[Block, Order]]:
        """All blocks, each with the order of its rows, as pass number `epoch` meets them."""
        blocks = block_order(-(-self.n_rows // BLOCK), seed, epoch, shuffle)
        for seen in self.flow.blocks(blocks):
            rows = CSR(frozen(seen.values), frozen(seen.places), frozen(seen.pointers))
            block = Block(seen.number, seen.number * BLOCK, rows, seen.codes, NO_WEIGHTS)
            yield block, row_order(len(seen.codes), seed, epoch, seen.number, shuffle)
        self.flow.require_as_told()

    def require_in_range(self, W: Array, b: Array) -> None:
        """Leave it to rows at rest to tell where scores could leave the range of floats."""
        length = np.sqrt(max(sum_of_squares(W.reshape(-1)), sum_of_squares(b)))
        if not length < np.sqrt(float(np.finfo(W.dtype).max)):
            raise Unlike("weights are near the end of the range of floats")

    def digest(self) -> dict[str, Any]:
        """What tells these rows and classes from others, after the pass: see `sample_digest`."""
        flow = self.flow
        rows = spread_rows(self.n_rows, max(1, flow.n_entries // self.n_rows))
        part = flow.rows(rows)
        pointers = np.append(0, np.cumsum(part.counts))
        others = np.array([self.n_rows - int(flow.counts[0])])
        codes = flow.codes(part.labels)
        parts = [part.values, part.places, pointers, others, codes, np.empty(0)]
        return digest_of(parts, (self.n_rows, self.n_features))
