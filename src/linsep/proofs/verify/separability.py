"""An independent check of separability certificates, in exact arithmetic.

Nothing here is shared with the code that finds certificates: this module reads rows and labels,
turns floats into whole numbers and adds them up. Floating point serves only to skip rows whose
score is further from zero than its own error can be; every other row is settled in whole numbers.

    separator        yᵢ(⟨w, xᵢ⟩ + b) > 0 for every row, and the least of them is margin · ‖w‖
    margin_upper     ‖Σ αᵢyᵢxᵢ‖ for some α ≥ 0 with Σ αᵢ = 1 and Σ αᵢyᵢ = 0
    impossible       α ≥ 0 with Σ αᵢ = 1 and Σ αᵢyᵢ(xᵢ, 1) = 0
    on the plane     yᵢ(⟨w, xᵢ⟩ + b) ≥ 0 for every row, and > 0 for some
    not even that    α > 0 on rows that span all rows, with Σ αᵢyᵢ(xᵢ, 1) = 0

Planes through the origin: b = 0, and the constant 1 of every row is 0, so that Σ αᵢyᵢ is free.

Many classes: the same with Kesler's rows, (xᵢ, 1) in the block of its class and -(xᵢ, 1) in a
rival's, and all norms divided by √2, so that two classes give the same numbers either way.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.proofs.verify.scores import Data, Plane, brackets, lead, over_one, two_power

Array = npt.NDArray[Any]

_SLACK = Fraction(1, 10**11)
_PRIME = (1 << 31) - 1


def check(certificate: Any, X: Any, y: Any) -> str:
    """What is wrong with a certificate for these data; an empty string when nothing is.

    Parameters
    ----------
    certificate : Separability
        Only its claims are read.
    X, y : rows and labels

    Examples
    --------
    >>> from linsep import separability
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> proof = separability(X, y)
    >>> check(proof, X, y)
    ''
    >>> check(proof, X, [0, 0, 0, 1])
    'the multipliers do not annihilate the rows: column 1 adds up to -1/2'
    """
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    if [str(label) for label in classes] != [str(label) for label in certificate.classes]:
        return (
            f"the data have the classes {classes.tolist()}, the certificate "
            f"{list(certificate.classes)}"
        )
    return check_codes(certificate, X, codes, len(classes))


def check_codes(certificate: Any, X: Any, codes: Array, n_classes: int) -> str:
    """`check`, for rows and labels that are in the library's own form already."""
    if tuple(certificate.shape) != tuple(X.shape):
        return f"the data have shape {X.shape}, the certificate {tuple(certificate.shape)}"
    data = Data(X, codes, n_classes, certificate.fit_intercept)
    if certificate.separable is None:
        return "nothing was proved: the certificate says undecided"
    if certificate.separable:
        return _separates(certificate, data) or _bounded(certificate, data)
    problem = annihilates(
        data, certificate.rows, certificate.rivals, certificate.multipliers, data.dimension + 1
    )
    if problem:
        return problem
    if certificate.quasi_separable:
        return _leans(certificate, data)
    if certificate.quasi_separable is False:
        return _spans(certificate, data)
    return ""


def _sums(
    data: Data, rows: Sequence[int], rivals: Sequence[int], numbers: Sequence[int]
) -> tuple[list[dict[int, int]], list[int], int]:
    """Σ aᵢzᵢ over constraints: by block and column, by block for the constant, and the shift."""
    read = [data.whole_row(int(i)) for i in rows]
    low = min((shift for _, _, shift in read), default=0)
    columns: list[dict[int, int]] = [{} for _ in range(data.blocks)]
    constants = [0] * data.blocks
    for i, rival, a, (places, values, shift) in zip(rows, rivals, numbers, read, strict=True):
        for block, sign in data.sides(int(i), int(rival)):
            total, factor = columns[block], sign * a << (shift - low)
            for j, x in zip(places, values, strict=True):
                total[j] = total.get(j, 0) + factor * x
            constants[block] += sign * a * data.constant
    return columns, constants, low


