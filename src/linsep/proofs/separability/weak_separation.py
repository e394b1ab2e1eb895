"""Rows that no plane separates strictly: is there one with no row on the wrong side?

Multipliers α > 0 with Σ αᵢzᵢ = 0 on some rows force ⟨zᵢ, v⟩ = 0 on them, for every v that has no
row on the wrong side; so v is a combination of the normals of their span. Among those, the same
question is asked again about the other rows: strictly positive on all of them is an answer, and
multipliers that exclude it force more rows onto the plane. When all rows are on it, none exists
(Stiemke 1915). All proposals; the verifier has the last word.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact.dixon import pivots
from linsep.proofs.exact.integers import Whole, fewest, kernel_basis, relation, solve, whole
from linsep.proofs.exact.wolfe import nearest
from linsep.proofs.halfspaces.column_ranges import Ranges
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.witness import Witness
from linsep.proofs.separability.quotient import Step, float_step

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Numbers = list[int]

_SMALL = 32  # dimension up to which normals are found by plain elimination
_FEW = 40  # normals that are worth solving for
_EXACT = 5000  # numbers of a problem that is treated in whole numbers throughout
_NUMBERS = 5e6  # entries of the rows whose span is looked at


class WeakSeparation(NamedTuple):
    """`leaning`: (w, b) of every block, in whole numbers; or the rows of a `Span`."""

    leaning: Numbers | None
    spanning: Witness | None
    normals: list[Numbers]


def axis(problem: Halfspaces, ranges: Ranges) -> tuple[Floats, Floats] | None:
    """A single column on which one class meets all others at one value at most.

    Returns
    -------
    weights, bias
        (blocks, d) and (blocks,): ±1 on that column, the common value as threshold; through the
        origin the threshold is 0.
    """
    for k in range(problem.n_classes):
        others = np.arange(problem.n_classes) != k
        low, high = ranges.low[others].min(axis=0), ranges.high[others].max(axis=0)
        top, bottom = (high, low) if problem.fit_intercept else np.zeros((2, len(low)))
        above = (ranges.low[k] >= top) & (high <= top) & ((ranges.high[k] > top) | (low < top))
        below = (ranges.high[k] <= bottom) & (low >= bottom)
        below &= (ranges.low[k] < bottom) | (high > bottom)
        for side, sign, threshold in ((above, 1.0, top), (below, -1.0, bottom)):
            columns = np.flatnonzero(side)
            if len(columns):
                j = int(columns[0])
                W, b = np.zeros((problem.blocks, problem.n_features)), np.zeros(problem.blocks)
                block = k if problem.n_classes > 2 else 0
                turn = sign if problem.n_classes > 2 or k == 1 else -sign
                W[block, j], b[block] = turn, 0.0 - turn * threshold[j]
                return W, b
    return None


def weak_separator(
    problem: Halfspaces, ranges: Ranges, witness: Witness, out_of_time: Callable[[], bool] = bool
) -> WeakSeparation | None:
    """Propose a plane with no row on the wrong side, or rows that exclude one; None if neither."""
    columns = _columns(problem, ranges)
    everything = np.arange(problem.n_features)
    if len(witness.ids) * problem.dimension > _NUMBERS:
        return None
    small = problem.count * problem.dimension <= _EXACT
    reached = -1
    while not out_of_time():
        numbers = whole(problem.take(witness.ids, everything)[:, columns])
        rank = len(pivots(numbers.values)[0])
        if rank == reached:  # every round must reach more dimensions
            return None
        reached = rank
        step: Step | None
        if rank == len(columns):
            step = Step(None, witness.ids[:0])
        elif small:
            step = _whole_step(problem, _normals(problem, numbers, columns), out_of_time)
        else:
            step = float_step(problem, columns, witness.ids, numbers, out_of_time)
        if step is None:
            return None
        if step.leaning is not None:
            plane = step.leaning if small else _widened(step.leaning, columns, problem.dimension)
            return WeakSeparation(plane, None, [])
        if not len(step.joining):
            if len(columns) - rank > _FEW:
                return None
            normals = _normals(problem, numbers, columns)
            return WeakSeparation(None, witness, normals + _idle(problem, columns))
        joined = _join(problem, witness, numbers.values, step.joining)
        if joined is None:
            return None
        witness = joined
    return None


def _whole_step(
    problem: Halfspaces, normals: list[Numbers], out_of_time: Callable[[], bool]
) -> Step | None:
    """The question about the rows off the span, in whole numbers."""
    ids = problem.all()
    numbers = whole(problem.take(ids, np.arange(problem.n_features)))
    low = min(numbers.columns)
    scaled = [
        [a << (c - low) for a, c in zip(normal, numbers.columns, strict=True)] for normal in normals
    ]
    B = [[sum(map(mul, row, normal)) for normal in scaled] for row in numbers.values.tolist()]
    off = [i for i, row in enumerate(B) if any(row)]
    if not off:
        return Step(None, ids[:0])
    point = nearest([B[i] for i in off], out_of_time)
    if point is None:
        return None
    if point.direction is not None:
        return Step(_combined(normals, [Fraction(u) for u in point.direction]), ids[:0])
    return Step(None, ids[[off[i] for i in point.rows]])


def _columns(problem: Halfspaces, ranges: Ranges) -> Array:
    """Columns that matter: not zero in all rows, and without the last block, which Kesler's

    rows repeat with the opposite sign in the others.
    """
    dead = ~(ranges.low.any(axis=0) | ranges.high.any(axis=0))
    live = np.append(~dead, problem.fit_intercept)
    blocks = np.tile(live, problem.blocks).reshape(problem.blocks, -1)
    if problem.n_classes > 2:
        blocks[-1] = False
    return np.flatnonzero(blocks.reshape(-1))


def _idle(problem: Halfspaces, columns: Array) -> list[Numbers]:
    """Normals that every data set has: unit vectors of dead columns, equal blocks."""
    width = problem.n_features + 1
    used = set(columns.tolist())
    if problem.n_classes == 2:
        return [_unit(problem.dimension, [j]) for j in range(width) if j not in used]
    idle = [_unit(problem.dimension, range(j, problem.dimension, width)) for j in range(width)]
    inner = problem.dimension - width
    return idle + [_unit(problem.dimension, [j]) for j in range(inner) if j not in used]


def _unit(width: int, places: Any) -> Numbers:
    vector = [0] * width
    for j in places:
        vector[j] = 1
    return vector


def _normals(problem: Halfspaces, numbers: Whole, columns: Array) -> list[Numbers]:
    """Whole vectors, in original units, spanning {v : N v = 0}."""
    N = numbers.values
    if N.shape[1] <= _SMALL:
        basis = kernel_basis(N.tolist(), N.shape[1])
    else:
        basis = _solved_normals(N)
    wide = [_unscaled(normal, numbers.columns) for normal in basis]
    return [_widened(normal, columns, problem.dimension) for normal in wide]


def _solved_normals(N: Array) -> list[Numbers]:
    """The same from one system for each free column: faster where these are few."""
    rows, columns = pivots(N)
    A = N[np.ix_(rows, columns)].copy()
    normals = []
    for f in sorted(set(range(N.shape[1])) - set(columns.tolist())):
        solution = solve(A, -N[rows, f])
        assert solution is not None  # A is regular modulo a prime, hence regular
        normal = [0] * N.shape[1]
        for j, x in zip(columns.tolist(), solution[0], strict=True):
            normal[j] = x
        normal[f] = solution[1]
        normals.append(fewest(normal))
    return normals


def _unscaled(normal: Numbers, shifts: list[int]) -> Numbers:
    """⟨n, u⟩ = 0 for n = z/2^shift means ⟨z, u/2^shift⟩ = 0; made whole again."""
    top = max(shifts)
    return fewest([a << (top - c) for a, c in zip(normal, shifts, strict=True)])


def _widened(normal: Numbers, columns: Array, width: int) -> Numbers:
    wide = [0] * width
    for j, a in zip(columns.tolist(), normal, strict=True):
        wide[j] = a
    return wide


def _combined(normals: list[Numbers], parts: list[Fraction]) -> Numbers:
    """Σ uₖnₖ in whole numbers, up to a positive factor."""
    common = math.lcm(*(a.denominator for a in parts))
    scaled = [a.numerator * (common // a.denominator) for a in parts]
    columns = zip(*normals, strict=True)
    return fewest([sum(map(mul, scaled, column)) for column in columns])


def _join(problem: Halfspaces, witness: Witness, N: Array, more: Array) -> Witness | None:
    """Positive multipliers on the rows of `witness` and `more` together.

    One relation Σ cᵢzᵢ + Σ βⱼzⱼ = 0 with β > 0 on the new rows, plus enough of the old one to make
    all cᵢ positive.
    """
    independent, _ = pivots(N)
    old = witness.ids[np.sort(independent)]
    ids = np.concatenate([old, more])
    a = relation(problem.take(ids, problem.columns_of(ids)))
    if a is None:
        return None
    if all(x <= 0 for x in a[len(old) :]):
        a = [-x for x in a]
    new = a[len(old) :]
    if min(new) < 0 or max(new) == 0:
        return None
    change = dict(zip(old.tolist(), a[: len(old)], strict=True))
    before = list(zip(witness.ids.tolist(), witness.multipliers, strict=True))
    factor = 1 + max(0, *(-change.get(i, 0) // m for i, m in before))
    merged = [factor * m + change.get(i, 0) for i, m in before]
    joining = [i for i, x in enumerate(new) if x]
    return Witness(
        np.concatenate([witness.ids, more[joining]]), fewest(merged + [new[i] for i in joining])
    )
