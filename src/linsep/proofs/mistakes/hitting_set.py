"""How few rows break every witness: exact lower bounds on the number of mistakes.

A witness is a set of rows that no separator can all get right. Whatever separator is chosen, its
mistakes break every witness, so they cost at least as much as the cheapest set of rows that has one
in each: a hitting set. Two bounds are proved in whole numbers or rationals, never in floats: the
one of a fractional packing (weights on witnesses that charge no row more than its cost), and the
optimum itself, by branching.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from linsep.proofs.exact.integers import relation
from linsep.proofs.exact.scores import whole

Array = npt.NDArray[Any]
Witness = frozenset[int]


def quick_witness(
    points: Array, labels: Array, fit_intercept: bool = True
) -> tuple[Array, list[int]] | None:
    """Rows and their exact positive combination to zero, by a linear program; None if it fails.

    Examples
    --------
    >>> square = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [5, 5]])
    >>> rows, multipliers = quick_witness(square, np.array([-1, 1, 1, -1, -1]))
    >>> rows.tolist(), multipliers
    ([0, 1, 2, 3], [1, 1, 1, 1])
    """
    constant = np.full(len(points), 1.0 if fit_intercept else 0.0)
    Z = np.column_stack([points, constant]) * labels[:, None]
    largest = np.abs(Z).max(axis=0)
    A = np.vstack([(Z / np.where(largest > 0, largest, 1)).T, np.ones(len(Z))])
    # Gordan: λ ≥ 0, Σ λ = 1, Σ λᵢzᵢ = 0; uneven prices lead to a corner, which has few rows
    prices = 1 + np.random.default_rng(len(Z)).random(len(Z))
    right = np.append(np.zeros(Z.shape[1]), 1.0)
    program = linprog(prices, A_eq=A, b_eq=right, method="highs-ds")
    if program.x is None:
        return None
    rows = np.flatnonzero(program.x > 1e-9)
    a = relation(Z[rows])
    if a is None or min(a) <= 0:
        return None
    numbers = [whole(column)[0] for column in Z[rows].T]
    cancels = all(sum(x * v for x, v in zip(a, column, strict=True)) == 0 for column in numbers)
    return (rows, a) if cancels else None


def incidence(witnesses: list[Witness], n: int) -> sp.csr_array:
    """One row per witness, one column per item."""
    rows = np.repeat(np.arange(len(witnesses)), [len(w) for w in witnesses])
    columns = np.array([i for w in witnesses for i in sorted(w)], np.int64)
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(witnesses), n))


def propose(witnesses: list[Witness], cost: Array, seconds: float) -> set[int]:
    """A cheap hitting set, by HiGHS: checked to hit everything, not trusted to be the cheapest."""
    if not witnesses:
        return set()
    program = milp(
        cost.astype(float),
        constraints=LinearConstraint(incidence(witnesses, len(cost)), lb=1),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(cost)),
        options={"time_limit": max(0.1, seconds)},
    )
    chosen = set() if program.x is None else set(np.flatnonzero(program.x > 0.5).tolist())
    for witness in witnesses:  # whatever was missed, by its cheapest row
        if not witness & chosen:
            chosen.add(min(witness, key=lambda i: int(cost[i])))
    return chosen


def packing(witnesses: list[Witness], cost: Array) -> list[Fraction]:
    """Weights on witnesses that charge no row more than it costs: their sum is a bound.

    The weights come from a linear program and are scaled down until they are exactly admissible.

    Examples
    --------
    >>> triangle = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]
    >>> sum(packing(triangle, np.ones(3, int)))  # so two rows
    Fraction(3, 2)
    """
    if not witnesses:
        return []
    A = incidence(witnesses, len(cost))
    program = linprog(-np.ones(len(witnesses)), A_ub=A.T, b_ub=cost.astype(float), method="highs")
    if program.x is None:
        return [Fraction(0)] * len(witnesses)
    shares = [Fraction(max(0.0, v)).limit_denominator(10**6) for v in program.x.tolist()]
    charged: dict[int, Fraction] = {}
    for witness, share in zip(witnesses, shares, strict=True):
        for i in witness:
            charged[i] = charged.get(i, Fraction(0)) + share
    excess = max((charge / int(cost[i]) for i, charge in charged.items()), default=Fraction(1))
    return [share / max(Fraction(1), excess) for share in shares]


def prove_none_below(
    witnesses: list[Witness],
    cost: Array,
    ceiling: int,
    late: Callable[[], bool],
    nodes: int = 200_000,
) -> bool:
    """Whether every hitting set costs at least `ceiling`: True only when all have been ruled out.

    Branch on the rows of a witness that is not hit yet; the rows tried before are left out from
    then on. A branch ends when its cost, with that of disjoint witnesses still to be hit, reaches
    the ceiling.

    Examples
    --------
    >>> triangle = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]
    >>> prove_none_below(triangle, np.ones(3, int), 2, lambda: False)
    True
    >>> prove_none_below(triangle, np.ones(3, int), 3, lambda: False)
    False
    """
    price = [int(c) for c in cost]
    left = nodes

    def ruled_out(open_: list[Witness], spent: int) -> bool:
        nonlocal left
        left -= 1
        if spent >= ceiling:
            return True
        if not open_ or left < 0 or (left % 256 == 0 and late()):
            return False
        if any(not witness for witness in open_):
            return True  # a witness whose rows are all left out cannot be hit
        if spent + _disjoint(open_, price) >= ceiling:
            return True
        witness = min(open_, key=len)
        out: set[int] = set()
        for i in sorted(witness, key=lambda i: -sum(i in w for w in open_)):
            rest = [w - out for w in open_ if i not in w]
            if not ruled_out(rest, spent + price[i]):
                return False
            out.add(i)
        return True

    return ruled_out(sorted(witnesses, key=len), 0)


def _disjoint(open_: list[Witness], price: list[int]) -> int:
    """What disjoint witnesses cost at least, taken greedily, short ones first."""
    used: set[int] = set()
    total = 0
    for witness in sorted(open_, key=len):
        if used.isdisjoint(witness):
            used |= witness
            total += min(price[i] for i in witness)
    return total
