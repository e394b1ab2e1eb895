"""From any contradiction between rows of a truth table to one with few rows.

>>> from linsep.logic.tables import truth_table
>>> four_rows(truth_table(lambda a, b, c, d: (a and b) or (c and d), 4))
((3, 12), (5, 10))
>>> vectors = {0: (-1, 0, 0), 1: (1, 0, 1), 2: (1, 1, 0), 3: (-1, -1, -1)}
>>> fewer_rows({0: 2, 1: 2, 2: 2, 3: 2}, vectors)
{0: 1, 1: 1, 2: 1, 3: 1}
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from linsep.logic.tables import TruthTable, weighted_sums

Clash = tuple[tuple[int, int], tuple[int, int]]


def four_rows(table: TruthTable) -> Clash | None:
    """Return rows (a, b) with f = 1 and (c, d) with f = 0 where a + b = c + d, if there are any.

    Every function of at most eight inputs that is no threshold function has such rows (Muroga,
    Tsuboi and Baugh, Enumeration of threshold functions of eight variables, 1970).
    """
    # In base three the digits of a + b are the sums of the inputs, with no carry.
    codes = weighted_sums(tuple(3**k for k in reversed(range(table.n))))
    values = table.values()
    on, off = np.flatnonzero(values), np.flatnonzero(values == 0)
    shared = np.intersect1d(_pair_sums(codes[on]), _pair_sums(codes[off]))
    if not shared.size:
        return None
    return _pair(on, codes, int(shared[0])), _pair(off, codes, int(shared[0]))


def _pair_sums(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    first, second = np.triu_indices(len(codes), 1)
    return np.unique(codes[first] + codes[second])


def _pair(rows: NDArray[np.intp], codes: NDArray[np.int64], total: int) -> tuple[int, int]:
    row_of = {int(codes[row]): int(row) for row in rows}
    return next(
        (row, row_of[total - code]) for code, row in row_of.items() if total - code in row_of
    )


def fewer_rows(multipliers: dict[int, int], vectors: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Carathéodory: keep as few of the terms of Σ αᵣ vᵣ = 0 as one linear relation needs.

    Parameters
    ----------
    multipliers : dict of int to positive int
        αᵣ.
    vectors : dict of int to sequence of int
        vᵣ, with n + 1 entries; at most n + 2 terms are left.
    """
    left = {row: Fraction(count) for row, count in multipliers.items()}
    while (relation := _second_relation(left, vectors)) is not None:
        # α - θ β stays non-negative and loses a term at the smallest αᵣ / βᵣ over βᵣ > 0.
        theta = min(left[row] / beta for row, beta in relation.items() if beta > 0)
        left = {row: alpha - theta * relation.get(row, 0) for row, alpha in left.items()}
        left = {row: alpha for row, alpha in left.items() if alpha}
    scale = lcm(*(alpha.denominator for alpha in left.values()))
    whole = {row: int(alpha * scale) for row, alpha in left.items()}
    common = gcd(*whole.values())
    return {row: count // common for row, count in whole.items()}


def _second_relation(
    left: dict[int, Fraction], vectors: Mapping[int, Sequence[int]]
) -> dict[int, Fraction] | None:
    """Return a relation among the vectors, with a positive entry, that leaves one of them out."""
    rows = list(left)
    reduced: list[tuple[int, list[Fraction], dict[int, Fraction]]] = []
    for row in rows[:-1]:  # without the last, a relation is another one than α
        vector, made_of = [Fraction(v) for v in vectors[row]], {row: Fraction(1)}
        for pivot, other, other_made_of in reduced:
            if factor := vector[pivot] / other[pivot]:
                vector = [v - factor * o for v, o in zip(vector, other, strict=True)]
                for key, amount in other_made_of.items():
                    made_of[key] = made_of.get(key, Fraction(0)) - factor * amount
        pivot = next((k for k, v in enumerate(vector) if v), -1)
        if pivot < 0:
            return made_of
        reduced.append((pivot, vector, made_of))
    return None
