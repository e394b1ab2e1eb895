"""A quadratic model with corners, minimised one coordinate at a time.

    ⟨g, d⟩ + ½⟨d, Hd⟩ + l1 ‖w + d‖₁ + ½ l2 ‖w + d‖²

H is given by a matrix, or by columns B with H = BᵀB − hhᵀ/h₀: the intercept is always at its best
for d, which takes its direction out of H. After a sweep over all coordinates those with a weight
are gone over until they hardly move.
"""

import numpy as np

from linsep._compile import inline, kernel
from linsep.rows.rows import add, dot, square

CYCLES = 10  # sweeps over the coordinates with a weight, for each over all


@inline(shared=True)
def _to(at, slope, curvature, l1, l2):  # type: ignore[no-untyped-def]
    """Where a coordinate has its minimum; the corner holds it at zero."""
    to = at - (slope + l2 * at) / curvature
    far = abs(to) - l1 / curvature
    return np.copysign(far, to) if far > 0.0 else 0.0


@kernel
def by_matrix(H, g, w, l1, l2, change, accuracy, sweeps):  # type: ignore[no-untyped-def]
    """Minimise with H as a matrix; the largest slope that the last sweep met."""
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
        if everywhere and worst <= accuracy:
            break
        if not everywhere and worst <= 0.3 * accuracy:  # on to the next sweep over all
            sweep += CYCLES - sweep % (CYCLES + 1)
        sweep += 1
    return worst


@kernel
def by_columns(rows, m, h, h0, g, w, l1, l2, change, moved, damping, accuracy, sweeps):  # type: ignore[no-untyped-def]
    """The same with H = BᵀB − hhᵀ/h₀ and `damping` more on its diagonal.

    `rows` are the columns of B, `moved` becomes Bd.
    """
    squares = np.empty(m)
    for j in range(m):
        squares[j] = square(rows, j) - (h[j] * h[j] / h0 if h0 > 0.0 else 0.0)
    along = 0.0  # ⟨h, d⟩
    worst = 0.0
    sweep = 0
    while sweep < sweeps * (CYCLES + 1):
        everywhere = sweep % (CYCLES + 1) == 0
        worst = 0.0
        for j in range(m):
            at = w[j] + change[j]
            if not everywhere and at == 0.0:
                continue
            curvature = squares[j] + damping[j] + l2
            if curvature <= 0.0:
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
        if everywhere and worst <= accuracy:
            break
        if not everywhere and worst <= 0.3 * accuracy:  # on to the next sweep over all
            sweep += CYCLES - sweep % (CYCLES + 1)
        sweep += 1
    return worst
