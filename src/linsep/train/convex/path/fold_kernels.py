"""Dual coordinate descent for several folds at once, compiled: one visit to a row serves them all.

The weights of four folds lie side by side, feature by feature, so that an entry of a sparse row
costs one vector load whatever the fold. A row is left alone by the fold that leaves it out.
"""

import math

import numpy as np

from linsep._compile import inline, kernel, weighted_add, weighted_sum
from linsep.train.convex.dual.dual_losses import move, slack, slack_estimate, value

LANES = 4
SIGN, SQUARE, SHIFT = range(3)  # what is known of a row: y, ‖x − μ‖², ⟨x, μ⟩
LEVEL, BIAS, TOTAL, MET = range(4)  # and of a fold: ⟨μ, w⟩, b, Σ yδ so far, the slack met


@kernel
def sweep(loss, rows, points, home, first, alpha, logits, blocks, block, W, lanes, U, spread, pull):  # type: ignore[no-untyped-def]
    """Visit all rows block by block; each fold moves its multiplier to its best place.

    See `linsep.train.convex.dual.kernels.sweep`; fold `first` has the first lane.
    """
    s = np.empty(LANES)
    step = np.zeros(LANES)
    count = alpha.shape[1]
    for number in blocks:
        start = number * block
        for i in range(start, min(start + block, points.shape[0])):
            p = points[i]
            begin, end = np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1])
            weighted_sum(rows.data, rows.indices, begin, end, W, 0, 4, s)
            moved = False
            for k in range(count):
                step[k] = 0.0
                if home[i] == first + k:
                    continue
                at = lanes[k]
                a, t = alpha[i, k], logits[i, k]
                z = s[k] - at[LEVEL] + at[TOTAL] * (spread - p[SHIFT])
                z = p[SIGN] * (z + at[BIAS])  # y(⟨w, x − μ⟩ + b)
                at[MET] += slack_estimate(loss, a, t, z, U)
                new, t = move(loss, a, t, z, p[SQUARE] + pull, U)
                logits[i, k] = t
                if new != a:
                    alpha[i, k] = new
                    d = p[SIGN] * (new - a)
                    step[k] = d
                    at[TOTAL] += d
                    at[LEVEL] += d * p[SHIFT]
                    at[BIAS] += d * pull
                    moved = True
            if moved:
                weighted_add(rows.data, rows.indices, begin, end, W, 0, 4, step)  # w ← w + yδx


@kernel
def score(rows, W, lanes, scores):  # type: ignore[no-untyped-def]
    """⟨w, x − μ⟩ of every row and fold."""
    s = np.empty(LANES)
    for i in range(scores.shape[0]):
        begin, end = np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1])
        weighted_sum(rows.data, rows.indices, begin, end, W, 0, 4, s)
        for k in range(scores.shape[1]):
            scores[i, k] = s[k] - lanes[k, LEVEL]


@kernel
def weigh(loss, points, home, first, alpha, logits, scores, lanes, U, out):  # type: ignore[no-untyped-def]
    """Σ Uℓ(z) and Σ slack of every fold into `out`."""
    out[:] = 0.0
    for i in range(points.shape[0]):
        for k in range(alpha.shape[1]):
            if home[i] != first + k:
                z = points[i, SIGN] * (scores[i, k] + lanes[k, BIAS])
                out[k, 0] += value(loss, z, U)
                out[k, 1] += slack(loss, alpha[i, k], logits[i, k], z, U)


@kernel
def best_intercept(points, home, fold, scores, k, b):  # type: ignore[no-untyped-def]
    """The b that makes Σ log(1 + e^{−z}) of a fold smallest, by Newton's method in a bracket."""
    low, high = -math.inf, math.inf
    for _ in range(60):
        slope = 0.0
        curvature = 0.0
        for i in range(points.shape[0]):
            if home[i] != fold:
                y = points[i, SIGN]
                q = 1.0 / (1.0 + math.exp(y * (scores[i, k] + b)))
                slope -= y * q
                curvature += q * (1.0 - q)
        if slope == 0.0:
            return b
        if slope > 0.0:
            high = b
        else:
            low = b
        step = slope / curvature if curvature > 0.0 else math.copysign(1.0, slope)
        step = min(max(step, -2.0), 2.0)
        if abs(step) <= 1e-12 * (1.0 + abs(b)):
            return b - step
        b -= step
        if b <= low or b >= high:
            b = 0.5 * (low + high)
    return b


