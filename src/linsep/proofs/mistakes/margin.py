"""How far the rows lie from a separator."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._arguments import numbers_of, require_number
from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.errors import DataError

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Margin:
    """Signed distances of rows from a separator.

    Attributes
    ----------
    distances : array
        yᵢ(⟨w, xᵢ⟩ + b)/‖w‖, negative on the wrong side. With many classes: the least distance from
        a plane between the row's class and another, (⟨w_y - wₖ, xᵢ⟩ + b_y - bₖ)/‖w_y - wₖ‖.
    margin : float
        The least of them; the rows are separated when it is positive.
    support : array
        The rows that attain it, within the tolerance.
    """

    distances: npt.NDArray[np.float64]
    margin: float
    support: npt.NDArray[np.intp]


def margin(model: Any, X: Any, y: Any, tolerance: float = 1e-6) -> Margin:
    """Measure the signed distance of every row from a separator.

    Parameters
    ----------
    model : fitted classifier, certificate, array or pair
        Anything with `coef_`, `intercept_` and `classes_`; anything with `weights` and `bias` (such
        as a `Separability`); or `weights` alone, or `(weights, bias)`. One row of weights per class
        where there are more than two classes.
    X, y : rows and labels
    tolerance : float
        Rows within this relative distance of the least one are `support` rows.

    Raises
    ------
    DataError
        When shapes disagree, when a label is unknown to the model, or when the weights are zero.

    Examples
    --------
    >>> from linsep.data.toys import three_points
    >>> X, y = three_points()
    >>> measured = margin(([-2.5, 0.0], 3.0), X, y)
    >>> measured.distances.tolist(), measured.support.tolist()
    ([0.2, 0.7, 0.8], [0])
    """
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0], classes=getattr(model, "classes_", None))
    require_number("tolerance", tolerance, "a share of the margin, 0 or more")
    W, b = _planes(model, X.shape[1], len(classes))
    if len(W) == 1:
        distances = np.where(codes == 1, 1.0, -1.0) * _distances(X, W[0], float(b[0]))
    else:
        distances = np.full(X.shape[0], np.inf)
        for k in range(len(classes)):
            for other in set(range(len(classes))) - {k}:
                rows = np.flatnonzero(codes == k)
                away = _distances(X[rows], W[k] - W[other], float(b[k] - b[other]))
                distances[rows] = np.minimum(distances[rows], away)
    shortest = float(distances.min())
    reach = shortest + tolerance * max(abs(shortest), np.finfo(float).tiny)
    return Margin(distances, shortest, np.flatnonzero(distances <= reach))


def _planes(model: Any, n_features: int, n_classes: int) -> tuple[Array, Array]:
    """Weights (K, d) and biases (K,); K is 1 for two classes."""
    if hasattr(model, "coef_"):
        weights, bias = model.coef_, model.intercept_
    elif hasattr(model, "weights"):
        weights, bias = model.weights, model.bias
    elif isinstance(model, tuple) and len(model) == 2:
        weights, bias = model
    else:
        weights, bias = model, 0.0
    if weights is None:
        raise DataError("model has no weights: no separator was found; there is no margin.")
    W, b = np.atleast_2d(numbers_of("model", weights)), numbers_of("model", bias).reshape(-1)
    if len(b) not in (1, len(W)):
        raise DataError(f"model has {len(W)} rows of weights and {len(b)} biases; give as many.")
    b = np.broadcast_to(b, (len(W),))
    wanted = 1 if n_classes == 2 else n_classes
    if W.shape == (2, n_features) and n_classes == 2:  # one plane per class: their difference
        W, b = (W[1] - W[0])[None], np.array([b[1] - b[0]])
    if W.shape != (wanted, n_features):
        raise DataError(
            f"model has weights of shape {W.shape}; {n_classes} classes and {n_features} columns "
            f"want {(wanted, n_features)}. Is it the model of these data?"
        )
    return W, b


def _distances(X: Any, w: Array, b: float) -> Array:
    largest = max(float(np.abs(w).max()), 0.0)
    if largest == 0:
        raise DataError(
            "the weights are zero, so there is no plane to measure from; fit the model first."
        )
    scale = 2.0 ** -math.frexp(largest)[1]  # ‖w‖² of 1e200 would overflow, of 1e-200 vanish
    w, b = w * scale, b * scale
    return np.asarray((X @ w + b) / np.linalg.norm(w))
