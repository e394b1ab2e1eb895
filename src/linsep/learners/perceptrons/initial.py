"""Weights that a run begins from, as users give them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError

Floats = npt.NDArray[np.float64]


def initial_weights(init: Any, planes: int, d: int) -> tuple[Floats, Floats]:
    """`init` as (K, d) weights and (K,) intercepts.

    >>> initial_weights([1.0, 2.0, 0.5], 1, 2)
    (array([[1., 2.]]), array([0.5]))
    """
    pair = isinstance(init, tuple) and len(init) == 2
    try:
        w = np.atleast_2d(np.asarray(init[0] if pair else init, dtype=float))
        b = np.atleast_1d(np.asarray(init[1], dtype=float)) if pair else np.zeros(len(w))
    except (TypeError, ValueError):
        raise ParameterError(f"init is {init!r}; give weights as numbers.") from None
    if not pair and w.shape[1] == d + 1:
        w, b = w[:, :-1], w[:, -1]
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ParameterError(f"init is {init!r}; weights must be finite.")
    if w.shape != (planes, d) or b.shape != (planes,):
        raise ParameterError(
            f"init has {w.shape[0]} rows of {w.shape[1]} weights and {b.size} intercepts; "
            f"X asks for {planes} of {d}, each with one intercept or none."
        )
    return w, b
