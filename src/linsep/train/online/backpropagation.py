"""Error back-propagation through two layers of sigmoids, compiled: passes of descent.

h = σ(Vx + c),   p = σ(⟨u, h⟩ + a),   loss −log p of the right class

∂/∂(⟨u, h⟩ + a) = p − t,        ∂/∂(Vx + c) = (p − t) u ∘ h ∘ (1 − h)
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import backpropagation
from linsep.train.order import row_order

Array = npt.NDArray[Any]

CALL = 1 << 22  # sigmoids in one call, after which an interrupt is looked for


class Weights(NamedTuple):
    """V (hidden, d), c (hidden,), u (1, hidden) and a (1,), changed where they lie."""

    V: Array
    c: Array
    u: Array
    a: Array


class Descent:
    """Descent on the mean loss of the rows, from weights that it changes.

    Parameters
    ----------
    X : rows (n, d) of float64
    t : 0.0 or 1.0 for each row
    share : weight of each row; the mean is 1
    weights : where it starts
    eta : the step size
    seed, shuffle : of the order of rows, for `online`
    """

    def __init__(
        self, X: Array, t: Array, share: Array, weights: Weights, eta: float, seed: int,
        shuffle: bool | str = True,
    ) -> None:  # fmt: skip
        n, hidden = len(X), len(weights.c)
        self._X, self._columns = np.ascontiguousarray(X), np.ascontiguousarray(X.T)
        self._t, self._share, self._weights = t, share, weights
        self._eta, self._seed, self._made, self._shuffle = float(eta), seed, 0, shuffle
        self._at_once = max(1, CALL // (n * (hidden + 1)))

    def batch(self, most: int, tol: float) -> Array:
        """Losses after passes with a step each: few at a time, ended below `tol`."""
        curve = np.empty(min(most, self._at_once))
        made = backpropagation.batch_passes(
            self._columns, self._t, self._share, self._eta, self._weights, curve, tol
        )
        self._made += made
        return curve[:made]

    def online(self, most: int, tol: float) -> Array:
        """Losses after passes with a step for each row, in the order of each pass."""
        n, count = len(self._X), min(most, self._at_once)
        order = np.empty((count, n), np.int64)
        for k in range(count):
            order[k] = row_order(n, self._seed, self._made + k + 1, 0, self._shuffle)
        curve = np.empty(count)
        made = backpropagation.online_passes(
            self._X, self._t, self._share, self._eta, self._weights, order, curve, tol
        )
        self._made += made
        return curve[:made]
