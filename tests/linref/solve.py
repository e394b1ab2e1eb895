"""How the answers were found: Newton's method in many digits, and active sets in fractions.

None of this needs to be trusted: `proof.py` proves what is found here, with arithmetic of its own.
"""

from fractions import Fraction

import mpmath
import numpy as np

try:
    from gmpy2 import mpq  # fractions, many times faster
except ImportError:
    mpq = Fraction

mpf = mpmath.mpf


def eliminate(A, rhs):
    """The solution of A x = rhs in fractions, by Gauss-Jordan elimination."""
    n = len(A)
    rows = [[*map(mpq, row), mpq(t)] for row, t in zip(A, rhs, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])  # none: the matrix is singular
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                f = rows[r][i]
                rows[r] = [a - f * b if b else a for a, b in zip(rows[r], rows[i], strict=True)]
    return [Fraction(int(row[n].numerator), int(row[n].denominator)) for row in rows]


def _interior(Q, c, A, h, rounds=300):
    """min ½vᵀQv + ⟨c, v⟩ with Av ≥ h, in floats: slacks and multipliers."""
    scale = 1 / np.maximum(np.abs(A).max(axis=0), np.sqrt(np.abs(Q).max(axis=0)))
    Q, A, c = Q * scale * scale[:, None], A * scale, c * scale
    m = len(h)
    v, s, t = np.zeros(len(c)), np.ones(m), np.ones(m)
    for _ in range(rounds):
        mu = s @ t / m
        dual, primal = Q @ v + c - A.T @ t, A @ v - s - h
        if mu < 1e-24:
            break
        # s + ds and t + dt meet st = μ/5 to first order; eliminate both
        push = (mu / 5 - s * t - t * primal) / s
        K = Q + (A.T * (t / s)) @ A
        step = np.linalg.lstsq(K, A.T @ push - dual, rcond=1e-17)[0]
        ds = A @ step + primal
        dt = (mu / 5 - t * ds) / s - t
        ahead = [1.0, *(-0.95 * s[ds < 0] / ds[ds < 0]), *(-0.95 * t[dt < 0] / dt[dt < 0])]
        v, s, t = v + min(ahead) * step, s + min(ahead) * ds, t + min(ahead) * dt
    return s, t


def quadratic(Q, c, A, h):
    """The exact optimum of a quadratic program in fractions, with its multipliers."""
    s, t = _interior(*(np.array(v, dtype=float) for v in (Q, c, A, h)))
    held = [i for i in range(len(h)) if t[i] > s[i]]
    n, k = len(c), len(held)
    K = [[*Q[i], *(-A[r][i] for r in held)] for i in range(n)]
    K += [[*A[r], *([Fraction(0)] * k)] for r in held]
    found = eliminate(K, [*(-x for x in c), *(h[r] for r in held)])
    multipliers = [Fraction(0)] * len(h)
    for r, value in zip(held, found[n:], strict=True):
        multipliers[r] = value
    return found[:n], multipliers


def machine(X, y, c, C, kind, intercept, l1):
    """Weights, intercept and multipliers of a hinge or squared hinge, in fractions."""
    n, d = X.shape
    F = [[Fraction(v) for v in row] for row in X.tolist()]
    signs = [1 if k else -1 for k in y.tolist()]
    lose = [Fraction(C) * Fraction(v) for v in c.tolist()]
    square = kind == "squared_hinge"
    parts = 2 * d if l1 else d  # w, or its positive and negative part
    size = parts + intercept + n
    Q = [[Fraction(0)] * size for _ in range(size)]
    cost = [Fraction(0)] * size
    for j in range(parts):
        if l1:
            cost[j] = Fraction(1)
        else:
            Q[j][j] = Fraction(1)
    for i in range(n):
        if square:
            Q[parts + intercept + i][parts + intercept + i] = 2 * lose[i]
        else:
            cost[parts + intercept + i] = lose[i]
    A, h = [], []
    for i in range(n):
        row = [signs[i] * v for v in F[i]]
        row += [-v for v in row] if l1 else []
        slack = [Fraction(int(k == i)) for k in range(n)]
        A.append([*row, *([Fraction(signs[i])] * intercept), *slack])
        h.append(Fraction(1))
    for k in [*range(parts if l1 else 0), *range(parts + intercept, size if not square else 0)]:
        A.append([Fraction(int(k == j)) for j in range(size)])
        h.append(Fraction(0))
    v, multipliers = quadratic(Q, cost, A, h)
    w = [v[j] - v[d + j] for j in range(d)] if l1 else v[:d]
    return [w], [v[parts] if intercept else Fraction(0)], multipliers[:n]


