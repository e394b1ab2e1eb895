"""Why no threshold unit computes a function: rows of its truth table that contradict each other.

A unit that computed f would have w·x + b >= 0 on every row with f(x) = 1 and w·x + b < 0 on every
row with f(x) = 0. When some rows of the first kind and some of the second, each taken a positive
number of times, add up to the same Σ (x, 1), the two sums would be one number, both >= 0 and < 0.

>>> from linsep.logic.tables import truth_table
>>> proof = Impossible(truth_table([0, 1, 1, 0]), rows=(1, 2, 0, 3), multipliers=(1, 1, 1, 1))
>>> print(proof)
No threshold unit w1 x1 + w2 x2 + b >= 0 computes this function:
  f(0, 1) = 1  asks for       w2 + b >= 0
  f(1, 0) = 1  asks for       w1 + b >= 0
  f(0, 0) = 0  asks for            b <  0
  f(1, 1) = 0  asks for  w1 + w2 + b <  0
The rows with f = 1 add up to  w1 + w2 + 2 b >= 0,
the rows with f = 0 add up to  w1 + w2 + 2 b <  0: a contradiction, 0 < 0.
>>> proof.verify()
True
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from linsep.errors import ParameterError
from linsep.logic.tables import TruthTable


@dataclass(frozen=True)
class Impossible:
    """A proof that no threshold unit computes a function, which `verify` re-checks.

    Attributes
    ----------
    table : TruthTable
        The function.
    rows : tuple of int
        Numbers of contradicting rows of the truth table: four for every function of at most eight
        inputs, and never more than n + 2. No proof has fewer than four, for a corner of the cube
        lies between no two others.
    multipliers : tuple of int
        How many times each row is taken.
    """

    table: TruthTable
    rows: tuple[int, ...]
    multipliers: tuple[int | Fraction, ...]

    @property
    def n(self) -> int:
        """The number of inputs."""
        return self.table.n

    @property
    def inputs(self) -> tuple[tuple[int, ...], ...]:
        """The inputs of each row of the proof."""
        return tuple(self.table.inputs(row) for row in self.rows)

    @property
    def values(self) -> tuple[int, ...]:
        """The value of the function at each row of the proof."""
        return tuple(self.table.value(row) for row in self.rows)

    def verify(self) -> bool:
        """Check in exact arithmetic, from the truth table, that the rows contradict each other.

        Every multiplier must be a positive whole number or fraction, every row a row of the
        table, and Σ αᵣ sᵣ (xᵣ, 1) = 0, where s is 1 on rows with f = 1 and -1 on those with f = 0.
        """
        n, bits = self.table.n, self.table.bits
        if not self.rows or len(self.rows) != len(self.multipliers):
            return False
        totals = [Fraction(0)] * (n + 1)
        for row, multiplier in zip(self.rows, self.multipliers, strict=True):
            if type(row) is not int or not 0 <= row < 2**n:
                return False
            if type(multiplier) not in (int, Fraction) or multiplier <= 0:
                return False
            signed = Fraction(multiplier if bits // 2**row % 2 else -multiplier)
            digits = format(row, f"0{n}b") if n else ""
            for i, digit in enumerate(digits):
                if digit == "1":
                    totals[i] += signed
            totals[n] += signed
        return not any(totals)

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Write the proof over the given names, or over x1, x2, ..."""
        if names is None:
            names = [f"x{i + 1}" for i in range(self.n)]
        if len(names) != self.n:
            raise ParameterError(f"names has {len(names)} entries; the function has {self.n}")
        weights, bias = _letters(names)
        unit = " + ".join(f"{w} {x}" for w, x in zip(weights, names, strict=True))
        form = f"{unit} + {bias}" if self.n <= 4 else f"w·x + {bias}"
        lines = [f"No threshold unit {form} >= 0 computes this function:"]
        sums = [_total([inputs], [1], [*weights, bias]) for inputs in self.inputs]
        width = max(map(len, sums))
        for inputs, value, multiplier, text in zip(
            self.inputs, self.values, self.multipliers, sums, strict=True
        ):
            arguments = ", ".join(map(str, inputs))
            times = "" if multiplier == 1 else f"  taken {multiplier} times"
            relation = ">=" if value else "< "
            lines.append(
                f"  f({arguments}) = {value}  asks for  {text:>{width}} {relation} 0{times}"
            )
        for value, opening, closing in (
            (1, "The", ">= 0,"),
            (0, "the", "<  0: a contradiction, 0 < 0."),
        ):
            chosen = [k for k, v in enumerate(self.values) if v == value]
            rows = [self.inputs[k] for k in chosen]
            total = _total(rows, [self.multipliers[k] for k in chosen], [*weights, bias])
            lines.append(f"{opening} rows with f = {value} add up to  {total} {closing}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def _letters(names: Sequence[str]) -> tuple[list[str], str]:
    """Return what to call the weights and the bias beside these inputs."""
    numbered = all(name == f"x{i + 1}" for i, name in enumerate(names))
    weights = [f"w{i + 1}" if numbered else f"w_{name}" for i, name in enumerate(names)]
    return weights, "bias" if "b" in names else "b"


def _total(inputs: Sequence[Sequence[int]], times: Sequence[Any], terms: Sequence[str]) -> str:
    columns = [*zip(*inputs, strict=True), (1,) * len(inputs)]
    counts = [sum(x * t for x, t in zip(column, times, strict=True)) for column in columns]
    counted = zip(counts, terms, strict=True)
    return " + ".join(name if count == 1 else f"{count} {name}" for count, name in counted if count)
