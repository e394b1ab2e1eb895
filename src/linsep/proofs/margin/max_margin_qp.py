"""The largest margin, between two bounds: half the distance of two convex hulls.

    minimise ½‖w‖² - ρ   subject to  ⟨zᵢ, v⟩ ≥ ρ          v = (w, b), the bias not penalised
    minimise ½‖Σ αᵢyᵢxᵢ‖²  subject to  α ≥ 0, Σ αᵢ = 1, Σ αᵢyᵢ = 0        (its dual)

At the optimum ρ = ‖w‖² and the margin is ‖w‖. Every v with positive values bounds the largest
margin from below, every feasible α from above. Mehrotra's predictor-corrector steps.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.halfspaces.interior_step import Normal, step_length

Floats = npt.NDArray[np.float64]


class Hulls(NamedTuple):
    """Where the method ended: v, multipliers of the rows, and the rows that determine v."""

    v: Floats
    alpha: Floats
    active: npt.NDArray[np.bool_]


def hulls(
    M: Floats, penalty: Floats, gap: float, out_of_time: Callable[[], bool] = bool
) -> Hulls | None:
    """Widest v for rows `M` of moderate size, until the two bounds agree within `gap`.

    Parameters
    ----------
    M : array
        Rows z of constraints.
    penalty : array
        1 for weights, 0 for biases.

    Examples
    --------
    >>> M = np.array([[1.0, 1.0], [1.0, -1.0]])  # x = 1 and x = -1, with their biases
    >>> end = hulls(M, np.array([1.0, 0.0]), 1e-9)
    >>> abs(end.v[0].round(6)), end.alpha.round(6).tolist()
    (np.float64(1.0), [0.5, 0.5])
    """
    state = _Search(M, penalty)
    best: Hulls | None = None
    narrowest = np.inf
    for _ in range(60):
        apart = state.apart()
        if apart < narrowest:
            narrowest, best = apart, Hulls(state.v, state.alpha, state.active())
        if not np.isfinite(apart) or apart < gap or out_of_time():
            break
        try:
            state.step()
        except np.linalg.LinAlgError:
            break
    return best


class _Search:
    """The state of the programme and its dual: v, ρ, slacks ξ; multipliers α."""

    def __init__(self, M: Floats, penalty: Floats) -> None:
        m = len(M)
        self.M, self.A = M, np.hstack([M, np.full((m, 1), -1.0)])
        self.penalty, self.weight = penalty, np.append(penalty, 0.0)
        self.alpha = np.full(m, 1 / m)
        self.v = penalty * (M.T @ self.alpha)
        z = M @ self.v
        self.rho = float(z.min() - max(z.std(), 1e-3 * np.abs(z).max(), 1e-12))
        self.xi = z - self.rho

    def apart(self) -> float:
        """The relative distance of the bounds that v and α give; inf where there is none."""
        w = self.penalty * self.v
        length = float(np.sqrt(w @ w))
        reach = float(np.linalg.norm(self.penalty * (self.M.T @ self.alpha)))
        if not (np.isfinite(length) and length > 0 and reach > 0):
            return np.inf
        return (reach - float((self.M @ self.v).min()) / length) / reach

    def active(self) -> npt.NDArray[np.bool_]:
        """Rows whose multiplier, not whose slack, stays away from zero."""
        return self.alpha * len(self.alpha) * max(self.rho, 1e-300) > self.xi

    def step(self) -> None:
        M, A, alpha, xi = self.M, self.A, self.alpha, self.xi
        m = len(M)
        d = alpha / xi
        normal = Normal(A, d, self.weight)
        off_rows = M @ self.v - self.rho - xi
        off_v, off_sum = self.penalty * self.v - M.T @ alpha, 1 - alpha.sum()

        def direction(target: Floats) -> tuple[Floats, Floats, Floats]:
            """Newton's direction towards αᵢξᵢ = target, all equations restored."""
            right = A.T @ (target / xi - alpha - d * off_rows)
            right[:-1] -= off_v
            right[-1] += off_sum
            u = normal.solve(right)
            slack = A @ u + off_rows
            return u, slack, (target - alpha * xi - alpha * slack) / xi

        mu = float(alpha @ xi) / m
        u, slack, change = direction(np.zeros(m))
        s = min(1.0, step_length(xi, slack), step_length(alpha, change))
        after = float((alpha + s * change) @ (xi + s * slack)) / m
        u, slack, change = direction((after / mu) ** 3 * mu - change * slack)
        s = min(1.0, 0.99 * min(step_length(xi, slack), step_length(alpha, change)))
        self.v, self.rho = self.v + s * u[:-1], self.rho + s * float(u[-1])
        self.xi, self.alpha = xi + s * slack, alpha + s * change
