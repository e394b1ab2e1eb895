"""Logistic regression with several classes on sparse rows, by limited-memory BFGS.

    P(W, b) = ½‖W‖² + Σ Uᵢ (−log softmax of the own class at xᵢᵀW + b),     Uᵢ = Ccᵢ

The scores of all rows are kept, so that a search along a line reads no row: a step costs one
product Xᵀ(·) and one X(·), which go through the weights of all classes feature by feature. The
biases are at their best for given W. Then the multipliers Uᵢ(e_y − pᵢ) are feasible in the dual and
the gap is exactly ½‖∇_W P‖²; at the end it is computed anew from the rows and the weights.

Weights are kept as `sparse_spaces` says: as combinations of the rows, where these are few.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep._exponentials import exp_of_negative
from linsep.parallel import Pool
from linsep.train.convex.drive import Candidate
from linsep.train.convex.dual.kernels import inner
from linsep.train.convex.softmax.sparse_spaces import (
    PARTS,
    FeatureSpace,
    Products,
    RowSpace,
    Vector,
)
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PAIRS = 10  # past steps that tell of the curvature, at most
REMEMBERED = 1 << 26  # numbers in these, at most, where three of them fit
FINE, COARSE = 1e-13, 1e-7  # of all caps, what a class may be out of balance: at the end, before


class Losses:
    """Σ Uᵢℓ of scores, with the biases at their best."""

    def __init__(self, codes: Any, caps: Floats, n_classes: int, free: bool, pool: Pool) -> None:
        self.codes, self.caps, self.free, self.pool = codes.astype(np.int32), caps, free, pool
        self.b = np.zeros(n_classes)
        self.counts = np.bincount(codes, caps, n_classes)
        self.inverse: Floats | None = None  # of the second derivative by the biases, somewhere near
        cuts = [len(caps) * k // PARTS for k in range(PARTS + 1)]
        self.spans = list(pairwise(cuts))

    def _softmax(self, S: Floats, b: Floats, R: Floats) -> float:
        K = S.shape[1]
        whole = np.empty((PARTS, K), np.int64)
        work = [(w, w.view(np.float64), *span) for w, span in zip(whole, self.spans, strict=True)]
        return float(
            sum(self.pool.run(_softmax, [(S, self.codes, self.caps, b, R, *w) for w in work]))
        )

    def at(self, S: Floats, fine: bool = False) -> tuple[float, Floats]:
        """The sum, and Cc(p − e_y), its derivatives in the scores."""
        R = np.empty_like(S)
        enough = (FINE if fine else COARSE) * float(self.counts.sum())
        value = self._softmax(S, self.b, R)
        if not self.free:
            return value, R
        slope = R.sum(axis=0)
        fresh = False
        for _ in range(60):
            left = float(np.abs(slope).max())
            if left <= enough:
                break
            if self.inverse is None:
                self.inverse, fresh = self._inverse(R, slope), True
            step = np.clip(self.inverse @ slope, -5.0, 5.0)
            if np.abs(step).max() <= 1e-15 * (1.0 + np.abs(self.b).max()):
                break
            b = self.b - step
            b -= b.mean()
            now = self._softmax(S, b, R)
            after = R.sum(axis=0)
            if now > value * (1.0 + 1e-14) and not fresh:
                self._softmax(S, self.b, R)  # back: a new second derivative is due
                self.inverse = None
                continue
            for _ in range(60):  # too long: such steps may go round in circles
                if now <= value * (1.0 + 1e-14):
                    break
                step *= 0.5
                b = self.b - step
                now = self._softmax(S, b, R)
                after = R.sum(axis=0)
            if float(np.abs(after).max()) > 0.3 * left:
                self.inverse = None
            self.b, value, slope, fresh = b, now, after, False
        return value, R

    def _inverse(self, R: Floats, slope: Floats) -> Floats:
        P = R / np.where(self.caps > 0.0, self.caps, 1.0)[:, None]
        P[np.arange(len(R)), self.codes] += 1.0
        H = np.diag(slope + self.counts) - P.T @ (self.caps[:, None] * P)
        return np.asarray(np.linalg.pinv(H, rcond=1e-12, hermitian=True), np.float64)


@kernel
def _softmax(S, codes, caps, b, R, whole, power, start, stop):  # type: ignore[no-untyped-def]
    """Cc(p − e_y) of some rows into R; returns the sum of their losses."""
    total = 0.0
    K = S.shape[1]
    for i in range(start, stop):
        top = -np.inf
        for k in range(K):
            R[i, k] = S[i, k] + b[k]
            top = max(top, R[i, k])
        own = R[i, codes[i]] - top
        for k in range(K):
            R[i, k] -= top
        exp_of_negative(R[i], whole, power)
        mass = 0.0
        for k in range(K):
            mass += R[i, k]
        for k in range(K):
            R[i, k] *= caps[i] / mass
        R[i, codes[i]] -= caps[i]
        total += caps[i] * (np.log(mass) - own)
    return total


class SparseDescent:
    """The solver, as `linsep.train.convex.drive.drive` wants it.

    Parameters
    ----------
    X : checked CSR matrix
    codes : class number of each row
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses, finite
    n_classes : how many classes there are
    fit_intercept : whether the biases are free; otherwise they are 0
    n_jobs : threads; never changes the bytes of the result
    start : (A, W): Uᵢ(e_y − pᵢ) and weights (K, d) of a neighbouring problem

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from linsep.train.convex.drive import Goal, drive
    >>> solver = SparseDescent(sp.csr_matrix(np.eye(3, 5)), np.arange(3), None, 1.0, n_classes=3)
    >>> solution = drive(solver, Goal(1e-9, 100))
    >>> solution.w[:, :3].argmax(axis=1).tolist(), solution.status.name
    ([0, 1, 2], 'converged')
    """

    name = "quasi-newton"
    tol = 1e-4

    def __init__(
        self,
        X: Any,
        codes: Array,
        weights: Floats | None,
        C: float,
        *,
        n_classes: int,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Floats | None, Floats | None] = (None, None),
    ) -> None:
        self._X, self._codes, self._K, self._free = X, codes, n_classes, fit_intercept
        self._caps = C * (np.ones(len(codes)) if weights is None else np.asarray(weights, float))
        self._start, self.pool = start, Pool(n_jobs)
        self.n_iter, self._restored = 0, False

    def _begin(self) -> None:
        self.losses = Losses(self._codes, self._caps, self._K, self._free, self.pool)
        products = Products(self._X, self._K, self.pool)
        rows = 2 * products.n < products.d
        self.space = (RowSpace if rows else FeatureSpace)(products, self._caps)
        self.most = min(PAIRS, max(3, REMEMBERED // (2 * self.space.size)))
        self.memory: list[tuple[Vector, Vector, float]] = []
        self.x = self.space.begin(*self._start)

    def candidates(self) -> Iterator[Candidate]:
        """One for each step."""
        if not self._restored:
            self._begin()
            self.S = self.space.scores(self.x)
            loss, R = self.losses.at(self.S)
            self.value = loss + 0.5 * self.x.dot(self.x)
            self.g = self.space.gradient(self.x, R)
            self.n_iter = 1
        while True:
            gap = 0.5 * self.g.dot(self.g)
            yield Candidate(self.n_iter, self.value, self.value - gap, 1)
            if not self._step():
                return  # rounding hides what is left
            self.n_iter += 1

    def _step(self) -> bool:
        """One step of the method; whether P fell."""
        direction = self._direction()
        T = self.space.scores(direction)
        t, value, R = self._search(direction, T)
        if t == 0.0:
            return False
        s = direction.times(t)
        self.x, self.S, self.value = self.x.plus(1.0, s), self.S + t * T, value
        g = self.space.gradient(self.x, R)
        y, self.g = g.plus(-1.0, self.g), g
        curvature = s.dot(y)
        if curvature > 1e-14 * s.dot(s):
            self.memory = [*self.memory, (s, y, curvature)][-self.most :]
        return True

    def _direction(self) -> Vector:
        """−H⁻¹g by the two loops of Nocedal and Wright, algorithm 7.4."""
        q, taken = self.g, []
        for s, y, curvature in reversed(self.memory):
            alpha = s.dot(q) / curvature
            taken.append(alpha)
            q = q.plus(-alpha, y)
        q = self.space.guess(q)
        if self.memory:
            _, y, curvature = self.memory[-1]
            q = q.times(curvature / y.dot(self.space.guess(y)))
        for (s, y, curvature), alpha in zip(self.memory, reversed(taken), strict=True):
            q = q.plus(alpha - y.dot(q) / curvature, s)
        return q.times(-1.0)

    def _search(self, d: Vector, T: Floats) -> tuple[float, float, Floats]:
        """A step along d where the slope has fallen to a quarter; the convex line reads no rows."""
        x, slope, value = self.x, self.g.dot(d), self.value
        own, across, square = d.dot(d), x.dot(d), x.dot(x)
        t, low, high = 1.0, 0.0, np.inf
        if not self.memory:  # the first guess itself: as long as its curvature says
            t = -slope / (own + 0.5 * float(self._caps @ (T * T).sum(axis=1)))
        best = (0.0, value, np.empty(0))
        for _ in range(25):
            loss, R = self.losses.at(self.S + t * T)
            here = loss + 0.5 * (square + 2.0 * t * across + t * t * own)
            if here < best[1]:
                best = (t, here, R)
            now = across + t * own + inner(R.reshape(-1), T.reshape(-1))
            if abs(now) <= 0.25 * abs(slope) and here < value:
                break
            low, high = (low, t) if now > 0.0 else (t, high)
            t = 2.0 * t if high == np.inf else 0.5 * (low + high)
        return best

    def state(self) -> dict[str, Any]:
        vectors = [self.x, self.g, *(v for s, y, _ in self.memory for v in (s, y))]
        pairs = [(v.a, None if v.s is v.a else v.s) for v in vectors]
        known = {"vectors": pairs, "curvatures": [c for _, _, c in self.memory]}
        seen = {"S": self.S, "value": self.value, "b": self.losses.b}
        return {**known, **seen, "inverse": self.losses.inverse, "n_iter": self.n_iter}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = (None, None)
        self._begin()
        self.x, self.g, *pairs = (self.space.thawed(*pair) for pair in state["vectors"])
        steps = zip(pairs[::2], pairs[1::2], state["curvatures"], strict=True)
        self.memory = list(steps)
        self.S, self.value, self.n_iter = state["S"], state["value"], state["n_iter"]
        self.losses.b, self.losses.inverse = state["b"], state["inverse"]
        self._restored = True

    def interrupted(self) -> None:
        """A step is taken only once it is whole."""
        if not hasattr(self, "x"):
            self._begin()

    def rescaled(self) -> None:
        """The method minds no scale of all features together, and has no other."""

    def solution(self) -> Solution:
        """The weights, and the gap computed anew from the rows and from them."""
        W = self.space.weights(self.x)
        products, losses = self.space.products, self.losses
        loss, R = losses.at(products.scores(W), fine=True)
        primal = 0.5 * inner(W.reshape(-1), W.reshape(-1)) + loss
        left = W + products.weights(R)
        gap = 0.5 * inner(left.reshape(-1), left.reshape(-1))
        start = self.x.a if isinstance(self.space, RowSpace) else None
        known = (primal, primal - gap, gap, self.n_iter)
        return Solution(products.outside(W), losses.b, None, *known, start=start)
