"""Crammer and Singer's machine on many rows of few columns: Newton's method on a softened loss.

    P_ε = ½Σ‖wₖ‖² + Σᵢ Uᵢ ε log Σₖ exp(zᵢₖ/ε),   zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ]

is softmax regression with margins, and with ε → 0 the machine itself. Its probabilities pᵢ are
feasible multipliers, A = U(e_y − p), so that every point bounds the optimum of the machine:

    P − D = Σ Uᵢ(max zᵢ − ⟨pᵢ, zᵢ⟩) + ½‖W − Σ Aᵢxᵢᵀ‖²

The first part falls about as ε², as fewer rows are near a kink and each is nearer. The second is
what Newton's method leaves. H is exact, (Kd)²: rows whose class is as good as certain have no part
in it, so that steps cost less as ε falls. Each goes to the minimum along its line. Where a step
promises little beside the first part, ε is halved, and the step goes where the optimum moves to:

    H dW = −∇P_ε − (∂∇P_ε/∂ε) dε,   ∂pₖ/∂ε = pₖ(Σ p log p − log pₖ)/ε

A sample comes first: it is cheap, and ε ends there where the sample says no more about all rows.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.blocks.blocks import spans
from linsep.errors import OverflowedError
from linsep.parallel import Pool, add_up
from linsep.train.convex.coordinates import TOO_LARGE, moderate
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate
from linsep.train.convex.joint.class_hessian import ClassHessian
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST, NARROWER = 1.0, 0.5  # ε at first, and to which part it falls
SETTLED = 0.01  # of what the kinks leave of the gap: what a step promises where ε falls
ENOUGH = 0.5  # part of the tolerance that the kinks may leave at last
NEGLIGIBLE = 1e-6  # 1 − max p of rows that have no part in H
SAMPLE = 1 << 15  # rows of the sample
SAID = 0.03  # ε at which it ends
FLAT = 0.1  # part of the slope that may be left along a step
SEARCH = 30  # points along a step, at most
PATIENCE = 60  # steps without a narrower ε or half the gap
PART = 8192  # rows whose sums one thread makes


class SoftRows:
    """Labelled rows and their probabilities at some weights.

    Parameters
    ----------
    X : dense rows
    codes : class number of each row
    caps : Uᵢ > 0
    ridge : curvature that each weight of a class has besides
    n_classes : K
    pool : threads; they change no byte
    """

    def __init__(
        self, X: Array, codes: Array, caps: Floats, ridge: Floats, n_classes: int, pool: Pool
    ) -> None:
        self.X, self.codes, self.caps, self.ridge, self.pool = X, codes, caps, ridge, pool
        n, self.raised = X.shape[0], 1.0  # times the ridge: what steps go by
        self.P, self.unsure = np.empty((n_classes, n)), np.empty(n)
        self._S, self._D = np.empty((n, n_classes)), np.empty((n, n_classes))
        self._hessian = ClassHessian(X, n_classes, False, pool)
        self._parts = spans(n, PART)

    def evaluate(self, W: Floats, epsilon: float) -> None:
        """Go to W: P, D, their parts and the gradient of P_ε there."""

        def one(span: tuple[int, int]) -> tuple[Floats, Floats]:
            some, sums = slice(*span), np.zeros(3)
            x = self.X[some].astype(np.float64, copy=False)
            np.matmul(x, W.T, out=self._S[some])
            soften(self._S, self.codes, self.caps, epsilon, *span, self.P, self.unsure, sums)
            moves = -self.P[:, some] * self.caps[some]
            moves[self.codes[some], np.arange(len(x))] += self.caps[some]
            return sums, moves @ x

        parts = self.pool.map(one, self._parts)
        charge, self.kink, away = add_up(np.array([sums for sums, _ in parts])).tolist()
        V = add_up(np.array([V for _, V in parts]))
        self.W, self.epsilon, self.gradient = W, epsilon, self.raised * self.ridge * W - V
        self.primal = 0.5 * float(np.sum(self.ridge * W * W)) + charge
        self.dual = away - 0.5 * float(np.sum(V * V / self.ridge))
        if not (math.isfinite(self.primal) and np.isfinite(self.gradient).all()):
            raise OverflowedError(TOO_LARGE)

    def curvature(self) -> Curvature:
        """H, ready to be solved with."""
        used = np.flatnonzero(self.unsure > NEGLIGIBLE)
        K, n = self.P.shape
        size = K * self.X.shape[1]
        if len(used):
            H = self._hessian(self.P * (self.caps / self.epsilon), used if len(used) < n else None)
        else:
            H = np.zeros((size, size))
        H.flat[:: size + 1] += np.tile(self.ridge, K)
        return Curvature(H)

    def drift(self) -> Floats:
        """∂∇P_ε/∂ε"""

        def one(span: tuple[int, int]) -> Floats:
            some = slice(*span)
            moved = np.zeros((len(self.P), span[1] - span[0]))
            drift(self.P, self.caps, self.epsilon, span[0], moved)
            return moved @ self.X[some].astype(np.float64, copy=False)

        return self.pool.sum(one, self._parts)

    def length(self, step: Floats) -> float:
        """How far the minimum along a step is, nearly; 0 where P_ε does not fall along it."""
        slope = float(np.vdot(self.gradient, step))
        if not slope < 0.0:
            return 0.0

        def scores(span: tuple[int, int]) -> None:
            some = slice(*span)
            x = self.X[some].astype(np.float64, copy=False)
            np.matmul(x, step.T, out=self._D[some])

        self.pool.map(scores, self._parts)
        a = self.raised * float(np.sum(self.ridge * self.W * step))
        b = self.raised * float(np.sum(self.ridge * step * step))
        low, high, t = 0.0, math.inf, 1.0
        for _ in range(SEARCH):
            rise, bend = self._along(t)
            rise, bend = rise + a + t * b, bend + b
            if abs(rise) <= -FLAT * slope:
                return t
            low, high = (t, high) if rise < 0.0 else (low, t)
            t = t - rise / bend
            if high == math.inf:
                t = min(t, 4.0 * low)
            elif not low < t < high:
                t = 0.5 * (low + high)
        return low

    def _along(self, t: float) -> tuple[float, float]:
        """First and second derivative of the losses, t along the step."""

        def one(span: tuple[int, int]) -> Floats:
            sums = np.zeros(2)
            along(self._S, self._D, t, self.codes, self.caps, self.epsilon, *span, sums)
            return sums

        rise, bend = add_up(np.array(self.pool.map(one, self._parts))).tolist()
        return rise, bend

    def step(self, least: float) -> bool:
        """One step of Newton's method, with a narrower ε where this one has no more to say and the
        kinks leave more than `least`; whether P_ε fell."""
        inverse, narrowed = self.curvature(), False
        step = -inverse.solve(self.gradient.ravel()).reshape(self.W.shape)
        promised = -0.5 * float(np.vdot(step, self.gradient))
        if promised <= SETTLED * self.kink and self.kink > least:
            epsilon = NARROWER * self.epsilon
            ahead = self.gradient + (epsilon - self.epsilon) * self.drift()
            self.evaluate(self.W, epsilon)
            narrowed = True
            step = -inverse.solve(ahead.ravel()).reshape(self.W.shape)
        t = self.length(step)
        if t == 0.0 and narrowed:
            return True
        if t == 0.0:
            return False
        self.evaluate(self.W + t * step, self.epsilon)
        return True


class SoftenedNewton:
    """The method as a solver, without intercepts.

    Parameters
    ----------
    X : checked array
    codes : class number of each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty
    n_classes : K
    n_jobs : threads; never changes the bytes of the result
    start : multipliers (n, K) of a neighbouring problem, and intercepts, which are not looked at

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    >>> solution = drive(SoftenedNewton(X, codes, C=10.0, n_classes=3), Goal(1e-6))
    >>> solution.status.name, (X @ solution.w.T).argmax(axis=1)
    ('converged', array([0, 1, 2]))
    """

    name = "newton"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        codes: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        n_classes: int,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n = X.shape[0]
        self._X, self._codes, self._K = X, codes, n_classes
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        self.pool, self.n_iter, self._start, self._restored = Pool(n_jobs), 0, start, False

    def _begin(self) -> None:
        used = self._caps > 0.0
        self._used: Any = slice(None) if used.all() else used
        X, self._columns = moderate(self._X[self._used], False)
        scale = self._columns.scale.astype(np.float64)
        ridge = scale**2 if scale.size else np.ones(X.shape[1])
        codes = np.ascontiguousarray(self._codes[self._used], np.int64)
        caps = np.ascontiguousarray(self._caps[self._used])
        self._rows: Any = self._rows_of(X, codes, caps, ridge)
        self._lowest: tuple[float, Floats] = (math.inf, np.zeros((self._K, X.shape[1])))
        self._highest: tuple[float, Floats] = (-math.inf, self._rows.P)
        self._halved, self._since = math.inf, 0

    def _rows_of(self, X: Array, codes: Array, caps: Floats, ridge: Floats) -> SoftRows:
        return SoftRows(X, codes, caps, ridge, self._K, self.pool)

    def _first(self) -> None:
        """Weights and ε to begin with: of multipliers that are given, or of the sample."""
        rows, W, epsilon = self._rows, np.zeros_like(self._lowest[1]), WIDEST
        n = len(rows.codes)
        if self._start is not None:
            A = self._start[0][self._used]
            W, epsilon = np.asarray(A.T @ rows.X, np.float64) / rows.ridge, SAID
        elif n > 2 * SAMPLE:
            W, epsilon = self._sampled(scattered(n, SAMPLE))
        rows.evaluate(W, epsilon)
        self._keep()

    def _sampled(self, which: Array) -> tuple[Floats, float]:
        rows = self._rows
        part = float(rows.caps[which].sum() / rows.caps.sum())
        X, codes = np.ascontiguousarray(rows.X[which]), rows.codes[which]
        some = SoftRows(X, codes, rows.caps[which], part * rows.ridge, self._K, self.pool)
        some.evaluate(self._lowest[1], WIDEST)
        for _ in range(PATIENCE):
            if not some.step(0.0) or some.epsilon <= SAID:
                break
        return some.W, some.epsilon

    def candidates(self) -> Iterator[Candidate]:
        """One for each step."""
        if not self._restored:
            self._begin()
            self._first()
        while True:
            yield self._candidate()
            if self._since > PATIENCE:
                return
            before = self._rows.epsilon
            if not self._rows.step(ENOUGH * self.tol * self._lowest[0]):
                return
            self.n_iter += 1
            self._since = 0 if self._rows.epsilon < before else self._since + 1
            self._keep()

    def _candidate(self) -> Candidate:
        n = len(self._rows.codes)
        return Candidate(max(1, self.n_iter), self._lowest[0], self._highest[0], n)

    def _keep(self) -> None:
        rows = self._rows
        if rows.primal < self._lowest[0]:
            self._lowest = rows.primal, rows.W
        if rows.dual > self._highest[0]:
            self._highest = rows.dual, rows.P.copy()
        gap = self._lowest[0] - self._highest[0]
        if gap <= 0.5 * self._halved:
            self._halved, self._since = gap, 0

    def state(self) -> dict[str, Any]:
        known = {"W": self._rows.W, "epsilon": self._rows.epsilon, "n_iter": self.n_iter}
        best = {"lowest": self._lowest, "highest": self._highest}
        return {**known, **best, "halved": self._halved, "since": self._since}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        self._rows.evaluate(state["W"], state["epsilon"])
        self._lowest, self._highest = state["lowest"], state["highest"]
        self.n_iter, self._halved, self._since = (state[k] for k in ("n_iter", "halved", "since"))
        self._restored = True

    def interrupted(self) -> None:
        """A step left half done: the best points are whole."""
        if not hasattr(self, "_rows"):
            self._begin()
        if not math.isfinite(self._lowest[0]):
            self._rows.evaluate(self._lowest[1], WIDEST)
            self._keep()

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once."""

    def solution(self) -> Solution:
        primal, W = self._lowest
        w, _ = self._columns.outside(W.copy(), np.zeros(self._K))
        rows = self._rows
        moves = np.ascontiguousarray((-self._highest[1] * rows.caps).T)
        own = np.arange(len(moves)), rows.codes
        moves[own] = 0.0
        moves[own] = -moves.sum(axis=1)
        A = np.zeros((len(self._codes), self._K))
        A[self._used] = moves
        dual = self._highest[0]
        gap = max(0.0, primal - dual)
        return Solution(w, np.zeros(self._K), A, primal, dual, gap, max(1, self.n_iter))


