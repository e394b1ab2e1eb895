"""The widest separator exactly, once the rows that determine it are known.

On these rows all slacks vanish, and the optimality conditions are linear:

    ⟨zᵢ, v⟩ = ρ,   w = Σ αⱼyⱼxⱼ,   Σ αⱼyⱼ = 0,   Σ αⱼ = 1;

the third belongs to the bias, and is not asked of planes through the origin. Solved in whole
numbers, they give the bound on every margin to the last digit where floating point, on badly scaled
columns, loses half of them.
"""

from collections.abc import Callable
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact.integers import fewest, solve
from linsep.proofs.exact.wolfe import nearest
from linsep.proofs.halfspaces.halfspaces import Halfspaces

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_MOST = 80  # rows
_PAIRS = 3000  # differences of rows


class PolishedSeparator(NamedTuple):
    """A separator, and whole multipliers of the constraints that determine it."""

    v: Floats
    ids: Array
    multipliers: list[int]


def polish(problem: Halfspaces, ids: Array) -> PolishedSeparator | None:
    """The point nearest to the origin on the plane through the constraints `ids`.

    Constraints whose multiplier comes out negative are dropped, the worst first.

    Examples
    --------
    >>> problem = Halfspaces.of(np.array([[0.0], [3.0]]), np.array([0, 1]))
    >>> solution = polish(problem, np.array([0, 1]))
    >>> solution.multipliers, float(-solution.v[1] / solution.v[0])
    ([1, 1], 1.5)
    """
    fewest_rows = 2 if problem.fit_intercept else 1
    if problem.extreme_scale or not fewest_rows <= len(ids) <= _MOST:
        return None
    columns = problem.columns_of(ids)
    rows = _common(problem.take(ids, columns))
    width = len(columns) + 1
    biases = [k * width + width - 1 for k in range(problem.blocks)]
    one = abs(next((row[j] for row in rows for j in biases if row[j]), 1))
    while len(ids) >= fewest_rows:
        solution = _conditions(rows, biases, one, problem.fit_intercept)
        if solution is None:
            return None
        alpha, shifts = solution
        if min(alpha) >= 0:
            break
        worst = alpha.index(min(alpha))
        ids = np.delete(ids, worst)
        rows = rows[:worst] + rows[worst + 1 :]
    else:
        return None
    w = [one * sum(map(mul, alpha, column)) for column in zip(*rows, strict=True)]
    for place in biases:
        w[place] = 0
    for place, shift in zip(biases, shifts, strict=False):
        w[place] = shift
    top = max(map(abs, w)).bit_length()
    if top == 0:
        return None
    v = np.array([(a >> (top - 64) if top > 64 else a << (64 - top)) / 2.0**64 for a in w])
    keep = [i for i, a in enumerate(alpha) if a]
    return PolishedSeparator(
        problem.spread(v, columns), ids[keep], fewest([alpha[i] for i in keep])
    )


class Closest(NamedTuple):
    """Whole weights and bias in original units, and whole multipliers of rows."""

    plane: list[int]
    ids: Array
    multipliers: list[int]


def closest(
    problem: Halfspaces, gap: Fraction, out_of_time: Callable[[], bool] = bool
) -> Closest | None:
    """The nearest points of the convex hulls of two small classes, in whole numbers throughout.

    They are the point nearest to the origin of all differences of rows of the two classes. For
    planes through the origin: the point nearest to it of the convex hull of the rows yᵢxᵢ.

    Examples
    --------
    >>> problem = Halfspaces.of(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]))
    >>> closest(problem, Fraction(0))
    Closest(plane=[1, -2], ids=array([1, 2]), multipliers=[1, 1])
    """
    groups = [np.flatnonzero(problem.codes == k) for k in (0, 1)]
    if problem.n_classes > 2 or len(groups[0]) * len(groups[1]) > _PAIRS or problem.n_features > 24:
        return None
    everything = np.concatenate(groups)
    dense = problem.take(everything, np.arange(problem.n_features))[:, :-1]
    if not problem.fit_intercept:
        point = nearest(_common(dense), out_of_time, gap)
        if point is None or point.direction is None:
            return None
        return Closest([*point.direction, 0], everything[point.rows], point.multipliers)
    rows = _common(dense * problem.signs[everything][:, None])
    split = len(groups[0])
    pairs = [(i, j) for i in range(split) for j in range(split, len(rows))]
    point = nearest(
        [[b - a for a, b in zip(rows[i], rows[j], strict=True)] for i, j in pairs],
        out_of_time,
        gap,
    )
    if point is None or point.direction is None:
        return None
    alpha = [0] * len(rows)
    for place, a in zip(point.rows, point.multipliers, strict=True):
        for i in pairs[place]:
            alpha[i] += a
    w = point.direction
    scores = [sum(map(mul, w, row)) for row in rows]
    # rows hold x·one, where one stands for 1: b = -(low + high)/2 for one·⟨w, x⟩, all doubled
    one = _unit(dense)
    middle = max(scores[:split]) + min(scores[split:])
    plane = fewest([*(2 * one * a for a in w), -middle])
    keep = [i for i, a in enumerate(alpha) if a]
    return Closest(plane, everything[keep], fewest([alpha[i] for i in keep]))


def _unit(Z: Floats) -> int:
    """What `_common` writes for 1."""
    return max(x.as_integer_ratio()[1] for row in Z.tolist() for x in row)


def _common(Z: Floats) -> list[list[int]]:
    """Floats as whole numbers over one power of two."""
    ratios = [[x.as_integer_ratio() for x in row] for row in Z.tolist()]
    bottom = max(b for row in ratios for _, b in row)
    return [[a * (bottom // b) for a, b in row] for row in ratios]


def _conditions(
    rows: list[list[int]], biases: list[int], one: int, fit_intercept: bool
) -> tuple[list[int], list[int]] | None:
    """Whole α, of positive sum, and biases, from the conditions; None where they leave a choice.

    Rows hold `one` for 1: products of rows are one² times too large, and so are the biases.
    """
    used = biases if len(biases) == 1 else biases[:-1]  # Kesler's biases add up to zero
    used = used if fit_intercept else []
    weights = [[x for j, x in enumerate(row) if j not in biases] for row in rows]
    m, extra = len(rows), len(used) + 1
    system = [[0] * (m + extra) for _ in range(m + extra)]
    for i in range(m):
        for j in range(i + 1):
            system[i][j] = system[j][i] = sum(map(mul, weights[i], weights[j]))
        border = [rows[i][place] // one for place in used] + [-1]
        for k, x in enumerate(border):
            system[i][m + k] = system[m + k][i] = x
    right = [0] * (m + extra)
    right[-1] = -1
    solution = solve(np.array(system, dtype=object), np.array(right, dtype=object))
    return None if solution is None else (solution[0][:m], solution[0][m : m + len(used)])
