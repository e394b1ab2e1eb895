"""The penalty of a convex fit and its conjugate, rounded to the safe side."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_UNIT = 2.0**-53


class Penalty(NamedTuple):
    """Ω(w) = l1‖w‖₁ + ½ l2‖w‖²"""

    l1: float = 0.0
    l2: float = 1.0

    def above(self, W: Array) -> float:
        """Ω(W), before rounding is allowed for."""
        square = float(np.sum(np.square(W, dtype=np.float64)))
        return self.l1 * float(np.abs(W).sum(dtype=np.float64)) + 0.5 * self.l2 * square

    def conjugate(self, size: Array) -> float:
        """Ω* of a vector with these sizes |v|, rounded up."""
        over = np.maximum(0.0, size - self.l1)
        if self.l2 == 0:
            return 0.0 if not over.any() else math.inf
        return float(np.sum(over**2)) / (2 * self.l2) * (1 + (size.size + 8) * 2 * _UNIT)

    def room(self, size: Array) -> float:
        """The largest s ≤ 1 with Ω*(s·v) finite, a hair less where that is not all."""
        largest = float(size.max(initial=0.0))
        if self.l2 > 0 or largest <= self.l1:
            return 1.0
        return self.l1 / largest * (1 - 1e-12)


RIDGE = Penalty()
