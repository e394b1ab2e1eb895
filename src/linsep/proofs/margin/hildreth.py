"""The widest margin of very wide data, one multiplier at a time (Hildreth 1957).

    minimise ½‖w‖² + ½(b/c)²   subject to  yᵢ(⟨w, xᵢ⟩ + b) ≥ 1

Each multiplier of the dual is maximised in turn, sparse where the row is sparse. The bias is the
weight of a constant feature c; a large c hardly penalises it, and c = 0 keeps it 0. Used where
columns are too many for a Newton system.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels.designs import norms
from linsep.kernels.halfspaces import margin_sweeps
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.perceptron_search import typical_square
from linsep.rows.rows import as_rows

Floats = npt.NDArray[np.float64]


class Ascent(NamedTuple):
    """The widest separator found (None if none separates), and multipliers of all rows."""

    separator: Floats | None
    alpha: Floats


def ascend(
    problem: Halfspaces, gap: float, work: float, out_of_time: Callable[[], bool] = bool
) -> Ascent:
    """Approach the widest separator of two classes until within `gap`, or for `work` products.

    Examples
    --------
    >>> problem = Halfspaces.of(np.array([[0.0], [1.0]]), np.array([0, 1]))
    >>> w, b = ascend(problem, 1e-3, 1e5).separator
    >>> float(-b / w)
    0.5
    """
    rows, signs = as_rows(problem.X), problem.signs
    n, d = problem.n_rows, problem.n_features
    constant = 4 * problem.constant * typical_square(problem.X)
    squares, alpha, w, b = np.empty(n), np.zeros(n), np.zeros(d), 0.0
    norms(rows, squares)
    np.maximum(squares + constant, np.finfo(float).tiny, out=squares)
    shuffle = np.random.default_rng(0)
    best, lowest, reach = None, 0.0, np.inf
    cost, spent = problem.stored + n, 0.0
    while spent < work and not out_of_time():
        b = margin_sweeps(rows, signs, squares, shuffle.permutation(n), constant, alpha, w, b, 1)
        support = np.flatnonzero(alpha)
        again = shuffle.permutation(support)
        b = margin_sweeps(rows, signs, squares, again, constant, alpha, w, b, 8)
        spent += cost * (2 + 8 * len(support) / n)
        v = np.append(w, b)
        z = problem.values(v)
        least = float(z.min())
        if problem.fit_intercept:
            low, high = z[signs > 0].min(), z[signs < 0].min()
            v[-1] += (high - low) / 2  # half-way between the classes
            least = float(low + high) / 2
        length = float(np.linalg.norm(w))
        margin = least / length if length > 0 else 0.0
        if margin > lowest:
            best, lowest = v, margin
        reach = min(reach, _reach(problem, alpha))
        if lowest > 0 and lowest >= (1 - gap) * reach:
            break
    return Ascent(best, alpha)


def _reach(problem: Halfspaces, alpha: Floats) -> float:
    """‖p - q‖/2 for the means p and q of the two classes with weights α; without b ‖Σ αᵢyᵢxᵢ‖/Σ αᵢ.

    Both bound every margin.
    """
    ids = np.flatnonzero(alpha)
    if not problem.fit_intercept:
        return float(np.linalg.norm(problem.combine(ids, alpha[ids] / alpha[ids].sum())))
    totals = np.bincount(problem.codes[ids], alpha[ids], 2)
    if not totals.min() > 0:
        return np.inf
    return float(np.linalg.norm(problem.combine(ids, alpha[ids] / totals[problem.codes[ids]]))) / 2
