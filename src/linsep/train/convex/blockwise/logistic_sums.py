"""Loss, gradient and Hessian of two-class logistic regression, summed over blocks of rows.

    F(u, b) = ½ Σ lⱼuⱼ² + Σ cᵢ log(1 + e^{−zᵢ}),    zᵢ = yᵢ(⟨u, xᵢ⟩ + b)
    αᵢ = cᵢ σ(−zᵢ),   vₛ = Σ_{i in class s} αᵢ yᵢ xᵢ,   ∇F = (l∘u − v₊ − v₋, −Σ αᵢ yᵢ)

One pass reads the rows once: scores, then the losses of a few hundred rows while they are in the
cache, then the gradient. The two classes are summed apart because the certificate needs both.
Numbers are carried in float64 whatever the type of the rows: it costs nothing beside reading them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep._exponentials import exp_of_negative, log_of_one_plus
from linsep.data.blocks.blocks import BLOCK, on_cluster
from linsep.data.blocks.page_release import PageRelease
from linsep.parallel import Pool, add_up
from linsep.train.convex.coordinates import Blocks
from linsep.train.convex.newton.row_kernels import weigh
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

TOGETHER = 8
"""Blocks that a thread takes at a time: a small one costs less than handing it over."""
CHUNK = 256
"""Rows whose scores, losses and gradient are summed while they are in the cache."""
_NONE = np.empty(0)


@record
class Sums(NamedTuple):
    """What one pass found, class by class (+1 first).

    Attributes
    ----------
    v : (2, d), Σ αᵢ yᵢ xᵢ
    loss : (2,), Σ cᵢ log(1 + e^{−zᵢ})
    weight : (2,), Σ αᵢ
    mistakes : rows with zᵢ ≤ 0 and cᵢ > 0
    hessian : Σ cᵢσ(zᵢ)σ(−zᵢ) x̃ᵢx̃ᵢᵀ with x̃ = (x, 1), where asked for
    """

    v: Floats
    loss: Floats
    weight: Floats
    mistakes: int
    hessian: Floats | None

    @property
    def gradient(self) -> Floats:
        """The gradient of the losses in (u, b)."""
        return np.append(-self.v.sum(axis=0), self.weight[1] - self.weight[0])


def gathered(total: Floats, hessian: Floats | None = None) -> Sums:
    """Numbers that `add_chunk` summed, by name."""
    d = len(total) // 2 - 2
    rest = total[2 * d :]
    return Sums(total[: 2 * d].reshape(2, d), rest[0:2], rest[2:4], int(rest[4]), hessian)


class LogisticSums:
    """The losses of labelled rows as a function of (u, b).

    Parameters
    ----------
    blocks : the rows
    signs : int8 array of −1 and +1
    c : weight of each row, or one weight for all in an array of length one
    """

    def __init__(self, blocks: Blocks, signs: Array, c: Floats, pool: Pool) -> None:
        self.blocks, self.signs, self.c, self.pool = blocks, signs, c, pool
        blocks.pages = PageRelease(blocks.X, signs)

    def part(self, k: int) -> tuple[Array, Array, Floats]:
        """Rows, signs and weights of block k."""
        start, stop = self.blocks.span(k)
        c = self.c if len(self.c) == 1 else self.c[start:stop]
        return self.blocks.rows(slice(start, stop)), self.signs[start:stop], c

    def at(self, u: Floats, curved: Any = None) -> Sums:
        """One pass at (u, b), b last in `u`; with the Hessian in the type `curved` where given."""
        d = self.blocks.n_features
        w, b, count = np.ascontiguousarray(u[:d]), float(u[d]), len(self.blocks)
        curves = 0 if curved is None else (d + 1) ** 2
        if curved is None and self.blocks.plain:
            if not on_cluster(self.blocks.X):
                return gathered(add_up(self._in_place(w, b)))
            some = range(0, count, TOGETHER)
            return gathered(self.pool.sum(lambda first: self._some(w, b, first), some))

        def one(k: int) -> Floats:
            X, signs, c = self.part(k)
            sums = np.empty((1, 2 * d + 5))
            D = _NONE if curved is None else np.empty(len(X))
            _block(X, signs, c, w, b, D, sums[0])
            if curved is None:
                return sums[0]
            B = np.empty((len(X), d + 1), curved)
            weigh(X, D, B)
            hessian = np.dot(B.T, B).astype(np.float64, copy=False)
            return np.concatenate([sums[0], hessian.ravel()])

        total = self.pool.sum(one, range(count))
        hessian = total[-curves:].reshape(d + 1, d + 1) if curves else None
        return gathered(total[: len(total) - curves], hessian)

    def _in_place(self, w: Floats, b: float) -> Floats:
        """The sums of all blocks, several of them with each call."""
        count, d = len(self.blocks), self.blocks.n_features
        parts = np.empty((count, 2 * d + 5))

        def plain(first: int) -> None:
            last = min(count, first + TOGETHER)
            _blocks(self.blocks.X, self.signs, self.c, w, b, first, last, parts)
            self.blocks.pages.advance(TOGETHER * BLOCK)

        self.pool.map(plain, range(0, count, TOGETHER))
        return parts

    def _some(self, w: Floats, b: float, first: int) -> Floats:
        """The sum of the blocks from `first` on that one call takes, where they are."""
        rows = slice(first * BLOCK, min(self.blocks.n_rows, (first + TOGETHER) * BLOCK))
        X, c = self.blocks.rows(rows), self.c if len(self.c) == 1 else self.c[rows]
        parts = np.empty((-(-len(X) // BLOCK), 2 * self.blocks.n_features + 5))
        _blocks(X, self.signs[rows], c, w, b, 0, len(parts), parts)
        return add_up(parts)

    def misjudged(self, u: Floats, step: Floats, least: float, most: int) -> tuple[Array, Floats]:
        """Rows whose losses at u − step differ from their second-order expansions at u by more than
        `least`, and by how much: not many more than `most`, those that differ most."""

        def one(k: int) -> tuple[Array, Floats]:
            X, signs, c = self.part(k)
            errors = np.zeros(len(X))
            _misjudge(X, signs, c, u, step, errors)
            places = np.flatnonzero(errors > least)
            return places + self.blocks.span(k)[0], errors[places]

        chosen, errors = np.empty(0, np.int64), np.empty(0)
        for places, more in self.pool.in_order(one, range(len(self.blocks))):
            chosen, errors = np.append(chosen, places), np.append(errors, more)
            if len(chosen) > 2 * most:
                worst = np.sort(np.argpartition(-errors, most)[:most])
                chosen, errors = chosen[worst], errors[worst]
        return chosen, errors

    def extremes(self, u: Floats) -> tuple[float, float]:
        """The smallest and largest zᵢ among rows that count."""
        w, b = np.ascontiguousarray(u[:-1]), float(u[-1])
        ends = self.pool.map(lambda k: _extremes(*self.part(k), w, b), range(len(self.blocks)))
        return min(low for low, _ in ends), max(high for _, high in ends)

    def widest(self, whiten: Floats) -> float:
        """maxᵢ ‖x̃ᵢᵀ whiten‖² among rows that count."""

        def one(k: int) -> float:
            X, _, c = self.part(k)
            Q = X.astype(np.float64, copy=False) @ whiten[:-1] + whiten[-1]
            return float(np.max(np.where(c > 0, np.einsum("ij,ij->i", Q, Q), 0.0)))

        return max(self.pool.map(one, range(len(self.blocks))))


@kernel
def _blocks(X, signs, c, w, b, first, last, parts):  # type: ignore[no-untyped-def]
    none = np.empty(0)
    for k in range(first, last):
        start = k * BLOCK
        stop = min(X.shape[0], start + BLOCK)
        own = c if c.shape[0] == 1 else c[start:stop]
        _block(X[start:stop], signs[start:stop], own, w, b, none, parts[k])


@inline(shared=True)
def _block(X, signs, c, w, b, D, out):  # type: ignore[no-untyped-def]
    """One block: v₊, v₋, losses, Σα and mistakes into `out`; curvatures into D unless empty."""
    n = X.shape[0]
    room = np.empty((6, CHUNK))
    whole = np.empty(CHUNK, np.int64)
    v = np.empty((2, X.shape[1]))
    for j in range(out.shape[0]):
        out[j] = 0.0
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        for i in range(m):
            room[0, i] = c[0 if c.shape[0] == 1 else start + i]
        add_chunk(X[start : start + m], signs[start : start + m], w, b, room, whole, v, out)
        if D.shape[0] > 0:
            for i in range(m):
                D[start + i] = room[1, i]


@inline(shared=True)
def add_chunk(rows, y, w, b, room, whole, v, out):  # type: ignore[no-untyped-def]
    """Add the sums of a few rows to `out`; their weights are room[0], their curvatures go to
    room[1]."""
    m, d = rows.shape
    weight, log, z, tail, plus, minus = room[0], room[1], room[2], room[3], room[4], room[5]
    power = whole.view(np.float64)
    _scores(rows, w, b, z)
    for i in range(m):
        z[i] *= y[i]
        tail[i] = -abs(z[i])
    exp_of_negative(tail[:m], whole, power)  # e^{−|z|}
    log_of_one_plus(tail[:m], log)
    s0 = s1 = a0 = a1 = wrong = 0.0
    for i in range(m):
        inverse = np.divide(1.0, 1.0 + tail[i])
        alpha = weight[i] * inverse * (tail[i] if z[i] > 0 else 1.0)  # α = c σ(−z)
        loss = weight[i] * (log[i] + max(0.0, -z[i]))  # c log(1 + e^{−z})
        up = 1.0 if y[i] > 0 else 0.0
        plus[i] = alpha * up
        minus[i] = alpha * (up - 1.0)
        s0 += loss * up
        s1 += loss * (1.0 - up)
        a0 += plus[i]
        a1 -= minus[i]
        wrong += 1.0 if z[i] <= 0 and weight[i] > 0 else 0.0
        log[i] = weight[i] * tail[i] * inverse * inverse  # c σ(z)σ(−z)
    for j in range(d):
        v[0, j] = 0.0
        v[1, j] = 0.0
    _combine(rows, plus, minus, v[0], v[1])
    for j in range(d):
        out[j] += v[0, j]
        out[d + j] += v[1, j]
    out[2 * d] += s0
    out[2 * d + 1] += s1
    out[2 * d + 2] += a0
    out[2 * d + 3] += a1
    out[2 * d + 4] += wrong


@inline(shared=True)
def _scores(X, w, b, z):  # type: ignore[no-untyped-def]
    """zᵢ ← ⟨w, xᵢ⟩ + b, four rows at a time: each weight is loaded once for the four"""
    n, d = X.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        s0 = s1 = s2 = s3 = 0.0
        for j in range(d):
            s0 += X[i, j] * w[j]
            s1 += X[i + 1, j] * w[j]
            s2 += X[i + 2, j] * w[j]
            s3 += X[i + 3, j] * w[j]
        z[i] = s0 + b
        z[i + 1] = s1 + b
        z[i + 2] = s2 + b
        z[i + 3] = s3 + b
    for i in range(whole, n):
        s0 = 0.0
        for j in range(d):
            s0 += X[i, j] * w[j]
        z[i] = s0 + b


@inline(shared=True)
def _combine(X, p, q, v, u):  # type: ignore[no-untyped-def]
    """v ← v + Σ pᵢxᵢ and u ← u + Σ qᵢxᵢ"""
    n, d = X.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        p0, p1, p2, p3 = p[i], p[i + 1], p[i + 2], p[i + 3]
        q0, q1, q2, q3 = q[i], q[i + 1], q[i + 2], q[i + 3]
        for j in range(d):
            x0, x1, x2, x3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
            v[j] += p0 * x0 + p1 * x1 + p2 * x2 + p3 * x3
            u[j] += q0 * x0 + q1 * x1 + q2 * x2 + q3 * x3
    for i in range(whole, n):
        for j in range(d):
            v[j] += p[i] * X[i, j]
            u[j] += q[i] * X[i, j]


@inline(shared=True)
def _loss(z):  # type: ignore[no-untyped-def]
    """log(1 + e^{−z})"""
    return np.log1p(np.exp(-abs(z))) + max(0.0, -z)


@kernel
def _misjudge(X, signs, c, u, step, errors):  # type: ignore[no-untyped-def]
    """|ℓ(z + Δ) − ℓ(z) − ℓ′(z)Δ − ½ℓ″(z)Δ²| of the rows that are moved far, Δ = −y⟨step, x̃⟩"""
    n, d = X.shape
    for i in range(n):
        s = step[d]
        for j in range(d):
            s += X[i, j] * step[j]
        if not abs(s) > 1.0:
            continue
        z = u[d]
        for j in range(d):
            z += X[i, j] * u[j]
        z *= signs[i]
        s *= -signs[i]
        weight = c[0 if c.shape[0] == 1 else i]
        alpha = np.divide(1.0, 1.0 + np.exp(z))
        told = s * (0.5 * s * alpha * (1.0 - alpha) - alpha)
        errors[i] = weight * abs(_loss(z + s) - _loss(z) - told)


@kernel
def _extremes(X, signs, c, w, b):  # type: ignore[no-untyped-def]
    low, high = np.inf, -np.inf
    for i in range(X.shape[0]):
        s = b
        for j in range(X.shape[1]):
            s += X[i, j] * w[j]
        if c[0 if c.shape[0] == 1 else i] > 0:
            low = min(low, s * signs[i])
            high = max(high, s * signs[i])
    return low, high
