"""A certified upper bound on every margin: the length of a convex combination of rows.

For any separator with ‖w‖ = 1 and any α ≥ 0 with Σ αᵢ = 1 and Σ αᵢyᵢ = 0, the margin is at most
Σ αᵢyᵢ(⟨w, xᵢ⟩ + b) = ⟨w, Σ αᵢyᵢxᵢ⟩ ≤ ‖Σ αᵢyᵢxᵢ‖. Through the origin b = 0, and any α will do.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.proofs.exact.integers import kernel_basis
from linsep.proofs.exact.scores import root_above, whole
from linsep.proofs.halfspaces.halfspaces import Halfspaces

Array = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Bound(NamedTuple):
    """An upper bound on the margin, with the convex combination that proves it."""

    upper: float
    ids: Array
    multipliers: tuple[Fraction, ...]


def balanced(problem: Halfspaces, ids: Array, alpha: Floats) -> tuple[Array, list[int]] | None:
    """Whole multipliers near a multiple of `alpha`, in which the biases cancel exactly.

    Those of class c are multiplied by one factor β_c: then Σ αᵢyᵢ = 0 asks that as much flows into
    each class as out of it, which determines the factors. Through the origin there are no biases.
    """
    keep = alpha > alpha.max() * 2.0**-52
    ids = ids[keep]
    numbers = np.maximum(np.rint(alpha[keep] / alpha.max() * 2.0**52), 1).astype(np.int64)
    if not problem.fit_intercept:
        return ids, numbers.tolist()
    own, rival = _classes(problem, ids)
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
    scaled = [factors[c] * a for c, a in zip(own.tolist(), numbers.tolist(), strict=True)]
    used = [i for i, a in enumerate(scaled) if a]
    return ids[used], [scaled[i] for i in used]


def bound(problem: Halfspaces, ids: Array, alpha: Floats) -> Bound | None:
    """The exact length of a combination near `alpha`, rounded up; None if floats have none."""
    if not (np.all(np.isfinite(alpha)) and alpha.max(initial=0) > 0):
        return None
    keep = _carrying(problem, ids, alpha)
    whole_multipliers = balanced(problem, ids[keep], alpha[keep])
    if whole_multipliers is None:
        return None
    return exact_bound(problem, *whole_multipliers)


def exact_bound(problem: Halfspaces, ids: Array, multipliers: list[int]) -> Bound:
    """The bound of whole multipliers in which the biases cancel."""
    total = sum(multipliers)
    fractions = [Fraction(a, total) for a in multipliers]
    square = _square(problem, ids, fractions)
    if problem.n_classes > 2:
        square /= 2
    return Bound(root_above(square), ids, tuple(fractions))


def _carrying(problem: Halfspaces, ids: Array, alpha: Floats) -> npt.NDArray[np.bool_]:
    """The largest multipliers, as few as give the same length to seven digits."""
    scale = problem.exponents - problem.exponents.max(initial=0)
    own, rival = _classes(problem, ids)

    def length(part: npt.NDArray[np.bool_]) -> float:
        weights = alpha[part]
        if problem.fit_intercept:
            flow = np.zeros((problem.n_classes, problem.n_classes))
            np.add.at(flow, (own[part], own[part]), alpha[part])
            np.add.at(flow, (rival[part], own[part]), -alpha[part])
            # the balance of `balanced`, in floats: the vector that `flow` annihilates
            weights = weights * np.abs(np.linalg.svd(flow)[2][-1])[own[part]]
        x = problem.combine(ids[part], weights / weights.sum())
        return float(np.linalg.norm(np.ldexp(x, scale)))

    whole_length = length(alpha > 0)
    for bits in (8, 16, 20, 24, 28, 32):
        part = alpha > alpha.max() * 2.0**-bits
        if length(part) <= whole_length * (1 + 1e-8):
            return part
    return alpha > 0


def _classes(problem: Halfspaces, ids: Array) -> tuple[Array, Array]:
    """The class of each constraint's row, and its rival."""
    own = problem.codes[problem.rows_of(ids)].astype(np.int64)
    rivals = problem.rivals_of(ids)
    return own, 1 - own if rivals is None else rivals


def _square(problem: Halfspaces, ids: Array, multipliers: list[Fraction]) -> Fraction:
    """‖Σ αᵢzᵢ‖², the constant column left out, in original units."""
    denominator = math.lcm(*(a.denominator for a in multipliers))
    read = [_read(problem.X, i) for i in problem.rows_of(ids).tolist()]
    top = max(shift for _, _, shift in read)
    sums: list[dict[int, int]] = [{} for _ in range(problem.blocks)]
    sides = problem.sides(ids)
    for (columns, numbers, shift), blocks, a in zip(read, sides, multipliers, strict=True):
        factor = a.numerator * (denominator // a.denominator) << (top - shift)
        for block, sign in blocks:
            total = sums[block]
            for j, x in zip(columns, numbers, strict=True):
                total[j] = total.get(j, 0) + sign * factor * x
    square = sum(x * x for total in sums for x in total.values())
    return Fraction(square, denominator**2) / Fraction(4) ** top


def _read(X: Any, i: int) -> tuple[list[int], list[int], int]:
    """Columns and whole entries n of row i, with entry n/2^shift."""
    if sp.issparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[part], X.data[part]
    else:
        columns = np.flatnonzero(X[i])
        values = X[i, columns]
    return columns.tolist(), *whole(values)
