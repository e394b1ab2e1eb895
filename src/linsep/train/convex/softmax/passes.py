"""One pass of multinomial logistic regression over dense rows that keeps nothing of a row.

    F(W, b) = Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ,   pᵢₖ = e^{sᵢₖ} / Σₗ e^{sᵢₗ}
    ∂F/∂wₖ = Σ cᵢ (pᵢₖ − [yᵢ = k]) xᵢ

Scores of a few thousand rows by a matrix product, their probabilities in place, and their part of
the gradient by another product, while all of it is in the cache. What a pass keeps is the gradient,
so that memory does not grow with rows times classes. Products are in the type of the rows, sums
over blocks in float64.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep._exponentials import exp_of_negative
from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

AT_ONCE = 1 << 21
"""Scores, rows times classes, that are looked at together."""
NARROWEST = 256


class Seen(NamedTuple):
    """What a pass tells of a point.

    Attributes
    ----------
    loss : F
    W, b : its gradient, (K, d) and (K,)
    doubt : Σ cᵢ pᵢₖ(1 − pᵢₖ) for each class
    """

    loss: float
    W: Floats
    b: Floats
    doubt: Floats


class Tilts(NamedTuple):
    """Sums over rows with the weights qᵢₖ = cᵢ pᵢₖ(1 − pᵢₖ) of each class.

    Attributes
    ----------
    sums : Σ qᵢₖ xᵢ, (K, d)
    squares : Σᵢₖ qᵢₖ xᵢⱼ², (d,)
    weight : Σ qᵢₖ
    scores, score_squares : Σ qᵢₖ zᵢₖ and Σ qᵢₖ zᵢₖ², zᵢₖ = ⟨wₖ, xᵢ⟩
    """

    sums: Floats
    squares: Floats
    weight: Floats
    scores: Floats
    score_squares: Floats


class SoftmaxPasses:
    """The losses of labelled rows as a function of (W, b), without a number kept for any row.

    Parameters
    ----------
    blocks : the rows
    codes : class number of each row
    c : weight of each row, or one weight for all in an array of length one
    n_classes : how many classes there are
    real : the type of products
    """

    def __init__(
        self, blocks: Blocks, codes: Array, c: Floats, n_classes: int, pool: Pool, real: Any
    ) -> None:
        self.blocks, self.pool, self.n_classes = blocks, pool, n_classes
        self.codes = np.ascontiguousarray(codes, np.int32)
        self.real = np.dtype(real)
        self.c = c.astype(self.real)
        each = np.broadcast_to(c, len(codes)).astype(np.float64)
        self.share = np.bincount(codes, each, minlength=n_classes)
        self._step = max(NARROWEST, min(AT_ONCE // n_classes, 4096) // NARROWEST * NARROWEST)
        self._integer = np.int32 if self.real == np.float32 else np.int64

    def __call__(self, W: Floats, b: Floats) -> Seen:
        """One pass."""
        K, d = W.shape
        V, bias = W.astype(self.real), b.astype(self.real)

        def one(k: int) -> Floats:
            return self._part(*self.blocks.span(k), V, bias)

        t = self.pool.sum(one, range(len(self.blocks)))
        G, taken = t[: K * d].reshape(K, d), t[K * d + 1 : K * d + 1 + K]
        return Seen(float(t[K * d]), G, taken - self.share, taken - t[K * d + 1 + K :])

    def balance(self, W: Floats, b: Floats) -> tuple[Floats, Floats]:
        """∂F/∂b and Σ cᵢ pᵢₖ(1 − pᵢₖ): half a pass."""
        V, bias, K = W.astype(self.real), b.astype(self.real), len(W)

        def one(k: int) -> Floats:
            start, stop = self.blocks.span(k)
            X, sums = self.blocks.rows(slice(start, stop)), np.zeros(1 + 2 * K)
            for first in range(0, stop - start, self._step):
                x = X[first : first + self._step]
                rows = slice(start + first, start + first + len(x))
                c = self.c if len(self.c) == 1 else self.c[rows]
                S = V @ x.T.astype(self.real, copy=False)
                sums += self._probabilities(S, bias, self.codes[rows], c)
            return sums

        t = self.pool.sum(one, range(len(self.blocks)))[1:]
        return t[:K] - self.share, t[:K] - t[K:]

    def diagonal(self, W: Floats, b: Floats) -> Floats:
        """Σ cᵢ pᵢₖ(1 − pᵢₖ) xᵢⱼ² for each class, (K, d)."""
        V, bias = W.astype(self.real), b.astype(self.real)

        def one(k: int) -> Floats:
            start, stop = self.blocks.span(k)
            out = np.zeros(W.shape, self.real)
            X = self.blocks.rows(slice(start, stop))
            for first in range(0, stop - start, self._step):
                x = X[first : first + self._step]
                rows = slice(start + first, start + first + len(x))
                S = V @ x.T.astype(self.real, copy=False)
                c = self.c if len(self.c) == 1 else self.c[rows]
                self._probabilities(S, bias, self.codes[rows], c)
                S *= c * (1 - S)
                out += S @ np.square(x)
            return out.astype(np.float64)

        return self.pool.sum(one, range(len(self.blocks)))

    def tilts(self, W: Floats, b: Floats) -> Tilts:
        """How the rows look to each class: one pass."""
        V, bias, (K, d) = W.astype(self.real), b.astype(self.real), W.shape

        def one(k: int) -> Floats:
            start, stop = self.blocks.span(k)
            out, sums = np.zeros((K + 1, d + 3)), np.zeros((K, d), self.real)
            squares = np.zeros(d, self.real)
            X = self.blocks.rows(slice(start, stop))
            for first in range(0, stop - start, self._step):
                x = X[first : first + self._step]
                rows = slice(start + first, start + first + len(x))
                S = V @ x.T.astype(self.real, copy=False)
                own = S.copy()
                c = self.c if len(self.c) == 1 else self.c[rows]
                self._probabilities(S, bias, self.codes[rows], c)
                S *= c * (1 - S)
                sums += S @ x
                squares += S.sum(axis=0) @ np.square(x)
                out[:K, d] += S.sum(axis=1)
                out[:K, d + 1] += np.einsum("ki,ki->k", S, own)
                own *= own
                out[:K, d + 2] += np.einsum("ki,ki->k", S, own)
            out[:K, :d], out[K, :d] = sums, squares
            return out

        t = self.pool.sum(one, range(len(self.blocks)))
        return Tilts(t[:K, :d], t[K, :d], t[:K, d], t[:K, d + 1], t[:K, d + 2])

    def _part(self, start: int, stop: int, W: Array, b: Array) -> Floats:
        """Gradient, loss, Σ cp and Σ cp² of a block, one after the other."""
        K, d = W.shape
        out, parts = np.empty(K * d + 1 + 2 * K), np.zeros(1 + 2 * K)
        G = np.zeros((K, d), self.real)
        X = self.blocks.rows(slice(start, stop))
        for first in range(0, stop - start, self._step):
            x = X[first : first + self._step]
            rows = slice(start + first, start + first + len(x))
            S = W @ x.T.astype(self.real, copy=False)
            c = self.c if len(self.c) == 1 else self.c[rows]
            parts += self._probabilities(S, b, self.codes[rows], c)
            residuals(S, K, self.codes[rows], c, len(x))
            G += S @ x
        out[: K * d], out[K * d :] = G.ravel(), parts
        return out

    def _probabilities(self, S: Array, b: Array, y: Array, c: Array) -> Floats:
        """Scores to probabilities, in place; their loss, Σ cp and Σ cp²."""
        K, n = S.shape
        whole, sums = np.empty(NARROWEST, self._integer), np.empty(1 + K)
        softmax(S, b, K, y, c, n, whole, whole.view(self.real), S, sums)
        weighted = S if len(c) == 1 else S * c
        squares = np.einsum("ki,ki->k", weighted, S).astype(np.float64)
        return np.concatenate([sums, squares * (float(c[0]) if len(c) == 1 else 1.0)])

    def probabilities(self, rows: Array | None, W: Floats, b: Floats) -> Array:
        """pᵢₖ of some rows, or of all, (m, K)."""

        def of(some: Any) -> Array:
            S = self.blocks.rows(some) @ W.T.astype(self.real)
            S += b.astype(self.real)
            S -= S.max(axis=1, keepdims=True)
            np.exp(S, out=S)
            S /= S.sum(axis=1, keepdims=True)
            return np.asarray(S)

        if rows is not None:
            return of(rows)
        each = self.pool.map(lambda k: of(slice(*self.blocks.span(k))), range(len(self.blocks)))
        return np.concatenate(each)


@kernel
def softmax(S, b, K, y, c, n, whole, power, P, out):  # type: ignore[no-untyped-def]
    """pₖᵢ of a block into P; loss and Σ cᵢpᵢ into out"""
    real = P.dtype.type
    size = 256
    top = np.empty(size, P.dtype)
    total = np.empty(size, P.dtype)
    weight = np.empty(size, P.dtype)
    for k in range(out.shape[0]):
        out[k] = 0.0
    for start in range(0, n, size):
        m = min(size, n - start)
        for i in range(m):
            weight[i] = c[0 if c.shape[0] == 1 else start + i]
            top[i] = S[0, start + i] + b[0]
            total[i] = real(0)
        for k in range(1, K):
            for i in range(m):
                top[i] = max(top[i], S[k, start + i] + b[k])
        loss = 0.0
        for k in range(K):
            p = P[k, start : start + m]
            for i in range(m):
                p[i] = S[k, start + i] + b[k] - top[i]
        for i in range(m):
            loss -= weight[i] * P[y[start + i], start + i]
        for k in range(K):
            p = P[k, start : start + m]
            exp_of_negative(p, whole, power)
            for i in range(m):
                total[i] += p[i]
        for i in range(m):
            loss += weight[i] * np.log(total[i])
            total[i] = np.divide(real(1), total[i])
        for k in range(K):
            p = P[k, start : start + m]
            s = real(0)
            for i in range(m):
                p[i] *= total[i]
                top[i] = weight[i] * p[i]
                s += top[i]
            out[1 + k] += s
        out[0] += loss


@kernel
def residuals(P, K, y, c, n):  # type: ignore[no-untyped-def]
    """rₖᵢ = cᵢ(pₖᵢ − [yᵢ = k]), in place"""
    one = P.dtype.type(1)
    for i in range(n):
        P[y[i], i] -= one
    for k in range(K):
        for i in range(n):
            P[k, i] *= c[0 if c.shape[0] == 1 else i]
