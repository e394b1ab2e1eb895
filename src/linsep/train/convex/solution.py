"""What a solver of a convex problem hands back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.status import Status

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Solution:
    """Weights in the units of the data, and how far they can be from the best.

    Attributes
    ----------
    w : weights, (d,) for two classes and (K, d) for more
    b : bias, a float or (K,)
    primal : the objective at (w, b)
    dual : no weights have a smaller objective than this
    gap : primal − dual
    n_iter : passes over all rows
    status : how the run ended
    message : the same in a sentence with the numbers of this run
    alpha : multipliers of the rows, (n, K), where they do not follow from the weights
    """

    w: Array
    b: Any
    primal: float
    dual: float
    gap: float
    n_iter: int
    status: Status
    message: str
    alpha: Array | None = None

    @property
    def relative_gap(self) -> float:
        """gap / primal: what `tol` is compared with."""
        return self.gap / self.primal if self.primal > 0 else float(np.sign(self.gap))
