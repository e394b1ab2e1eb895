"""Every way in which a point, a line or a plane can part some points, enumerated exactly.

All separators that part the points alike form a cell; the number of mistakes is constant on it. In
the plane each cell has on its border a line through one point that touches no other: turning a line
about every point in turn, from one neighbour to the next, visits all cells in O(n² log n). In space
a plane turns about the line through every two points, O(n³ log n).

The points are the exact numbers they are stored as; see `turning` for how order is settled.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact.scores import whole
from linsep.proofs.mistakes.rotating_line import SMALLEST, UNIT, UNSURE, least_turns, turn_exactly

Array = npt.NDArray[Any]


class Parting(NamedTuple):
    """The cheapest parting found: its cost, the side (-1 or +1) of every point, and whether all
    partings have been seen."""

    cost: int
    sides: Array
    complete: bool


def cheapest_parting(
    points: Array, plus: Array, minus: Array, late: Callable[[], bool] = lambda: False
) -> Parting:
    """The parting of distinct points in one, two or three dimensions with the least cost.

    Parameters
    ----------
    points : array (n, d), d ≤ 3
        Distinct rows, taken as the exact numbers they are.
    plus, minus : arrays of int
        The cost of having a point on the side -1, and on the side +1.
    late : callable
        Asked now and then whether to stop early.

    Examples
    --------
    >>> square = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    >>> positive = np.array([0, 1, 1, 0])  # exclusive or
    >>> cheapest_parting(square, positive, 1 - positive).cost
    1
    """
    plus, minus = np.asarray(plus, np.int64), np.asarray(minus, np.int64)
    n, d = points.shape
    everyone = min((int(minus.sum()), 1), (int(plus.sum()), -1))
    best = Parting(everyone[0], np.full(n, everyone[1]), True)
    if d == 1:
        cost, sides = part_line(points[:, 0], plus, minus)
        return Parting(cost, sides, True) if cost < best.cost else best
    numbers, grid = whole_points(points)
    visit = _about_points if d == 2 else _about_lines
    return visit(grid, numbers, plus, minus, best, late)


def part_line(positions: Array, plus: Array, minus: Array) -> tuple[int, Array]:
    """The cheapest threshold on a line, in either direction."""
    order = np.argsort(positions, kind="stable")
    # k points below the threshold: those on side -1 cost plus, those on side +1 cost minus
    rising = np.concatenate([[0], np.cumsum((plus - minus)[order])]) + minus.sum()
    falling = np.concatenate([[0], np.cumsum((minus - plus)[order])]) + plus.sum()
    up, down = int(np.argmin(rising)), int(np.argmin(falling))
    sides = np.empty(len(positions), np.int64)
    if rising[up] <= falling[down]:
        sides[order] = np.where(np.arange(len(order)) < up, -1, 1)
        return int(rising[up]), sides
    sides[order] = np.where(np.arange(len(order)) < down, 1, -1)
    return int(falling[down]), sides


def whole_points(points: Array) -> tuple[list[list[int]], Array]:
    """The points as whole numbers, and as floats: those same numbers where floats hold them."""
    flat, _ = whole(points.ravel())
    d = points.shape[1]
    numbers = [flat[i : i + d] for i in range(0, len(flat), d)]
    largest = max((abs(v) for v in flat), default=0)
    # determinants of the enumeration stay below 2^53, and so exact, for numbers this small
    if largest < (1 << 25 if d == 2 else 1 << 11):
        return numbers, np.array(numbers, np.float64)
    return numbers, points


def _about_points(
    grid: Array,
    numbers: list[list[int]],
    plus: Array,
    minus: Array,
    best: Parting,
    late: Callable[[], bool],
) -> Parting:
    """Turn a line about every point; only where floats cannot tell, or improve, look closely."""
    sharp = grid.tolist() == numbers
    costs, nobody = np.empty(1, np.int64), np.array([-1])
    for i in range(len(grid)):
        if late():
            return best._replace(complete=False)
        with np.errstate(over="ignore", invalid="ignore"):
            V = grid - grid[i]
        E = np.zeros_like(V) if sharp else np.abs(V) * UNIT
        least_turns(V[None], E[None], sharp, i, nobody, plus, minus, costs)
        own = min(int(plus[i]), int(minus[i]))
        if costs[0] != UNSURE and costs[0] + own >= best.cost:
            continue
        cost, sides = _about_point(V, E, sharp, numbers, plus, minus, i)
        if cost < best.cost:
            best = Parting(cost, sides(), True)
    return best


def _about_point(
    V: Array, E: Array, sharp: bool, numbers: list[list[int]], plus: Array, minus: Array, i: int
) -> tuple[int, Callable[[], Array]]:
    others = np.delete(np.arange(len(V)), i)

    def exact(j: int) -> tuple[int, int]:
        a, b = numbers[others[j]], numbers[i]
        return a[0] - b[0], a[1] - b[1]

    cost, sides = turn_exactly(V[others], E[others], sharp, exact, plus[others], minus[others])

    def full() -> Array:
        result = np.empty(len(V), np.int64)
        result[others], result[i] = sides(), -1 if plus[i] < minus[i] else 1
        return result

    return cost + min(int(plus[i]), int(minus[i])), full


def _about_lines(
    grid: Array,
    numbers: list[list[int]],
    plus: Array,
    minus: Array,
    best: Parting,
    late: Callable[[], bool],
) -> Parting:
    """Turn a plane about the line through every two points."""
    sharp = grid.tolist() == numbers
    either = np.minimum(plus, minus)
    for i in range(len(grid)):
        second = np.arange(i + 1, len(grid))
        costs = np.empty(len(second), np.int64)
        V, E = _seen_along(grid, i, second, sharp)
        least_turns(V, E, sharp, i, second, plus, minus, costs)
        for k in np.flatnonzero(
            (costs == UNSURE) | (costs + either[i] + either[second] < best.cost)
        ):
            if late():
                return best._replace(complete=False)
            found = _about_line(V[k], E[k], sharp, grid, numbers, plus, minus, i, int(second[k]))
            if found is not None and found[0] < best.cost:
                best = Parting(found[0], found[1](), True)
        if late():
            return best._replace(complete=False)
    return best


def _seen_along(grid: Array, i: int, second: Array, sharp: bool) -> tuple[Array, Array]:
    """All points as vectors of the plane seen along the line from point i to each of `second`.

    With axis a and coordinate c where it is largest: uₒaᶜ - aₒuᶜ in the two other coordinates.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        U = grid - grid[i]
        axis = U[second]
        c = leading(axis)
        places = np.arange(len(second))
        rest = np.array([[1, 2], [0, 2], [0, 1]])[c]
        one = U[:, rest].transpose(1, 0, 2) * axis[places, c][:, None, None]
        two = U[:, c].T[:, :, None] * axis[places[:, None], rest][:, None, :]
        E = 6 * UNIT * (np.abs(one) + np.abs(two)) + SMALLEST
        return one - two, np.zeros_like(E) if sharp else E


