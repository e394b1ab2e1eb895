"""Where Newton's method begins: columns of moderate scale, the odds of the classes, a sample.

A sample of the rows has its optimum about d/m of the objective from that of all rows: so far it is
as good as they are, and costs m of n rows a step.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.coordinates import Columns, moderate
from linsep.train.convex.newton.newton_run import LOGISTIC, NewtonRun
from linsep.train.convex.newton.row_layouts import as_rows
from linsep.train.convex.sampling import scattered

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDTH = 2.0  # of the smoothed kink at first: all rows at w = 0 lie in it
WARM = 0.1  # the same at weights to begin from
FEWEST, PER_FEATURE = 512, 20  # rows of a sample, at least, and for each feature
WORTH = 4  # times as many rows, from which a sample pays
SAMPLED = 20  # steps with a sample, at most
ERROR = 0.25  # of d/m, about which the solution of m sampled rows errs: finer is not worth having


class Start(NamedTuple):
    """A problem as Newton's method sees it, and where it begins.

    Attributes
    ----------
    X, columns : rows in columns of moderate scale, and the way back
    ridge : penalty of each weight in these, of the intercept last
    u, h : weights and intercept; width of the smoothed kink
    """

    X: Any
    columns: Columns
    ridge: Floats
    u: Floats
    h: float


def begin(
    X: Any,
    y: Floats,
    caps: Floats,
    kind: int,
    free: bool,
    start: tuple[Array, float] | None = None,
) -> Start:
    """At weights that are known, at the optimum of a sample, or at zero.

    Parameters
    ----------
    X : array or CSR matrix in memory
    y, caps : −1.0 or 1.0, and Uᵢ, for each row
    kind : the loss, as of `newton_run`
    free : whether the intercept is free
    start : weights and intercept
    """
    X, columns = moderate(X, free)
    d = X.shape[1]
    ridge, u = np.ones(d + 1), np.zeros(d + 1)
    if columns.scale.size:
        ridge[:-1] = columns.scale.astype(np.float64) ** 2
    ridge[-1] = 0.0
    if start is not None:
        w, b = columns.inside(np.asarray(start[0], np.float64), start[1])
        return Start(X, columns, ridge, np.append(w, b if free else 0.0), WARM)
    if free and kind == LOGISTIC:
        u[-1] = odds(y, caps)
    n, m = X.shape[0], max(FEWEST, PER_FEATURE * d)
    if n < WORTH * m:
        return Start(X, columns, ridge, u, WIDTH)
    some = scattered(n, m)
    caps = caps[some] * (n / len(some))
    run = NewtonRun(kind, as_rows(X[some]), y[some], caps, ridge, free)
    run.u[:] = u
    run.go(0.0, ERROR * d / len(some), SAMPLED, WIDTH)
    return Start(X, columns, ridge, run.u, run.h)


def odds(y: Floats, caps: Floats) -> float:
    """The best intercept where the weights are zero."""
    up = float(caps @ (y > 0.0))
    down = float(caps.sum()) - up
    return math.log(up / down) if up > 0.0 and down > 0.0 else 0.0
