"""Step sizes as functions of the number of the pass."""

import math
from collections.abc import Callable

SCHEDULES: dict[str, Callable[[float, int], float]] = {
    "constant": lambda eta0, t: eta0,
    "1/t": lambda eta0, t: eta0 / t,
    "1/sqrt(t)": lambda eta0, t: eta0 / math.sqrt(t),
}
