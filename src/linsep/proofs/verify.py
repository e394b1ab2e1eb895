"""An independent check of separability certificates, in exact arithmetic.

Nothing here is shared with the code that finds certificates: this module reads rows and labels,
turns floats into whole numbers and adds them up. Floating point serves only to skip rows whose
score is further from zero than its own error can be; every other row is settled in whole numbers.

    separator        yᵢ(⟨w, xᵢ⟩ + b) > 0 for every row, and the least of them is margin · ‖w‖
    margin_upper     ‖Σ αᵢyᵢxᵢ‖ for some α ≥ 0 with Σ αᵢ = 1 and Σ αᵢyᵢ = 0
    impossible       α ≥ 0 with Σ αᵢ = 1 and Σ αᵢyᵢ(xᵢ, 1) = 0
    on the plane     yᵢ(⟨w, xᵢ⟩ + b) ≥ 0 for every row, and > 0 for some
    not even that    α > 0 on rows that span all rows, with Σ αᵢyᵢ(xᵢ, 1) = 0

Many classes: the same with Kesler's rows, (xᵢ, 1) in the block of its class and -(xᵢ, 1) in a
rival's, and all norms divided by √2, so that two classes give the same numbers either way.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.arrays import check_rows
from linsep.data.chunks import spans
from linsep.data.labels import encode

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Planes = list[list[Fraction]]

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
    >>> found = separability(X, y)
    >>> check(found, X, y)
    ''
    >>> check(found, X, [0, 0, 0, 1])
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
    data = _Data(X, codes, n_classes)
    if certificate.separable is None:
        return "nothing was proved: the certificate says undecided"
    if certificate.separable:
        return _separates(certificate, data) or _bounded(certificate, data)
    problem = _annihilates(
        data, certificate.rows, certificate.rivals, certificate.multipliers, data.dimension + 1
    )
    if problem:
        return problem
    if certificate.quasi_separable:
        return _leans(certificate, data)
    if certificate.quasi_separable is False:
        return _spans(certificate, data)
    return ""


class _Data:
    """Rows, labels, and exact arithmetic on them."""

    def __init__(self, X: Any, codes: Array, n_classes: int) -> None:
        self.X, self.codes, self.n_classes = X, codes, n_classes
        self.n, self.d = X.shape
        self.blocks = 1 if n_classes == 2 else n_classes
        # Kesler's rows add up to zero over the blocks: one block is always redundant.
        self.dimension = (n_classes - 1) * (self.d + 1)

    def whole_row(self, i: int) -> tuple[list[int], list[int], int]:
        """Columns, whole numbers and shift of row i: xⱼ = number · 2^shift, zeros left out."""
        if sp.issparse(self.X):
            part = slice(self.X.indptr[i], self.X.indptr[i + 1])
            columns, values = self.X.indices[part], self.X.data[part]
        else:
            columns, values = np.arange(self.d), self.X[i]
        occupied = values != 0
        numbers, shift = _whole(values[occupied])
        return columns[occupied].tolist(), numbers, shift

    def sides(self, i: int, rival: int) -> list[tuple[int, int]]:
        """The blocks a constraint enters, each with its sign."""
        own = int(self.codes[i])
        if self.n_classes == 2:
            return [(0, 1 if own == 1 else -1)]
        return [(own, 1), (rival, -1)]


def _whole(values: Array) -> tuple[list[int], int]:
    """Floats as whole numbers times one power of two."""
    if not len(values):
        return [], 0
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = (fraction * 2.0**53).astype(np.int64).tolist()
    low = int(exponent.min())
    shifts = (exponent - low).tolist()
    return [m << s for m, s in zip(mantissa, shifts, strict=True)], low - 53


def _over_one(fractions: Sequence[Fraction]) -> tuple[list[int], int]:
    """Fractions as whole numbers over one denominator."""
    denominator = math.lcm(*(f.denominator for f in fractions))
    return [f.numerator * (denominator // f.denominator) for f in fractions], denominator


def _two_power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


# -- sums over a few rows ---------------------------------------------------------------------


def _sums(
    data: _Data, rows: Sequence[int], rivals: Sequence[int], numbers: Sequence[int]
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
            constants[block] += sign * a
    return columns, constants, low


def _constraints(data: _Data, rows: Any, rivals: Any, multipliers: Any) -> str:
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
    text = str(value) if value.denominator.bit_length() < 200 else f"about {float(value):.3g}"
    return text


def _annihilates(data: _Data, rows: Any, rivals: Any, multipliers: Any, most: int) -> str:
    problem = _constraints(data, rows, rivals, multipliers)
    if problem:
        return problem
    if len(rows) > most:
        return f"the certificate lists {len(rows)} rows; {most} are enough"
    numbers, denominator = _over_one(multipliers)
    columns, constants, low = _sums(data, rows, _rivals(rivals, rows), numbers)
    for column in columns:
        for j, total in column.items():
            if total:
                value = Fraction(total, denominator) * _two_power(low)
                return (
                    "the multipliers do not annihilate the rows: "
                    f"column {j} adds up to {_short(value)}"
                )
    if any(constants):
        return "the multipliers of the classes do not balance"
    return ""


def _bounded(certificate: Any, data: _Data) -> str:
    """margin_upper: the norm of a convex combination in which the biases cancel."""
    upper = certificate.margin_upper
    if upper == math.inf:
        return ""
    rows, rivals = certificate.bound_rows, certificate.bound_rivals
    problem = _constraints(data, rows, rivals, certificate.bound_multipliers)
    if problem:
        return f"margin_upper: {problem}"
    numbers, denominator = _over_one(certificate.bound_multipliers)
    columns, constants, low = _sums(data, rows, _rivals(rivals, rows), numbers)
    if any(constants):
        return "margin_upper: the multipliers of the classes do not balance"
    total = sum(x * x for column in columns for x in column.values())
    square = Fraction(total, denominator**2) * _two_power(2 * low)
    if data.n_classes > 2:
        square /= 2
    claim = Fraction(upper) ** 2
    if not square <= claim:
        return f"margin_upper is {upper!r}, but its multipliers give more"
    if claim * (1 - _SLACK) > square and upper > 1e-300:
        return f"margin_upper is {upper!r}, but its multipliers give less"
    return ""


# -- scores of all rows -----------------------------------------------------------------------


def _planes(certificate: Any, data: _Data) -> Planes | str:
    """The separator in fractions: for each block the weights, then the bias."""
    if certificate.plane is not None:
        planes = [list(map(Fraction, part)) for part in certificate.plane]
    else:
        if certificate.weights is None or certificate.bias is None:
            return "the certificate holds no weights"
        W = np.atleast_2d(np.asarray(certificate.weights, np.float64))
        b = np.atleast_1d(np.asarray(certificate.bias, np.float64))
        if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b)) and len(W) == len(b)):
            return "the certificate's weights or bias are not finite"
        planes = [
            [Fraction(x) for x in [*w, c]] for w, c in zip(W.tolist(), b.tolist(), strict=True)
        ]
    if len(planes) != data.blocks or any(len(part) != data.d + 1 for part in planes):
        return f"the certificate's weights do not fit {data.d} columns"
    return planes


class _Plane:
    """One plane of fractions, and scores of rows against it."""

    def __init__(self, plane: list[Fraction]) -> None:
        numbers, self.denominator = _over_one(plane)
        self.bias = numbers[-1]
        self.used = [j for j, a in enumerate(numbers[:-1]) if a]
        self.numbers = {j: numbers[j] for j in self.used}
        self.floats = self._as_floats(plane)

    @staticmethod
    def _as_floats(plane: list[Fraction]) -> tuple[Floats, float] | None:
        """The plane in floats, if nothing is lost."""
        try:
            floats = [float(a) for a in plane]
        except OverflowError:
            return None
        if any(Fraction(f) != a for f, a in zip(floats, plane, strict=True)):
            return None
        return np.array(floats[:-1]), floats[-1]

    def exact(self, data: _Data, i: int) -> Fraction:
        """⟨w, xᵢ⟩ + b"""
        places, values, shift = data.whole_row(i)
        total = sum(
            self.numbers[j] * x for j, x in zip(places, values, strict=True) if j in self.numbers
        )
        return (total * _two_power(shift) + self.bias) / self.denominator

    def bracket(self, data: _Data) -> tuple[Floats, Floats]:
        """Scores of all rows and bounds on their errors: inf where floats cannot tell.

        A sum of d+1 products rounded in any order is off by at most (d+2)u Σ|wⱼxⱼ| and by half
        the smallest float for each product that underflows. Where every number is a multiple of
        one power of two and all sums stay below 2^53 of it, nothing is rounded at all.
        """
        if self.floats is None:
            return np.zeros(data.n), np.full(data.n, np.inf)
        w, b = self.floats
        scores, errors = np.empty(data.n), np.empty(data.n)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start, stop, part in _blocks(data.X, self.used):
                used = w[self.used]
                scores[start:stop] = part @ used + b
                size = abs(part) @ np.abs(used) + abs(b)
                error = (len(used) + 4) * (size * 2.0**-51 + 2.0**-1073)
                if size.max(initial=0) < 2.0**53 * _grain(part, used, b):
                    error[:] = 0
                errors[start:stop] = error
        unsure = ~(np.isfinite(scores) & np.isfinite(errors))
        scores[unsure], errors[unsure] = 0, np.inf
        return scores, errors


def _blocks(X: Any, used: list[int]) -> Iterator[tuple[int, int, Any]]:
    """Blocks of rows as float64, reduced to the columns in use."""
    everything = len(used) == X.shape[1]
    size = X.shape[0] if sp.issparse(X) else max(64, (1 << 20) // max(1, X.shape[1]))
    for start, stop in spans(X.shape[0], size):
        part = X[start:stop]
        if not everything:
            part = part[:, used]
        yield start, stop, part.astype(np.float64)


def _grain(part: Any, w: Floats, b: float) -> float:
    """A power of two that divides every product wⱼxⱼ and b."""
    values = part.data if sp.issparse(part) else part
    if not values.size or not w.size:
        return _lowest(np.array([b]))
    if np.all(values == np.rint(values)):
        return min(_lowest(w), _lowest(np.array([b])))
    return min(_lowest(values) * _lowest(w), _lowest(np.array([b])))


def _lowest(values: Array) -> float:
    """The smallest power of two that occurs in `values`; 1e300 if all are zero."""
    values = values[values != 0]
    if not values.size:
        return 1e300
    fraction, exponent = np.frexp(values)
    mantissa = (fraction * 2.0**53).astype(np.int64)
    low = (mantissa & -mantissa).astype(np.float64)
    return float(np.min(np.ldexp(low, exponent - 53)))


def _brackets(planes: list[_Plane], data: _Data) -> tuple[Floats, Floats]:
    """Leads over rivals of every row, with errors; inf in the place of a row's own class."""
    found = [plane.bracket(data) for plane in planes]
    if data.n_classes == 2:
        s, e = found[0]
        return (np.where(data.codes == 1, 1.0, -1.0) * s)[:, None], e[:, None]
    S, E = (np.column_stack(parts) for parts in zip(*found, strict=True))
    own = np.arange(data.n), data.codes
    lead, error = S[own][:, None] - S, E[own][:, None] + E
    error += np.abs(lead) * 2.0**-52
    lead[own], error[own] = np.inf, 0
    return lead, error


