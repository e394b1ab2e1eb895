"""The search for a separator, or for rows that exclude one, on a growing working set of rows.

A linear programme is solved on part of the rows. Multipliers that exclude a separator of a part
exclude one of the whole. A separator of the part is tried on all rows; those it gets wrong join.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.linear_program import propose

Array = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_ROUNDS = 60
_DEPTH = 0.5  # a separator deep inside the working set gets fewer other rows wrong
_WIDEST = 4000  # unknowns a Newton system may have


class Frame(NamedTuple):
    """Columns shifted and scaled for the search: f = (x - centre)/2^scale.

    A free bias makes up for the shift; planes through the origin allow none.
    """

    centre: Floats
    scale: Array

    @classmethod
    def of(cls, F: Floats, fit_intercept: bool = True) -> "Frame":
        """Median and typical deviation of up to 256 rows, which an outlier does not move.

        A column that is constant in most rows is scaled by its largest deviation instead: a rare
        feature must not look large.
        """
        sample = F[:: max(1, len(F) // 256)]
        centre = np.median(sample, axis=0) if fit_intercept else np.zeros(F.shape[1])
        typical = np.median(np.abs(sample - centre), axis=0)
        rare = typical == 0
        if rare.any():
            typical[rare] = np.abs(F[:, rare] - centre[rare]).max(axis=0, initial=0)
        return cls(centre, np.frexp(typical)[1].astype(np.int64))

    def apply(self, F: Floats) -> Floats:
        return np.ldexp(F - self.centre, -self.scale)

    def back(self, v: Floats, blocks: int) -> Floats:
        """Weights and biases for x, from those for f."""
        V = v.reshape(blocks, -1).copy()
        V[:, :-1] = np.ldexp(V[:, :-1], -self.scale)
        V[:, -1] -= V[:, :-1] @ self.centre
        return V.reshape(-1)


class Finding(NamedTuple):
    """What the search proposes: a separator v, or constraints with multipliers, or neither.

    `rows` are the framed rows of `ids`, kept for whoever reduces the multipliers.
    """

    separator: Floats | None
    ids: Array
    rows: Floats
    multipliers: Floats | None


def search(
    problem: Halfspaces, likely: Array | None = None, out_of_time: Callable[[], bool] = bool
) -> Finding:
    """Propose a separator of all rows, or multipliers that exclude one.

    Parameters
    ----------
    likely : array of int, optional
        Constraints that are hard to satisfy: where to begin.

    Examples
    --------
    >>> problem = Halfspaces.of(np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1]))
    >>> bool(problem.values(search(problem).separator).min() > 0)
    True
    """
    size = max(1000, min(5 * problem.dimension, _WIDEST // 2))
    everything = problem.count <= 2 * size
    ids = problem.all() if everything else _first(problem, size, likely)
    nothing = Finding(None, ids, np.empty((0, 0)), None)
    for _ in range(_ROUNDS):
        columns = problem.columns_of(ids)
        unknowns = problem.blocks * (len(columns) + 1)
        too_large = len(ids) * unknowns > _budget(problem) or min(unknowns, len(ids)) > _WIDEST
        if too_large or out_of_time():
            return nothing
        F = problem.features(ids, columns)
        frame = Frame.of(F, problem.fit_intercept)
        M = problem.expand(ids, frame.apply(F))
        del F
        proposal = propose(M, out_of_time, 0.0 if everything else _DEPTH)
        if proposal.multipliers is not None:
            carrying = proposal.multipliers > 0
            return Finding(None, ids[carrying], M[carrying], proposal.multipliers[carrying])
        if proposal.direction is None:
            return nothing._replace(ids=ids, rows=M)
        v = problem.spread(frame.back(proposal.direction, problem.blocks), columns)
        if everything:
            return Finding(v, ids, M, None)
        z = problem.values(v)
        wrong = np.flatnonzero(~(z > 0))
        if not len(wrong):
            return Finding(v, ids, M, None)
        # the rows nearest to the plane on its right side are the next to go wrong
        number = min(max(4 * len(wrong), size // 8), max(size // 2, len(ids) // 4))
        worst = np.argsort(z, kind="stable")[:number]
        grown = np.union1d(ids, worst[np.isfinite(z[worst])])
        if len(grown) == len(ids):
            return nothing._replace(ids=ids, rows=M)
        ids = grown
    return nothing


def _first(problem: Halfspaces, size: int, likely: Array | None) -> Array:
    """Constraints to begin with: the hard ones if they are known, and some of every class."""
    if likely is None or not len(likely):
        return problem.some(size)
    return np.union1d(likely[:size], problem.some(size // 4))


def _budget(problem: Halfspaces) -> float:
    """Numbers a working set may hold: all of a small problem, about the data's size of a large."""
    return max(2e7, 1.2 * problem.stored)
