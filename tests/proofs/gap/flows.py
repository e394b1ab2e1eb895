"""Whole numbers that flow from class to class, made to break even: what a class gives, it gets.

Where intercepts are free, the multipliers of a problem with several classes must sum to zero for
each class. Seen as flows from the class of a row to the others, what does not go round in circles
is a sum of paths from classes that give more than they get to classes that get more than they
give (the flow decomposition theorem); taking these paths away leaves a feasible point.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def take(counts: Array, places: Array, amount: int) -> None:
    """Take `amount` away from counts[places], largest first."""
    for i in places[np.argsort(-counts[places])]:
        if amount == 0:
            return
        part = min(amount, int(counts[i]))
        counts[i] -= part
        amount -= part


def break_even(counts: Array, codes: Array) -> None:
    """Lessen the (n, K) whole numbers `counts` until every class gives what it gets.

    counts[i, k] flows from the class of row i to class k; a row keeps nothing for its own class.

    >>> counts = np.array([[0, 3, 0], [0, 0, 2], [2, 0, 0]])
    >>> break_even(counts, np.array([0, 1, 2]))
    >>> counts.max(axis=1)
    array([2, 2, 2])
    """
    K = counts.shape[1]
    flow = np.zeros((K, K), np.int64)
    np.add.at(flow, codes, counts)
    before = flow.copy()
    while True:
        surplus = flow.sum(axis=1) - flow.sum(axis=0)
        giver = int(surplus.argmax())
        if surplus[giver] == 0:
            break
        path = _way(flow, giver, surplus)
        edges = list(pairwise(path))
        amount = min(surplus[giver], -surplus[path[-1]], *(flow[edge] for edge in edges))
        for edge in edges:
            flow[edge] -= amount
    for giver, taker in np.argwhere(flow != before):
        column = counts[:, taker].copy()
        lost = int(before[giver, taker] - flow[giver, taker])
        take(column, np.flatnonzero(codes == giver), lost)
        counts[:, taker] = column


def _way(flow: Array, giver: int, surplus: Array) -> list[int]:
    """Classes on a way along flow from `giver` to one that gets more than it gives."""
    came_from, queue = {giver: -1}, [giver]
    for here in queue:
        if surplus[here] < 0:
            way = [here]
            while came_from[way[-1]] >= 0:
                way.append(came_from[way[-1]])
            return way[::-1]
        for there in np.flatnonzero(flow[here]).tolist():
            if there not in came_from:
                came_from[there] = here
                queue.append(there)
    raise AssertionError("a class gives more than it gets, so some class gets more than it gives")
