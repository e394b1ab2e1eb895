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

import numpy.typing as npt

from linsep._compile import kernel
from linsep.rows.rows import add, dot, square
from linsep.train.dual_losses import charge, move, promise, rest, slack, slope

Array = npt.NDArray[Any]

# What is known of a row, in one cache line: y, cap U, curvature ‖x − μ‖², shift ⟨x, μ⟩,
# multiplier α, turn (logit of α/U), margin z at the last visit, whether the row may be left out.
SIGN, CAP, SQUARE, SHIFT, ALPHA, TURN, MARGIN, IDLE = range(8)
ROUNDING = 1e-15


class Stretched(NamedTuple):
    """Sparse rows of a lane: what they add to the first, crowded features counts twice."""

    data: Array
    indices: Array
    indptr: Array
    crowded: int

    def dot(self, i, w):  # type: ignore[no-untyped-def]
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * w[self.indices[e]]
        return s

    def add(self, i, a, w):  # type: ignore[no-untyped-def]
        for e in range(self.indptr[i], self.indptr[i + 1]):
            j = self.indices[e]
            w[j] += a * self.data[e] * (1.0 + (j < self.crowded))  # a branch takes thrice as long

    def square(self, i):  # type: ignore[no-untyped-def]
        s = 0.0
        for e in range(self.indptr[i], self.indptr[i + 1]):
            s += self.data[e] * self.data[e] * (1.0 + (self.indices[e] < self.crowded))
        return s


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
def sweep(loss, rows, points, listing, places, blocks, w, lane):  # type: ignore[no-untyped-def]
    """Visit the listed rows block by block and move each multiplier to its best place given w.

    Returns Σ yδ, the slack met, the change of margins since the last visits, the visits.
    """
    level, b = lane.level, lane.b
    total = 0.0
    gap = 0.0
    drift = 0.0
    visits = 0
    for block in blocks:
        start = lane.block * block
        for k in range(start, min(start + lane.block, listing.shape[0])):
            p = points[listing[k]]
            y, U, a, turn = p[SIGN], p[CAP], p[ALPHA], p[TURN]
            s = dot(rows, places[k], w) - level + total * (lane.spread - p[SHIFT])
            z = y * (s + b)  # y(⟨w, x − μ⟩ + b)
            gap += promise(loss, a, turn, z, U)
            drift += abs(z - p[MARGIN])
            visits += 1
            new, turn = move(loss, a, turn, z, p[SQUARE], U)
            p[TURN] = turn
            p[MARGIN] = z
            p[IDLE] = rest(loss, new, z, U) > max(lane.reach, drift / visits)
            if new != a:
                p[ALPHA] = new
                d = y * (new - a)
                add(rows, places[k], d, w)  # w ← w + yδx
                total += d
                level += d * p[SHIFT]
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
def measure(rows, points, listing, places, centre, lane, start, stop):  # type: ignore[no-untyped-def]
    """Set ‖x − μ‖² and ⟨x, μ⟩ of listed rows; the pull of the intercept adds to the curvature."""
    for k in range(start, stop):
        p = points[listing[k]]
        if centre.shape[0]:
            p[SHIFT] = dot(rows, places[k], centre)
        q = square(rows, places[k])
        least = ROUNDING * (q + lane.spread)  # what is smaller is lost in the difference
        p[SQUARE] = max(q - 2.0 * p[SHIFT] + lane.spread, least) + lane.pull


@kernel
def score(rows, w, level, scores, start, stop):  # type: ignore[no-untyped-def]
    """⟨w, x − μ⟩ for a run of rows."""
    for i in range(start, stop):
        scores[i] = dot(rows, i, w) - level


@kernel
def weigh(loss, points, scores, b, start, stop):  # type: ignore[no-untyped-def]
    """Set the margins of a run of rows; returns its Σ Uℓ(z) and its part of the gap, Σ slack."""
    charged = 0.0
    gap = 0.0
    for i in range(start, stop):
        p = points[i]
        if p[CAP] > 0.0:
            z = p[SIGN] * (scores[i] + b)
            p[MARGIN] = z
            charged += charge(loss, z, p[CAP])
            gap += slack(loss, p[ALPHA], p[TURN], z, p[CAP])
    return charged, gap


@kernel
def tilt(loss, points, scores, b):  # type: ignore[no-untyped-def]
    """The derivative in b of Σ Uℓ(y(s + b))."""
    total = 0.0
    for i in range(scores.shape[0]):
        p = points[i]
        if p[CAP] > 0.0:
            total += p[SIGN] * slope(loss, p[SIGN] * (scores[i] + b), p[CAP])
    return total


@kernel
def add_rows(rows, listing, deltas, w):  # type: ignore[no-untyped-def]
    """w ← w + Σ δx over the listed rows."""
    for k in range(listing.shape[0]):
        add(rows, listing[k], deltas[k], w)


@kernel
def renumber(indices, numbers, renumbered, start, stop):  # type: ignore[no-untyped-def]
    """Give features their new numbers."""
    for e in range(start, stop):
        renumbered[e] = numbers[indices[e]]


@kernel
def crowds(rows, listing, squares, sums):  # type: ignore[no-untyped-def]
    """Σ x² and Σ x of each feature over the listed sparse rows."""
    for i in listing:
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