def leading(axis: Array) -> Array:
    return np.asarray(np.argmax(np.abs(axis), axis=-1))


def _about_line(
    V: Array,
    E: Array,
    sharp: bool,
    grid: Array,
    numbers: list[list[int]],
    plus: Array,
    minus: Array,
    i: int,
    k: int,
) -> tuple[int, Callable[[], Array]] | None:
    """Turn a plane about the line through points i and k; None if the line has been seen before."""
    n = len(grid)
    with np.errstate(over="ignore", invalid="ignore"):
        c = int(leading(grid[k] - grid[i]))
    o, p = (j for j in range(3) if j != c)
    a = [u - v for u, v in zip(numbers[k], numbers[i], strict=True)]

    def exact(j: int) -> tuple[int, int]:
        u = [u - v for u, v in zip(numbers[j], numbers[i], strict=True)]
        return u[o] * a[c] - a[o] * u[c], u[p] * a[c] - a[p] * u[c]

    unsure = np.flatnonzero(~(np.abs(V) > E).any(axis=1))
    on_line = np.array([j for j in unsure if exact(int(j)) == (0, 0)], np.intp)
    if on_line[0] != i or on_line[1] != k:
        return None
    others = np.setdiff1d(np.arange(n), on_line)
    # a plane through the line, tilted a little, parts the points on the line by a threshold
    line_cost, line_sides = part_line(grid[on_line, c], plus[on_line], minus[on_line])

    def exact_other(j: int) -> tuple[int, int]:
        return exact(int(others[j]))

    cost, sides = turn_exactly(
        V[others], E[others], sharp, exact_other, plus[others], minus[others]
    )

    def full() -> Array:
        result = np.empty(n, np.int64)
        result[others], result[on_line] = sides(), line_sides
        return result

    return cost + line_cost, full
