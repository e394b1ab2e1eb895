"""The sums of one hyperplane over a block of rows, in one walk.

Losses φ, slopes u = −φ′ and dual terms E are those that `linsep.proofs.gap.certificate` is about. A
few hundred rows are scored, functions of their scores taken, and the rows added up, while they are
in the cache (kernels/exact/gaps.cpp). Those functions are right to a few units in the last place;
the certificate allows for 32.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.kernels import gaps

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LOSSES = {"logistic": 0, "hinge": 1, "squared_hinge": 2}
CHUNK = 256
"""Rows that are scored and added up together."""
SUMS = 12
"""Σ Cφ, Σ t², Σ t with slopes t for errors of scores, Σ |E|, Σ of sizes that functions round,
Σ E and Σ α of either class, Σ Cφ″, Σ α², Σ x²."""


def sum_plane(
    loss: str,
    rows: Any,
    second: Array,
    C: Floats,
    W: Floats,
    b: Floats,
    alpha: Floats,
    free: bool,
    shrink: float,
) -> tuple[Floats, Floats]:
    """The sums, and Σ αyx of either class where `free` or of both together.

    Parameters
    ----------
    rows : a block
    second : whether each row is of the class whose side is positive
    C : Cᵢ of each row, or one number for all
    W, b : the stored weights, and below them those whose slopes are proposed, if others
    alpha : multipliers proposed instead, or none
    shrink : E(shrink·α) in place of E(α)
    """
    shape = 2 if free else 1, W.shape[1]
    v, sums = np.zeros(shape), np.zeros(SUMS)
    gaps.plane(LOSSES[loss], rows, second, C, W, b, alpha, shrink, np.empty(shape), v, sums)
    return sums, v
