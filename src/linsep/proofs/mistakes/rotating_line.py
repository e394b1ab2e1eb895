"""A line that turns about the origin past vectors of the plane: which sides they can lie on.

Angles are sorted in floating point, and the order of neighbours is then confirmed by the sign of a
determinant: bounded in floats where that suffices, in whole numbers where it does not.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.kernels import turns

Array = npt.NDArray[Any]
Exact = Callable[[int], tuple[int, int]]
"""The whole-number vector behind a float one, by its index."""

UNIT = 2.0**-53
SMALLEST = 2.0**-1060
UNSURE = -1


def least_turns(
    V: Array, E: Array, sharp: bool, i: int, second: Array, plus: Array, minus: Array, costs: Array
) -> None:
    """The least cost of a turn past the vectors V[k], for each k; UNSURE where floats cannot tell.

    Vectors i and second[k] are left out: they lie on the line that turns.
    """
    V, E = np.ascontiguousarray(V), np.ascontiguousarray(E)
    turns.least_turns(V, E, sharp, i, second, plus, minus, costs)


def turn_exactly(
    V: Array, E: Array, sharp: bool, exact: Exact, plus: Array, minus: Array
) -> tuple[int, Callable[[], Array]]:
    """The least cost of the sides of vectors V (errors E), and a function that gives the sides."""
    if not len(V):
        return 0, lambda: np.empty(0, np.int64)
    upper = _upper(V, E, sharp, exact)
    h = np.where(upper, 1, -1)
    A = V * h[:, None]
    order = np.argsort(np.arctan2(A[:, 1], A[:, 0]), kind="stable")
    turn = _turns(A, E, sharp, exact, h, order)
    if (turn < 0).any():
        order, turn = _sort_exactly(exact, h, order)
    # Before the line passes a vector it lies on the side h, afterwards on -h.
    start = int(np.where(h > 0, minus, plus).sum())
    change = (np.where(h > 0, plus - minus, minus - plus))[order]
    free = np.concatenate([[True], turn > 0, [True]])  # no line between vectors of one direction
    costs = np.concatenate([[0], np.cumsum(change)]) + start
    total = int((plus + minus).sum())
    one, other = np.where(free, costs, total + 1), np.where(free, total - costs, total + 1)
    here, there = int(np.argmin(one)), int(np.argmin(other))

    def sides() -> Array:
        passed = np.zeros(len(V), bool)
        if one[here] <= other[there]:
            passed[order[:here]] = True
            return np.where(passed, -h, h)
        passed[order[:there]] = True
        return np.where(passed, h, -h)

    return int(min(one[here], other[there])), sides


def _upper(V: Array, E: Array, sharp: bool, exact: Exact) -> Array:
    """Whether each vector has its angle in [0, π)."""
    x, y = V[:, 0], V[:, 1]
    upper = (y > 0) | ((y == 0) & (x > 0))
    if not sharp:
        for j in np.flatnonzero(~(np.abs(y) > E[:, 1])):
            a, b = exact(int(j))
            upper[j] = b > 0 or (b == 0 and a > 0)
    return upper


def _turns(A: Array, E: Array, sharp: bool, exact: Exact, h: Array, order: Array) -> Array:
    """The sign of the determinant of each vector and its successor: exact."""
    a, b = A[order[:-1]], A[order[1:]]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        first, second = a[:, 0] * b[:, 1], a[:, 1] * b[:, 0]
        turn = np.sign(first - second)
        if sharp:
            return turn
        e, f = E[order[:-1]], E[order[1:]]
        error = 4 * UNIT * (np.abs(first) + np.abs(second)) + SMALLEST
        error += 1.01 * (np.abs(a[:, 0]) * f[:, 1] + np.abs(b[:, 1]) * e[:, 0])
        error += 1.01 * (np.abs(a[:, 1]) * f[:, 0] + np.abs(b[:, 0]) * e[:, 1])
        error += e[:, 0] * f[:, 1] + e[:, 1] * f[:, 0]
        sure = np.abs(first - second) > error
    for t in np.flatnonzero(~sure):
        turn[t] = _turn_of(exact, h, int(order[t]), int(order[t + 1]))
    return turn


def _turn_of(exact: Exact, h: Array, j: int, k: int) -> int:
    (a, b), (c, d) = exact(j), exact(k)
    value = (a * d - b * c) * int(h[j]) * int(h[k])
    return (value > 0) - (value < 0)


def _sort_exactly(exact: Exact, h: Array, order: Array) -> tuple[Array, Array]:
    def compare(j: int, k: int) -> int:
        return -_turn_of(exact, h, j, k)

    order = np.array(sorted(order.tolist(), key=functools.cmp_to_key(compare)), np.intp)
    turn = [_turn_of(exact, h, int(j), int(k)) for j, k in itertools.pairwise(order)]
    return order, np.array(turn)
