"""Rows that stand for all in a path of logistic fits: starts, Hessians by home, and a proof.

Rows that stand alone are all taken, and some of the others with their weight, by their leverage
x̃ᵀ(Σ x̃x̃ᵀ)⁻¹x̃: what an even sample misses, such as a feature that is zero in all but a few rows,
or two that go together in all but a few, is then here.

The proof. Let q = σ(s) − [y = 1] be the derivative of a row's loss by its score s, so that

    g = Σ qᵢx̃ᵢ + ridge∘u

is the gradient at u, seen on all rows. Move the derivatives of the sampled rows that the fold keeps
to q′ = q − Dᵢ⟨x̃ᵢ, t⟩, with t = (Σ Dᵢx̃ᵢx̃ᵢᵀ + ridge)⁻¹g and any Dᵢ > 0, but no further than q′ can
be a derivative. This is a dual point; what is left of the gradient, r = Σ q′ᵢx̃ᵢ + ridge∘u, is
ridge∘t where no row was held back. So, with p = σ(s) and p′ − p = q′ − q,

    F(u) − min F ≤ ½ Σ rⱼ²/ridgeⱼ + Σ KL(p′ᵢ, pᵢ),    KL(p′, p) ≤ (p′ − p)²/(p(1 − p)).

Plain weak duality, with q′ = q, has ½ Σ gⱼ²/ridgeⱼ in its place: no bound to speak of at large C.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep._exponentials import exp_of_negative
from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks, Columns, spread
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.path.fold_sums import CHUNK
from linsep.train.convex.sampling import draw, pick

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FEWEST = 8192  # rows that a sample has at least
PER_FEATURE = 200  # and for each feature
SHARE = 10  # one row in so many is taken at least: what the sample proves is worse by as much
HELD = 0.999  # of the way to 0 or 1 that p may go
TOGETHER = 8  # lanes that a thread takes at a time
SKETCH = 16  # random directions that leverages are told from
STEPS = 40  # at most, on the sample


def size(n: int, d: int) -> int:
    """How many of n rows with d features are taken, about; all where it would be half or more."""
    wanted = max(FEWEST, PER_FEATURE * d, n // SHARE)
    return wanted if wanted < n // 2 else n


class Rows:
    """Weighted rows, home by home."""

    def __init__(self, X: Array, signs: Array, home: Array, rows: Array, weight: Floats) -> None:
        order = np.argsort(home[rows], kind="stable")
        rows = rows[order]
        self.X = np.ascontiguousarray(X[rows], np.float64)
        self.up = np.ascontiguousarray(signs[rows] > 0, np.float64)
        self.weight = np.ascontiguousarray(weight[order])
        self.count = int(home.max()) + 1
        self.ends = np.searchsorted(home[rows], np.arange(self.count + 1))

    def at(self, u: Floats, fold: int) -> tuple[float, Floats, Floats]:
        """Losses and their gradient over the rows a fold keeps, and every home's Hessian."""
        d = len(u)
        value, g, H = np.zeros(1), np.zeros(d), np.zeros((self.count, d, d))
        for h in range(self.count):
            if h != fold and self.ends[h] < self.ends[h + 1]:
                part = slice(self.ends[h], self.ends[h + 1])
                B = np.empty((self.ends[h + 1] - self.ends[h], d))
                _curve(self.X[part], self.up[part], self.weight[part], u, value, g, B)
                H[h] = np.dot(B.T, B)
        return float(value[0]), g, H

    def hessians(self, U: Floats, folds: Array, pool: Pool) -> Floats:
        """Each lane's Hessian over the rows its fold keeps."""
        H = np.empty((len(U), U.shape[1], U.shape[1]))
        cuts = [slice(k, k + TOGETHER) for k in range(0, len(U), TOGETHER)]

        def some(cut: slice) -> None:
            _hessians(self.X, self.weight, self.ends, U[cut], folds[cut], H[cut])

        pool.map(some, cuts)
        return H

    def moved(self, U: Floats, T: Floats, folds: Array, at: Floats, pool: Pool) -> Floats:
        """Of each lane, (d + 2): what rows held back leave of the gradient, and Σ KL, as above.

        Lane k has weights U[k] and D = weight·σσ′ at the weights at[k].
        """
        parts = np.empty((self.count, len(U), U.shape[1] + 1))
        w, t, v = (np.ascontiguousarray(A[:, :-1].T) for A in (U, T, at))
        biases = np.column_stack([A[:, -1] for A in (U, T, at)])

        def one(h: int) -> None:
            part = slice(self.ends[h], self.ends[h + 1])
            counts = 1.0 * (folds != h)
            _moved(self.X[part], self.weight[part], w, t, v, biases, counts, parts[h])

        pool.map(one, range(self.count))
        return np.asarray(parts.sum(axis=0))


