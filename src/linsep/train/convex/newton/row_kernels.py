"""Products with dense or sparse rows, and with their losses, row by row in compiled code."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.train.convex.losses import curvature, dual, several, slope, value
from linsep.train.convex.newton.row_layouts import add, add_squares, dot

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

TOGETHER = 1024  # rows whose losses are computed while they are in the cache


@kernel
def scores(rows, y, u, z):  # type: ignore[no-untyped-def]
    b = u[u.shape[0] - 1]
    for i in range(z.shape[0]):
        s = dot(rows, i, u) + b
        z[i] = s if y[i] > 0 else -s


@kernel
def losses(smooth, loss, z, y, caps, alpha, D, sums):  # type: ignore[no-untyped-def]
    """α = −Uφ′ and D = Uφ″ of each row; the sums of `LossSums`, in its order"""
    rounded = total = plus = minus = tail = upper = lower = 0.0
    curved = 0
    for i in range(z.shape[0]):
        U = caps[0 if caps.shape[0] == 1 else i]
        s = -slope(smooth, z[i])
        a = U * s
        alpha[i] = a
        D[i] = U * curvature(smooth, z[i])
        curved += 1 if D[i] != 0.0 else 0
        rounded += U * value(smooth, z[i])
        total += U * value(loss, z[i])
        tail += a * z[i]
        plus += a if y[i] > 0 else 0.0
        minus += 0.0 if y[i] > 0 else a
        E = U * dual(loss, s)
        upper += E if y[i] > 0 else 0.0
        lower += 0.0 if y[i] > 0 else E
    sums[0], sums[1], sums[2], sums[3] = rounded, total, plus, minus
    sums[4], sums[5], sums[6], sums[7] = upper, lower, tail, np.float64(curved)


@kernel
def logistic_losses(loss, z, y, caps, alpha, D, sums):  # type: ignore[no-untyped-def]
    """The same for the logistic loss, vectors of rows at a time; −ℓ*(−s) = ℓ(z) + sz, s = −ℓ′(z)"""
    values, whole = np.empty(TOGETHER), np.empty(TOGETHER, np.int64)
    total = plus = minus = tail = upper = lower = 0.0
    curved = 0
    for start in range(0, z.shape[0], TOGETHER):
        m = min(TOGETHER, z.shape[0] - start)
        some = slice(start, start + m)
        several(loss, z[some], values[:m], alpha[some], D[some], whole[:m])
        for k in range(m):
            i = start + k
            U = caps[0 if caps.shape[0] == 1 else i]
            a, v = U * alpha[i], U * values[k]
            alpha[i] = a
            D[i] *= U
            curved += 1 if D[i] != 0.0 else 0
            total += v
            tail += a * z[i]
            E = max(0.0, v + a * z[i])
            if y[i] > 0:
                plus += a
                upper += E
            else:
                minus += a
                lower += E
    sums[0], sums[1], sums[2], sums[3] = total, total, plus, minus
    sums[4], sums[5], sums[6], sums[7] = upper, lower, tail, np.float64(curved)


@kernel
def shrunk(smooth, loss, z, y, caps, shrink, out):  # type: ignore[no-untyped-def]
    """−Σ Uℓ*(−rα/U), class by class"""
    plus = minus = 0.0
    for i in range(z.shape[0]):
        U = caps[0 if caps.shape[0] == 1 else i]
        s = -slope(smooth, z[i])
        if y[i] > 0:
            plus += U * dual(loss, shrink[0] * s)
        else:
            minus += U * dual(loss, shrink[1] * s)
    out[0] += plus
    out[1] += minus


@kernel
def along(loss, z, turned, sizes, caps, out):  # type: ignore[no-untyped-def]
    """Σ Uφ(z + t·turned) for each size t"""
    for k in range(sizes.shape[0]):
        total = 0.0
        for i in range(z.shape[0]):
            U = caps[0 if caps.shape[0] == 1 else i]
            total += U * value(loss, z[i] + sizes[k] * turned[i])
        out[k] += total


@kernel
def pull(rows, a, signs, out):  # type: ignore[no-untyped-def]
    """Σ aᵢyᵢx̃ᵢ over the rows of either class, +1 first"""
    plus = minus = 0.0
    for i in range(a.shape[0]):
        if a[i] == 0.0:
            continue
        if signs[i] > 0:
            add(rows, i, a[i], out[0])
            plus += a[i]
        else:
            add(rows, i, -a[i], out[1])
            minus -= a[i]
    out[0, out.shape[1] - 1] += plus
    out[1, out.shape[1] - 1] += minus


@kernel
def curve(rows, D, p, out):  # type: ignore[no-untyped-def]
    b, total = p[p.shape[0] - 1], 0.0
    for i in range(D.shape[0]):
        if D[i] != 0.0:
            a = D[i] * (dot(rows, i, p) + b)
            add(rows, i, a, out)
            total += a
    out[out.shape[0] - 1] += total


@kernel
def squares(rows, D, out):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(D.shape[0]):
        if D[i] != 0.0:
            add_squares(rows, i, D[i], out)
            total += D[i]
    out[out.shape[0] - 1] += total


@kernel
def weigh(X, D, B):  # type: ignore[no-untyped-def]
    """√Dᵢ (xᵢ, 1), so that BᵀB is the sum of their products"""
    n, d = X.shape
    for i in range(n):
        root = np.sqrt(D[i])
        for j in range(d):
            B[i, j] = root * X[i, j]
        B[i, d] = root
