"""Scores ⟨w, xᵢ⟩ + b that can be relied on: bracketed in floats, settled in whole numbers.

A float is a whole number times a power of two, so a score of floats is one too, and its sign is a
fact. Floating point finds the sign of almost every row, with a bound on its own error; the few
rows nearer to the plane than that bound are settled exactly.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import spans

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_UNIT = 2.0**-53
_SMALLEST = 2.0**-1073
_SAFE = 300  # products of numbers below 2^300 in size stay far from the end of the float range
_BLOCK = 8192


def whole(values: Array) -> tuple[list[int], int]:
    """Floats as whole numbers n and one shift: each value is n / 2^shift, exactly.

    >>> whole(np.array([0.5, -3.0, 0.0]))
    ([1, -6, 0], 1)
    """
    fraction, exponent = np.frexp(np.asarray(values, np.float64))
    mantissa = (fraction * 2.0**53).astype(np.int64)
    shifts = (exponent - 53)[mantissa != 0]
    if not len(shifts):
        return [0] * len(mantissa), 0
    trailing = np.log2((mantissa & -mantissa)[mantissa != 0]).astype(np.int64)
    low = int((shifts + trailing).min())
    whole_numbers = [
        m << (e - 53 - low) if e - 53 >= low else m >> (low - e + 53)
        for m, e in zip(mantissa.tolist(), exponent.tolist(), strict=True)
    ]
    return whole_numbers, -low


def dyadic(number: int, shift: int) -> Fraction:
    """number / 2^shift"""
    return Fraction(number, 1 << shift) if shift >= 0 else Fraction(number << -shift)


class Plane:
    """A separator whose scores are exact.

    Examples
    --------
    >>> w, X = np.array([0.1, -0.3]), np.array([[3.0, 1.0]])
    >>> float(Plane(w, 0.0).score(X, 0)), float((X @ w)[0])
    (2.7755575615628914e-17, 5.551115123125783e-17)
    """

    def __init__(self, weights: Array, bias: float) -> None:
        self.weights, self.shift = whole(weights)
        self.bias = Fraction(float(bias))

    def score(self, X: Any, i: int) -> Fraction:
        """⟨w, xᵢ⟩ + b"""
        if sp.issparse(X):
            part = slice(X.indptr[i], X.indptr[i + 1])
            values, shift = whole(X.data[part])
            weights = [self.weights[j] for j in X.indices[part].tolist()]
        else:
            values, shift = whole(X[i])
            weights = self.weights
        total = sum(a * b for a, b in zip(weights, values, strict=True))
        return dyadic(total, self.shift + shift) + self.bias

    def square(self) -> Fraction:
        """‖w‖²"""
        return dyadic(sum(a * a for a in self.weights), 2 * self.shift)


def bracket(X: Any, weights: Array, bias: float) -> tuple[Floats, Floats, int]:
    """Scores s and errors e with |s·2^k - (⟨w, xᵢ⟩ + b)| ≤ e·2^k, and the exponent k.

    The error of a sum of d+1 rounded products, in any order, is below (d+2)u Σ|wⱼxⱼ|.
    """
    w = np.asarray(weights, np.float64)
    down_x, down_w = _exponent(X.data if sp.issparse(X) else X), _exponent(w)
    k = down_x + down_w
    b = float(bias)
    if b and math.frexp(b)[1] - k > _SAFE:
        k = math.frexp(b)[1]  # the bias alone decides the scale
    b = math.ldexp(b, -k)
    w = np.ldexp(w, -down_w)
    s, size = np.empty(X.shape[0]), np.empty(X.shape[0])
    is_whole = k == 0 and bool(np.all(w == np.rint(w))) and b == round(b)
    for start, stop in spans(X.shape[0], _BLOCK):
        part = _scaled(X[start:stop], down_x)
        products = np.ldexp(part @ w, down_x + down_w - k)
        magnitude = np.ldexp(abs(part) @ np.abs(w), down_x + down_w - k)
        s[start:stop], size[start:stop] = products + b, magnitude + abs(b)
        is_whole = is_whole and _is_whole(part)
    if is_whole and size.max(initial=0) < 2.0**52:
        return s, np.zeros(len(s)), k  # sums of whole numbers below 2^53 are not rounded at all
    terms = X.shape[1] + 4
    # what scaling pushes below the smallest float is lost, times the number it is multiplied by
    largest = 1.0 if down_x else float(np.max(np.abs(X.data if sp.issparse(X) else X), initial=0))
    lost = _SMALLEST * (1 + float(np.abs(w).max()) + largest)
    return s, 2 * terms * (_UNIT * size + lost), k


def _exponent(values: Array) -> int:
    """The power of two to take out of `values`: none while they are of moderate size."""
    largest = float(np.max(np.abs(values), initial=0))
    exponent = math.frexp(largest)[1]
    return exponent if largest and abs(exponent) > _SAFE else 0


def _scaled(part: Any, down: int) -> Any:
    if sp.issparse(part):
        data = np.ldexp(part.data.astype(np.float64), -down)
        return sp.csr_array((data, part.indices, part.indptr), shape=part.shape)
    part = part.astype(np.float64, copy=False)
    return np.ldexp(part, -down) if down else part


def _is_whole(part: Any) -> bool:
    values = part.data if sp.issparse(part) else part
    return bool(np.all(values == np.rint(values)))


def sides(X: Any, weights: Array, bias: float) -> npt.NDArray[np.int8]:
    """The side of the plane on which each row lies: -1, 0 or +1, exactly.

    Examples
    --------
    >>> sides(np.array([[3.0], [1.0], [0.0]]), np.array([1.0]), -1.0).tolist()
    [1, 0, -1]
    """
    s, e, _ = bracket(X, weights, bias)
    result = np.sign(s).astype(np.int8)
    near = np.flatnonzero(~((np.abs(s) > e) | (e == 0)))
    if len(near):
        plane = Plane(weights, bias)
        for i in near.tolist():
            score = plane.score(X, i)
            result[i] = (score > 0) - (score < 0)
    return result


def least(X: Any, signs: Array, weights: Array, bias: float) -> Fraction:
    """The exact least value of yᵢ(⟨w, xᵢ⟩ + b): positive only where every row is separated.

    Examples
    --------
    >>> least(np.array([[3.0], [0.0]]), np.array([1, -1]), np.array([1.0]), -1.0)
    Fraction(1, 1)
    """
    s, e, _ = bracket(X, weights, bias)
    s = s * signs
    plane = Plane(weights, bias)
    candidates = np.flatnonzero(s - e <= np.min(s + e))
    return min(int(signs[i]) * plane.score(X, i) for i in candidates.tolist())


def least_difference(X: Any, codes: Array, W: Array, bias: Array) -> Fraction:
    """The exact least lead of a row's own class: min over i and k ≠ yᵢ of s_yᵢ(xᵢ) - sₖ(xᵢ)."""
    count = len(W)
    brackets = [bracket(X, W[k], bias[k]) for k in range(count)]
    shift = max(k for _, _, k in brackets)
    S = np.column_stack([np.ldexp(s, k - shift) for s, _, k in brackets])
    E = np.column_stack([np.ldexp(e, k - shift) for _, e, k in brackets])
    E += np.abs(S) * 4 * _UNIT + _SMALLEST
    own = np.arange(len(S)), codes
    lead, error = S[own][:, None] - S, E[own][:, None] + E
    lead[own], error[own] = np.inf, 0
    planes = [Plane(W[k], bias[k]) for k in range(count)]
    rows, others = np.nonzero(lead - error <= np.min(lead + error))
    return min(
        planes[codes[i]].score(X, i) - planes[k].score(X, i)
        for i, k in zip(rows.tolist(), others.tolist(), strict=True)
    )


def root_below(square: Fraction) -> float:
    """The largest convenient float whose square is at most `square`.

    >>> root_below(Fraction(2)) ** 2 <= 2 < root_above(Fraction(2)) ** 2
    True
    """
    if square <= 0:
        return 0.0
    top, bottom = square.as_integer_ratio()
    half = (108 - top.bit_length() + bottom.bit_length()) // 2
    shifted = top << 2 * half if half >= 0 else top >> -2 * half
    root = math.isqrt(shifted // bottom)
    excess = root.bit_length() - 53
    return _toward_zero(root >> excess, excess - half)


def root_above(square: Fraction) -> float:
    """A float whose square is at least `square`, as near as root_below; inf beyond the range."""
    low = root_below(square)
    while low < math.inf and Fraction(low) ** 2 < square:
        low = math.nextafter(low, math.inf)
    return low


def _toward_zero(mantissa: int, exponent: int) -> float:
    try:
        value = math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.nextafter(math.inf, 0)
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    return math.nextafter(value, 0) if Fraction(value) > exact else value
