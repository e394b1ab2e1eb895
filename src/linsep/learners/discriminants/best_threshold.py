"""Where along a line to cut, so that the fewest rows lie on the wrong side, in bounded memory.

The number of misplaced rows changes only at the rows themselves, so that a sweep over the sorted
scores finds the best cut. Many scores are parted into runs, each of a range of its own, and sorted
run by run; scores of rows in a file lie in files too.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import release, room_for

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

RUN = 1 << 18  # scores that are sorted at once
_DRAWN = 64  # scores drawn for each run, to find ranges of about as many rows each


class Levels(NamedTuple):
    """Distinct scores in rising order, with the weight of the rows of either side at each."""

    at: Floats
    positive: Floats
    negative: Floats

    def plus(self, other: "Levels") -> "Levels":
        """Both together."""
        at, place = np.unique(np.concatenate([self.at, other.at]), return_inverse=True)
        positive = np.concatenate([self.positive, other.positive])
        negative = np.concatenate([self.negative, other.negative])
        return Levels(at, _added(place, positive, len(at)), _added(place, negative, len(at)))


class Line:
    """Scores of rows, which side of the cut each should be on, and what it counts.

    Parameters
    ----------
    n : how many rows there are
    of : (scores, positive, weights) of the rows from i to j; weights are None where all count once
    beside : the rows, which may lie in a file
    """

    def __init__(
        self, n: int, of: Callable[[int, int], tuple[Floats, Array, Floats | None]], beside: Any
    ) -> None:
        self.n, self.of, self.beside = n, of, beside

    def levels(self) -> Iterator[Levels]:
        """The distinct scores in rising order, run by run."""
        if self.n <= RUN:
            yield _levels(*self.of(0, self.n))
            return
        ends, parted = self._parted()
        for first, stop in zip([0, *ends[:-1]], ends, strict=True):
            levels = Levels(*np.empty((3, 0)))
            for i in range(first, stop, RUN):  # one score alone may be that of very many rows
                levels = levels.plus(_levels(*(part[i : min(stop, i + RUN)] for part in parted)))
                for part in parted:
                    release(part)
            if len(levels.at):
                yield levels

    def _parted(self) -> tuple[list[int], list[Any]]:
        """The rows sorted by run and, within, by row number; the last of each run, plus one."""
        edges = self._edges()
        counts = np.zeros(len(edges) + 1, np.int64)
        for i, j in spans(self.n, RUN):
            run = np.searchsorted(edges, self.of(i, j)[0], "right")
            counts += np.bincount(run, minlength=len(counts))
        ends = np.cumsum(counts)
        free = ends - counts
        kinds = (np.float64(0), np.bool_(False), np.float64(0))
        parted = [room_for(np.broadcast_to(kind, self.n), self.beside) for kind in kinds]
        for i, j in spans(self.n, RUN):
            scores, positive, weights = self.of(i, j)
            run = np.searchsorted(edges, scores, "right")
            order = np.argsort(run, kind="stable")
            bounds = np.searchsorted(run[order], np.arange(len(counts) + 1))
            values = (scores, positive, np.ones(j - i) if weights is None else weights)
            for r in np.flatnonzero(np.diff(bounds)):
                rows = order[bounds[r] : bounds[r + 1]]
                place = slice(int(free[r]), int(free[r]) + len(rows))
                for part, value in zip(parted, values, strict=True):
                    part[place] = value[rows]
                free[r] = place.stop
            for part in parted:
                release(part)
        return ends.tolist(), parted

    def _edges(self) -> Floats:
        """Scores that cut the line into ranges of about RUN rows or fewer."""
        every = max(1, RUN // _DRAWN)
        drawn = [self.of(i, j)[0][::every] for i, j in spans(self.n, RUN)]
        return np.unique(np.sort(np.concatenate(drawn))[_DRAWN // 2 :: _DRAWN // 2])


def _levels(scores: Floats, positive: Array, weights: Floats | None) -> Levels:
    if weights is None:
        weights = np.ones(len(scores))
    counts = weights > 0
    at, place = np.unique(scores[counts], return_inverse=True)
    positive, weights = positive[counts], weights[counts]
    up, down = weights * positive, weights * ~positive
    return Levels(at, _added(place, up, len(at)), _added(place, down, len(at)))


def _added(place: Array, weights: Floats, n: int) -> Floats:
    return np.bincount(place, weights, n).astype(np.float64, copy=False)


def best_cut(line: Line) -> float:
    """The cut c for which `scores >= c` misplaces the fewest rows, in the middle of a widest gap.

    Cuts beyond all rows are taken only where they are strictly better.

    Examples
    --------
    >>> s, up = np.array([0.0, 1.0, 3.0, 4.0]), np.array([False, False, True, True])
    >>> best_cut(Line(4, lambda i, j: (s[i:j], up[i:j], None), s))
    2.0
    >>> best_cut(Line(3, lambda i, j: (s[i:j], np.array([False, True, False])[i:j], None), s))
    0.5
    """
    total = np.zeros(2)  # weight of the rows that belong below the cut, and above
    low, high, fewest = np.inf, -np.inf, 0.0  # mistakes less those of a cut below all rows
    last_below, first_above = -np.inf, np.inf
    for run in line.levels():
        low, high = min(low, float(run.at[0])), max(high, float(run.at[-1]))
        fewest = min(fewest, float(_changes(run, total)[1:].min()))
        total += run.negative.sum(), run.positive.sum()
        last_below = max(last_below, run.at[run.negative > 0].max(initial=-np.inf))
        first_above = min(first_above, run.at[run.positive > 0].min(initial=np.inf))
    if -np.inf < last_below < first_above < np.inf:  # however little some rows weigh
        return _between(float(last_below), float(first_above))
    enough = fewest + 1e-12 * float(total.sum())
    best, widest = None, 0.0
    seen, last = np.zeros(2), low
    for run in line.levels():
        gaps = np.diff(run.at, prepend=last)
        gaps = np.where(_changes(run, seen)[:-1] <= enough, gaps, 0.0)
        i = int(np.argmax(gaps))
        if gaps[i] > widest:
            before = last if i == 0 else float(run.at[i - 1])
            best, widest = _between(before, float(run.at[i])), float(gaps[i])
        seen += run.negative.sum(), run.positive.sum()
        last = float(run.at[-1])
    if best is not None:
        return best
    reach = (high - low) / 2 or 1.0
    return low - reach if enough >= 0.0 else high + reach


def _changes(run: Levels, seen: Floats) -> Floats:
    """Mistakes of cuts below each level and above the last, less those of one below all rows."""
    below = seen[1] + np.concatenate([[0.0], np.cumsum(run.positive)])
    spared = seen[0] + np.concatenate([[0.0], np.cumsum(run.negative)])
    return np.asarray(below - spared)


def _between(low: float, high: float) -> float:
    middle = low + (high - low) / 2
    return middle if middle > low else high
