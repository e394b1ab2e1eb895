"""Platt's sigmoid: the probability of a class from the score of a machine.

    p(s) = 1/(1 + e^−(as + b)),   a and b minimise −Σ cᵢ (tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ))

with targets t = (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) in place of 1 and 0, which keeps a and b finite
on scores that are all on their own side (Platt, 1999; Lin, Lin and Weng, 2007, for Newton's steps).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FOLDS = 5
ROUNDS = 100


def fit_sigmoid(s: Array, positive: Array, c: Floats) -> Floats:
    """a and b, for scores `s` of rows with weights `c`, of which some are `positive`.

    >>> a, b = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]) > 0, np.ones(4))
    >>> bool(a > 0), round(abs(float(b)), 12)
    (True, 0.0)
    """
    plus, minus = float(c[positive].sum()), float(c[~positive].sum())
    t = np.where(positive, (plus + 1.0) / (plus + 2.0), 1.0 / (minus + 2.0))
    unit = float(np.abs(s).max()) or 1.0
    Z = np.column_stack([np.asarray(s, np.float64) / unit, np.ones(len(s))])
    u = np.array([0.0, np.log((plus + 1.0) / (minus + 1.0))])

    def cost(u: Floats) -> float:
        z = Z @ u
        return float(c @ (np.logaddexp(0.0, z) - t * z))

    now = cost(u)
    for _ in range(ROUNDS):
        p = expit(Z @ u)
        slope = Z.T @ (c * (p - t))
        bend = Z.T @ (Z * (c * p * (1.0 - p))[:, None]) + 1e-12 * c.sum() * np.eye(2)
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while size > 1e-10 and cost(u - size * step) > now * (1.0 + 1e-15):
            size /= 2.0
        u = u - size * step
        now = cost(u)
        if np.abs(step).max() <= 1e-13 * (1.0 + np.abs(u).max()) or size <= 1e-10:
            break
    return np.array([u[0] / unit, u[1]])


def folds(hashes: Array, codes: Array, count: int = FOLDS) -> Array:
    """A fold for each row, stratified by class; the same for rows that are equal.

    The folds depend on what the rows are, given by their `hashes`, not on their order or how
    often they come: weight k stays k copies, and no copy of a row is scored by a machine that has
    seen it.

    >>> folds(np.array([7, 7, 8, 9, 7, 8]), np.array([0, 0, 0, 0, 1, 1]))
    array([0, 0, 1, 2, 0, 1])
    """
    fold = np.empty(len(codes), np.int64)
    for code in np.unique(codes):
        mine = codes == code
        fold[mine] = np.unique(hashes[mine], return_inverse=True)[1] % count
    return fold
