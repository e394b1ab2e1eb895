"""Preconditioned conjugate gradients: Hs = g by products with H alone.

Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*, 1952; stopped
where the residual r = g − Hs, measured by the preconditioner M, is small enough,

    rᵀM⁻¹r ≤ left · gᵀM⁻¹g.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Product = Callable[[Floats], Floats]


def conjugate_gradients(
    product: Product, inverse: Product, g: Floats, left: float, most: float
) -> tuple[Any, int]:
    """s with Hs ≈ g, and how many products it took.

    Parameters
    ----------
    product : H times a vector, or an array of vectors
    inverse : M⁻¹ times one
    left : of rᵀM⁻¹r, at most
    most : products, at most

    Examples
    --------
    >>> H = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> conjugate_gradients(lambda p: H @ p, lambda r: r / 3.0, np.array([6.0, 7.0]), 1e-20, 9)
    (array([1., 2.]), 2)
    """
    s, r = np.zeros_like(g), g.copy()
    y = inverse(r)
    p, rho, made = y.copy(), float(np.vdot(r, y)), 0
    stop = left * rho
    while rho > stop and made < most:
        Hp = product(p)
        made += 1
        bent = float(np.vdot(p, Hp))
        if not bent > 0.0:
            break
        s += rho / bent * p
        r -= rho / bent * Hp
        y = inverse(r)
        rho, before = float(np.vdot(r, y)), rho
        p = y + rho / before * p
    return s, made
