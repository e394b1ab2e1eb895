"""Two-class logistic regression along a path of penalties, each fold for itself, by products.

A step is a few products with the rows, preconditioned by a Hessian of some of them. With u(C) for
all rows and u_f(C) for those that fold f keeps, the fit of fold f at C begins at

    u(C) + u_f(C′) − u(C′),    C′ the value before;

u(C) itself begins where u(C′) was heading. Mostly one or two steps are left. Each fit ends on
its own gap.

Fits of one stage run side by side: those of all folds at C′, and that of all rows at C. A fold
leaves rows out by giving them no weight, so that no copy is made.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.parallel import threads
from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.losses import Logistic
from linsep.train.convex.path.folds import Folded
from linsep.train.convex.problem import Problem
from linsep.train.convex.solution import Solution
from linsep.train.convex.solvers.newton_cg import NewtonCG

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 4096  # features of dense rows up to which the solver has a preconditioner
FEWEST = 5_000  # entries of sparse rows from which a start near the optimum spares anything


def suits(X: Any) -> bool:
    """Whether the ordinary solver takes products with these rows, and enough of them to share."""
    if sp.issparse(X):
        return bool(X.nnz >= FEWEST)
    return X.shape[1] <= min(WIDEST, X.shape[0])


def fit_folds(
    X: Any,
    signs: Array,
    home: Array,
    Cs: Floats,
    *,
    fit_intercept: bool,
    tol: float,
    n_jobs: int | None = None,
    keep: bool = True,
) -> Folded | None:
    """Fit every fold at every C, from the smallest to the largest.

    Parameters
    ----------
    X : checked array or CSR matrix
    signs : array of −1 and +1, both met in every fold's rows
    home : number of the fold that leaves each row out
    Cs : ascending and finite
    tol : the relative gap asked for
    keep : whether the weights are wanted, or only the scores

    Returns
    -------
    Folded, or None where some fit does not get there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> signs = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    >>> found = fit_folds(X, signs, np.arange(60) % 3, np.array([0.1, 1.0]),
    ...     fit_intercept=True, tol=1e-8)
    >>> found.W.shape, bool((found.gap <= 1e-8).all())
    ((3, 2, 2), True)
    """
    F, m, d = int(home.max()) + 1, len(Cs), X.shape[1]
    results = Folded(
        np.empty((F, m, d if keep else 0)), np.empty((F, m)), np.empty((F, m)),
        np.empty((len(home), m)), np.empty((m, d + 1)),
    )  # fmt: skip
    run = _Run(X, signs, home, Cs, fit_intercept, tol, results)
    try:
        run.settle(threads(n_jobs))
    except (OverflowedError, _NotReachedError):
        return None
    return results


class _NotReachedError(Exception):
    """A fit ended before its gap was closed."""


class _Run:
    """The fits of a path: all rows have the number of the last fold plus one."""

    def __init__(
        self, X: Any, signs: Array, home: Array, Cs: Floats, free: bool, tol: float, results: Folded
    ) -> None:
        self.X, self.home, self.Cs = X, home, Cs
        self.problem = Problem.of(X, signs, None, 1.0, Logistic(), free)
        self.count, self.results = len(results.gap), results
        self.halt = Event()
        self.goal = Goal(tol, halt=self.halt)
        self.last = np.zeros((self.count, X.shape[1] + 1))  # u_f at the value of C fitted last

    def settle(self, workers: int) -> None:
        """Stage by stage; threads do not change a byte."""
        m = len(self.Cs)
        with ThreadPoolExecutor(workers) as executor:
            for stage in range(m + 1):
                waiting = [executor.submit(self._all_rows, stage)] if stage < m else []
                if stage:
                    waiting += [
                        executor.submit(self._fold, f, stage - 1) for f in range(self.count)
                    ]
                try:
                    for one in waiting:
                        one.result()
                except BaseException:
                    self.halt.set()
                    raise

    def _all_rows(self, c: int) -> None:
        whole, start = self.results.whole, None
        if c:
            start = 2.0 * whole[c - 1] - whole[c - 2] if c > 1 else whole[0]
        found = self._fit(c, start, np.ones(1))
        whole[c, :-1], whole[c, -1] = found.w, found.b

    def _fold(self, f: int, c: int) -> None:
        results, held = self.results, np.flatnonzero(self.home == f)
        start = results.whole[c]
        if c:
            start = start + self.last[f] - results.whole[c - 1]
        found = self._fit(c, start, np.where(self.home == f, 0.0, 1.0))
        results.gap[f, c], results.b[f, c] = found.gap / found.primal, found.b
        results.scores[held, c] = np.asarray(self.X[held] @ found.w) + found.b
        if results.W.shape[2]:
            results.W[f, c] = found.w
        self.last[f, :-1], self.last[f, -1] = found.w, found.b

    def _fit(self, c: int, start: Floats | None, weights: Floats) -> Solution:
        problem = self.problem._replace(weights=self.Cs[c] * weights)
        begin = None if start is None else (start[:-1], float(start[-1]))
        found = drive(NewtonCG(problem, 1, begin), self.goal)
        if found.status is not Status.converged:
            raise _NotReachedError
        return found
