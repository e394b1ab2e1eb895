"""Rows under the smoothed loss of Crammer and Singer's machine: sums, gradients, products with H.

    F(W) = Σ Uᵢφᵢ(zᵢ),   ∇F = −Σ Aᵢx̃ᵢᵀ,   Aᵢ = Uᵢ(e_yᵢ − pᵢ)
    HQ = Σ (Uᵢ/ε) Mᵢ(Qx̃ᵢ)x̃ᵢᵀ,   M = the projection onto {v : Σ vₖ = 0, vₖ = 0 where pₖ = 0}

Scores are products of matrices. Whatever comes after is over the few classes of a row with pₖ > 0,
two as a rule: gradients and products with H read each row once and need a few products of its
length. Rows with one such class have M = 0 and do not count. Parts are fixed by the shape, and
added along a fixed tree.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.blocks.blocks import spans
from linsep.parallel import Pool, add_up
from linsep.train.convex.coordinates import Blocks
from linsep.train.convex.joint.simplex import along, listed, project, reflect

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PARTS = 8
"""Parts that sums of the size of all weights are made in."""
AT_LEAST, PART = 5.0, 0.08
"""Classes above zero, and part of all classes, from which products of matrices are quicker."""


class Bounds(NamedTuple):
    """Σ U max z, Σ A_y, Σ U⟨p, z⟩, Σ U‖p − c‖², and Σ Aᵢx̃ᵢᵀ, (K, d + 1)."""

    charge: float
    away: float
    mean: float
    moved: float
    V: Floats


class SmoothedRows:
    """Labelled rows at some weights.

    Parameters
    ----------
    blocks : dense rows of one type
    codes : class number of each row
    caps : Uᵢ > 0
    n_classes : K
    pool : threads; they change no byte
    real : the type of scores and multipliers
    """

    def __init__(
        self, blocks: Blocks, codes: Array, caps: Floats, n_classes: int, pool: Pool, real: Any
    ) -> None:
        self.blocks, self.codes, self.caps, self.pool = blocks, codes, caps, pool
        n, self.K, self.d = blocks.n_rows, n_classes, blocks.n_features
        self.real = np.dtype(real)
        self.S, self.dS, self.P, self.centre = (np.zeros((n, n_classes), self.real) for _ in "1234")
        self.counts = np.zeros(n, np.int64)
        self.rows = np.zeros(0, np.int64)
        self._parts = spans(n, -(-n // PARTS))

    def scores(self, W: Floats, S: Array) -> None:
        """S ← ⟨wₖ, x̃ᵢ⟩"""
        U, b = W[:, :-1].T.astype(self.real), W[:, -1].astype(self.real)

        def one(k: int) -> None:
            span = slice(*self.blocks.span(k))
            np.matmul(self.blocks.rows(span).astype(self.real, copy=False), U, out=S[span])
            S[span] += b

        self.pool.map(one, range(len(self.blocks)))

    def moments(self) -> Floats:
        """Σ Uᵢxᵢⱼ² of each feature."""

        def one(k: int) -> Floats:
            span = slice(*self.blocks.span(k))
            x = self.blocks.rows(span)
            return np.einsum("i,ij,ij->j", self.caps[span], x, x)

        return self.pool.sum(one, range(len(self.blocks)))

    def gram(self) -> Floats:
        """Σ Uᵢx̃ᵢx̃ᵢᵀ"""

        def one(k: int) -> Floats:
            span = slice(*self.blocks.span(k))
            x = self.blocks.rows(span).astype(self.real, copy=False)
            x = np.concatenate([x, np.ones((len(x), 1), self.real)], axis=1)
            return np.asarray((x.T * self.caps[span].astype(self.real)) @ x, np.float64)

        return self.pool.sum(one, range(len(self.blocks)))

    def class_sums(self) -> Floats:
        """Σ Uᵢx̃ᵢ over the rows of each class."""

        def one(span: tuple[int, int]) -> Floats:
            V = np.zeros((self.K, self.d + 1))
            add_own(self.blocks.X, self.codes, self.caps, *span, V)
            return V

        return add_up(np.array(self.pool.map(one, self._parts)))

    def evaluate(self, epsilon: float, t: float = 0.0) -> Bounds:
        """Go t along dS; the projections there and what they add up to."""

        def one(span: tuple[int, int]) -> tuple[Floats, Floats]:
            sums, V = np.zeros(4), np.zeros((self.K, self.d + 1))
            project(
                self.S, self.dS, self.real.type(t), self.centre, self.codes, self.caps,
                self.real.type(1.0 / epsilon), *span, self.P, self.counts, sums,
            )  # fmt: skip
            pull(self.blocks.X, self.P, self.codes, self.caps, *span, V)
            return sums, V

        parts = self.pool.map(one, self._parts)
        charge, away, mean, moved = add_up(np.array([sums for sums, _ in parts])).tolist()
        self._list(epsilon)
        return Bounds(charge, away, mean, moved, add_up(np.array([V for _, V in parts])))

    def reflect(self, rho: float, relaxed: float) -> tuple[Floats, Floats]:
        """Projections beyond a step dS, and γ along it (`simplex.reflect`): sums, and Σ Aᵢx̃ᵢᵀ."""

        def one(span: tuple[int, int]) -> tuple[Floats, Floats]:
            sums, V = np.zeros(5), np.zeros((self.K, self.d + 1))
            known = self.real.type(rho), self.real.type(relaxed), self.centre
            reflect(self.S, self.dS, *known, self.codes, self.caps, *span, self.P, sums)
            pull(self.blocks.X, self.P, self.codes, self.caps, *span, V)
            return sums, V

        parts = self.pool.map(one, self._parts)
        sums = add_up(np.array([sums for sums, _ in parts]))
        return sums, add_up(np.array([V for _, V in parts]))

    def _list(self, epsilon: float) -> None:
        """The rows with several classes above zero, and these."""
        self.rows = np.flatnonzero(self.counts > 1)
        self._pointers = np.zeros(len(self.rows) + 1, np.int64)
        np.cumsum(self.counts[self.rows], out=self._pointers[1:])
        self._classes = np.zeros(self._pointers[-1], np.int32)
        listed(self.P, self.rows, self._pointers, self._classes)
        self.curved = self.caps[self.rows] / epsilon

    @property
    def pairs(self) -> int:
        """Rows times their classes above zero, of the rows that count."""
        return len(self._classes)

    def along(self, epsilon: float, t: float) -> tuple[float, float]:
        """F and its derivative, t along dS."""

        def one(span: tuple[int, int]) -> Floats:
            sums = np.zeros(2)
            known = self.centre, self.codes, self.caps, 1.0 / epsilon
            along(self.S, self.dS, t, *known, *span, np.empty(self.K), sums)
            return sums

        value, slope = add_up(np.array(self.pool.map(one, self._parts))).tolist()
        return value, slope

    def curve(self, Q: Floats) -> Floats:
        """HQ"""
        m = len(self.rows)
        if not m:
            return np.zeros_like(Q)
        dense = self.pairs > m * (AT_LEAST + PART * self.K)

        def one(span: tuple[int, int]) -> Array:
            if dense:
                return self._dense_curve(Q, span)
            V = np.zeros_like(q)
            known = self.blocks.X, self.rows, self._pointers, self._classes, self.curved
            curve(*known, q, *span, np.empty(self.K), V)
            return V.astype(np.float64, copy=False)

        q = np.ascontiguousarray(Q, self.real)
        return np.asarray(add_up(np.array(self.pool.map(one, spans(m, max(1, -(-m // PARTS)))))))

    def squares(self) -> Floats:
        """The diagonal of H, (K, d + 1)."""
        m = len(self.rows)
        if not m:
            return np.zeros((self.K, self.d + 1))

        def one(span: tuple[int, int]) -> Array:
            V = np.zeros((self.K, self.d + 1))
            known = self.blocks.X, self.rows, self._pointers, self._classes, self.curved
            squares(*known, *span, V)
            return V

        return np.asarray(add_up(np.array(self.pool.map(one, spans(m, max(1, -(-m // PARTS)))))))

    def _dense_curve(self, Q: Floats, span: tuple[int, int]) -> Floats:
        V, q = np.zeros_like(Q), Q.astype(self.real)
        for first, last in spans(span[1] - span[0], 2048):
            some = slice(span[0] + first, span[0] + last)
            rows = self.rows[some]
            x, free = self.blocks.rows(rows).astype(q.dtype, copy=False), self.P[rows] > 0.0
            R = x @ q[:, :-1].T
            R += q[:, -1]
            R *= free
            R -= (R.sum(axis=1) / self.counts[rows].astype(q.dtype))[:, None]
            R *= free
            R *= self.curved[some, None].astype(q.dtype)
            V[:, :-1] += R.T @ x
            V[:, -1] += R.sum(axis=0)
        return V


@kernel
def add_own(X, codes, caps, first, last, V):  # type: ignore[no-untyped-def]
    """V ← V + Σ Uᵢ e_yᵢ x̃ᵢᵀ"""
    d = X.shape[1]
    for i in range(first, last):
        v, x = V[codes[i]], X[i]
        for j in range(d):
            v[j] += caps[i] * x[j]
        v[d] += caps[i]


@kernel
def pull(X, P, codes, caps, first, last, V):  # type: ignore[no-untyped-def]
    """V ← V + Σ Aᵢx̃ᵢᵀ, A = U(e_y − p)"""
    K, d = P.shape[1], X.shape[1]
    for i in range(first, last):
        y = codes[i]
        if P[i, y] == 1.0:
            continue
        x = X[i]
        for k in range(K):
            a = -caps[i] * P[i, k]
            a += caps[i] if k == y else 0.0
            if a != 0.0:
                v = V[k]
                for j in range(d):
                    v[j] += a * x[j]
                v[d] += a


@kernel
def curve(X, rows, pointers, classes, curved, Q, first, last, u, V):  # type: ignore[no-untyped-def]
    """V ← V + Σ (U/ε) M(Qx̃)x̃ᵀ"""
    d = X.shape[1]
    for j in range(first, last):
        x = X[rows[j]]
        start, m = pointers[j], pointers[j + 1] - pointers[j]
        mean = 0.0
        for h in range(m):
            q = Q[classes[start + h]]
            total = q[d]
            for k in range(d):
                total += q[k] * x[k]
            u[h] = total
            mean += u[h]
        mean /= m
        for h in range(m):
            v = V[classes[start + h]]
            a = V.dtype.type(curved[j] * (u[h] - mean))
            for k in range(d):
                v[k] += a * x[k]
            v[d] += a


@kernel
def squares(X, rows, pointers, classes, curved, first, last, V):  # type: ignore[no-untyped-def]
    """V ← V + the diagonal of Σ (U/ε) M ⊗ x̃x̃ᵀ"""
    d = X.shape[1]
    for j in range(first, last):
        x = X[rows[j]]
        m = pointers[j + 1] - pointers[j]
        a = curved[j] * (1.0 - 1.0 / m)
        for h in range(pointers[j], pointers[j + 1]):
            v = V[classes[h]]
            for k in range(d):
                v[k] += a * x[k] * x[k]
            v[d] += a
