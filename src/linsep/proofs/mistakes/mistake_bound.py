"""Novikoff's bound: how often a perceptron can be wrong at most."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._arguments import require_one_of, require_switch
from linsep.data.blocks.blocks import on_cluster, spans
from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.data.cluster.recognise import from_dask
from linsep.errors import ParameterError
from linsep.parallel import Pool
from linsep.proofs.exact.scores import Plane, least, least_difference, root_above, root_below
from linsep.proofs.margin.no_bias_margin import max_margin_without_bias

Array = npt.NDArray[Any]
Measured = tuple[Fraction, Array, Any, Any]
"""γ², weights, bias, and the plane in fractions where floats cannot express it."""

_BLOCK = 8192


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
    bias_step, fit_intercept
        As asked for.
    plane : tuple or None
        The separator in fractions, (w₁, …, w_d, b) for each row of weights, where floats cannot
        express one; `weights` and `bias` are then its nearest floats.
    """

    radius: float
    margin: float
    bound: int | float
    weights: Array | None
    bias: Any
    verdict: str
    bias_step: str = "unit"
    fit_intercept: bool = True
    plane: tuple[tuple[Fraction, ...], ...] | None = None

    def __str__(self) -> str:
        return self.verdict

    def verify(self, X: Any, y: Any) -> bool:
        """Check radius, margin and bound against data, exactly, by code that shares nothing with
        the search.

        False also where there is no bound. `linsep.proofs.verify.mistake_bound.check_bound` says
        why.
        """
        from linsep.proofs.verify.mistake_bound import check_bound

        return check_bound(self, X, y) == ""


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
    >>> novikoff.bound, round(novikoff.radius, 3), novikoff.verify(*three_points())
    (120, 3.202, True)

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
        nothing = (0.0, math.inf, None, None, _NO_BOUND)
        return MistakeBound(root_above(radius2), *nothing, bias_step, fit_intercept)
    gamma2, weights, bias, plane = best
    bound = math.floor(radius2 / gamma2)
    verdict = (
        f"At most {_shown(bound)} mistakes: (R/γ)² with R = {root_above(radius2):.6g} and "
        f"γ = {root_below(gamma2):.6g}."
    )
    return MistakeBound(
        root_above(radius2), root_below(gamma2), bound, weights, bias, verdict,
        bias_step, fit_intercept, plane,
    )  # fmt: skip


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
) -> Measured | None:
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
) -> Measured | None:
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
) -> Measured | None:
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


def _squared(lead: Fraction, W: Array, b: Array, constant: tuple[Fraction, Fraction]) -> Measured:
    """γ² of planes whose least lead is known, and the planes."""
    # A bias b is the weight b/c on the constant feature c, which is least certain when c is low.
    square = sum((Plane(row, 0.0).square() for row in W), Fraction(0))
    if constant[0]:
        square += sum((Fraction(float(value)) / constant[0]) ** 2 for value in b)
    one = len(W) == 1
    return lead**2 / square, W[0] if one else W, float(b[0]) if one else b, None


def _measure_fractions(X: Any, codes: Array, separability: Any, constant: Fraction) -> Measured:
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
    gamma2 = Fraction(least_lead**2 / square)
    return gamma2, separability.weights, separability.bias, separability.plane
