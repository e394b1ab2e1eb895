"""Every way in which a line or a plane through the origin can part some rows, enumerated exactly.

In the plane one turn of a line about the origin passes every row and visits all cells, O(n log n).
In space each cell has on its border a plane through the origin and one row: turning a plane about
the axis through every row in turn visits all cells, O(n² log n).

The rows are the exact numbers they are stored as; see `rotating_line` for how order is settled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.proofs.mistakes.cells import Parting, Seen, leading, seen_along, whole_points
from linsep.proofs.mistakes.rotating_line import UNSURE, least_turns, turn_exactly

Array = npt.NDArray[Any]


def cheapest_central_parting(
    points: Array, plus: Array, minus: Array, late: Callable[[], bool] = lambda: False
) -> Parting:
    """The parting by a plane through the origin with the least cost, in three dimensions at most.

    Parameters
    ----------
    points : array (n, d), d ≤ 3
        Rows, none of them zero, taken as the exact numbers they are.
    plus, minus, late
        As in `cheapest_parting`.

    Examples
    --------
    >>> points = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.0]])
    >>> cheapest_central_parting(points, np.ones(3, int), np.zeros(3, int)).cost
    1
    """
    plus, minus = np.asarray(plus, np.int64), np.asarray(minus, np.int64)
    if points.shape[1] == 1:
        cost, sides = _along(points[:, 0], plus, minus)
        return Parting(cost, sides, True)
    numbers, grid = whole_points(points)
    sharp = grid.tolist() == numbers
    if points.shape[1] == 2:

        def exact(j: int) -> tuple[int, int]:
            return numbers[j][0], numbers[j][1]

        cost, of_sides = turn_exactly(grid, np.zeros_like(grid), sharp, exact, plus, minus)
        return Parting(cost, of_sides(), True)
    return _about_axes(grid, numbers, sharp, plus, minus, late)


def _along(positions: Array, plus: Array, minus: Array) -> tuple[int, Array]:
    """The cheaper of the two sides that rows of one line can have."""
    ahead = positions > 0
    cost = int(np.where(ahead, minus, plus).sum())
    other = int(np.where(ahead, plus, minus).sum())
    sides = np.where(ahead, 1, -1)
    return (cost, sides) if cost <= other else (other, -sides)


def _about_axes(
    grid: Array,
    numbers: list[list[int]],
    sharp: bool,
    plus: Array,
    minus: Array,
    late: Callable[[], bool],
) -> Parting:
    """Turn a plane about the axis through every row; look closely where floats cannot tell."""
    costs, nobody = np.empty(1, np.int64), np.array([-1])
    best = Parting(int((plus + minus).sum()) + 1, np.ones(len(grid), np.int64), True)
    for i in range(len(grid)):
        if late():
            return best._replace(complete=False)
        V, E = (one[0] for one in seen_along(grid, grid[[i]], sharp))
        least_turns(V[None], E[None], sharp, i, nobody, plus, minus, costs)
        own = min(int(plus[i]), int(minus[i]))
        if costs[0] != UNSURE and costs[0] + own >= best.cost:
            continue
        c = int(leading(grid[i]))

        # a plane through the axis, tilted a little, parts the rows on it by their direction
        def split(on: Array, c: int = c) -> tuple[int, Array]:
            return _along(grid[on, c], plus[on], minus[on])

        seen = Seen(V, E, sharp, plus, minus)
        turned = seen.turn_about_axis(numbers.__getitem__, numbers[i], c, [i], split)
        if turned is not None and turned[0] < best.cost:
            best = Parting(turned[0], turned[1](), True)
    return best
