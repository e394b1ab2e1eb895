"""Brute force for tests: which ways of giving sides to a few points a separator can realise."""

import itertools

import numpy as np
from scipy.optimize import linprog

SETS = {
    "line": [[0], [1], [2], [5], [7]],
    "square": [[0, 0], [0, 1], [1, 0], [1, 1]],
    "square and centre": [[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]],
    "five in a row": [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]],
    "grid": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]],
    "pentagon": [[0, 2], [2, 0], [1, -2], [-1, -2], [-2, 0]],
    "cube": list(itertools.product([0, 1], repeat=3)),
    "octahedron and centre": [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, 0]],
    "flat in space": [[0, 0, 1], [1, 0, 1], [2, 0, 1], [0, 1, 1], [1, 1, 1], [3, 4, 1]],
    "row in space": [[0, 0, 0], [1, 2, 3], [2, 4, 6], [3, 6, 9], [1, 0, 0]],
}


def separable(points, sides):
    """Whether some (w, b) has side·(⟨w, x⟩ + b) ≥ 1 everywhere, by linear programming."""
    Z = np.column_stack([points, np.ones(len(points))]) * np.array(sides)[:, None]
    found = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None))
    return found.status == 0


def all_partings(points):
    """Every realisable tuple of sides, as rows; a parting and its mirror image come together."""
    half = [
        (1, *rest)
        for rest in itertools.product([-1, 1], repeat=len(points) - 1)
        if separable(points, (1, *rest))
    ]
    return np.concatenate([np.array(half), -np.array(half)])
