"""The rows seen from the plane that others force: what is left of them beside that span.

Floating point, for problems too large for whole numbers throughout; the answers are made exact
again by solving for the plane through the rows that lie on it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from linsep.proofs.exact.dixon import pivots
from linsep.proofs.exact.integers import Whole, fewest, solve
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.linear_program import propose
from linsep.proofs.halfspaces.witness import reduce
from linsep.proofs.separability.search import Frame

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Numbers = list[int]

_NUMBERS = 2e7  # entries of all rows together
_ZERO = 1e-9  # of rows of length one


class Step(NamedTuple):
    """A plane, or constraints that are forced onto every plane; neither: all of them are."""

    leaning: Numbers | None
    joining: Array


def float_step(
    problem: Halfspaces,
    columns: Array,
    forced: Array,
    numbers: Whole,
    out_of_time: Callable[[], bool] = bool,
) -> Step | None:
    """Ask about all rows beside the span of those that are forced onto the plane.

    Parameters
    ----------
    columns : array of int
        Unknowns that matter.
    forced : array of int
        Constraints on the plane, in the order of `numbers`: their rows on these columns, whole.
    """
    ids = problem.all()
    if problem.extreme_scale or len(ids) * problem.dimension > _NUMBERS:
        return None
    F = problem.features(ids, np.arange(problem.n_features))
    frame = Frame.of(F, problem.fit_intercept)
    M = problem.expand(ids, frame.apply(F))[:, columns]
    M /= np.maximum(np.sqrt(np.einsum("ij,ij->i", M, M)), 1e-300)[:, None]
    on_plane = M[np.searchsorted(ids, forced)]
    basis, triangle, _ = qr(on_plane.T, pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > _ZERO))
    normals = basis[:, rank:]
    B = M @ normals
    off = np.flatnonzero(np.abs(B).max(axis=1, initial=0) > _ZERO)
    if not len(off):
        return Step(None, ids[:0])
    proposal = propose(np.ascontiguousarray(B[off]), out_of_time)
    if proposal.direction is not None:
        v = np.zeros(problem.dimension)
        v[columns] = normals @ proposal.direction
        v = frame.back(v, problem.blocks)
        leaning = _exactly(numbers, v[columns])
        return None if leaning is None else Step(leaning, ids[:0])
    if proposal.multipliers is None:
        return None
    carrying = np.flatnonzero(proposal.multipliers > 0)
    chosen = reduce(B[off][carrying], proposal.multipliers[carrying])
    return Step(None, ids[off[carrying[chosen]]])


def _exactly(numbers: Whole, v: Floats) -> Numbers | None:
    """Whole weights near `v` that vanish on the rows: free ones kept, the others solved for."""
    N = numbers.values
    rows, bound = pivots(N)
    free = np.setdiff1d(np.arange(N.shape[1]), bound)
    # rows are z/2^(row + column shift): weights for them are v·2^shift
    scaled = [
        Fraction(float(a)) * Fraction(2) ** c for a, c in zip(v, numbers.columns, strict=True)
    ]
    common = max(a.denominator for a in scaled)
    kept = np.array([int(scaled[j] * common) for j in free], dtype=object)
    right = -(N[np.ix_(rows, free)].astype(object) @ kept)
    solution = solve(N[np.ix_(rows, bound)].copy(), np.array(right, dtype=object))
    if solution is None:
        return None
    u = [0] * N.shape[1]
    for j, a in zip(bound.tolist(), solution[0], strict=True):
        u[j] = a
    for j, a in zip(free.tolist(), kept.tolist(), strict=True):
        u[j] = a * solution[1]
    top = max(numbers.columns)
    return fewest([a << (top - c) for a, c in zip(u, numbers.columns, strict=True)])
