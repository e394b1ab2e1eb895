"""Sparse weights by Newton's method: a quadratic model, minimised coordinate by coordinate.

    J(a) ≈ J + ⟨g, d⟩ + ½⟨d, Hd⟩ + λ Ω(f·(a + d))

in the features that matter: those with a weight, and those whose slope exceeds λ l1, the most
violated first (Yuan, Ho and Lin, 2012; Massias, Gramfort and Salmon, 2018). Each coordinate moves
to its best place, which the corner of |w| often makes exactly zero; once it is known which ones
are not, a linear system gives them all. Where the matrix H of the chosen features would be too
large, sparse rows keep the changes of the scores up to date instead.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep._scipy import linalg as sl
from linsep.rows.rows import Dense, add, as_rows, dot, square
from linsep.train.convex.steps.score_descent import Evaluation, ScoreDescent
from linsep.train.problem import Block
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FIRST = 100  # features looked at in the first step, where there are more
WIDEST = 1500  # weights in one matrix
HEAVY = 2e10  # products of one matrix
SWEEPS = 20
FACES = 60  # linear systems for one model, at most


def suits(descent: ScoreDescent) -> bool:
    """Whether the matrices of Newton's steps are worth their price."""
    (n, d), K = descent.problem.X.shape, len(descent.b)
    if K == 1:
        return sp.issparse(descent.problem.X) or d <= WIDEST
    return K * d <= WIDEST and float(n) * (K * d) ** 2 <= HEAVY


