"""An independent check of Novikoff's bound, in exact arithmetic.

Like the check of separability, on which it builds, this shares nothing with the search. With x̃
the row and its constant feature c, and W̃ the weights and b/c:

    radius²   at least R² = max ‖x̃ᵢ‖², twice that with many classes
    margin²   at most γ² = (least lead)²/‖W̃‖², and the least lead is positive
    bound     at least R²/γ², rounded down

c is 1, or 0 without an intercept, or max ‖xᵢ‖ where the bias steps by the radius: c² is exact.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.data.blocks.blocks import spans
from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.proofs.verify.scores import Data, brackets, lead, two_power
from linsep.proofs.verify.separability import planes_of


def check_bound(answer: Any, X: Any, y: Any) -> str:
    """What is wrong with a `MistakeBound` of these data; an empty string when nothing is.

    Examples
    --------
    >>> from linsep import mistake_bound
    >>> X, y = [[0, 0], [1, 1], [3, 1], [3, 2]], [0, 0, 1, 1]
    >>> answer = mistake_bound(X, y)
    >>> check_bound(answer, X, y)
    ''
    >>> check_bound(answer, X, [0, 1, 1, 1])
    'row 1 is not on its side of the plane'
    """
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    if answer.weights is None or answer.bound == math.inf:
        return "nothing was proved: there is no bound"
    data = Data(X, codes, len(classes), answer.fit_intercept)
    planes = planes_of(answer, data)
    if isinstance(planes, str):
        return planes
    leads, error = brackets(planes, data)
    near = np.argwhere(np.isfinite(leads) & (leads - error <= np.min(leads + error))).tolist()
    least, i = min((lead(planes, data, i, k), i) for i, k in near)
    if least <= 0:
        return f"row {i} is not on its side of the plane"
    longest = _longest(data)
    constant = longest if answer.bias_step == "radius" else Fraction(1)
    constant *= data.constant
    radius2 = (longest + constant) * (1 if len(classes) == 2 else 2)
    square = sum((plane.square() for plane in planes), Fraction(0))
    if constant:
        square += sum((plane.bias**2 for plane in planes), Fraction(0)) / constant
    gamma2 = least**2 / square
    if not 0 <= min(answer.radius, answer.margin) <= max(answer.radius, answer.margin) < math.inf:
        return "the radius or the margin is negative or infinite"
    if Fraction(answer.radius) ** 2 < radius2:
        return f"a row is longer than {answer.radius!r}"
    if Fraction(answer.margin) ** 2 > gamma2:
        return f"the margin is less than {answer.margin!r}"
    if math.floor(radius2 / gamma2) > answer.bound:
        return f"radius and margin allow more than {answer.bound} mistakes"
    return ""


def _longest(data: Data) -> Fraction:
    """max ‖xᵢ‖², exactly, of the rows that floats cannot tell from the longest."""
    largest = float(np.max(np.abs(data.X.data if sp.issparse(data.X) else data.X), initial=0))
    if not largest:
        return Fraction(0)
    squares = np.empty(data.n)
    for start, stop in spans(data.n, 4096):
        part = data.X[start:stop]
        if sp.issparse(part):
            part = part.astype(np.float64)
            part.data = (part.data / largest) ** 2
            squares[start:stop] = np.asarray(part.sum(axis=1)).reshape(-1)
        else:
            squares[start:stop] = ((part.astype(np.float64) / largest) ** 2).sum(axis=1)
    near = np.flatnonzero(squares >= squares.max() * (1 - (data.d + 8) * 2.0**-50))
    return max(_square(data, int(i)) for i in near)


def _square(data: Data, i: int) -> Fraction:
    """‖xᵢ‖², exactly."""
    _, numbers, shift = data.whole_row(i)
    return Fraction(sum(a * a for a in numbers)) * two_power(2 * shift)
