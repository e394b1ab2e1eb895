"""Steps by single rows or small folds: w ← w + η(t − σ)x, and the penalty's share of each step."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.rows.rows import CSR, add_to, scores
from linsep.train.convex.steps.score_losses import pull
from linsep.train.convex.steps.standardise import Lens

Array = npt.NDArray[Any]


class DenseView(NamedTuple):
    """Dense rows seen through a lens: z = (x · exact − shift) · rate."""

    X: Array
    exact: Array
    shift: Array
    rate: Array

    def scores(self, i, W, s):  # type: ignore[no-untyped-def]
        for k in range(W.shape[0]):
            total = 0.0
            for j in range(W.shape[1]):
                total += W[k, j] * ((self.X[i, j] * self.exact[j] - self.shift[j]) * self.rate[j])
            s[k] = total

    def add_to(self, i, a, W, k):  # type: ignore[no-untyped-def]
        for j in range(W.shape[1]):
            W[k, j] += a * ((self.X[i, j] * self.exact[j] - self.shift[j]) * self.rate[j])

    def add_all(self, i, a, W):  # type: ignore[no-untyped-def]
        for k in range(W.shape[0]):
            if a[k] != 0.0:
                for j in range(W.shape[1]):
                    z = (self.X[i, j] * self.exact[j] - self.shift[j]) * self.rate[j]
                    W[k, j] += a[k] * z


class SparseView(NamedTuple):
    """Sparse rows seen through a lens that shifts nothing: z = x · factor."""

    data: Array
    indices: Array
    indptr: Array
    factor: Array

    def scores(self, i, W, s):  # type: ignore[no-untyped-def]
        for k in range(W.shape[0]):
            total = 0.0
            for e in range(self.indptr[i], self.indptr[i + 1]):
                j = self.indices[e]
                total += W[k, j] * (self.data[e] * self.factor[j])
            s[k] = total

    def add_to(self, i, a, W, k):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            j = self.indices[e]
            W[k, j] += a * (self.data[e] * self.factor[j])


def seen_through(lens: Lens, rows: Any) -> DenseView | SparseView:
    """The rows of a block as a kernel reads them."""
    if isinstance(rows, CSR):
        return SparseView(*rows[:3], lens.exact * lens.rate)
    return DenseView(rows.X, *lens)


class Decay(NamedTuple):
    """What `every` folds' share of the penalty does to the weights: a ← shrink(a − threshold)."""

    shrink: Array
    threshold: Array
    every: int


@kernel
def folds(rows, loss, codes, pace, order, size, eta, decay, W, b, free, s, pulls, kept, clock):  # type: ignore[no-untyped-def]
    """Steps of η (1/B) Σ pull·(z, 1) over folds of B rows, with the decay every few folds.

    Changes W and b; s and pulls are left as the last fold saw them, and what each row asked for
    is noted in `kept`, where it has room. `clock` counts folds.
    """
    for start in range(0, len(order), size):
        stop = min(start + size, len(order))
        for q in range(start, stop):
            i = order[q]
            scores(rows, i, W, s)
            for k in range(len(s)):
                s[k] += b[k]
            pull(loss, s, codes[i], pulls[q - start])
            if len(kept):
                for k in range(len(s)):
                    kept[i, k] = pulls[q - start, k]
        for q in range(start, stop):
            i = order[q]
            step = eta / size * (pace[i] if len(pace) else 1.0)  # a last, smaller fold counts less
            for k in range(len(s)):
                a = step * pulls[q - start, k]  # η(t − σ)
                if a != 0.0:
                    add_to(rows, i, a, W, k)
                    b[k] += a * free
        clock[0] += 1
        if clock[0] % decay.every == 0 and len(decay.shrink):
            for k in range(W.shape[0]):
                for j in range(W.shape[1]):
                    a = abs(W[k, j]) - decay.threshold[j]
                    W[k, j] = np.copysign(max(a, 0.0), W[k, j]) * decay.shrink[j]
