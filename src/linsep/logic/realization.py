"""One threshold unit for a Boolean function, or the proof that there is none.

>>> print(realize(lambda a, b, c: a and (b or c), 3))
2 x1 + x2 + x3 >= 3
>>> realize([0, 1, 1, 0]).verify()
True

The number of functions of n = 0, 1, 2, 3 inputs that one unit computes:

>>> from itertools import product
>>> [sum(isinstance(realize(values), ThresholdUnit) for values in product((0, 1), repeat=2**n))
...  for n in range(4)]
[2, 4, 14, 104]
"""

from typing import Any

from linsep.logic.clashes import Clash, fewer_rows, four_rows
from linsep.logic.impossible import Impossible
from linsep.logic.ordering import Ordered, ordered
from linsep.logic.tables import TruthTable, truth_table
from linsep.logic.units import ThresholdUnit
from linsep.logic.weights import Weights, smallest

PAIRS_SEARCHED = 10


def realize(f: Any, n: int | None = None) -> ThresholdUnit | Impossible:
    """Find the unit with the smallest whole weights that computes f, or prove that none does.

    Minimises Σ|wᵢ| over the integer weights with w·x + b >= 0 exactly where f(x) = 1. All
    arithmetic is exact. The minimum is reached, and proved by linear programming duality, for every
    function of at most seven inputs; beyond, the weights are small and compute f.

    Parameters
    ----------
    f : callable, array-like of 2ⁿ values, or a unit, network or parsed expression
        A Python function is called with n arguments, each 0 or 1; when it takes fewer it is called
        with one argument, the row as a tuple. A sequence lists the truth values with the first
        input most significant: for n = 2, the values at 00, 01, 10, 11.
    n : int, optional
        The number of inputs, at most 16; needed for a Python function only.

    Returns
    -------
    ThresholdUnit or Impossible
        The unit; or rows of the truth table that contradict each other, for ``verify`` to check.

    Examples
    --------
    >>> realize(lambda x1, x2, x3, x4: x1 and x2 and x4, 4)
    ThresholdUnit(weights=(1, 1, 0, 1), bias=-3)
    >>> realize(lambda row: row[0] + row[2] + row[3] >= 2, 4)
    ThresholdUnit(weights=(1, 0, 1, 1), bias=-2)
    >>> realize(lambda a, b, c, d: (a and b) or (c and d), 4).rows
    (3, 12, 6, 9)
    """
    return realize_table(truth_table(f, n))


def realize_table(table: TruthTable) -> ThresholdUnit | Impossible:
    """Do the work of `realize` for a function already read.

    >>> realize_table(TruthTable(0b1110, 2))
    ThresholdUnit(weights=(1, 1), bias=-1)
    """
    form = ordered(table)
    if not isinstance(form, Ordered):
        return _four(table, form)
    answer = smallest(form.table)
    if isinstance(answer, Weights):
        weights, threshold = [0] * table.n, answer.threshold
        for i, sign, weight in zip(form.inputs, form.signs, answer.weights, strict=True):
            weights[i] = sign * weight
            if sign < 0:
                threshold -= weight  # w (1 - x) >= t is -w x >= t - w
        return ThresholdUnit(weights, -threshold)
    return _impossible(table, form, answer)


def _four(table: TruthTable, clash: Clash) -> Impossible:
    (a, b), (c, d) = (sorted(pair) for pair in clash)
    return Impossible(table, (a, b, c, d), (1, 1, 1, 1))


def _impossible(table: TruthTable, form: Ordered, ray: dict[int, int]) -> Impossible:
    inner = form.table
    if inner.n <= PAIRS_SEARCHED and (clash := four_rows(inner)) is not None:
        on, off = clash
        return _four(table, (_outer(table, form, on), _outer(table, form, off)))
    vectors = {}
    for row in ray:
        sign = 1 if inner.value(row) else -1
        vectors[row] = [sign, *(sign * x for x in inner.inputs(row))]
    few = {_original(row, table.n, form): k for row, k in fewer_rows(ray, vectors).items()}
    rows = sorted(few, key=lambda row: (-table.value(row), row))
    return Impossible(table, tuple(rows), tuple(few[row] for row in rows))


def _outer(table: TruthTable, form: Ordered, rows: tuple[int, int]) -> tuple[int, int]:
    return _original(rows[0], table.n, form), _original(rows[1], table.n, form)


def _original(row: int, n: int, form: Ordered) -> int:
    """Return the row of the original function that this row of its ordered form stands for."""
    total = 0
    for place, (i, sign) in enumerate(zip(form.inputs, form.signs, strict=True)):
        digit = row >> (form.table.n - 1 - place) & 1
        total |= (digit if sign > 0 else 1 - digit) << (n - 1 - i)
    return total
