"""Newton's method with the full Hessian, for two classes of rows that are in memory.

    P(w, b) = ½‖w‖² + Σ Uᵢ ℓ(zᵢ),    zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

for the logistic loss, the squared hinge, and the hinge, whose kink is smoothed over a width h that
falls as the gap does (Chapelle, *Training a support vector machine in the primal*, 2007). A step
costs two walks over the rows, each in a compiled call: one for gradient and Hessian, one for how
the margins change.

A step s also foretells the multipliers. With α̂ = α − D∘dz, Newton's equations say Σ α̂ᵢyᵢxᵢ = w + s
and Σ α̂ᵢyᵢ = 0: a feasible point of the dual whose value needs no walk over the rows. What keeps
P(w + s) and D(α̂) apart is of third order in the step, so that a run ends a step earlier than by
the multipliers of its last point.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate
from linsep.train.convex.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge
from linsep.train.convex.newton import full_sums
from linsep.train.convex.newton.full_sums import FullSums, Point, shared
from linsep.train.convex.newton.newton_run import (
    BALANCED,
    CLOSED,
    COMPILED,
    KINDS,
    LEAST,
    MORE,
    NARROWING,
    NEAR,
    PATIENCE,
    SINGULAR,
    NewtonRun,
)
from linsep.train.convex.newton.newton_start import WIDTH, begin
from linsep.train.convex.newton.one_call import ALONE, FINEST
from linsep.train.convex.newton.row_layouts import as_rows
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

__all__ = ["FINEST", "FullNewton", "suits"]

LOSSES: dict[str, Any] = {
    "hinge": Hinge(),
    "logistic": Logistic(),
    "squared_hinge": SquaredHinge(),
}
WIDEST = 256  # features up to which a matrix of their products is cheap
MOST = 1 << 22  # entries up to which rows are walked over in memory
DENSE = 0.25  # part of entries that are not zero from which rows are better written out


def suits(X: Any) -> bool:
    """Whether X has few columns, and few enough entries to be kept and walked over."""
    entries = int(X.nnz) if hasattr(X, "nnz") else X.shape[0] * X.shape[1]
    return bool(X.shape[1] <= WIDEST and entries <= MOST and X.shape[0] * X.shape[1] <= 4 * MOST)


class FullNewton:
    """Newton's steps as a solver.

    Parameters
    ----------
    X : checked array or CSR matrix of few columns
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'logistic', 'squared_hinge' or 'hinge'
    fit_intercept : whether b is free, or zero
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    alpha : multipliers that belong to them, if any are known
    max_iter : most steps made before the driver is asked
    watched : whether it is to be asked after each
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        loss: str = "logistic",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
        alpha: Array | None = None,
        max_iter: int = 1000,
        watched: bool = False,
    ) -> None:
        n = X.shape[0]
        self._X, self._y = X, signs.astype(np.float64)
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        self._loss, self._kind = LOSSES[loss], KINDS[loss]
        self._free, self._start = bool(fit_intercept), start
        entries = int(X.nnz) if hasattr(X, "nnz") else X.size
        alone = entries <= ALONE
        self.pool = Pool(n_jobs, most=1 if alone else None, products=not alone)
        self._max_iter, self._watched = max_iter, watched
        self._resume: dict[str, Any] | None = None
        self._known = None if start is None or alpha is None else self._seen(*start, alpha)
        self.n_iter = 0

    def _begin(self) -> None:
        X = self._X[0 : len(self._y)] if on_cluster(self._X) else self._X  # few enough to fetch
        if sp.issparse(X) and X.nnz > DENSE * X.shape[0] * X.shape[1]:
            X = X.toarray()
        at = begin(X, self._y, self._caps, self._kind, self._free, self._start)
        X, self._columns, self._ridge, self._u, self._h = at
        self._problem = X, self._y, self._caps, self._loss
        self._run = None
        if not shared(X) and X.shape[1] < COMPILED:
            problem = as_rows(X), self._y, self._caps
            self._run = NewtonRun(self._kind, *problem, self._ridge, self._free)

    def candidates(self) -> Iterator[Candidate]:
        """Newton's steps, and what they foretell."""
        if self._resume is not None:
            self._known = None
        if self._known is not None:
            yield Candidate(1, self._known.primal, self._known.dual)
            self._known = None
        self._begin()
        if self._run is not None:
            yield from self._in_one_call(self._run)
            if self._run is not None:
                return
        yield from self._step_by_step()

    def _seen(self, w: Array, b: float, alpha: Array) -> Solution | None:
        """Weights and multipliers to begin from, with the bounds that they give."""
        if on_cluster(self._X):
            return None
        w, y, U = np.asarray(w, np.float64), self._y, self._caps
        z = y * (np.asarray(self._X @ w, np.float64) + b)
        v = np.asarray(self._X.T @ (alpha * y), np.float64)
        loss, share = self._loss, alpha / np.maximum(U, 1e-300)
        if isinstance(loss, Logistic) or not math.isfinite(float(w @ w) + float(v @ v)):
            return None
        lack = np.maximum(0.0, 1.0 - z)
        squared = isinstance(loss, SquaredHinge)
        terms = float(alpha.sum()) - (0.25 * float(alpha @ share) if squared else 0.0)
        primal = 0.5 * float(w @ w) + float(U @ (lack * lack if squared else lack))
        bound = terms - 0.5 * float(v @ v)
        return Solution(w, float(b), alpha, primal, bound, max(0.0, primal - bound), 1)

    def _in_one_call(self, run: NewtonRun) -> Iterator[Candidate]:
        """All steps at once, or one at a time where somebody watches."""
        run.u[:] = self._u
        h, ending = self._h, MORE
        if self._resume is not None:
            run.restore(self._resume["run"])
            h, self.n_iter = run.h, run.steps
        while ending in (MORE, CLOSED):
            before = run.steps, self.tol
            ending = run.go(self.tol, 0.0, 1 if self._watched else self._max_iter, h)
            h, self.n_iter = run.h, run.steps
            if ending == SINGULAR:
                self._run, self._u, self._h = None, run.best, h
                return
            yield Candidate(
                max(1, run.steps), run.primal, run.dual, int(np.count_nonzero(run.alpha))
            )
            if before == (run.steps, self.tol):
                return

    def _step_by_step(self) -> Iterator[Candidate]:
        self._sums = sums = FullSums(*self._problem, self.pool)
        smooth = SmoothedHinge(self._h) if isinstance(self._loss, Hinge) else self._loss
        none, d = np.zeros(len(self._y)), len(self._u)
        self._factor, self._scale, self._highest = np.empty((d, d)), np.empty(d), (0.0, none)
        self._lowest = p = sums.at(self._u, sums.margins(self._u), none, 0.0, smooth)
        halved, since = math.inf, 0
        if self._resume is not None:
            p, self._lowest = (
                Point(one[0], one[1], SmoothedHinge(h) if h else self._loss, one[2], one[3], one[4])
                for one, h in zip(self._resume["points"], self._resume["widths"], strict=True)
            )
            self._highest, self.n_iter = tuple(self._resume["highest"]), self._resume["n_iter"]
            halved, since = self._resume["since"]
        while since <= PATIENCE:
            self._at = p, halved, since
            v, H = sums.gather(p)
            self._bound(p, v)
            if self._candidate.within(self.tol):
                yield self._candidate
            step, decrement2 = self._step(self._gradient(p, v), H)
            if not math.isfinite(decrement2):
                return
            dz, goal = sums.margins(step), self.tol * self._primal(p)
            q = self._go(sums, p, step, dz, decrement2, goal)
            if q is None:
                return
            self.n_iter += 1
            if self._primal(q) < self._primal(self._lowest):
                self._lowest = q
            erred = self._value(q) - self._value(p) + 0.5 * decrement2
            if q.smooth is p.smooth and abs(erred) <= NEAR * goal:
                self._foretell(p, p.u + step, dz)
            seen = self._candidate
            halved, since = (seen.gap, 0) if seen.gap <= 0.5 * halved else (halved, since + 1)
            since = since if q.smooth is p.smooth else 0
            p = q
            self._at = p, halved, since
            yield seen

    @property
    def _candidate(self) -> Candidate:
        active = int(np.count_nonzero(self._lowest.D))
        return Candidate(self.n_iter, self._primal(self._lowest), self._highest[0], active)

    def _penalty(self, u: Floats) -> float:
        return 0.5 * float(self._ridge @ (u * u))

    def _value(self, p: Point) -> float:
        """The objective with the smooth loss."""
        return self._penalty(p.u) + float(p.sums[0])

    def _primal(self, p: Point) -> float:
        """The objective."""
        return self._penalty(p.u) + float(p.sums[1])

    def _kink(self, p: Point) -> float:
        """Σ Uℓ(z) + αz less the dual terms: what is left of the gap once the gradient is zero."""
        return float(p.sums[1] + p.sums[6] - p.sums[4] - p.sums[5])

    def _gradient(self, p: Point, v: Floats) -> Floats:
        gradient = self._ridge * p.u - v[0] - v[1]
        if not self._free:
            gradient[-1] = 0.0
        if not (math.isfinite(p.sums[0]) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        return gradient

    def _go(
        self, sums: FullSums, p: Point, step: Floats, dz: Floats, decrement2: float, goal: float
    ) -> Point | None:
        """Along a step: all of it, or as far as the objective falls; None where it does not."""
        smooth = self._narrower(p, decrement2, goal)
        if smooth is None:
            return None
        q, value = sums.at(p.u + step, p.z, dz, 1.0, smooth), self._value(p)
        if smooth is not p.smooth or self._value(q) <= value - 1e-4 * decrement2 + 4e-15 * value:
            return q
        t = self._length(sums, p, step, dz)
        q = sums.at(p.u + t * step, p.z, dz, t, smooth)
        return q if self._value(q) < value else None

    def _narrower(self, p: Point, decrement2: float, goal: float) -> Any:
        """The loss to go on with: a narrower kink where it is the kink that holds the gap up."""
        if not isinstance(p.smooth, SmoothedHinge):
            return p.smooth
        kink = self._kink(p)
        if kink <= max(goal, 10.0 * decrement2):
            return p.smooth
        h = p.smooth.h * min(0.7, max(NARROWING, math.sqrt(0.5 * goal / kink)))
        return SmoothedHinge(h) if h >= LEAST else None

    def _bound(self, p: Point, v: Floats) -> None:
        """The bound that the multipliers of p give, those of the heavier class shrunk."""
        plus, minus = float(p.sums[2]), float(p.sums[3])
        heavy = max(plus, minus)
        share = min(plus, minus) / heavy if self._free and heavy > 0.0 else 1.0
        r, s = (share, 1.0) if plus > minus else (1.0, share)
        pull = (r * v[0] + s * v[1])[:-1]
        bound = r * float(p.sums[4]) + s * float(p.sums[5])  # E(rα) ≥ rE(α)
        bound -= 0.5 * float(pull @ (pull / self._ridge[:-1]))
        if bound > self._highest[0]:
            self._highest = (bound, np.where(self._y > 0.0, r, s) * p.alpha)

    def _step(self, gradient: Floats, H: Floats) -> tuple[Floats, float]:
        """Newton's step, and its decrement squared."""
        step = np.empty_like(gradient)
        if len(step) <= COMPILED:
            given = (H, self._ridge, gradient, self._free, self._factor, self._scale, step)
            decrement2 = float(full_sums.newton_step(*given))
            if decrement2 >= 0.0:
                return step, decrement2
        A = np.tril(H[: len(step), : len(step)])
        A += np.tril(A, -1).T
        A[np.diag_indices(len(A))] += self._ridge
        if not self._free:
            A[-1] = A[:, -1] = 0.0
        step = -Curvature(A).solve(gradient)
        return step, -float(gradient @ step)

    def _foretell(self, p: Point, u: Floats, dz: Floats) -> None:
        """The bound that the multipliers after a whole step from p give, were P quadratic."""
        alpha = np.empty_like(dz)
        terms = float(full_sums.foretold(self._loss, p.alpha, p.D, dz, self._caps, alpha))
        bound = terms - 0.5 * float(self._ridge @ (u * u))
        balanced = not self._free or abs(float(alpha @ self._y)) <= BALANCED * float(alpha.sum())
        if terms >= 0.0 and balanced and bound > self._highest[0]:
            self._highest = (bound, alpha)

    def _length(self, sums: FullSums, p: Point, step: Floats, dz: Floats) -> float:
        """The t at which P(p + t·step) is smallest: its slope in t changes sign there."""
        a, b = float(self._ridge @ (p.u * step)), float(self._ridge @ (step * step))
        low, high, t, slopes = 0.0, 1.0, 0.5, np.empty(2)
        for _ in range(30):
            full_sums.along(p.smooth, p.z, dz, t, sums.caps, slopes)
            slope, bend = a + t * b + float(slopes[0]), b + float(slopes[1])
            low, high = (t, high) if slope < 0.0 else (low, t)
            trial = t - slope / bend if bend > 0.0 else t
            trial = trial if low < trial < high else 0.5 * (low + high)
            if abs(trial - t) <= 1e-3 * t:
                break
            t = trial
        return t

    def interrupted(self) -> None:
        self._known = None
        if not hasattr(self, "_run"):
            self._begin()
        if self._run is not None and not math.isfinite(self._run.primal):
            self._run.go(1.0, 0.0, 1, WIDTH)
        elif self._run is None and not hasattr(self, "_lowest"):
            next(self._step_by_step())

    def state(self) -> dict[str, Any]:
        """Where the run stands: what is kept for features and rows."""
        if self._known is not None:
            return {}
        if self._run is not None:
            return {"run": self._run.state(), "n_iter": self.n_iter}
        points = [[one.u, one.z, one.alpha, one.D, one.sums] for one in (self._at[0], self._lowest)]
        widths = [getattr(one.smooth, "h", 0.0) for one in (self._at[0], self._lowest)]
        return {
            "points": points, "widths": widths, "highest": list(self._highest),
            "since": list(self._at[1:]), "n_iter": self.n_iter,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        self._resume = state or None

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once: there is no other way here."""

    def solution(self) -> Solution:
        if self._known is not None:
            return self._known
        if self._run is not None:
            primal, u = self._run.primal, self._run.best
            bound, alpha = self._run.dual, self._run.alpha.copy()
        else:
            primal, u = self._primal(self._lowest), self._lowest.u
            bound, alpha = self._highest
        w, b = self._columns.outside(u[:-1].copy(), float(u[-1]))
        b = float(b) if self._free else 0.0
        gap = max(0.0, primal - bound)
        return Solution(np.asarray(w), b, alpha, primal, bound, gap, max(1, self.n_iter))