def _lead(planes: list[_Plane], data: _Data, i: int, rival: int) -> Fraction:
    return sum(
        (sign * planes[block].exact(data, i) for block, sign in data.sides(i, rival)),
        Fraction(0),
    )


def _separates(certificate: Any, data: _Data) -> str:
    """Every row strictly on its side, and the claimed margin is that of the nearest row."""
    found = _planes(certificate, data)
    if isinstance(found, str):
        return found
    planes = [_Plane(part) for part in found]
    lead, error = _brackets(planes, data)
    near = np.argwhere(lead - error <= np.min(lead + error)).tolist()
    least = min(_lead(planes, data, i, k) for i, k in near)
    if least <= 0:
        i, _ = min(near, key=lambda place: _lead(planes, data, *place))
        return f"row {i} is not on its side of the plane"
    square = sum((a * a for part in found for a in part[:-1]), Fraction(0))
    square = square if data.n_classes == 2 else 2 * square
    claim = Fraction(certificate.margin) ** 2 * square
    if claim > least**2:
        return f"the margin is less than {certificate.margin!r}"
    if claim < least**2 * (1 - _SLACK) and 1e-300 < certificate.margin < 1e300:
        return f"the margin of these weights is not {certificate.margin!r}"
    return ""


def _leans(certificate: Any, data: _Data) -> str:
    """No row on the wrong side, and some off the plane."""
    found = _planes(certificate, data)
    if isinstance(found, str):
        return found
    planes = [_Plane(part) for part in found]
    lead, error = _brackets(planes, data)
    strictly = bool(np.any((lead > error) & np.isfinite(lead)))
    certain = (lead > error) | ((error == 0) & (lead >= 0))
    for i, k in np.argwhere(~certain).tolist():
        value = _lead(planes, data, i, k)
        if value < 0:
            return f"row {i} is on the wrong side of the plane"
        strictly = strictly or value > 0
    return "" if strictly else "every row is on the plane"


