"""The sums of one hyperplane over a block of rows, in one compiled walk.

Losses φ, slopes u = −φ′ and dual terms E are those that `linsep.proofs.gap.certificate` is about. A
few hundred rows are scored, functions of their scores taken, and the rows added up, while they are
in the cache. Those functions are right to a few units in the last place; the certificate allows for
32.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep._exponentials import exp_of_negative, log_of_one_plus
from linsep.rows.rows import add, dot, square

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LOSSES = {"logistic": 0, "hinge": 1, "squared_hinge": 2}
CHUNK = 256
"""Rows that are scored and added up together."""
SUMS = 12
"""Σ Cφ, Σ t², Σ t with slopes t for errors of scores, Σ |E|, Σ of sizes that functions round,
Σ E and Σ α of either class, Σ Cφ″, Σ α², Σ x²."""


def sum_plane(
    loss: str,
    rows: Any,
    second: Array,
    C: Floats,
    W: Floats,
    b: Floats,
    alpha: Floats,
    free: bool,
    shrink: float,
    dense: bool,
) -> tuple[Floats, Floats]:
    """The sums, and Σ αyx of either class where `free` or of both together.

    Parameters
    ----------
    rows : a block
    second : whether each row is of the class whose side is positive
    C : Cᵢ of each row, or one number for all
    W, b : the stored weights, and below them those whose slopes are proposed, if others
    alpha : multipliers proposed instead, or none
    shrink : E(shrink·α) in place of E(α)
    dense : whether rows are added up a few hundred at a time
    """
    d, planes = W.shape[1], 2 if free else 1
    v, sums = np.zeros((planes + 2 if dense else planes, d)), np.zeros(SUMS)
    walk = _walk_dense if dense else _walk_sparse
    walk(LOSSES[loss], rows, second, C, W, b, alpha, shrink, np.empty((9, CHUNK)), v, sums)
    return sums, v[:planes]


@kernel
def _walk_dense(loss, rows, second, C, W, b, alpha, shrink, room, v, sums):  # type: ignore[no-untyped-def]
    """The last two rows of `v` are room for the sums of a few rows"""
    X, n, planes = rows.X, second.shape[0], v.shape[0] - 2
    below, above = v[planes], v[planes + 1]
    whole = room.view(np.int64)[8]
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        own = X[start : start + m]
        sums[11] += _square(own)
        _scores(own, W[0], b[0], room[0])
        if W.shape[0] > 1:
            _scores(own, W[1], b[1], room[1])
        _functions(loss, second, C, alpha, start, m, W.shape[0] > 1, shrink, room, whole, sums)
        below[:] = 0.0
        above[:] = 0.0
        _combine(own, room[2], room[3], below, above)
        for j in range(v.shape[1]):
            if planes > 1:
                v[0, j] -= below[j]
                v[1, j] += above[j]
            else:
                v[0, j] += above[j] - below[j]


@kernel
def _walk_sparse(loss, rows, second, C, W, b, alpha, shrink, room, v, sums):  # type: ignore[no-untyped-def]
    n, last = second.shape[0], v.shape[0] - 1
    whole = room.view(np.int64)[8]
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        squares = 0.0
        for i in range(m):
            squares += square(rows, start + i)
            room[0, i] = dot(rows, start + i, W[0]) + b[0]
            if W.shape[0] > 1:
                room[1, i] = dot(rows, start + i, W[1]) + b[1]
        sums[11] += squares
        _functions(loss, second, C, alpha, start, m, W.shape[0] > 1, shrink, room, whole, sums)
        for i in range(m):
            if room[2, i] != 0.0:
                add(rows, start + i, -room[2, i], v[0])
            if room[3, i] != 0.0:
                add(rows, start + i, room[3, i], v[last])


@inline(shared=True)
def _functions(loss, second, C, alpha, start, m, other, shrink, room, whole, sums):  # type: ignore[no-untyped-def]
    """From scores of a few rows (room[0], and room[1] for slopes proposed at `other` weights) to
    the α of either class (room[2], room[3]) and their sums."""
    z, below, above, phi, u, c, y = room[0], room[2], room[3], room[4], room[5], room[6], room[7]
    power = whole.view(np.float64)
    for i in range(m):
        y[i] = 1.0 if second[start + i] else 0.0
        c[i] = C[0 if C.shape[0] == 1 else start + i]
        z[i] *= 2.0 * y[i] - 1.0
    _values(loss, z, m, phi, u, whole, power)
    charged = squares = slopes = 0.0
    for i in range(m):
        tilt = c[i] * (u[i] + 1.0) if loss == 2 else c[i]
        charged += c[i] * phi[i]
        squares += tilt * tilt
        slopes += tilt
    sums[0] += charged
    sums[1] += squares
    sums[2] += slopes
    given = alpha.shape[0] > 0
    if other and not given:
        z = room[1]
        for i in range(m):
            z[i] *= 2.0 * y[i] - 1.0
        _values(loss, z, m, phi, u, whole, power)
    e0 = e1 = a0 = a1 = bend = long = sizes = totals = 0.0
    for i in range(m):
        a = c[i] * u[i]
        if given:
            a = max(0.0, alpha[start + i])
            a = a if loss == 2 else min(a, c[i])
        if loss == 0 and not given and shrink == 1.0:
            E = c[i] * (phi[i] + z[i] * u[i])
            size = c[i] * (phi[i] + abs(z[i] * u[i]))
        else:
            E, size = _term(loss, shrink * a, c[i])
        if loss == 0:
            bend += a - a * np.divide(a, max(c[i], 1e-300))
        else:
            bend += 2.0 * c[i] if a > 0.0 else 0.0
        above[i] = a * y[i]
        below[i] = a - above[i]
        e1 += E * y[i]
        e0 += E * (1.0 - y[i])
        a1 += above[i]
        a0 += below[i]
        long += a * a
        sizes += size
        totals += abs(E)
    sums[3] += totals
    sums[4] += sizes
    sums[5] += e0
    sums[6] += e1
    sums[7] += a0
    sums[8] += a1
    sums[9] += bend
    sums[10] += long


@inline(shared=True)
def _values(loss, z, m, phi, u, whole, power):  # type: ignore[no-untyped-def]
    """φ(z) and −φ′(z)"""
    if loss == 0:
        for i in range(m):
            u[i] = -abs(z[i])
        exp_of_negative(u[:m], whole, power)
        log_of_one_plus(u[:m], phi)
        for i in range(m):
            phi[i] += max(0.0, -z[i])
            u[i] = np.divide(u[i] if z[i] > 0 else 1.0, 1.0 + u[i])
    else:
        for i in range(m):
            inside = max(0.0, 1.0 - z[i])
            phi[i] = inside if loss == 1 else inside * inside
            u[i] = (1.0 if z[i] < 1.0 else 0.0) if loss == 1 else 2.0 * inside


@inline(shared=True)
def _term(loss, a, c):  # type: ignore[no-untyped-def]
    """E(α), and the size of what rounding may change in it"""
    if loss == 1:
        return a, a
    c = max(c, 1e-300)  # where it is zero, so is α
    if loss == 2:
        return a - a * np.divide(a, 4.0 * c), 2.0 * a
    u = min(1.0, np.divide(a, c))
    E = 0.0
    if 0.0 < u < 1.0:
        E = -c * (u * math.log(u) + (1.0 - u) * math.log1p(-u))
    return E, E + 40.0 * a  # where u is rounded, |H'| is below 40


@inline(shared=True)
def _square(X):  # type: ignore[no-untyped-def]
    """Σ x²"""
    total = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            total += x * x
    return total


@inline(shared=True)
def _scores(X, w, b, s):  # type: ignore[no-untyped-def]
    """sᵢ ← ⟨w, xᵢ⟩ + b, four rows at a time"""
    n, d = X.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        s0 = s1 = s2 = s3 = 0.0
        for j in range(d):
            s0 += X[i, j] * w[j]
            s1 += X[i + 1, j] * w[j]
            s2 += X[i + 2, j] * w[j]
            s3 += X[i + 3, j] * w[j]
        s[i], s[i + 1], s[i + 2], s[i + 3] = s0 + b, s1 + b, s2 + b, s3 + b
    for i in range(whole, n):
        s0 = 0.0
        for j in range(d):
            s0 += X[i, j] * w[j]
        s[i] = s0 + b


@inline(shared=True)
def _combine(X, p, q, u, v):  # type: ignore[no-untyped-def]
    """u ← u + Σ pᵢxᵢ and v ← v + Σ qᵢxᵢ, four rows at a time"""
    n, d = X.shape
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        p0, p1, p2, p3 = p[i], p[i + 1], p[i + 2], p[i + 3]
        q0, q1, q2, q3 = q[i], q[i + 1], q[i + 2], q[i + 3]
        for j in range(d):
            x0, x1, x2, x3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
            u[j] += p0 * x0 + p1 * x1 + p2 * x2 + p3 * x3
            v[j] += q0 * x0 + q1 * x1 + q2 * x2 + q3 * x3
    for i in range(whole, n):
        for j in range(d):
            u[j] += p[i] * X[i, j]
            v[j] += q[i] * X[i, j]
