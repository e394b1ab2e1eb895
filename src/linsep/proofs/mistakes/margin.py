"""How far the rows lie from a separator, and how often a perceptron can be wrong at most."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._arguments import numbers_of, require_number, require_one_of, require_switch
from linsep.data.blocks.blocks import on_cluster, spans
from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.data.cluster.recognise import from_dask
from linsep.errors import DataError, ParameterError
from linsep.parallel import Pool
from linsep.proofs.exact.scores import Plane, least, least_difference, root_above, root_below
from linsep.proofs.margin.no_bias_margin import max_margin_without_bias

Array = npt.NDArray[Any]

_BLOCK = 8192


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


@dataclass(frozen=True)
class MistakeBound:
    """What Novikoff's theorem promises of an online perceptron on these rows.

    Attributes
    ----------
    radius : float
        R = max ‖x̃ᵢ‖, rounded up, where x̃ carries the constant feature of the bias.
    margin : float
        γ = min yᵢ⟨w̃, x̃ᵢ⟩/‖w̃‖, rounded down, of `weights` and `bias`; 0 where none was found.
    bound : int or inf
        At most this many mistakes, however often and in whatever order the rows are presented.
    weights, bias : array and float or array, or None
        The separator whose margin it is.
    verdict : str
        The same in one sentence.
    """

    radius: float
    margin: float
    bound: int | float
    weights: Array | None
    bias: Any
    verdict: str

    def __str__(self) -> str:
        return self.verdict


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


def mistake_bound(
    X: Any,
    y: Any,
    separability: Any = None,
    *,
    bias_step: str = "unit",
    fit_intercept: bool = True,
) -> MistakeBound:
    """Say how many mistakes an online perceptron can make on these rows, whatever their order.

    Novikoff: started from zero, with any constant step, it makes at most (R/γ)² mistakes, where
    R = max ‖x̃ᵢ‖ and γ = min yᵢ⟨w̃, x̃ᵢ⟩/‖w̃‖ for any w̃ that separates. The bias is the weight of a
    constant feature: x̃ = (x, 1), and ‖w̃‖² = ‖w‖² + b². Of all separators the one of (nearly) the
    widest such margin is used; R is rounded up and γ down. With many classes, Kesler's construct:
    R² = 2 max ‖x̃ᵢ‖², γ the least lead of the right class over ‖W̃‖.

    The theorem speaks of the rule carried out exactly; a run in floating point rounds its weights.

    Parameters
    ----------
    X, y : rows and labels
    separability : Separability, optional
        What `linsep.separability(X, y, fit_intercept=...)` said, if it has been asked already.
    bias_step : {"unit", "radius"}
        "radius" is the rule b ← b + y R² with R = max ‖xᵢ‖: the constant feature is R.
    fit_intercept : bool
        False: no constant feature, separation through the origin.

    Examples
    --------
    >>> from linsep.data.toys import three_points
    >>> novikoff = mistake_bound(*three_points())
    >>> novikoff.bound, round(novikoff.radius, 3)
    (120, 3.202)

    The lecture's run on these points makes 13 mistakes.
    """
    require_one_of("bias_step", bias_step, ("unit", "radius"))
    require_switch("fit_intercept", fit_intercept)
    fit_intercept = bool(fit_intercept)
    if separability is not None and not hasattr(separability, "fit_intercept"):
        raise ParameterError(
            f"separability is {separability!r:.60}; give an answer of linsep.separability, or None."
        )
    if separability is not None and separability.fit_intercept != fit_intercept:
        raise ParameterError(
            f"separability was proved with fit_intercept={separability.fit_intercept}, and "
            f"fit_intercept is {fit_intercept} here; ask linsep.separability with the same."
        )
    if from_dask(X):
        from linsep.data.cluster.collections import opened

        with opened(X, y) as (rows, labels):
            return _bound_of(rows, *labels, separability, bias_step, fit_intercept)
    X = check_rows(X)
    return _bound_of(X, *encode(y, X.shape[0]), separability, bias_step, fit_intercept)


def _bound_of(
    X: Any, classes: Array, codes: Array, separability: Any, bias_step: str, fit_intercept: bool
) -> MistakeBound:
    """The bound from checked rows, or from rows on a cluster, which stay there."""
    low, high = _far_radius(X) if on_cluster(X) else _radius(X)
    if not fit_intercept:
        constant = (Fraction(0), Fraction(0))
    elif bias_step == "unit":
        constant = (Fraction(1), Fraction(1))
    else:
        constant = (Fraction(root_below(low)), Fraction(root_above(high)))
    factor = 1 if len(classes) == 2 else 2
    radius2 = factor * (high + constant[1] ** 2)
    best = _best(X, codes, len(classes), constant, separability)
    if best is None:
        return MistakeBound(root_above(radius2), 0.0, math.inf, None, None, _NO_BOUND)
    gamma2, weights, bias = best
    bound = math.floor(radius2 / gamma2)
    verdict = (
        f"At most {_shown(bound)} mistakes: (R/γ)² with R = {root_above(radius2):.6g} and "
        f"γ = {root_below(gamma2):.6g}."
    )
    return MistakeBound(root_above(radius2), root_below(gamma2), bound, weights, bias, verdict)


def _shown(count: int) -> str:
    return str(count) if count < 10**15 else f"about 1e{len(str(count)) - 1}"


_NO_BOUND = "No bound: no separator is known for these rows, so mistakes may never end."


def _far_radius(X: Any) -> tuple[Fraction, Fraction]:
    """`_radius` of rows on a cluster, from that of each block."""
    with Pool(1) as pool:
        each = pool.map(lambda span: _radius(X[slice(*span)]), spans(X.shape[0]))
    return max(low for low, _ in each), max(high for _, high in each)


def _radius(X: Any) -> tuple[Fraction, Fraction]:
    """Two numbers that hold max ‖xᵢ‖² between them."""
    values = X.data if sp.issparse(X) else X
    exponent = math.frexp(float(np.max(np.abs(values), initial=0)))[1]
    largest = 0.0
    for start, stop in spans(X.shape[0], _BLOCK):
        part = X[start:stop]
        if sp.issparse(part):
            part = part.copy()
            part.data = np.ldexp(part.data.astype(np.float64), -exponent)
            squares = part.multiply(part).sum(axis=1)
        else:
            part = np.ldexp(part.astype(np.float64), -exponent)
            squares = np.einsum("ij,ij->i", part, part)
        largest = max(largest, float(np.max(squares)))
    # d rounded squares of numbers up to one, summed: relative d·u, and what underflow can hide
    error = Fraction(X.shape[1] + 3) * (Fraction(largest) / 2**52 + Fraction(1, 2**1000))
    scale = Fraction(2) ** (2 * exponent)
    exact = bool(largest == 0 or _sums_exactly(values, exponent, X.shape[1]))
    error = Fraction(0) if exact else error
    return max(Fraction(0), Fraction(largest) - error) * scale, (Fraction(largest) + error) * scale


def _sums_exactly(values: Array, exponent: int, d: int) -> bool:
    """Whether squares of `values` add up without rounding: whole numbers small enough."""
    small = exponent <= 20 and d * 4.0 ** max(exponent, 0) < 2.0**52
    return bool(small and np.all(values == np.rint(values)))


def _best(
    X: Any, codes: Array, n_classes: int, constant: tuple[Fraction, Fraction], separability: Any
) -> tuple[Fraction, Array, Any] | None:
    """The largest γ² found, exactly, with its separator; None where nothing separates."""
    if on_cluster(X):
        return _far_best(X, codes, n_classes, constant, separability)
    if separability is None:
        from linsep.proofs.separability.linear_separability import separability as prove

        separability = prove(X, codes, fit_intercept=bool(constant[1]))
    if separability.separable is False:
        return None
    measured = [
        _measure(X, codes, *_no_bias_separator(X, codes, n_classes, float(constant[0])), constant)
    ]
    if separability.weights is not None:
        measured.append(_measure(X, codes, separability.weights, separability.bias, constant))
    if not any(measured) and separability.plane is not None:
        measured.append(_measure_fractions(X, codes, separability, constant[0]))
    return max((f for f in measured if f is not None), key=lambda f: f[0], default=None)


def _far_best(
    X: Any, codes: Array, n_classes: int, constant: tuple[Fraction, Fraction], separability: Any
) -> tuple[Fraction, Array, Any] | None:
    """The same of rows on a cluster: the separator of the proof, measured where the rows are."""
    from linsep.proofs.separability.far_rows import all_leads, planes_of, prove_far

    if separability is None:
        separability = prove_far(X, np.arange(n_classes), codes, bool(constant[1]), bool, None)
    if not separability.separable or separability.weights is None:
        return None
    W, b = planes_of(separability)
    lead = all_leads(X, codes, W, b).least
    return None if lead <= 0 else _squared(lead, W, b, constant)


def _no_bias_separator(
    X: Any, codes: Array, n_classes: int, constant: float
) -> tuple[Array, Array]:
    """Weights and biases of a wide margin, from rows brought to moderate size first."""
    values = X.data if sp.issparse(X) else X
    exponent = math.frexp(float(np.max(np.abs(values), initial=0)))[1]
    if abs(exponent) > 100:
        X = X.astype(np.float64)
        if sp.issparse(X):
            X.data = np.ldexp(X.data, -exponent)
        else:
            X = np.ldexp(X, -exponent)
    else:
        exponent = 0
    W, v, _, _ = max_margin_without_bias(
        X, codes, n_classes, constant * 2.0 ** max(-1000, min(-exponent, 500))
    )
    return W, v * constant


def _measure(
    X: Any, codes: Array, weights: Array, bias: Any, constant: tuple[Fraction, Fraction]
) -> tuple[Fraction, Array, Any] | None:
    """γ² of a separator, exactly, or None where it does not separate."""
    W = np.atleast_2d(np.asarray(weights, np.float64))
    b = np.broadcast_to(np.asarray(bias, np.float64).reshape(-1), (len(W),))
    if len(W) == 2:
        W, b = (W[1] - W[0])[None], np.array([b[1] - b[0]])
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        return None
    if len(W) == 1:
        lead = least(X, np.where(codes == 1, 1, -1), W[0], b[0])
    else:
        lead = least_difference(X, codes, W, b)
    return None if lead <= 0 else _squared(lead, W, b, constant)


def _squared(
    lead: Fraction, W: Array, b: Array, constant: tuple[Fraction, Fraction]
) -> tuple[Fraction, Array, Any]:
    """γ² of planes whose least lead is known, and the planes."""
    # A bias b is the weight b/c on the constant feature c, which is least certain when c is low.
    square = sum((Plane(row, 0.0).square() for row in W), Fraction(0))
    if constant[0]:
        square += sum((Fraction(float(value)) / constant[0]) ** 2 for value in b)
    return lead**2 / square, W[0] if len(W) == 1 else W, float(b[0]) if len(W) == 1 else b


def _measure_fractions(
    X: Any, codes: Array, separability: Any, constant: Fraction
) -> tuple[Fraction, Array, Any]:
    """γ² of a separator that only fractions can express; its weights are the nearest floats."""
    planes = separability.plane
    if len(planes) == 1:  # as two classes, which lead each other by ⟨w, x⟩ + b
        planes = (tuple(Fraction(0) for _ in planes[0]), planes[0])
    least_lead = Fraction(-1)
    for i in range(X.shape[0]):
        row = X[[i]].toarray()[0] if sp.issparse(X) else X[i]
        x = [Fraction(float(value)) for value in row] + [Fraction(1)]
        scores = [sum(a * v for a, v in zip(plane, x, strict=True)) for plane in planes]
        own = scores.pop(int(codes[i]))
        lead = min(own - other for other in scores)
        least_lead = lead if i == 0 else min(least_lead, lead)
    square = sum(a * a for plane in planes for a in plane[:-1])
    if constant:
        square += sum((plane[-1] / constant) ** 2 for plane in planes)
    return Fraction(least_lead**2 / square), separability.weights, separability.bias
