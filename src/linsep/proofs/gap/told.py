"""The certificate of a fit that was told offsets, weights of penalties, or bounds, loss by loss."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.proofs.gap.certificate import Certificate, FittedProblem, gamma
from linsep.proofs.gap.moves import Moves, Told
from linsep.proofs.gap.penalty import Penalty
from linsep.proofs.gap.products import UNIT

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

HAIR = 1e-11  # by which the hinge's moves stay short of Cᵢ, so that any of them may be mended


def certify_told(
    loss: str, problem: FittedProblem, second: Array | None = None, moves: Any = None
) -> Certificate:
    """Bounds on the objective of one plane, or of the classes of a softmax.

    Parameters
    ----------
    loss : 'hinge', 'squared_hinge' or 'logistic'
    problem : what was minimised, with `told`, and the stored weights
    second : whether each row is of the class whose side is positive; None for a softmax
    moves : (K, n), proposed; those of the weights where None

    Examples
    --------
    >>> X, codes = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> told = Told(np.ones(1), np.array([[-np.inf]]), np.array([[0.5]]))
    >>> problem = FittedProblem(X, codes, 1.0, np.full((1, 1), 0.5), np.zeros(1), True, told=told)
    >>> bounds = certify_told("hinge", problem, codes == 1, np.array([[1.0, -1.0]]))
    >>> bounds.primal, round(bounds.dual, 9), bounds.gap < 1e-9
    (1.125, 1.125, True)
    """
    with np.errstate(all="ignore"):
        rows = _Classes(problem) if second is None else _Plane(loss, problem, second)
        return rows.certificate(moves)


def certify_regression(
    X: Any, Y: Floats, c: Any, W: Array, b: Array, free: bool, told: Told, n_jobs: int | None = None
) -> Certificate:
    """Bounds on ½ Σ cᵢ(sᵢ − yᵢ)² + ½ Σ pⱼwⱼ², of one target or the sum over several.

    Examples
    --------
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> told = Told(np.zeros(1), np.array([[-np.inf]]), np.array([[2.0]]))
    >>> W, b = np.full((1, 1), 2.0), np.zeros(1)
    >>> certify_regression(X, Y, 1.0, W, b, True, told).gap < 1e-12
    True
    """
    with np.errstate(all="ignore"):
        problem = FittedProblem(X, Y, c, W, b, free, Penalty(0.0, 1.0), n_jobs, 0.0, told)
        return _Squares(problem).certificate(None)


class _Plane(Moves):
    """Two classes: moves are αy."""

    def __init__(self, loss: str, problem: FittedProblem, second: Array) -> None:
        super().__init__(problem)
        self.loss, self.y = loss, np.where(second, 1.0, -1.0)
        z, C = self.y * self.S[0], self.C
        inside = np.maximum(0.0, 1.0 - z)
        if loss == "logistic":
            self.losses, self.slopes = C * np.logaddexp(0.0, -z), C + 0.0 * z
        elif loss == "hinge":
            self.losses, self.slopes = C * inside, C + 0.0 * z
        else:
            self.losses, self.slopes = C * inside**2, 2.0 * C * (inside + 1e-6)
        self.fuzz = 16 * UNIT * float((self.losses + self.slopes * np.abs(z)).sum())
        self.slopes = self.slopes[None]

    def _allowed(self, moves: Any) -> Floats:
        C, z = self.C, self.y * self.S[0]
        if moves is not None:
            a = np.maximum(0.0, self.y * moves[0])
        elif self.loss == "logistic":
            a = C * np.exp(-np.logaddexp(0.0, z))
        else:
            a = C * ((z < 1.0) if self.loss == "hinge" else 2.0 * np.maximum(0.0, 1.0 - z))
        a = a * (C > 0.0)
        if self.loss != "squared_hinge":
            a = np.minimum(a, C * (1.0 - HAIR if self.loss == "hinge" else 1.0))
        return (self.y * a)[None]

    def _share(self, M: Floats) -> tuple[Floats, Floats]:
        a = np.abs(M[0])
        return a, np.divide(a, self.C, out=np.zeros_like(a), where=self.C > 0.0)

    def _terms(self, M: Floats) -> tuple[Floats, Floats]:
        a, u = self._share(M)
        if self.loss == "hinge":
            return a, 0.0 * a
        if self.loss == "squared_hinge":
            return a - 0.25 * a * u, 8 * UNIT * a * (1.0 + u)
        v = np.clip(u, 1e-300, 1.0 - UNIT / 2)
        E = self.C * (-v * np.log(v) - (1.0 - v) * np.log1p(-v)) * ((u > 0.0) & (u < 1.0))
        return E, UNIT * (32 * E + 8 * a * (1.0 - np.log1p(-v)))

    def _steep(self, M: Floats) -> Floats:
        u = self._share(M)[1]
        if self.loss != "logistic":
            return (1.0 + u)[None]
        v = np.clip(u, 1e-300, 1.0 - UNIT / 2)
        return (np.abs(np.log(v) - np.log1p(-v)) + 2.0)[None]

    def _bends(self, M: Floats) -> Floats:
        a, u = self._share(M)
        return np.asarray(a if self.loss == "squared_hinge" else a * (1.0 - u))[None]

    def _curved(self, M: Floats, U: Floats) -> Floats:
        return np.asarray(self._bends(M) * U)

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        B = A[:, pairs[1]]
        return np.asarray((B.T * self._bends(M)) @ B)


class _Squares(Moves):
    """Numbers to be predicted: moves are c(y − s)."""

    def __init__(self, problem: FittedProblem) -> None:
        super().__init__(problem)
        self.Y = np.asarray(problem.codes, np.float64).T
        left = self.Y - self.S
        self.losses, self.slopes = 0.5 * self.C * left**2, self.C * (np.abs(left) + 1e-6)
        self.fuzz = 8 * UNIT * float((self.losses + self.slopes * np.abs(self.Y)).sum())

    def _allowed(self, moves: Any) -> Floats:
        return np.asarray(self.C * (self.Y - self.S) if moves is None else moves)

    def _terms(self, M: Floats) -> tuple[Floats, Floats]:
        over = M * np.divide(M, self.C, out=np.zeros_like(M), where=self.C > 0.0)
        return M * self.Y - 0.5 * over, 8 * UNIT * (np.abs(M * self.Y) + over)

    def _steep(self, M: Floats) -> Floats:
        over = np.divide(M, self.C, out=np.zeros_like(M), where=self.C > 0.0)
        return np.abs(self.Y) + np.abs(over) + 1.0

    def _curved(self, M: Floats, U: Floats) -> Floats:
        return np.asarray(self.C * U)

    def _bends(self, M: Floats) -> Floats:
        return np.broadcast_to(self.C, M.shape)

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        planes, places = pairs
        H = np.zeros((len(planes), len(planes)))
        for k in np.unique(planes):
            own = planes == k
            B = A[:, places[own]]
            H[np.ix_(own, own)] = (B.T * self.C) @ B
        return H

    def _independent(self, on: Array) -> tuple[Array, Array]:
        planes, places = np.nonzero(on)
        return planes, places


class _Classes(Moves):
    """The softmax: moves are C(e_y − p)."""

    def __init__(self, problem: FittedProblem) -> None:
        super().__init__(problem)
        self.own = np.asarray(problem.codes, np.intp), np.arange(self.n)
        top = self.S.max(axis=0)
        self.E = np.exp(self.S - top)
        self.losses = self.C * (np.log(self.E.sum(axis=0)) + (top - self.S[self.own]))
        self.slopes = np.broadcast_to(self.C, self.S.shape)
        wide = np.abs(self.S).max(axis=0) + self.K
        self.fuzz = 16 * UNIT * float((self.C * wide).sum() + self.losses.sum())

    def _allowed(self, moves: Any) -> Floats:
        if moves is None:
            L = self.C * (self.E / self.E.sum(axis=0))
        else:
            L = np.maximum(0.0, -np.asarray(moves, np.float64))
        L[self.own] = 0.0
        out = L.sum(axis=0)
        L = L * np.where(out > self.C, self.C / np.maximum(out, 1e-300), 1.0)
        L *= 1.0 - gamma(4 * self.K)  # a hair less: no rounding lets more than C leave a row
        M = -L
        M[self.own] = L.sum(axis=0)
        return M

    def _bends(self, M: Floats) -> Floats:
        """Cp of moves: C(diag p − ppᵀ) is no more than that."""
        P = np.maximum(0.0, -M)
        P[self.own] = np.maximum(0.0, self.C - M[self.own])
        return P

    def _terms(self, M: Floats) -> tuple[Floats, Floats]:
        P, C = self._bends(M), np.maximum(self.C, 1e-300)
        logs = np.log(np.clip(P / C, 1e-300, 1.0))
        E = (-P * logs).sum(axis=0)
        return E, UNIT * self.K * (32 * E + 64 * self.C)

    def _steep(self, M: Floats) -> Floats:
        return np.abs(np.log(np.clip(self._bends(M) / np.maximum(self.C, 1e-300), 1e-300, 1))) + 2

    def _curved(self, M: Floats, U: Floats) -> Floats:
        P = self._bends(M)
        mean = (P * U).sum(axis=0) / np.maximum(self.C, 1e-300)
        return np.asarray(P * (U - mean))

    def _curvature(self, M: Floats, A: Floats, pairs: tuple[Array, Array]) -> Floats:
        P, inverse = self._bends(M), 1.0 / np.maximum(self.C, 1e-300)
        planes, places = pairs
        H = np.empty((len(planes), len(planes)))
        for k in np.unique(planes):
            for j in np.unique(planes):
                D = P[k] * ((j == k) - P[j] * inverse)
                one, other = planes == k, planes == j
                H[np.ix_(one, other)] = (A[:, places[one]].T * D) @ A[:, places[other]]
        return H
