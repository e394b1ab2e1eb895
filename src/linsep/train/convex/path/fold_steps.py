"""Folds of a path on sparse rows by Newton-CG, each C begun at the ones before.

All folds read the same rows, their columns in the order of their use (`frequent_columns` of
`linsep.train.convex.newton`); a row that a fold leaves out has the weight zero there. From w(C₁)
and w(C₂) the next C begins on the line through both, where its P is lowest.
"""

from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.status import Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.newton.frequent_columns import by_use
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.path.folds import Folded

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FORCING = 0.3
"""Part of the gradient that a step may leave: P at the next C is far from quadratic where a fit
begins, and steps are long where this solver is chosen. One fold of 200,000 clicks from C = 0.36 on
takes 498 products with 0.1, 361 with 0.3; of 60,000 short texts 190 and 156."""


class NotReachedError(Exception):
    """A fit ended before its gap was closed."""


class FoldSteps:
    """Fits of single folds, in any order of the folds.

    Parameters
    ----------
    X : checked CSR matrix
    signs : array of −1 and +1
    home : number of the fold that leaves each row out
    Cs : ascending and finite
    free : whether there is an intercept
    tol, halt : the relative gap asked for, and what ends the fits early
    results : what is filled in
    """

    def __init__(
        self,
        X: Any,
        signs: Array,
        home: Array,
        Cs: Floats,
        free: bool,
        tol: float,
        halt: Event,
        results: Folded,
    ) -> None:
        self.signs, self.home, self.Cs, self.free = signs, home, Cs, free
        self.goal, self.results = Goal(tol, halt=halt), results
        self.features = X.shape[1]
        self.X, self.order = by_use(X)
        self.reached: dict[int, list[Floats]] = {}  # of each fold, at the last two values of C

    def begin(self, f: int, models: list[tuple[Floats, float]]) -> None:
        """Models of the fold at one or two values of C before the first that is fitted here."""
        self.reached[f] = [np.append(self.order.inside(w), b) for w, b in models[-2:]]

    def fit(self, f: int, c: int) -> Floats:
        """Fit fold f at the C with number c; returns the multipliers of all rows."""
        start, heading = None, None
        if reached := self.reached.get(f, []):
            start = reached[-1][:-1], float(reached[-1][-1])
        if len(reached) == 2:
            step = reached[1] - reached[0]
            heading = step[:-1], float(step[-1])
        left = self.home == f
        solver = NewtonCG(
            self.X, self.signs, np.where(left, 0.0, 1.0), float(self.Cs[c]), n_jobs=1,
            fit_intercept=self.free, start=start, heading=heading, forcing=FORCING, frequent=True,
        )  # fmt: skip
        done = drive(solver, self.goal)
        if done.status is not Status.converged:
            raise NotReachedError
        self.reached[f] = [*reached[-1:], np.append(done.w, done.b)]
        results = self.results
        results.gap[f, c], results.b[f, c] = done.gap / done.primal, done.b
        results.scores[left, c] = np.asarray(self.X[left] @ done.w) + done.b
        if results.W.shape[2]:
            results.W[f, c] = self.order.outside(done.w, self.features)
        return np.where(left, 0.0, done.alpha)
