"""Where the error of a learner comes from: its bias, and how much it changes with its data."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from linsep.data.check.arrays import check_shape
from linsep.data.check.labels import encode
from linsep.errors import DataError, ParameterError
from linsep.learners.fitting.parameters import positive
from linsep.parallel import in_order
from linsep.train.order import seed_of

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Any, Any]]


class BiasVariance(NamedTuple):
    """E(Y − y)² = (E(Y) − y)² + V(Y), at each point and on average over the points.

    Attributes
    ----------
    error : float
        Mean squared error; for a classifier the share of wrong labels.
    bias : float
        The squared bias, (E(Y) − y)².
    variance : float
        V(Y). `bias + variance` is `error`.
    errors, biases, variances : (m,) arrays
        The same at each point; NaN at one that no draw has left out.
    means : (m,) or (m, K) array
        E(Y): the mean prediction, or how often each class was predicted.
    counts : (m,) array
        From how many fits each of these comes.
    """

    error: float
    bias: float
    variance: float
    errors: Floats
    biases: Floats
    variances: Floats
    means: Floats
    counts: Array

    def __str__(self) -> str:
        return (
            f"error {self.error:.4g} = squared bias {self.bias:.4g} + variance "
            f"{self.variance:.4g}, mean over {len(self.counts):,} points"
        )


def bias_variance(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    at: Any = None,
    truth: Any = None,
    repeats: int = 100,
    random_state: Any = 0,
    n_jobs: int | None = 1,
) -> BiasVariance:
    """Split the error of any classifier or regressor into bias and variance, by resampling.

    The learner is fitted `repeats` times, to data drawn anew each time. Y is what it predicts at a
    point, and E(Y − y)² = (E(Y) − y)² + V(Y) holds there. Labels are treated as the corners of a
    simplex, where half the squared distance is 1 between different ones: then the left side is
    the share of wrong labels, and the right side as always.

    Parameters
    ----------
    learner : classifier or regressor
        Of linsep or scikit-learn; clones of it are fitted.
    X, y : rows and labels or numbers
        Each fit gets as many rows drawn from these, with replacement. Or only X, a function that
        takes a `numpy.random.Generator` and returns new rows and labels, where these can be made.
    at, truth : rows and labels or numbers, optional
        Where to look, and what is right there. Without them, the rows of X that a draw has left
        out are looked at; then noise in y counts as bias.
    repeats : int
        How many fits.
    random_state : int
        Same seed, same draws; fit number r does not depend on how many there are.
    n_jobs : int, optional
        Threads; they never change the result.

    Returns
    -------
    BiasVariance

    Examples
    --------
    The mean of n numbers has no bias and the variance σ²/n:

    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from linsep import bias_variance
    >>> def draw(rng):
    ...     return np.zeros((25, 1)), 3 + 2 * rng.standard_normal(25)
    >>> parts = bias_variance(DummyRegressor(), draw, at=[[0.0]], truth=[3.0], repeats=2000)
    >>> round(parts.bias, 2), round(parts.variance, 2)  # 0 and 4/25
    (0.0, 0.16)
    """
    positive("repeats", repeats, whole=True)
    if not hasattr(learner, "fit") or not hasattr(learner, "get_params"):
        raise ParameterError(f"learner is {learner!r:.60}; give a learner, such as Perceptron().")
    seed = seed_of(random_state) % (1 << 64)
    fixed = at is not None
    if fixed != (truth is not None):
        raise ParameterError("at and truth go together: rows to look at, and what is right there.")
    draw = _source(learner, X, y, fixed)
    where = check_shape(at) if fixed else draw.rows
    right = np.asarray(truth if fixed else draw.labels)
    if right.shape != (where.shape[0],):
        raise DataError(
            f"there are {where.shape[0]} points to look at, but truth has shape {right.shape}; "
            "give one label or number for each."
        )

    def one(number: int) -> tuple[Array, Array]:
        rows, labels, left_out = draw.again(np.random.default_rng([seed, number]))
        places = np.arange(where.shape[0]) if fixed else left_out
        model = clone(learner).fit(rows, labels)
        return places, np.asarray(model.predict(where[places]))

    fits = list(in_order(one, range(repeats), n_jobs))
    return _classes(fits, right) if is_classifier(learner) else _numbers(fits, right)


class _Source(NamedTuple):
    """New training data, again and again."""

    rows: Any
    labels: Any
    again: Callable[[np.random.Generator], tuple[Any, Any, Any]]


def _source(learner: Any, X: Any, y: Any, fixed: bool) -> _Source:
    if callable(X):
        if not fixed:
            raise ParameterError(
                "X is a function that draws data; say with at= and truth= where to look."
            )
        return _Source(None, None, lambda rng: (*X(rng), None))
    if y is None:
        raise ParameterError("y is missing; give rows and labels, or a function that draws both.")
    rows, labels = check_shape(X), np.asarray(y)
    n = rows.shape[0]
    if labels.shape != (n,):
        raise DataError(f"X has {n} rows but y has shape {labels.shape}; give one label per row.")
    classes = len(encode(labels, n)[0]) if is_classifier(learner) else 1

    def again(rng: np.random.Generator) -> tuple[Any, Any, Any]:
        for _ in range(1000):
            drawn = rng.integers(0, n, n)
            left_out = np.setdiff1d(np.arange(n), drawn)
            enough = classes == 1 or len(np.unique(labels[drawn])) > 1
            if enough and (fixed or len(left_out)):
                return rows[drawn], labels[drawn], left_out
        raise DataError(f"a draw of {n} rows seldom holds two classes; give more rows of each.")

    return _Source(rows, labels, again)


def _numbers(fits: list[tuple[Array, Array]], truth: Array) -> BiasVariance:
    y = truth.astype(np.float64)
    count, mean, square = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
    for places, predicted in fits:  # Welford's update: no cancellation
        count[places] += 1
        step = predicted - mean[places]
        mean[places] += step / count[places]
        square[places] += step * (predicted - mean[places])
    seen = np.maximum(count, 1)
    return _together((mean - y) ** 2, square / seen, mean, count)


def _classes(fits: list[tuple[Array, Array]], truth: Array) -> BiasVariance:
    everything = np.concatenate([truth, *(predicted for _, predicted in fits)])
    labels, codes = np.unique(everything, return_inverse=True)
    right, said = codes[: len(truth)], codes[len(truth) :]
    votes = np.zeros((len(truth), len(labels)))
    np.add.at(votes, (np.concatenate([places for places, _ in fits]), said), 1)
    count = votes.sum(axis=1)
    mean = votes / np.maximum(count, 1)[:, None]
    own = np.eye(len(labels))[right]
    bias = 0.5 * np.square(mean - own).sum(axis=1)
    return _together(bias, 0.5 * (mean * (1 - mean)).sum(axis=1), mean, count)


def _together(bias: Floats, variance: Floats, means: Floats, counts: Array) -> BiasVariance:
    seen = counts > 0
    if not seen.any():
        raise DataError("no row was ever left out of a draw; give at= and truth=, or more repeats.")
    errors = bias + variance
    for values in (errors, bias, variance):
        values[~seen] = np.nan
    return BiasVariance(
        float(errors[seen].mean()),
        float(bias[seen].mean()),
        float(variance[seen].mean()),
        errors,
        bias,
        variance,
        means,
        counts.astype(np.int64),
    )
