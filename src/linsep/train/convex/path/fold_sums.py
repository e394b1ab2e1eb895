"""Losses and gradients of many logistic models at once, on the rows that each of them keeps.

The models stand side by side in lanes, one for each fold and C. Within a fixed block the rows of
one home and one class are gathered, a few hundred at a time, and then two matrix products serve
all lanes: scores Z = RW, and after the sigmoids the gradients AᵀR.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep._exponentials import exp_of_negative
from linsep.data.blocks.blocks import BLOCK
from linsep.parallel import Pool, tree_sum

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

CHUNK = 256  # rows whose scores and gradients are summed while they are in the cache
MOST = 64  # lanes in one product


class FoldSums:
    """Sums over the rows of an array, by home and class.

    Parameters
    ----------
    X : checked C-contiguous array
    signs : array of −1 and +1
    home : number of the fold that leaves each row out
    """

    def __init__(self, X: Array, signs: Array, home: Array, pool: Pool) -> None:
        self.X, self.pool = X, pool
        self.codes = 2 * home + (signs < 0)  # +1 first
        self.count = int(home.max()) + 1

    def _spans(self) -> list[tuple[int, int]]:
        n = len(self.X)
        return [(start, min(n, start + BLOCK)) for start in range(0, n, BLOCK)]

    def by_home(self, U: Floats) -> Floats:
        """(homes, lanes, 2, d + 2): for each class Σ αᵢyᵢxᵢ, Σ losses and Σ αᵢ, α = σ(−z)."""
        nowhere = np.full(len(U), -1)
        return self._evaluate(U, nowhere, self.count, nowhere, np.empty((len(self.X), 0)))

    def kept(self, U: Floats, folds: Array, places: Array, scores: Floats) -> Floats:
        """(lanes, 2, d + 2): the same over the rows that each lane's fold keeps.

        What lane k says of the rows its fold leaves out goes to the column places[k] of `scores`.
        """
        total: Floats = self._evaluate(U, folds, 1, places, scores)[0]
        return total

    def _evaluate(
        self, U: Floats, folds: Array, homes: int, places: Array, scores: Floats
    ) -> Floats:
        spans, d, width = self._spans(), self.X.shape[1], scores.shape[1]
        cuts = [slice(k, k + MOST) for k in range(0, len(U), MOST)]
        lanes = [(np.ascontiguousarray(U[cut, :-1].T), U[cut, -1].copy()) for cut in cuts]

        def one(k: int) -> tuple[Floats, Floats]:
            start, stop = spans[k]
            rows = self.X[start:stop], self.codes[start:stop], self.count
            out, held = np.empty((homes, len(U), 2, d + 2)), np.full((stop - start, width), np.nan)
            for cut, (W, b) in zip(cuts, lanes, strict=True):
                part = np.empty((homes, len(b), 2, d + 2))
                _sum(*rows, W, b, folds[cut], places[cut], held, part)
                out[:, cut] = part
            return out, held

        def parts() -> Iterator[Floats]:
            each = self.pool.in_order(one, range(len(spans)))
            for (start, stop), (out, held) in zip(spans, each, strict=True):
                known = ~np.isnan(held)
                scores[start:stop][known] = held[known]
                yield out

        return np.asarray(tree_sum(parts(), np.add))


@inline(shared=True)
def _grouped(codes, count):  # type: ignore[no-untyped-def]
    """Row numbers, group by group, and where each of the 2·count groups begins."""
    ends = np.zeros(2 * count + 1, np.int64)
    for code in codes:
        ends[code + 1] += 1
    for g in range(2 * count):
        ends[g + 1] += ends[g]
    place, order = ends.copy(), np.empty(codes.shape[0], np.int64)
    for i in range(codes.shape[0]):
        order[place[codes[i]]] = i
        place[codes[i]] += 1
    return order, ends


@kernel
def _sum(X, codes, count, W, b, folds, places, scores, out):  # type: ignore[no-untyped-def]
    """One block: Σ αyx, losses and Σ α of every lane into `out`, by home where it has room."""
    d, lanes = W.shape
    order, ends = _grouped(codes, count)
    R = np.empty((CHUNK, d))
    S, E, A = np.empty((CHUNK, lanes)), np.empty((CHUNK, lanes)), np.empty((CHUNK, lanes))
    flat, whole = E.reshape(-1), np.empty(CHUNK * lanes, np.int64)
    power = whole.view(np.float64)
    V = np.empty((lanes, d))
    counts, product, rest, total = (
        np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes),
    )  # fmt: skip
    out[:] = 0.0
    for g in range(2 * count):
        home, side = g // 2, g % 2
        y = 1.0 - 2.0 * side
        to = out[home if out.shape[0] > 1 else 0]
        for k in range(lanes):
            counts[k] = 0.0 if folds[k] == home else 1.0
        for first in range(ends[g], ends[g + 1], CHUNK):
            m = min(CHUNK, ends[g + 1] - first)
            for i in range(m):
                row = X[order[first + i]]
                for j in range(d):
                    R[i, j] = row[j]
            np.dot(R[:m], W, S[:m])
            for k in range(lanes):
                if folds[k] == home:
                    for i in range(m):
                        scores[order[first + i], places[k]] = S[i, k] + b[k]
            for i in range(m):
                for k in range(lanes):
                    S[i, k] = y * (S[i, k] + b[k])  # z
                    E[i, k] = -abs(S[i, k])
            exp_of_negative(flat[: m * lanes], whole, power)  # e^{−|z|}
            product[:] = 1.0
            rest[:] = 0.0
            total[:] = 0.0
            for i in range(m):
                for k in range(lanes):
                    z, e = S[i, k], E[i, k]
                    one = 1.0 + e
                    a = counts[k] * np.divide(e if z > 0.0 else 1.0, one)  # α = σ(−z)
                    A[i, k] = a
                    total[k] += a
                    rest[k] += max(0.0, -z)
                    product[k] *= one  # at most 2ᶜʰᵘⁿᵏ: its logarithm is Σ log(1 + e^{−|z|})
            np.dot(A[:m].T, R[:m], V)
            for k in range(lanes):
                for j in range(d):
                    to[k, side, j] += y * V[k, j]
                to[k, side, d] += counts[k] * (math.log(product[k]) + rest[k])
                to[k, side, d + 1] += total[k]
