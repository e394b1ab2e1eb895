"""Dense rows rounded to eight bits, whose scores settle most rows without a look at them.

Row x is rounded to m q/127 with m = max |xⱼ| and whole numbers q from −127 to 127. By
Cauchy-Schwarz the score of the rounded row is off by at most ‖w‖ ‖x − m q/127‖, and by what
floating point adds. Where that cannot change what a rule decides, the row itself, four or eight
times as many bytes, need not be read. Where it can, it is: a screen never changes an answer.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.kernels import rows as kernels
from linsep.parallel import in_order

Array = npt.NDArray[Any]

FEWEST, MOST = 1 << 21, 1 << 28  # numbers in the rows, between which a screen is made of them
NARROW = 32  # features below which it would save nothing


class Int8Screen(NamedTuple):
    """Rounded rows: whole numbers, the unit m/127, and the error bound per unit of ‖w‖."""

    Q: Array
    unit: Array
    error: Array

    def part(self, start: int, stop: int) -> "Int8Screen":
        """Of rows start..stop, without a copy."""
        return Int8Screen(self.Q[start:stop], self.unit[start:stop], self.error[start:stop])


def int8_screen(X: Array, n_jobs: int) -> Int8Screen | None:
    """A screen of the rows of an array, or none if it is too small, narrow or large."""
    n, d = X.shape
    if not FEWEST <= X.size <= MOST or d < NARROW:
        return None
    screen = Int8Screen(np.empty((n, d), np.int8), np.empty(n), np.empty(n))

    def one(span: tuple[int, int]) -> None:
        kernels.round_rows(X[slice(*span)], *screen.part(*span))

    for _ in in_order(one, spans(n), n_jobs):
        pass
    return screen
