"""A certified upper bound on every margin: the length of a convex combination of rows.

For any separator with ‖w‖ = 1 and any α ≥ 0 with Σ αᵢ = 1 and Σ αᵢyᵢ = 0, the margin is at most
Σ αᵢyᵢ(⟨w, xᵢ⟩ + b) = ⟨w, Σ αᵢyᵢxᵢ⟩ ≤ ‖Σ αᵢyᵢxᵢ‖.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact import kernel_basis, whole
from linsep.proofs.halfspaces import Halfspaces
from linsep.proofs.scores import root_above

Array = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Bound(NamedTuple):
    """An upper bound on the margin, with the convex combination that proves it."""

    upper: float
    ids: Array
    multipliers: tuple[Fraction, ...]


def balanced(problem: Halfspaces, ids: Array, alpha: Floats) -> tuple[Array, list[Fraction]] | None:
    """Multipliers near `alpha`, of sum one, in which the biases cancel exactly.

    Those of class c are multiplied by one factor β_c: then Σ αᵢyᵢ = 0 asks that as much flows into
    each class as out of it, which determines the factors.
    """
    keep = alpha > alpha.max() * 2.0**-40
    ids = ids[keep]
    numbers = np.maximum(np.rint(alpha[keep] / alpha.max() * 2.0**40), 1).astype(np.int64)
    rows = problem.rows_of(ids)
    own = problem.codes[rows].astype(np.int64)
    rivals = problem.rivals_of(ids)
    rival = 1 - own if rivals is None else rivals
    K = problem.n_classes
    flow = [[0] * K for _ in range(K)]
    for c, k, a in zip(own.tolist(), rival.tolist(), numbers.tolist(), strict=True):
        flow[c][c] += a
        flow[k][c] -= a
    present = sorted(set(own.tolist()) | set(rival.tolist()))
    basis = kernel_basis([[flow[k][c] for c in present] for k in present], len(present))
    if len(basis) != 1 or min(basis[0]) < 0:
        return None
    factors = dict(zip(present, basis[0], strict=True))
    whole = [factors[c] * a for c, a in zip(own.tolist(), numbers.tolist(), strict=True)]
    used = [i for i, a in enumerate(whole) if a]
    total = sum(whole)
    return ids[used], [Fraction(whole[i], total) for i in used]


def bound(problem: Halfspaces, ids: Array, alpha: Floats) -> Bound | None:
    """The exact length of a combination near `alpha`, rounded up."""
    keep = _carrying(problem, ids, alpha)
    found = balanced(problem, ids[keep], alpha[keep])
    if found is None:
        return None
    used, multipliers = found
    square = _square(problem, used, multipliers)
    if problem.n_classes > 2:
        square /= 2
    return Bound(root_above(square), used, tuple(multipliers))


def _carrying(problem: Halfspaces, ids: Array, alpha: Floats) -> npt.NDArray[np.bool_]:
    """The largest multipliers, as few as give the same length to seven digits."""
    columns = problem.columns_of(ids)
    Z = problem.take(ids, columns)
    scale = np.append(problem.exponents[columns], 0)
    scale = np.tile(scale - scale.max(), problem.blocks)
    weight = problem.penalty(len(columns))

    def length(part: npt.NDArray[np.bool_]) -> float:
        x = np.ldexp(alpha[part] @ Z[part], scale) * weight / alpha[part].sum()
        return float(np.linalg.norm(x))

    whole_length = length(alpha > 0)
    for bits in (8, 16, 20, 24, 28, 32):
        part = alpha > alpha.max() * 2.0**-bits
        if length(part) <= whole_length * (1 + 1e-8):
            return part
    return alpha > 0


def _square(problem: Halfspaces, ids: Array, multipliers: list[Fraction]) -> Fraction:
    """‖Σ αᵢzᵢ‖², the constant column left out, in original units."""
    columns = problem.columns_of(ids)
    numbers = whole(problem.take(ids, columns))
    denominator = math.lcm(*(a.denominator for a in multipliers))
    low = min(numbers.rows)
    factors = [
        a.numerator * (denominator // a.denominator) << (r - low)
        for a, r in zip(multipliers, numbers.rows, strict=True)
    ]
    width = len(columns) + 1
    exponents = [*problem.exponents[columns].tolist(), 0] * problem.blocks
    total = Fraction(0)
    for j, column in enumerate(numbers.values.T):
        if j % width == len(columns):
            continue
        places = np.flatnonzero(column)
        entry = sum(
            factors[i] * x for i, x in zip(places.tolist(), column[places].tolist(), strict=True)
        )
        if entry:
            total += entry**2 * Fraction(4) ** (numbers.columns[j] + exponents[j])
    return total * Fraction(4) ** low / denominator**2