@kernel
def balance(rows, points, alpha, logits, k, U, W, centre, lanes):  # type: ignore[no-untyped-def]
    """Make Σ αy of a fold zero by taking a little off some multipliers of the heavier side."""
    n = points.shape[0]
    excess = 0.0
    for i in range(n):
        excess += points[i, SIGN] * alpha[i, k]
    count = 0
    for i in range(n):
        count += points[i, SIGN] * excess > 0.0 and alpha[i, k] > 0.0
    if count == 0 or excess == 0.0:
        return
    stride = max(1, count // 512)
    for attempt in range(2):
        total = 0.0
        seen = 0
        for i in range(n):
            if points[i, SIGN] * excess > 0.0 and alpha[i, k] > 0.0:
                total += alpha[i, k] if seen % stride == 0 else 0.0
                seen += 1
        if total >= 2.0 * abs(excess) or attempt == 1:
            break
        stride = 1
    part = min(1.0, abs(excess) / total)
    seen = 0
    moved = 0.0
    for i in range(n):
        if points[i, SIGN] * excess > 0.0 and alpha[i, k] > 0.0:
            if seen % stride == 0:
                a = alpha[i, k]
                new = (1.0 - part) * a
                alpha[i, k] = new
                logits[i, k] = logit(new, U)
                d = points[i, SIGN] * (new - a)
                moved += d
                for e in range(rows.indptr[i], rows.indptr[i + 1]):
                    W[rows.indices[e], k] += d * rows.data[e]
            seen += 1
    recentre(W, k, centre, moved, lanes)


@inline(shared=True)
def logit(a, U):  # type: ignore[no-untyped-def]
    """The logit of α/U, kept off the ends where it would be infinite."""
    share = min(max(a / U, 1e-300), 1.0 - 1e-16)
    return math.log(share) - math.log1p(-share)


@inline(shared=True)
def recentre(W, k, centre, total, lanes):  # type: ignore[no-untyped-def]
    """w ← w − total·μ, and ⟨μ, w⟩ anew."""
    level = 0.0
    for j in range(centre.shape[0]):
        W[j, k] -= total * centre[j]
        level += W[j, k] * centre[j]
    lanes[k, LEVEL] = level


@kernel
def stretch(points, home, fold, alpha, logits, k, U, W, lanes):  # type: ignore[no-untyped-def]
    """α ← tα with the t that lifts the dual most, judged by some of the rows; returns ‖w‖².

    d/dt D(tα) = −t‖w‖² − Σ α logit(tα/U) falls with t.
    """
    n = points.shape[0]
    stride = max(1, n // 4096)
    square = 0.0
    for j in range(W.shape[0]):
        square += W[j, k] * W[j, k]
    largest = 0.0
    for i in range(n):
        largest = max(largest, alpha[i, k])
    if largest == 0.0 or square == 0.0:
        return square
    low, high = 0.0, U / largest
    t = min(1.0, 0.5 * high)
    for _ in range(40):
        slope = 0.0
        for i in range(0, n, stride):
            a = alpha[i, k]
            if a > 0.0:
                slope -= a * (math.log(t * a) - math.log(U - t * a))
        slope = stride * slope - t * square
        if slope > 0.0:
            low = t
            t = min(2.0 * t, 0.5 * (t + high))
        else:
            high = t
            t = 0.5 * (low + high)
        if high - low <= 0.02 * low:
            break
    for i in range(n):
        if home[i] != fold:
            alpha[i, k] = min(max(t * alpha[i, k], 1e-12 * U), (1.0 - 1e-12) * U)
            logits[i, k] = logit(alpha[i, k], U)
    for j in range(W.shape[0]):
        W[j, k] *= t
    lanes[k, LEVEL] *= t
    lanes[k, BIAS] *= t
    return t * t * square
