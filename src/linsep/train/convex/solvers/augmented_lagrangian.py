"""Crammer and Singer's machine on many dense rows: augmented Lagrangian with Newton steps.

    minimise over W, b   P = ½Σ‖wₖ‖² + Σᵢ Uᵢ max zᵢ,   zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ]

The multipliers pᵢ of a row, on the simplex, are held near those of the round before, cᵢ, which
makes the loss smooth (Rockafellar, *Augmented Lagrangians and applications of the proximal point
algorithm in convex programming*, 1976). A round minimises ½‖W‖² + Σ Uᵢφᵢ(zᵢ) with

    φ(z) = max over p of ⟨p, z⟩ − (ε/2)‖p − c‖²                          (`classes.smoothed_rows`)

by Newton's method: H is known wherever multipliers are at no bound, and steps are solved for by
conjugate gradients, with a factor of H of some rows as preconditioner (Li, Sun and Toh, *A highly
efficient semismooth Newton augmented Lagrangian method*, 2018). Then c ← p. The p of every point
are feasible, A = U(e_y − p), so that every point bounds the optimum:

    P − D = Σ Uᵢ(max zᵢ − ⟨pᵢ, zᵢ⟩) + ½‖W − Σ Aᵢxᵢᵀ‖²

A round ends where the second part, which Newton's method makes small, is no longer the larger one.
ε falls as rounds go on, but not far: multipliers come near because c does. Few rows have several
multipliers above zero, and only these take part in products. With a new centre many lose theirs,
and H its curvature with them: steps are damped, as if every row had a little.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.classes.joint_problem import JointProblem, even
from linsep.train.convex.classes.smoothed_rows import SmoothedRows
from linsep.train.convex.coordinates import TOO_LARGE, moderate
from linsep.train.convex.drive import Candidate
from linsep.train.convex.parts.conjugate_gradients import Product, conjugate_gradients
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST, LEAST, TINY = 1.0, 0.1, 1e-9  # ε at first; down to where it falls in any case; the least
FEW, NARROWER = 2, 0.5  # steps of a round after which ε falls, and to which part
INNER = 0.3  # of what the centre takes off the loss: what Newton's method may leave of the gap
SLIGHT = 0.03  # part of the gap of the multipliers that counts as little
FORCING = 0.3  # part of the gradient that a step may leave
MOST = 300  # products for a step, at most
DAMPED, LEAST_DAMPED = 0.05, 1e-3  # of H's diagonal: at the beginning of a round, and later
SHORT, LONG = 0.3, 0.7  # parts of a step: below, damping grows; above, it falls
MORE, LESS = 5.0, 0.2
AIM = 0.1  # part of what a round may leave that its last step aims at
SEARCH = 8  # points along a step that are tried, at most
NEAR = 0.3  # part of the slope that may be left along a step
PATIENCE = 60  # steps without half the gap
SINGLE = 1e-6  # relative gap down to which float32 rows are multiplied as such


class Point(NamedTuple):
    """Weights and what all rows say of them."""

    W: Floats
    gradient: Floats
    primal: float
    dual: float
    kink: float
    pulled: float  # (ε/2)Σ Uᵢ‖pᵢ − cᵢ‖²

    @property
    def left(self) -> float:
        """What Newton's method has left of the gap."""
        return max(0.0, self.primal - self.dual - self.kink) + self.uneven

    @property
    def uneven(self) -> float:
        """What multipliers too many to break even add to the gap, one each at most."""
        return float(np.abs(self.gradient[:, -1]).sum())

    @property
    def allowed(self) -> float:
        """What it may leave: less than what this round has to say about the multipliers."""
        return INNER * max(self.pulled, SLIGHT * self.kink)


