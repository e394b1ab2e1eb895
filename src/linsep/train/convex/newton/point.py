"""Where a truncated Newton method stands."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Point(NamedTuple):
    """Weights that all rows were seen from, by a smooth loss.

    Attributes
    ----------
    u : weights and intercept
    loss : the smooth loss
    value, gradient : of the objective with it
    shrink : what makes the multipliers of either class feasible
    curved : rows with Uℓ″ > 0
    primal, dual : P of the loss asked for, and a bound on its minimum
    kink : what is left of the gap once the gradient is zero
    """

    u: Floats
    loss: Any
    value: float
    gradient: Floats
    shrink: Floats
    curved: int
    primal: float
    dual: float
    kink: float

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)
