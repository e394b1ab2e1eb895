"""Loss and gradient of multinomial logistic regression, summed over blocks of rows.

    F(W, b) = Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ,   pᵢₖ = e^{sᵢₖ} / Σₗ e^{sᵢₗ}
    ∂F/∂wₖ = Σ cᵢ (pᵢₖ − [yᵢ = k]) xᵢ

A pass has two halves, scores and gradient. Between them the biases are set to their best values for
these W, which costs no look at the rows: the problem left is one in W alone, and every point has
Σ cᵢ(pᵢ − e_yᵢ) = 0, as duality asks. Arithmetic is in the type given: float32 is twice as fast.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.blocks.blocks import BLOCK, on_cluster
from linsep.errors import OverflowedError
from linsep.parallel import Pool, add_up
from linsep.train.convex.coordinates import Blocks
from linsep.train.convex.sigmoid import exp_of_negative

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

TOO_LARGE = (
    "X has entries so large that sums over its rows overflow, even after scaling its columns. "
    "Divide it by a constant."
)


class SoftmaxSums:
    """The losses of labelled rows as a function of (W, b).

    Parameters
    ----------
    blocks : the rows
    codes : class number of each row
    c : weight of each row, or one weight for all in an array of length one
    n_classes : how many classes there are
    real : the type sums within a block are carried in

    Attributes
    ----------
    enough : how small the gradient in b is made by `best_bias`
    """

    def __init__(
        self, blocks: Blocks, codes: Array, c: Floats, n_classes: int, pool: Pool, real: Any
    ) -> None:
        self.blocks = blocks
        self.codes = np.ascontiguousarray(codes, np.int32)
        self.real = np.dtype(real)
        self.c = c.astype(self.real)
        self.n_classes = n_classes
        self.pool = pool
        self._padded = n_classes + n_classes % 2  # kernels take classes two at a time
        shape = 0 if on_cluster(blocks.X) else len(blocks), self._padded, min(BLOCK, blocks.n_rows)
        self._scores = np.zeros(shape, self.real)
        self._shares = np.zeros(shape, self.real)
        self._W = np.zeros((self._padded, blocks.n_features), self.real)
        self._bias = np.zeros(n_classes, self.real)
        each = np.broadcast_to(c, len(codes)).astype(np.float64)
        self.share = np.bincount(codes, each, minlength=n_classes)
        self._integer = np.int32 if self.real == np.float32 else np.int64
        self.enough = 1e-7 if self.real == np.float32 else 1e-10

    def _part(self, k: int) -> tuple[slice, int, Array]:
        start, stop = self.blocks.span(k)
        return slice(start, stop), stop - start, self.c if len(self.c) == 1 else self.c[start:stop]

    def weights(self, k: int) -> Array:
        """cᵢ of the rows of a block."""
        _, n, c = self._part(k)
        return np.broadcast_to(c, n)

    def score(self, W: Floats) -> None:
        """The first half of a pass: ⟨wₖ, xᵢ⟩ of all rows, kept here.

        Rows on a cluster have no scores kept: whoever wants those of a block makes them again.
        """
        self._W[: self.n_classes] = W
        if not len(self._scores):
            return

        def one(k: int) -> None:
            where, n, _ = self._part(k)
            _forward(self.blocks.rows(where), self._W, self._scores[k], n)

        self.pool.map(one, range(len(self.blocks)))

    def _scored(self, k: int) -> Array:
        """sₖᵢ of a block, without the biases."""
        if len(self._scores):
            return np.asarray(self._scores[k])
        where, n, _ = self._part(k)
        S = np.zeros(self._scores.shape[1:], self.real)
        _forward(self.blocks.rows(where), self._W, S, n)
        return S

    def _shared(self, k: int, out: Floats, curved: bool = False) -> Array:
        """pₖᵢ of a block at the last biases; its sums go into `out`."""
        where, n, c = self._part(k)
        whole = np.empty(256, self._integer)
        P = self._shares[k] if len(self._shares) else np.zeros(self._scores.shape[1:], self.real)
        y, power = self.codes[where], whole.view(self.real)
        softmax(self._scored(k), self._bias, self.n_classes, y, c, n, whole, power, curved, P, out)
        return P

    def probabilities(self, k: int) -> Array:
        """pᵢₖ of the rows of a block, (n, K), at the scores and biases seen last."""
        K = self.n_classes
        P = self._shares[k] if len(self._shares) else self._shared(k, np.empty(1 + K + K * K))
        return np.ascontiguousarray(P[:K, : self._part(k)[1]].T)

    def losses(self, b: Floats, curved: bool) -> tuple[float, Floats, Floats]:
        """Σ cᵢ × loss at the scores kept, with its gradient and Hessian in b."""
        K = self.n_classes
        self._bias = b.astype(self.real)

        def one(k: int) -> Floats:
            out = np.empty(1 + K + K * K)
            self._shared(k, out, curved)
            return out

        t = add_up(np.array(self.pool.map(one, range(len(self.blocks)))))
        cross = t[1 + K :].reshape(K, K)
        cross = np.tril(cross) + np.tril(cross, -1).T
        return float(t[0]), t[1 : 1 + K] - self.share, np.diag(t[1 : 1 + K]) - cross

    def best_bias(self, b: Floats, free: bool) -> tuple[float, Floats, float]:
        """The loss at the best b for the scores kept, that b, and what is left of its gradient."""
        if not free:
            return self.losses(b, False)[0], b, 0.0
        value, g, H = self.losses(b, True)
        if not np.isfinite(H).all():
            raise OverflowedError(TOO_LARGE)
        for _ in range(30):
            left = float(np.abs(g).max())
            if left <= self.enough:
                break
            # b + constant is the same model: the pseudo-inverse leaves that direction alone
            step = np.linalg.pinv(H, rcond=1e-14, hermitian=True) @ g
            longest = float(np.abs(step).max())
            if not longest > 0.0:  # so far out that the losses are flat to the last digit
                break
            step *= min(1.0, 4 / longest)  # Newton's method overshoots where losses are flat
            near = left < 1e-3 and longest < 1e-2  # H is good enough to be kept
            for t in (1.0, 0.3, 0.03):
                found = self.losses(b - t * step, not near)
                if found[0] <= value:
                    break
            if found[0] > value and float(np.abs(found[1]).max()) >= left:
                self.losses(b, False)
                break
            b, (value, g, H) = b - t * step, (found[0], found[1], H if near else found[2])
        return value, b, float(np.abs(g).max())

    def gradient(self) -> Floats:
        """The second half of a pass: ∂F/∂W at the probabilities found last."""
        K = self.n_classes

        def one(k: int) -> Array:
            where, n, c = self._part(k)
            P = self._shares[k] if len(self._shares) else self._shared(k, np.empty(1 + K + K * K))
            residuals(P, K, self.codes[where], c, n)
            G = np.zeros((self._padded, self.blocks.n_features), self.real)
            _backward(self.blocks.rows(where), P, G, n)
            return G.astype(np.float64)

        return self.pool.sum(one, range(len(self.blocks)))[:K]

    def undecided(self) -> Floats:
        """1 − Σₖ pᵢₖ² of every row, at the scores and biases seen last."""

        def one(k: int) -> Floats:
            P = self.probabilities(k)
            return np.asarray(1 - np.einsum("ik,ik->i", P, P, dtype=np.float64))

        return np.concatenate(self.pool.map(one, range(len(self.blocks))))

    def margins(self, b: Floats) -> tuple[float, float]:
        """Smallest and largest sᵢ,yᵢ − sᵢₖ over other classes k, among rows that count."""
        K = self.n_classes

        def one(k: int) -> tuple[float, float]:
            where, n, c = self._part(k)
            S = self._scored(k)[:K, :n].T.astype(np.float64) + b
            own = S[np.arange(n), self.codes[where]]
            S = (own[:, None] - S)[np.broadcast_to(c > 0, n)]
            others = np.arange(K) != self.codes[where][np.broadcast_to(c > 0, n)][:, None]
            return S[others].min(initial=np.inf), S[others].max(initial=-np.inf)

        low, high = zip(*self.pool.map(one, range(len(self.blocks))), strict=True)
        return float(min(low)), float(max(high))


@kernel
def _forward(X, W, S, n):  # type: ignore[no-untyped-def]
    """sₖᵢ ← ⟨wₖ, xᵢ⟩ for four rows and two classes at a time"""
    d = X.shape[1]
    zero = W.dtype.type(0)
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        for k in range(0, W.shape[0], 2):
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
            for j in range(d):
                x0, x1, x2, x3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
                a0 += x0 * W[k, j]
                a1 += x1 * W[k, j]
                a2 += x2 * W[k, j]
                a3 += x3 * W[k, j]
                b0 += x0 * W[k + 1, j]
                b1 += x1 * W[k + 1, j]
                b2 += x2 * W[k + 1, j]
                b3 += x3 * W[k + 1, j]
            S[k, i], S[k, i + 1], S[k, i + 2], S[k, i + 3] = a0, a1, a2, a3
            S[k + 1, i], S[k + 1, i + 1], S[k + 1, i + 2], S[k + 1, i + 3] = b0, b1, b2, b3
    for i in range(whole, n):
        for k in range(W.shape[0]):
            a0 = zero
            for j in range(d):
                a0 += X[i, j] * W[k, j]
            S[k, i] = a0


@kernel
def _backward(X, R, G, n):  # type: ignore[no-untyped-def]
    """gₖ ← gₖ + Σᵢ rₖᵢxᵢ for four rows and two classes at a time"""
    d = X.shape[1]
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        for k in range(0, G.shape[0], 2):
            a0, a1, a2, a3 = R[k, i], R[k, i + 1], R[k, i + 2], R[k, i + 3]
            b0, b1, b2, b3 = R[k + 1, i], R[k + 1, i + 1], R[k + 1, i + 2], R[k + 1, i + 3]
            for j in range(d):
                x0, x1, x2, x3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
                G[k, j] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
                G[k + 1, j] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
    for i in range(whole, n):
        for k in range(G.shape[0]):
            for j in range(d):
                G[k, j] += R[k, i] * X[i, j]


@kernel
def softmax(S, b, K, y, c, n, whole, power, curved, P, out):  # type: ignore[no-untyped-def]
    """pₖᵢ of a block into P; loss, Σ cᵢpᵢ and (lower half of) Σ cᵢpᵢpᵢᵀ into out"""
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
            if curved:
                for h in range(k + 1):
                    q = P[h, start : start + m]
                    s = real(0)
                    for i in range(m):
                        s += top[i] * q[i]
                    out[1 + K + k * K + h] += s
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
