"""From multipliers in floating point to a proof: few rows, whole numbers, an exact zero.

Carathéodory: a combination of many rows to zero can be moved, along relations between the rows,
until no more rows are left than the dimension and one. Then the rows alone determine the
multipliers, and a small system of whole numbers has them exactly.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr, solve_triangular

from linsep.kernels.halfspaces import walk
from linsep.proofs.exact.integers import Whole, relation, whole
from linsep.proofs.exact.wolfe import Nearest, nearest
from linsep.proofs.halfspaces.halfspaces import Halfspaces

Array = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_SMALL = 40  # dimension up to which whole numbers may be searched, not only solved for
_FEW = 400


class Witness(NamedTuple):
    """Constraints and whole multipliers > 0 with Σ aᵢzᵢ = 0."""

    ids: Array
    multipliers: list[int]


def reduce(M: Floats, alpha: Floats, seed: int = 0) -> Array:
    """Rows of `M`, affinely independent, that still combine to zero with positive multipliers.

    Parameters
    ----------
    M, alpha : arrays
        Rows and positive multipliers with Σ αᵢzᵢ ≈ 0.

    Examples
    --------
    >>> rows = np.array([[2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [-1.0, -1.0]])
    >>> reduce(rows, np.array([1.0, 1.0, 0.5, 0.5])).tolist() in ([0, 1, 2], [0, 1, 3])
    True
    """
    A = np.hstack([M[:, M.any(axis=0)], np.ones((len(M), 1))])
    alpha = alpha / alpha.sum()
    places = np.random.default_rng(seed).permutation(len(A))
    groups = 2 * A.shape[1]
    while len(places) > groups:  # groups of rows move as one: half of them vanish each time
        cut = np.linspace(0, len(places), groups + 1).astype(np.int64)
        weights = alpha[places]
        sums = np.add.reduceat(A[places] * weights[:, None], cut[:-1], axis=0)
        left = _independent(sums, np.ones(groups))
        alpha[places] *= np.repeat(left, np.diff(cut))
        kept = places[alpha[places] > 0]
        if len(kept) == len(places):
            break
        places = kept
    left = _independent(A[places] * alpha[places][:, None], np.ones(len(places)))
    return np.sort(places[left > 0])


def _independent(rows: Floats, x: Floats) -> Floats:
    """Non-negative x' with Σ x'ᵢrᵢ = Σ xᵢrᵢ on independent rows only, the others zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    x = x * lengths
    _, triangle, order = qr((rows / lengths[:, None]).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(diagonal > 1e-10 * diagonal[0]))
    n = len(rows)
    relations = np.zeros((n, n - rank))
    solved = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    relations[order[:rank]] = -solved
    relations[order[rank:], np.arange(n - rank)] = 1.0
    walk(relations, x, np.ones(n, np.bool_))
    return np.asarray(x / lengths)


def prove(
    problem: Halfspaces,
    ids: Array,
    rows: Floats,
    alpha: Floats,
    out_of_time: Callable[[], bool] = bool,
) -> Witness | None:
    """An exact combination to zero on some of the constraints `ids`, or None.

    Parameters
    ----------
    ids, rows, alpha
        Constraints, their framed rows and floating-point multipliers.
    """
    if not np.all(np.isfinite(rows)):
        return None
    for seed in range(3):
        if out_of_time():
            return None
        chosen = ids[reduce(rows, alpha, seed)]
        if not len(chosen):
            continue
        zero = exactly(problem.take(chosen, problem.columns_of(chosen)))
        if zero is not None:
            keep, multipliers = zero
            return Witness(chosen[keep], multipliers)
        if problem.dimension <= _SMALL:
            return search_whole(problem, chosen, out_of_time)
    return None


def exactly(Z: Floats) -> tuple[Array, list[int]] | None:
    """The places and multipliers of the only relation between rows, if its signs agree."""
    a = relation(Z)
    if a is None or min(a) < 0:
        return None
    keep = np.flatnonzero([x > 0 for x in a])
    return keep, [a[i] for i in keep]


def search_whole(
    problem: Halfspaces, ids: Array, out_of_time: Callable[[], bool] = bool
) -> Witness | None:
    """Look for a combination to zero among a few constraints, in whole numbers throughout."""
    if len(ids) > _FEW:
        return None
    numbers = whole(problem.take(ids, problem.columns_of(ids)))
    point = nearest(numbers.values.tolist(), out_of_time)
    return None if point is None or point.direction is not None else _witness(ids, numbers, point)


def _witness(ids: Array, numbers: Whole, origin: Nearest) -> Witness:
    """The combination to zero that `nearest` has come to, in units of the rows themselves."""
    top = max(numbers.rows[i] for i in origin.rows)
    multipliers = [
        a << (top - numbers.rows[i]) for i, a in zip(origin.rows, origin.multipliers, strict=True)
    ]
    return Witness(ids[np.array(origin.rows)], multipliers)


def whole_separator(
    problem: Halfspaces, ids: Array, out_of_time: Callable[[], bool] = bool
) -> Witness | list[int] | None:
    """Settle a small set of constraints in whole numbers: a separator, or a combination to zero."""
    columns = np.arange(problem.n_features)
    numbers = whole(problem.take(ids, columns))
    point = nearest(numbers.values.tolist(), out_of_time)
    if point is None:
        return None
    if point.direction is None:
        return _witness(ids, numbers, point)
    # ⟨n, u⟩ > 0 for n = z/2^columns (and a factor for the row): v = u/2^columns, made whole again
    top = max(numbers.columns)
    return [u << (top - c) for u, c in zip(point.direction, numbers.columns, strict=True)]
