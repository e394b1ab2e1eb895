"""A quadratic model with corners, minimised one coordinate at a time.

    ⟨g, d⟩ + ½⟨d, Hd⟩ + l1 ‖w + d‖₁ + ½ l2 ‖w + d‖²

H is given by a matrix, or by columns B with H = BᵀB − hhᵀ/h₀: the intercept is always at its best
for d, which takes its direction out of H. After a sweep over all coordinates those with a weight
are gone over until they hardly move; where columns depend on each other so much that this is slow,
conjugate gradients find the minimum over these coordinates.
"""

import numpy as np

from linsep._compile import inline, kernel
from linsep.rows.rows import add, dot, square

CYCLES = 10  # sweeps over the coordinates with a weight, for each over all
FAR = 0.1  # part of the slopes met first that is left, at most
PRODUCTS = 60  # with H, of conjugate gradients, at most


@inline(shared=True)
def _to(at, slope, curvature, l1, l2):  # type: ignore[no-untyped-def]
    """Where a coordinate has its minimum; the corner holds it at zero."""
    to = at - (slope + l2 * at) / curvature
    far = abs(to) - l1 / curvature
    return np.copysign(far, to) if far > 0.0 else 0.0


@inline(shared=True)
def _enough(accuracy, unit, worst):  # type: ignore[no-untyped-def]
    """The slopes that may be left: the nearer the model's point is to the optimum, the more digits
    of its minimum are worth having"""
    return max(accuracy, worst * min(FAR, worst / unit))


@kernel
def at_best_intercept(H, h, h0, damping):  # type: ignore[no-untyped-def]
    """H − hhᵀ/h₀, or H where h₀ is zero, with `damping` more on its diagonal"""
    out = np.empty_like(H)
    for j in range(len(H)):
        share = h[j] / h0 if h0 > 0.0 else 0.0
        for k in range(len(H)):
            out[j, k] = H[j, k] - share * h[k]
        out[j, j] += damping[j]
    return out


@kernel
def by_matrix(H, g, w, l1, l2, change, accuracy, unit, sweeps):  # type: ignore[no-untyped-def]
    """Minimise with H as a matrix; whether slopes came within `accuracy`, or what is enough.

    Where the slopes met first are s, the part s/unit of them is left, or `FAR` where that is less:
    steps near the optimum are worth more digits. An infinite `unit` asks for all of `accuracy`.
    """
    m = len(g)
    product = np.zeros(m)
    worst = 0.0
    sweep = 0
    while sweep < sweeps * (CYCLES + 1):
        everywhere = sweep % (CYCLES + 1) == 0
        worst = 0.0
        for j in range(m):
            at = w[j] + change[j]
            if not everywhere and at == 0.0:
                continue
            curvature = H[j, j] + l2
            if curvature <= 0.0:
                continue
            step = _to(at, g[j] + product[j], curvature, l1, l2) - at
            if step != 0.0:
                change[j] += step
                if at + step == 0.0:
                    change[j] = -w[j]
                for k in range(m):
                    product[k] += step * H[j, k]
                worst = max(worst, abs(step) * curvature)
        if sweep == 0:
            accuracy = _enough(accuracy, unit, worst)
        if everywhere and worst <= accuracy:
            return True
        if not everywhere and worst <= 0.3 * accuracy:  # on to the next sweep over all
            sweep += CYCLES - sweep % (CYCLES + 1)
        sweep += 1
    return False


@inline(shared=True)
def _sweep(rows, h, h0, g, w, l1, l2, change, moved, damping, squares, everywhere):  # type: ignore[no-untyped-def]
    """Each coordinate to its minimum in turn; the largest slope that was met"""
    along, worst = _along(h, h0, change), 0.0
    for j in range(g.shape[0]):
        at = w[j] + change[j]
        curvature = squares[j] + damping[j] + l2
        if curvature <= 0.0 or (at == 0.0 and not everywhere):
            continue
        slope = g[j] + dot(rows, j, moved) + damping[j] * change[j]
        if h0 > 0.0:
            slope -= h[j] * along / h0
        step = _to(at, slope, curvature, l1, l2) - at
        if step != 0.0:
            change[j] += step
            if at + step == 0.0:
                change[j] = -w[j]
            add(rows, j, step, moved)
            along += step * h[j]
            worst = max(worst, abs(step) * curvature)
    return worst


@inline(shared=True)
def _along(h, h0, d):  # type: ignore[no-untyped-def]
    """⟨h, d⟩"""
    total = 0.0
    if h0 > 0.0:
        for j in range(d.shape[0]):
            total += h[j] * d[j]
    return total


