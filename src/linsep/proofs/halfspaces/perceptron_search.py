"""Rosenblatt's rule as a quick search for a separator: a few passes often suffice."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import halfspaces as kernels
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.rows.rows import as_rows

Floats = npt.NDArray[np.float64]

_TRIAL = 20_000  # rows visited first: where many of them are mistaken, the rest need not be seen
_FEW = 8  # many rows are begun with one in so many: they are near, and go most of the way
_AGAIN = 20  # passes over the rows once corrected, for each pass over all of many rows


class Passes(NamedTuple):
    """A separator, or None and the constraints still corrected at the end, latest first.

    `hopeless`: so many mistakes that a separator is unlikely.

    On whole numbers the rule without end returns to the same weights: then the corrections in
    between add up to zero, and these constraints contain a proof that no separator exists.
    """

    separator: Floats | None
    corrected: npt.NDArray[np.int64]
    hopeless: bool = False


def passes(
    problem: Halfspaces, work: float, out_of_time: Callable[[], bool] = bool, patient: bool = False
) -> Passes:
    """Rosenblatt's rule until a whole pass makes no mistake, or it is not about to.

    It ends after about `work` multiplications, or early when mistakes are many and one is not
    `patient`. The constant feature is about as long as a row, which spares offset data many
    corrections; through the origin there is none.

    Examples
    --------
    >>> problem = Halfspaces.of(np.array([[0.0], [1.0]]), np.array([0, 1]))
    >>> passes(problem, 100.0).separator.tolist()
    [1.0, -0.5]
    """
    touched = np.zeros(problem.n_rows * problem.blocks, np.int64)
    if problem.extreme_scale:
        return Passes(None, touched[:0])
    rows, signs = as_rows(problem.X), problem.signs
    codes = np.ascontiguousarray(problem.codes, np.int32)
    constant = problem.constant * typical_square(problem.X)
    K, d = problem.blocks, problem.n_features
    w, b = np.zeros(d), 0.0
    W, B = rows.weights(K, d).astype(np.float64), np.zeros(K)
    s = np.zeros(W.size // d)  # a layout may keep more columns than classes
    cost = problem.n_rows + problem.stored * K
    most = int(min(1000 if problem.n_rows > 1000 else 100, max(3, work / cost)))
    shuffle = np.random.default_rng(0)  # rows sorted by class would mislead the bias
    order = shuffle.permutation(problem.n_rows)
    trial = order[:_TRIAL]
    done, portion, hopeless = 0, 3, False
    many = K == 1 and problem.n_rows > 1000 * _FEW
    if many:
        few = order[: min(problem.n_rows, _TRIAL) // _FEW]
        b, _ = kernels.passes(rows, signs, few, w, b, constant, touched, 0, 4 * portion)
        portion = 1
    while done < most and not out_of_time():
        visited = trial if done == 0 else order
        if K == 1:
            b, mistakes = kernels.passes(
                rows, signs, visited, w, b, constant, touched, done, portion
            )
        else:
            mistakes = kernels.kesler_passes(
                rows, codes, visited, W, B, constant, s, touched, done, portion
            )
        done += portion
        if mistakes == 0 and len(visited) == problem.n_rows:
            v = np.append(w, b) if K == 1 else np.column_stack([rows.by_class(W, K), B]).ravel()
            return Passes(v, touched[:0])
        hopeless = mistakes > 0.1 * len(visited) and problem.n_rows > max(100, d)
        if hopeless and not patient:
            break
        if many:  # rows once corrected are the likeliest to be so again
            once = shuffle.permutation(np.flatnonzero(touched))
            b, _ = kernels.passes(rows, signs, once, w, b, constant, touched, done, _AGAIN)
        order = shuffle.permutation(problem.n_rows)
        portion = 1 if many else int(max(1, min(most - done, 4 * portion, 1e8 // cost)))
    recent = np.flatnonzero(touched > done // 2)
    latest = recent[np.argsort(-touched[recent], kind="stable")]
    return Passes(None, latest, hopeless=hopeless)


def typical_square(X: Any) -> float:
    """The mean of ‖xᵢ‖² over up to 64 rows; 1 where all are zero."""
    sample = X[:: max(1, X.shape[0] // 64)].astype(np.float64)
    squares = sample.multiply(sample) if hasattr(sample, "indptr") else sample * sample
    return float(squares.sum()) / sample.shape[0] or 1.0
