"""Step sizes as functions of the number of the pass."""

import math
from collections.abc import Callable

Schedule = Callable[[float, int], float]

SCHEDULES: dict[str, Schedule] = {
    "constant": lambda eta0, t: eta0,
    "1/t": lambda eta0, t: eta0 / t,
    "1/sqrt(t)": lambda eta0, t: eta0 / math.sqrt(t),
}
