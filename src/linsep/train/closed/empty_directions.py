"""Directions without spread, found in a correlation matrix and confirmed by the rows themselves.

An eigenvalue of zero comes out of a matrix of sums as 1e-16 or so, which could as well be a spread
of 1e-8. What the rows show of its eigenvector decides: one pass, much cheaper than an orthogonal
factor. Where the eigenvector is not good enough to show nothing, it is corrected by the others.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Against = Callable[[Floats, bool], tuple[Floats, Floats]]

LEAST = 1e-9  # eigenvalues below are taken for directions without spread, if the rows confirm it
CORRECTIONS = 3
SKETCH = 3  # random combinations of many directions that are looked at before each of them


class Directions(NamedTuple):
    """Orthonormal directions with spread, (d, r), its square (r,), and those without, (d, d − r).

    `left` is the square of what the rows show of the latter: not more than their rounding.
    """

    vectors: Floats
    values: Floats
    empty: Floats
    left: Floats


def empty_directions(
    S: Floats, against: Against, limit: Callable[[Floats], Floats], least: float
) -> Directions | None:
    """Split the directions of S = ZᵀZ; None where some spread is neither empty nor above `least`.

    Parameters
    ----------
    S : (d, d) correlations
    against : (ZᵀZN, or anything without its flag; ‖Zn‖² of each column) for directions N, by the
        rows
    limit : what rounding alone makes of ‖Zn‖ for the columns of N
    least : the smallest eigenvalue to trust
    """
    values, vectors = np.linalg.eigh(S)
    empty = values < LEAST
    if not least <= float(values[~empty].min(initial=np.inf)) < np.inf:
        return None
    V, N, values = vectors[:, ~empty], vectors[:, empty], values[~empty]
    if N.shape[1] > SKETCH:
        left = _sketched(N, against, limit)
        if left is not None:
            return Directions(V, values, N, left)
    for again in range(CORRECTIONS):
        _, left = against(N, False)
        if (np.sqrt(left) <= limit(N)).all():
            if again:
                values, F = np.linalg.eigh(V.T @ S @ V)
                V = V @ F
            return Directions(V, values, N, left)
        products, _ = against(N, True)
        N, _ = np.linalg.qr(N - V @ ((V.T @ products) / values[:, None]))
        V, _ = np.linalg.qr(V - N @ (N.T @ V))
        values = np.einsum("ij,ij->j", V, S @ V)
    return None


def _sketched(N: Floats, against: Against, limit: Callable[[Floats], Floats]) -> Floats | None:
    """What random combinations of the columns show; None unless all of these must be empty too.

    A combination of k columns shows about 1/√k of what the worst of them would: with that share of
    the limit kept three times, a column c times beyond it goes unseen once in c³ times or so.
    """
    k = N.shape[1]
    M = N @ np.random.default_rng(0).standard_normal((k, SKETCH))
    M /= np.sqrt(np.square(M).sum(axis=0))
    _, left = against(M, False)
    seen = bool((np.sqrt(k * left) <= limit(M)).all())
    return np.full(k, k * float(left.max())) if seen else None
