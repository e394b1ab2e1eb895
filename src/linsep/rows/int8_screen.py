"""Dense rows rounded to eight bits, whose scores settle most rows without a look at them.

Row x is rounded to m q/127 with m = max |xⱼ| and whole numbers q from −127 to 127, and the weights
likewise to sixteen bits. By Cauchy-Schwarz the score is then off by at most ‖w‖ ‖x − m q/127‖ and
‖w − rounded w‖ ‖m q/127‖, and by what floating point adds to a score. Where that cannot change
what a rule decides, the row itself, four or eight times as many bytes, need not be read. Where it
can, it is: a screen never changes an answer.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.kernels import rows as kernels
from linsep.parallel import in_order
from linsep.rows.rows import aligned

Array = npt.NDArray[Any]

FEWEST, MOST = 1 << 21, 1 << 28  # numbers in the rows, between which a screen is made of them
WIDTH = 32  # rows are filled up to a multiple of this many numbers
NARROW = 32  # features below which it would save nothing


class Int8Screen(NamedTuple):
    """Rounded rows: whole numbers, filled up with zeros; m/127, ‖x − m q/127‖ and ‖m q/127‖."""

    Q: Array
    unit: Array
    error: Array
    length: Array

    def part(self, start: int, stop: int) -> "Int8Screen":
        """Of rows start..stop, without a copy."""
        return Int8Screen(*(one[start:stop] for one in self))


def int8_screen(X: Array, n_jobs: int) -> Int8Screen | None:
    """A screen of the rows of an array, or none if it is too small, narrow or large."""
    n, d = X.shape
    if not FEWEST <= X.size <= MOST or d < NARROW:
        return None
    width = -(-d // WIDTH) * WIDTH
    screen = Int8Screen(aligned((n, width), np.int8), np.empty(n), np.empty(n), np.empty(n))

    def one(span: tuple[int, int]) -> None:
        kernels.round_rows(X[slice(*span)], *screen.part(*span))

    for _ in in_order(one, spans(n), n_jobs):
        pass
    return screen
