"""All separators of a run as one hyperplane, from sums that do not grow with their number.

Separator n is the sum of the first n corrections, and lives for cₙ rows. Correction m is part of
all later ones, so that with Cₘ rows survived before it and T in all

    Σ cₙwₙ = Σₘ (T − Cₘ) aₘxₘ = T Σ aₘxₘ − Σ Cₘaₘxₘ,

and the two sums on the right are all that has to be kept of the corrections.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.page_release import release, room_for
from linsep.kernels import voted
from linsep.rows.rows import as_rows
from linsep.train.run.state import Stateful
from linsep.train.voted.corrections import CorrectionBatch

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PIECE = 1 << 18  # lives that are written to a file at once, where the rows lie in one


class RunningAverage(Stateful):
    """The sums of corrections, and how long each separator lived.

    Attributes
    ----------
    whole : (K, d + 1) Σ aₘ(xₘ, 1)
    early : (K, d + 1) Σ Cₘaₘ(xₘ, 1)
    lived : rows survived by all separators but the last
    lives : cₙ of all separators but the last, in pieces
    """

    state_names = ("whole", "early", "lived", "lives")

    def __init__(self, planes: int, n_features: int) -> None:
        self.whole = np.zeros((planes, n_features + 1))
        self.early = np.zeros((planes, n_features + 1))
        self.lived = 0.0
        self.lives: list[Array] = []

    def add(self, batch: CorrectionBatch, X: Any) -> None:
        """Add corrections of rows of X."""
        if not len(batch.rows):
            return
        before = np.cumsum(np.append(self.lived, batch.lives))[1:]
        voted.gather(as_rows(X), batch.rows, batch.steps, before, self.whole, self.early)
        self.lived = float(before[-1])
        self.lives.append(batch.lives)
        self._put_away(X)

    def _put_away(self, X: Any) -> None:
        """Write the latest lives to a file, where X lies in one."""
        latest = [one for one in self.lives if len(one) < PIECE]
        if sum(map(len, latest)) < PIECE:
            return
        joined = np.concatenate(latest)
        piece = room_for(joined, X)
        piece[:] = joined
        release(piece)
        self.lives = [*(one for one in self.lives if len(one) >= PIECE), np.asarray(piece)]

    def survival(self, votes: float, X: Any) -> Array:
        """cₙ of all separators, the last of which has lived for `votes` rows."""
        n = sum(map(len, self.lives))
        survival, at = room_for(np.broadcast_to(np.float64(0), (n + 1,)), X), 0
        for one in self.lives:
            survival[at : at + len(one)] = one
            at += len(one)
            release(survival)
        survival[n] = votes
        return np.asarray(survival)

    def hyperplanes(self, votes: float, average: bool, bias: float) -> tuple[Floats, Floats]:
        """Weights and intercepts of Σ cₙwₙ / Σ cₙ, or of the last separator."""
        total = self.lived + votes
        both = self.whole if not (average and total) else self.whole - self.early / total
        return both[:, :-1], bias * both[:, -1]
