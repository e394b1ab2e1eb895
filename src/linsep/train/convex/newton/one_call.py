"""A small dense problem of two classes from array to solution, with next to nothing around it.

Where a fit takes half a millisecond, most of that is what surrounds the sums. This is the run of
`linsep.train.convex.newton.full_newton`, with its bytes, for a problem that nobody watches: it ends
in a solution whose gap is closed by the solver's own count, or in nothing, and then the driver has
the whole of it to do.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.newton.full_sums import shared
from linsep.train.convex.newton.newton_run import CLOSED, COMPILED, KINDS, NewtonRun
from linsep.train.convex.newton.newton_start import begin
from linsep.train.convex.newton.row_layouts import as_rows

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALONE = 1 << 17  # entries up to which one thread does all
FINEST = 1e-7  # relative gap below which other solvers give more digits


def suits(X: Any) -> bool:
    """Whether X is a dense array so small that one thread and a compiled factor are best."""
    return type(X) is np.ndarray and X.size <= ALONE and X.shape[1] < COMPILED and not shared(X)


class Answer(NamedTuple):
    """What is kept of a run: as of `linsep.train.convex.solution.Solution`."""

    w: Array
    b: float
    alpha: Floats
    primal: float
    dual: float
    gap: float
    n_iter: int


def solve_at_once(
    X: Array, y: Floats, caps: Floats, loss: str, free: bool, tol: float, most: int
) -> Answer | None:
    """The optimum to a relative gap of `tol`; None where that is not reached in `most` steps.

    Parameters
    ----------
    X : array that `suits`
    y, caps : −1.0 or 1.0, and Uᵢ, for each row
    loss : 'logistic', 'squared_hinge' or 'hinge'
    free : whether the intercept is free
    """
    kind = KINDS[loss]
    at = begin(X, y, caps, kind, free)
    run = NewtonRun(kind, as_rows(at.X), y, caps, at.ridge, free)
    run.u[:] = at.u
    if run.go(tol, 0.0, most, at.h) != CLOSED:
        return None
    primal, dual, u = run.primal, run.dual, run.best
    w, b = at.columns.outside(u[:-1].copy(), float(u[-1]))
    gap, steps = max(0.0, primal - dual), max(1, run.steps)
    return Answer(w, float(b) if free else 0.0, run.alpha.copy(), primal, dual, gap, steps)
