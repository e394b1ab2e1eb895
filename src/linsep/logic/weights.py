"""The smallest weights of an ordered threshold function, by an exact linear program.

For a function f whose every input helps (see `ordered`), the weights sought solve

    minimise  Σ wᵢ   subject to   w·p >= t      for every row p with f(p) = 1,
                                  w·q <= t - 1  for every row q with f(q) = 0,   w, t >= 0.

Its dual has one column for each of the 2ⁿ rows but only n + 1 constraints, and zero is feasible, so
a revised simplex method prices all rows at once by their weighted sums. Everything is integer: the
inverse of the basis is kept as whole numbers over one denominator (Edmonds), and ties leave by the
lexicographic rule, which never cycles. An optimum gives the weights. Its value bounds the sum of
any integer weights from below, so an optimum in whole numbers is proved smallest; up to seven
inputs it always is (Muroga, Tsuboi and Baugh, 1970). An unbounded ray gives rows and multipliers
that no weights survive.

>>> from linsep.logic.tables import truth_table
>>> smallest(truth_table(lambda a, b, c: c and (a or b), 3))
Weights(weights=(1, 1, 2), threshold=3)
"""

from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linsep.logic.tables import TruthTable, weighted_sums

Ray = dict[int, int]
REMEMBERED = 8


class Weights(NamedTuple):
    """Whole weights and a threshold: f(x) = 1 exactly when w·x >= t."""

    weights: tuple[int, ...]
    threshold: int


def smallest(table: TruthTable) -> Weights | Ray:
    """Return integer weights for an ordered function, or multipliers of rows that rule them out.

    Parameters
    ----------
    table : TruthTable
        A function every input of which helps: raising it gains somewhere and loses nowhere.

    Returns
    -------
    Weights, or dict of row number to positive multiplier
        The smallest weights, or a combination Σ ±αᵣ (xᵣ, 1) = 0, with + where f = 1 and - where
        f = 0.
    """
    return _remembered(table) if table.n <= REMEMBERED else _search(table)


@lru_cache(maxsize=1 << 15)
def _remembered(table: TruthTable) -> Weights | Ray:
    return _search(table)


def _search(table: TruthTable) -> Weights | Ray:
    if table.n == 0:
        return Weights((), 1 - table.bits)  # 0 >= 0 always, 0 >= 1 never
    basis = _Basis(table.n)
    fires = table.values().astype(bool)
    while True:
        scores = basis.scores()
        on = np.where(fires, scores, scores.max() + 1)
        off = np.where(fires, scores.min() - 1, scores)
        true_row, false_row = int(on.argmin()), int(off.argmax())
        threshold, one = basis.prices[-1], basis.denominator
        lack_true = threshold - int(on[true_row])  # t - w·p > 0: p is not reached
        lack_false = int(off[false_row]) + one - threshold  # w·q - (t - 1) > 0: q is
        idle = [k for k, price in enumerate(basis.prices) if price < 0]
        if max(lack_true, lack_false) > 0:
            row = true_row if lack_true >= lack_false else false_row
            column = _column(row, table)
            bounded = basis.enter(row, column, -max(lack_true, lack_false))
        elif idle:
            unit = [int(k == idle[0]) for k in range(table.n + 1)]
            bounded = basis.enter(-1 - idle[0], unit, basis.prices[idle[0]])
        else:
            return _whole(basis, fires)
        if not bounded:
            return _combination(table, basis)


def _column(row: int, table: TruthTable) -> list[int]:
    # The row's inequality as a column: (p, -1) for w·p - t >= 0, (-q, 1) for t - w·q >= 1.
    sign = 1 if table.value(row) else -1
    return [*(sign * x for x in table.inputs(row)), -sign]


class _Basis:
    """The basis of the dual program: its inverse and its values over one common denominator.

    Members are row numbers, or -1 - k for the slack of constraint k.
    """

    def __init__(self, n: int) -> None:
        size = n + 1
        self.denominator = 1
        self.members = [-1 - k for k in range(size)]
        self.ray: Ray = {}
        # Right-hand side first, so that comparing rows compares values, then breaks ties.
        self.rows = [[int(k < n), *(int(j == k) for j in range(size))] for k in range(size)]
        self.costs = [0] * (size + 1)

    @property
    def prices(self) -> list[int]:
        """The weights and the threshold, times the denominator."""
        return self.costs[1:]

    def scores(self) -> NDArray[Any]:
        """w·x for all rows x, times the denominator."""
        return weighted_sums(tuple(self.prices[:-1]))

    def enter(self, member: int, column: list[int], cost: int) -> bool:
        """Bring a column in; return False, and keep the ray, when nothing bounds it."""
        heights = [sum(map(int.__mul__, row[1:], column)) for row in self.rows]
        leaving = [k for k, height in enumerate(heights) if height > 0]
        if not leaving:
            self.ray = {member: self.denominator}
            for old, height in zip(self.members, heights, strict=True):
                if height:
                    self.ray[old] = -height
            return False
        out = min(leaving, key=lambda k: [Fraction(v, heights[k]) for v in self.rows[k]])
        pivot, pivot_row = heights[out], self.rows[out]
        for k, height in enumerate(heights):
            if k != out:
                self.rows[k] = self._reduced(self.rows[k], height, pivot, pivot_row)
        self.costs = self._reduced(self.costs, cost, pivot, pivot_row)
        self.denominator = pivot
        self.members[out] = member
        return True

    def _reduced(self, row: list[int], height: int, pivot: int, pivot_row: list[int]) -> list[int]:
        d = self.denominator
        return [(a * pivot - height * b) // d for a, b in zip(row, pivot_row, strict=True)]


def _whole(basis: _Basis, fires: NDArray[np.bool_]) -> Weights:
    """Return the optimum in whole numbers: itself, or its first multiple that may be rounded."""
    exact = [Fraction(price, basis.denominator) for price in basis.prices[:-1]]
    last = lcm(*(weight.denominator for weight in exact))
    for scale in [*range(1, min(last, 100)), last]:
        weights = tuple(round(scale * weight) for weight in exact)
        sums = weighted_sums(weights)
        threshold = int(sums[fires].min())
        if threshold > int(sums[~fires].max()):
            return Weights(weights, threshold)
    raise AssertionError("the last multiple is whole, so it separates as the optimum does")


def _combination(table: TruthTable, basis: _Basis) -> Ray:
    """Write the unbounded ray with rows alone: each slack stands for two rows, or for one."""
    total: Ray = {}
    for member, multiplier in basis.ray.items():
        for row in [member] if member >= 0 else _rows_of_slack(table, -1 - member):
            total[row] = total.get(row, 0) + multiplier
    return total


def _rows_of_slack(table: TruthTable, k: int) -> list[int]:
    if k == table.n:
        return [0]  # t > 0 is what the row of zeros says
    step = 1 << (table.n - 1 - k)
    low = next(
        row
        for row in range(1 << table.n)
        if not row & step and table.value(row | step) and not table.value(row)
    )
    return [low | step, low]  # wₖ > 0 is what these two rows say together
