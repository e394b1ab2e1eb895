"""A proposed separator, made definite: floats or fractions, and its exact least lead."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.exact.integers import fewest, whole
from linsep.proofs.exact.scores import Plane, root_below
from linsep.proofs.halfspaces.halfspaces import Halfspaces

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Separator(NamedTuple):
    """Weights and biases in original units, with the square of their margin.

    `plane` holds the same in fractions where floats do not suffice to separate.
    """

    weights: Floats
    bias: Floats
    plane: tuple[tuple[Fraction, ...], ...] | None
    square: Fraction  # margin²

    @property
    def margin(self) -> float:
        return root_below(self.square)


def centred(problem: Halfspaces, v: Floats) -> Floats:
    """The same weights with the bias, if it is free, half-way between the classes (two classes)."""
    if problem.n_classes > 2 or not problem.fit_intercept:
        return v
    middle = v.copy()
    middle[-1] = 0.0
    z = problem.values(middle)
    signs = problem.signs
    low, high = z[signs > 0].min(), -z[signs < 0].min()
    middle[-1] = -(low + high) / 2
    return middle


def certify(problem: Halfspaces, v: Floats) -> Separator | None:
    """The separator v (in the scaled columns of `problem`) if it separates exactly, else None.

    Examples
    --------
    >>> problem = Halfspaces.of(np.array([[0.0], [1.0]]), np.array([0, 1]))
    >>> certify(problem, np.array([2.0, -1.0])).margin
    0.5
    >>> certify(problem, np.array([2.0, 0.0])) is None
    True
    """
    if not np.all(np.isfinite(v)):
        return None
    v = np.ldexp(v, -math.frexp(float(np.abs(v).max(initial=0)))[1])
    V = v.reshape(problem.blocks, -1)
    if not problem.fit_intercept:
        V[:, -1] = 0.0
    if problem.extreme_scale:
        return certify_whole(problem, _numbers(v, problem.exponents))
    W, b = V[:, :-1].copy(), V[:, -1].copy()
    lead = _lead(problem, v)
    if lead <= 0:
        return None
    length = sum((Fraction(a) ** 2 for a in W.reshape(-1).tolist()), Fraction(0))
    return Separator(W, b, None, _square(problem, lead, length))


def _lead(problem: Halfspaces, v: Floats) -> Fraction:
    """min ⟨z, v⟩ over all constraints: exactly, on those that floats cannot tell from the least."""
    z = problem.values(v)
    V = v.reshape(problem.blocks, -1)
    size = float((np.abs(V[:, :-1]) @ problem.largest + np.abs(V[:, -1])).max())
    error = 8 * (problem.n_features + 4) * (2.0**-52 * size + 2.0**-1070)
    if not z.min() > -error:
        return Fraction(-1)  # some row is surely on the wrong side
    near = np.flatnonzero(z <= z.min() + 2 * error)
    planes = [Plane(part[:-1], part[-1]) for part in V]
    if problem.n_classes == 2:
        signs = problem.signs
        return min(int(signs[i]) * planes[0].score(problem.X, i) for i in near.tolist())
    return min(
        planes[problem.codes[i]].score(problem.X, i) - planes[k].score(problem.X, i)
        for i, k in (divmod(place, problem.n_classes) for place in near.tolist())
    )


def _square(problem: Halfspaces, lead: Fraction, length: Fraction) -> Fraction:
    return lead**2 / length if problem.n_classes == 2 else lead**2 / (2 * length)


def _numbers(v: Floats, exponents: Array) -> list[int]:
    """Floats for scaled columns as whole weights in original units, up to one positive factor."""
    shifts = [*exponents.tolist(), 0] * (len(v) // (len(exponents) + 1))
    exact = [Fraction(float(a)) / Fraction(2) ** e for a, e in zip(v, shifts, strict=True)]
    common = math.lcm(*(a.denominator for a in exact))
    return fewest([a.numerator * (common // a.denominator) for a in exact])


def certify_whole(problem: Halfspaces, v: list[int]) -> Separator | None:
    """The same for weights in whole numbers and original units, row by row and without floats."""
    lead = _least(problem, v)
    if lead <= 0:
        return None
    width = problem.n_features + 1
    parts = [v[k * width : (k + 1) * width] for k in range(problem.blocks)]
    length = sum((Fraction(a) ** 2 for part in parts for a in part[:-1]), Fraction(0))
    square = _square(problem, lead, length)
    floats = _as_floats(parts)
    if floats is not None:
        return Separator(*floats, None, square)
    scale = 1 << max(abs(a) for a in v).bit_length()
    fractions = tuple(tuple(Fraction(a, scale) for a in part) for part in parts)
    near = np.array([[float(a) for a in part] for part in fractions])
    return Separator(near[:, :-1].copy(), near[:, -1].copy(), fractions, square)


def _least(problem: Halfspaces, v: list[int]) -> Fraction:
    """min ⟨z, v⟩ over all constraints, exactly."""
    lowest: Fraction | None = None
    ids = problem.all()
    for start in range(0, len(ids), 256):
        Z = problem.take(ids[start : start + 256], np.arange(problem.n_features))
        numbers = whole(Z)
        scaled = [a << (c - min(numbers.columns)) for a, c in zip(v, numbers.columns, strict=True)]
        for row, shift in zip(numbers.values.tolist(), numbers.rows, strict=True):
            total = sum(a * x for a, x in zip(scaled, row, strict=True))
            value = total * Fraction(2) ** (shift + min(numbers.columns))
            lowest = value if lowest is None else min(lowest, value)
    assert lowest is not None
    return lowest


def _as_floats(parts: list[list[int]]) -> tuple[Floats, Floats] | None:
    """Whole numbers as floats times one power of two, if no digit is lost."""
    numbers = [a for part in parts for a in part]
    top = max(abs(a) for a in numbers).bit_length()
    low = min((a & -a).bit_length() - 1 for a in numbers if a)
    for shift in {top, (top + low) // 2}:
        try:
            floats = [float(Fraction(a) / Fraction(2) ** shift) for a in numbers]
        except OverflowError:
            continue
        if all(
            Fraction(f) * Fraction(2) ** shift == a for f, a in zip(floats, numbers, strict=True)
        ):
            V = np.array(floats).reshape(len(parts), -1)
            return V[:, :-1].copy(), V[:, -1].copy()
    return None


def certify_rounded(problem: Halfspaces, v: list[int]) -> Separator | None:
    """A whole separator, in floats if those near to it have the same margin, else in fractions."""
    exact = certify_whole(problem, v)
    if exact is None or exact.plane is None or problem.extreme_scale:
        return exact
    near, _ = problem.as_floats(v)
    for candidate in (near, centred(problem, near)):
        rounded = certify(problem, candidate)
        if rounded is not None and rounded.square >= exact.square * (1 - Fraction(1, 10**7)):
            return rounded
    return exact
