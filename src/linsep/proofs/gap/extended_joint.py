"""The certificate of classes that share one loss, in pairs of doubles.

Row i moves from its class by Lᵢₖ ≥ 0 to class k, with Σₖ Lᵢₖ ≤ Cᵢ: Cᵢpᵢₖ for the softmax. Where
intercepts are free every class has to give what it gets. Moves Fᵢₖ = Cᵢqₖ of all rows see to that:
with w and W the weight of each class and of all, and u = ρw + given − taken,

    L′ = (L + ρF)/(1 + ρ),   ρqₖ = uₖ/W,   ρ = max 0, maxₖ (takenₖ − givenₖ)/wₖ,

and E(L′) ≥ E(L)/(1 + ρ), for E is concave and nowhere negative.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.gap.certificate import Certificate, FittedProblem, gamma
from linsep.proofs.gap.extended_sums import ExtendedRows, certificate_of, highest, penalty_of
from linsep.proofs.gap.pairs import Pair, added, added_pair, total
from linsep.proofs.gap.products import UNIT

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

BALANCED = 20
"""Steps of Newton's method to the intercepts at which classes balance, at most."""
FARTHEST = 745.0
"""Scores so far below the largest have no share of the probability."""


class _Moves(NamedTuple):
    """Lᵢₖ as (K, n), none of them to the own class; E and bounds on what rounding added, by row."""

    L: Floats
    E: Floats
    error: Floats


