"""Newton's equations of several classes by conjugate gradients, where that is the cheaper way.

A Hessian of K classes and D columns costs n(KD)²/2 multiplications, a product with it 4nKD. With
the Hessian of another point, or of a sample of rows, as preconditioner a few products are enough:
20,000 rows of 16 features, 26 classes, 3 to 5 for a step, where a Hessian costs as much as 26. What
is left of the equations is as small as the step is worth.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.curvature import Curvature

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FORCING = 0.05  # of the decrement, what the equations may leave of it, far from the optimum
AIM = 0.25  # of the gap asked for, what they may leave of it at the end
FEWEST = 6  # products that have to be cheaper than a Hessian
NUMBER = 10  # operations that a row and class costs beside products of matrices
SLOWER = 2  # times the operations of a product of matrices, what one of few rows takes


class Cost(NamedTuple):
    """Of a Hessian and of a product with it, in operations.

    >>> Cost.of(20_000, 17, 26).products, Cost.of(150, 5, 3).products
    (26, 0)
    """

    hessian: float
    product: float

    @classmethod
    def of(cls, n: int, columns: int, n_classes: int) -> "Cost":
        size = float(columns * n_classes)
        hessian = n * size**2 / 2 + size**3
        return cls(hessian, SLOWER * 4 * n * size + NUMBER * n * n_classes + 8 * size**2)

    @property
    def products(self) -> int:
        """How many cost as much as a Hessian."""
        return int(self.hessian / self.product)


def newton_cg_step(
    product: Callable[[Floats], Floats],
    nearby: Curvature,
    gradient: Floats,
    ridge: Floats,
    *,
    value: float,
    asked: float,
    most: int,
) -> tuple[Floats, float] | None:
    """du with H du ≈ −gradient, and −⟨gradient, du⟩; None where `most` products are too few.

    Parameters
    ----------
    product : multiplies by H
    nearby : the preconditioner
    gradient, ridge : of F, (K, D), and of each column, of which zeros have no part in the gap
    value : F, and `asked` the gap that is asked for
    """
    inverse = np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0.0)
    du, r = np.zeros_like(gradient), -gradient
    z = nearby.solve(r.ravel()).reshape(r.shape)
    p, rz = z, float(np.vdot(r, z))
    enough = rz * min(FORCING, 0.5 * rz / max(value, 1e-300))
    for _ in range(most):
        if rz <= enough or 0.5 * float(np.vdot(r * inverse, r)) <= AIM * asked:
            du -= du.mean(axis=0)  # one vector more for all classes is the same model
            return du, -float(np.vdot(gradient, du))
        q = product(p)
        curved = float(np.vdot(p, q))
        if not curved > 0.0:
            return None
        t = rz / curved
        du, r = du + t * p, r - t * q
        z = nearby.solve(r.ravel()).reshape(r.shape)
        before, rz = rz, float(np.vdot(r, z))
        p = z + (rz / before) * p
    return None
