"""The certificate of a fit that was told offsets, weights of penalties, or bounds.

With moves mₖᵢ of row i for plane k, αy of two classes or C(e_y − p) of several, vₖ = Σ mₖᵢxᵢ, and

    P = Σ Cᵢφ(sᵢ + oᵢ) + Σ pⱼ(l1|wₖⱼ| + ½ l2 wₖⱼ²)      over low ≤ w ≤ high
    D = Σ E − Σ mₖᵢoₖᵢ + Σ min {pⱼ(l1|w| + ½ l2 w²) − vₖⱼw : lowₖⱼ ≤ w ≤ highₖⱼ}

D is −∞ where nothing holds a weight and its v is not zero: so it is for intercepts, which are the
weights of a column of ones. Moves are mended until those v are zero but for rounding. That moves
exist whose v is zero then follows: with D∘(aᵀλ) more of them, for H = Σ D aaᵀ over those columns,
λ = −H⁻¹v is enough, and as small as v is. What it may cost is bounded by the least eigenvalue of H,
scaled to a unit diagonal. Errors of sums are bounded by the lengths of columns.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.parallel import sum_over
from linsep.proofs.gap.certificate import Certificate, FittedProblem, gamma
from linsep.proofs.gap.products import UNIT, Products

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MENDED = 8  # times that moves are mended, at most
SINGULAR = 1e-9  # least eigenvalue of H that is told from rounding
PAIRWISE = 80  # terms as which a sum of any length counts, as NumPy adds them
SHRUNK = (1.0, 0.5, 0.1)  # parts of the moves that are tried where all of them prove little
HAIR = 1e-11  # by which the hinge's moves stay short of Cᵢ, so that any of them may be mended
MOST = 1 << 27  # numbers of columns that nothing holds, up to which they are mended


class Told(NamedTuple):
    """What a modeller told of weights and scores.

    Attributes
    ----------
    weight : pⱼ of each feature, how many times its penalty counts
    low, high : bounds of each weight, (K, d)
    offset : added to the score of each row, (n,); (n, K) for classes that share a loss; or None
    """

    weight: Floats
    low: Floats
    high: Floats
    offset: Floats | None = None

    def plane(self, k: int) -> "Told":
        """What was told of one plane."""
        return self._replace(low=self.low[k : k + 1], high=self.high[k : k + 1])


def certify_told(
    loss: str, problem: FittedProblem, second: Array | None = None, moves: Any = None
) -> Certificate:
    """Bounds on the objective of one plane, or of the classes of a softmax.

    Parameters
    ----------
    loss : 'hinge', 'squared_hinge' or 'logistic'
    problem : what was minimised, with `told`, and the stored weights
    second : whether each row is of the class whose side is positive; None for a softmax
    moves : (K, n), proposed; those of the weights where None

    Examples
    --------
    >>> X, codes = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> told = Told(np.ones(1), np.array([[-np.inf]]), np.array([[0.5]]))
    >>> problem = FittedProblem(X, codes, 1.0, np.full((1, 1), 0.5), np.zeros(1), True, told=told)
    >>> bounds = certify_told("hinge", problem, codes == 1, np.array([[1.0, -1.0]]))
    >>> bounds.primal, round(bounds.dual, 9), bounds.gap < 1e-9
    (1.125, 1.125, True)
    """
    with np.errstate(all="ignore"):
        rows = _Classes(problem) if second is None else _Plane(loss, problem, second)
        return rows.certificate(moves)


class _Rows:
    """Losses of all rows, kept in memory with their scores."""

    losses: Floats
    slopes: Floats
    fuzz: float

    def __init__(self, problem: FittedProblem) -> None:
        assert problem.told is not None
        self.problem, self.told = problem, problem.told
        self.n, self.d = problem.X.shape
        self.W, self.b = np.asarray(problem.W, np.float64), np.asarray(problem.b, np.float64)
        self.K, self.C = len(self.W), problem.caps((0, self.n))
        self.products = Products(problem.X, 2)
        self.size = np.sqrt(_squares(problem.X)) * (1.0 + 1e-6)
        o = self.told.offset
        self.offset = np.zeros((1, 1)) if o is None else np.atleast_2d(np.asarray(o, float).T)
        S = np.empty((self.K, self.n))

        def score(span: tuple[int, int]) -> int:
            S[:, slice(*span)] = self.products.part(span).scores(self.W)
            return 0

        sum_over(score, self.products.spans, max, problem.n_jobs)
        self.S = S + self.b[:, None] + self.offset

    def sums(self, M: Floats) -> Floats:
        """Σ mᵢxᵢ of each plane."""

        def part(span: tuple[int, int]) -> Floats:
            return self.products.part(span).total(np.ascontiguousarray(M[:, slice(*span)]))

        return np.asarray(sum_over(part, self.products.spans, np.add, self.problem.n_jobs))

    def certificate(self, moves: Any) -> Certificate:
        told, (l1, l2) = self.told, self.problem.penalty
        W, p = self.W, told.weight
        terms = p * (l1 * np.abs(W) + 0.5 * l2 * W * W)
        primal = float(self.losses.sum()) + float(terms.sum())
        far = float((np.abs(W) @ self.size).max())
        tilt = gamma(self.products.terms + 8)
        shifts = float((self.slopes * (np.abs(self.b).max() + np.abs(self.offset).max(0))).sum())
        lost = tilt * (far * _length(self.slopes) + shifts) + self.fuzz
        lost += gamma(PAIRWISE + 8) * primal
        inside = bool(((told.low <= W) & (told.high >= W)).all())
        if not (inside and tilt * far < 1e-6 and math.isfinite(primal + lost)):
            return Certificate(primal, 0.0, math.inf, 0.0)
        best = self._lower(moves) if moves is not None else 0.0
        if not primal + lost - best <= self.problem.wanted * primal:
            best = max(best, self._lower(None))
        return Certificate(primal, best, lost, best)

    def _lower(self, moves: Any) -> float:
        """A bound on the optimum, less all that rounding may have added."""
        M, mended, cost = self._mended(self._allowed(moves))
        v, off = self.sums(M), np.empty((self.K, self.d))
        off[:] = gamma(self.products.added + 16) * _lengths(M)[:, None] * self.size
        off += cost * _length(self._strength) * self.size
        free = mended[:, 1:]
        p, (l1, l2) = self.told.weight, self.problem.penalty
        corner, ridge = np.broadcast_to(p * l1, v.shape), np.broadcast_to(p * l2, v.shape)
        up = np.where(np.isinf(self.told.high), v + off, 0.0)
        over = np.maximum(up, np.where(np.isinf(self.told.low), off - v, 0.0))
        loose = ~free & (ridge == 0.0) & (over > corner)
        most = float(np.min(corner[loose] / over[loose], initial=1.0))
        most *= 1.0 if most == 1.0 else 1.0 - 4 * UNIT
        best = 0.0
        for part in SHRUNK:
            t = part * most
            E, fuzz = self._terms(t * M)
            moved = t * M * self.offset
            spent = cost * float(
                (self._strength * (self._steep(t * M) + np.abs(self.offset))).sum()
            )
            value = float(E.sum()) - float(moved.sum()) - spent - float(fuzz.sum())
            value -= gamma(PAIRWISE) * (float(np.abs(E).sum()) + 2 * float(np.abs(moved).sum()))
            ends = [_least(t * (v + sign * off), corner, ridge, self.told) for sign in (-1.0, 1.0)]
            least = np.where(free, 0.0, np.minimum(*ends))
            value += float(least.sum()) - gamma(PAIRWISE + 16) * float(np.abs(least).sum())
            best = max(best, value) if math.isfinite(value) else best
            if best >= 0.5 * float(self.losses.sum()):
                break
        return best

    def _mended(self, M: Floats) -> tuple[Floats, Array, float]:
        """Moves with v = 0 where nothing holds a weight, those weights, intercepts first, and how
        far in multiples of `_strength` moves lie for which that is exact."""
        p, told, (l1, l2) = self.told.weight, self.told, self.problem.penalty
        flat = np.broadcast_to((p * l1 == 0.0) & (p * l2 == 0.0), (self.K, self.d))
        one_sided = flat & ~_boxed(told)
        on = np.zeros((self.K, self.d + 1), bool)
        on[:, 0] = self.problem.free  # the first column is that of intercepts
        self._strength = np.zeros_like(M)
        if not (on.any() or one_sided.any()):
            return M, on, 0.0
        columns = np.flatnonzero(np.append(self.problem.free, one_sided.any(axis=0)))
        if len(columns) * self.n > MOST:
            return 0.0 * M, on, 0.0
        A, known = (
            _columns(self.problem.X, columns),
            np.column_stack([on[:, 0], one_sided])[:, columns],
        )
        ends = [
            np.isinf(np.column_stack([np.full(self.K, np.inf), bound])[:, columns])
            for bound in (told.low, told.high)
        ]
        length, last = _lengths(A.T), math.inf
        for _ in range(MENDED):
            r, wrong = M @ A, gamma(self.n + 8) * _lengths(M)[:, None] * length
            wanted = on[:, columns] | known & (ends[0] & (r < wrong) | ends[1] & (r > -wrong))
            if (wanted != on[:, columns]).any():
                last = math.inf
            on[:, columns] = wanted
            pairs = self._independent(on[:, columns])
            H = self._curvature(M, A, pairs)
            scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1e-300))
            G = H * scale * scale[:, None]
            if not (np.isfinite(G).all() and (H.diagonal() > 0.0).all()):
                return 0.0 * M, on, 0.0
            values, vectors = np.linalg.eigh(G)
            least = float(values[0]) - 1e-12 * len(G)
            if not least > SINGULAR:
                return 0.0 * M, on, 0.0
            left = _length(scale * (np.abs(r) + wrong)[pairs]) / least
            if left > 0.5 * last:
                break
            last, best, held, at = left, M, on.copy(), (pairs, scale)
            step = -scale * (vectors @ ((vectors.T @ (scale * r[pairs])) / values))
            U = np.zeros_like(r)
            U[pairs] = step
            M = self._allowed(M + self._curved(M, U @ A.T))
        pairs, scale = at
        reach = np.zeros((self.K, len(columns)))
        reach[pairs] = scale
        near = np.sqrt(np.square(reach) @ np.square(A.T)).max(axis=0)  # ‖scaled aᵢ‖
        self._strength = self._curved_most(best) * near * 1.01
        if not last * float(near[self._strength.any(axis=0)].max(initial=0.0)) < 0.25:
            return 0.0 * M, on, 0.0
        return best, held, last

    def _independent(self, on: Array) -> tuple[Array, Array]:
        """Planes and places of v that is to vanish: that of the first class follows from others."""
        on = on.copy()
        if self.K > 1:
            on[0, on.all(axis=0)] = False
        planes, places = np.nonzero(on)
        return planes, places

    # What a loss knows.
    def _allowed(self, moves: Any) -> Floats:
        raise NotImplementedError

    def _terms(self, M: Floats) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def _steep(self, M: Floats) -> Floats:
        raise NotImplementedError

    def _curved(self, M: Floats, U: Floats) -> Floats:
        raise NotImplementedError

    def _curved_most(self, M: Floats) -> Floats:
        raise NotImplementedError

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        raise NotImplementedError


class _Plane(_Rows):
    """Two classes: moves are αy."""

    def __init__(self, loss: str, problem: FittedProblem, second: Array) -> None:
        super().__init__(problem)
        self.loss, self.y = loss, np.where(second, 1.0, -1.0)
        z, C = self.y * self.S[0], self.C
        inside = np.maximum(0.0, 1.0 - z)
        if loss == "logistic":
            self.losses, self.slopes = C * np.logaddexp(0.0, -z), C + 0.0 * z
        elif loss == "hinge":
            self.losses, self.slopes = C * inside, C + 0.0 * z
        else:
            self.losses, self.slopes = C * inside**2, 2.0 * C * (inside + 1e-6)
        self.fuzz = 16 * UNIT * float((self.losses + self.slopes * np.abs(z)).sum())
        self.slopes = self.slopes[None]

    def _allowed(self, moves: Any) -> Floats:
        C, z = self.C, self.y * self.S[0]
        if moves is not None:
            a = np.maximum(0.0, self.y * moves[0])
        elif self.loss == "logistic":
            a = C * np.exp(-np.logaddexp(0.0, z))
        else:
            a = C * ((z < 1.0) if self.loss == "hinge" else 2.0 * np.maximum(0.0, 1.0 - z))
        a = a * (C > 0.0)
        if self.loss != "squared_hinge":
            a = np.minimum(a, C * (1.0 - HAIR if self.loss == "hinge" else 1.0))
        return (self.y * a)[None]

    def _share(self, M: Floats) -> tuple[Floats, Floats]:
        a = np.abs(M[0])
        return a, np.divide(a, self.C, out=np.zeros_like(a), where=self.C > 0.0)

    def _terms(self, M: Floats) -> tuple[Floats, Floats]:
        a, u = self._share(M)
        if self.loss == "hinge":
            return a, 0.0 * a
        if self.loss == "squared_hinge":
            return a - 0.25 * a * u, 8 * UNIT * a * (1.0 + u)
        v = np.clip(u, 1e-300, 1.0 - UNIT / 2)
        E = self.C * (-v * np.log(v) - (1.0 - v) * np.log1p(-v)) * ((u > 0.0) & (u < 1.0))
        return E, UNIT * (32 * E + 8 * a * (1.0 - np.log1p(-v)))

    def _steep(self, M: Floats) -> Floats:
        u = self._share(M)[1]
        if self.loss != "logistic":
            return (1.0 + u)[None]
        v = np.clip(u, 1e-300, 1.0 - UNIT / 2)
        return (np.abs(np.log(v) - np.log1p(-v)) + 2.0)[None]

    def _bend(self, M: Floats) -> Floats:
        a, u = self._share(M)
        return a if self.loss == "squared_hinge" else a * (1.0 - u)

    def _curved(self, M: Floats, U: Floats) -> Floats:
        return np.asarray(self._bend(M) * U)

    def _curved_most(self, M: Floats) -> Floats:
        return self._bend(M)[None]

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        B = A[:, pairs[1]]
        return np.asarray((B.T * self._bend(M)) @ B)


class _Classes(_Rows):
    """The softmax: moves are C(e_y − p)."""

    def __init__(self, problem: FittedProblem) -> None:
        super().__init__(problem)
        self.own = np.asarray(problem.codes, np.intp), np.arange(self.n)
        top = self.S.max(axis=0)
        self.E = np.exp(self.S - top)
        self.losses = self.C * (np.log(self.E.sum(axis=0)) + (top - self.S[self.own]))
        self.slopes = np.broadcast_to(self.C, self.S.shape)
        wide = np.abs(self.S).max(axis=0) + self.K
        self.fuzz = 16 * UNIT * float((self.C * wide).sum() + self.losses.sum())

    def _allowed(self, moves: Any) -> Floats:
        if moves is None:
            L = self.C * (self.E / self.E.sum(axis=0))
        else:
            L = np.maximum(0.0, -np.asarray(moves, np.float64))
        L[self.own] = 0.0
        out = L.sum(axis=0)
        L = L * np.where(out > self.C, self.C / np.maximum(out, 1e-300), 1.0)
        L *= 1.0 - gamma(4 * self.K)  # a hair less: no rounding lets more than C leave a row
        M = -L
        M[self.own] = L.sum(axis=0)
        return M

    def _chances(self, M: Floats) -> Floats:
        """Cp of moves."""
        P = np.maximum(0.0, -M)
        P[self.own] = np.maximum(0.0, self.C - M[self.own])
        return P

    def _terms(self, M: Floats) -> tuple[Floats, Floats]:
        P, C = self._chances(M), np.maximum(self.C, 1e-300)
        logs = np.log(np.clip(P / C, 1e-300, 1.0))
        E = (-P * logs).sum(axis=0)
        return E, UNIT * self.K * (32 * E + 64 * self.C)

    def _steep(self, M: Floats) -> Floats:
        return np.abs(np.log(np.clip(self._chances(M) / np.maximum(self.C, 1e-300), 1e-300, 1))) + 2

    def _curved(self, M: Floats, U: Floats) -> Floats:
        P = self._chances(M)
        mean = (P * U).sum(axis=0) / np.maximum(self.C, 1e-300)
        return np.asarray(P * (U - mean))

    def _curved_most(self, M: Floats) -> Floats:
        return np.asarray(2.0 * math.sqrt(self.K) * self._chances(M))

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        P, inverse = self._chances(M), 1.0 / np.maximum(self.C, 1e-300)
        planes, places = pairs
        H = np.empty((len(planes), len(planes)))
        for k in np.unique(planes):
            for j in np.unique(planes):
                D = P[k] * ((j == k) - P[j] * inverse)
                one, other = planes == k, planes == j
                H[np.ix_(one, other)] = (A[:, places[one]].T * D) @ A[:, places[other]]
        return H


def _least(v: Floats, corner: Array, ridge: Array, told: Told) -> Floats:
    """min corner|w| + ½ ridge w² − vw within the bounds: of one variable, and convex."""
    over = np.maximum(np.abs(v) - corner, 0.0)
    far = np.divide(over, ridge, out=np.where(over > 0.0, np.inf, 0.0), where=ridge > 0.0)
    w = np.clip(np.copysign(far, v), told.low, told.high)
    value = corner * np.abs(w) + 0.5 * ridge * w * w - v * w
    size = corner * np.abs(w) + 0.5 * ridge * w * w + np.abs(v * w)
    return np.asarray(value - 8 * UNIT * size)


def _boxed(told: Told) -> Array:
    """Weights that are bounded on both sides."""
    return np.isfinite(told.low) & np.isfinite(told.high)


def _columns(X: Any, columns: Array) -> Floats:
    """Some columns, 0 that of the intercept."""
    some = X[:, columns[columns > 0] - 1]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, np.float64)
    return np.column_stack([np.ones((len(some), int((columns == 0).sum()))), some])


def _squares(X: Any) -> Floats:
    """Σ xᵢⱼ² of each column."""
    if not sp.issparse(X):
        return np.einsum("ij,ij->j", X, X, dtype=np.float64)
    data = X.data.astype(np.float64)
    return np.asarray(np.bincount(X.indices, data * data, X.shape[1]), np.float64)


def _length(values: Floats) -> float:
    return float(np.sqrt(np.square(values).sum()))


def _lengths(M: Floats) -> Floats:
    """‖mₖ‖ of each row."""
    return np.sqrt(np.square(M).sum(axis=1))
