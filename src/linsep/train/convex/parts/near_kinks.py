"""A step by a model that knows where rows turn: for losses made of quadratic pieces.

The squared hinge and the smoothed hinge have the multipliers

    α(z) = U·min(a, max(0, κ(c − z))),        κ = 2, c = 1, a = ∞   or   κ = 1/2h, c = 1 + h, a = 1

and kinks of the slope at c and, where a is finite, at c − a/κ. Newton's step takes each row to stay
on the piece that it is on now. Where features are rare, or the penalty is weak, a few rows that a
step drives across their kinks are all that speaks for a direction: the line search then shortens
the step of all others, again and again. So rows K near their kinks keep their losses, and only the
others a piece each:

    M(s) = gᵀs + ½sᵀHs + Σ_K (φᵢ(zᵢ + ⟨s, x̃ᵢ⟩) − its second-order expansion at zᵢ)

It is minimised by Newton's method with an exact line search, which changes H by the few rows that
cross. M is as steep as P where it begins, so that P falls along the way to its minimum.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.curvature import Curvature

Floats = npt.NDArray[np.float64]

STEPS = 200  # of the model's minimisation, at most
ENOUGH = 1e-9  # part of the first fall foretold that the last may be
FARTHEST = 2.0  # times a step of the model that the line search goes
TRIALS = 60  # of the line search


class Pieces(NamedTuple):
    """α(z) = U·min(most, max(0, bend·(corner − z)))"""

    bend: float
    corner: float
    most: float

    def alpha(self, z: Floats, caps: Floats) -> Floats:
        return np.asarray(
            caps * np.minimum(self.most, np.maximum(0.0, self.bend * (self.corner - z)))
        )

    def value(self, z: Floats, caps: Floats) -> Floats:
        """φ(z): κ/2·(c − z)², and a·(c − z − a/2κ) where the multiplier is at its most."""
        lack = np.maximum(0.0, self.corner - z)
        bent = np.minimum(lack, self.most / self.bend)
        return np.asarray(caps * self.bend * bent * (lack - 0.5 * bent))

    def curvature(self, z: Floats, caps: Floats) -> Floats:
        lack = self.bend * (self.corner - z)
        return np.where((lack > 0.0) & (lack < self.most), caps * self.bend, 0.0)

    def distance(self, z: Floats) -> Floats:
        """To the nearest kink."""
        lack = self.corner - z
        return np.minimum(np.abs(lack), np.abs(lack - self.most / self.bend))


def pieces(loss: Any) -> Pieces | None:
    """Those of a loss, if it is made of such."""
    return Pieces(*loss.pieces) if hasattr(loss, "pieces") else None


class NearKinks(NamedTuple):
    """Rows near their kinks: yᵢx̃ᵢ, margins and Uᵢ."""

    rows: Floats
    z: Floats
    caps: Floats


def settle(
    g: Floats, H: Floats, near: NearKinks, loss: Pieces, step: Floats
) -> tuple[Floats, float]:
    """The s with the smallest M(s), and −M(s); `step` is that of the quadratic, H the Hessian."""
    B, z, U = near
    s, Hs = np.zeros_like(g), np.zeros_like(g)
    moved = np.zeros(len(z))
    first, D0 = loss.alpha(z, U), loss.curvature(z, U)
    D, bent = D0.copy(), H.copy()
    most, direction = 0.0, step
    for k in range(STEPS):
        pull = loss.alpha(z + moved, U) - first + D0 * moved
        slope = g + Hs - B.T @ pull
        if k:
            now = loss.curvature(z + moved, U)
            changed = np.flatnonzero(now != D)
            bent += B[changed].T @ (B[changed] * (now - D)[changed, None])
            D = now
            curvature = Curvature(bent)
            if curvature.singular:
                break
            direction = -curvature.solve(slope)
        falls = -float(slope @ direction)
        most = max(most, falls)
        if not falls > ENOUGH * most:
            break
        Hd, along = H @ direction, B @ direction
        t = _lowest(
            loss, near, moved, along, first, D0, float((g + Hs) @ direction), float(direction @ Hd)
        )
        s, Hs, moved = s + t * direction, Hs + t * Hd, moved + t * along
    there = z + moved
    rows = loss.value(there, U) - loss.value(z, U) + first * moved - 0.5 * D0 * moved * moved
    return s, -float(g @ s + 0.5 * (s @ Hs) + rows.sum())


def _lowest(
    loss: Pieces,
    near: NearKinks,
    moved: Floats,
    along: Floats,
    first: Floats,
    D0: Floats,
    a: float,
    b: float,
) -> float:
    """The t with the smallest M(s + t·direction), whose slope is piecewise linear and grows."""
    _, z, U = near
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(TRIALS):
        there = moved + t * along
        value = a + t * b - float((loss.alpha(z + there, U) - first + D0 * there) @ along)
        bend = b + float((loss.curvature(z + there, U) - D0) @ (along * along))
        low, high = (t, high) if value < 0.0 else (low, t)
        trial = t - value / bend if bend > 0.0 else t
        if not low < trial < high:
            trial = 0.5 * (low + high) if np.isfinite(high) else 2.0 * t
        if trial > FARTHEST:
            return FARTHEST
        if abs(trial - t) <= 1e-12 * t:
            break
        t = trial
    return t