@kernel
def soften(S, codes, caps, epsilon, first, last, P, unsure, sums):  # type: ignore[no-untyped-def]
    """P ← probabilities; adds Σ U max z, Σ U(max z − ⟨p, z⟩) and Σ U(1 − p_y) to `sums`"""
    K, inverse = S.shape[1], np.divide(1.0, epsilon)
    for i in range(first, last):
        s, y = S[i], codes[i]
        own, top = s[y] - 1.0, 0.0
        for k in range(K):
            P[k, i] = s[k] - own if k != y else 0.0
            top = max(top, P[k, i])
        total = below = 0.0
        for k in range(K):
            u = P[k, i] - top
            e = np.exp(u * inverse)
            P[k, i] = e
            total += e
            below -= e * u
        part = np.divide(1.0, total)
        for k in range(K):
            P[k, i] *= part
        unsure[i] = 1.0 - part
        sums[0] += caps[i] * top
        sums[1] += caps[i] * below * part
        sums[2] += caps[i] * (1.0 - P[y, i])


@kernel
def drift(P, caps, epsilon, first, moved):  # type: ignore[no-untyped-def]
    """moved ← U ∂p/∂ε of some rows from `first` on"""
    K = P.shape[0]
    for j in range(moved.shape[1]):
        i, mean = first + j, 0.0
        for k in range(K):
            if P[k, i] > 0.0:
                moved[k, j] = np.log(P[k, i])
                mean += P[k, i] * moved[k, j]
        scale = np.divide(caps[i], epsilon)
        for k in range(K):
            moved[k, j] = scale * P[k, i] * (mean - moved[k, j])


@kernel
def along(S, D, t, codes, caps, epsilon, first, last, sums):  # type: ignore[no-untyped-def]
    """Adds first and second derivative of Σ U ε log Σ exp(z/ε) at S + tD to `sums`"""
    K, inverse = S.shape[1], np.divide(1.0, epsilon)
    z = np.empty(K)
    for i in range(first, last):
        s, step, y = S[i], D[i], codes[i]
        own, top = s[y] + t * step[y] - 1.0, 0.0
        for k in range(K):
            z[k] = s[k] + t * step[k] - own if k != y else 0.0
            top = max(top, z[k])
        total = mean = square = 0.0
        for k in range(K):
            u = (z[k] - top) * inverse
            if u > -40.0:
                e, d = np.exp(u), step[k] - step[y]
                total += e
                mean += e * d
                square += e * d * d
        part = np.divide(1.0, total)
        mean *= part
        sums[0] += caps[i] * mean
        sums[1] += caps[i] * (square * part - mean * mean) * inverse
