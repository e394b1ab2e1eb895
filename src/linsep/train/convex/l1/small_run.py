"""A whole run of proximal Newton steps in one compiled call, for few dense rows and columns.

    P(w, b) = l1 ‖w‖₁ + Σ Uᵢ log(1 + exp(−zᵢ)),   zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

The steps are those of `linsep.train.convex.l1.prox_newton` with all columns in the working set. At
the minimum of the model the multipliers α̂ = α − D∘dz have Σ α̂yx = Σ αyx − Hs: a point of the dual
whose slopes need no walk over the rows. Whatever α and u are, E(α) ≤ Σ Uℓ(z) + ⟨u, Σ αyx⟩: sums
over the features tell most of the points that leave the gap open, before any logarithm is taken. A
gap that α̂ closes at u ends the run there, the step not made. Where columns are far from one scale,
and sweeps over the coordinates slow, the model is minimised on the face of the coordinates that are
not zero.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep.train.convex.losses import Logistic, dual
from linsep.train.convex.newton.full_sums import add_margins
from linsep.train.convex.newton.newton_run import CompiledRun
from linsep.train.convex.newton.row_layouts import GROUP, VECTOR, gather
from linsep.train.convex.newton.row_terms import SUMS, add_logistic, chunk

Floats = npt.NDArray[np.float64]

CLOSED, STUCK, MORE = 0, 1, 2
"""How a run ends: the gap is closed, no step succeeds, steps are left."""
FINE = 1e-5  # relative gaps below are followed by one more step
PATIENCE = 12  # steps that may fail to halve the gap and what a step promises
SWEEPS = 40  # over all coordinates, for one step
CYCLES = 10  # over those with a weight, for each over all
FLAT = 1e-9  # least curvature, of a unit diagonal: columns may add up to a constant
U, STEP, SLOPE, PRODUCT, BEST, BEND, SCALE, FACE = 0, 1, 2, 3, 4, 5, 6, 7
DZ, FORETOLD, HIGHEST = 6, 7, 8  # of what is kept for each row, after twice z, α and D


class SmallRun(CompiledRun):
    """A problem, where its run is, and the room that it needs.

    Parameters
    ----------
    rows : as of `linsep.train.convex.newton.full_sums`
    y, caps : −1.0 or 1.0, and Uᵢ, for each row
    free : whether b is free
    l1 : weight of ‖w‖₁
    """

    _best = BEST

    def __init__(self, rows: Any, y: Floats, caps: Floats, free: bool, l1: float) -> None:
        n, size = len(y), rows.X.shape[1] + 1
        width = -(-(size + 1) // VECTOR) * VECTOR
        self._given = (rows, y, caps, free, l1)
        self.features = np.zeros((8, size))
        self.per_row = np.empty((9, n))
        self.per_row[DZ:] = 0.0
        self._room = np.empty((2, size)), np.empty((3 * size + 3 + GROUP, width)), chunk()[0]
        self._state = np.array([np.inf, 0.0, 0.0, -1.0, np.inf, 0.0])
        self._sums = np.empty(2 * SUMS)

    def go(self, tol: float, most: int, rough: float = 0.0) -> int:
        """At most so many steps from u on, until the gap is closed or one promised less than the
        part `rough` of P; and one more where digits are asked for, as weights lag behind the bound
        that is foretold."""
        room = self.features, self.per_row, *self._room, self._sums, self._state
        ending = int(_run(*self._given, tol, rough, most, *room))
        if ending == CLOSED and tol <= FINE:
            _run(*self._given, 1e-3 * tol, 0.0, 1, *room)
        return ending


@inline(shared=True)
def _size(u):  # type: ignore[no-untyped-def]
    """‖w‖₁, b last in u"""
    total = 0.0
    for j in range(u.shape[0] - 1):
        total += abs(u[j])
    return total


@inline(shared=True)
def _bound(alpha, y, caps, r, s, least, out):  # type: ignore[no-untyped-def]
    """E of α, those of either class times r and s; kept where that is more than `least`"""
    total = 0.0
    for i in range(y.shape[0]):
        if caps[i] > 0.0:
            share = alpha[i] * (r if y[i] > 0 else s)
            total += caps[i] * dual(Logistic(1.0), np.divide(share, caps[i]))
    if total > least:
        for i in range(y.shape[0]):
            out[i] = alpha[i] * (r if y[i] > 0 else s)
        return total
    return least


@inline(shared=True)
def _inside(v, r, s, l1, hair):  # type: ignore[no-untyped-def]
    """The share of multipliers at which no slope exceeds l1, and a hair less"""
    largest = 0.0
    for j in range(v.shape[1] - 1):
        largest = max(largest, abs(r * v[0, j] + s * v[1, j]))
    return (np.divide(l1, largest) if largest > l1 else 1.0) * (1.0 - hair)


@inline(shared=True)
def _lack(u, v, r, s, l1):  # type: ignore[no-untyped-def]
    """l1 ‖w‖₁ − ⟨w, Σ αyx⟩: at least so far is E of balanced α below P at u"""
    total = 0.0
    for j in range(u.shape[0] - 1):
        total += l1 * abs(u[j]) - u[j] * (r * v[0, j] + s * v[1, j])
    return total


@inline
def _foretell(alpha, D, dz, caps, out):  # type: ignore[no-untyped-def]
    """out ← α − D·dz, brought within their bounds; whether all were within them"""
    inside = True
    for i in range(alpha.shape[0]):
        a = alpha[i] - D[i] * dz[i]
        out[i] = min(max(a, 0.0), caps[i])
        inside &= out[i] == a
    return inside


@inline
def _slopes(X, y, alpha, free, v):  # type: ignore[no-untyped-def]
    """v ← Σ αyx of either class; the parts of the classes at which they have the same weight"""
    v[:] = 0.0
    above = below = 0.0
    for i in range(y.shape[0]):
        k, a = 0 if y[i] > 0 else 1, y[i] * alpha[i]
        above += max(a, 0.0)
        below -= min(a, 0.0)
        for j in range(X.shape[1]):
            v[k, j] += a * X[i, j]
    if not free or above == below:
        return 1.0, 1.0
    if above > below:
        return np.divide(below, above), 1.0
    return 1.0, np.divide(above, below)


@inline(shared=True)
def _to(at, slope, curvature, l1):  # type: ignore[no-untyped-def]
    """Where a coordinate has its minimum; the corner holds it at zero"""
    to = at - np.divide(slope, curvature)
    far = abs(to) - np.divide(l1, curvature)
    return np.copysign(far, to) if far > 0.0 else 0.0


@inline(shared=True)
def _sweep(M, g, w, l1, everywhere, change, product):  # type: ignore[no-untyped-def]
    """Each coordinate to its minimum in turn; the largest slope that was met"""
    d, worst = g.shape[0] - 1, 0.0
    for j in range(d):
        at = w[j] + change[j]
        bend = M[j, j]
        if bend <= 0.0 or (at == 0.0 and not everywhere):
            continue
        step = _to(at, g[j] + product[j], bend, l1) - at
        if step != 0.0:
            change[j] = -w[j] if at + step == 0.0 else change[j] + step
            for k in range(d):
                product[k] += step * M[j, k]
            worst = max(worst, abs(step) * bend)
    return worst


@inline(shared=True)
def _on_face(M, g, w, l1, change, product, L, scale, x):  # type: ignore[no-untyped-def]
    """The minimum over the coordinates that are not zero, or as far that way as signs allow.

    Returns whether none came to zero on the way.
    """
    d = g.shape[0] - 1
    for j in range(d):
        on = w[j] + change[j] != 0.0
        scale[j] = np.divide(1.0, np.sqrt(M[j, j])) if on and M[j, j] > 0.0 else 0.0
    for j in range(d):  # the factor of the matrix with a unit diagonal, and ones for the others
        for k in range(j):
            s = M[j, k] * scale[j] * scale[k]
            for m in range(k):
                s -= L[j, m] * L[k, m]
            L[j, k] = np.divide(s, L[k, k])
        s = 1.0 + FLAT
        for m in range(j):
            s -= L[j, m] * L[j, m]
        L[j, j] = np.sqrt(max(s, FLAT))
    for j in range(d):
        s = 0.0
        if scale[j] > 0.0:
            s = -scale[j] * (g[j] + product[j] + np.copysign(l1, w[j] + change[j]))
        for m in range(j):
            s -= L[j, m] * x[m]
        x[j] = np.divide(s, L[j, j])
    for back in range(d):
        j = d - 1 - back
        x[j] = np.divide(x[j], L[j, j])
        for m in range(j):
            x[m] -= x[j] * L[j, m]
    t, first = 1.0, -1
    for j in range(d):
        x[j] *= scale[j]
        at = w[j] + change[j]
        if scale[j] > 0.0 and at * (at + t * x[j]) <= 0.0:
            t, first = np.divide(-at, x[j]), j
    for j in range(d):
        change[j] += t * x[j]
    if first >= 0:
        change[first] = -w[first]
    for j in range(d):
        product[j] = 0.0
        for k in range(d):
            product[j] += M[j, k] * change[k]
    return first < 0


@inline
def _minimise(M, g, w, l1, accuracy, change, product, L, scale, x):  # type: ignore[no-untyped-def]
    """⟨g, d⟩ + ½⟨d, Md⟩ + l1 ‖w + d‖₁ to slopes within `accuracy`"""
    d = g.shape[0] - 1
    for j in range(d):
        change[j] = product[j] = 0.0
    for sweep in range(SWEEPS):
        if _sweep(M, g, w, l1, True, change, product) <= accuracy:
            return
        for _ in range(CYCLES):
            if _sweep(M, g, w, l1, False, change, product) <= 0.3 * accuracy:
                break
        else:
            if sweep > 0:
                for _ in range(d):
                    if _on_face(M, g, w, l1, change, product, L, scale, x):
                        break


@inline
def _model(H, free, v, g, M, d):  # type: ignore[no-untyped-def]
    """Slopes g and matrix M with b at its best place, whose direction is taken out of H"""
    h0 = H[d, d] if free else 0.0
    slope = -(v[0, d] + v[1, d])
    for j in range(d):
        g[j] = -(v[0, j] + v[1, j])
        if h0 > 0.0:
            g[j] -= np.divide(slope * H[d, j], h0)
        for k in range(j + 1):
            x = H[j, k]
            if h0 > 0.0:
                x -= np.divide(H[d, j] * H[d, k], h0)
            M[j, k] = M[k, j] = x


@inline
def _after(H, v, step, free, out):  # type: ignore[no-untyped-def]
    """out ← Σ αyx − Hs, the slopes of the multipliers that a whole step foretells"""
    d = step.shape[0] - 1
    for j in range(d):
        s = v[0, j] + v[1, j]
        for k in range(d):
            s -= (H[j, k] if k <= j else H[k, j]) * step[k]
        out[0, j] = s - H[d, j] * step[d]
        out[1, j] = 0.0


@kernel
def _run(  # type: ignore[no-untyped-def]
    rows, y, caps, free, l1, tol, rough, most, features, per_row, v, matrices, room, both, state
):  # fmt: skip
    n, size = y.shape[0], features.shape[1]
    d, whole, hair = size - 1, room.view(np.int64), 1e-3 * min(1e-3, tol)
    H, L, M = matrices[: size + 1], matrices[size + 1 : 2 * size + 2], matrices[2 * size + 2 :]
    group = matrices[3 * size + 2 :]
    u, step, g, product = features[U], features[STEP], features[SLOPE], features[PRODUCT]
    dz, now = per_row[DZ], int(state[3])  # which of two points is the one reached
    if now < 0:
        now = 0
        z, alpha, D = per_row[0], per_row[1], per_row[2]
        add_margins(rows, y, u, 0, n, z)
        add_logistic(z, dz, 0.0, y, caps, 0, n, z, alpha, D, room, whole, both[:SUMS])
    for _ in range(most):
        sums, other = both[SUMS * now : SUMS * (now + 1)], both[SUMS * (1 - now) : SUMS * (2 - now)]
        z, alpha, D = per_row[3 * now], per_row[3 * now + 1], per_row[3 * now + 2]
        value = l1 * _size(u) + sums[0]
        if value < state[0]:
            state[0] = value
            for j in range(size):
                features[BEST, j] = u[j]
        gather(rows, y, alpha, D, 0, n, group, v, H)
        r = s = 1.0
        if free and max(sums[2], sums[3]) > 0.0:
            if sums[2] > sums[3]:
                r = np.divide(sums[3], sums[2])
            else:
                s = np.divide(sums[2], sums[3])
        share, allowed = _inside(v, r, s, l1, hair), tol * state[0] + (value - state[0])
        if _lack(u, v, share * r, share * s, l1) <= allowed:
            state[1] = _bound(alpha, y, caps, share * r, share * s, state[1], per_row[HIGHEST])
        if state[0] - state[1] <= tol * state[0]:
            return CLOSED
        _model(H, free, v, g, M, d)
        left = min(state[0] - state[1], state[4])
        accuracy = 0.1 * l1 * max(tol, 1e-2 * np.divide(left, state[0]))
        _minimise(M, g, u, l1, accuracy, step, product, L, features[SCALE], features[FACE])
        step[d] = promised = 0.0
        if free and H[d, d] > 0.0:
            s = v[0, d] + v[1, d]
            for j in range(d):
                s -= H[d, j] * step[j]
            step[d] = np.divide(s, H[d, d])
        for j in range(d):
            promised += l1 * (abs(u[j] + step[j]) - abs(u[j])) - (v[0, j] + v[1, j]) * step[j]
        promised -= (v[0, d] + v[1, d]) * step[d]
        add_margins(rows, y, step, 0, n, dz)
        foretold, told = not free or H[d, d] > 0.0, False  # b has an equation: Σ α̂y is zero
        r = s = 1.0
        if foretold:
            if _foretell(alpha, D, dz, caps, per_row[FORETOLD]):
                _after(H, v, step, free, v)
            else:
                r, s = _slopes(rows.X, y, per_row[FORETOLD], free, v)
            share = _inside(v, r, s, l1, hair)
            r, s = share * r, share * s
            if _lack(u, v, r, s, l1) <= allowed:
                state[1] = _bound(per_row[FORETOLD], y, caps, r, s, state[1], per_row[HIGHEST])
                told = True
                if state[0] - state[1] <= tol * state[0]:
                    return CLOSED
        t, to = 1.0, 3 - 3 * now
        while True:
            there = per_row[to], per_row[to + 1], per_row[to + 2]
            add_logistic(z, dz, t, y, caps, 0, n, there[0], there[1], there[2], room, whole, other)
            for j in range(size):
                product[j] = u[j] + t * step[j]
            after = l1 * _size(product) + other[0]
            if after <= value + 1e-3 * t * promised + 1e-15 * value:
                break
            t *= 0.5
            if t < 1e-8:
                return STUCK
        for j in range(size):
            u[j] = product[j]
        state[2] += 1.0
        if after < state[0]:
            state[0] = after
            for j in range(size):
                features[BEST, j] = u[j]
        allowed = tol * state[0] + (after - state[0])
        if foretold and not told and _lack(u, v, r, s, l1) <= allowed:
            state[1] = _bound(per_row[FORETOLD], y, caps, r, s, state[1], per_row[HIGHEST])
        gap = state[0] - state[1]
        left = min(gap, -promised)
        state[5] = 0.0 if left <= 0.5 * state[4] else state[5] + 1.0
        state[4] = left if left <= 0.5 * state[4] else state[4]
        now = 1 - now
        state[3] = now
        if gap <= tol * state[0] or -promised <= rough * value:
            return CLOSED
        if state[5] > PATIENCE or not state[0] < np.inf:
            return STUCK
    return MORE
