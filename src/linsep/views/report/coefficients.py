"""The weights of a model: in the units of the data, for one deviation, and as odds ratios."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.views.metrics import plain

Array = npt.NDArray[Any]

SHOWN, FEW = 25, 10  # weights of each plane, and where planes are many
PLANES = 12


class Weight(NamedTuple):
    """One weight.

    Attributes
    ----------
    feature : its name
    raw : change of the score for one unit
    standard : change of the score for one standard deviation of these rows
    odds : factor of the odds for one unit, where scores are log odds
    odds_standard : the same for one standard deviation
    """

    feature: str
    raw: float
    standard: float
    odds: float | None
    odds_standard: float | None


class Plane(NamedTuple):
    """One hyperplane: what it speaks for, its intercept, its largest weights, and all it has."""

    name: str
    intercept: float
    weights: list[Weight]
    total: int
    zero: int


def planes_of(model: Any, names: list[str], spread: Array) -> list[Plane]:
    """Each plane with the weights that say most of these rows; none where the model has none."""
    try:
        planes, biases = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    except AttributeError:
        return []
    odds = model.learner in ("LogisticRegression", "OrdinalRegression")
    planes_with_names = zip(_called(model)[:PLANES], planes[:PLANES], biases[:PLANES], strict=False)
    most = SHOWN if len(planes) <= 3 else FEW
    return [
        _plane(name, w, float(b), names, spread, odds, most) for name, w, b in planes_with_names
    ]


def _called(model: Any) -> list[str]:
    if model.classes_ is None:
        return ["of the prediction"]
    classes = [str(plain(one)) for one in model.classes_.tolist()]
    if model.ranks is not None:
        order = " < ".join(classes[k] for k in np.argsort(model.ranks))
        cuts = ", ".join(f"{-b:.4g}" for b in np.atleast_1d(model.intercept_))
        return [f"towards higher classes, {order}; thresholds {cuts}"]
    if len(classes) == 2:
        return [f"towards {classes[1]}, away from {classes[0]}"]
    return [f"towards {one}" for one in classes]


def _plane(
    name: str, w: Array, b: float, names: list[str], spread: Array, odds: bool, most: int
) -> Plane:
    standard = w * spread
    order = np.argsort(-np.abs(standard), kind="stable")[:most]
    with np.errstate(over="ignore"):
        weights = [
            Weight(names[k], float(w[k]), float(standard[k]),
                   *(np.exp([w[k], standard[k]]).tolist() if odds else (None, None)))
            for k in order
        ]  # fmt: skip
    return Plane(name, b, weights, len(w), int(np.count_nonzero(w == 0)))


def spread_of(X: Any) -> Array:
    """The standard deviation of each column."""
    if hasattr(X, "tocsr"):
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.asarray(X, float).std(axis=0)
