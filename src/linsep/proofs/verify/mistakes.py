"""An independent check of the fewest mistakes, in exact arithmetic.

Like the check of separability, on which it builds, this shares nothing with the search. The
mistakes of the weights are counted again. That no plane makes fewer is seen in one of two ways:

    conflicts      sets of rows that no plane gets right, by multipliers α with Σ αᵢyᵢ(xᵢ, 1) = 0.
                   Every plane errs on a row of each; the cheapest such rows cost the bound at least
    enumeration    every cell of planes that divide the rows alike has an edge: the plane through as
                   many rows as determine it. Rows off that plane have their sides; those on it are
                   divided again, by the same argument in one dimension less
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.proofs.verify.scores import Data, Plane, brackets, lead
from linsep.proofs.verify.separability import annihilates

Array = npt.NDArray[Any]
Vector = list[int]

_NODES = 1_000_000  # branches looked at before giving up
_SCORES = 120_000_000  # scores of rows computed before giving up


def check_mistakes(answer: Any, X: Any, y: Any) -> str:
    """What is wrong with a `FewestMistakes` of these data; an empty string when nothing is.

    Examples
    --------
    >>> from linsep import fewest_mistakes
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> answer = fewest_mistakes(X, y)
    >>> check_mistakes(answer, X, y)
    ''
    >>> check_mistakes(answer, X, [0, 0, 0, 1])
    'the plane is wrong on other rows than it says'
    """
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    if len(classes) != 2:
        return f"the data have {len(classes)} classes, not two"
    data = Data(X, codes, 2, answer.fit_intercept)
    problem = _miscounted(answer, data)
    if problem or answer.lower_bound == 0:
        return problem
    if answer.enumerated:
        return _enumerated(data, answer.lower_bound)
    return _conflicting(answer, data)


def _miscounted(answer: Any, data: Data) -> str:
    """Whether the mistakes of the weights are those listed, and the numbers fit together."""
    w, b = np.asarray(answer.weights, np.float64), float(answer.bias)
    if w.shape != (data.d,) or not (np.isfinite(w).all() and math.isfinite(b)):
        return f"the weights do not fit {data.d} columns"
    if b and not data.constant:
        return "there is a bias, but this is about planes through the origin"
    planes = [Plane.of([*w.tolist(), b])]
    leads, errors = (part[:, 0] for part in brackets(planes, data))
    wrong = leads <= 0
    for i in np.flatnonzero(~((np.abs(leads) > errors) | (errors == 0))).tolist():
        wrong[i] = lead(planes, data, i, -1) <= 0
    if not np.array_equal(np.flatnonzero(wrong), np.sort(answer.rows)):
        return "the plane is wrong on other rows than it says"
    if answer.mistakes != len(answer.rows):
        return f"{answer.mistakes} mistakes are claimed, and {len(answer.rows)} rows listed"
    if answer.optimal != (answer.mistakes == answer.lower_bound):
        return "the bounds do not agree with whether this is called the optimum"
    return ""


def _conflicting(answer: Any, data: Data) -> str:
    """Whether rows that break all conflicts are as many as the bound says."""
    groups = list(_groups(data))
    cost: dict[Any, int] = {}
    for group in groups:
        cost[group] = cost.get(group, 0) + 1
    conflicts, shares = [], []
    charged: dict[Any, Fraction] = {}
    for conflict in answer.conflicts:
        problem = annihilates(
            data, conflict.rows, None, conflict.multipliers, len(conflict.multipliers)
        )
        if problem:
            return f"a conflict is none: {problem}"
        used = [
            groups[int(i)]
            for i, a in zip(conflict.rows, conflict.multipliers, strict=True)
            if a > 0
        ]
        conflicts.append(frozenset(used))
        shares.append(Fraction(conflict.share))
        for group in conflicts[-1]:
            charged[group] = charged.get(group, Fraction(0)) + shares[-1]
    fair = all(share >= 0 for share in shares) and all(charged[g] <= cost[g] for g in charged)
    if fair and math.ceil(sum(shares, Fraction(0))) >= answer.lower_bound:
        return ""
    if _unavoidable(conflicts, cost, answer.lower_bound):
        return ""
    return f"the conflicts do not show that every plane makes {answer.lower_bound} mistakes"


def _groups(data: Data) -> Iterator[tuple[Any, int]]:
    """What a row and its equals with the same label have in common: a plane errs on all or none."""
    for i in range(data.n):
        columns, values, shift = data.whole_row(i)
        yield (tuple(columns), tuple(values), shift), int(data.codes[i])


def _unavoidable(conflicts: list[frozenset[Any]], cost: dict[Any, int], bound: int) -> bool:
    """Whether to break every conflict costs `bound` at least: all ways are tried, or ruled out."""
    left = [_NODES]

    def dear(open_: list[frozenset[Any]], spent: int) -> bool:
        left[0] -= 1
        if spent >= bound:
            return True
        if not open_ or left[0] < 0:
            return False
        apart, touched = spent, set[Any]()
        for conflict in open_:  # conflicts without a row in common are paid for one by one
            if not conflict & touched:
                touched |= conflict
                apart += min((cost[group] for group in conflict), default=bound)
        if apart >= bound:
            return True
        barred: set[Any] = set()
        for group in sorted(open_[0], key=lambda g: -sum(g in other for other in open_)):
            rest = sorted((other - barred for other in open_ if group not in other), key=len)
            if not dear(rest, spent + cost[group]):
                return False
            barred.add(group)
        return True

    return dear(sorted(conflicts, key=len), 0)


def _enumerated(data: Data, bound: int) -> str:
    """Whether every division of the rows costs the bound at least, all of them looked at again."""
    points: dict[Any, list[int]] = {}
    for place, code in _groups(data):
        points.setdefault(place, [0, 0])[code] += 1
    Z = _whole_points(list(points), data)
    costs = np.array(list(points.values()), np.int64)  # of the side +1, of the side -1
    zero = ~(Z != 0).any(axis=1)
    known = int(costs[zero].sum())  # on every plane
    Z, costs = Z[~zero], costs[~zero]
    columns = _independent(Z.T)
    if math.comb(len(Z), max(0, len(columns) - 1)) * len(Z) > _SCORES:
        return f"{len(Z)} points in {data.d} columns are too many to enumerate again"
    if len(Z) and not _all_dear(Z, costs, bound - known):
        return f"some plane makes fewer than {bound} mistakes"
    return "" if len(Z) or known >= bound else f"not every plane makes {bound} mistakes"


def _whole_points(places: list[Any], data: Data) -> Array:
    """Points with their constant as whole numbers, over one power of two."""
    low = min([0, *(shift for columns, _, shift in places if columns)])
    Z = np.zeros((len(places), data.d + 1), dtype=object)
    for z, (columns, values, shift) in zip(Z, places, strict=True):
        for j, x in zip(columns, values, strict=True):
            z[j] = x << (shift - low)
        z[-1] = data.constant << -low
    return Z


def _independent(rows: Array) -> list[int]:
    """The first of `rows` that are independent of those before, by elimination."""
    kept, reduced = [], list[tuple[int, Vector]]()
    for i, row in enumerate(rows.tolist()):
        for place, other in reduced:
            if row[place]:
                row = [other[place] * a - row[place] * b for a, b in zip(row, other, strict=True)]
        if any(row):
            divisor = math.gcd(*row)
            first = next(j for j, a in enumerate(row) if a)
            reduced.append((first, [a // divisor for a in row]))
            kept.append(i)
    return kept


def _all_dear(Z: Array, costs: Array, bound: int) -> bool:
    """Whether ±⟨w, z⟩ > 0 or < 0 on all rows costs `bound` at least, whatever w may be."""
    Z = Z[:, _independent(Z.T)]  # the others tell nothing apart
    rank, rows, signs = Z.shape[1], Z.tolist(), _Signs(Z)
    seen: set[tuple[int, ...]] = set()
    for chosen in combinations(rows, rank - 1):
        edge = _normal(chosen, rank)
        divisor = math.gcd(*edge)
        if divisor == 0:
            continue
        if rank > 2 and len(rows) > rank:  # the same plane may be that of other rows as well
            plane = tuple(a // divisor for a in edge)
            if plane in seen or tuple(-a for a in plane) in seen:
                continue
            seen.add(plane)
        side = signs.of(edge)
        ahead, behind, on = side > 0, side < 0, side == 0
        (a, b), (c, d) = (ahead @ costs).tolist(), (behind @ costs).tolist()
        rest = bound - min(a + d, b + c)
        if rest <= 0 or rest <= int(costs[on].min(axis=1).sum()):
            continue
        if not on.any() or not _all_dear(Z[on], costs[on], rest):
            return False
    return True


class _Signs:
    """The signs of ⟨w, z⟩ for whole rows z: in floats where these can tell, else exactly."""

    def __init__(self, Z: Array) -> None:
        self.rows = Z.tolist()
        self.bits = [max(abs(a).bit_length() for a in column) for column in Z.T.tolist()]
        scales = [1 << b for b in self.bits]
        self.F = np.array([[a / s for a, s in zip(z, scales, strict=True)] for z in self.rows])

    def of(self, w: Vector) -> Array:
        wide = [a << b for a, b in zip(w, self.bits, strict=True)]
        top = 1 << max(abs(a).bit_length() for a in wide)
        f = np.array([a / top for a in wide])
        scores = self.F @ f
        # entries, products and sums are rounded once each; what underflows is smaller than 1e-300
        error = (np.abs(self.F) @ np.abs(f)) * (len(w) + 4) * 2.0**-52 + 1e-300
        signs = np.sign(scores)
        for i in np.flatnonzero(~(np.abs(scores) > error)).tolist():
            value = sum(a * b for a, b in zip(w, self.rows[i], strict=True))
            signs[i] = (value > 0) - (value < 0)
        return signs


def _normal(rows: Sequence[Vector], width: int) -> Vector:
    """The vector of minors: orthogonal to the rows, one fewer than columns; 0 if they depend."""
    return [
        (-1) ** j * _determinant([row[:j] + row[j + 1 :] for row in rows]) for j in range(width)
    ]


def _determinant(A: list[Vector]) -> int:
    if not A:
        return 1
    return sum(
        (-1) ** j * a * _determinant([row[:j] + row[j + 1 :] for row in A[1:]])
        for j, a in enumerate(A[0])
        if a
    )
