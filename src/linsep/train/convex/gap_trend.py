"""How fast a solver closes its gap, and how long it would still take."""

import math

import numpy as np

from linsep.train.convex.drive import Candidate
from linsep.train.run.state import Stateful


class GapTrend(Stateful):
    """The fall of the gap from pass to pass.

    Examples
    --------
    >>> trend = GapTrend()
    >>> gaps = ((20, 0.5), (40, 0.05), (80, 0.04))
    >>> [round(trend.passes_left(Candidate(n, 1.0, 1.0 - gap), 1e-4)) for n, gap in gaps]
    [246, 54, 1074]
    """

    state_names = ("_seen",)

    def __init__(self) -> None:
        self._seen = [(0, 0.0)]

    def passes_left(self, seen: Candidate, tol: float) -> float:
        """Passes until the relative gap is `tol`, if it falls as in the latter half of these."""
        left = math.log(max(seen.gap / seen.primal, 1e-300)) if seen.primal > 0.0 else -np.inf
        before, then = next(one for one in reversed(self._seen) if 2 * one[0] <= seen.n_iter)
        if seen.n_iter > self._seen[-1][0]:
            self._seen.append((seen.n_iter, left))
        more = left - math.log(tol)
        if more <= 0.0 or seen.n_iter <= before:
            return 0.0
        fell = (then - left) / (seen.n_iter - before)  # of log gap, in a pass
        return more / fell if fell > 0.0 else np.inf
