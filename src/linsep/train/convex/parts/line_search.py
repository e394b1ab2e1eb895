"""How far to go along a line on which the objective is convex."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HALVES = 0.5 ** np.arange(0.0, 10.0)  # parts of a step at which slopes are looked at first
LOOKS, CLOSE = 4, 0.9  # at several parts each, until they are so near to where it turns


def lowest(slopes: Callable[[Floats], Any]) -> float:
    """About the t in (0, 1] at which a convex function is smallest: to there its slope is not
    above zero, and a little farther it is. Zero where no such t is found.

    Parameters
    ----------
    slopes : derivatives at several t

    Examples
    --------
    >>> round(lowest(lambda t: t - 0.3), 4)
    0.2778
    """
    low, high, t = 0.0, 1.0, HALVES
    for _ in range(LOOKS):
        slope = slopes(t)
        low = max([low, *t[slope <= 0.0]])
        high = min([high, *t[(slope > 0.0) & (t > low)]])
        if low > CLOSE * high:
            break
        t = high * HALVES[1:] if low == 0.0 else np.linspace(low, high, 10)[1:-1]
    return float(low)
