"""What passes over all rows found, written down, so that a run can be gone through again.

A batch solver is a function of its sums over rows: given them once more, it takes the same
decisions and arrives at the same point, to the last bit, without a look at the rows. So the state
of such a run is the list of its sums, whatever else the solver keeps between passes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linsep.train.run.loop import UNCOUNTED, Listener, Pass
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
T = TypeVar("T")


class ReplayLog(Stateful):
    """The points that all rows were seen from, and the sums found there, if they are to be kept.

    >>> log = ReplayLog(keep=True)
    >>> log.look(np.zeros(2), 1.0, lambda: "seen")
    'seen'
    >>> again = ReplayLog(keep=True)
    >>> again.entries = log.entries
    >>> again.look(np.zeros(2), 1.0, lambda: "not looked at again"), again.recalled
    ('seen', True)
    """

    state_names = ("entries",)

    def __init__(self, keep: bool = False) -> None:
        self.keep = keep
        self.entries: list[tuple[Array, float, Any]] = []
        self.recalled = False
        """Whether the last answer came from the replay log."""
        self._next = 0

    def look(self, u: Array, how: float, function: Callable[[], T]) -> T:
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

    def telling(self, listeners: list[Listener]) -> Listener | None:
        """Several listeners as one, told of new passes only; True from any of them stops the run"""
        if not listeners:
            return None

        def tell_all(done: Pass) -> bool:
            answers = [not self.recalled and one(done) is True for one in listeners]
            return any(answers)

        return tell_all

    def telling_looks(self, listeners: list[Listener]) -> Callable[[Any], Any] | None:
        """The same for solvers that tell of each look at all rows instead of each pass."""
        tell = self.telling(listeners)
        if tell is None:
            return None
        return lambda look: tell(Pass(look.n_iter, UNCOUNTED, look.active, look.primal))


def begin(learner: Any, listeners: list[Listener]) -> ReplayLog:
    """The log of a learner's run, kept if there is a checkpoint, with what that one holds."""
    keepers: list[Any] = [one for one in listeners if hasattr(one, "resume")]
    learner._replay_log = ReplayLog(keep=bool(keepers))
    for keeper in keepers:
        keeper.resume()
    return learner._replay_log  # type: ignore[no-any-return]
