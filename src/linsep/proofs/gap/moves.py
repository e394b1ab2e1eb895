"""Moves of rows between planes, and the bound from below that they give where much is told.

With moves mₖᵢ of row i for plane k, αy of two classes or C(e_y − p) of several, vₖ = Σ mₖᵢxᵢ, and

    P = Σ Cᵢφ(sᵢ + oᵢ) + Σ pⱼ(l1|wₖⱼ| + ½ l2 wₖⱼ²)      over low ≤ w ≤ high
    D = Σ E − Σ mₖᵢoₖᵢ + Σ min {pⱼ(l1|w| + ½ l2 w²) − vₖⱼw : lowₖⱼ ≤ w ≤ highₖⱼ}

D is −∞ where nothing holds a weight and its v is not zero: so it is for intercepts, which are the
weights of a column of ones. Moves are mended until those v are zero but for rounding. That moves
exist whose v is zero then follows: with D∘(aᵀλ) more of them, for H = Σ D aaᵀ over those columns,
λ = −H⁻¹v is enough, and as small as v is. What it may cost, at most √Σ DE′² · √Σ D(aᵀλ)², is
bounded by the least eigenvalue of H, scaled to a unit diagonal. Errors of sums are bounded by the
lengths of columns.
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
MOST = 1 << 27  # numbers of columns that nothing holds, up to which they are mended


class Told(NamedTuple):
    """What a modeller told of weights and scores.

    Attributes
    ----------
    weight : pⱼ of each feature, how many times its penalty counts
    low, high : bounds of each weight, (K, d)
    offset : added to the score of each row, (n,); (n, K) for several planes; or None
    """

    weight: Floats
    low: Floats
    high: Floats
    offset: Floats | None = None

    def plane(self, k: int) -> "Told":
        """What was told of one plane."""
        o = self.offset if self.offset is None or self.offset.ndim == 1 else self.offset[:, k]
        return self._replace(low=self.low[k : k + 1], high=self.high[k : k + 1], offset=o)


class Moves:
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
        M, mended, energy = self._mended(self._allowed(moves))
        v, bends = self.sums(M), self._bends(M)
        off = gamma(self.products.added + 16) * _lengths(M)[:, None] * self.size
        off = off + energy * math.sqrt(float(bends.max())) * self.size
        p, (l1, l2) = self.told.weight, self.problem.penalty
        corner, ridge = np.broadcast_to(p * l1, v.shape), np.broadcast_to(p * l2, v.shape)
        up = np.where(np.isinf(self.told.high), v + off, 0.0)
        over = np.maximum(up, np.where(np.isinf(self.told.low), off - v, 0.0))
        loose = ~mended & (ridge == 0.0) & (over > corner)
        most = float(np.min(corner[loose] / over[loose], initial=1.0))
        most *= 1.0 if most == 1.0 else 1.0 - 4 * UNIT
        best = 0.0
        for part in SHRUNK:
            t = part * most
            E, fuzz = self._terms(t * M)
            moved = t * M * self.offset
            steep = self._steep(t * M) + np.abs(self.offset)
            spent = energy * math.sqrt(float((bends * steep * steep).sum()))
            value = float(E.sum()) - float(moved.sum()) - spent - float(fuzz.sum())
            value -= gamma(PAIRWISE) * (float(np.abs(E).sum()) + 2 * float(np.abs(moved).sum()))
            ends = [least(t * (v + sign * off), corner, ridge, self.told) for sign in (-1.0, 1.0)]
            lowest = np.where(mended, 0.0, np.minimum(*ends))
            value += float(lowest.sum()) - gamma(PAIRWISE + 16) * float(np.abs(lowest).sum())
            best = max(best, value) if math.isfinite(value) else best
            if best >= 0.5 * float(self.losses.sum()):
                break
        return best

    def _mended(self, M: Floats) -> tuple[Floats, Array, float]:
        """Moves with v = 0 where nothing holds a weight, those weights, and how far moves lie for
        which that is exact: √Σ D(aᵀλ)²."""
        p, told, (l1, l2) = self.told.weight, self.told, self.problem.penalty
        flat = np.broadcast_to((p * l1 == 0.0) & (p * l2 == 0.0), (self.K, self.d))
        inner = flat & (told.low < self.W) & (told.high > self.W)
        free = np.full((self.K, 1), self.problem.free)  # intercepts come first
        known = np.hstack([free, inner | (flat & ~_boxed(told))])
        columns = np.flatnonzero(known.any(axis=0))
        if not len(columns):
            return M, inner, 0.0
        nothing = 0.0 * M, 0.0 * M[:, :1] != 0.0, 0.0
        if len(columns) * self.n > MOST:
            return nothing
        A, on, last = _columns(self.problem.X, columns), np.hstack([free, inner]), math.inf
        endless = [
            np.hstack([np.isinf(bound) & known[:, 1:], free])[:, columns - 1]
            for bound in (told.low, told.high)
        ]
        length = _lengths(A.T)
        for _ in range(MENDED):
            r, terms = _in_parts(M, A)
            wrong = gamma(terms + 8) * _lengths(M)[:, None] * length
            more = (endless[0] & (r < wrong)) | (endless[1] & (r > -wrong))
            last = math.inf if (more & ~on[:, columns]).any() else last
            on[:, columns] |= more
            pairs = self._independent(on[:, columns])
            scaled = _Scaled.of(self._curvature(M, A, pairs))
            if scaled is None:
                return nothing
            left = scaled.length((np.abs(r) + wrong)[pairs])
            if left > 0.5 * last:
                break
            last, best, held = left, (M, pairs, scaled), on.copy()
            U = np.zeros_like(r)
            U[pairs] = -scaled.solve(r[pairs])
            M = self._allowed(M + self._curved(M, U @ A.T))
        M, pairs, scaled = best
        near = np.zeros((self.K, len(columns)))
        near[pairs] = scaled.scale
        near = np.sqrt(np.square(near) @ np.square(A.T)).max(axis=0)  # ‖scaled aᵢ‖
        reach = 2.0 * last / scaled.least * float(near[self._bends(M).any(axis=0)].max(initial=0.0))
        if not reach < 0.25:  # moves could leave their limits
            return nothing
        return M, held[:, 1:], 1.01 * last / math.sqrt(scaled.least)

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

    def _bends(self, M: Floats) -> Floats:
        raise NotImplementedError

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        raise NotImplementedError


class _Scaled(NamedTuple):
    """H brought to a unit diagonal: what it was scaled by, its parts, and its least eigenvalue."""

    scale: Floats
    values: Floats
    vectors: Floats
    least: float

    @classmethod
    def of(cls, H: Floats) -> "_Scaled | None":
        """None where that is no positive definite matrix."""
        scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1e-300))
        G = H * scale * scale[:, None]
        if not np.isfinite(G).all() or not (H.diagonal() > 0.0).all():
            return None
        values, vectors = np.linalg.eigh(G)
        least = float(values[0]) - 1e-12 * len(G)
        return cls(scale, values, vectors, least) if least > SINGULAR else None

    def length(self, r: Floats) -> float:
        return _length(self.scale * r)

    def solve(self, r: Floats) -> Floats:
        return self.scale * (self.vectors @ ((self.vectors.T @ (self.scale * r)) / self.values))


def least(v: Floats, corner: Array, ridge: Array, told: Told) -> Floats:
    """min corner|w| + ½ ridge w² − vw within the bounds: of one variable, and convex."""
    over = np.maximum(np.abs(v) - corner, 0.0)
    far = np.divide(over, ridge, out=np.where(over > 0.0, np.inf, 0.0), where=ridge > 0.0)
    w = np.clip(np.copysign(far, v), told.low, told.high)
    ends = np.isfinite(w)
    w = np.where(ends, w, 0.0)
    charge = corner * np.abs(w) + 0.5 * ridge * w * w
    value = charge - v * w - 8 * UNIT * (charge + np.abs(v * w))
    return np.where(ends, value, -np.inf)


def _boxed(told: Told) -> Array:
    """Weights that are bounded on both sides."""
    return np.isfinite(told.low) & np.isfinite(told.high)


def _columns(X: Any, columns: Array) -> Floats:
    """Some columns, 0 that of the intercept."""
    some = X[:, columns[columns > 0] - 1]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, np.float64)
    if columns[0] == 0:  # Σ m = 0: then Σ m(x − c) = 0 says the same as Σ mx = 0
        some = some - some.mean(axis=0)
    return np.column_stack([np.ones((len(some), int((columns == 0).sum()))), some])


def _in_parts(M: Floats, A: Floats) -> tuple[Floats, int]:
    """MA added up in as many parts as each has terms, and how many terms rounding sees."""
    (K, n), part = M.shape, math.isqrt(M.shape[1]) + 1
    r = np.zeros((K, A.shape[1]))
    for start in range(0, n, part):
        r += M[:, start : start + part] @ A[start : start + part]
    return r, 2 * part


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
