"""Dual coordinate descent, compiled: visit rows in lanes, then merge the lanes.

A lane walks its share of the rows with its own copy of the weights; afterwards

    w ← w + Δ₁ + Δ₂,        Δₗ = Σ yδx over the rows of lane l.

A lane cannot see how the other one moves the weight of a feature both touch. So in a lane the
change of a *crowded* feature, one that many rows share, counts twice: the lane takes it that the
other one does the same. A feature that few rows share needs no such care. Were all features counted
twice, the dual could only rise, for −Δ₁Δ₂ ≤ (Δ₁² + Δ₂²)/2. The number of lanes belongs to the
method and not to the machine: one thread and two give the same bytes.

With a free intercept the rows are centred on the way, x − μ, where any μ near the mean will do.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import fetch, kernel
from linsep.rows.rows import add, bring, bring_entries, dot, picked, square
from linsep.train.convex.dual.dual_losses import (
    move,
    pulls,
    shrinking_margin,
    slack,
    slack_estimate,
    slope,
    value,
)

Array = npt.NDArray[Any]

# What is known of a row, in one cache line: y, cap U, curvature ‖x − μ‖², shift ⟨x, μ⟩,
# multiplier α, logit of α/U, margin z at the last visit, whether the row may be left out.
# Kernels name both indices: points[i] alone is an array of its own, whose uses are counted, and
# two threads that count at one place wait for each other at every row.
SIGN, CAP, SQUARE, SHIFT, ALPHA, LOGIT, MARGIN, IDLE = range(8)
ROUNDING = 1e-15
CHUNK = 256  # rows of which exponentials are taken together
AHEAD = 8  # visits by which the memory of a row is asked for before it is needed


class Stretched(NamedTuple):
    """Sparse rows of a lane: what they add to the first, crowded features counts twice."""

    data: Array
    indices: Array
    indptr: Array
    crowded: int

    def dot(self, i, w):  # type: ignore[no-untyped-def]
        return picked(self.data, self.indices, self.indptr[i], self.indptr[i + 1], w)

    def add(self, i, a, w):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            j = self.indices[e]
            w[j] += a * self.data[e] * (1.0 + (j < self.crowded))  # a branch takes thrice as long

    def square(self, i):  # type: ignore[no-untyped-def]
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * self.data[e] * (1.0 + (self.indices[e] < self.crowded))
        return s

    def bring(self, i):  # type: ignore[no-untyped-def]
        bring_entries(self.data, self.indices, self.indptr[i], self.indptr[i + 1])


class Centred(NamedTuple):
    """Dense rows, centred as they are read."""

    X: Array
    centre: Array

    def dot(self, i, w):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(self.X.shape[1]):
            s += (self.X[i, j] - self.centre[j]) * w[j]
        return s

    def add(self, i, a, w):  # type: ignore[no-untyped-def]
        for j in range(self.X.shape[1]):
            w[j] += a * (self.X[i, j] - self.centre[j])

    def square(self, i):  # type: ignore[no-untyped-def]
        s = 0.0
        for j in range(self.X.shape[1]):
            x = self.X[i, j] - self.centre[j]
            s += x * x
        return s

    def bring(self, i):  # type: ignore[no-untyped-def]
        first = np.int64(i) * self.X.shape[1]
        for place in range(first, first + self.X.shape[1], 64 // self.X.itemsize):
            fetch(self.X, place)


class Lane(NamedTuple):
    """How a lane starts: ⟨μ, w⟩, b, ⟨μ, μ⟩, how hard a multiplier pulls at b, how far margins
    move between visits at least, and how many neighbouring rows are visited in one go."""

    level: float
    b: float
    spread: float
    pull: float
    reach: float
    block: int


@kernel
def sweep(loss, rows, points, active, places, blocks, w, lane):  # type: ignore[no-untyped-def]
    """Visit the listed rows block by block and move each multiplier to its best place given w.

    Returns Σ yδ, the slack met, the change of margins since the last visits, the visits.
    """
    level, b = lane.level, lane.b
    total = 0.0
    gap = 0.0
    drift = 0.0
    visits = 0
    last = blocks.shape[0] - 1
    ahead = max(1, AHEAD // lane.block)
    for q in range(blocks.shape[0]):
        start = lane.block * np.int64(blocks[q])
        later = lane.block * np.int64(blocks[min(q + ahead, last)]) - start
        for k in range(start, min(start + lane.block, active.shape[0])):
            if lane.block > 1:  # few rows, visited one by one, are near anyway
                soon = min(k + later, active.shape[0] - 1)
                bring(rows, places[soon])
                fetch(points, 8 * np.int64(active[soon]))
            i = active[k]
            y, U, a, logit = points[i, SIGN], points[i, CAP], points[i, ALPHA], points[i, LOGIT]
            shift = points[i, SHIFT]
            s = dot(rows, places[k], w) - level + total * (lane.spread - shift)
            z = y * (s + b)  # y(⟨w, x − μ⟩ + b)
            gap += slack_estimate(loss, a, logit, z, U)
            drift += abs(z - points[i, MARGIN])
            visits += 1
            new, logit = move(loss, a, logit, z, points[i, SQUARE], U)
            points[i, LOGIT] = logit
            points[i, MARGIN] = z
            points[i, IDLE] = shrinking_margin(loss, new, z, U) > max(lane.reach, drift / visits)
            if new != a:
                points[i, ALPHA] = new
                d = y * (new - a)
                add(rows, places[k], d, w)  # w ← w + yδx
                total += d
                level += d * shift
                b += d * lane.pull
    return total, gap, drift, visits


@kernel
def merge(w, first, second, crowded):  # type: ignore[no-untyped-def]
    """w ← w + Δ₁ + Δ₂, given back to both lanes; crowded features were counted twice."""
    for j in range(crowded):
        first[j] = second[j] = w[j] = 0.5 * (first[j] + second[j])
    for j in range(crowded, w.shape[0]):
        first[j] = second[j] = w[j] = first[j] + second[j] - w[j]


@kernel
def measure(rows, points, active, places, centre, lane, start, stop):  # type: ignore[no-untyped-def]
    """Set ‖x − μ‖² and ⟨x, μ⟩ of listed rows; the pull of the intercept adds to the curvature."""
    for k in range(start, stop):
        i = active[k]
        if centre.shape[0]:
            points[i, SHIFT] = dot(rows, places[k], centre)
        q = square(rows, places[k])
        least = ROUNDING * (q + lane.spread)  # what is smaller is lost in the difference
        points[i, SQUARE] = max(q - 2.0 * points[i, SHIFT] + lane.spread, least) + lane.pull


@kernel
def score(rows, w, level, scores, start, stop):  # type: ignore[no-untyped-def]
    """⟨w, x − μ⟩ for a run of rows."""
    for i in range(start, stop):
        scores[i] = dot(rows, i, w) - level


@kernel
def score_chosen(rows, chosen, w, level, scores, start, stop):  # type: ignore[no-untyped-def]
    """⟨w, x − μ⟩ for a run of chosen rows."""
    for k in range(start, stop):
        scores[k] = dot(rows, chosen[k], w) - level


@kernel
def weigh(loss, points, scores, b, start, stop):  # type: ignore[no-untyped-def]
    """Set the margins of a run of rows; returns its Σ Uℓ(z) and its part of the gap, Σ slack."""
    total_loss = 0.0
    gap = 0.0
    for i in range(start, stop):
        U = points[i, CAP]
        if U > 0.0:
            z = points[i, SIGN] * (scores[i] + b)
            points[i, MARGIN] = z
            total_loss += value(loss, z, U)
            gap += slack(loss, points[i, ALPHA], points[i, LOGIT], z, U)
    return total_loss, gap


@kernel
def tilt(loss, points, scores, b):  # type: ignore[no-untyped-def]
    """The derivative in b of Σ Uℓ(y(s + b))."""
    total = 0.0
    for i in range(scores.shape[0]):
        y, U = points[i, SIGN], points[i, CAP]
        if U > 0.0:
            total += y * slope(loss, y * (scores[i] + b), U)
    return total


@kernel
def best_intercept(loss, points, scores, b, enough):  # type: ignore[no-untyped-def]
    """The b at which the derivative of a smooth Σ Uℓ(y(s + b)) is zero, by Newton's steps between
    the last b of either sign; the first b where one class has all the weight. A step of Newton's
    not longer than `enough` is the last."""
    first, low, high = b, -np.inf, np.inf
    z, U, a, bends = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    whole = np.empty(CHUNK, np.int64)
    for _ in range(200):
        total = bent = 0.0
        for start in range(0, scores.shape[0], CHUNK):
            m = min(CHUNK, scores.shape[0] - start)
            for i in range(m):
                z[i] = points[start + i, SIGN] * (scores[start + i] + b)
                U[i] = points[start + i, CAP]
            pulls(loss, z[:m], U[:m], a[:m], bends[:m], whole)
            for i in range(m):
                total -= points[start + i, SIGN] * a[i]
                bent += bends[i]
        if total == 0.0:
            return b
        if total > 0.0:
            high = b
        else:
            low = b
        most = 4.0 * (1.0 + abs(b))
        step = -total / bent if bent > 0.0 else -total * np.inf
        to = b + min(most, max(-most, step))
        if not low < to < high:
            to = 0.5 * (low + high)
        elif abs(step) <= enough:
            return to
        if abs(to - b) <= 1e-9 * (1.0 + abs(b)):
            return to
        if abs(to) > 1e100:
            return first
        b = to
    return b


@kernel
def heavier(points, excess, inside, chosen):  # type: ignore[no-untyped-def]
    """List the rows with α > 0 on the side that `excess` has the sign of, with `inside` those
    alone whose α is below its cap; returns how many there are."""
    count = 0
    for i in range(points.shape[0]):
        a = points[i, ALPHA]
        chosen[count] = i
        count += points[i, SIGN] * excess > 0.0 and a > 0.0 and (not inside or a < points[i, CAP])
    return count


@kernel
def inside(points, active, unbounded, chosen):  # type: ignore[no-untyped-def]
    """List the active rows whose α is at no bound, of which `unbounded` leaves out the upper one;
    returns how many there are."""
    count = 0
    for i in active:
        a = points[i, ALPHA]
        chosen[count] = i
        count += a > 0.0 and (unbounded or a < points[i, CAP])
    return count


@kernel
def add_rows(rows, chosen, deltas, w):  # type: ignore[no-untyped-def]
    """w ← w + Σ δx over the listed rows."""
    for k in range(chosen.shape[0]):
        add(rows, chosen[k], deltas[k], w)


@kernel
def renumber(indices, numbers, renumbered, start, stop):  # type: ignore[no-untyped-def]
    """Give features their new numbers."""
    for e in range(start, stop):
        renumbered[e] = numbers[indices[e]]


@kernel
def feature_moments(rows, chosen, squares, sums):  # type: ignore[no-untyped-def]
    """Σ x² and Σ x of each feature over the listed sparse rows."""
    for i in chosen:
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            squares[rows.indices[e]] += rows.data[e] * rows.data[e]
            sums[rows.indices[e]] += rows.data[e]


@kernel
def inner(u, v):  # type: ignore[no-untyped-def]
    """⟨u, v⟩, by one thread whatever the linear algebra library would do."""
    total = 0.0
    for j in range(u.shape[0]):
        total += u[j] * v[j]
    return total
