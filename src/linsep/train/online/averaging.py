"""The mean of the weights after every presentation, from one more addition per mistake.

With u ← u + t·(correction) at presentation t, the mean of all weights after T presentations is
w − u/T. No score needs u.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]


class LazyAverage(Stateful):
    """U and u_b, the sums that make the average of weights and intercepts."""

    state_names = ("sums", "bias_sums")

    def __init__(self, planes: Hyperplanes) -> None:
        self.sums = np.zeros(planes.W.shape)
        self.bias_sums = np.zeros(len(planes.b))

    def carry(self, carried: Callable[[Array], Array]) -> None:
        """Follow the weights to another layout."""
        self.sums = carried(self.sums)

    def move(self, share: float, delta: Array, db: Array) -> None:
        """u ← u + share·δ, for a correction by all rows at once."""
        self.sums += share * delta
        self.bias_sums += share * db
