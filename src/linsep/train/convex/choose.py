"""Which way to a support vector machine: passes over rows, or few costly steps.

Coordinate descent on the dual is fast where features are of one scale and C is moderate, and crawls
elsewhere. Where one side of X is short, an interior point method (hinge) or Newton's method
(squared hinge) takes ten to thirty steps whatever the scale. So: short work is left to the steps at
once; elsewhere descent may make about as many passes as the steps would cost, and then they take
over. Many rows of few features are another matter (see `linsep.train.convex.newton.primal_newton`):
there a few looks at all rows are enough, and nothing is kept for each of them.
"""

from collections.abc import Callable
from functools import partial
from threading import Event, Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.dual import coordinate_descent as dual_descent
from linsep.train.convex.dual import interior_point as interior
from linsep.train.convex.dual.active_set import polish
from linsep.train.convex.dual.coordinate_descent import Check, Solution
from linsep.train.convex.dual.design import Ground
from linsep.train.convex.newton import primal_newton as tall
from linsep.train.convex.newton import squared_hinge as semismooth
from linsep.train.run.replay_log import Journal

Array = npt.NDArray[Any]

AT_ONCE = 1e8  # products (rows × side²) of one step up to which steps are taken at once
AT_ALL = 3e10  # and up to which they take over from descent
IN_MEMORY = 1 << 24  # entries up to which steps, which copy them, take over from looks
SMALL = 5000  # rows up to which the last digits are worth a linear system
SHARP = 1e-9  # the gap steps are asked for where they are cheap: they are quick at the end
SNAP = 1e-5  # a multiplier this near to its bound, relative to it, counts as there
PATIENCE = 30  # passes of descent, at least, before steps take over


class Machine:
    """One two-class machine to be fitted: rows, signs, and what was asked for.

    Parameters
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row, of any type
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C, loss, fit_intercept, tol, max_iter, seed, n_jobs
        As of `linsep.train.convex.dual.coordinate_descent.solve`.
    listener : told a `Check` now and then; returns True to stop
    ground : makes the rows as several machines share them
    shared : more arguments for `dual_descent.solve`
    """

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None,
        *,
        C: float,
        loss: str,
        fit_intercept: bool,
        tol: float,
        max_iter: int,
        seed: int = 0,
        n_jobs: int | None = None,
        listener: Callable[[Check], Any] | None = None,
        ground: Callable[[], Ground] | None = None,
        **shared: Any,
    ) -> None:
        self.X, self.signs, self.weights, self.C = X, signs, weights, C
        self.loss, self.fit_intercept, self.tol, self.max_iter = loss, fit_intercept, tol, max_iter
        self.listener, self._ground = listener, ground
        self._dual = {"seed": seed, "n_jobs": n_jobs, **shared}
        n, k = max(X.shape), min(X.shape)
        self.step = float(n) * k * k if interior.suits(X) else np.inf

    @property
    def _common(self) -> dict[str, Any]:
        return {"fit_intercept": self.fit_intercept}

    def auto(
        self,
        start: Array | None = None,
        plane: tuple[Array, float] | None = None,
        journal: Journal | None = None,
    ) -> Solution:
        """The faster way; `start` are multipliers of a neighbouring problem, `plane` its weights"""
        if tall.suits(self.X):
            found = self.by_looks(plane, journal)
            left = self.max_iter - found.n_iter
            large = self.X.shape[0] * self.X.shape[1] > IN_MEMORY
            if found.status is not Status.budget or left <= 0 or self.step > AT_ALL or large:
                return found
            more = self.by_steps(self.tol, left, self.listener, (found.w, found.b))
            better = more.primal <= found.primal
            return more._replace(n_iter=found.n_iter + more.n_iter) if better else found
        if start is not None:
            near = self.finished(self.unsettled(start))
            if near.status is Status.converged:
                return near
        if self.step <= AT_ONCE and not (sp.issparse(self.X) and self._thin):
            return self.finished(self.by_steps(min(self.tol, SHARP), self.max_iter, self.listener))
        return self._passes_first(start)

    @property
    def _thin(self) -> bool:
        """Whether rows have so few entries that passes over them are the cheaper way."""
        return self.X.nnz * 100 < self.step

    def _passes_first(self, start: Array | None) -> Solution:
        able = self.step <= AT_ALL or (self.loss == "squared_hinge" and self.step == np.inf)
        budget = self.max_iter
        if able:
            k = min(self.X.shape)
            budget = min(self.max_iter, PATIENCE + (k if self.step < np.inf else 100))
        found = self.by_passes(budget, start)
        if found.status is not Status.budget or budget == self.max_iter:
            return self.finished(found)
        made, listener = found.n_iter, self.listener

        def later(check: Check) -> Any:
            return listener(check._replace(n_iter=made + check.n_iter)) if listener else None

        where = (found.w, found.b)
        more = self.by_steps(self.tol, self.max_iter - made, later, where)
        if more.primal <= found.primal:
            found = more._replace(n_iter=made + more.n_iter)
        return self.finished(found)

    def by_looks(
        self, start: tuple[Array, float] | None = None, journal: Journal | None = None
    ) -> Solution:
        """Newton's method on sums over blocks, for many rows of few features."""
        return tall.solve(
            self.X, self.signs, self.weights, self.C, loss=self.loss, tol=self.tol,
            max_iter=self.max_iter, start=start, listener=self.listener,
            n_jobs=self._dual["n_jobs"], journal=journal, **self._common,
        )  # fmt: skip

    def by_passes(self, max_iter: int, start: Array | None = None) -> Solution:
        """Coordinate descent on the dual."""
        return dual_descent.solve(
            self.X, self.signs, self.weights, self.C, loss=self.loss, tol=self.tol,
            max_iter=max_iter, start=start, listener=self.listener,
            ground=self._ground() if self._ground else None, **self._common, **self._dual,
        )  # fmt: skip

    def by_steps(
        self,
        tol: float,
        max_iter: int,
        listener: Callable[[Check], Any] | None,
        start: tuple[Array, float] | None = None,
    ) -> Solution:
        """Newton's method for the squared hinge, an interior point method for the hinge."""
        given = (self.X, self.signs, self.weights, self.C)
        asked = {"tol": tol, "max_iter": max_iter, "listener": listener, **self._common}
        with Pool(1):
            if self.loss == "squared_hinge":
                found = semismooth.solve(*given, start=start, **asked)
            else:
                found = interior.solve(*given, loss=self.loss, **asked)
        within = found.gap <= self.tol * found.primal
        stopped = found.status in (Status.stopped, Status.interrupted)
        return found._replace(status=Status.converged) if within and not stopped else found

    def finished(self, found: Solution) -> Solution:
        """The optimum to the last digit, where a small linear system gives it."""
        if self.X.shape[0] > SMALL or found.status in (Status.interrupted, Status.stopped):
            return found
        caps = np.full(self.X.shape[0], self.C)
        if self.weights is not None:
            caps *= self.weights
        alpha = found.alpha
        if self.loss == "hinge":  # a point inside all bounds has no multiplier at one
            alpha = np.where(alpha <= SNAP * caps, 0.0, alpha)
            alpha = np.where(alpha >= (1.0 - SNAP) * caps, caps, alpha)
        with Pool(1):
            better = polish(
                self.X, self.signs.astype(np.float64), caps, alpha,
                squared=self.loss == "squared_hinge", fit_intercept=self.fit_intercept,
            )  # fmt: skip
        if better is None or not better.primal <= found.primal * (1 + 1e-12):
            return found
        gap = max(0.0, better.primal - better.dual)
        return found._replace(
            w=better.w, b=better.b, alpha=better.alpha, primal=better.primal, dual=better.dual,
            gap=gap, status=Status.converged if gap <= self.tol * better.primal else found.status,
        )  # fmt: skip

    def unsettled(self, alpha: Array) -> Solution:
        """Multipliers of a neighbouring problem as a solution that proves nothing yet."""
        d = self.X.shape[1]
        return Solution(np.zeros(d), 0.0, alpha, np.inf, 0.0, np.inf, 1, Status.budget, "A start.")


