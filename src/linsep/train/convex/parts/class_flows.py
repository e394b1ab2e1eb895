"""Multipliers of Crammer and Singer's machine that break even, as free intercepts ask."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def even(A: Floats, codes: Array) -> Floats:
    """Multipliers made smaller, so that Σᵢ Aᵢₖ = 0 for each class.

    −Aᵢₖ flows from the class of row i to class k. What does not flow in a circle is a sum of paths
    from classes that give too much to classes that take too much, and these are taken away.

    >>> even(np.array([[1.0, -1.0], [-3.0, 3.0]]), np.array([0, 1]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K = A.shape[1]
    leave = np.maximum(0.0, -A)
    flow = np.array([leave[codes == k].sum(axis=0) for k in range(K)])
    left, least = flow.copy(), 1e-15 * float(flow.sum())
    for _ in range(2 * K * K):
        excess = left.sum(axis=1) - left.sum(axis=0)
        giver = int(excess.argmax())
        if excess[giver] <= least:
            break
        path = _path(left, giver, excess < 0.0)
        if len(path) < 2:
            break
        steps = path[:-1], path[1:]
        left[steps] -= min(excess[giver], -excess[path[-1]], left[steps].min())
    part = np.divide(left, flow, out=np.zeros_like(flow), where=flow > 0.0)
    leave *= np.clip(part, 0.0, 1.0)[codes]
    balanced = -leave
    balanced[np.arange(len(codes)), codes] = leave.sum(axis=1)
    return balanced


def _path(flow: Floats, start: int, ends: Array) -> list[int]:
    """A shortest way along positive flow from `start` to one of the `ends`."""
    before, front = {start: start}, [start]
    for here in front:
        if ends[here]:
            path = [here]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for there in np.flatnonzero(flow[here] > 0.0).tolist():
            if there not in before:
                before[there] = here
                front.append(there)
    return []
