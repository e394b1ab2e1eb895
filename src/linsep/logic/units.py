"""Threshold logic units: one neuron that fires, or does not, on 0/1 inputs.

A unit computes 1{w·x + b >= 0}. The gates carry the textbook weights:

>>> print(OR(), "|", AND(), "|", NOT())
x1 + x2 >= 0.5 | x1 + x2 >= 1.5 | -x1 >= -0.5
>>> AND()([[0, 0], [0, 1], [1, 0], [1, 1]])
array([0, 0, 0, 1])

Inputs are counted from 0 in Python, as everywhere in Python, and written x1, x2, ... in text, as in
textbooks: index 3 is x4.

>>> print(conjunction([0, 1, 3], 4))
x1 + x2 + x4 >= 3
>>> print(at_least(2, 4, among=[0, 2, 3]))
x1 + x3 + x4 >= 2
"""

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.errors import DataError, ParameterError
from linsep.logic.tables import input_count, weighted_sums

Number = int | float | Fraction


@dataclass(frozen=True)
class ThresholdUnit:
    """Fire on a 0/1 row x when w·x + b >= 0, decided in exact arithmetic.

    Parameters
    ----------
    weights : sequence of numbers
        One weight for each input.
    bias : number
        b; the unit fires when w·x reaches the threshold -b.

    Examples
    --------
    >>> unit = ThresholdUnit([2, -1], bias=-1)
    >>> print(unit)
    2 x1 - x2 >= 1
    >>> unit([1, 1]), unit(0, 1)
    (1, 0)
    >>> unit([[1, 0], [0, 0]])
    array([1, 0])
    """

    weights: tuple[Number, ...]
    bias: Number

    def __init__(self, weights: Any, bias: Any) -> None:
        if not isinstance(weights, (tuple, list)):
            if np.ndim(weights) != 1:
                raise ParameterError(f"weights = {weights!r}; wanted one number for each input")
            weights = list(np.asarray(weights))
        object.__setattr__(self, "weights", tuple(_number("weights", w) for w in weights))
        object.__setattr__(self, "bias", _number("bias", bias))

    @property
    def n(self) -> int:
        """The number of inputs."""
        return len(self.weights)

    def __call__(self, *rows: Any) -> Any:
        """Return 0 or 1 for one row, or an array of them for a 2-d array of rows.

        One row may also be given as n separate arguments.
        """
        X = binary_rows(rows, self.n)
        weights, bias = self._integers
        w = np.array(weights, dtype=_dtype(weights, bias))
        fires = X.astype(w.dtype) @ w + bias >= 0  # 1{w·x + b >= 0}
        return int(fires) if X.ndim == 1 else fires.astype(np.int64)

    def truth_table(self) -> NDArray[np.uint8]:
        """Return the 2ⁿ values of the unit, the first input most significant.

        >>> ThresholdUnit([1, 1], -2).truth_table().tolist()
        [0, 0, 0, 1]
        """
        input_count(self.n)
        weights, bias = self._integers
        return (weighted_sums(weights) >= -bias).astype(np.uint8)

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Write the unit as an inequality over the given names, or over x1, x2, ...

        >>> AND().describe(["rain", "wind"])
        'rain + wind >= 1.5'
        """
        if names is None:
            names = [f"x{i + 1}" for i in range(self.n)]
        if len(names) != self.n:
            raise ParameterError(f"names has {len(names)} entries; the unit has {self.n} inputs")
        return f"{weighted_sum(self.weights, names)} >= {_written(-self.bias)}"

    def __str__(self) -> str:
        return self.describe()

    @cached_property
    def _integers(self) -> tuple[tuple[int, ...], int]:
        # Floats are binary fractions: on a common denominator the comparison is one of integers.
        exact = [Fraction(number) for number in (*self.weights, self.bias)]
        scale = math.lcm(*(number.denominator for number in exact))
        *weights, bias = (int(number * scale) for number in exact)
        return tuple(weights), bias


def AND(n: int = 2) -> ThresholdUnit:  # noqa: N802
    """Return the unit that fires when all n inputs are 1.

    >>> AND()(1, 1), AND()(1, 0)
    (1, 0)
    """
    return ThresholdUnit((1,) * _size(n), 0.5 - n)


def OR(n: int = 2) -> ThresholdUnit:  # noqa: N802
    """Return the unit that fires when some input is 1.

    >>> OR()(0, 1), OR()(0, 0)
    (1, 0)
    """
    return ThresholdUnit((1,) * _size(n), -0.5)


def NOT() -> ThresholdUnit:  # noqa: N802
    """Return the unit that fires when its one input is 0.

    >>> NOT()(0), NOT()(1)
    (1, 0)
    """
    return ThresholdUnit((-1,), 0.5)


def NAND(n: int = 2) -> ThresholdUnit:  # noqa: N802
    """Return the unit that fires unless all n inputs are 1.

    >>> NAND()(1, 1), NAND()(1, 0)
    (0, 1)
    """
    return ThresholdUnit((-1,) * _size(n), n - 0.5)


def NOR(n: int = 2) -> ThresholdUnit:  # noqa: N802
    """Return the unit that fires when no input is 1.

    >>> NOR()(0, 0), NOR()(0, 1)
    (1, 0)
    """
    return ThresholdUnit((-1,) * _size(n), 0.5)


def conjunction(indices: Iterable[int], n: int, negated: Iterable[int] = ()) -> ThresholdUnit:
    """Return the unit that fires when the chosen inputs are 1 and the negated ones are 0.

    Parameters
    ----------
    indices : iterable of int
        The inputs that must be 1, counted from 0: index 3 is x4.
    n : int
        The number of inputs; those not named get weight 0.
    negated : iterable of int
        The inputs that must be 0.

    Examples
    --------
    >>> conjunction([0, 1, 3], 4)
    ThresholdUnit(weights=(1, 1, 0, 1), bias=-3)
    >>> print(conjunction([0], 2, negated=[1]))
    x1 - x2 >= 1
    """
    weights = [0] * _size(n)
    ones, zeros = _chosen("indices", indices, n), _chosen("negated", negated, n)
    if both := set(ones) & set(zeros):
        raise ParameterError(
            f"input {min(both)} is in indices and in negated; it cannot be 1 and 0 at once"
        )
    for i in ones:
        weights[i] = 1
    for i in zeros:
        weights[i] = -1
    return ThresholdUnit(weights, -len(ones))


def at_least(m: int, n: int, among: Iterable[int] | None = None) -> ThresholdUnit:
    """Return the unit that fires when at least m inputs are 1.

    Parameters
    ----------
    m : int
        How many; more than there are gives a unit that never fires.
    n : int
        The number of inputs.
    among : iterable of int, optional
        Count only these inputs, counted from 0: index 3 is x4. All of them when left out.

    Examples
    --------
    >>> at_least(2, 4, among=[0, 2, 3])
    ThresholdUnit(weights=(1, 0, 1, 1), bias=-2)
    """
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or m < 0:
        raise ParameterError(f"m = {m!r}; wanted how many inputs must be 1: 0, 1, 2, ...")
    counted = range(_size(n)) if among is None else _chosen("among", among, n)
    weights = [0] * n
    for i in counted:
        weights[i] = 1
    return ThresholdUnit(weights, -int(m))


def binary_rows(rows: tuple[Any, ...], n: int) -> NDArray[np.int64]:
    """Read what a unit or a network was called on: one row, or a 2-d array of rows, of 0 and 1.

    >>> binary_rows((1, 0), 2), binary_rows(([[1, 0]],), 2)
    (array([1, 0]), array([[1, 0]]))
    """
    given = rows[0] if len(rows) == 1 and np.ndim(rows[0]) else rows
    try:
        X = np.asarray(given)
        ones = X == 1
        wrong = ~(ones | (X == 0))
    except (TypeError, ValueError):
        raise DataError(f"the inputs {given!r} are no rows of 0 and 1") from None
    if X.ndim not in (1, 2) or X.shape[-1] != n:
        raise DataError(
            f"the inputs have shape {X.shape}; wanted one row of {n} values, or an array of rows"
        )
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        where = f"input {place[-1]}" + (f" of row {place[0]}" if X.ndim == 2 else "")
        raise DataError(f"{where} is {X[place]!r}; a threshold unit reads 0 or 1")
    return ones.astype(np.int64)


def weighted_sum(weights: Sequence[Number], names: Sequence[str]) -> str:
    """Write w·x with the given names, leaving zero weights out.

    >>> weighted_sum([1, 0, -2], ["a", "b", "c"])
    'a - 2 c'
    """
    text = ""
    for weight, name in zip(weights, names, strict=True):
        if weight:
            sign = (" - " if weight < 0 else " + ") if text else ("-" if weight < 0 else "")
            size = "" if weight in (1, -1) else _written(weight).removeprefix("-") + " "
            text += sign + size + name
    return text or "0"


def _number(name: str, value: Any) -> Number:
    if type(value) is int:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        value = int(value)
    finite = not isinstance(value, float) or math.isfinite(value)
    if not isinstance(value, (int, float, Fraction)) or not finite:
        raise ParameterError(f"{name}: found {value!r}; wanted a finite number")
    return value


def _written(number: Number) -> str:
    whole = isinstance(number, float) and number.is_integer() and abs(number) < 1e15
    return str(int(number)) if whole else str(number)


def _dtype(weights: tuple[int, ...], bias: int) -> Any:
    return np.int64 if sum(map(abs, weights)) + abs(bias) < 2**62 else object


def _size(n: Any) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        count = -1
    if isinstance(n, bool) or count < 0:
        raise ParameterError(f"n = {n!r}; wanted the number of inputs: 0, 1, 2, ...")
    return count


def _chosen(name: str, indices: Iterable[int], n: int) -> list[int]:
    chosen: list[int] = []
    for index in indices:
        i = index.__index__() if hasattr(index, "__index__") else -1
        if isinstance(index, bool) or not 0 <= i < _size(n):
            raise ParameterError(
                f"{name} holds {index!r}; the {n} inputs are counted from 0 to {n - 1}"
            )
        if i in chosen:
            raise ParameterError(f"{name} names input {i} twice; name each input once")
        chosen.append(i)
    return chosen
