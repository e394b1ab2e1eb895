"""Is there a v with ⟨zᵢ, v⟩ > 0 for every row? A linear programme that answers either way.

    maximise t            subject to  ⟨zᵢ, v⟩ ≥ t,  ⟨z̄, v⟩ = 1          (z̄ the mean row)
    minimise θ            subject to  Σ αᵢzᵢ = θ z̄,  Σ αᵢ = 1,  α ≥ 0   (its dual)

The uniform α has θ = 1. If t becomes positive, v separates; if θ can be brought to zero, α rules
every separator out (Gordan 1873). Mehrotra's predictor-corrector steps decrease θ and increase t
together; most problems are settled in five to fifteen steps, long before the optimum. What comes
back is floating point: a proposal, to be proved or refuted in exact arithmetic.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.halfspaces.interior_step import Normal, step_length

Floats = npt.NDArray[np.float64]

_ROUNDS = 80


class Proposal(NamedTuple):
    """A direction thought to be positive on all rows, or multipliers thought to annihilate them."""

    direction: Floats | None
    multipliers: Floats | None


def propose(M: Floats, out_of_time: Callable[[], bool] = bool, depth: float = 0.0) -> Proposal:
    """Search for a direction positive on all rows of `M`, or for multipliers that exclude one.

    Parameters
    ----------
    M : array
        Rows.
    depth : float
        0: any positive direction will do. Up to 1: one whose least value, on rows of length one,
        is at least this part of the largest possible.

    Examples
    --------
    >>> propose(np.array([[1.0, 2.0], [2.0, 1.0]])).multipliers is None
    True
    >>> propose(np.array([[1.0, 2.0], [-1.0, -2.0]])).multipliers
    array([0.5, 0.5])
    """
    m, d = M.shape
    norms = np.sqrt(np.einsum("ij,ij->i", M, M))
    if not np.all(np.isfinite(norms)):
        return Proposal(None, None)
    if norms.min() == 0:  # a zero row is a relation by itself
        return Proposal(None, (norms == 0) / np.count_nonzero(norms == 0))
    M = M / norms[:, None]
    basis = None
    if d > m:  # rows span at most m dimensions: move there by a rotation
        basis, triangle = np.linalg.qr(M.T)
        M = np.ascontiguousarray(triangle.T)
    try:
        direction, alpha = _Search(M).run(out_of_time, depth)
    except (np.linalg.LinAlgError, FloatingPointError):
        return Proposal(None, None)
    if direction is not None and basis is not None:
        direction = basis @ direction
    if alpha is not None:
        alpha = alpha / norms
        total = float(alpha.sum())
        alpha = alpha / total if np.isfinite(total) and total > 0 else None
    return Proposal(direction, alpha)


class _Search:
    """The state of the two programmes: v, t, slacks ξ; α, θ."""

    def __init__(self, M: Floats) -> None:
        m = len(M)
        self.M, self.A = M, np.hstack([M, np.full((m, 1), -1.0)])
        self.mean = M.mean(axis=0)
        self.alpha, self.theta = np.full(m, 1 / m), 1.0
        self.border = np.append(self.mean, 0.0)
        normal = Normal(M, np.full(m, 1 / m))
        v = normal.solve(self.mean)  # least squares: M v ≈ 1
        length = float(self.mean @ v)
        self.reachable = length > 1e-12  # mean row zero: uniform multipliers are the answer
        self.v = v / length if self.reachable else v
        z = M @ self.v
        self.t = float(z.min() - max(z.std(), 1e-3))
        self.xi = z - self.t

    def run(
        self, out_of_time: Callable[[], bool], depth: float
    ) -> tuple[Floats | None, Floats | None]:
        M, m = self.M, len(self.M)
        if not self.reachable:
            return None, polish(M, self.alpha)
        tried = 1e-2
        for _ in range(_ROUNDS):
            z = M @ self.v
            if z.min() > max(1e-14 * np.abs(z).max(), depth * self.theta):
                return self.v, None
            if out_of_time() or not np.isfinite(self.theta):
                break
            if self.theta < tried:
                tried = self.theta / 10
                multipliers = self._face()
                if multipliers is not None:
                    return None, multipliers
            if self.theta < 1e-15 or self.alpha @ self.xi / m < 1e-18:
                break
            multipliers = self._step(z)
            if multipliers is not None:
                return None, multipliers
        z = M @ self.v
        return (self.v if z.min() > 0 else None), self._face()

    def _face(self) -> Floats | None:
        """Multipliers on the rows that complementarity says can carry them."""
        inside = self.alpha * len(self.alpha) > self.xi
        if not inside.any():
            return None
        multipliers = polish(self.M[inside], self.alpha[inside] / self.alpha[inside].sum())
        if multipliers is None:
            return None
        alpha = np.zeros(len(self.alpha))
        alpha[inside] = multipliers
        return alpha

    def _step(self, z: Floats) -> Floats | None:
        M, A, alpha, xi = self.M, self.A, self.alpha, self.xi
        m = len(M)
        d = alpha / xi
        normal = Normal(A, d)
        along = normal.solve(self.border)
        bend = float(self.border @ along)
        off_rows = z - self.t - xi
        off_alpha = M.T @ alpha - self.theta * self.mean
        off_sum, off_scale = 1 - alpha.sum(), 1 - float(self.mean @ self.v)

        def direction(target: Floats) -> tuple[Floats, Floats, Floats, float]:
            """Newton's direction towards αᵢξᵢ = target, all equations restored."""
            right = A.T @ (target / xi - alpha - d * off_rows)
            right[:-1] += off_alpha
            right[-1] += off_sum
            u = normal.solve(right)
            theta = (float(self.border @ u) - off_scale) / bend
            u = u - along * theta
            slack = A @ u + off_rows
            return u, slack, (target - alpha * xi - alpha * slack) / xi, theta

        mu = float(alpha @ xi) / m
        u, slack, change, theta = direction(np.zeros(m))
        multipliers = self._crossing(change, theta)
        if multipliers is not None:
            return multipliers
        primal, dual = min(1.0, step_length(xi, slack)), min(1.0, step_length(alpha, change))
        after = float((alpha + dual * change) @ (xi + primal * slack)) / m
        centring = (after / mu) ** 3
        u, slack, change, theta = direction(centring * mu - change * slack)
        multipliers = self._crossing(change, theta)
        if multipliers is not None:
            return multipliers
        primal = min(1.0, 0.99 * step_length(xi, slack))
        dual = min(1.0, 0.99 * step_length(alpha, change))
        self.v = self.v + primal * u[:-1]
        self.t += primal * float(u[-1])
        self.xi = xi + primal * slack
        self.alpha = alpha + dual * change
        self.theta += dual * theta
        return None

    def _crossing(self, change: Floats, theta: float) -> Floats | None:
        """α where θ reaches zero along this direction, if α stays positive until then."""
        if theta >= 0 or -self.theta / theta > 0.999 * step_length(self.alpha, change):
            return None
        return polish(self.M, self.alpha - (self.theta / theta) * change)


def polish(M: Floats, alpha: Floats) -> Floats | None:
    """Multipliers near `alpha` with Σ αᵢzᵢ = 0 as well as floats can; None if some turn negative.

    Each correction is the shortest in the metric of the multipliers themselves, α ← α - α²∘(A g).
    """
    A = np.hstack([M, np.ones((len(M), 1))])
    for _ in range(4):
        residual = np.abs(M.T @ alpha).max()
        if residual < 1e-15:
            return alpha
        try:
            normal = Normal(A, alpha**2)
        except np.linalg.LinAlgError:
            return None
        better = alpha
        for _ in range(2):
            off = A.T @ better
            off[-1] -= 1
            better = better - alpha**2 * (A @ normal.solve(off))
        if not better.min() > 0:
            return None
        alpha = better
        if np.abs(M.T @ alpha).max() > 0.5 * residual:
            break
    return alpha if np.abs(M.T @ alpha).max() < 1e-11 else None
