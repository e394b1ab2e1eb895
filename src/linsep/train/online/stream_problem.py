"""A problem whose rows pass by once: what `Problem` is to rows that can be had again."""

from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.check.arrays import frozen
from linsep.data.check.fingerprint import digest_of, spread_rows
from linsep.data.sources.one_pass import OnePassStream, ScanMismatch
from linsep.kernels.tables import sum_of_squares
from linsep.parallel import threads
from linsep.rows.rows import CSR
from linsep.train.order import Order, block_order, row_order
from linsep.train.problem import NO_WEIGHTS, Block

Array = npt.NDArray[Any]


class StreamProblem:
    """Rows, parsed while they are learnt from. What needs rows at rest raises `ScanMismatch`."""

    X = None
    on_cluster = False
    binary = True
    n_classes = 2
    weights = NO_WEIGHTS
    radius = 0.0  # known of no row before it has come; asked for where there are several passes

    def __init__(self, stream: OnePassStream, n_jobs: int | None) -> None:
        self.stream = stream
        self.rows = CSR(np.empty(0), np.empty(0, np.uint32), np.zeros(1, np.int64))
        self.n_rows, self.n_features = stream.n_rows, stream.n_features
        self.n_jobs = threads(n_jobs)
        self.total = float(stream.n_rows)
        self.entries = stream.scan.size // 8  # or so
        self.halt = Event()

    def in_order(self, seed: int, epoch: int, shuffle: bool) -> Iterator[tuple[Block, Order]]:
        """All blocks, each with the order of its rows, as pass number `epoch` meets them."""
        blocks = block_order(-(-self.n_rows // BLOCK), seed, epoch, shuffle)
        for parsed in self.stream.blocks(blocks):
            parts = frozen(parsed.values), frozen(parsed.places), frozen(parsed.pointers)
            rows = CSR(*parts, self.n_features)
            block = Block(parsed.number, parsed.number * BLOCK, rows, parsed.codes, NO_WEIGHTS)
            yield block, row_order(len(parsed.codes), seed, epoch, parsed.number, shuffle)
        self.stream.require_as_scanned()

    def require_in_range(self, W: Array, b: Array) -> None:
        """Leave it to rows at rest to tell where scores could leave the range of floats."""
        length = np.sqrt(max(sum_of_squares(W.reshape(-1)), sum_of_squares(b)))
        if not length < np.sqrt(float(np.finfo(W.dtype).max)):
            raise ScanMismatch("weights are near the end of the range of floats")

    def digest(self) -> dict[str, Any]:
        """What tells these rows and classes from others, after the pass: see `sample_digest`."""
        stream = self.stream
        rows = spread_rows(self.n_rows, max(1, stream.n_entries // self.n_rows))
        part = stream.rows(rows)
        pointers = np.append(0, np.cumsum(part.counts))
        others = np.array([self.n_rows - int(stream.counts[0])])
        codes = stream.codes(part.labels)
        parts = [part.values, part.places, pointers, others, codes, np.empty(0)]
        return digest_of(parts, (self.n_rows, self.n_features))
