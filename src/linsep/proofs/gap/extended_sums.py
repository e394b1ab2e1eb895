"""Products with rows, and what bounds from below, in pairs of doubles.

Scores ⟨w, xᵢ⟩ + b and v = Σ αyx are right to about thirty digits, however large columns are and
however far from the origin, and errors are bounded for each column by itself.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.proofs.gap.certificate import Certificate, FittedProblem, gamma
from linsep.proofs.gap.pairs import FINE, LEAST, Pair, added, products, total
from linsep.proofs.gap.penalty import Penalty
from linsep.proofs.gap.products import UNIT

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MOST = 1 << 24
"""Entries times hyperplanes up to which these sums are made: a few seconds."""
AT_ONCE = 1 << 18
"""Entries that are multiplied at a time."""


def suits(problem: FittedProblem) -> bool:
    """Whether there is a dual to be counted, and rows are few enough, and here."""
    n, d = problem.X.shape
    few = n * d * len(problem.W) <= MOST
    return few and any(problem.penalty) and not on_cluster(problem.X)


class ExtendedRows:
    """Dense or sparse rows, a few at a time."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n, self.d = X.shape
        self._step = max(1, AT_ONCE // max(1, self.d))

    def _parts(self) -> Iterator[tuple[slice, Floats]]:
        for start in range(0, self.n, self._step):
            span = slice(start, min(self.n, start + self._step))
            X = self.X[span]
            yield span, np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)

    def scores(self, w: Floats, b: float) -> tuple[Pair, Floats]:
        """⟨w, xᵢ⟩ + b, and bounds on their errors."""
        high, low, off = [], [], []
        for _, X in self._parts():
            s = total(products(X.T, w[:, None])) + b
            high.append(s.high)
            low.append(s.low)
            off.append((self.d + 8) * (FINE * (np.abs(X) @ np.abs(w) + abs(b)) + LEAST))
        return Pair(np.concatenate(high), np.concatenate(low)), np.concatenate(off)

    def combined(self, a: Pair) -> tuple[Pair, Floats]:
        """Σ aᵢxᵢ, and bounds on its errors, column by column."""
        v, size = Pair(np.zeros(self.d), np.zeros(self.d)), np.zeros(self.d)
        for span, X in self._parts():
            own = a.of(span)
            terms = products(X, own.high[:, None])
            v = v + total(Pair(terms.high, terms.low + X * own.low[:, None]))
            size += np.abs(own.high) @ np.abs(X)
        return v, (self.n + 8) * (FINE * size + LEAST)


def penalty_of(W: Floats, penalty: Penalty) -> float:
    """l1‖W‖₁ + ½ l2‖W‖²"""
    return 0.5 * penalty.l2 * added((W * W).ravel()) + penalty.l1 * added(np.abs(W).ravel())


def certificate_of(primal: float, lost: float, value: float, error: float) -> Certificate:
    """Bounds on the objective; where a sum is no number, nothing is proved."""
    lost += 8 * UNIT * primal
    if not (math.isfinite(primal) and math.isfinite(lost)):
        return Certificate(primal, 0.0, math.inf, 0.0)
    if not (math.isfinite(value) and math.isfinite(error)):
        value = error = 0.0
    low = max(0.0, value - error)
    return Certificate(primal, value, lost + value - low, low)


def highest(
    E: float, error: float, v: Pair, off: Floats, penalty: Penalty,
    again: Callable[[float], tuple[float, float]], limit: float = 1.0,
) -> tuple[float, float]:  # fmt: skip
    """D at tα, t between 0 and `limit` as good as can be known, and a bound on its error.

    `again` is E(tα), with the bound on its error.
    """
    l1, l2 = penalty
    positive = np.where(v.high < 0, -1.0, 1.0)
    over = (Pair(positive * v.high, positive * v.low) + -l1).rounded  # |v| − l1
    off = off + gamma(4) * np.abs(over)
    if l2 == 0:  # Ω* is 0 where |v| ≤ l1 everywhere, and infinite elsewhere
        most = l1 + float((over + off).max(initial=-l1))
        t = min(limit, l1 / most if most > l1 else 1.0)
        return (E, error) if t == 1.0 else again(t * (1.0 - 8 * UNIT))
    far = np.maximum(0.0, over + off)
    conjugate = 0.5 * added((far * far).ravel()) / l2 * (1.0 + 8 * UNIT)
    t = min(limit, max(0.0, E) / (2 * conjugate)) if conjugate > 0 else limit
    return t * E - t * t * conjugate, t * (error + 4 * UNIT * (abs(E) + t * conjugate))
