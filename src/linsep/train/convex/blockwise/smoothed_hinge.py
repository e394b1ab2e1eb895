"""Losses of a support vector machine summed over blocks of rows, with no number kept for a row.

    zᵢ = yᵢ(⟨u, xᵢ⟩ + b),   tᵢ = 1 − zᵢ,   αᵢ = cᵢ φ′(tᵢ),   vₛ = Σ_{i in class s} αᵢ yᵢ xᵢ

For the hinge max(0, t), φ rounds the corner: it is (t + h)²/4h where |t| < h. The squared hinge
max(0, t)² is its own φ. The two classes are summed apart because the certificate needs both.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep.data.blocks.page_release import PageRelease
from linsep.parallel import Pool, add_up
from linsep.train.convex.blockwise.line_minimum import Line, line_of
from linsep.train.convex.blockwise.sparse_sums import SparseRows
from linsep.train.convex.coordinates import Blocks, Columns
from linsep.train.convex.losses import Hinge, SmoothedHinge, SquaredHinge
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

SQUARED = 0.0
"""The width h that stands for the squared hinge, which has no corner."""
_REST = 8


@record
class TallSums(NamedTuple):
    """What one pass found, class by class (+1 first) where there are two numbers.

    Attributes
    ----------
    v : (2, d), Σ αᵢyᵢxᵢ
    loss : (2,), Σ cᵢℓ(zᵢ) with the loss as it is
    weight : (2,), Σ αᵢ
    square : (2,), Σ αᵢ²/4cᵢ for the squared hinge, else zero
    rounded : Σ cᵢφ(tᵢ)
    active : rows with αᵢ > 0
    hessian : Σ cᵢφ″(tᵢ) x̃ᵢx̃ᵢᵀ with x̃ = (x, 1), where asked for
    """

    v: Floats
    loss: Floats
    weight: Floats
    square: Floats
    rounded: float
    active: int
    hessian: Floats | None

    @property
    def gradient(self) -> Floats:
        """The gradient of Σ cᵢφ(tᵢ) in (u, b)."""
        return np.append(-self.v.sum(axis=0), self.weight[1] - self.weight[0])

    @property
    def curvature(self) -> Floats:
        """The Hessian of a pass that was asked for it."""
        assert self.hessian is not None
        return self.hessian


class TallRows:
    """Labelled rows, read block by block.

    Parameters
    ----------
    blocks : the rows
    signs : int8 array of −1 and +1
    c : weight of each row, or one weight for all in an array of length one
    pool : threads that share the blocks
    """

    def __init__(self, blocks: Blocks, signs: Array, c: Floats, pool: Pool) -> None:
        self.blocks, self.signs, self.c, self.pool = blocks, signs, c, pool
        blocks.pages = PageRelease(blocks.X, signs)

    @property
    def parts(self) -> range:
        """Blocks, by their numbers."""
        return range(len(self.blocks))

    def part(self, k: int) -> tuple[Array, Array, Floats]:
        """Rows, signs and weights of block k."""
        start, stop = self.blocks.span(k)
        c = self.c if len(self.c) == 1 else self.c[start:stop]
        return self.blocks.rows(slice(start, stop)), self.signs[start:stop], c

    def at(self, u: Floats, h: float, curved: bool = True) -> TallSums:
        """One pass at (u, b), b last in `u`, with the corner rounded over a width of `h`."""
        d, count = self.blocks.n_features, len(self.blocks)
        w, b = np.ascontiguousarray(u[:d]), float(u[d])

        def one(k: int) -> Floats:
            X, signs, c = self.part(k)
            D, sums = np.empty(len(X)), np.empty(2 * d + _REST)
            bent = _sum_up(X, signs, c, w, b, h, D, sums)
            if not curved:
                return sums
            B = np.empty((bent, d + 1))
            _weigh(X, D, B)
            return np.concatenate([sums, np.asarray(B.T @ B).ravel()])

        total = self.pool.sum(one, range(count))
        hessian = total[2 * d + _REST :].reshape(d + 1, d + 1) if curved else None
        rest = total[2 * d : 2 * d + _REST]
        return TallSums(
            total[: 2 * d].reshape(2, d), rest[0:2], rest[2:4], rest[4:6],
            float(rest[6]), int(rest[7]), hessian,
        )  # fmt: skip

    def signed_scores(self, k: int, u: Floats) -> Floats:
        """zᵢ of the rows of block k."""
        X, signs, _ = self.part(k)
        out = np.empty(len(X))
        _signed_scores(X, signs, np.ascontiguousarray(u[:-1]), float(u[-1]), out)
        return out

    def distances(self, k: int, u: Floats, h: float, astray: Sequence[Floats], M: Floats) -> Floats:
        """How far rows of block k are from the corner at `u`, for their length by diag(M)."""
        X, signs, _ = self.part(k)
        out = np.empty(len(X))
        _distances(X, signs, np.array([u, *astray]), h, M, out)
        return out

    def line(self, u: Floats, step: Floats, t: Floats | None = None) -> Line:
        """The line u − s·step, as the rows see it, whose t may be known."""
        return line_of(self, u, step, t)

    def along(self, u: Floats, step: Floats, h: float, sizes: Floats) -> Floats:
        """Σ cᵢφ(tᵢ) at u − t·step for each size t."""
        return _along(self, lambda k: self.part(k)[2], u, step, h, sizes)

    def piece(self, k: int, some: Array) -> tuple[Any, Array, Floats]:
        """Some rows of block k, their signs and weights."""
        X, signs, c = self.part(k)
        which = np.flatnonzero(some[slice(*self.blocks.span(k))])
        rows = np.asarray(X).take(which, axis=0)  # half the time of X[some]
        return rows, signs[which], np.broadcast_to(c, signs.shape)[which]

    def joined(self, pieces: list[tuple[Any, Array, Floats]]) -> "TallRows":
        """Pieces as rows of their own."""
        X, signs, c = (np.concatenate(part) for part in zip(*pieces, strict=True))
        plain = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
        return TallRows(Blocks(X, plain), signs, c, self.pool)

    def multipliers(self, u: Floats, h: float, shrink: tuple[float, float], out: Array) -> None:
        """Fill in αᵢ of all rows, those of each class times its number in `shrink`."""
        w, b, pages = np.ascontiguousarray(u[:-1]), float(u[-1]), PageRelease(out)

        def one(k: int) -> Floats:
            X, signs, c = self.part(k)
            alpha = np.empty(len(X))
            _multipliers(X, signs, c, w, b, h, *shrink, alpha)
            return alpha

        for k, alpha in enumerate(self.pool.in_order(one, range(len(self.blocks)))):
            start, stop = self.blocks.span(k)
            out[start:stop] = alpha
            pages.advance(stop - start)


class SparseTallRows:
    """`TallRows` of a CSR matrix."""

    def __init__(self, rows: SparseRows) -> None:
        self.rows, self.signs, self.c, self.pool = rows, rows.signs, rows.c, rows.pool

    @property
    def parts(self) -> range:
        """Groups, each by the number of its first row."""
        return self.rows.parts

    def at(self, u: Floats, h: float, curved: bool = True) -> TallSums:
        """One pass at (u, b), b last in `u`, with the corner rounded over a width of `h`."""
        squared = SquaredHinge()
        if h == SQUARED:
            s = self.rows.at(u, squared, squared, curved)
        else:
            s = self.rows.at(u, SmoothedHinge(h), Hinge(), curved)
        square = s.square if h == SQUARED else np.zeros(2)
        return TallSums(s.v, s.real, s.weight, square, s.loss, s.active, s.hessian)

    def signed_scores(self, k: int, u: Floats) -> Floats:
        """zᵢ of the rows of block k."""
        return np.asarray(self.rows.part(k)[1] * self.rows.scores(k, u))

    def distances(self, k: int, u: Floats, h: float, astray: Sequence[Floats], M: Floats) -> Floats:
        """How far rows of block k are from the corner at `u`, for their length by diag(M)."""
        t = 1.0 - self.signed_scores(k, u)
        met = np.abs(t) < h
        for point in astray:
            met |= (1.0 - self.signed_scores(k, point)) * np.sign(t) < h
        lengths = np.sqrt(self.rows.lengths(k, np.diag(M)))
        return np.where(met, 0.0, np.abs(t) / lengths)

    def line(self, u: Floats, step: Floats, t: Floats | None = None) -> Line:
        """The line u − s·step, as the rows see it, whose t may be known."""
        return line_of(self, u, step, t)

    def along(self, u: Floats, step: Floats, h: float, sizes: Floats) -> Floats:
        """Σ cᵢφ(tᵢ) at u − t·step for each size t."""
        return _along(self, lambda k: self.rows.part(k)[2], u, step, h, sizes)

    def piece(self, k: int, some: Array) -> tuple[Any, Array, Floats]:
        """Some rows of block k, their signs and weights."""
        _, signs, c = self.rows.part(k)
        span = slice(*self.rows.span(k))
        X, some = self.rows.X[span], some[span]
        return X[some], signs[some], np.broadcast_to(c, signs.shape)[some]

    def joined(self, pieces: list[tuple[Any, Array, Floats]]) -> "SparseTallRows":
        """Pieces as rows of their own."""
        X = sp.vstack([one[0] for one in pieces], format="csr")
        signs, c = (np.concatenate([one[k] for one in pieces]) for k in (1, 2))
        return SparseTallRows(SparseRows(X, self.rows.columns, signs, c, self.pool))

    def multipliers(self, u: Floats, h: float, shrink: tuple[float, float], out: Array) -> None:
        """Fill in αᵢ of all rows, those of each class times its number in `shrink`."""
        pages = PageRelease(out)

        def one(k: int) -> Floats:
            _, signs, c = self.rows.part(k)
            t = 1.0 - signs * self.rows.scores(k, u)
            over = 2.0 * np.maximum(0.0, t)
            slopes = over if h == SQUARED else np.clip((t + h) / (2.0 * h), 0.0, 1.0)
            return np.asarray(c * slopes * np.where(signs > 0, *shrink))

        parts = self.rows.parts
        for k, alpha in zip(parts, self.rows.pool.in_order(one, parts), strict=True):
            start, stop = self.rows.span(k)
            out[start:stop] = alpha
            pages.advance(stop - start)


def _along(
    rows: Any, weights: Callable[[int], Floats], u: Floats, step: Floats, h: float, sizes: Floats
) -> Floats:
    """Σ cᵢφ(tᵢ) at several points of a line, in one pass."""

    def one(k: int) -> Floats:
        t, slope = 1.0 - rows.signed_scores(k, u), rows.signed_scores(k, step)
        sums = np.zeros(len(sizes))
        _sum_along(t, slope, weights(k), h, sizes, sums)
        return sums

    return add_up(np.array(rows.pool.map(one, rows.parts)))


@kernel
def _sum_up(X, signs, c, w, b, h, D, out):  # type: ignore[no-untyped-def]
    """One block: its sums into `out`, curvatures into D; returns how many are not zero."""
    n, d = X.shape
    out[:] = 0.0
    rest = out[2 * d :]
    bent = 0
    for i in range(n):
        weight = c[0 if c.shape[0] == 1 else i]
        s = b
        for j in range(d):
            s += X[i, j] * w[j]
        y = 1.0 if signs[i] > 0 else -1.0
        k = 0 if signs[i] > 0 else 1
        t = 1.0 - y * s
        over = max(0.0, t)
        D[i] = 0.0
        if h == 0.0:  # the squared hinge
            loss = rounded = over * over
            slope = 2.0 * over
            curvature = 2.0 if t > 0.0 else 0.0
        else:
            loss = rounded = over
            slope = 1.0 if t > 0.0 else 0.0
            curvature = 0.0
            if abs(t) < h:
                slope = (t + h) / (2.0 * h)
                rounded = 0.5 * (t + h) * slope
                curvature = 1.0 / (2.0 * h)
        if weight * curvature > 0.0:
            D[i] = weight * curvature
            bent += 1
        rest[k] += weight * loss
        rest[6] += weight * rounded
        alpha = weight * slope
        if alpha > 0.0:
            rest[2 + k] += alpha
            if h == 0.0:
                rest[4 + k] += alpha * over * 0.5  # α²/4c with α = 2ct
            rest[7] += 1.0
            step = alpha * y
            for j in range(d):
                out[k * d + j] += step * X[i, j]
    return bent


@kernel
def _signed_scores(X, signs, w, b, out):  # type: ignore[no-untyped-def]
    """zᵢ = yᵢ(⟨w, xᵢ⟩ + b)"""
    for i in range(X.shape[0]):
        s = b
        for j in range(X.shape[1]):
            s += X[i, j] * w[j]
        out[i] = s if signs[i] > 0 else -s


@kernel
def _distances(X, signs, points, h, M, out):  # type: ignore[no-untyped-def]
    """|tᵢ| / √Σ Mⱼx̃ᵢⱼ² at the first point, or zero where a row meets the corner by another one"""
    n, d = X.shape
    for i in range(n):
        y = 1.0 if signs[i] > 0 else -1.0
        s, length2 = points[0, d], M[d]
        for j in range(d):
            x = np.float64(X[i, j])
            s += x * points[0, j]
            length2 += M[j] * x * x
        t = 1.0 - y * s
        side = 1.0 if t > 0.0 else -1.0
        met = abs(t) < h
        for k in range(1, points.shape[0]):
            s = points[k, d]
            for j in range(d):
                s += X[i, j] * points[k, j]
            met = met or (1.0 - y * s) * side < h
        out[i] = 0.0 if met else abs(t) / np.sqrt(length2)


@kernel
def _sum_along(t, slope, c, h, sizes, out):  # type: ignore[no-untyped-def]
    """Σ cᵢφ(tᵢ + size·slopeᵢ) for each size"""
    for k in range(sizes.shape[0]):
        size, total = sizes[k], 0.0
        for i in range(t.shape[0]):
            at = t[i] + size * slope[i]
            over = max(0.0, at)
            if h == 0.0:  # the squared hinge
                over *= over
            elif abs(at) < h:
                over = 0.25 * (at + h) * (at + h) / h
            total += c[0 if c.shape[0] == 1 else i] * over
        out[k] = total


@kernel
def _weigh(X, D, B):  # type: ignore[no-untyped-def]
    """√Dᵢ (xᵢ, 1) for the rows with Dᵢ > 0, so that BᵀB is the Hessian"""
    n, d = X.shape
    k = 0
    for i in range(n):
        if D[i] > 0.0:
            root = np.sqrt(D[i])
            for j in range(d):
                B[k, j] = root * X[i, j]
            B[k, d] = root
            k += 1


@kernel
def _multipliers(X, signs, c, w, b, h, plus, minus, out):  # type: ignore[no-untyped-def]
    """cᵢφ′(tᵢ), times `plus` or `minus` by class"""
    n, d = X.shape
    for i in range(n):
        weight = c[0 if c.shape[0] == 1 else i]
        s = b
        for j in range(d):
            s += X[i, j] * w[j]
        t = 1.0 - (s if signs[i] > 0 else -s)
        if h == 0.0:
            slope = 2.0 * max(0.0, t)
        else:
            slope = 1.0 if t > 0.0 else 0.0
            if abs(t) < h:
                slope = (t + h) / (2.0 * h)
        out[i] = weight * slope * (plus if signs[i] > 0 else minus)
