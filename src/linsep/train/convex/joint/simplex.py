"""The smoothed loss of Crammer and Singer's machine, row by row.

    φ(z) = max over p in Δ of ⟨p, z⟩ − (ε/2)‖p − c‖²,   zₖ = sₖ − s_y + [k ≠ y]
    Δ = {p ≥ 0, Σ pₖ = 1}

The largest is reached at p = the projection of c + z/ε onto Δ, which is the gradient of φ. With the
centre c = p it touches max z. The projection is found by Michelot's rounds: entries that are not
above a threshold β are left out, and β rises, until all that are left add up to one above it.
"""

import numpy as np

from linsep._compile import inline, kernel


@inline(shared=True)
def threshold(q, K, largest, total):  # type: ignore[no-untyped-def]
    """β with Σ max(0, qₖ − β) = 1"""
    beta = max((total - 1.0) / K, largest - 1.0)
    again = True
    while again:
        total = left = 0.0
        for k in range(K):
            above = 1.0 if q[k] > beta else 0.0
            total += above * q[k]
            left += above
        best = (total - 1.0) / left if left > 0.0 else beta
        again = best > beta
        beta = max(beta, best)
    return beta


@kernel
def project(S, dS, t, centre, codes, caps, inverse, first, last, P, counts, sums):  # type: ignore[no-untyped-def]
    """S ← S + t·dS; P ← the projections there; counts ← their entries above zero.

    `inverse` is 1/ε. Adds Σ U max z, Σ U(1 − p_y), Σ U⟨p, z⟩ and Σ U‖p − c‖² to `sums`.
    """
    K = S.shape[1]
    zero = S.dtype.type(0)
    one = S.dtype.type(1)
    for i in range(first, last):
        s, q, c, y = S[i], P[i], centre[i], codes[i]
        for k in range(K):
            s[k] += t * dS[i, k]
        own = s[y] - one
        top, largest, total = zero, -1e300, 0.0
        for k in range(K):
            q[k] = s[k] - own
        q[y] = zero
        for k in range(K):
            top = max(top, q[k])
            q[k] = q[k] * inverse + c[k]
            largest = max(largest, q[k])
            total += q[k]
        beta = threshold(q, K, largest, total)
        count, mean, moved = 0, 0.0, 0.0
        for k in range(K):
            p = max(zero, q[k] - beta)
            q[k] = p
            mean += p * (s[k] - own)
            moved += (p - c[k]) * (p - c[k])
            count += 1 if p > zero else 0
        p = q[y]
        counts[i] = count
        sums[0] += caps[i] * top
        sums[1] += caps[i] * (1.0 - p)
        sums[2] += caps[i] * (mean - p)
        sums[3] += caps[i] * moved


@kernel
def along(S, dS, t, centre, codes, caps, inverse, first, last, q, sums):  # type: ignore[no-untyped-def]
    """Adds Σ Uφ at S + t·dS and its derivative Σ U⟨p, dz⟩ to `sums`."""
    K = S.shape[1]
    half = np.divide(0.5, inverse)  # ε/2
    for i in range(first, last):
        s, step, c, y = S[i], dS[i], centre[i], codes[i]
        own = s[y] + t * step[y] - 1.0
        largest, total = -1e300, 0.0
        for k in range(K):
            q[k] = (s[k] + t * step[k] - own) * inverse + c[k]
        q[y] = c[y]
        for k in range(K):
            largest = max(largest, q[k])
            total += q[k]
        beta = threshold(q, K, largest, total)
        value = moved = 0.0
        for k in range(K):
            p = max(0.0, q[k] - beta)
            z = q[k] - c[k]  # of ε
            value += 2.0 * p * z - (p - c[k]) * (p - c[k])
            moved += p * (step[k] - step[y])
        sums[0] += caps[i] * half * value
        sums[1] += caps[i] * moved


@kernel
def reflect(S, dS, rho, relaxed, centre, codes, caps, first, last, P, sums):  # type: ignore[no-untyped-def]
    """P ← the projections of c + ρz at S + 2dS; then c and S go on, c + γ(p − c) and S + γdS.

    `rho` is ρ, `relaxed` is γ. Adds Σ U max z at S + dS, Σ U(1 − p_y), and the squares of p − c,
    p − e_y and S, weighted by U, to `sums`.
    """
    K = S.shape[1]
    zero = S.dtype.type(0)
    one = S.dtype.type(1)
    for i in range(first, last):
        s, q, c, step, y = S[i], P[i], centre[i], dS[i], codes[i]
        own = s[y] + step[y] - one
        twice = s[y] + step[y] + step[y] - one
        top, largest, total = zero, -1e300, 0.0
        for k in range(K):
            z = s[k] + step[k] - own if k != y else zero
            top = max(top, z)
            z = s[k] + step[k] + step[k] - twice if k != y else zero
            q[k] = c[k] + rho * z
            largest = max(largest, q[k])
            total += q[k]
        beta = threshold(q, K, largest, total)
        change, away, size = 0.0, 0.0, 0.0
        for k in range(K):
            p = max(zero, q[k] - beta)
            q[k] = p
            move = p - c[k]
            change += move * move
            away += p * p
            size += s[k] * s[k]
            c[k] += relaxed * move
            s[k] += relaxed * step[k]
        p = q[y]
        sums[0] += caps[i] * top
        sums[1] += caps[i] * (1.0 - p)
        sums[2] += caps[i] * change
        sums[3] += caps[i] * (away + 1.0 - 2.0 * p)
        sums[4] += caps[i] * size


@kernel
def vertices(S, codes, P):  # type: ignore[no-untyped-def]
    """P ← one at the class of the largest z, the own class where none is above zero"""
    K = S.shape[1]
    for i in range(S.shape[0]):
        y = codes[i]
        best, top = y, S[i, y]
        for k in range(K):
            P[i, k] = 0.0
            if k != y and S[i, k] + 1.0 > top:
                best, top = k, S[i, k] + 1.0
        P[i, best] = 1.0


@kernel
def listed(P, rows, pointers, classes):  # type: ignore[no-untyped-def]
    """classes ← numbers of the entries above zero of some rows, one row after the other"""
    for j in range(len(rows)):
        p, at = P[rows[j]], pointers[j]
        for k in range(p.shape[0]):
            if p[k] > 0.0:
                classes[at] = k
                at += 1