class FoldSample:
    """The `far` rows, which bend the losses most, each for itself; and some `others`.

    Parameters
    ----------
    X, signs, home : as for `linsep.train.convex.path.fold_newton.fit_folds`
    free : whether the intercept is
    """

    def __init__(self, X: Array, signs: Array, home: Array, free: bool, pool: Pool) -> None:
        n, d = X.shape
        rows, chance = np.arange(n), np.ones(n)
        wanted = size(n, d)
        if wanted < n:
            chance = _chances(X, home, wanted, pool)
            rows = draw(chance, 0)
            chance = chance[rows]
        far = chance == 1
        self.far = Rows(X, signs, home, rows[far], chance[far])
        self.others = Rows(X, signs, home, rows[~far], 1 / chance[~far])
        self.free = free
        self.ridge = np.append(np.ones(d), 0.0)

    def curvature(self, H: Floats, C: float) -> Curvature:
        """Of losses with this Hessian and the penalty at C."""
        H = H + np.diag(self.ridge / C)
        if not self.free:
            H[-1] = H[:, -1] = 0.0
        return Curvature(H)

    def solve(
        self, u: Floats, fold: int, C: float, gradient: Floats | None, stop: float
    ) -> tuple[Floats, Floats]:
        """Minimise the sample's losses and the penalty; returns the Hessian met last as well.

        Where the true `gradient` of P / C at u is given, the sample is corrected by it. Ends
        when Newton's decrement (squared) is at most `stop`.
        """
        value, g, H = self._at(u, fold, C)
        shift = np.zeros_like(u) if gradient is None else g - gradient
        value -= float(shift @ u)
        for _ in range(STEPS):
            step = self.curvature(H, C).solve(g - shift)
            decrement2, t = float((g - shift) @ step), 1.0
            if not decrement2 > stop:
                return u - step, H
            while True:
                trial = u - t * step
                now, slope, bend = self._at(trial, fold, C)
                now -= float(shift @ trial)
                if now <= value - 1e-4 * t * decrement2 + 1e-13 * abs(value):
                    break
                t /= 2
                if t < 1e-6:
                    return u, H
            u, value, g, H = trial, now, slope, bend
        return u, H

    def _at(self, u: Floats, fold: int, C: float) -> tuple[float, Floats, Floats]:
        """The sample's P / C, its gradient, and the Hessian of the losses."""
        far, others = self.far.at(u, fold), self.others.at(u, fold)
        g = far[1] + others[1] + self.ridge * u / C
        if not self.free:
            g[-1] = 0.0
        value = far[0] + others[0] + 0.5 * float(self.ridge @ (u * u)) / C
        return value, g, far[2].sum(axis=0) + others[2].sum(axis=0)


