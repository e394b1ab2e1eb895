"""Functions of margins alone: losses, multipliers and curvatures of rows, and their sums.

    αᵢ = −Uᵢφ′(zᵢ),   Dᵢ = Uᵢφ″(zᵢ)

Whatever reads the rows themselves is in `linsep.train.convex.newton.full_sums`.
"""

import numpy as np
import numpy.typing as npt

from linsep._compile import inline
from linsep._exponentials import exp_of_negative, log_of_one_plus
from linsep.train.convex.losses import curvature, dual, most, slope, value

Floats = npt.NDArray[np.float64]

CHUNK = 256
"""Rows whose exponentials are taken together."""
SUMS = 7
"""Σ Uφ, Σ Uℓ, Σ α of either class, Σ of dual terms of either class, Σ αz."""


def chunk() -> tuple[Floats, npt.NDArray[np.int64]]:
    """Room for a few rows of the logistic loss, and its bits."""
    room = np.empty((8, CHUNK))
    return room, room.view(np.int64)


@inline(shared=True)
def add_hinge(smooth, loss, z, dz, t, y, caps, first, last, to, alpha, D, sums):  # type: ignore[no-untyped-def]
    """to ← z + t·dz; α and D there, and their sums, for hinges"""
    total = np.float64(0.0)
    for k in range(sums.shape[0]):
        sums[k] = total
    for i in range(first, last):
        m = z[i] + t * dz[i]
        to[i] = m
        U = caps[i]
        a = -slope(smooth, m)
        alpha[i] = U * a
        D[i] = U * curvature(smooth, m)
        sums[0] += U * value(smooth, m)
        sums[1] += U * value(loss, m)
        k = 0 if y[i] > 0 else 1
        sums[2 + k] += U * a
        sums[4 + k] += U * dual(loss, a)
        sums[6] += U * a * m


@inline(shared=True)
def add_logistic(z, dz, t, y, caps, first, last, to, alpha, D, room, whole, sums):  # type: ignore[no-untyped-def]
    """The same for log(1 + e⁻ᶻ).

    All arithmetic is done in `room`, whose bits `whole` are: machine code looks how far arrays lie
    apart before it takes several numbers at a time, and rounds otherwise where it does not.
    """
    tail, log, s, U, up, a, bend = room[0], room[1], room[2], room[3], room[4], room[5], room[6]
    power, bits = room[7], whole[7]
    for k in range(sums.shape[0]):
        sums[k] = 0.0
    for start in range(first, last, CHUNK):
        m = min(CHUNK, last - start)
        for i in range(m):
            s[i] = z[start + i]
            tail[i] = dz[start + i]
            U[i] = caps[start + i]
            up[i] = y[start + i]
        for i in range(m):
            s[i] += t * tail[i]
            tail[i] = -abs(s[i])
            up[i] = 1.0 if up[i] > 0.0 else 0.0
        exp_of_negative(tail[:m], bits, power)
        log_of_one_plus(tail[:m], log)
        total = plus = both = above = far = 0.0
        for i in range(m):
            inverse = np.divide(1.0, 1.0 + tail[i])
            a[i] = U[i] * inverse * (tail[i] if s[i] > 0 else 1.0)  # Uσ(−z)
            bend[i] = U[i] * tail[i] * inverse * inverse
            loss = U[i] * (log[i] + max(0.0, -s[i]))
            total += loss
            plus += up[i] * a[i]
            both += a[i]
            above += up[i] * (loss + a[i] * s[i])
            far += a[i] * s[i]
        for i in range(m):
            to[start + i] = s[i]
            alpha[start + i] = a[i]
            D[start + i] = bend[i]
        sums[0] += total
        sums[2] += plus
        sums[3] += both - plus
        sums[4] += above
        sums[5] += total + far - above
        sums[6] += far
    sums[1] = sums[0]


@inline(shared=True)
def foretell(loss, alpha, D, dz, caps, out):  # type: ignore[no-untyped-def]
    """out ← α − D·dz, the multipliers after a step if the loss were quadratic: Σ αy is zero there,
    and Σ αyx are the weights. Returns the sum of their dual terms; −1 where one is out of bounds"""
    total = 0.0
    for i in range(alpha.shape[0]):
        a = alpha[i] - D[i] * dz[i]
        out[i] = a
        if a < 0.0:
            return -1.0
        if caps[i] > 0.0:
            a = np.divide(a, caps[i])
            if a > most(loss):
                return -1.0
            total += caps[i] * dual(loss, a)
    return total


@inline(shared=True)
def add_along(smooth, z, dz, t, caps, slopes):  # type: ignore[no-untyped-def]
    """First and second derivative of Σ Uφ(z + t·dz) in t, into `slopes`"""
    one = two = 0.0
    for i in range(z.shape[0]):
        m = z[i] + t * dz[i]
        one += caps[i] * slope(smooth, m) * dz[i]
        two += caps[i] * curvature(smooth, m) * dz[i] * dz[i]
    slopes[0], slopes[1] = one, two
