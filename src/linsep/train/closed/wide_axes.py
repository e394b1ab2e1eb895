"""Principal axes of fewer rows than columns, from the products of the rows with each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import share_out, tree_sum
from linsep.train.closed.interruptible import factored

Floats = npt.NDArray[np.float64]

COLUMNS = 4096  # columns multiplied at a time
LEAST = 1e-6  # share of the largest eigenvalue below which roots of eigenvalues lose their digits


def wide_axes(R: Floats) -> tuple[Floats, Floats] | tuple[None, None]:
    """Singular values, and right singular vectors as columns, without those that are zero.

    None twice where some singular value is neither zero but for rounding nor large enough to be
    the root of an eigenvalue of RRᵀ.

    Examples
    --------
    >>> wide_axes(np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))[0]
    array([1., 3.])
    """
    d = R.shape[1]
    parts = [R[:, start : start + COLUMNS] for start in range(0, d, COLUMNS)]
    jobs = None if R.size > COLUMNS else 1
    G = tree_sum(share_out(lambda part: part @ part.T, parts, jobs), np.add)
    values, U = factored(np.linalg.eigh, G)
    there = values > LEAST * values[-1]
    if not there.any() or not np.isfinite(values).all():
        return None, None
    V = np.empty((d, len(values)))

    def along(place: int) -> None:
        some = slice(place * COLUMNS, (place + 1) * COLUMNS)
        np.matmul(parts[place].T, U, out=V[some])

    share_out(along, range(len(parts)), jobs)
    left: Any = V[:, ~there]
    if left.size and np.square(left).sum(axis=0).max() > (8 * d * 2.0**-53) ** 2:
        return None, None
    sigma = np.sqrt(values[there])
    V = V[:, there]
    V /= sigma
    return sigma, V
