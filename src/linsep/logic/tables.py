"""Truth tables of Boolean functions, each held as one integer.

Row number r of a table over n inputs is the row whose inputs are the binary digits of r, the first
input being the most significant: for n = 2 the rows are 00, 01, 10, 11. Bit r of the integer is the
value of the function there, so that "and", "or" and "not" of whole tables are one operation each.

>>> table = truth_table(lambda a, b: a and not b, 2)
>>> table.values().tolist()
[0, 0, 1, 0]
>>> table.inputs(2)
(1, 0)
"""

import inspect
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.errors import DataError, ParameterError

MAX_INPUTS = 16


@dataclass(frozen=True, slots=True)
class TruthTable:
    """The 2ⁿ values of a Boolean function of n inputs.

    Parameters
    ----------
    bits : int
        Bit r is the value at row r, whose inputs are the binary digits of r, first input first.
    n : int
        The number of inputs.

    Examples
    --------
    >>> TruthTable(0b1000, 2).values()
    array([0, 0, 0, 1], dtype=uint8)
    """

    bits: int
    n: int

    def values(self) -> NDArray[np.uint8]:
        """Return the 2ⁿ values in row order."""
        size = 1 << self.n
        packed = np.frombuffer(self.bits.to_bytes((size + 7) // 8, "little"), np.uint8)
        return np.unpackbits(packed, count=size, bitorder="little")

    def value(self, row: int) -> int:
        """Return the value at row number `row`."""
        return self.bits >> row & 1

    def inputs(self, row: int) -> tuple[int, ...]:
        """Return the inputs of row number `row`."""
        return tuple(row >> (self.n - 1 - i) & 1 for i in range(self.n))

    def __repr__(self) -> str:
        written = f"{self.bits:#b}" if self.n <= 5 else f"{self.bits:#x}"
        short = written if len(written) <= 72 else f"{written[:35]}..{written[-35:]}"
        return f"TruthTable(bits={short}, n={self.n})"


def truth_table(f: Any, n: int | None = None) -> TruthTable:
    """Read a Boolean function, however it is given, into a table.

    Parameters
    ----------
    f : callable, array-like of 2ⁿ values, expression, or anything with a ``truth_table()`` method
        A Python function is called with n arguments, each 0 or 1; when it takes fewer it is called
        with one argument, the row as a tuple. Texts such as "x1 ^ x2" are parsed; units, networks
        and parsed expressions know their own tables. A sequence lists the values with the first
        input most significant.
    n : int, optional
        The number of inputs; needed for a Python function, checked when `f` tells it.

    Examples
    --------
    >>> truth_table([0, 1, 1, 0]) == truth_table(lambda a, b: a != b, 2)
    True
    >>> truth_table(lambda row: sum(row) >= 2, 3).values().tolist()
    [0, 0, 0, 1, 0, 1, 1, 1]
    """
    if n is not None:
        n = input_count(n)
    if isinstance(f, TruthTable):
        _agree(n, f.n)
        return f
    if isinstance(f, str):
        from linsep.logic.expressions import parse  # which needs tables itself

        f = parse(f)
    if hasattr(f, "truth_table"):
        return _from_values(f.truth_table(), n)
    if callable(f):
        if n is None:
            raise ParameterError("n is missing: how many inputs does f take?")
        return _from_values(np.array(list(_ask(f, n)), dtype=np.uint8), n)
    return _from_values(f, n)


def input_count(n: Any) -> int:
    """Check a number of inputs that a truth table will be written out for.

    >>> input_count(3)
    3
    """
    try:
        count = operator.index(n)
    except TypeError:
        raise ParameterError(f"n = {n!r} is no whole number; n counts the inputs of f") from None
    if isinstance(n, bool) or not 0 <= count <= MAX_INPUTS:
        raise ParameterError(
            f"n = {n!r} inputs; a truth table has 2ⁿ rows, so n must lie in 0..{MAX_INPUTS}"
        )
    return count


@lru_cache(maxsize=1024)
def rows_without(n: int, i: int) -> int:
    """Return the set of rows in which input `i` (counted from 0) is 0, as bits.

    >>> bin(rows_without(2, 0))
    '0b11'
    """
    step = 1 << (n - 1 - i)
    mask = (1 << step) - 1
    while step < 1 << (n - 1):
        step *= 2
        mask |= mask << step
    return mask


def all_rows(n: int) -> int:
    """Return the set of all 2ⁿ rows, as bits.

    >>> bin(all_rows(2))
    '0b1111'
    """
    return (1 << (1 << n)) - 1


def weighted_sums(weights: tuple[int, ...]) -> NDArray[Any]:
    """Return w·x exactly for all 2ⁿ rows x, in row order.

    >>> weighted_sums((3, 1)).tolist()
    [0, 1, 3, 4]
    """
    exact_in_64_bits = sum(map(abs, weights)) < 2**62
    sums = np.zeros(1, dtype=np.int64 if exact_in_64_bits else object)
    for weight in reversed(weights):
        sums = np.concatenate([sums, sums + weight])
    return sums


def _from_values(values: Any, n: int | None) -> TruthTable:
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError("f is a ragged sequence; its truth values must be a flat list") from None
    if array.ndim != 1:
        raise DataError(f"f has shape {array.shape}; its truth values must be a flat list")
    size = len(array)
    count = size.bit_length() - 1
    if n is not None and size != 1 << n:
        raise DataError(f"f has {size} truth values; n = {n} inputs have {1 << n} rows")
    if size == 0 or size != 1 << count:
        raise DataError(f"f has {size} truth values; n inputs have 2ⁿ rows: 1, 2, 4, 8, ...")
    input_count(count)
    ones = array == 1
    wrong = np.flatnonzero(~(ones | (array == 0)))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(f"f[{row}] = {array[row]!r}; a truth value is 0 or 1, False or True")
    packed = np.packbits(ones.astype(np.uint8), bitorder="little").tobytes()
    return TruthTable(int.from_bytes(packed, "little"), count)


def _agree(n: int | None, known: int) -> None:
    if n is not None and n != known:
        raise DataError(f"f has {known} inputs; n = {n} was asked for. Leave n out")


def _ask(f: Callable[..., Any], n: int) -> Iterator[int]:
    spread = _takes(f, n)
    for row in product((0, 1), repeat=n):
        value = f(*row) if spread else f(row)
        try:
            answer = {0: 0, 1: 1}.get(value)
        except TypeError:
            answer = None
        if answer is None:
            raise DataError(
                f"f{row} returned {value!r}; a Boolean function returns 0 or 1, False or True"
            )
        yield answer


def _takes(f: Callable[..., Any], n: int) -> bool:
    """Whether f is to be called with n arguments rather than with one row."""
    try:
        signature = inspect.signature(f)
    except ValueError:  # a builtin that tells no signature, such as max
        return True
    if not _binds(signature, n):
        if not _binds(signature, 1):
            raise DataError(
                f"f{signature} takes neither {n} inputs nor one row of them; give its n"
            )
        return False
    if n != 1:
        return True
    try:
        f(0)
    except TypeError:  # one argument that is used as a row
        return False
    return True


def _binds(signature: inspect.Signature, n: int) -> bool:
    """Whether a function of this signature can be called with n arguments."""
    try:
        signature.bind(*[0] * n)
    except TypeError:
        return False
    return True
