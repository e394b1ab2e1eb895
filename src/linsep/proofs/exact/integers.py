"""Rows of floats as whole numbers, and their exact linear relations.

A float is a whole number times a power of two. Powers of two taken out of a row or a column change
neither which combinations of rows vanish nor the side of a plane a row lies on, so every question
about rows of floats is one about rows of whole numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact.dixon import lift, pivots

Array = npt.NDArray[Any]

_SMALL = 40  # up to here elimination on Python's integers is faster than lifting


class Whole(NamedTuple):
    """A matrix of floats: A[i, j] = values[i, j] · 2^(rows[i] + columns[j])."""

    values: Array
    rows: list[int]
    columns: list[int]


def whole(A: Array) -> Whole:
    """Whole numbers, as small as powers of two allow, in place of the floats of `A`.

    `values` is int64 where that is wide enough, else an object array of Python's own integers.

    Examples
    --------
    >>> numbers = whole(np.array([[0.5, 6.0], [1.5, 2e300]]))
    >>> numbers.values[0].tolist(), numbers.rows[0], numbers.columns
    ([1, 3], 0, [-1, 1])
    """
    fraction, exponent = np.frexp(np.asarray(A, np.float64))
    mantissa = (fraction * 2.0**53).astype(np.int64)
    occupied = mantissa != 0
    lowest = np.where(occupied, mantissa & -mantissa, 1)
    zeros = np.frexp(lowest.astype(np.float64))[1] - 1  # a power of two: its place
    odd = mantissa >> zeros
    low = exponent.astype(np.int64) - 53 + zeros
    far = np.int64(1) << 40
    columns = np.where(occupied, low, far).min(axis=0, initial=far)
    columns[columns == far] = 0
    shift = low - columns
    rows = np.where(occupied, shift, far).min(axis=1, initial=far)
    rows[rows == far] = 0
    shift = np.where(occupied, shift - rows[:, None], 0)
    length = np.frexp(np.abs(odd).astype(np.float64))[1] + shift
    if length.max(initial=0) < 62:
        values = odd << shift
    else:
        values = odd.astype(object) << shift.astype(object)
    return Whole(values, rows.tolist(), columns.tolist())


def fewest(numbers: list[int]) -> list[int]:
    """Whole numbers divided by their greatest common divisor.

    >>> fewest([4, -6, 0])
    [2, -3, 0]
    """
    divisor = math.gcd(*numbers)
    return [a // divisor for a in numbers] if divisor > 1 else list(numbers)


def kernel_basis(A: list[list[int]], width: int) -> list[list[int]]:
    """Whole vectors that span {v : A v = 0}, by elimination without fractions.

    Parameters
    ----------
    A : list of rows
    width : int
        Number of columns, which rows alone do not tell when there are none.

    Examples
    --------
    >>> kernel_basis([[1, 2, 3], [2, 4, 7]], 3)
    [[-2, 1, 0]]
    """
    reduced: list[tuple[int, list[int]]] = []
    for row in A:
        rest = _reduce(list(row), reduced)
        place = next((j for j, a in enumerate(rest) if a), None)
        if place is None:
            continue
        rest = fewest(rest)
        for k, (pivot, other) in enumerate(reduced):
            if other[place]:
                reduced[k] = (pivot, _cancel(other, rest, place))
        reduced.append((place, rest))
    bound = {place for place, _ in reduced}
    basis = []
    for free in (j for j in range(width) if j not in bound):
        scale = math.lcm(*(row[place] for place, row in reduced)) if reduced else 1
        vector = [0] * width
        vector[free] = scale
        for place, row in reduced:
            vector[place] = -row[free] * scale // row[place]
        vector = fewest(vector)
        basis.append(vector if vector[free] > 0 else [-a for a in vector])
    return basis


def _reduce(row: list[int], reduced: list[tuple[int, list[int]]]) -> list[int]:
    for place, other in reduced:
        if row[place]:
            row = _cancel(row, other, place)
    return row


def _cancel(row: list[int], other: list[int], place: int) -> list[int]:
    """The combination of two rows that vanishes at `place`."""
    a, b = row[place], other[place]
    return fewest([b * x - a * y for x, y in zip(row, other, strict=True)])


def solve(A: Array, c: Array) -> tuple[list[int], int] | None:
    """Solve the square system A x = c: numerators and one denominator; None where singular.

    Examples
    --------
    >>> solve(np.array([[2, 1], [1, 3]]), np.array([1, 1]))
    ([2, 1], 5)
    """
    if len(c) > _SMALL:
        return lift(A, c)
    augmented = [[*row, -right] for row, right in zip(A.tolist(), c.tolist(), strict=True)]
    basis = kernel_basis(augmented, len(c) + 1)
    if len(basis) != 1 or basis[0][-1] == 0:
        return None
    sign = 1 if basis[0][-1] > 0 else -1
    return [sign * a for a in basis[0][:-1]], sign * basis[0][-1]


def relation(Z: Array) -> list[int] | None:
    """The whole numbers a ≠ 0 with Σ aᵢzᵢ = 0, where the rows have one such relation only.

    Returns
    -------
    list of int or None
        Without a common divisor, the last one that is not zero positive; None where the rows of `Z`
        are independent, or have several relations.

    Examples
    --------
    >>> relation(np.array([[0.5, 1.0], [0.25, 0.5]]))
    [-1, 2]
    """
    numbers = whole(Z)
    if min(Z.shape) <= _SMALL:
        basis = kernel_basis(numbers.values.T.tolist(), len(Z))
        a = basis[0] if len(basis) == 1 else None
    else:
        a = _large_relation(numbers.values)
    if a is None:
        return None
    top = max(numbers.rows)
    a = fewest([x << (top - shift) for x, shift in zip(a, numbers.rows, strict=True)])
    last = next(x for x in reversed(a) if x)
    return a if last > 0 else [-x for x in a]


def _large_relation(N: Array) -> list[int] | None:
    rows, columns = pivots(N)
    if len(N) - len(rows) != 1:
        return None
    (other,) = set(range(len(N))) - set(rows.tolist())
    solution = solve(N[np.ix_(rows, columns)].T.copy(), -N[other, columns])
    if solution is None:
        return None
    a = [0] * len(N)
    for i, x in zip(rows.tolist(), solution[0], strict=True):
        a[i] = x
    a[other] = solution[1]
    return a if vanishes(N, a) else None


def vanishes(N: Array, a: list[int]) -> bool:
    """Whether Σ aᵢNᵢ = 0 in every column."""
    for column in N.T:
        places = np.flatnonzero(column)
        if sum(a[i] * x for i, x in zip(places.tolist(), column[places].tolist(), strict=True)):
            return False
    return True
