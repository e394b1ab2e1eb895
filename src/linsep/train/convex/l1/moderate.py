"""Proximal Newton steps for columns that sums of products would lose digits of."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.train.convex.l1.prox_newton import HUGE, ProxNewton
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]


class Moderate(ProxNewton):
    """The same for columns that are far from zero, or too large to be squared.

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