def joint_machine(X, y, c, C, intercept):
    """Crammer and Singer's machine in fractions; the intercepts sum to zero."""
    n, d = X.shape
    K = int(y.max()) + 1
    F = [[Fraction(v) for v in row] for row in X.tolist()]
    lose = [Fraction(C) * Fraction(v) for v in c.tolist()]
    planes = K * d + (K if intercept else 0)
    size = planes + n
    Q = [[Fraction(int(i == j < K * d)) for j in range(size)] for i in range(size)]
    for k in range(K * d, planes):
        for m in range(K * d, planes):
            Q[k][m] += 1
    cost = [Fraction(0)] * planes + lose
    A, h, pairs = [], [], []
    for i in range(n):
        own = int(y[i])
        for k in range(K):
            row = [Fraction(0)] * size
            row[planes + i] = Fraction(1)
            h.append(Fraction(int(k != own)))
            A.append(row)
            if k == own:
                continue
            for j in range(d):
                row[own * d + j], row[k * d + j] = F[i][j], -F[i][j]
            if intercept:
                row[K * d + own], row[K * d + k] = Fraction(1), Fraction(-1)
            pairs.append((i, k, len(h) - 1))
    v, multipliers = quadratic(Q, cost, A, h)
    alpha = [[Fraction(0)] * K for _ in range(n)]
    for i, k, r in pairs:
        alpha[i][k] = multipliers[r]
    bias = v[K * d : planes] or [Fraction(0)] * K
    return [v[k * d : (k + 1) * d] for k in range(K)], bias, alpha


def newton(problem, slopes, digits=70):
    """Newton's method on the coordinates that are free, with zeros and signs guessed by descent.

    `slopes(problem, W, b)` gives gradient and Hessian of the smooth part over all coordinates.
    """
    K = problem.classes if problem.kind == "softmax" else 1
    d, rho = problem.X.shape[1], problem.l1_ratio
    size = K * (d + 1)
    movable = [i for i in range(size) if i % (d + 1) < d or problem.fit_intercept]
    with mpmath.workdps(digits + 40):
        u = [mpf(0)] * size
        signs = _signs_by_descent(problem, slopes, u, size, d) if rho else None
        free = [i for i in movable if signs is None or i % (d + 1) == d or signs[i]]
        for _ in range(200):
            g, H = slopes(problem, u)
            if signs is not None:
                g = [a + mpf(rho) * (signs[i] if i % (d + 1) < d else 0) for i, a in enumerate(g)]
            step = mpmath.lu_solve(
                mpmath.matrix([[H[i][j] for j in free] for i in free]),
                mpmath.matrix([g[i] for i in free]),
            )
            decrement = mpmath.fsum(g[i] * s for i, s in zip(free, step, strict=True))
            far = 1 / (1 + mpmath.sqrt(decrement)) if decrement > 1 else mpf(1)
            for i, s in zip(free, step, strict=True):
                u[i] -= far * s
            if decrement < mpf(10) ** (-2 * digits):
                break
    return u


def _signs_by_descent(problem, slopes, u, size, d):
    """Signs at the optimum of the penalised problem, by coordinate steps until they settle."""
    u = list(u)
    scale = np.ptp(problem.X, axis=0)
    with mpmath.workdps(20):
        for _ in range(400):
            moved = mpf(0)
            g, H = slopes(problem, u)
            # a Newton model, solved by coordinate descent on it, with a cautious curvature
            step = [mpf(0)] * size
            for _ in range(100):
                for i in range(size):
                    if i % (d + 1) == d and not problem.fit_intercept:
                        continue
                    slope = g[i] + mpmath.fdot(H[i], step)
                    at = u[i] + step[i]
                    bare = at - slope / H[i][i]
                    if i % (d + 1) < d:
                        room = mpf(problem.l1_ratio) / H[i][i]
                        bare = mpmath.sign(bare) * max(mpf(0), abs(bare) - room)
                    step[i] += bare - at
            for i in range(size):
                u[i] += step[i] / 2
                if abs(u[i]) < mpf(10) ** -12 and i % (d + 1) < d:
                    u[i] = mpf(0)
                moved = max(
                    moved, abs(step[i]) * mpf(float(scale[i % (d + 1)]) if i % (d + 1) < d else 1)
                )
            if moved < mpf(10) ** -10:
                break
        return [
            int(mpmath.sign(u[i] + step[i] / 2)) if abs(u[i]) > mpf(10) ** -9 else 0
            for i in range(size)
        ]
