"""Newton's step of the interior-point methods, and how far it may go.

Both methods keep multipliers α > 0 and slacks ξ > 0 of the inequalities M v - t ≥ 0 and drive the
products αᵢξᵢ to zero together. Their Newton systems reduce to one symmetric matrix whose size is
the number of unknowns (v, t), however many rows there are.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpotrf, dpotrs

Floats = npt.NDArray[np.float64]

_RIDGE = 1e-13


class Normal:
    """AᵀDA + diag(penalty), factored; A = [M, -1] and D = diag(α/ξ)."""

    def __init__(self, A: Floats, d: Floats, penalty: Any = 0.0) -> None:
        G = _squares(A, np.sqrt(d))
        diagonal = np.einsum("ii->i", G)
        diagonal += penalty
        base, ridge = diagonal.copy(), _RIDGE
        while True:  # dependent columns leave G singular: the ridge picks one of the solutions
            diagonal[:] = base + ridge * base + 1e-30
            self._factor, failed = dpotrf(G, clean=0)
            if not failed:
                return
            ridge *= 100
            if not ridge < 1:
                raise np.linalg.LinAlgError("the Newton system is not positive definite")

    def solve(self, right: Floats) -> Floats:
        return np.asarray(dpotrs(self._factor, right)[0]).reshape(right.shape)


def _squares(A: Floats, scale: Floats) -> Floats:
    """BᵀB for B = diag(scale) A; large ones in two halves, whatever the number of cores.

    Each product runs on one thread: threads inside a product wait for each other by spinning,
    which on a busy machine costs more than they gain.
    """
    if A.size * A.shape[1] < 5e7:
        B = A * scale[:, None]
        return np.asarray(B.T @ B)
    half = len(A) // 2
    parts = [(A[:half], scale[:half]), (A[half:], scale[half:])]

    def square(part: tuple[Floats, Floats]) -> Floats:
        B = part[0] * part[1][:, None]
        return np.asarray(B.T @ B)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(square, parts)
    return first + second


def step_length(a: Floats, change: Floats) -> float:
    """The largest s with a + s·change ≥ 0; at most 1e9."""
    fastest = float(np.max(-change / a))
    return 1e9 if fastest < 1e-9 else 1 / fastest
