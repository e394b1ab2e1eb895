"""Loss, gradient and Hessian of two-class logistic regression, summed over blocks of rows.

    F(u, b) = ½ Σ lⱼuⱼ² + Σ cᵢ log(1 + e^{−zᵢ}),    zᵢ = yᵢ(⟨u, xᵢ⟩ + b)
    αᵢ = cᵢ σ(−zᵢ),   vₛ = Σ_{i in class s} αᵢ yᵢ xᵢ,   ∇F = (l∘u − v₊ − v₋, −Σ αᵢ yᵢ)

One pass takes block after block: scores, losses, then the gradient while the block is in the cache.
The two classes are summed apart because the certificate needs both. Numbers are carried in float64
whatever the type of the rows: it costs nothing beside reading them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.data.blocks.page_release import PageRelease
from linsep.data.check.arrays import frozen
from linsep.kernels import margins
from linsep.parallel import Pool
from linsep.rows.rows import Dense, Rows
from linsep.train.convex.coordinates import Blocks
from linsep.train.convex.designs.design import PACKED, TILE, scores
from linsep.train.convex.losses import Logistic
from linsep.train.convex.parts.margin_sums import NONE, SLOPES
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LOSS = Logistic()


@record
class Sums(NamedTuple):
    """What one pass found, class by class (+1 first).

    Attributes
    ----------
    v : (2, d), Σ αᵢ yᵢ xᵢ
    loss : (2,), Σ cᵢ log(1 + e^{−zᵢ})
    weight : (2,), Σ αᵢ
    hessian : Σ cᵢσ(zᵢ)σ(−zᵢ) x̃ᵢx̃ᵢᵀ with x̃ = (x, 1), where asked for
    """

    v: Floats
    loss: Floats
    weight: Floats
    hessian: Floats | None

    @property
    def gradient(self) -> Floats:
        """The gradient of the losses in (u, b)."""
        return np.append(-self.v.sum(axis=0), self.weight[1] - self.weight[0])


def summed(rows: Rows, signs: Array, c: Floats, u: Floats, curved: bool) -> Floats:
    """What the kernel sums up of some rows at (u, b)."""
    size = len(u)
    width = -(-size // TILE) * TILE
    out = np.empty(SLOPES + 2 * size + width * width * curved)
    room = np.empty((PACKED * curved, width))
    margins.read(rows, np.ascontiguousarray(signs, np.int8), c, NONE, u[None], LOSS, out, room)
    return out


def gathered(total: Floats, u: Floats, sparse: bool, curved: bool) -> Sums:
    """The same by name."""
    size = len(u)
    v = total[SLOPES : SLOPES + 2 * size].reshape(2, size)
    above = float(total[4]) - float(
        v[0] @ u
    )  # dual terms are those of Fenchel's equality: loss + αz
    hessian = None
    if curved:
        hessian = np.empty((size, size))
        margins.whole(total[SLOPES + 2 * size :], sparse, hessian)
    loss = np.array([above, float(total[1]) - above])
    return Sums(v[:, :-1], loss, total[2:4], hessian)


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

    def at(self, u: Floats, curved: bool = False) -> Sums:
        """One pass at (u, b), b last in `u`; with the Hessian where asked for."""

        def one(k: int) -> Floats:
            X, signs, c = self.part(k)
            return summed(Dense(frozen(X)), signs, c, u, curved)

        return gathered(self.pool.sum(one, range(len(self.blocks))), u, False, curved)

    def misjudged(self, u: Floats, step: Floats, least: float, most: int) -> tuple[Array, Floats]:
        """Rows whose losses at u − step differ from their second-order expansions at u by more than
        `least`, and by how much: not many more than `most`, those that differ most."""

        def one(k: int) -> tuple[Array, Floats]:
            X, signs, c = self.part(k)
            errors = misjudge(Dense(frozen(X)), signs, c, u, step)
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

        def one(k: int) -> tuple[float, float]:
            X, signs, c = self.part(k)
            z = (signs * scores(Dense(frozen(X)), u[None])[0])[np.broadcast_to(c > 0, signs.shape)]
            return float(z.min(initial=np.inf)), float(z.max(initial=-np.inf))

        ends = self.pool.map(one, range(len(self.blocks)))
        return min(low for low, _ in ends), max(high for _, high in ends)

    def widest(self, whiten: Floats) -> float:
        """maxᵢ ‖x̃ᵢᵀ whiten‖² among rows that count."""

        def one(k: int) -> float:
            X, _, c = self.part(k)
            Q = X.astype(np.float64, copy=False) @ whiten[:-1] + whiten[-1]
            return float(np.max(np.where(c > 0, np.einsum("ij,ij->i", Q, Q), 0.0)))

        return max(self.pool.map(one, range(len(self.blocks))))


def misjudge(rows: Rows, signs: Array, c: Floats, u: Floats, step: Floats) -> Floats:
    """cᵢ|ℓ(z + Δ) − ℓ(z) − ℓ′(z)Δ − ½ℓ″(z)Δ²| of rows that are moved far, Δ = −y⟨step, x̃⟩"""
    z, change = scores(rows, np.array([u, step])) * np.array([signs, -signs.astype(np.float64)])
    alpha = special.expit(-z)
    told = change * (0.5 * change * alpha * (1.0 - alpha) - alpha)
    errors = np.abs(np.logaddexp(0.0, -z - change) - np.logaddexp(0.0, -z) - told)
    return np.asarray(np.where(np.abs(change) > 1.0, c * errors, 0.0))