@inline(shared=True)
def _carry(rows, d, out):  # type: ignore[no-untyped-def]
    """out ← Bd"""
    out[:] = 0.0
    for j in range(d.shape[0]):
        if d[j] != 0.0:
            add(rows, j, d[j], out)


@inline
def _on_face(rows, h, h0, g, w, l1, l2, change, moved, damping, squares, accuracy, room, carried):  # type: ignore[no-untyped-def]
    """To the minimum over the coordinates with a weight, their signs held, by conjugate gradients.

    Weights that would change their sign end at zero, or where that does not lessen the model, all
    go as far as the first of them allows.
    """
    m = g.shape[0]
    slopes, left, p, x = room[0], room[1], room[2], room[3]
    along, size = _along(h, h0, change), 0.0
    for j in range(m):
        slopes[j] = left[j] = p[j] = x[j] = 0.0
        at, curvature = w[j] + change[j], squares[j] + damping[j] + l2
        if at != 0.0 and curvature > 0.0:
            slopes[j] = g[j] + dot(rows, j, moved) + damping[j] * change[j] + l2 * at
            if h0 > 0.0:
                slopes[j] -= h[j] * along / h0
            left[j] = -(slopes[j] + np.copysign(l1, at))
            p[j] = left[j] / curvature
            size += left[j] * p[j]
    for _ in range(PRODUCTS):
        _carry(rows, p, carried)
        along = _along(h, h0, p)
        bend = whole = 0.0
        for i in range(carried.shape[0]):
            bend += carried[i] * carried[i]
        for j in range(m):
            bend += (damping[j] + l2) * p[j] * p[j]
            whole += (squares[j] + damping[j] + l2) * p[j] * p[j]
        if h0 > 0.0:
            bend -= along * along / h0
        if not bend > 1e-13 * whole:  # columns that depend on each other: nothing bends there
            break
        t, before, worst = size / bend, size, 0.0
        size = 0.0
        for j in range(m):
            if p[j] != 0.0 or left[j] != 0.0:
                product = dot(rows, j, carried) + (damping[j] + l2) * p[j]
                if h0 > 0.0:
                    product -= h[j] * along / h0
                x[j] += t * p[j]
                left[j] -= t * product
                worst = max(worst, abs(left[j]))
                size += left[j] * left[j] / (squares[j] + damping[j] + l2)
        if worst <= 0.3 * accuracy:
            break
        for j in range(m):
            if p[j] != 0.0 or left[j] != 0.0:
                p[j] = left[j] / (squares[j] + damping[j] + l2) + size / before * p[j]
    t, crossing, gain = 1.0, False, 0.0
    for j in range(m):
        at, p[j] = w[j] + change[j], x[j]
        if at * (at + x[j]) < 0.0:
            t, crossing, p[j] = min(t, -at / x[j]), True, -at
        gain += slopes[j] * p[j] + l1 * (abs(at + p[j]) - abs(at))
        gain += 0.5 * (damping[j] + l2) * p[j] * p[j]
    _carry(rows, p, carried)
    for i in range(carried.shape[0]):
        gain += 0.5 * carried[i] * carried[i]
    along = _along(h, h0, p)
    if h0 > 0.0:
        gain -= 0.5 * along * along / h0
    if crossing and gain >= 0.0:
        for j in range(m):
            p[j] = t * x[j]
        _carry(rows, p, carried)
    for j in range(m):
        at = w[j] + change[j]
        change[j] = -w[j] if at + p[j] == 0.0 else change[j] + p[j]
    for i in range(carried.shape[0]):
        moved[i] += carried[i]


@kernel
def by_columns(rows, h, h0, g, w, l1, l2, change, moved, damping, accuracy, unit, sweeps):  # type: ignore[no-untyped-def]
    """The same with H = BᵀB − hhᵀ/h₀ and `damping` more on its diagonal.

    `rows` are the columns of B, `moved` becomes Bd.
    """
    m = g.shape[0]
    squares, room, carried = np.empty(m), np.empty((4, m)), np.empty(moved.shape[0])
    for j in range(m):
        squares[j] = square(rows, j) - (h[j] * h[j] / h0 if h0 > 0.0 else 0.0)
    for sweep in range(sweeps):
        worst = _sweep(rows, h, h0, g, w, l1, l2, change, moved, damping, squares, True)
        if sweep == 0:
            accuracy = _enough(accuracy, unit, worst)
        if worst <= accuracy:
            return True
        slow = True
        for _ in range(CYCLES):
            worst = _sweep(rows, h, h0, g, w, l1, l2, change, moved, damping, squares, False)
            if worst <= 0.3 * accuracy:
                slow = False
                break
        if slow:
            _on_face(
                rows, h, h0, g, w, l1, l2, change, moved, damping, squares, accuracy, room, carried
            )
    return False
