"""Few dense rows and columns with an l1 penalty: the run of `small_run`, as the driver sees it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.coordinates import moderate
from linsep.train.convex.drive import Candidate
from linsep.train.convex.l1.small_run import CLOSED, MORE, STUCK, SmallRun
from linsep.train.convex.newton.newton_start import (
    ERROR,
    FEWEST,
    PER_FEATURE,
    SAMPLED,
    WORTH,
    odds,
)
from linsep.train.convex.newton.one_call import Answer
from linsep.train.convex.newton.row_layouts import as_rows
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 128  # columns up to which there is no choice of them
MOST = 1 << 21  # entries up to which one thread does all
SAMPLE = 8  # a sample has one row in so many, at least
FINEST = 1e-7  # relative gap below which other solvers give more digits


def suits(X: Any, l2: float) -> bool:
    """Whether X is a small dense array, its columns of moderate scale, and the penalty all l1."""
    small = type(X) is np.ndarray and X.size <= MOST and X.shape[1] <= WIDEST
    return bool(small and l2 == 0.0 and moderate(X, True)[0] is X)


def begin(
    X: Array, y: Floats, caps: Floats, free: bool, l1: float, start: tuple[Array, float] | None
) -> SmallRun:
    """A run at weights that are known, at the optimum of a sample, or at the classes' odds."""
    if start is None:
        return _near(X, y, caps, free, l1, odds(y, caps) if free else 0.0)
    run = SmallRun(as_rows(X), y, caps, free, l1)
    run.u[:-1], run.u[-1] = start[0], start[1] * free
    return run


def _near(X: Array, y: Floats, caps: Floats, free: bool, l1: float, b: float) -> SmallRun:
    """A run at the optimum of a sample, itself begun so, or where rows are few at b alone.

    A sample of a part of the rows costs that part of a step for each of its own, and begins so near
    that one or two are enough: in whatever order rows come, as few are left for all of them.
    """
    run, (n, d) = SmallRun(as_rows(X), y, caps, free, l1), X.shape
    run.u[-1] = b
    m = max(FEWEST, PER_FEATURE * d)
    if n >= WORTH * m:
        some = scattered(n, max(m, n // SAMPLE))
        first = _near(X[some], y[some], caps[some] * (n / len(some)), free, l1, b)
        rough = ERROR * d / len(some)
        first.go(rough, SAMPLED, rough)
        run.u[:] = first.best
    return run


def solve_at_once(
    X: Array, y: Floats, caps: Floats, free: bool, l1: float, tol: float, most: int
) -> Answer | None:
    """The optimum to a relative gap of `tol`; None where that is not reached in `most` steps."""
    run = begin(X, y, caps, free, l1, None)
    return _answer(run) if run.go(tol, most) == CLOSED else None


def _answer(run: SmallRun) -> Answer:
    primal, dual, u = run.primal, run.dual, run.best
    gap, steps = max(0.0, primal - dual), max(1, run.steps)
    return Answer(u[:-1].copy(), float(u[-1]), run.alpha.copy(), primal, dual, gap, steps)


class SmallProxNewton:
    """The same for a run that is watched, or goes on from another; parameters as of `ProxNewton`.

    max_iter : most steps made before the driver is asked
    watched : whether it is to be asked after each
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        signs: Array,
        weights: Array | None,
        C: float,
        penalty: Elastic,
        *,
        fit_intercept: bool = True,
        start: tuple[Array, float] | None = None,
        max_iter: int = 1000,
        watched: bool = False,
    ) -> None:
        y = signs.astype(np.float64)
        caps = np.full(len(y), float(C)) if weights is None else C * weights
        self.pool = Pool(1, products=False)
        self._run = begin(X, y, caps, bool(fit_intercept), penalty.l1, start)
        self._most = 1 if watched else max_iter
        self._restored = False

    def candidates(self) -> Iterator[Candidate]:
        run, ending = self._run, MORE
        while True:
            tol = self.tol
            if not self._restored:
                ending = run.go(tol, self._most)
            self._restored = False
            yield Candidate(max(1, run.steps), run.primal, run.dual, run.u.size - 1)
            if ending == STUCK or (ending == CLOSED and tol == self.tol):
                return

    def state(self) -> dict[str, Any]:
        return {"run": self._run.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self._run.restore(state["run"])
        self._restored = True

    def interrupted(self) -> None:
        if not np.isfinite(self._run.primal):
            self._run.go(1.0, 1)

    def rescaled(self) -> None:
        """Columns of extreme scale are left to another solver."""

    def solution(self) -> Solution:
        return Solution(*_answer(self._run))
