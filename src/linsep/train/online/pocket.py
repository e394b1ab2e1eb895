"""The pocket: of the longest-lived weights of each pass, those that misplace the fewest rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.online.hyperplanes import Hyperplanes
from linsep.train.online.tally import BEST, RUN
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]


class Pocket(Stateful):
    """The best hyperplanes so far, and the longest-lived of the pass under way.

    Attributes
    ----------
    longest : weights and intercepts of the longest-lived, one after the other: kernels write them
    best : (mistakes, weights, intercepts), or None before the first pass has ended
    life : presentations that the best survived
    """

    state_names = ("longest", "best", "life")

    def __init__(self, planes: Hyperplanes) -> None:
        self.longest = np.zeros(planes.W.size + len(planes.b))
        self.best: tuple[float, Array, Array] | None = None
        self.life = 0.0

    def carry(self, carried: Callable[[Array], Array], planes: Hyperplanes, shape: Any) -> None:
        """Follow the weights to another layout; `shape` was theirs before."""
        n = len(planes.b)
        weights = carried(self.longest[:-n].reshape(shape))
        self.longest = np.append(weights, self.longest[-n:])
        if self.best is not None:
            mistakes, W, b = self.best
            self.best = mistakes, carried(W).astype(planes.W.dtype), b

    def close_pass(
        self,
        planes: Hyperplanes,
        tally: Array,
        misplaced: Callable[[Array, Array], float],
        epoch: int,
    ) -> None:
        """Keep this pass's longest-lived hyperplanes if they misplace fewer rows than the best.

        Of rows that come in parts (epoch 0) it is the longest-lived of all: earlier parts are gone.
        """
        n = len(planes.b)
        W, b = planes.W, planes.b
        if tally[BEST] > tally[RUN]:
            W = self.longest[:-n].reshape(W.shape).astype(W.dtype)
            b = self.longest[-n:]
        mistakes = misplaced(W, b)
        if epoch == 0 or self.best is None or mistakes < self.best[0]:
            self.best = mistakes, W.copy(), b.copy()
            self.life = float(tally[[BEST, RUN]].max())
        if epoch > 0:  # parts that follow a fit go on from its pocket
            self.longest[:-n], self.longest[-n:] = self.best[1].ravel(), self.best[2]
            tally[BEST] = self.life
