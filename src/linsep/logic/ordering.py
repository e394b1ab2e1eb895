"""The ordered form of a Boolean function: every input helps, and no input more than a later one.

A threshold function never loses by raising an input of positive weight, and of two inputs the
heavier always counts for more (2-monotonicity). So, before any search, inputs that pull down are
flipped and inputs are sorted by their pull. When an input pulls both ways, or two inputs each count
for more than the other, four rows already contradict each other: a + b = c + d with f = 1 on a and
b and f = 0 on c and d, which no weights survive. Few functions are left, and those that differ
only in the names and signs of inputs share one answer.

>>> from linsep.logic.tables import truth_table
>>> ordered(truth_table(lambda a, b: b and not a, 2))
Ordered(table=TruthTable(bits=0b1000, n=2), inputs=(0, 1), signs=(-1, 1))
>>> ordered(truth_table(lambda a, b: a != b, 2))
((2, 1), (0, 3))
"""

from dataclasses import dataclass

from linsep.logic.tables import TruthTable, all_rows, rows_without

Clash = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A function with its inputs flipped to help, sorted by their pull, and the idle ones left out.

    Attributes
    ----------
    table : TruthTable
        The ordered function; its last input pulls most.
    inputs : tuple of int
        Input k of the ordered function is input ``inputs[k]`` of the original one, ...
    signs : tuple of int
        ... as it stands when ``signs[k]`` is 1, flipped when it is -1.
    """

    table: TruthTable
    inputs: tuple[int, ...]
    signs: tuple[int, ...]


def ordered(table: TruthTable) -> Ordered | Clash:
    """Return the ordered form, or rows (a, b) and (c, d) with a + b = c + d that rule it out."""
    bits, n = table.bits, table.n
    signs = []
    flipped = 0
    for i in range(n):
        step, mask = 1 << (n - 1 - i), rows_without(n, i)
        off, on = bits & mask, bits >> step & mask
        gains, losses = on & ~off, off & ~on  # rows in which raising input i changes the value
        if gains and losses:
            up, down = _first(gains) ^ flipped, _first(losses) ^ flipped
            return (up + step, down), (up, down + step)
        if losses:
            bits = off << step | on
            flipped |= step
        signs.append(-1 if losses else 1 if gains else 0)
    beaten = [0] * n
    for i in range(n):
        for j in range(i):
            more, less = _compared(bits, n, i, j)
            if more and less:
                return _crossed(n, i, j, _first(more) ^ flipped, _first(less) ^ flipped)
            beaten[i] += bool(more)
            beaten[j] += bool(less)
    order = sorted(range(n), key=beaten.__getitem__)
    idle = signs.count(0)  # beaten by all others, so they come first
    kept = TruthTable(_permuted(bits, order) & all_rows(n - idle), n - idle)
    return Ordered(kept, tuple(order[idle:]), tuple(signs[i] for i in order[idle:]))


def _first(rows: int) -> int:
    return (rows & -rows).bit_length() - 1


def _compared(bits: int, n: int, i: int, j: int) -> tuple[int, int]:
    """Return the rows without i and j that i alone switches on and j alone does not, and back."""
    mask = rows_without(n, i) & rows_without(n, j)
    with_i, with_j = bits >> (1 << (n - 1 - i)) & mask, bits >> (1 << (n - 1 - j)) & mask
    return with_i & ~with_j, with_j & ~with_i


def _crossed(n: int, i: int, j: int, more: int, less: int) -> Clash:
    # ^ rather than +: in the rows of the original function i or j may be flipped.
    i_on, j_on = 1 << (n - 1 - i), 1 << (n - 1 - j)
    return (more ^ i_on, less ^ j_on), (more ^ j_on, less ^ i_on)


def _permuted(bits: int, order: list[int]) -> int:
    """Return the table in which input k is input order[k] of this one."""
    n, places = len(order), list(range(len(order)))
    for k, wanted in enumerate(order):
        m = places.index(wanted)
        if m != k:
            shift = (1 << (n - 1 - k)) - (1 << (n - 1 - m))
            k_only = rows_without(n, m) & ~rows_without(n, k) & all_rows(n)
            m_only = k_only >> shift
            bits = bits & ~(k_only | m_only) | (bits & k_only) >> shift | (bits & m_only) << shift
            places[k], places[m] = places[m], places[k]
    return bits