def _constraints(data: Data, rows: Any, rivals: Any, multipliers: Any) -> str:
    """What is wrong with a list of constraints and multipliers, before any sum is formed."""
    if rows is None or multipliers is None or len(rows) != len(multipliers) or not len(rows):
        return "the certificate lists no rows, or not one multiplier for each"
    if (data.n_classes > 2) != (rivals is not None):
        return "rivals belong to more than two classes, and are wanted there"
    if rivals is not None and len(rivals) != len(rows):
        return "the certificate does not list one rival for each row"
    if not all(0 <= int(i) < data.n for i in rows):
        return f"the certificate lists a row outside 0..{data.n - 1}"
    if rivals is not None and not all(
        0 <= int(k) < data.n_classes and int(k) != data.codes[int(i)]
        for i, k in zip(rows, rivals, strict=True)
    ):
        return "the certificate lists a rival that is no other class"
    pairs = list(zip(rows, _rivals(rivals, rows), strict=True))
    if len({(int(i), int(k)) for i, k in pairs}) != len(pairs):
        return "the certificate lists a row twice"
    if any(a < 0 for a in multipliers):
        return "a multiplier is negative"
    if sum(multipliers) != 1:
        return f"the multipliers add up to {_short(sum(multipliers))}, not to one"
    return ""


def _rivals(rivals: Any, rows: Any) -> Any:
    return [-1] * len(rows) if rivals is None else rivals


