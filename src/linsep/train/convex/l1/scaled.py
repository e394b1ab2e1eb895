"""Columns that sums of products would lose digits of: which they are, and steps that scale them."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import rows_of
from linsep.train.convex.l1.prox_newton import ProxNewton
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]

JUDGED = 256  # rows by which the scale of columns is judged
FAR = 1e4  # a mean of so many spreads costs sums too many digits
HUGE = 1e60


def suits(X: Any) -> bool:
    """Whether columns are near enough to zero, and of a moderate size, to go without scaling."""
    if on_cluster(X):
        return False
    if sp.issparse(X):
        sizes = np.abs(X.data[:: max(1, X.nnz // (1 << 16))])
        return bool(sizes.max(initial=0.0) < HUGE)
    n = len(X)
    few = X if n <= JUDGED else rows_of(X, np.arange(JUDGED) * n // JUDGED)
    return bool(_near(few, np.zeros((3, X.shape[1]))))


@kernel
def _near(X, sums):  # type: ignore[no-untyped-def]
    """Whether no entry is huge, and no column's mean so many spreads from zero"""
    n, d = X.shape
    for i in range(n):
        for j in range(d):
            x = np.float64(X[i, j])
            from_first = x - np.float64(X[0, j])
            sums[0, j] = max(sums[0, j], abs(x))
            sums[1, j] += from_first
            sums[2, j] += from_first * from_first
    for j in range(d):
        mean = sums[1, j] / n
        variance = sums[2, j] / n - mean * mean
        mean += np.float64(X[0, j])
        if not sums[0, j] < HUGE or (variance > 0.0 and mean * mean > FAR * FAR * variance):
            return False
    return True


class ScaledProxNewton(ProxNewton):
    """Proximal Newton steps for columns that are far from zero, or too large to be squared.

    With the columns of k(X − 1μᵀ) the weights are w/k, so that the penalties of those are kl1 and
    k²l2, and b changes by ⟨w, μ⟩: the same objective, and the same multipliers. There is a μ for
    dense rows with a free intercept.
    """

    def __init__(
        self, X: Any, signs: Array, weights: Array | None, C: float, penalty: Elastic, **more: Any
    ) -> None:
        sparse = sp.issparse(X)
        largest = float(np.abs(X.data if sparse else X).max(initial=0.0))
        self.k = 1.0 if 0.0 < largest < HUGE else 1.0 / (largest or 1.0)
        X, self.mean = self.k * X.astype(np.float64), np.zeros(X.shape[1])
        if not sparse and more.get("fit_intercept", True):
            self.mean = X.mean(axis=0)
            X -= self.mean
        start = more.pop("start", None)
        if start is not None:
            w = np.asarray(start[0], np.float64) / self.k
            more["start"] = w, float(start[1]) + float(w @ self.mean)
        scaled = Elastic(self.k * penalty.l1, self.k**2 * penalty.l2)
        super().__init__(X, signs, weights, C, scaled, **more)

    def solution(self) -> Solution:
        at = super().solution()
        return replace(at, w=self.k * at.w, b=at.b - float(at.w @ self.mean))
