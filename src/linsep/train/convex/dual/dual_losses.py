"""Losses as the dual sees them: one multiplier α per row, moved to its best place in one visit.

With caps Uᵢ = C cᵢ and z = y(⟨w, x⟩ + b), each loss pairs its value U ℓ(z) with the credit
−U ℓ*(−α/U) that its multiplier earns in the dual. What the two lack is the slack of the row,

    slackᵢ = U ℓ(z) + U ℓ*(−α/U) + αz ≥ 0,

and the duality gap is the sum of all slacks: no large numbers are subtracted, so a gap of 1e-12 is
as trustworthy as one of 1e-2.

A multiplier is carried with its logit, that of α/U; only the logistic loss uses it.
"""

import math
from typing import NamedTuple

import numpy as np

from linsep._compile import by_type, inline
from linsep._exponentials import exp_of_negative


@inline(shared=True)
def logit_root(a, logit, z, q, U):  # type: ignore[no-untyped-def]
    """The u with u + z + q(Uσ(u) − a) = 0, by Newton's method kept within a bracket."""
    low = -z - q * (U - a)
    high = -z + q * a
    if q * U > 8.0:
        stiff = math.log1p(q * U) + 1.0
        low, high = max(low, min(0.0, high) - stiff), min(high, max(0.0, low) + stiff)
    u = min(max(logit, low), high)
    enough = 0.25 if q * U <= 8.0 else 1e-3
    before = math.inf
    for _ in range(100):
        s = 1.0 / (1.0 + math.exp(-u))
        g = u + z + q * (U * s - a)
        if g > 0.0:
            high = u
        else:
            low = u
        step = g / (1.0 + q * U * s * (1.0 - s))
        u -= step
        if u < low or u > high or abs(step) > 0.5 * before:
            u = 0.5 * (low + high)
            before = math.inf
        elif abs(step) < enough:
            break
        else:
            before = abs(step)
    return u


class Hinge(NamedTuple):
    """U max(0, 1 − z), with 0 ≤ α ≤ U.

    A step `relax` times as long as the best one gains almost as much and leaves less for later
    (successive over-relaxation).
    """

    relax: float = 1.2

    def move(self, a, logit, z, q, U):  # type: ignore[no-untyped-def]
        if q > 0.0:
            new = min(max(a + self.relax * (1.0 - z) / q, 0.0), U)
        else:
            new = U if z < 1.0 else 0.0
        return new, logit

    def value(self, z, U):  # type: ignore[no-untyped-def]
        return U * max(0.0, 1.0 - z)

    def slope(self, z, U):  # type: ignore[no-untyped-def]
        return -U if z < 1.0 else 0.0

    def slack(self, a, logit, z, U):  # type: ignore[no-untyped-def]
        return (U - a) * (1.0 - z) if z < 1.0 else a * (z - 1.0)

    def slack_estimate(self, a, logit, z, U):  # type: ignore[no-untyped-def]
        return (U - a) * (1.0 - z) if z < 1.0 else a * (z - 1.0)

    def shrinking_margin(self, a, z, U):  # type: ignore[no-untyped-def]
        return (a == 0.0) * (z - 1.0) + (a == U) * (1.0 - z) - (a > 0.0) * (a < U)


class SquaredHinge(NamedTuple):
    """U max(0, 1 − z)², with 0 ≤ α."""

    relax: float = 1.2

    def move(self, a, logit, z, q, U):  # type: ignore[no-untyped-def]
        h = 0.5 / U
        new = max(a + self.relax * (1.0 - z - h * a) / (q + h), 0.0)
        return new, logit

    def value(self, z, U):  # type: ignore[no-untyped-def]
        return U * max(0.0, 1.0 - z) ** 2

    def slope(self, z, U):  # type: ignore[no-untyped-def]
        return -2.0 * U * max(0.0, 1.0 - z)

    def pulls(self, z, U, a, bent, whole):  # type: ignore[no-untyped-def]
        for i in range(z.shape[0]):
            lack = max(0.0, 1.0 - z[i])
            a[i] = 2.0 * U[i] * lack
            bent[i] = 2.0 * U[i] if lack > 0.0 else 0.0

    def slack(self, a, logit, z, U):  # type: ignore[no-untyped-def]
        inside = U * (1.0 - z - 0.5 * a / U) ** 2
        return inside if z < 1.0 else 0.25 * a * a / U + a * (z - 1.0)

    def slack_estimate(self, a, logit, z, U):  # type: ignore[no-untyped-def]
        inside = U * (1.0 - z - 0.5 * a / U) ** 2
        return inside if z < 1.0 else 0.25 * a * a / U + a * (z - 1.0)

    def shrinking_margin(self, a, z, U):  # type: ignore[no-untyped-def]
        return (a == 0.0) * (z - 1.0) - (a > 0.0)