class ExtendedJoint:
    """The certificate of multinomial logistic regression, or of Crammer and Singer's machine.

    Parameters
    ----------
    problem : the stored weights
    hinge : whether the loss is Crammer and Singer's
    """

    def __init__(self, problem: FittedProblem, hinge: bool) -> None:
        self.problem, self.hinge = problem, hinge
        self.rows = ExtendedRows(problem.X)
        self.codes = np.asarray(problem.codes, np.int64)
        self.K, n = len(problem.W), self.rows.n
        self.own, self.C = (self.codes, np.arange(n)), problem.caps((0, n))
        self.mass = np.bincount(self.codes, self.C, minlength=self.K)

    def certificate(self, A: Any, W: Any = None, b: Any = None) -> Certificate:
        """Bounds from multipliers A, (n, K), or from the slopes at weights, else the stored."""
        with np.errstate(all="ignore"):
            own = np.asarray(self.problem.W, np.float64)
            S, off = self._scores(own, self.problem.b)
            losses, lost = self._losses(S, off)
            primal = added(losses) + penalty_of(own, self.problem.penalty)
            if A is not None:
                moves = self._given(A)
            else:
                moves = self._slopes(S if W is None else self._scores(W, b)[0])
            return certificate_of(primal, added(lost), *self._value(moves))

    def _scores(self, W: Any, b: Any) -> tuple[Pair, Floats]:
        """sₖᵢ less that of the own class, and bounds on errors by row."""
        each = [
            self.rows.scores(np.asarray(w, np.float64), float(c))
            for w, c in zip(W, b, strict=True)
        ]  # fmt: skip
        S = Pair(np.stack([s.high for s, _ in each]), np.stack([s.low for s, _ in each]))
        off = np.max([error for _, error in each], axis=0)
        return S + -S.of(self.own), 2.0 * off

    def _losses(self, S: Pair, off: Floats) -> tuple[Floats, Floats]:
        """Cℓ of each row, and bounds on their errors."""
        if self.hinge:
            T = (S + 1.0).rounded
            T[self.own] = 0.0
            inside = T.max(axis=0)
            return self.C * inside, self.C * (4 * UNIT * inside + off)
        T = S.rounded
        T[self.own] = -np.inf
        top = np.maximum(0.0, T.max(axis=0))
        T = T - top
        others = np.exp(T).sum(axis=0)  # one of them is 1 where another class is ahead
        phi = top + np.log1p(np.where(top > 0, np.exp(-top) + (others - 1.0), others))
        far = np.minimum(FARTHEST, np.abs(np.where(np.isfinite(T), T, 0.0)).max(axis=0))
        return self.C * phi, self.C * ((32 + 4 * self.K + 2 * far) * UNIT * phi + off)

    def _given(self, A: Any) -> _Moves:
        """Moves that were proposed, made feasible."""
        L = np.maximum(0.0, -np.asarray(A, np.float64).T)
        L[self.own] = 0.0
        out = L.sum(axis=0)
        return self._valued(L * np.where(out > self.C, self.C / out, 1.0))

    def _slopes(self, S: Pair) -> _Moves:
        """Those of the softmax, from the intercepts at which classes balance if they are free."""
        shift = Pair(np.zeros(self.K), np.zeros(self.K))
        best, least = self._softmax(S), np.inf
        P = best
        for _ in range(BALANCED if self.problem.free else 0):
            excess = np.array([added(row) for row in self.C * P]) - self.mass
            off = float((np.abs(excess) / np.maximum(self.mass, 1e-300)).max())
            if not off < least:
                break
            best, least = P, off
            H = np.diag((P * self.C).sum(axis=1)) - (P * self.C) @ P.T
            if not np.isfinite(H).all():
                break
            # b + constant is the same model: the pseudo-inverse leaves that direction alone
            step = np.linalg.pinv(H, 1e-14, hermitian=True) @ excess
            shift = shift + -np.clip(step, -4.0, 4.0)
            moved = Pair(shift.high[:, None] - 0.0 * S.high, shift.low[:, None] - 0.0 * S.low)
            P = self._softmax(S + moved)
        L = self.C * best
        L[self.own] = 0.0
        return self._valued(L)

    def _softmax(self, S: Pair) -> Floats:
        top = np.argmax(S.high, axis=0), np.arange(S.high.shape[1])
        P = np.exp((S + -S.of(top)).rounded)
        return np.asarray(P / P.sum(axis=0))

    def _valued(self, L: Floats) -> _Moves:
        L = L * (1.0 - gamma(4 * self.K))  # a hair less: no rounding lets more than C leave a row
        return _Moves(L, *self._terms(L))

    def _terms(self, L: Floats) -> tuple[Floats, Floats]:
        """E of each row, and bounds on what rounding can have added."""
        out = L.sum(axis=0)
        if self.hinge:
            return out, self.K * UNIT * out
        p = L / np.maximum(self.C, 1e-300)
        x = np.minimum(1.0, p.sum(axis=0))
        rest = -np.log1p(-np.where(x < 1.0, x, 0.0))
        E = self.C * ((1.0 - x) * rest + (-p * np.log(np.where(p > 0.0, p, 1.0))).sum(axis=0))
        # p and x are rounded: |H'| ≤ 2 − log p − log(1 − x), and −Cp log p is a part of E
        return E, UNIT * self.K * (32 * E + 4 * out * (2.0 + rest))

    def _value(self, moves: _Moves) -> tuple[float, float]:
        """D where it is highest, and a bound on its error."""
        high, low, off, rho = *self._combined(moves.L), 0.0

        def of(E: Floats, error: Floats) -> tuple[float, float]:
            return added(E), added(error + 4 * UNIT * np.abs(E))

        if self.problem.free:
            high, low, off, rho = self._balanced(moves.L, Pair(high, low), off)
        return highest(
            *of(moves.E, moves.error), Pair(high, low), off, self.problem.penalty,
            lambda t: of(*self._terms(t * moves.L)), (1.0 - 4 * UNIT) / (1.0 + rho),
        )  # fmt: skip

    def _combined(self, L: Floats) -> tuple[Floats, Floats, Floats]:
        """Σ (Σₖ Lᵢₖ e_y − Lᵢ)xᵢᵀ as a pair, and bounds on its errors."""
        out = total(Pair(L, 0.0 * L))
        each = []
        for k in range(self.K):
            away = self.codes == k
            a = Pair(np.where(away, out.high, -L[k]), np.where(away, out.low, 0.0))
            each.append(self.rows.combined(a))
        return (
            np.stack([v.high for v, _ in each]),
            np.stack([v.low for v, _ in each]),
            np.stack([off for _, off in each]),
        )

    def _balanced(self, L: Floats, v: Pair, off: Floats) -> tuple[Floats, Floats, Floats, float]:
        """The same with the moves ρF, and ρ."""
        out = total(Pair(L, 0.0 * L))
        surplus, weight = [], []
        for k in range(self.K):
            away = self.codes == k
            given = added_pair(np.concatenate([out.high[away], out.low[away], -L[k]]))
            surplus.append(given)
            weight.append(added_pair(self.C[away]))
        whole = added_pair(self.C)
        lacking = [
            -s.rounded / w.rounded for s, w in zip(surplus, weight, strict=True) if w.rounded > 0
        ]
        rho = max(0.0, *lacking) * (1.0 + 8 * UNIT)
        mean, far = self.rows.combined(Pair(self.C, 0.0 * self.C))
        high, low, wide = [], [], []
        for k in range(self.K):
            if not weight[k].rounded > 0 and surplus[k].rounded < 0:
                rho = np.nan  # nothing of this class can give back what it took
            own, near = self.rows.combined(
                Pair(np.where(self.codes == k, self.C, 0.0), 0.0 * self.C)
            )
            share = (weight[k].times(rho) + surplus[k]).over(whole)
            share = Pair(np.full(self.rows.d, share.high), np.full(self.rows.d, share.low))
            moved = v.of(k) + own.times(rho) + -Pair(*mean).times(share)
            high.append(moved.high)
            low.append(moved.low)
            wide.append(off[k] + rho * near + 2 * np.abs(share.high) * far)
        return np.stack(high), np.stack(low), np.stack(wide), rho
