"""Proves the answers of the certified problems from the data alone.

- Hinges, joint machines: a dual point of exactly the same value, in fractions; and why weights and
  intercept are the only ones.
- Logistic and softmax: Krawczyk's test in interval arithmetic of 100 digits shows that a box of
  relative width 1e-50 about the answer holds the one zero of the gradient; where weights are zero,
  their slopes lie strictly inside the penalty's for all points of the box.
- Regression, LDA, Fisher: the linear equations, exactly in fractions.
"""

from fractions import Fraction

import mpmath
import numpy as np
from mpmath import iv

RADIUS = mpmath.mpf(10) ** -50


def _exact(values):
    return [[Fraction(v) for v in row] for row in np.atleast_2d(values).tolist()]


def _dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), Fraction(0))


def prove(problem):
    """Raises an AssertionError where the answer is not the optimum."""
    if problem.kind in ("logistic", "softmax"):
        _prove_by_krawczyk(problem)
    elif problem.kind in ("hinge", "squared_hinge"):
        _prove_machine(problem)
    elif problem.kind == "crammer_singer":
        _prove_joint_machine(problem)
    elif problem.kind == "regression":
        _prove_regression(problem)
    else:
        _prove_discriminant(problem)


# --- dual points ------------------------------------------------------------------------------


def _prove_machine(problem):
    X, (w,), (b,) = _exact(problem.X), problem.coef, problem.intercept
    signs = [1 if k else -1 for k in problem.y.tolist()]
    caps = [Fraction(problem.C) * Fraction(v) for v in problem.weights.tolist()]
    alpha = [Fraction(v) for v in problem.proof["multipliers"]]
    square, l1 = problem.kind == "squared_hinge", problem.l1_ratio == 1
    assert problem.l1_ratio in (0, 1)
    assert all(a >= 0 and (square or a <= C) for a, C in zip(alpha, caps, strict=True))
    assert not problem.fit_intercept or _dot(alpha, signs) == 0
    assert problem.fit_intercept or b == 0
    pulled = [
        _dot(alpha, [s * row[j] for s, row in zip(signs, X, strict=True)]) for j in range(len(w))
    ]
    short = [max(Fraction(0), 1 - s * (_dot(row, w) + b)) for s, row in zip(signs, X, strict=True)]
    primal = sum(map(abs, w)) if l1 else _dot(w, w) / 2
    dual = sum(alpha)
    if square:
        primal += sum(C * v * v for C, v in zip(caps, short, strict=True))
        dual -= sum(a * a / (4 * C) for a, C in zip(alpha, caps, strict=True) if C)
        assert all(C or not a for a, C in zip(alpha, caps, strict=True))
    else:
        primal += _dot(caps, short)
    if l1:
        assert all(abs(v) <= 1 for v in pulled)
        # other optima share the multipliers, hence the rows short of the margin and their shortfall
        inside = [i for i, v in enumerate(short) if v]
        face = [j for j, v in enumerate(pulled) if abs(v) == 1]
        columns = [[X[i][j] for j in face] + [Fraction(1)] * problem.fit_intercept for i in inside]
        assert _rank(columns) == len(face) + problem.fit_intercept
    else:
        dual -= _dot(pulled, pulled) / 2
        # ½‖w‖² leaves one w; a row at the margin, or a loss that is curved there, leaves one b
        assert not problem.fit_intercept or (
            any(short) if square else any(0 < a < C for a, C in zip(alpha, caps, strict=True))
        )
    assert primal == dual, (float(primal), float(dual))


