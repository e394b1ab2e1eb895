"""One solver while its gap falls fast enough, then another from where it got."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful

PATIENCE = 30  # passes of the first, at least, before the second takes over


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


class Handover:
    """One solver while its gap falls fast enough, then another from where it got.

    Parameters
    ----------
    first : the solver to begin with
    then : makes the second from the solution of the first
    price : what the second costs, in passes of the first; where it is left out, the second takes
        over only from a first that gets no further
    until : a relative gap below which the second is the better one, if there is such
    """

    def __init__(
        self,
        first: Any,
        then: Callable[[Solution], Any],
        price: float | None = None,
        until: float = 0.0,
    ) -> None:
        self._first, self._then, self._price, self._until = first, then, price, until
        self._second: Any = None
        self._one: Solution | None = None  # where the first ended
        self._seen: Candidate | None = None  # its last candidate
        self._trend: GapTrend | None = None
        self._tol = 1e-4

    @property
    def pool(self) -> Pool:
        return self._first.pool  # type: ignore[no-any-return]

    @pool.setter
    def pool(self, pool: Pool) -> None:
        self._first.pool = pool
        if self._second is not None:
            self._second.pool = pool

    @property
    def name(self) -> str:
        return str((self._second or self._first).name)

    @property
    def tol(self) -> float:
        return self._tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._tol = self._first.tol = tol
        if self._second is not None:
            self._second.tol = tol

    def candidates(self) -> Iterator[Candidate]:
        if self._second is None:
            yield from self._begin()
            self._hand_over(self._first.solution())
        seen = self._seen
        if seen is None:  # the first got nowhere
            yield from self._second.candidates()
            return
        for later in self._second.candidates():
            bounds = min(seen.primal, later.primal), max(seen.dual, later.dual)
            yield Candidate(seen.n_iter + later.n_iter, *bounds, later.active, seen.least)

    def _begin(self) -> Iterator[Candidate]:
        """The candidates of the first, until it ends or is too slow."""
        price = most = np.inf
        slow = False
        if self._price is not None:
            limit = self._first.max_iter * 4 // 5  # the rest is left for the second
            self._trend = self._trend or GapTrend()
            price = min(self._price, limit)
            most = limit if limit >= PATIENCE else np.inf
        for seen in self._first.candidates():
            self._seen = seen
            yield seen
            if self._trend is not None:
                left = self._trend.passes_left(seen, self._tol)
                slow = (seen.n_iter >= PATIENCE and left > price) or seen.n_iter >= most
            if (slow or seen.within(self._until)) and not seen.within(self._tol):
                break

    def _hand_over(self, solution: Solution) -> None:
        self._one, self._second = solution, self._then(solution)
        self._second.pool, self._second.tol = self.pool, self._tol

    def state(self) -> dict[str, Any]:
        trend = None if self._trend is None else self._trend.state()
        if self._one is None:
            return {"first": self._first.state(), "trend": trend, "one": None}
        one = self._one
        return {
            "second": self._second.state(), "seen": tuple(self._seen or ())[:-1],
            "one": (one.w, one.b, one.alpha, one.primal, one.dual, one.gap, one.n_iter),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        if state["one"] is not None:
            self._seen = Candidate(*state["seen"]) if state["seen"] else None
            self._hand_over(Solution(*state["one"]))
            self._second.restore(state["second"])
            return
        self._first.restore(state["first"])
        if state["trend"] is not None:
            self._trend = GapTrend()
            self._trend.restore(state["trend"])

    def interrupted(self) -> None:
        (self._second or self._first).interrupted()

    def rescaled(self) -> Any:
        """The first in other columns, where it has them."""
        other = self._first.rescaled()
        return None if other is None else Handover(other, self._then, self._price, self._until)

    def solution(self) -> Solution:
        """The better weights and the higher bound of both."""
        one = self._one or self._first.solution()
        if self._second is None:
            return one  # type: ignore[no-any-return]
        two = self._second.solution()
        low, high = min(one, two, key=_primal), max(one, two, key=_dual)
        gap = max(0.0, low.primal - high.dual)
        n_iter = one.n_iter + two.n_iter
        if (
            two.gap <= 2.0 * gap or two.status is not Status.budget
        ):  # weights and multipliers of one point are worth more to others
            return replace(two, n_iter=n_iter)
        return Solution(low.w, low.b, high.alpha, low.primal, high.dual, gap, n_iter)


def _primal(solution: Solution) -> float:
    return solution.primal


def _dual(solution: Solution) -> float:
    return solution.dual
