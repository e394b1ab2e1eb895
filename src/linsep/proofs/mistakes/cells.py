"""Every way in which a point, a line or a plane can part some points, enumerated exactly.

All separators that part the points alike form a cell; the number of mistakes is constant on it. In
the plane each cell has on its border a line through one point that touches no other: turning a line
about every point in turn, from one neighbour to the next, visits all cells in O(n² log n). In space
a plane turns about the line through every two points, O(n³ log n).

The points are the exact numbers they are stored as; see `rotating_line` for how order is settled.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact.scores import whole
from linsep.proofs.mistakes.rotating_line import (
    SMALLEST,
    UNIT,
    UNSURE,
    Exact,
    least_turns,
    turn_exactly,
)

Array = npt.NDArray[Any]
Whole = Callable[[int], list[int]]
Split = Callable[[Array], tuple[int, Array]]
Turned = tuple[int, Callable[[], Array]]
"""The least cost of a turn, and a function that gives the sides of all vectors."""


class Parting(NamedTuple):
    """The cheapest parting found: its cost, the side (-1 or +1) of every point, and whether all
    partings have been seen."""

    cost: int
    sides: Array
    complete: bool


class Seen(NamedTuple):
    """Vectors V of the plane, errors up to E (none where `sharp`), and what their sides cost."""

    V: Array
    E: Array
    sharp: bool
    plus: Array
    minus: Array

    def turn_about(self, exact: Exact, fixed: Array, fixed_cost: int, fixed_sides: Array) -> Turned:
        """The least cost of a turn past all vectors but the `fixed` ones, about which it turns."""
        others = np.setdiff1d(np.arange(len(self.V)), fixed)
        V, E, plus, minus = (part[others] for part in (self.V, self.E, self.plus, self.minus))
        cost, sides = turn_exactly(V, E, self.sharp, lambda j: exact(int(others[j])), plus, minus)

        def all_sides() -> Array:
            result = np.empty(len(self.V), np.int64)
            result[others], result[fixed] = sides(), fixed_sides
            return result

        return cost + fixed_cost, all_sides

    def turn_about_axis(
        self, vector: Whole, axis: list[int], c: int, first: list[int], split: Split
    ) -> Turned | None:
        """Turn a plane about an axis; None unless `first` are the first vectors that lie on it.

        `vector` gives the whole numbers behind each, `c` is the coordinate in which the axis is
        largest, `split` parts the vectors that lie on it.
        """
        o, p = (j for j in range(3) if j != c)

        def exact(j: int) -> tuple[int, int]:
            u = vector(j)
            return u[o] * axis[c] - axis[o] * u[c], u[p] * axis[c] - axis[p] * u[c]

        unsure = np.flatnonzero(~(np.abs(self.V) > self.E).any(axis=1))
        on = np.array([j for j in unsure if exact(int(j)) == (0, 0)], np.intp)
        return (
            None if on[: len(first)].tolist() != first else self.turn_about(exact, on, *split(on))
        )


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
        fixed = np.array([i]), own, np.array([-1 if plus[i] < minus[i] else 1])
        seen = Seen(V, E, sharp, plus, minus)
        cost, sides = seen.turn_about(lambda j, i=i: _difference(numbers, j, i), *fixed)  # type: ignore[misc]
        if cost < best.cost:
            best = Parting(cost, sides(), True)
    return best


def _difference(numbers: list[list[int]], j: int, i: int) -> Any:
    return [u - v for u, v in zip(numbers[j], numbers[i], strict=True)]


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
        with np.errstate(over="ignore", invalid="ignore"):
            U = grid - grid[i]
        V, E = seen_along(U, U[second], sharp)
        least_turns(V, E, sharp, i, second, plus, minus, costs)
        for k in np.flatnonzero(
            (costs == UNSURE) | (costs + either[i] + either[second] < best.cost)
        ):
            if late():
                return best._replace(complete=False)
            seen = Seen(V[k], E[k], sharp, plus, minus)
            turned = _about_line(seen, grid, numbers, i, int(second[k]))
            if turned is not None and turned[0] < best.cost:
                best = Parting(turned[0], turned[1](), True)
        if late():
            return best._replace(complete=False)
    return best


def seen_along(U: Array, axes: Array, sharp: bool) -> tuple[Array, Array]:
    """Vectors U as vectors of the plane seen along each of the axes, and bounds on their errors.

    With axis a and coordinate c where it is largest: uₒaᶜ - aₒuᶜ in the two other coordinates.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        c = leading(axes)
        places = np.arange(len(axes))
        rest = np.array([[1, 2], [0, 2], [0, 1]])[c]
        one = U[:, rest].transpose(1, 0, 2) * axes[places, c][:, None, None]
        two = U[:, c].T[:, :, None] * axes[places[:, None], rest][:, None, :]
        E = 6 * UNIT * (np.abs(one) + np.abs(two)) + SMALLEST
        return one - two, np.zeros_like(E) if sharp else E


def leading(axis: Array) -> Array:
    """The coordinate in which an axis is largest."""
    return np.asarray(np.argmax(np.abs(axis), axis=-1))


def _about_line(seen: Seen, grid: Array, numbers: list[list[int]], i: int, k: int) -> Turned | None:
    """Turn a plane about the line through points i and k; None if the line has been seen before."""
    with np.errstate(over="ignore", invalid="ignore"):
        c = int(leading(grid[k] - grid[i]))

    # a plane through the line, tilted a little, parts the points on the line by a threshold
    def split(on: Array) -> tuple[int, Array]:
        return part_line(grid[on, c], seen.plus[on], seen.minus[on])

    axis = _difference(numbers, k, i)
    return seen.turn_about_axis(lambda j: _difference(numbers, j, i), axis, c, [i, k], split)