class ProximalNewton(Stateful):
    """Newton's steps under way; `seen` is where they have led."""

    state_names = ("_S", "seen", "stalled", "_least")

    def __init__(self, descent: ScoreDescent) -> None:
        self.descent = descent
        self._S = descent.scores(descent.a)
        self.seen = descent.evaluate(self._S)
        self.stalled, self._least = 0, np.inf  # steps in a row that rounding has eaten up

    def go(self, epoch: int) -> tuple[int, float]:
        """One step."""
        descent, seen = self.descent, self.seen
        chosen = self._chosen(seen)
        P = self._chances(seen)
        accuracy = 1e-3 * max(seen.value - max(seen.dual, 0.0), 1e-15 * seen.value)
        change, bias = np.zeros_like(seen.a), np.zeros(len(seen.b))
        if len(seen.b) == 1 and len(chosen) > WIDEST:
            change[0, chosen], bias[0] = self._by_columns(seen, chosen, P[:, 0], accuracy)
        else:
            change[:, chosen], bias = self._by_matrix(seen, chosen, P, accuracy)
        along = descent.scores(change) + bias
        size = self._search(seen, change, along)
        descent.a, descent.b = seen.a + size * change, seen.b + size * bias
        self._S = self._S + size * (along - bias)
        if epoch % 20 == 0:
            self._S = descent.scores(descent.a)
        self.seen = descent.evaluate(self._S)
        gap = self.seen.value - self.seen.dual
        fell = seen.value - self.seen.value > 1e-12 * seen.value
        self.stalled = 0 if fell or gap < 0.5 * self._least else self.stalled + 1
        self._least = min(gap, self._least)
        return 1, size

    def _chances(self, seen: Evaluation) -> Floats:
        """The probability of each plane's class, (n, K)."""
        codes = self.descent.problem.codes
        R = self.descent.loss.residual(self._S + seen.b, codes)
        own = codes[:, None] == (np.arange(len(seen.b)) if len(seen.b) > 1 else 1)
        return np.clip(R + own, 1e-12, 1.0 - 1e-12)

    def _chosen(self, seen: Evaluation) -> Array:
        """Features with a weight, and the most violated of the others."""
        descent = self.descent
        slope = seen.slope + descent.lam * descent.penalty.l2 * descent.q * seen.a
        over = np.abs(slope).max(axis=0) - descent.lam * descent.penalty.l1 * np.abs(descent.f)
        held = (seen.a != 0).any(axis=0)
        over = np.where(held | (descent.f == 0), 0.0, over)
        room = max(FIRST, 2 * int(held.sum()))
        wanted = np.argsort(-over, kind="stable")[:room]
        wanted = wanted[over[wanted] > 0]
        return np.sort(np.concatenate([np.flatnonzero(held), wanted]))

    def _penalties(self, chosen: Array) -> tuple[Floats, Floats]:
        descent = self.descent
        corner = descent.lam * descent.penalty.l1 * np.abs(descent.f[chosen])
        return corner, descent.lam * descent.penalty.l2 * descent.q[chosen]

    def _by_matrix(
        self, seen: Evaluation, chosen: Array, P: Floats, accuracy: float
    ) -> tuple[Floats, Floats]:
        """The change of the chosen weights and of the intercepts, from their matrix H."""
        descent, free, K = self.descent, self.descent.free, P.shape[1]
        m = len(chosen) + 1
        lens = descent.view.lens.part(chosen)

        def of(block: Block) -> Floats:
            rows = slice(block.start, block.start + len(block.codes))
            part = descent.problem.X[rows][:, chosen]
            Z = np.ones((len(block.codes), m))
            Z[:, :-1] = lens.of(part.toarray() if sp.issparse(part) else part)
            H = np.zeros((K, m, K, m))
            for k in range(K):
                for j in range(k, K):
                    w = descent.c[rows] * P[rows, k] * ((j == k) - P[rows, j])
                    H[k, :, j] = Z.T @ (Z * w[:, None])
                    H[j, :, k] = H[k, :, j].T
            return H.reshape(K * m, K * m)

        H = descent.problem.sum(of, np.add)
        corner, ridge = (np.tile(np.append(p, 0.0), K) for p in self._penalties(chosen))
        a, g = np.zeros((K, m)), np.zeros((K, m))
        a[:, :-1], g[:, :-1] = seen.a[:, chosen], seen.slope[:, chosen]
        g[:, -1] = seen.slope_b
        change = np.zeros(K * m)
        if not free:
            H[m - 1 :: m] = H[:, m - 1 :: m] = 0.0
        known = (np.ascontiguousarray(H), g.ravel(), a.ravel(), corner, ridge)
        model(*known, change, accuracy, SWEEPS)
        change = on_faces(*known, change, 1e-9).reshape(K, m)
        return change[:, :-1], change[:, -1]

    def _by_columns(
        self, seen: Evaluation, chosen: Array, p: Floats, accuracy: float
    ) -> tuple[Floats, float]:
        """The same from the columns of √curvature·Z, without their products."""
        root = np.sqrt(self.descent.c * p * (1.0 - p))
        part = self.descent.view.lens.part(chosen).of(self.descent.problem.X[:, chosen])
        part = sp.csc_array(part.astype(np.float64))
        scaled = (part.data * root[part.indices], part.indices, part.indptr)
        columns = as_rows(sp.csr_array(scaled, shape=part.shape[::-1]))
        corner, ridge = self._penalties(chosen)
        change, moved = np.zeros(len(chosen)), np.zeros(len(root))
        bias = sparse_model(
            columns, seen.slope[0, chosen], seen.a[0, chosen], corner, ridge, change, moved,
            root if self.descent.free else np.empty(0), float(seen.slope_b[0]), accuracy, SWEEPS,
        )  # fmt: skip
        return change, float(bias)

    def _search(self, seen: Evaluation, change: Floats, along: Floats) -> float:
        """The first of 1, ½, ¼, ... that lowers J by a part of what the model promises."""
        descent, codes = self.descent, self.descent.problem.codes
        here = descent.penalised(seen.a)
        slope = float(np.sum(seen.slope * change))  # intercepts are at their best: no slope there
        promised = slope + descent.penalised(seen.a + change) - here
        size = 1.0
        while size > 1e-8:
            losses = descent.loss.losses(self._S + seen.b + size * along, codes)
            value = float(descent.c @ losses) + descent.penalised(seen.a + size * change)
            if value <= seen.value + 1e-3 * size * promised + 1e-15 * seen.value:
                return size
            size /= 2
        return 0.0