class Logistic(NamedTuple):
    """U log(1 + e^{−z}), with α = U σ(logit)."""

    scale: float = 1.0

    def move(self, a, logit, z, q, U):  # type: ignore[no-untyped-def]
        # The root u of g(u) = u + z + q(Uσ(u) − a), which rises with slope 1 + qUσ(1 − σ) ≥ 1.
        s = a / U
        step = (logit + z) / (1.0 + q * U * s * (1.0 - s))
        u = logit - step
        if not abs(step) < 0.25:
            u = logit_root(a, logit, z, q, U)
        return U / (1.0 + math.exp(-u)), u

    def value(self, z, U):  # type: ignore[no-untyped-def]
        return U * (math.log1p(math.exp(-abs(z))) + max(0.0, -z))

    def slope(self, z, U):  # type: ignore[no-untyped-def]
        return -U / (1.0 + math.exp(z))

    def pulls(self, z, U, a, bent, whole):  # type: ignore[no-untyped-def]
        for i in range(z.shape[0]):
            a[i] = -abs(z[i])
        exp_of_negative(a, whole, whole.view(np.float64))
        for i in range(z.shape[0]):
            tail = a[i]
            inverse = np.divide(1.0, 1.0 + tail)
            a[i] = U[i] * inverse * (tail if z[i] > 0.0 else 1.0)
            bent[i] = U[i] * tail * inverse * inverse

    def slack(self, a, logit, z, U):  # type: ignore[no-untyped-def]
        # The Bregman divergence of log(1 + eᵗ) between −z and the logit.
        s = a / U
        v = s * (1.0 - s)
        d = z + logit
        if abs(d) < 1e-2:
            value = v * d * d * (0.5 + (s - 0.5) * d / 3.0 + (1.0 - 6.0 * v) * d * d / 24.0)
        else:
            at_z = math.log1p(math.exp(-abs(z))) + max(0.0, -z)
            at_logit = math.log1p(math.exp(-abs(logit))) + max(0.0, logit)
            value = max(0.0, at_z - at_logit + (s * d if a > 0.0 else 0.0))
        return U * value

    def slack_estimate(self, a, logit, z, U):  # type: ignore[no-untyped-def]
        s = a / U
        return 0.5 * U * s * (1.0 - s) * min(abs(z + logit), 3.0) ** 2 if a > 0.0 else U

    def shrinking_margin(self, a, z, U):  # type: ignore[no-untyped-def]
        return -1.0


DualLoss = Hinge | SquaredHinge | Logistic


@by_type
def move(loss, a, logit, z, q, U):  # type: ignore[no-untyped-def]
    """The best α and its logit, when the row's own curvature is q = ‖x‖²."""
    return loss.move(a, logit, z, q, U)


@by_type
def value(loss, z, U):  # type: ignore[no-untyped-def]
    """U ℓ(z)"""
    return loss.value(z, U)


@by_type
def slope(loss, z, U):  # type: ignore[no-untyped-def]
    """U ℓ′(z)"""
    return loss.slope(z, U)


@by_type
def pulls(loss, z, U, a, bent, whole):  # type: ignore[no-untyped-def]
    """a ← −U ℓ′(z) and bent ← U ℓ″(z) of several rows, by a smooth loss; `whole` is room"""
    loss.pulls(z, U, a, bent, whole)


@by_type
def slack(loss, a, logit, z, U):  # type: ignore[no-untyped-def]
    """U ℓ(z) + U ℓ*(−α/U) + αz"""
    return loss.slack(a, logit, z, U)


@by_type
def slack_estimate(loss, a, logit, z, U):  # type: ignore[no-untyped-def]
    """The slack, or a cheap guess at it, to foretell the gap."""
    return loss.slack_estimate(a, logit, z, U)


@by_type
def shrinking_margin(loss, a, z, U):  # type: ignore[no-untyped-def]
    """How far z may move before α leaves the bound it rests at; negative when α is at none."""
    return loss.shrinking_margin(a, z, U)