# -- no plane at all --------------------------------------------------------------------------


def _spans(certificate: Any, data: _Data) -> str:
    """Positive multipliers on rows that span all rows: every v with all ⟨z, v⟩ ≥ 0 has all = 0."""
    span = certificate.span
    if span is None:
        return "the certificate does not show that its rows span all rows"
    problem = _annihilates(data, span.rows, span.rivals, span.multipliers, 4 * data.dimension + 4)
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


def _orthogonal(data: _Data, normal: list[int]) -> str:
    """Whether every constraint vanishes on this vector of weights and biases."""
    parts = [normal[k * (data.d + 1) : (k + 1) * (data.d + 1)] for k in range(data.blocks)]
    if data.n_classes > 2 and all(part == parts[0] for part in parts):
        return ""  # equal blocks: no row prefers any class
    planes = [_Plane([Fraction(a) for a in part]) for part in parts]
    lead, error = _brackets(planes, data)
    lead[np.isinf(lead)] = 0
    if np.any(np.abs(lead) > error):
        return "a normal is not orthogonal to every row"
    for i, k in np.argwhere(error > 0).tolist():
        if _lead(planes, data, i, k):
            return "a normal is not orthogonal to every row"
    return ""


def _constraint_rows(data: _Data, span: Any) -> Array:
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
            Z[place, block, data.d] = sign * constant
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
