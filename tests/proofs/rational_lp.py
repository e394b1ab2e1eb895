"""The oracle: linear programmes in whole numbers, by the simplex method with Bland's rule.

Slow, short and exact. Shares nothing with the library.
"""

from fractions import Fraction
from math import gcd


def positive(A, b, c):
    """Whether max ⟨c, x⟩ subject to A x ≤ b, x ≥ 0 is positive, for whole numbers with b ≥ 0."""
    m, n = len(A), len(c)
    rows = [[*A[i], *(int(i == k) for k in range(m)), b[i]] for i in range(m)]
    goal = [-x for x in c] + [0] * (m + 1)
    basis = list(range(n, n + m))
    while True:
        entering = next((j for j in range(n + m) if goal[j] < 0), None)
        if entering is None:
            return goal[-1] > 0  # rows are scaled freely: of the optimum only the sign is kept
        ratios = [
            (Fraction(row[-1], row[entering]), basis[i], i)
            for i, row in enumerate(rows)
            if row[entering] > 0
        ]
        _, _, out = min(ratios)
        pivot = rows[out]
        rows = [row if i == out else _cancel(row, pivot, entering) for i, row in enumerate(rows)]
        goal = _cancel(goal, pivot, entering)
        basis[out] = entering


def _cancel(row, pivot, j):
    """row·p - row[j]·pivot: zero in column j; the row keeps its sign since p > 0."""
    new = [pivot[j] * x - row[j] * y for x, y in zip(row, pivot, strict=True)]
    g = gcd(*new)
    return [x // g for x in new] if g > 1 else new


def kind(Z):
    """What whole rows allow: ⟨z, v⟩ > 0 on all, or ≥ 0 on all and > 0 on some, or no such v."""
    d = len(Z[0])
    split = [[*z, *(-x for x in z)] for z in Z]  # v = p - q with p, q ≥ 0
    # max t with t ≤ ⟨z, v⟩ and t ≤ 1
    A = [[-x for x in z] + [1] for z in split] + [[0] * (2 * d) + [1]]
    if positive(A, [0] * len(Z) + [1], [0] * (2 * d) + [1]):
        return "separable"
    # max Σ⟨z, v⟩ with 0 ≤ ⟨z, v⟩ and Σ⟨z, v⟩ ≤ 1
    total = [sum(column) for column in zip(*split, strict=True)]
    A = [[-x for x in z] for z in split] + [total]
    if positive(A, [0] * len(Z) + [1], total):
        return "quasi-separable"
    return "not separable"


def whole_rows(X, y, fit_intercept=True):
    """The rows z of a data set in whole numbers: y(x, 1), or Kesler's rows for more classes.

    Without an intercept the constant is left out: y x.
    """
    y = [int(label) for label in y]
    classes = sorted(set(y))
    constant = [Fraction(1)] if fit_intercept else []
    exact = [[Fraction(float(x)) for x in row] + constant for row in X]
    scale = max(a.denominator for row in exact for a in row)  # floats: powers of two
    rows = [[int(a * scale) for a in row] for row in exact]
    if len(classes) == 2:
        return [
            row if label == classes[1] else [-a for a in row]
            for row, label in zip(rows, y, strict=True)
        ]
    return [
        [a * ((k == label) - (k == rival)) for k in classes for a in row]
        for row, label in zip(rows, y, strict=True)
        for rival in classes
        if rival != label
    ]
