"""A step of all multipliers at no bound, where one row of Crammer and Singer's machine at a time
is too slow.

With a = U e_y − A, the multipliers of the bounds of a row are not negative and add up to U. As long
as none of those above zero meets it (a face), D is quadratic in them. Their best change δ adds up
to zero in every row and solves linear equations:

    maximise   ⟨s, δ⟩ − ½‖Σᵢ δᵢ x̃ᵢᵀ‖²,   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ + [k ≠ yᵢ],   x̃ = (x, √ρ)

They are solved by conjugate gradients, with ‖x̃ᵢ‖² as preconditioner (Moré and Toraldo, *On the
solution of large quadratic programming problems with bound constraints*, 1991). The step is
projected onto the bounds, and halved while that lets D rise more.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

BEYOND = 0.1  # part of the multipliers that may be led beyond their bounds before products end
PROGRESS = 0.1  # part of what the best product gained below which others wait for another face
FLAT = 1e-9  # curvature of a direction, of what the lengths alone give, that counts as none
HALVINGS = 12  # of a step, at most


class Face(NamedTuple):
    """Rows with several multipliers above zero.

    Attributes
    ----------
    Z : these rows, an array or a CSR matrix
    a, s : multipliers and what D gains by each of them, (m, K)
    caps, lengths : Uᵢ and ‖x̃ᵢ‖²
    rho : how much a change pulls at the intercepts
    """

    Z: Any
    a: Floats
    s: Floats
    caps: Floats
    lengths: Floats
    rho: float

    def within(self, r: Floats) -> Floats:
        """The part of r that adds up to zero in every row, and is zero at bounds."""
        free = self.a > 0.0
        r = r * free
        return np.asarray((r - r.sum(axis=1, keepdims=True) / free.sum(axis=1)[:, None]) * free)

    def direction(self, goal: float, most: int) -> tuple[Floats, int]:
        """δ and the products made.

        They end where these rows lack no more than `goal`, or a product gains little beside the
        best one before it, or many multipliers are led beyond their bounds.
        """
        delta, r, lengths = np.zeros_like(self.a), self.within(self.s), self.lengths[:, None]
        q = r / lengths
        rho = float(np.vdot(r, q))
        largest, products, many = 0.0, 0, BEYOND * np.count_nonzero(self.a)
        while products < most and float(self.caps @ np.abs(r).max(axis=1)) > goal:
            Qq = self.within(self.Z @ (self.Z.T @ q) + self.rho * q.sum(axis=0))
            products += 1
            bend = float(np.vdot(q, Qq))
            if bend <= FLAT * float(np.vdot(q, lengths * q)):
                break
            t = rho / bend
            gain = 0.5 * t * rho
            largest = max(largest, gain)
            delta += t * q
            r -= t * Qq
            if gain <= PROGRESS * largest or np.count_nonzero(self.a + delta < 0.0) > many:
                break
            z = r / lengths
            rho, before = float(np.vdot(r, z)), rho
            q = z + rho / before * q
        return delta, products

    def step(self, delta: Floats) -> tuple[Floats, float, bool]:
        """The longest halving of δ, projected onto the bounds, that gains more than its half: the
        multipliers after it, what D rises by and whether a bound was met."""
        best = self.a, 0.0, True
        for k in range(HALVINGS):
            a = self.a + 0.5**k * delta
            met = bool((a < 0.0).any())
            a = projected(a, self.a > 0.0, self.caps) if met else a
            change = a - self.a
            V, pulled = self.Z.T @ change, change.sum(axis=0)
            bend = float(np.sum(V * V)) + self.rho * float(pulled @ pulled)
            gain = float(np.vdot(self.s, change)) - 0.5 * bend
            if gain > best[1]:
                best = a, gain, met
            elif best[1] > 0.0:
                break
            if not met:
                break
        return best


def projected(a: Floats, free: Array, caps: Floats) -> Floats:
    """The nearest multipliers that are not negative and add up to the caps, zero where not free.

    >>> one = np.array([[0.9, -0.2, 0.3, 7.0]])
    >>> projected(one, np.array([[True, True, True, False]]), np.ones(1)).round(12)
    array([[0.8, 0. , 0.2, 0. ]])
    """
    down = -np.sort(np.where(free, -a, np.inf), axis=1)
    over = np.cumsum(np.where(np.isfinite(down), down, 0.0), axis=1) - caps[:, None]
    over /= np.arange(1, a.shape[1] + 1)
    last = np.count_nonzero(down > over, axis=1) - 1
    return np.where(free, np.maximum(a - over[np.arange(len(a)), last][:, None], 0.0), 0.0)
