"""Intervals of predictions: of a probability, of a mean, or of the number of a new row."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.errors import ParameterError
from linsep.learners.inference.covariances import Spread
from linsep.learners.inference.linear_errors import LinearFit
from linsep.learners.inference.ordinal_errors import OrdinalFit
from linsep.learners.inference.regular import with_ones

Array = npt.NDArray[Any]


def interval_of(fit: Any, rows: Array, level: float, new: bool, spread: Spread) -> Array:
    """⟨θ, z⟩ ± t √(zᵀVz), with the variance of a new row added where it is asked for; for two
    classes the probabilities of both ends."""
    if isinstance(fit, OrdinalFit):
        raise ParameterError("predict_interval is not there for ordered classes.")
    Z = with_ones(rows, fit.model.fit_intercept)
    variance = np.einsum("ij,jk,ik->i", Z, spread.matrix, Z)
    if isinstance(fit, LinearFit):
        middle = Z @ fit.theta
        variance = variance + new * fit.squares / fit.freedom
    elif fit.K > 2:
        raise ParameterError("intervals of probabilities are told for two classes, not for more.")
    else:
        middle = Z @ fit.peak.theta[0]
    reach = spread.reach(level) * np.sqrt(variance)
    ends = np.column_stack([middle - reach, middle + reach])
    return ends if isinstance(fit, LinearFit) else np.asarray(special.expit(ends))
