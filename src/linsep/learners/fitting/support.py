"""The rows that hold a boundary in place, found block by block.

There may be as many of them as rows. Where the rows lie in a file, so does the list of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import PageRelease, maps_of, release, room_for
from linsep.train.convex.steps.score_losses import Planes
from linsep.train.problem import Problem

Array = npt.NDArray[Any]


def supports(problem: Problem, alphas: list[Array]) -> tuple[Array, Array]:
    """Rows with a multiplier above zero, and their multipliers times their signs.

    Parameters
    ----------
    alphas : the multipliers of all rows, for each hyperplane
    """
    if problem.binary and not maps_of(problem.X) and not maps_of(alphas[0]):
        rows = alphas[0].nonzero()[0]
        signs = np.where(problem.codes[rows] == 1, 1.0, -1.0)
        return rows, (alphas[0][rows] * signs)[None]
    pages = [PageRelease(one) for one in alphas]

    def mine(start: int, stop: int) -> Array:
        for one in pages:
            one.advance(stop - start)
        return np.stack([one[start:stop] for one in alphas])

    def counts(start: int, stop: int) -> Array:
        return np.asarray(mine(start, stop).any(axis=0))

    rows = _where(problem, counts)
    multipliers = room_for(np.broadcast_to(np.float64(0), (len(alphas), len(rows))), problem.X)
    written, at = PageRelease(multipliers.T), 0
    planes = np.array([1]) if problem.binary else np.arange(problem.n_classes)
    codes = problem.codes
    for start, stop in spans(problem.n_rows):
        alpha = mine(start, stop)
        alpha *= np.where(planes[:, None] == codes[start:stop], 1.0, -1.0)
        alpha = alpha[:, alpha.any(axis=0)]
        multipliers[:, at : at + alpha.shape[1]] = alpha
        at += alpha.shape[1]
        written.advance(alpha.shape[1])
    return rows, np.asarray(multipliers)


def near_margin(problem: Problem, loss: Planes, W: Array, b: Array) -> Array:
    """Rows on or inside the margin of some hyperplane."""

    def near(start: int, stop: int) -> Array:
        signs = loss.signs(problem.codes[start:stop], len(W))
        z = signs * (np.asarray(problem.X[start:stop] @ W.T) + b)
        return np.asarray((z <= 1).any(axis=1))

    return _where(problem, near)


def _where(problem: Problem, inside: Callable[[int, int], Array]) -> Array:
    """The rows of all blocks that are `inside`."""
    chosen = room_for(np.broadcast_to(np.bool_(False), (problem.n_rows,)), problem.X)
    pages, count = PageRelease(problem.X, chosen), 0
    for start, stop in spans(problem.n_rows):
        here = inside(start, stop)
        chosen[start:stop] = here
        count += int(here.sum())
        pages.advance(stop - start)
    release(chosen)
    rows = room_for(np.broadcast_to(np.int64(0), (count,)), problem.X)
    written, at = PageRelease(rows, chosen), 0
    for start, stop in spans(problem.n_rows):
        here = np.flatnonzero(chosen[start:stop]) + start
        rows[at : at + len(here)] = here
        at += len(here)
        written.advance(len(here))
    release(chosen)
    return np.asarray(rows)
