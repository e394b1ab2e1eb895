"""The last digits of Crammer and Singer's machine, from the bounds that hold without room.

Once it is known for which classes Tᵢ of every row ξᵢ = zᵢₖ, what is left are linear equations: with
one class r of each Tᵢ to compare the others with,

    ridge u + Σ λᵢₖ (e_k − e_r) ⊗ x̃ᵢ = Σ Uᵢ (e_y − e_r) ⊗ x̃ᵢ,    zᵢₖ = zᵢᵣ for k in Tᵢ,

and aᵢₖ = λᵢₖ, aᵢᵣ = Uᵢ − Σₖ λᵢₖ. A wrong guess shows in multipliers that are negative, or in the
gap.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LARGEST = 250
"""Unknowns up to which the equations are worth solving."""


def last_digits(
    Z: Floats, codes: Array, caps: Floats, ridge: Floats, a: Floats, t: Floats
) -> tuple[Floats, Floats] | None:
    """Weights (K, D) and multipliers a, (K, n), by the bounds that a > Ut takes to be tight.

    None where equations are too many, or their solution is no optimum.

    >>> Z, codes, one = np.array([[1.0], [-1.0]]), np.array([0, 1]), np.ones(2)
    >>> a, t = np.array([[0.6, 0.4], [0.4, 0.6]]), np.full((2, 2), 0.01)
    >>> u, a = last_digits(Z, codes, one, np.ones(1), a, t)
    >>> u.round(12), a.round(12).tolist()
    (array([[ 0.5],
           [-0.5]]), [[0.75, 0.25], [0.25, 0.75]])
    """
    K, n = a.shape
    D = Z.shape[1]
    tight = a > t * caps
    first, rows = a.argmax(axis=0), np.arange(n)
    tight[first, rows] = False
    k, i = np.nonzero(tight)
    size = K * D + len(k)
    if size > LARGEST:
        return None
    E = np.zeros((len(k), K, D))
    each = np.arange(len(k))
    E[each, k], E[each, first[i]] = Z[i], -Z[i]
    right = (first[i] != codes[i]) * 1.0 - (k != codes[i])
    give = np.zeros((K, n))
    give[codes, rows] += caps
    give[first, rows] -= caps
    H = np.zeros((size, size))
    H[: K * D, : K * D] = np.diag(np.tile(ridge, K))
    H[: K * D, K * D :] = E.reshape(len(k), K * D).T
    H[K * D :, : K * D] = E.reshape(len(k), K * D)
    solved = np.linalg.lstsq(H, np.concatenate([(give @ Z).ravel(), right]), rcond=1e-13)[0]
    exact = np.zeros((K, n))
    exact[k, i] = solved[K * D :]
    exact[first, rows] = caps - exact.sum(axis=0)
    if not (exact >= -1e-9 * caps).all():
        return None
    return solved[: K * D].reshape(K, D), np.maximum(exact, 0.0)