def one_vs_rest(
    X: Any,
    codes: Array,
    n_classes: int,
    fit: Callable[[Machine, int], Solution],
    *,
    n_jobs: int | None = None,
    listener: Callable[[Check], Any] | None = None,
    **settings: Any,
) -> list[Solution]:
    """Fit each class against all others, several classes at a time.

    Parameters
    ----------
    fit : what to do with the machine of a class
    listener : told, after each look of a class, of all classes begun so far together, from one
        thread at a time; returns True to stop them
    settings : those of `Machine`, from `weights` on
    """
    halt, stopped, lock, turn = Event(), Event(), Lock(), Lock()
    seen: dict[int, Check] = {}
    made: list[Ground] = []

    def ground() -> Ground:
        """X as all classes share it, measured by the first that needs it."""
        with lock:
            if not made:
                with Pool(n_jobs) as pool:
                    made.append(Ground(X, settings["fit_intercept"], pool))
                _ = made[0].lengths
        return made[0]

    def tell(k: int, check: Check) -> bool:
        with turn:
            if listener is not None and not halt.is_set():
                seen[k] = check
                if listener(Check(*map(sum, zip(*seen.values(), strict=True)))) is True:
                    stopped.set()
                    halt.set()
        return halt.is_set()

    settings |= {"halt": halt, "ground": ground}

    def one(k: int) -> Solution:
        signs = np.where(codes == k, np.int8(1), np.int8(-1))
        mine = {"listener": partial(tell, k), **settings}
        found = fit(Machine(X, signs, n_jobs=1, lanes=1, **mine), k)
        if halt.is_set() and found.status in (Status.stopped, Status.interrupted):
            ending = Status.stopped if stopped.is_set() else Status.interrupted
            return found._replace(status=ending)
        return found

    with Pool(1):  # for all classes together: the limit is slow to change while products are made
        return dual_descent.each_class(one, n_classes, n_jobs, halt)