def _chances(X: Array, home: Array, wanted: int, pool: Pool) -> Floats:
    """Chances by leverage, of which few random directions tell enough.

    Rows in order are not alike from home to home: a feature may be met in one home's rows and in
    hardly any others. The fold that leaves this home out rests on those few, which among all rows
    have little leverage; so what they have among the rows that a fold keeps counts as well.
    """
    n, d = X.shape
    blocks = Blocks(X, Columns(np.empty(0, X.dtype), np.empty(0, X.dtype)))
    rows, chance = pick(blocks, spread(X), np.full(1, 1 / n), wanted // 2, pool)
    some = np.column_stack([X[rows], np.ones(len(rows))]) / np.sqrt(chance)[:, None]
    whiten = Curvature(np.dot(some.T, some)).whiten()
    Q = whiten @ np.random.default_rng(0).normal(size=(whiten.shape[1], SKETCH)) / np.sqrt(SKETCH)
    thin = _thin_directions(some @ whiten, home[rows], int(home.max()) + 1)
    own = [(f, whiten @ V) for f, V in thin]

    def one(k: int) -> Floats:
        part = slice(*blocks.span(k))
        leverage = _lengths(X[part], Q)
        alone = np.zeros(len(leverage))
        for f, V in own:
            np.maximum(alone, _lengths(X[part], V), out=alone, where=home[part] != f)
        return leverage + alone

    chance = np.concatenate(pool.map(one, range(len(blocks))))
    chance *= 0.5 / (d + 1)
    return np.minimum(1.0, wanted * (chance + 0.5 / n))


def _thin_directions(white: Floats, home: Array, count: int) -> list[tuple[int, Floats]]:
    """Folds and directions in which the rows they keep have less than half their share of all.

    `white` are rows whose products sum to one; a direction is as long as makes those of the rows
    kept do so.
    """
    directions = []
    for f in range(count):
        kept = white[home != f]
        values, V = np.linalg.eigh(np.dot(kept.T, kept))
        few = values < 0.5 * (1 - 1 / count)
        if few.any():
            directions.append((f, V[:, few] / np.sqrt(np.maximum(values[few], 1e-12))))
    return directions


def _lengths(X: Array, Q: Floats) -> Floats:
    """‖Qᵀx̃‖² of rows"""
    P = X @ Q[:-1] + Q[-1]
    return np.asarray(np.einsum("ij,ij->i", P, P))


@kernel
def _curve(X, up, weight, u, value, g, B):  # type: ignore[no-untyped-def]
    """Add losses and gradient of some rows; rows √(cσ(z)σ(−z)) (x, 1) go into B."""
    n, d = X.shape
    total = 0.0
    for i in range(n):
        s = u[d]
        for j in range(d):
            s += X[i, j] * u[j]
        e = np.exp(-abs(s))
        inverse = 1.0 / (1.0 + e)
        p = inverse if s > 0 else e * inverse  # σ(s)
        total += weight[i] * (np.log1p(e) + max(0.0, s) - up[i] * s)
        q = weight[i] * (p - up[i])
        root = np.sqrt(weight[i] * e) * inverse
        for j in range(d):
            g[j] += q * X[i, j]
            B[i, j] = root * X[i, j]
        g[d] += q
        B[i, d] = root
    value[0] += total


@kernel
def _hessians(X, weight, ends, U, folds, H):  # type: ignore[no-untyped-def]
    """Σ cσ(z)σ(−z) x̃x̃ᵀ of each lane, without the rows of its fold's home."""
    n, d = X.shape
    B = np.empty((n, d + 1))
    for k in range(U.shape[0]):
        m = 0
        for h in range(ends.shape[0] - 1):
            if h == folds[k]:
                continue
            for i in range(ends[h], ends[h + 1]):
                s = U[k, d]
                for j in range(d):
                    s += X[i, j] * U[k, j]
                e = np.exp(-abs(s))
                root = np.sqrt(weight[i] * e) / (1.0 + e)
                for j in range(d):
                    B[m, j] = root * X[i, j]
                B[m, d] = root
                m += 1
        H[k] = np.dot(B[:m].T, B[:m])


@kernel
def _moved(X, weight, W, T, at, b, counts, out):  # type: ignore[no-untyped-def]
    """p′ − p = −cσ(z)σ(−z)⟨t, x̃⟩ with p = σ(⟨w, x̃⟩), z = ⟨at, x̃⟩, held back inside (0, 1)"""
    d, lanes = W.shape
    S, M, Z = np.empty((CHUNK, lanes)), np.empty((CHUNK, lanes)), np.empty((CHUNK, lanes))
    whole = np.empty(CHUNK * lanes, np.int64)
    power, kl = whole.view(np.float64), np.zeros(lanes)
    out[:] = 0.0
    for start in range(0, X.shape[0], CHUNK):
        m = min(CHUNK, X.shape[0] - start)
        R = X[start : start + m]
        np.dot(R, W, S[:m])
        np.dot(R, T, M[:m])
        np.dot(R, at, Z[:m])
        for i in range(m):
            for k in range(lanes):
                M[i, k] += b[k, 1]
                Z[i, k] = -abs(Z[i, k] + b[k, 2])
        exp_of_negative(Z.reshape(-1)[: m * lanes], whole, power)
        for i in range(m):
            for k in range(lanes):
                one = 1.0 + Z[i, k]
                M[i, k] *= np.divide(-weight[start + i] * Z[i, k], one * one)  # p′ − p
                S[i, k] += b[k, 0]
                Z[i, k] = -abs(S[i, k])
        exp_of_negative(Z.reshape(-1)[: m * lanes], whole, power)
        for i in range(m):
            back = 0.0
            for k in range(lanes):
                e, move = Z[i, k], M[i, k]
                inverse = np.divide(1.0, 1.0 + e)
                less, more = e * inverse, inverse
                p = more if S[i, k] > 0 else less
                held = counts[k] * min(max(move, -HELD * p), HELD * (1.0 - p))
                kl[k] += np.divide(held * held, less * more)
                Z[i, k] = held - counts[k] * move
                back += abs(Z[i, k])
            if back > 0.0:
                for k in range(lanes):
                    for j in range(d):
                        out[k, j] += Z[i, k] * R[i, j]
                    out[k, d] += Z[i, k]
    for k in range(lanes):
        out[k, d + 1] = kl[k]
