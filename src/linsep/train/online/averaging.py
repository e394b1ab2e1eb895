"""The mean of the weights after every presentation, from one more addition per mistake.

With u ← u + t·(correction) at presentation t, the mean of all weights after T presentations is
w − u/T. No score needs u. So with several classes corrections are logged as they are made, and
another thread adds them to U, one after the other in their order: the bytes are those of a single
thread, and the passes do not wait for a second array as large as the weights.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import online
from linsep.rows.rows import Rows
from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]

ROOM = 1 << 15  # shares in a log
LOGS = 4


class CorrectionLog(NamedTuple):
    """Corrections in their order: the row of each, and what each class's u receives of it."""

    rows: Array
    shares: Array
    made: Array


def empty_log(room: int, classes: int) -> CorrectionLog:
    """A log with room for so many corrections."""
    return CorrectionLog(np.empty(room, np.int64), np.empty((room, classes)), np.zeros(1, np.int64))


NO_LOG = empty_log(0, 0)


class LogQueue:
    """U, and what is still to be added to it.

    An interrupt can come between any two lines: a log that is handed over twice is empty the second
    time, and `join` waits for all that was handed over before.

    Parameters
    ----------
    U : the sums, in the layout of the weights
    classes : how many classes there are
    apart : whether another thread does the adding
    """

    def __init__(self, U: Array, classes: int, apart: bool) -> None:
        self._U = U
        self.room = max(16, ROOM // classes)
        self._logs = [empty_log(self.room, classes) for _ in range(LOGS if apart else 1)]
        self._jobs: list[Future[None] | None] = [None] * len(self._logs)
        self._turn = 0
        self._rows: Any = None
        self._pool = ThreadPoolExecutor(1) if apart else None

    def log(self, rows: Rows) -> CorrectionLog:
        """An empty log for `room` corrections by these rows."""
        self._hand_over()
        self._turn = (self._turn + 1) % len(self._logs)
        job = self._jobs[self._turn]
        if job is not None:
            job.result()
        self._rows = rows
        return self._logs[self._turn]

    def _hand_over(self) -> None:
        log = self._logs[self._turn]
        if log.made[0] == 0:
            return
        if self._pool is None:
            online.apply_log(self._rows, log, self._U)
        else:
            self._jobs[self._turn] = self._pool.submit(online.apply_log, self._rows, log, self._U)

    def join(self) -> Array:
        """U, with all corrections added."""
        self._hand_over()
        if self._pool is not None:
            self._pool.submit(int).result()  # comes after all the others
        self._rows = None  # a learner that is kept does not keep its rows
        return self._U

    def close(self) -> None:
        """Add what is left, and let the thread go."""
        self.join()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class LazyAverage(Stateful):
    """U and u_b, the sums that make the average of weights and intercepts."""

    state_names = ("sums", "bias_sums")

    def __init__(self, planes: Hyperplanes) -> None:
        self._U = np.zeros(planes.W.shape)
        self.bias_sums = np.zeros(len(planes.b))
        self.queue: LogQueue | None = None

    @property
    def sums(self) -> Array:
        """U, with all corrections added."""
        return self._U if self.queue is None else self.queue.join()

    @sums.setter
    def sums(self, new: Array) -> None:
        self.queue, self._U = None, new

    def open_queue(self, apart: bool) -> None:
        """Log corrections from now on, if they are not logged yet."""
        if self.queue is None:
            self.queue = LogQueue(self._U, len(self.bias_sums), apart)

    def close_queue(self) -> None:
        """Add what is left, and let the thread go."""
        if self.queue is not None:
            self.queue.close()
        self.queue = None

    def carry(self, carried: Callable[[Array], Array]) -> None:
        """Follow the weights to another layout."""
        self.sums = carried(self.sums)

    def move(self, share: float, delta: Array, db: Array) -> None:
        """u ← u + share·δ, for a correction by all rows at once."""
        self.sums += share * delta
        self.bias_sums += share * db