def on_faces(
    H: Floats, g: Floats, a: Floats, corner: Floats, ridge: Floats, change: Floats, tol: float
) -> Floats:
    """The minimum of `model`, by linear systems: one for each face |x| has its corners on.

    While the signs of x = a + d are right, the model is a quadratic in the x that are not zero.
    A move to its minimum stops where one of them meets zero; at the minimum, zeros that should
    move are let go by one more sweep.
    """
    Q = H + np.diag(ridge + 1e-14 * H.diagonal())
    start = g - H @ a  # the slope of the quadratic at x is Qx + start
    x = a + change
    smallest = np.abs(g).max(initial=0.0) * tol
    for _ in range(FACES):
        on = ((x != 0) | (corner == 0)) & (Q.diagonal() > 0)
        if on.any():
            right = -(start + corner * np.sign(x))[on]
            try:
                to = sl.cho_solve(sl.cho_factor(Q[np.ix_(on, on)]), right, check_finite=False)
            except np.linalg.LinAlgError:
                return x - a
            at = x[on]
            crossing = (to * at < 0) & (corner[on] > 0)
            part = np.where(crossing, at / np.where(crossing, at - to, 1.0), np.inf)
            size = min(1.0, float(part.min()))
            moved = at + size * (to - at)
            moved[part <= size] = 0.0
            x[on] = moved
            if size < 1.0:
                continue
        over = np.where(x == 0, np.abs(Q @ x + start) - corner, 0.0)
        if over.max(initial=0.0) <= smallest:
            break
        change = x - a
        model(H, g, a, corner, ridge, change, 0.0, 1)
        x = a + change
    return x - a


@kernel
def model(H, g, a, corner, ridge, change, accuracy, sweeps):  # type: ignore[no-untyped-def]
    """Minimise ⟨g, d⟩ + ½⟨d, Hd⟩ + Σ corner|a + d| + ½ ridge(a + d)², one dⱼ at a time."""
    product = np.zeros(len(g))  # Hd
    rows = Dense(H)
    for j in range(len(g)):
        if change[j] != 0.0:
            add(rows, j, change[j], product)
    for _ in range(sweeps):
        largest = 0.0
        for j in range(len(g)):
            curvature = H[j, j] + ridge[j]
            if curvature <= 0.0:
                continue
            at = a[j] + change[j]
            to = at - (g[j] + product[j] + ridge[j] * at) / curvature
            far = abs(to) - corner[j] / curvature
            to = np.copysign(far, to) if far > 0.0 else 0.0  # the corner holds it at zero
            step = to - at
            if step != 0.0:
                change[j] = to - a[j]
                add(rows, j, step, product)
                largest = max(largest, step * step * curvature)
        if largest <= accuracy:
            break


@kernel
def sparse_model(rows, g, a, corner, ridge, change, moved, root, slope, accuracy, sweeps):  # type: ignore[no-untyped-def]
    """The same with H = BᵀB given by the columns of B; `moved` is Bd + root·δ for the intercept."""
    squares = np.empty(len(g))
    for j in range(len(g)):
        squares[j] = square(rows, j)
    level = 0.0
    for i in range(len(root)):
        level += root[i] * root[i]
    bias = 0.0
    for _ in range(sweeps):
        largest = 0.0
        for j in range(len(g)):
            curvature = squares[j] + ridge[j]
            if curvature <= 0.0:
                continue
            at = a[j] + change[j]
            to = at - (g[j] + dot(rows, j, moved) + ridge[j] * at) / curvature
            far = abs(to) - corner[j] / curvature
            to = np.copysign(far, to) if far > 0.0 else 0.0
            step = to - at
            if step != 0.0:
                change[j] = to - a[j]
                add(rows, j, step, moved)
                largest = max(largest, step * step * curvature)
        if level > 0.0:
            pull = slope
            for i in range(len(root)):
                pull += root[i] * moved[i]
            step = -pull / level
            bias += step
            for i in range(len(root)):
                moved[i] += step * root[i]
            largest = max(largest, step * step * level)
        if largest <= accuracy:
            break
    return bias
