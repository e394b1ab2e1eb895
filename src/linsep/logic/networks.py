"""Two layers of threshold units: every Boolean function, also those no single unit computes.

XOR is the smallest of these, the "and" of "nand" and "or":

>>> print(XOR)
h1 = [-x1 - x2 >= -1.5]
h2 = [x1 + x2 >= 0.5]
y  = [h1 + h2 >= 1.5]
>>> XOR([[0, 0], [0, 1], [1, 0], [1, 1]])
array([0, 1, 1, 0])
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.errors import ParameterError
from linsep.logic.covers import MERGED, cover
from linsep.logic.realization import realize_table
from linsep.logic.tables import TruthTable, all_rows, rows_without, truth_table, weighted_sums
from linsep.logic.units import AND, NAND, OR, ThresholdUnit, binary_rows


@dataclass(frozen=True)
class Network:
    """A layer of hidden threshold units, and one unit that reads what they say.

    Parameters
    ----------
    hidden : sequence of ThresholdUnit
        All over the same inputs.
    output : ThresholdUnit
        With one input for each hidden unit.

    Examples
    --------
    >>> from linsep.logic import AND, NOR, OR
    >>> equal = Network([AND(), NOR()], OR())
    >>> equal(1, 1), equal([0, 1])
    (1, 0)
    """

    hidden: tuple[ThresholdUnit, ...]
    output: ThresholdUnit

    def __init__(self, hidden: Iterable[ThresholdUnit], output: ThresholdUnit) -> None:
        units = tuple(hidden)
        if not units or not all(isinstance(unit, ThresholdUnit) for unit in (*units, output)):
            raise ParameterError("hidden must be one or more threshold units, and output one")
        if len({unit.n for unit in units}) > 1:
            counts = ", ".join(str(unit.n) for unit in units)
            raise ParameterError(f"the hidden units read {counts} inputs; all must read the same")
        if output.n != len(units):
            raise ParameterError(
                f"output reads {output.n} inputs; it must read the {len(units)} hidden units"
            )
        object.__setattr__(self, "hidden", units)
        object.__setattr__(self, "output", output)

    @property
    def n(self) -> int:
        """The number of inputs."""
        return self.hidden[0].n

    def __call__(self, *rows: Any) -> Any:
        """Return 0 or 1 for one row, or an array of them for a 2-d array of rows.

        One row may also be given as n separate arguments.
        """
        X = binary_rows(rows, self.n)
        return self.output(np.stack([np.asarray(unit(X)) for unit in self.hidden], axis=-1))

    def truth_table(self) -> NDArray[np.uint8]:
        """Return the 2ⁿ values of the network, the first input most significant.

        >>> XOR.truth_table().tolist()
        [0, 1, 1, 0]
        """
        layer = np.stack([unit.truth_table() for unit in self.hidden], axis=-1)
        return np.asarray(self.output(layer), dtype=np.uint8)

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Write one line for each unit, over the given names or over x1, x2, ..."""
        layer = [f"h{k + 1}" for k in range(len(self.hidden))]
        width = max(map(len, layer))
        lines = [
            f"{name:<{width}} = [{unit.describe(names)}]"
            for name, unit in zip(layer, self.hidden, strict=True)
        ]
        return "\n".join([*lines, f"{'y':<{width}} = [{self.output.describe(layer)}]"])

    def __str__(self) -> str:
        return self.describe()


XOR = Network([NAND(), OR()], AND())


def network(f: Any, n: int | None = None) -> Network:
    """Build a two-layer network of threshold units that computes any Boolean function.

    The hidden layer is one unit when one is enough; otherwise the smallest of three: units whose
    "or" is f; units whose "and" is f; and, when f depends only on how many inputs are 1 (some
    perhaps negated), one unit for each count at which it changes, so that the parity of n inputs
    takes n. It is small, not proved smallest.

    Parameters
    ----------
    f : callable, array-like of 2ⁿ values, or a unit, network or parsed expression
        As for `realize`.
    n : int, optional
        The number of inputs, at most 16; needed for a Python function only.

    Examples
    --------
    >>> print(network(lambda a, b, c, d: (a and b) or (c and d), 4))
    h1 = [x1 + x2 >= 2]
    h2 = [x3 + x4 >= 2]
    y  = [h1 + h2 >= 1]
    >>> len(network(lambda *inputs: sum(inputs) % 2, 10).hidden)
    10
    """
    table = truth_table(f, n)
    unit = realize_table(table)
    if isinstance(unit, ThresholdUnit):
        return Network([unit], ThresholdUnit((1,), -1))
    counted = _counting(table)
    if counted is not None and table.n > MERGED:
        return counted
    any_of = cover(table)
    opposite = TruthTable(all_rows(table.n) & ~table.bits, table.n)
    all_of = [_complement(unit) for unit in cover(opposite)]
    if counted is not None and len(counted.hidden) < min(len(any_of), len(all_of)):
        return counted
    if _size(any_of) < _size(all_of):
        return Network(any_of, ThresholdUnit((1,) * len(any_of), -1))
    return Network(all_of, ThresholdUnit((1,) * len(all_of), -len(all_of)))


def _size(units: list[ThresholdUnit]) -> tuple[int, int]:
    connections = sum(weight != 0 for unit in units for weight in unit.weights)
    return len(units), connections


def _complement(unit: ThresholdUnit) -> ThresholdUnit:
    # In whole numbers w·x + b < 0 is -w·x - b - 1 >= 0.
    return ThresholdUnit([-weight for weight in unit.weights], -unit.bias - 1)


def _counting(table: TruthTable) -> Network | None:
    """Return a network over nested counts w·x >= k, w in {-1, 0, 1}, if f depends on w·x alone."""
    weights = _signs(table)
    if weights is None:
        return None
    sums, values = weighted_sums(weights), table.values()
    levels, first, level_of = np.unique(sums, return_index=True, return_inverse=True)
    at_level = values[first]
    if (at_level[level_of] != values).any():
        return None
    changes = np.flatnonzero(np.diff(at_level)) + 1
    hidden = [ThresholdUnit(weights, -int(levels[k])) for k in changes]
    start = int(at_level[0])
    signs = [(-1) ** (k + start) for k in range(len(hidden))]
    return Network(hidden, ThresholdUnit(signs, start - 1))


def _signs(table: TruthTable) -> tuple[int, ...] | None:
    """Return the only w in {-1, 0, 1}ⁿ, first sign +, that f may be counting, if there is one."""
    bits, n = table.bits, table.n
    weights = [0] * n
    lead = -1
    for i in range(n):
        step, without = 1 << (n - 1 - i), rows_without(n, i)
        if bits & without == bits >> step & without:
            continue
        if lead < 0:
            lead, weights[i] = i, 1
            continue
        far = 1 << (n - 1 - lead)
        both = without & rows_without(n, lead)
        if bits >> step & both == bits >> far & both:
            weights[i] = 1
        elif bits & both == bits >> (step + far) & both:
            weights[i] = -1
        else:
            return None
    return tuple(weights)