class AugmentedLagrangian(Stateful):
    """The method as a solver.

    Parameters
    ----------
    problem : of all classes, with dense rows
    n_jobs : threads; never changes the bytes of the result
    start : multipliers (n, K) and intercepts of a neighbouring problem
    """

    name = "augmented_lagrangian"
    tol = 1e-4
    state_names = (
        "_W",
        "_epsilon",
        "n_iter",
        "_lowest",
        "_highest",
        "_halved",
        "_since",
        "_damping",
    )

    def __init__(
        self,
        problem: JointProblem,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        self._whole, self._problem = problem, problem.used
        self.pool, self.n_iter, self._start = Pool(n_jobs), 0, start
        self._epsilon, self._restored = WIDEST, False

    def _begin(self) -> None:
        problem = self._problem
        X, self._columns = moderate(problem.X, problem.intercept)
        self._problem = problem = problem._replace(X=np.ascontiguousarray(X))
        scale = self._columns.scale.astype(np.float64)
        self._ridge = np.append(scale**2 if scale.size else np.ones(X.shape[1]), 0.0)
        self._rows = self._rows_of(None)
        self._moments = self._rows.moments() / float(problem.caps.sum())
        self._W = np.zeros((problem.n_classes, X.shape[1] + 1))
        self._lowest: tuple[float, Floats] = (math.inf, self._W)
        self._highest: tuple[float, Floats] = (-math.inf, self._rows.centre)
        self._halved, self._since, self._damping = math.inf, 0, DAMPED

    def _rows_of(self, centre: Floats | None) -> SmoothedRows:
        """Rows in the precision that the tolerance asks for."""
        single = self._problem.X.dtype == np.float32 and self.tol >= SINGLE
        rows = SmoothedRows(self._problem, self.pool, np.float32 if single else np.float64)
        if centre is not None:
            rows.centre[:] = centre
        return rows

    def _first(self) -> None:
        """Multipliers to begin with: those given, or all of every row at its own class."""
        problem, centre = self._problem, self._rows.centre
        centre[problem.own] = 1.0
        if self._start is None:
            return
        A, b = self._start
        centre[:] = problem.leaving(A[self._whole.caps > 0.0]) / problem.caps[:, None]
        self._W[:, :-1] = problem.moves(centre * problem.caps[:, None]).T @ problem.X
        self._W[:, :-1] /= self._ridge[:-1]
        self._W[:, -1] = self._columns.inside(self._W[:, :-1] * 1.0, b)[1]
        centre[problem.own] = np.maximum(0.0, 1.0 - centre.sum(axis=1))
        self._epsilon = LEAST

    def candidates(self) -> Iterator[Candidate]:
        """One for each round."""
        if not self._restored:
            self._begin()
            self._first()
        else:
            yield self._candidate()
        while self._since <= PATIENCE:
            if self.tol < SINGLE and self._rows.real == np.float32:
                self._rows = self._rows_of(self._rows.centre)
            if not self._round():
                return
            yield self._candidate()

    def _candidate(self) -> Candidate:
        bounds = self._lowest[0], self._highest[0]
        return Candidate(max(1, self.n_iter), *bounds, len(self._problem.codes))

    def _round(self) -> bool:
        """Newton steps with one centre; whether one of them could be made."""
        rows, epsilon = self._rows, self._epsilon
        rows.scores(self._W, rows.S)
        inverse: Product | None = None
        exact, self._damping = False, max(self._damping, DAMPED)
        p, before = self._evaluate(0.0, self._W), self.n_iter
        while p.left > p.allowed and self._gap(p) > self.tol * p.primal and self._since <= PATIENCE:
            ridge = self._damped()
            inverse = inverse or rows.inverse(ridge)
            step = self._step(p, ridge, inverse, exact)
            rows.scores(step, rows.dS)
            t = self._length(p, step)
            if t == 0.0:
                break
            exact = abs(t - 1.0) < 0.1
            if t < SHORT:
                self._damping *= MORE
            elif t > LONG:
                self._damping = max(LEAST_DAMPED, self._damping * LESS)
            p = self._evaluate(t, p.W + t * step)
            self.n_iter += 1
            self._since += 1
        self._since += 1  # a round without a step counts too
        self._keep(p)
        self._W = p.W
        rows.centre[:] = rows.P
        if self.n_iter - before <= FEW or epsilon > LEAST:
            self._epsilon = max(TINY, NARROWER * epsilon)
        return self.n_iter > before or p.kink > 0.0

    def _gap(self, p: Point) -> float:
        return min(p.primal, self._lowest[0]) - p.dual + p.uneven

    def _evaluate(self, t: float, W: Floats) -> Point:
        """Go t along the step to W."""
        at = self._rows.evaluate(self._epsilon, t)
        gradient = self._ridge * W - at.V
        if not self._problem.intercept:
            gradient[:, -1] = 0.0
        primal = 0.5 * float(np.sum(self._ridge * W * W)) + at.charge
        if not (math.isfinite(primal) and np.isfinite(gradient).all()):
            raise OverflowedError(TOO_LARGE)
        dual = at.away - 0.5 * float(np.sum(at.V[:, :-1] ** 2 / self._ridge[:-1]))
        if primal < self._lowest[0]:
            self._lowest = primal, W
        pulled = 0.5 * self._epsilon * at.moved
        return Point(W, gradient, primal, dual, max(0.0, at.charge - at.mean), pulled)

    def _keep(self, p: Point) -> None:
        """The bound of a point, with multipliers that break even where intercepts are free."""
        problem, dual = self._problem, p.dual
        A = problem.moves(self._rows.P * problem.caps[:, None])
        if problem.intercept:
            A = even(A, problem.codes)
            V = A.T @ problem.X
            dual = float(A[problem.own].sum()) - 0.5 * float(np.sum(V * V / self._ridge[:-1]))
        if dual > self._highest[0]:
            self._highest = dual, A
        gap = self._lowest[0] - self._highest[0]
        if gap <= 0.5 * self._halved:
            self._halved, self._since = gap, 0

    def _damped(self) -> Floats:
        """The ridge, and a part of H's diagonal, were every row as curved as these are."""
        curved = float(self._rows.curved.sum()) or float(self._problem.caps.sum()) / self._epsilon
        return np.asarray(
            self._ridge + self._damping * curved / self._problem.n_classes * self._moments
        )

    def _step(self, p: Point, ridge: Floats, inverse: Product, exact: bool) -> Floats:
        """Nearly −H⁻¹∇, by preconditioned conjugate gradients."""
        free, left = self._problem.intercept, FORCING**2
        if exact and p.left > 0.0:
            left = min(left, max(1e-8, AIM * p.allowed / p.left))

        def product(q: Floats) -> Floats:
            Hq = ridge * q + self._rows.curve(q)
            Hq[:, -1] *= free
            return Hq

        def solve(r: Floats) -> Floats:
            y = inverse(r)
            y[:, -1] *= free
            return y

        return np.asarray(conjugate_gradients(product, solve, -p.gradient, left, MOST)[0])

    def _length(self, p: Point, step: Floats) -> float:
        """How far to go along a step: to where the function has fallen and most of the slope is
        gone; 0 where it does not fall."""
        a = float(np.sum(self._ridge * p.W * step))
        b = float(np.sum(self._ridge * step * step))
        slope = float(np.vdot(p.gradient, step))
        if not slope < 0.0:
            return 0.0
        start = self._rows.along(self._epsilon, 0.0)[0]
        low, high, t = (0.0, slope), (0.0, 0.0), 1.0
        for k in range(4 * SEARCH):
            value, rise = self._rows.along(self._epsilon, t)
            fell = value - start + t * (a + 0.5 * t * b) <= 1e-4 * t * slope
            rise += a + t * b
            if fell and abs(rise) <= -NEAR * slope:
                return t
            if fell and rise < 0.0:
                low = t, rise
                if not high[0]:
                    t *= 2.0
                    continue
            else:
                high = t, max(rise, 0.0)
            if k >= SEARCH and low[0] > 0.0:
                break
            width = high[0] - low[0]
            t = low[0] - width * low[1] / (high[1] - low[1])
            t = min(max(t, low[0] + 0.1 * width), high[0] - 0.1 * width)
        return low[0]

    def state(self) -> dict[str, Any]:
        return {**super().state(), "centre": self._rows.centre}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        super().restore(state)
        self._rows.centre[...], self._restored = state["centre"], True

    def interrupted(self) -> None:
        """A round left half done: the best points are whole."""
        if not hasattr(self, "_rows"):
            self._begin()
            self._first()
        if not math.isfinite(self._lowest[0]):
            self._W[:] = 0.0
            self._rows.scores(self._W, self._rows.S)
            self._keep(self._evaluate(0.0, self._W))

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once."""

    def solution(self) -> Solution:
        primal, W = self._lowest
        w, b = self._columns.outside(W[:, :-1].copy(), W[:, -1])
        b = b - b.mean() if self._problem.intercept else np.zeros(len(b))
        dual = self._highest[0] if math.isfinite(self._highest[0]) else 0.0
        A = self._highest[1] if math.isfinite(self._highest[0]) else np.zeros_like(self._rows.P)
        bounds = primal, dual, max(0.0, primal - dual)
        return Solution(w, b, self._whole.spread(A), *bounds, max(1, self.n_iter))