def _rank(rows):
    rows, rank = [list(row) for row in rows], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            f = rows[i][j] / rows[rank][j]
            if f:
                rows[i] = [a - f * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def _prove_joint_machine(problem):
    X, W, b, K = _exact(problem.X), problem.coef, problem.intercept, problem.classes
    caps = [Fraction(problem.C) * Fraction(v) for v in problem.weights.tolist()]
    alpha = [[Fraction(v) for v in row] for row in problem.proof["multipliers"]]
    y = problem.y.tolist()
    assert all(row[k] == 0 for row, k in zip(alpha, y, strict=True))
    assert all(v >= 0 for row in alpha for v in row)
    assert all(sum(row) <= C for row, C in zip(alpha, caps, strict=True))
    pull = [
        [sum(row) if k == own else -row[k] for k in range(K)]
        for row, own in zip(alpha, y, strict=True)
    ]
    if problem.fit_intercept:
        assert all(sum(row[k] for row in pull) == 0 for k in range(K)) and sum(b) == 0
    else:
        assert not any(b)
    pulled = [
        [
            sum((r[k] * x[j] for r, x in zip(pull, X, strict=True)), Fraction(0))
            for j in range(len(X[0]))
        ]
        for k in range(K)
    ]
    dual = sum(map(sum, alpha)) - sum(_dot(row, row) for row in pulled) / 2
    primal = sum(_dot(row, row) for row in W) / 2
    for x, own, C in zip(X, y, caps, strict=True):
        s = [_dot(x, w) + t for w, t in zip(W, b, strict=True)]
        primal += C * max(Fraction(0), *(1 + t - s[own] for k, t in enumerate(s) if k != own))
    assert primal == dual, (float(primal), float(dual))
    if problem.fit_intercept:
        # alternatives that share a row's multipliers are tied, which fixes how their b differ
        joined = list(range(K))
        for row, own, C in zip(alpha, y, caps, strict=True):
            tied = [k for k in range(K) if row[k]] + [own] * (sum(row) < C)
            for k in tied:
                joined = [joined[tied[0]] if v == joined[k] else v for v in joined]
        assert len(set(joined)) == 1


# --- zeros of gradients -----------------------------------------------------------------------


def slopes(problem, u, ctx=mpmath):
    """Gradient and Hessian of the smooth part at u, (w, b) of each plane after the other."""
    d, K = problem.X.shape[1], max(1, problem.classes * (problem.kind == "softmax"))
    endless = np.isinf(problem.C)
    C = ctx.mpf(1 if endless else float(problem.C))
    ridge = ctx.mpf(0 if endless else 1 - problem.l1_ratio)
    size = K * (d + 1)
    g = [ridge * v if i % (d + 1) < d else ctx.mpf(0) for i, v in enumerate(u)]
    H = [[ctx.mpf(0)] * size for _ in range(size)]
    for i in range(size):
        H[i][i] += ridge if i % (d + 1) < d else 0
    for row, own, c in zip(
        problem.X.tolist(), problem.y.tolist(), problem.weights.tolist(), strict=True
    ):
        x = [*map(ctx.mpf, row), ctx.mpf(1)]
        s = [sum(a * v for a, v in zip(x, u[k * (d + 1) :], strict=False)) for k in range(K)]
        push, bend = _of_row(problem, s, own, ctx)
        for k in range(K):
            for i in range(d + 1):
                t = C * ctx.mpf(c) * x[i]
                g[k * (d + 1) + i] += t * push[k]
                for m in range(k + 1):
                    f = t * bend[k][m]
                    for j in range(d + 1):
                        H[k * (d + 1) + i][m * (d + 1) + j] += f * x[j]
    for k in range(K):
        for m in range(k):
            for i in range(d + 1):
                for j in range(d + 1):
                    H[m * (d + 1) + j][k * (d + 1) + i] = H[k * (d + 1) + i][m * (d + 1) + j]
    if K > 1:  # only differences of the intercepts count: let them sum to zero
        own = range(d, size, d + 1)
        for k in own:
            g[k] += sum(u[m] for m in own)
            for m in own:
                H[k][m] += 1
    return g, H


def _of_row(problem, s, own, ctx):
    """First and second derivatives of a row's loss by its scores."""
    if problem.kind == "logistic":
        sign = 1 if own else -1
        p = 1 / (1 + ctx.exp(sign * s[0]))
        return [-sign * p], [[p * (1 - p)]]
    p = [1 / sum(ctx.exp(t - v) for t in s) for v in s]
    push = [v - (k == own) for k, v in enumerate(p)]
    return push, [[v * ((k == m) - t) for m, t in enumerate(p)] for k, v in enumerate(p)]


def _prove_by_krawczyk(problem):
    d, rho = problem.X.shape[1], problem.l1_ratio
    flat = [v for w, b in zip(problem.coef, problem.intercept, strict=True) for v in (*w, b)]
    slope = lambda i: i % (d + 1) < d  # noqa: E731
    free = [
        i
        for i, v in enumerate(flat)
        if (slope(i) and (v or not rho)) or (not slope(i) and problem.fit_intercept)
    ]
    assert all(v == 0 for i, v in enumerate(flat) if i not in free)
    with mpmath.workdps(100):
        iv.dps = 100
        at = [mpmath.mpf(v.numerator) / v.denominator for v in flat]
        largest = max(map(abs, at))
        radii = [max(abs(v), largest * mpmath.mpf(10) ** -20) * RADIUS for v in at]
        centre = [iv.mpf(v.numerator) / v.denominator if v else iv.mpf(0) for v in flat]
        box = [
            c + iv.mpf([-r, r]) if i in free else c
            for i, (c, r) in enumerate(zip(centre, radii, strict=True))
        ]

        def whole(u):
            g, H = slopes(problem, u, iv)
            pull = [
                iv.mpf(rho) * (1 if v > 0 else -1) if slope(i) and v else 0
                for i, v in enumerate(flat)
            ]
            return [a + b for a, b in zip(g, pull, strict=True)], H

        g, _ = whole(centre)
        around, H = whole(box)
        middle = mpmath.matrix([[mpmath.mpf(H[i][j].mid) for j in free] for i in free])
        inverse = mpmath.inverse(middle)
        n = len(free)
        for r, i in enumerate(free):
            row = [iv.mpf(inverse[r, k]) for k in range(n)]
            new = centre[i] - sum(a * g[k] for a, k in zip(row, free, strict=True))
            for c, j in enumerate(free):
                share = (1 if r == c else 0) - sum(
                    a * H[k][j] for a, k in zip(row, free, strict=True)
                )
                new += share * (box[j] - centre[j])
            assert new.a > box[i].a and new.b < box[i].b, (problem.name, i)
        for i in range(len(flat)):
            if slope(i) and i not in free:  # zero stays zero: the slope is strictly inside ±ρ
                assert abs(around[i]).b < iv.mpf(rho).a, (problem.name, i)


# --- linear equations -------------------------------------------------------------------------


def _prove_regression(problem):
    (w,), (b,) = problem.coef, problem.intercept
    X, t = _exact(problem.X), [Fraction(v) for v in problem.y.tolist()]
    c = [Fraction(v) for v in problem.weights.tolist()]
    left = [k * (v - _dot(x, w) - b) for k, v, x in zip(c, t, X, strict=True)]
    assert all(_dot(left, [x[j] for x in X]) == 0 for j in range(len(w)))
    assert sum(left) == 0 if problem.fit_intercept else b == 0
    columns = [[*x, Fraction(1)] if problem.fit_intercept else x for x in X]
    assert _rank(columns) == len(columns[0])


def scatter(problem):
    """Means, sums of weights and within-class scatter S_w, in fractions."""
    X, y, c = _exact(problem.X), problem.y.tolist(), [Fraction(v) for v in problem.weights.tolist()]
    d, means, sums = len(X[0]), [], []
    for k in range(problem.classes):
        own = [(x, v) for x, v, t in zip(X, c, y, strict=True) if t == k]
        sums.append(sum(v for _, v in own))
        means.append([sum(v * x[j] for x, v in own) / sums[-1] for j in range(d)])
    apart = [
        ([a - m for a, m in zip(x, means[t], strict=True)], v)
        for x, v, t in zip(X, c, y, strict=True)
    ]
    S = [[sum(v * x[i] * x[j] for x, v in apart) for j in range(d)] for i in range(d)]
    return means, sums, S


def _log(v):
    return mpmath.log(mpmath.mpf(v.numerator) / v.denominator)


def _prove_discriminant(problem):
    """S_w w = μ₁ − μ₀ and the midpoint (Fisher); Σ wₖ = mₖ and log πₖ − ½⟨mₖ, wₖ⟩ (LDA)."""
    means, sums, S = scatter(problem)
    total = sum(sums)
    share = [Fraction(v) / total for v in sums]
    apart = [a - b for a, b in zip(means[1], means[0], strict=True)]
    middle = [(a + b) / 2 for a, b in zip(means[1], means[0], strict=True)]
    if problem.kind == "fisher":
        (w,), (b,) = problem.coef, problem.intercept
        assert [_dot(row, w) for row in S] == apart
        assert b == -_dot(w, middle)
        return
    sigma = [[v / total for v in row] for row in S]
    if problem.classes == 2:
        (w,), (b,) = problem.coef, problem.intercept
        assert [_dot(row, w) for row in sigma] == apart
        known = [(-_dot(w, middle), share[1] / share[0], b)]
    else:
        for w, m in zip(problem.coef, means, strict=True):
            assert [_dot(row, w) for row in sigma] == m
        known = [
            (-_dot(w, m) / 2, v, b)
            for w, m, v, b in zip(problem.coef, means, share, problem.intercept, strict=True)
        ]
    with mpmath.workdps(80):
        for at, odds, b in known:
            wanted = mpmath.mpf(at.numerator) / at.denominator + _log(odds)
            assert abs(mpmath.mpf(b.numerator) / b.denominator - wanted) <= RADIUS * (
                1 + abs(wanted)
            )
