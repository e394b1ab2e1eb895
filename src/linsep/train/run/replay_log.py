"""What passes over all rows found, written down, so that a run can be gone through again.

A batch solver is a function of its sums over rows: given them once more, it takes the same
decisions and arrives at the same point, to the last bit, without a look at the rows. So the state
of such a run is the list of its sums, whatever else the solver keeps between passes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
T = TypeVar("T")


class ReplayLog(Stateful):
    """The points that all rows were seen from, and the sums found there, if they are to be kept.

    >>> log = ReplayLog(keep=True)
    >>> log.evaluate(np.zeros(2), 1.0, lambda: "seen")
    'seen'
    >>> again = ReplayLog(keep=True)
    >>> again.entries = log.entries
    >>> again.evaluate(np.zeros(2), 1.0, lambda: "not looked at again"), again.recalled
    ('seen', True)
    """

    state_names = ("entries",)

    def __init__(self, keep: bool = False) -> None:
        self.keep = keep
        self.entries: list[tuple[Array, float, Any]] = []
        self.recalled = False
        """Whether the last answer came from the replay log."""
        self._next = 0

    def evaluate(self, u: Array, how: float, function: Callable[[], T]) -> T:
        """`function()`, or what it gave when the run came by here before, at u and by `how`."""
        if self._next < len(self.entries):
            point, way, answer = self.entries[self._next]
            if way == how and np.array_equal(point, u, equal_nan=True):
                self._next += 1
                self.recalled = True
                return answer  # type: ignore[no-any-return]
            del self.entries[self._next :]
        at = u.copy()  # the pass may move it
        answer = function()
        self.recalled = False
        if self.keep:
            self.entries.append((at, how, answer))
            self._next += 1
        return answer
