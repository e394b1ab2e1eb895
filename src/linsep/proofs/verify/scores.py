"""Rows and planes as the verifier reads them: whole numbers, and scores with error bounds.

Part of `linsep.proofs.verify.separability`; like it, nothing here is shared with the search for
certificates.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import spans

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def whole(values: Array) -> tuple[list[int], int]:
    """Floats as whole numbers times one power of two: value = number · 2^shift.

    >>> numbers, shift = whole(np.array([0.5, -3.0]))
    >>> [number * 2.0**shift for number in numbers]
    [0.5, -3.0]
    """
    if not len(values):
        return [], 0
    fraction, exponent = np.frexp(values.astype(np.float64))
    mantissa = (fraction * 2.0**53).astype(np.int64).tolist()
    low = int(exponent.min())
    shifts = (exponent - low).tolist()
    return [m << s for m, s in zip(mantissa, shifts, strict=True)], low - 53


def over_one(fractions: Sequence[Fraction]) -> tuple[list[int], int]:
    """Fractions as whole numbers over one denominator.

    >>> over_one([Fraction(1, 2), Fraction(2, 3)])
    ([3, 4], 6)
    """
    denominator = math.lcm(*(f.denominator for f in fractions))
    return [f.numerator * (denominator // f.denominator) for f in fractions], denominator


def two_power(exponent: int) -> Fraction:
    """2^exponent"""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


class Data:
    """Rows and class codes; each constraint is a row, or with many classes a row and a rival.

    `constant` is the feature whose weight is the bias: 1, or 0 for planes through the origin.
    """

    def __init__(self, X: Any, codes: Array, n_classes: int, fit_intercept: bool = True) -> None:
        self.X, self.codes, self.n_classes = X, codes, n_classes
        self.constant = 1 if fit_intercept else 0
        self.n, self.d = X.shape
        self.blocks = 1 if n_classes == 2 else n_classes
        # Kesler's rows add up to zero over the blocks: one block is always redundant.
        self.dimension = (n_classes - 1) * (self.d + self.constant)

    def whole_row(self, i: int) -> tuple[list[int], list[int], int]:
        """Columns, whole numbers and shift of row i, zeros left out."""
        if sp.issparse(self.X):
            part = slice(self.X.indptr[i], self.X.indptr[i + 1])
            columns, values = self.X.indices[part], self.X.data[part]
        else:
            columns, values = np.arange(self.d), self.X[i]
        occupied = values != 0
        return columns[occupied].tolist(), *whole(values[occupied])

    def sides(self, i: int, rival: int) -> list[tuple[int, int]]:
        """The blocks a constraint enters, each with its sign."""
        own = int(self.codes[i])
        if self.n_classes == 2:
            return [(0, 1 if own == 1 else -1)]
        return [(own, 1), (rival, -1)]


class Plane:
    """Weights (those that are not zero) and a bias, in fractions."""

    def __init__(self, weights: dict[int, Fraction], bias: Fraction) -> None:
        self.weights, self.bias = weights, bias
        self.used = sorted(weights)
        numbers, self.denominator = over_one([weights[j] for j in self.used])
        self.numbers = dict(zip(self.used, numbers, strict=True))
        self.floats = self._as_floats()

    @classmethod
    def of(cls, entries: Sequence[Any]) -> "Plane":
        """From weights followed by the bias; floats and whole numbers are fractions too."""
        weights = {j: Fraction(a) for j, a in enumerate(entries[:-1]) if a}
        return cls(weights, Fraction(entries[-1]))

    def square(self) -> Fraction:
        """‖w‖²"""
        return Fraction(sum(a * a for a in self.numbers.values()), self.denominator**2)

    def _as_floats(self) -> tuple[Floats, float] | None:
        """The same in floats, if nothing is lost."""
        exact = [self.weights[j] for j in self.used] + [self.bias]
        try:
            floats = [float(a) for a in exact]
        except OverflowError:
            return None
        if any(Fraction(f) != a for f, a in zip(floats, exact, strict=True)):
            return None
        return np.array(floats[:-1]), floats[-1]

    def score(self, data: Data, i: int) -> Fraction:
        """⟨w, xᵢ⟩ + b, exactly."""
        places, values, shift = data.whole_row(i)
        known = self.numbers
        total = sum(known[j] * x for j, x in zip(places, values, strict=True) if j in known)
        return Fraction(total, self.denominator) * two_power(shift) + self.bias

    def bracket(self, data: Data) -> tuple[Floats, Floats]:
        """Scores of all rows and bounds on their errors: inf where floats cannot tell.

        A sum of d+1 products rounded in any order is off by at most (d+2)u Σ|wⱼxⱼ| and by half
        the smallest float for each product that underflows. Where every number is a multiple of
        one power of two and all sums stay below 2^53 of it, nothing is rounded at all: that is
        looked into where errors leave several rows in doubt.
        """
        if self.floats is None:
            return np.zeros(data.n), np.full(data.n, np.inf)
        w, b = self.floats
        scores, errors = np.empty(data.n), np.empty(data.n)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start, stop, part in _parts(data.X, self.used):
                scores[start:stop] = part @ w + b
                size = abs(part) @ np.abs(w) + abs(b)
                error = (len(w) + 4) * (size * 2.0**-51 + 2.0**-1073)
                doubtful = np.count_nonzero(~(np.abs(scores[start:stop]) > error)) > 4
                if doubtful and size.max(initial=0) < 2.0**53 * _grain(part, w, b):
                    error[:] = 0
                errors[start:stop] = error
        unsure = ~(np.isfinite(scores) & np.isfinite(errors))
        scores[unsure], errors[unsure] = 0, np.inf
        return scores, errors


def _parts(X: Any, used: list[int]) -> Iterator[tuple[int, int, Any]]:
    """Blocks of rows as float64, reduced to the columns in use."""
    everything = len(used) == X.shape[1]
    if sp.issparse(X):
        part = X if everything else X[:, used]
        yield 0, X.shape[0], part.astype(np.float64)
        return
    for start, stop in spans(X.shape[0], max(64, (1 << 20) // max(1, X.shape[1]))):
        part = X[start:stop] if everything else X[start:stop, used]
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


def brackets(planes: list[Plane], data: Data) -> tuple[Floats, Floats]:
    """Leads of every row over its rivals, with errors; inf in the place of its own class."""
    scored = [plane.bracket(data) for plane in planes]
    if data.n_classes == 2:
        s, e = scored[0]
        return (np.where(data.codes == 1, 1.0, -1.0) * s)[:, None], e[:, None]
    S, E = (np.column_stack(parts) for parts in zip(*scored, strict=True))
    own = np.arange(data.n), data.codes
    lead, error = S[own][:, None] - S, E[own][:, None] + E
    error += np.abs(lead) * 2.0**-52
    lead[own], error[own] = np.inf, 0
    return lead, error


def lead(planes: list[Plane], data: Data, i: int, rival: int) -> Fraction:
    """The exact lead of row i over a rival: yᵢ(⟨w, xᵢ⟩ + b) with two classes."""
    parts = (sign * planes[block].score(data, i) for block, sign in data.sides(i, rival))
    return sum(parts, Fraction(0))
