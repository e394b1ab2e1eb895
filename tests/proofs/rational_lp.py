"""The oracle: linear programmes in whole numbers, by the simplex method with Bland's rule.

Slow, short and exact. Shares nothing with the library.
"""

from fractions import Fraction
from math import gcd


def maximum(A, b, c):
    """max ⟨c, x⟩ subject to A x ≤ b, x ≥ 0, for whole numbers with b ≥ 0; must be bounded."""
    m, n = len(A), len(c)
    rows = [[*A[i], *(int(i == k) for k in range(m)), b[i]] for i in range(m)]
    goal = [-x for x in c] + [0] * (m + 1)
    basis = list(range(n, n + m))
    while True:
        entering = next((j for j in range(n + m) if goal[j] < 0), None)
        if entering is None:
            return Fraction(goal[-1], _unit(goal, basis, rows))
        ratios = [
            (Fraction(row[-1], row[entering]), basis[i], i)
            for i, row in enumerate(rows)
            if row[entering] > 0
        ]
        assert ratios, "unbounded"
        _, _, out = min(ratios)
        pivot = rows[out]
        rows = [row if i == out else _cancel(row, pivot, entering) for i, row in enumerate(rows)]
        goal = _cancel(goal, pivot, entering)
        basis[out] = entering


def _cancel(row, pivot, j):
    """row·p - row[j]·pivot: zero in column j, the sign of every row kept since p > 0."""
    new = [pivot[j] * x - row[j] * y for x, y in zip(row, pivot, strict=True)]
    g = gcd(*new)
    return [x // g for x in new] if g > 1 else new


def _unit(goal, basis, rows):
    """Rows are scaled freely, so the sign of the optimum is all that is kept: see `positive`."""
    return 1


def positive(A, b, c):
    """Whether the maximum is positive."""
    return maximum(A, b, c) > 0


def kind(Z):
    """What the rows z of whole numbers allow: some ⟨z, v⟩ > 0 on all, on some with none < 0, or none."""
    d = len(Z[0])
    split = [[*z, *(-x for x in z)] for z in Z]  # v = p - q, p and q ≥ 0
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