def _short(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) < 100:
        return str(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return f"about {'-' if value < 0 else ''}2^{exponent}"


def annihilates(data: Data, rows: Any, rivals: Any, multipliers: Any, most: int) -> str:
    problem = _constraints(data, rows, rivals, multipliers)
    if problem:
        return problem
    if len(rows) > most:
        return f"the certificate lists {len(rows)} rows; {most} are enough"
    numbers, denominator = over_one(multipliers)
    columns, constants, low = _sums(data, rows, _rivals(rivals, rows), numbers)
    for column in columns:
        for j, total in column.items():
            if total:
                value = Fraction(total, denominator) * two_power(low)
                return (
                    "the multipliers do not annihilate the rows: "
                    f"column {j} adds up to {_short(value)}"
                )
    if any(constants):
        return "the multipliers of the classes do not balance"
    return ""


def _bounded(certificate: Any, data: Data) -> str:
    """margin_upper: the norm of a convex combination in which the biases cancel."""
    upper = certificate.margin_upper
    if upper == math.inf:
        return ""
    if not upper >= 0:
        return f"margin_upper is {upper!r}, and no length is"
    rows, rivals = certificate.bound_rows, certificate.bound_rivals
    problem = _constraints(data, rows, rivals, certificate.bound_multipliers)
    if problem:
        return f"margin_upper: {problem}"
    numbers, denominator = over_one(certificate.bound_multipliers)
    columns, constants, low = _sums(data, rows, _rivals(rivals, rows), numbers)
    if any(constants):
        return "margin_upper: the multipliers of the classes do not balance"
    total = sum(x * x for column in columns for x in column.values())
    square = Fraction(total, denominator**2) * two_power(2 * low)
    if data.n_classes > 2:
        square /= 2
    claim = Fraction(upper) ** 2
    if not square <= claim:
        return f"margin_upper is {upper!r}, but its multipliers give more"
    if claim * (1 - _SLACK) > square and upper > 1e-300:
        return f"margin_upper is {upper!r}, but its multipliers give less"
    return ""


def planes_of(certificate: Any, data: Data) -> list[Plane] | str:
    """The separator in fractions, or what is wrong with it."""
    if certificate.plane is not None:
        parts = [list(part) for part in certificate.plane]
    else:
        if certificate.weights is None or certificate.bias is None:
            return "the certificate holds no weights"
        W = np.atleast_2d(np.asarray(certificate.weights, np.float64))
        b = np.atleast_1d(np.asarray(certificate.bias, np.float64))
        if len(W) != len(b) or not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
            return "the certificate's weights or bias are not finite"
        parts = np.column_stack([W, b]).tolist()
    if len(parts) != data.blocks or any(len(part) != data.d + 1 for part in parts):
        return f"the certificate's weights do not fit {data.d} columns"
    biased = np.any(certificate.bias) or any(part[-1] for part in parts)
    if biased and not data.constant:
        return "the certificate has a bias, but speaks of planes through the origin"
    return [Plane.of(part) for part in parts]


def _separates(certificate: Any, data: Data) -> str:
    """Every row strictly on its side, and the claimed margin is that of the nearest row."""
    planes = planes_of(certificate, data)
    if isinstance(planes, str):
        return planes
    leads, error = brackets(planes, data)
    near = np.argwhere(np.isfinite(leads) & (leads - error <= np.min(leads + error))).tolist()
    least, i = min((lead(planes, data, i, k), i) for i, k in near)
    if least <= 0:
        return f"row {i} is not on its side of the plane"
    square = sum((plane.square() for plane in planes), Fraction(0))
    square = square if data.n_classes == 2 else 2 * square
    if not 0 <= certificate.margin < np.inf:
        return f"the margin is {certificate.margin!r}, and no distance is"
    claim = Fraction(certificate.margin) ** 2 * square
    if claim > least**2:
        return f"the margin is less than {certificate.margin!r}"
    if claim < least**2 * (1 - _SLACK) and 1e-300 < certificate.margin < 1e300:
        return f"the margin of these weights is not {certificate.margin!r}"
    return ""


def _leans(certificate: Any, data: Data) -> str:
    """No row on the wrong side, and some off the plane."""
    planes = planes_of(certificate, data)
    if isinstance(planes, str):
        return planes
    leads, error = brackets(planes, data)
    strictly = bool(np.any((leads > error) & np.isfinite(leads)))
    certain = (leads > error) | ((error == 0) & (leads >= 0))
    for i, k in np.argwhere(~certain).tolist():
        value = lead(planes, data, i, k)
        if value < 0:
            return f"row {i} is on the wrong side of the plane"
        strictly = strictly or value > 0
    return "" if strictly else "every row is on the plane"


def _spans(certificate: Any, data: Data) -> str:
    """Positive multipliers on rows that span all rows: every v with all ⟨z, v⟩ ≥ 0 has all = 0."""
    span = certificate.span
    if span is None:
        return "the certificate does not show that its rows span all rows"
    problem = annihilates(data, span.rows, span.rivals, span.multipliers, 4 * data.dimension + 4)
    if problem:
        return f"spanning rows: {problem}"
    if not all(a > 0 for a in span.multipliers):
        return "spanning rows: a multiplier is zero"
    width = data.blocks * (data.d + 1)
    normals = [[int(a) for a in normal] for normal in span.normals]
    if any(len(normal) != width for normal in normals):
        return f"spanning rows: a normal does not have {width} entries"
    for normal in normals:
        problem = _orthogonal(data, normal)
        if problem:
            return problem
    known = _rank(np.array(normals, dtype=object).reshape(len(normals), width))
    reached = _rank(_constraint_rows(data, span))
    if known + reached < width:
        return f"the rows span {reached} dimensions, with {known} normals, of {width}"
    return ""


def _orthogonal(data: Data, normal: list[int]) -> str:
    """Whether every constraint vanishes on this vector of weights and biases."""
    parts = [normal[k * (data.d + 1) : (k + 1) * (data.d + 1)] for k in range(data.blocks)]
    if data.n_classes > 2 and all(part == parts[0] for part in parts):
        return ""  # equal blocks: no row prefers any class
    planes = [Plane.of([*part[:-1], part[-1] * data.constant]) for part in parts]
    leads, error = brackets(planes, data)
    leads[np.isinf(leads)] = 0
    if np.any(np.abs(leads) > error):
        return "a normal is not orthogonal to every row"
    for i, k in np.argwhere(error > 0).tolist():
        if lead(planes, data, i, k):
            return "a normal is not orthogonal to every row"
    return ""


def _constraint_rows(data: Data, span: Any) -> Array:
    """The constraints of a spanning set as whole rows, each up to a power of two."""
    Z = np.zeros((len(span.rows), data.blocks, data.d + 1), dtype=object)
    for place, (i, rival) in enumerate(
        zip(span.rows, _rivals(span.rivals, span.rows), strict=True)
    ):
        columns, values, shift = data.whole_row(int(i))
        factor, constant = (1, 1 << -shift) if shift < 0 else (1 << shift, 1)
        for block, sign in data.sides(int(i), int(rival)):
            for j, x in zip(columns, values, strict=True):
                Z[place, block, j] = sign * x * factor
            Z[place, block, data.d] = sign * constant * data.constant
    return Z.reshape(len(span.rows), -1)


def _rank(A: Array) -> int:
    """The rank modulo a prime: never more than the rank itself."""
    if not A.size:
        return 0
    B = (A % _PRIME).astype(np.int64)
    rank = 0
    for j in range(B.shape[1]):
        below = np.flatnonzero(B[rank:, j])
        if not len(below):
            continue
        top = rank + int(below[0])
        B[[rank, top]] = B[[top, rank]]
        B[rank] = B[rank] * pow(int(B[rank, j]), -1, _PRIME) % _PRIME
        rest = rank + 1 + np.flatnonzero(B[rank + 1 :, j])
        B[rest] = (B[rest] - B[rest, j][:, None] * B[rank] % _PRIME) % _PRIME
        rank += 1
        if rank == len(B):
            break
    return rank
