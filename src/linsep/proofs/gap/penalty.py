"""The penalty of a convex fit."""

from typing import NamedTuple


class Penalty(NamedTuple):
    """Ω(w) = l1‖w‖₁ + ½ l2‖w‖²"""

    l1: float = 0.0
    l2: float = 1.0


RIDGE = Penalty()
