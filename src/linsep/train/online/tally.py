"""What kernels are told of a pass and count; `kernels/perceptron/online.hpp` has these places."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SEEN, UPDATES, MISTAKES, LOSS, RUN, BEST, ROW, STEPS = range(8)
TALLY = 8
LAST, AVERAGE, POCKET = range(3)
NOTHING = np.empty(0)
NO_SUMS = np.empty((0, 0))


class Presented(NamedTuple):
    """Rows to present: the class number of each, their order, and the share of a step of each."""

    codes: Array
    order: Array
    scale: Array


class Kept(NamedTuple):
    """What is kept beside the last weights: the sums of an average, or the longest-lived."""

    kind: int = LAST
    sums: Array = NO_SUMS
    bias_sums: Array = NOTHING
    longest: Array = NOTHING


class Shown(NamedTuple):
    """The scores of the row corrected last, and what each class received of it."""

    scores: Array
    steps: Array
