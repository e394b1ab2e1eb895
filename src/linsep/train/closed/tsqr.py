"""The triangular factor of tall data by blocks: QR of each block, then QR of pairs along a tree."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.problem import Block, Problem

Floats = npt.NDArray[np.float64]


def triangle(problem: Problem, rows: Callable[[Block], Floats]) -> Floats:
    """R with RᵀR = Σ zzᵀ over all rows z of `rows(block)`; at most as many rows as columns.

    Unlike the matrix Σ zzᵀ itself, R keeps the digits of directions in which the rows hardly vary:
    a spread of σ is known to about 1e-16/σ, not to 1e-16/σ².

    Examples
    --------
    >>> X = np.array([[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]])
    >>> R = triangle(Problem(X, np.zeros(3, np.int32), None, 1), lambda block: block.rows.X)
    >>> np.allclose(R.T @ R, X.T @ X), R.shape
    (True, (2, 2))
    """

    def factor(Z: Any) -> Floats:
        return np.asarray(np.linalg.qr(Z, mode="r") if Z.shape[0] > Z.shape[1] else Z)

    with Pool(1):
        return problem.sum(
            lambda block: factor(rows(block)), lambda a, b: factor(np.vstack([a, b]))
        )
