"""What a convex fit hands back."""

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
    b : intercept, a float or (K,)
    alpha : multipliers of the rows, a feasible point of the dual; None where they follow from the
        weights
    primal : the objective at (w, b)
    dual : no weights have a smaller objective than this
    gap : primal − dual
    n_iter : passes over all rows, or steps
    status : how the run ended
    message : the same in a sentence with the numbers of this run
    solver : the name of the solver that ran
    certificate : what the certificate said of these weights, where one was asked
    start : what a further run of the solver goes on from, where that is not `alpha`
    """

    w: Array
    b: Any
    alpha: Any
    primal: float
    dual: float
    gap: float
    n_iter: int
    status: Status = Status.budget
    message: str = ""
    solver: str = ""
    certificate: Any = None
    start: Any = None

    @property
    def relative_gap(self) -> float:
        """gap / primal: what `tol` is compared with."""
        return self.gap / self.primal if self.primal > 0 else float(np.sign(self.gap))
