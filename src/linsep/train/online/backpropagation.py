"""Error back-propagation through two layers of sigmoids, compiled: passes of descent.

h = σ(Vx + c),   p = σ(⟨u, h⟩ + a),   loss −log p of the right class

∂/∂(⟨u, h⟩ + a) = p − t,        ∂/∂(Vx + c) = (p − t) u ∘ h ∘ (1 − h)
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import inline, kernel
from linsep._exponentials import exp_of_negative, log_of_one_plus
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
    seed : of the order of rows, for `online`
    """

    def __init__(
        self, X: Array, t: Array, share: Array, weights: Weights, eta: float, seed: int
    ) -> None:
        n, hidden = len(X), len(weights.c)
        self._X, self._columns = np.ascontiguousarray(X), np.ascontiguousarray(X.T)
        self._t, self._share, self._weights = t, share, weights
        self._eta, self._seed, self._made = float(eta), seed, 0
        self._h, self._tail = np.empty((hidden, n)), np.empty((2, n))
        self._whole = np.empty(n, np.int64)
        self._at_once = max(1, CALL // (n * (hidden + 1)))

    def batch(self, most: int, tol: float) -> Array:
        """Losses after passes with a step each: few at a time, ended below `tol`."""
        curve = np.empty(min(most, self._at_once))
        made = batch_passes(
            self._columns, self._t, self._share, self._eta, *self._weights, self._h, self._tail,
            self._whole, self._whole.view(np.float64), curve, tol,
        )  # fmt: skip
        self._made += made
        return curve[:made]

    def online(self, most: int, tol: float) -> Array:
        """Losses after passes with a step for each row, drawn in a new order."""
        n, count = len(self._X), min(most, self._at_once)
        order = np.empty((count, n), np.int64)
        for k in range(count):
            order[k] = row_order(n, self._seed, self._made + k + 1, 0, True)
        curve = np.empty(count)
        made = online_passes(
            self._X, self._t, self._share, self._eta, *self._weights, order, self._h[:, 0].copy(),
            curve, tol,
        )  # fmt: skip
        self._made += made
        return curve[:made]


@inline
def forward(columns, V, c, u, a, h, tail, whole, power):  # type: ignore[no-untyped-def]
    """h ← σ(Vx + c) and tail[0] ← ⟨u, h⟩ + a of all rows; `columns` are the features."""
    n = columns.shape[1]
    for i in range(n):
        tail[0, i] = a[0]
    for k in range(h.shape[0]):
        z, e = h[k], tail[1]
        for i in range(n):
            z[i] = c[k]
        for j in range(columns.shape[0]):
            v = V[k, j]
            for i in range(n):
                z[i] += v * columns[j, i]
        for i in range(n):
            e[i] = -abs(z[i])
        exp_of_negative(e, whole, power)
        for i in range(n):
            top = 1.0 if z[i] >= 0.0 else e[i]
            z[i] = np.divide(top, 1.0 + e[i])
            tail[0, i] += u[0, k] * z[i]


@kernel
def batch_passes(  # type: ignore[no-untyped-def]
    columns, t, share, eta, V, c, u, a, h, tail, whole, power, curve, tol
):
    """A step along the mean slope in each pass; returns how many were made.

    The rows are seen once for each pass: what a step has reached is told by the next look.
    """
    n = columns.shape[1]
    z, e = tail[0], tail[1]
    for made in range(curve.shape[0] + 1):
        forward(columns, V, c, u, a, h, tail, whole, power)
        for i in range(n):
            e[i] = -abs(z[i])
        exp_of_negative(e, whole, power)
        log_of_one_plus(e, power)
        loss = 0.0
        for i in range(n):
            against = z[i] if t[i] == 0.0 else -z[i]
            loss += share[i] * (max(against, 0.0) + power[i])
        if made:
            curve[made - 1] = loss / n
            if curve[made - 1] < tol:
                return made
        if made == curve.shape[0]:
            break
        total = 0.0
        for i in range(n):
            p = np.divide(1.0 if z[i] >= 0.0 else e[i], 1.0 + e[i])
            z[i] = share[i] * (p - t[i]) / n
            total += z[i]
        for k in range(h.shape[0]):
            rise, below = 0.0, 0.0
            for i in range(n):
                rise += z[i] * h[k, i]
                e[i] = z[i] * u[0, k] * h[k, i] * (1.0 - h[k, i])
                below += e[i]
            for j in range(columns.shape[0]):
                slope = 0.0
                for i in range(n):
                    slope += e[i] * columns[j, i]
                V[k, j] -= eta * slope
            c[k] -= eta * below
            u[0, k] -= eta * rise
        a[0] -= eta * total
    return curve.shape[0]


@inline
def score(x, V, c, u, a, h):  # type: ignore[no-untyped-def]
    """h ← σ(Vx + c) of one row; returns ⟨u, h⟩ + a."""
    z = a[0]
    for k in range(h.shape[0]):
        s = c[k]
        for j in range(x.shape[0]):
            s += V[k, j] * x[j]
        e = np.exp(-abs(s))
        h[k] = (1.0 if s >= 0.0 else e) / (1.0 + e)
        z += u[0, k] * h[k]
    return z


@kernel
def online_passes(X, t, share, eta, V, c, u, a, order, h, curve, tol):  # type: ignore[no-untyped-def]
    """A step for each row of each pass in its order; returns how many passes were made."""
    n = X.shape[0]
    for made in range(curve.shape[0]):
        for m in range(n):
            i = order[made, m]
            z = score(X[i], V, c, u, a, h)
            e = np.exp(-abs(z))
            top = eta * share[i] * ((1.0 if z >= 0.0 else e) / (1.0 + e) - t[i])
            for k in range(h.shape[0]):
                below = top * u[0, k] * h[k] * (1.0 - h[k])
                for j in range(X.shape[1]):
                    V[k, j] -= below * X[i, j]
                c[k] -= below
                u[0, k] -= top * h[k]
            a[0] -= top
        loss = 0.0
        for i in range(n):
            z = score(X[i], V, c, u, a, h)
            against = z if t[i] == 0.0 else -z
            loss += share[i] * (max(against, 0.0) + np.log1p(np.exp(-abs(z))))
        curve[made] = loss / n
        if curve[made] < tol:
            return made + 1
    return curve.shape[0]
