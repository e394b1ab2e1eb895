"""The certificate of one hyperplane in pairs of doubles, where plain sums cannot show enough.

Columns of very different size, or far from the origin, leave plain sums of products without a
correct digit. In those of `extended_sums` what is left of rounding is that of functions of single
numbers: exp, log, and the terms they make. The intercept whose slopes balance is found between
floats.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.gap.certificate import Certificate, FittedProblem
from linsep.proofs.gap.extended_sums import ExtendedRows, certificate_of, highest, penalty_of
from linsep.proofs.gap.pairs import Pair, added, added_pair
from linsep.proofs.gap.products import UNIT

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

BALANCED = 20
"""Steps of Newton's method to the intercept whose slopes balance, at most."""


class _Dual(NamedTuple):
    """Multipliers, E of each row, by how much rounding can have raised it, and r or s of its class.

    r and s shrink one class to what the other weighs.
    """

    alpha: Floats
    E: Floats
    error: Floats
    shares: Pair


class ExtendedPlane:
    """The certificate of one hyperplane.

    Parameters
    ----------
    loss : 'hinge', 'squared_hinge' or 'logistic'
    problem : the stored weights, of this hyperplane alone
    second : whether each row is of the class whose side is positive
    alpha : multipliers to be proposed, or None
    W, b : the stored weights, and below them others whose slopes are proposed
    """

    def __init__(
        self, loss: str, problem: FittedProblem, second: Array, alpha: Any, W: Floats, b: Floats
    ) -> None:
        self.loss, self.problem, self.alpha = loss, problem, alpha
        self.rows, self.W, self.b = ExtendedRows(problem.X), W, b
        self.y, self.C = np.where(second, 1.0, -1.0), problem.caps((0, self.rows.n))

    def certificate(self) -> Certificate:
        """Bounds on the objective; where a sum is no number, nothing is proved."""
        with np.errstate(all="ignore"):
            z, off = self._scores(0)
            losses, lost = self._losses(z, off)
            primal = added(losses) + penalty_of(self.W[0], self.problem.penalty)
            dual = self._dual(z if len(self.W) == 1 else self._scores(1)[0])
            return certificate_of(primal, added(lost), *self._value(dual))

    def _scores(self, which: int) -> tuple[Pair, Floats]:
        """yᵢ(⟨w, xᵢ⟩ + b), and bounds on their errors."""
        s, off = self.rows.scores(self.W[which], float(self.b[which]))
        return Pair(self.y * s.high, self.y * s.low), off

    def _losses(self, z: Pair, off: Floats) -> tuple[Floats, Floats]:
        """Cφ(z) of each row, and bounds on their errors."""
        C, inside = self.C, np.maximum(0.0, (-z + 1.0).rounded)
        if self.loss == "hinge":
            return C * inside, C * (4 * UNIT * inside + off)
        if self.loss == "squared_hinge":
            wide = inside + off
            return C * inside**2, C * (8 * UNIT * inside**2 + 2 * wide * off)
        phi = _softplus(-z.high)
        # |φ(z + e) − φ(z)| ≤ |e| σ(−z), and |z| σ(−z) ≤ 1.5 max(1, |z|) φ(z)
        return C * phi, C * ((32 + 2 * np.abs(z.high)) * UNIT * phi + off)

    def _dual(self, z: Pair) -> _Dual:
        """A feasible point: the multipliers that were given, or slopes, and what balances them."""
        alpha = self.alpha
        if alpha is None:
            alpha = self._balanced(z)
        alpha = np.maximum(0.0, alpha)
        alpha = alpha if self.loss == "squared_hinge" else np.minimum(alpha, self.C)
        E, error = self._terms(alpha)
        one = np.ones(len(alpha))
        shares = Pair(one, 0.0 * one)
        if self.problem.free:
            weights = [added_pair(alpha[self.y == side]) for side in (-1.0, 1.0)]
            k = int(weights[1].rounded < weights[0].rounded)  # the lighter one stays
            if weights[1 - k].rounded > 0:
                part, heavy = weights[k].over(weights[1 - k]), self.y == (1.0, -1.0)[k]
                shares = Pair(np.where(heavy, part.high, 1.0), np.where(heavy, part.low, 0.0))
        return _Dual(alpha, E, error, shares)

    def _balanced(self, z: Pair) -> Floats:
        """Slopes at the intercept at which both classes weigh the same, as far as that is free."""
        y, shift = self.y, Pair(0.0, 0.0)
        alpha = self._slopes(z)
        least = abs(added(y * alpha))
        if not self.problem.free or self.loss == "hinge":
            return alpha
        for _ in range(BALANCED):
            off = added(y * alpha)
            bend = self._bend(alpha)
            if off == 0.0 or not bend > 0:
                break
            shift = shift + off / bend
            moved = self._slopes(z + Pair(y * shift.high, y * shift.low))
            if not abs(added(y * moved)) < least:
                break
            alpha, least = moved, abs(added(y * moved))
        return alpha

    def _slopes(self, z: Pair) -> Floats:
        """−Cφ'(z)"""
        if self.loss == "logistic":
            small = np.exp(-np.abs(z.high)) * (1.0 - np.sign(z.high) * z.low)
            return np.asarray(self.C * (np.where(z.high > 0, small, 1.0) / (1.0 + small)))
        inside = (-z + 1.0).rounded
        slopes = (inside > 0) if self.loss == "hinge" else 2.0 * np.maximum(0.0, inside)
        return np.asarray(self.C * slopes)

    def _bend(self, alpha: Floats) -> float:
        """Σ Cφ''(z)"""
        if self.loss == "squared_hinge":
            return 2.0 * added(self.C[alpha > 0])
        return added(alpha * (1.0 - alpha / np.maximum(self.C, 1e-300)))

    def _terms(self, alpha: Floats) -> tuple[Floats, Floats]:
        """E(α) of each row, and bounds on what rounding can have added."""
        if self.loss == "hinge":
            return alpha, 0.0 * alpha
        C = np.maximum(self.C, 1e-300)
        if self.loss == "squared_hinge":
            return alpha - alpha * (alpha / (4.0 * C)), 8 * UNIT * (alpha + alpha * (alpha / C))
        u = np.minimum(1.0, alpha / C)
        inner = (u > 0.0) & (u < 1.0)
        v = np.where(inner, u, 0.5)
        rest = np.where(inner, -np.log1p(-v), 0.0)
        E = np.where(inner, C * ((1.0 - v) * rest - v * np.log(v)), 0.0)
        # u is rounded: |H'(u)| ≤ −log u − log(1 − u), and −Cu log u is a part of E
        return E, UNIT * (32 * E + 4 * alpha * (1.0 + rest))

    def _value(self, dual: _Dual) -> tuple[float, float]:
        """D where it is highest, and a bound on its error."""
        part = dual.shares.rounded

        def of(E: Floats, error: Floats) -> tuple[float, float]:
            return added(part * E), added(part * (error + 4 * UNIT * np.abs(E)))

        v, off = self.rows.combined(dual.shares.times(self.y * dual.alpha))
        return highest(
            *of(dual.E, dual.error), v, off, self.problem.penalty,
            lambda t: of(*self._terms(t * dual.alpha)),
        )  # fmt: skip


def _softplus(z: Floats) -> Floats:
    """log(1 + exp z)"""
    return np.maximum(0.0, z) + np.log1p(np.exp(-np.abs(z)))
