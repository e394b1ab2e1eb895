"""Least squares in exact arithmetic, for few rows that are nearly collinear.

Floats are whole numbers times powers of two. So the normal equations can be set up and solved in
whole numbers, without any rounding, and each weight is rounded once, at the end.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]

WORK = 2_000_000  # products of whole numbers that are worth the wait, about a second
BITS = 400  # between the largest and the smallest entry of a column


def rational_least_squares(
    X: Any, Y: Floats, weights: Floats | None, centre: Floats, fit_intercept: bool
) -> tuple[Floats, Floats, Floats] | None:
    """Weights (t, d), prediction at the centre (t,) and at zero (t,), right to the last digit.

    None where there are too many rows, too different numbers, or no unique solution.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> rational_least_squares(X, np.array([[0.0], [1.0], [1.0]]), None, np.ones(1), True)
    (array([[0.28571429]]), array([0.57142857]), array([0.28571429]))
    """
    n, d = X.shape
    if n * (d + 1) ** 2 > WORK or d > 60:
        return None
    X = X.toarray() if sp.issparse(X) else X
    columns = [_whole(column) for column in np.asarray(X, np.float64).T]
    columns += [_whole(column) for column in Y.T]
    scale = _whole(np.ones(n) if weights is None else weights)
    if scale is None or any(column is None for column in columns):
        return None
    whole = [column for column in columns if column is not None]
    if fit_intercept:
        whole.insert(0, (np.ones(n, object), 0))
    A = np.array([numbers for numbers, _ in whole])
    k = len(A) - Y.shape[1]
    normal = (A[:k] * scale[0]) @ A.T  # whole numbers throughout
    solution = _solve(normal.tolist())
    if solution is None:
        return None
    exponents = [exponent for _, exponent in whole]
    # column j holds x/2^eⱼ: a weight of whole numbers is a weight of x times 2^(e_y − eⱼ)
    exact = [
        [value * Fraction(2) ** (exponents[k + t] - exponents[j]) for j, value in enumerate(row)]
        for t, row in enumerate(solution)
    ]
    try:
        return _rounded(exact, centre, fit_intercept)
    except OverflowError:  # a weight that no float can hold
        return None


def _whole(column: Floats) -> tuple[npt.NDArray[Any], int] | None:
    """Whole numbers, and the power of two that they have to be multiplied by."""
    mantissa, exponent = np.frexp(column)
    there = mantissa != 0
    if not there.any():
        return np.array([0] * len(column), object), 0
    low = int(exponent[there].min())
    if int(exponent[there].max()) - low > BITS:
        return None
    numbers = [
        int(m * 2.0**53) << (int(e) - low if m else 0)
        for m, e in zip(mantissa, exponent, strict=True)
    ]
    return np.array(numbers, object), low - 53


def _solve(rows: list[list[int]]) -> list[list[Fraction]] | None:
    """Fraction-free elimination (Bareiss) of a k × (k + t) system; None where it is singular."""
    k, width = len(rows), len(rows[0])
    before = 1
    for i in range(k):
        pivot = rows[i][i]
        if pivot == 0:  # of a positive semi-definite matrix: then it is singular
            return None
        for r in range(i + 1, k):
            factor = rows[r][i]
            rows[r] = [
                (pivot * rows[r][c] - factor * rows[i][c]) // before if c > i else 0
                for c in range(width)
            ]
        before = pivot
    solutions = []
    for t in range(k, width):
        x = [Fraction(0)] * k
        for i in reversed(range(k)):
            known = sum((rows[i][j] * x[j] for j in range(i + 1, k)), Fraction(0))
            x[i] = (rows[i][t] - known) / rows[i][i]
        solutions.append(x)
    return solutions


def _rounded(
    exact: list[list[Fraction]], centre: Floats, fit_intercept: bool
) -> tuple[Floats, Floats, Floats]:
    free = int(fit_intercept)
    middle = [Fraction(c) for c in centre.tolist()]
    weights = np.array([[float(w) for w in row[free:]] for row in exact])
    at_zero = [row[0] if free else Fraction(0) for row in exact]
    at_centre = [
        b + sum(w * c for w, c in zip(row[free:], middle, strict=True))
        for b, row in zip(at_zero, exact, strict=True)
    ]
    return weights, np.array([float(b) for b in at_centre]), np.array([float(b) for b in at_zero])
