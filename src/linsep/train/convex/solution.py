"""What a convex fit hands back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError
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
    solver: str = ""
    certificate: Any = None
    start: Any = None

    @property
    def relative_gap(self) -> float:
        """gap / primal: what `tol` is compared with."""
        return self.gap / self.primal if self.primal > 0 else float(np.sign(self.gap))


def end_of_newton(
    w: Array, b: Any, value: float, gap: float, unit: float, passes: int, status: Status
) -> Solution:
    """The solution of a run by Newton's method, of two classes or several.

    `value` and `gap` are those of the objective divided by `unit`, infinite where no point was
    seen.
    """
    require_range(w, b)
    primal, gained = value * unit, gap * unit
    if status is Status.no_optimum:
        gained = primal  # the infimum need not be zero, but no more than this can be gained
    return Solution(w, b, None, primal, primal - gained, gained, passes, status)


def require_range(w: Array, b: Any) -> None:
    """Refuse weights that are no numbers."""
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise DataError(
            "X has columns so small that their weights leave the range of floats. Multiply X "
            "by a constant."
        )
