"""Is there a separating plane? Yes, with the plane; or no, with rows that rule every plane out."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep._arguments import require_number, require_switch
from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.data.cluster.recognise import from_dask
from linsep.errors import DataError, ParameterError
from linsep.parallel import one_thread
from linsep.proofs.separability.certificate import Separability, fingerprint
from linsep.proofs.separability.prover import Prover

__all__ = ["Separability", "separability"]


def separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    time_limit: float | None = None,
    gap: float | None = None,
) -> Separability:
    """Prove that a plane separates the classes, or prove that none does.

    Data are taken as stored: a float is a fraction, so that the answer is a fact about exactly
    these numbers. Either weights w and bias b with yᵢ(⟨w, xᵢ⟩ + b) > 0 for every row, and bounds on
    the largest margin; or at most d + 2 rows and multipliers α ≥ 0 of sum one with
    Σ αᵢyᵢ(xᵢ, 1) = 0, which no plane survives (Gordan 1873). What floating point merely suggests is
    reported as undecided. K > 2 classes are separable when ⟨w_y, x⟩ + b_y is largest for the right
    class of every row (Kesler's construct); that this cannot be is proved by at most
    (K-1)(d+1) + 1 comparisons of a row with a rival class, which for two classes is d + 2. With
    `fit_intercept=False` the same is asked of planes through the origin: b is 0, at most d + 1 rows
    have Σ αᵢyᵢxᵢ = 0, (K-1)d + 1 comparisons for K classes, and margins are those of such planes.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, or Dask collection
        Rows; those of a cluster stay there, and a few are brought here. Integers must be below
        2^53, where float64 is exact.
    y : array-like
        Labels; the positive class is the last of the two in sorted order.
    fit_intercept : bool
        False: planes through the origin only, as learners with `fit_intercept=False` fit them.
    time_limit : float, optional
        Seconds after which the answer may be "undecided", with the bounds known by then.
    gap : float, optional
        How near, relatively, `margin` and `margin_upper` should come; 1e-6 is within reach. By
        default small problems are closed to 1e-6 and large ones to about a tenth. With
        `numpy.inf` the verdict is proved and no time is spent on the margin.

    Returns
    -------
    Separability
        Its `separable` is True, False or None, its `verdict` a sentence, and its `verify(X, y)`
        checks the proof by independent code.

    Examples
    --------
    >>> proof = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> proof.separable, proof.rows.tolist(), [str(a) for a in proof.multipliers]
    (False, [0, 1, 2, 3], ['1/4', '1/4', '1/4', '1/4'])
    >>> proof = separability([[1, 1], [0.5, 3], [2, 2]], [1, 1, -1])
    >>> print(proof)
    Separable: a plane has all 3 rows in 2 dimensions strictly on their sides, margin 0.606339
    (the largest is at most 0.606339).
    >>> print(separability([[1], [2]], [0, 1], fit_intercept=False))
    Not separable, not even with points on the plane: 2 of the 2 rows in 1 dimension rule every
    plane through the origin out by an exact combination to zero.
    """
    _check_parameters(time_limit, gap)
    require_switch("fit_intercept", fit_intercept)
    late = _clock(time_limit)
    if from_dask(X):
        from linsep.data.cluster.collections import opened
        from linsep.proofs.separability.far_rows import prove_far

        with opened(X, y) as (rows, labels):
            return prove_far(rows, labels.classes, labels.codes, bool(fit_intercept), late, gap)
    _refuse_wide_integers(X)
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    start = Separability(
        None,
        None,
        classes,
        X.shape,
        fit_intercept=bool(fit_intercept),
        fingerprint=fingerprint(X, codes),
    )
    # floating point only proposes: where it overflows, whole numbers take over
    with one_thread, np.errstate(all="ignore"):
        return Prover(X, codes, start, late, gap).run()


def _check_parameters(time_limit: float | None, gap: float | None) -> None:
    for name, value in (("time_limit", time_limit), ("gap", gap)):
        if value is not None:
            require_number(name, value, "a number, or None")
    if time_limit is not None and not time_limit >= 0:
        raise ParameterError(f"time_limit is {time_limit!r}; give seconds, 0 or more, or None.")
    if gap is not None and not (0 < gap < 1 or gap == np.inf):
        raise ParameterError(
            f"gap is {gap!r}; give a relative distance between 0 and 1, numpy.inf if any margin "
            "will do, or None."
        )


def _clock(time_limit: float | None) -> Callable[[], bool]:
    """Whether the time is up."""
    if time_limit is None:
        return bool
    end = time.monotonic() + time_limit
    return lambda: time.monotonic() >= end


def _as_given(X: list[Any] | tuple[Any, ...]) -> Any:
    try:
        return np.asarray(X)
    except ValueError:  # rows of different lengths, which `check_rows` refuses in words
        return np.empty(0)


def _refuse_wide_integers(X: Any) -> None:
    """Numbers that float64 would round are refused: a proof must be about the numbers given."""
    values = X.data if sp.issparse(X) else X
    if not isinstance(values, np.ndarray):
        values = _as_given(X) if isinstance(X, (list, tuple)) else np.empty(0)
    wide = values.dtype.kind in "iu" and values.dtype.itemsize == 8
    if not (wide or values.dtype.kind == "O" or values.dtype == np.longdouble):
        return
    try:
        with np.errstate(all="ignore"):
            floats = values.astype(np.float64)
        if wide:
            same = bool(np.all(np.abs(floats) < 2.0**53))
        else:
            same = bool(np.all((floats == values) | ~np.isfinite(floats)))
    except (TypeError, ValueError, OverflowError):
        return  # no numbers at all: the check of X says so better
    if not same:
        raise DataError(
            "X holds numbers that float64 cannot express, such as integers of 2**53 or more; a "
            "proof would be about other numbers. Subtract an offset or scale X first."
        )
