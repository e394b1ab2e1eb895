"""The same problem over rows that are too many to be copied: nothing is kept of a row.

Scores are linear in the weights, so that where `full_problem` has scores this has the weights that
they are of, and makes them again in each pass, block by block: on the workers, where the rows are
on a cluster. Next to a Hessian that costs little.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks
from linsep.train.convex.parts.class_hessian import ClassHessian
from linsep.train.convex.softmax.full_problem import (
    Problem,
    extended,
    foretold_shares,
    margins_of,
    weigh,
    widest_of,
)

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class StreamedProblem(Problem):
    """Labelled rows, and what a point comes to.

    Parameters
    ----------
    blocks : rows x
    codes, c : class number and weight of each row; weights may be zero
    ridge, K, free : as of `Problem`
    """

    def __init__(
        self, blocks: Blocks, codes: Array, c: Floats, ridge: Floats, K: int, free: bool, pool: Pool
    ) -> None:
        self.blocks, self.codes, self.c, self.ridge = blocks, codes, c, ridge
        self.K, self.free, self.pool = K, free, pool
        self.share = np.bincount(codes, c, minlength=K)
        self._diagonal = np.tile(ridge, K)

        def own(k: int) -> Floats:
            Z, y, c = self._block(k)
            return np.stack([(c * (y == k)) @ Z for k in range(K)])

        self._own = pool.sum(own, range(len(blocks)))

    def _block(self, k: int) -> tuple[Floats, Array, Floats]:
        """Rows of a block that count, their classes and weights."""
        part = slice(*self.blocks.span(k))
        Z, y, c = extended(self.blocks.rows(part), self.free), self.codes[part], self.c[part]
        used = c > 0.0
        if not used.all():
            Z, y, c = Z[used], y[used], c[used]
        return Z, np.asarray(y, np.int64), c

    def _weighed(self, k: int, V: Floats) -> tuple[float, Floats, Floats, Floats]:
        """The losses of a block and cp, at the scores of V; its rows and weights."""
        Z, y, c = self._block(k)
        S, loss = V @ Z.T, np.zeros(1)
        d = np.empty_like(S)
        weigh(S, S, 0.0, y, c, d, 0, len(Z), loss)
        return float(loss[0]), d, Z, c

    def rows(self, which: Array) -> Floats:
        """Some rows x̃."""
        return extended(self.blocks.rows(which), self.free)

    def scores(self, u: Floats) -> Floats:
        """The weights that scores are of stand for them."""
        return u

    def at(self, u: Floats, S: Floats, ds: Floats, t: float) -> tuple[float, Floats]:
        """F at u, where scores are those of S + t·ds, and that."""
        V = S + t * ds

        def loss(k: int) -> Floats:
            return np.array([self._weighed(k, V)[0]])

        losses = float(self.pool.sum(loss, range(len(self.blocks)))[0])
        return 0.5 * float(np.vdot(u * self.ridge, u)) + losses, V

    def step(self, u: Floats, d: Floats) -> tuple[Floats, float]:
        """Newton's step, and its decrement squared."""
        size = u.size

        def sums(k: int) -> Floats:
            _, p, Z, _ = self._weighed(k, d)
            pairs = ClassHessian(Z, self.K, False, Pool(1)).pairs(p)
            return np.concatenate([(p @ Z).ravel(), pairs.ravel()])

        total = self.pool.sum(sums, range(len(self.blocks)))
        gradient = u * self.ridge + total[:size].reshape(u.shape) - self._own
        pairs = total[size:].reshape(self.K * (self.K + 1) // 2, -1)
        whole = ClassHessian(np.empty((0, u.shape[1])), self.K, False, self.pool)
        return self._step(u, gradient, whole.spread(pairs))

    def foretold(self, d: Floats, ds: Floats) -> tuple[float, Floats]:
        """D(p̂) after a whole step; p̂ itself is not kept."""

        def sums(k: int) -> Floats:
            _, p, Z, c = self._weighed(k, d)
            p, entropy = foretold_shares(p, ds @ Z.T, c)
            return np.append(p @ Z, entropy)

        total = self.pool.sum(sums, range(len(self.blocks)))
        v = self._own - total[:-1].reshape(d.shape)
        return self._dual(v, float(total[-1])), np.zeros(0)

    def _widest(self, Q: Floats) -> float:
        def widest(k: int) -> float:
            return widest_of(self._block(k)[0], Q)

        return max(self.pool.map(widest, range(len(self.blocks))))

    def margins(self, S: Floats) -> tuple[float, float]:
        """Smallest and largest sᵢ,yᵢ − sᵢₖ over other classes k, at the scores of S."""

        def ends(k: int) -> tuple[float, float]:
            Z, y, _ = self._block(k)
            return margins_of(S @ Z.T, y)

        low, high = zip(*self.pool.map(ends, range(len(self.blocks))), strict=True)
        return float(min(low)), float(max(high))
