"""Large systems of whole numbers, solved exactly by p-adic lifting (Dixon 1982).

    A x = c:  x₀ = A⁻¹c mod p,  c ← (c - A x₀)/p,  again:  x = x₀ + x₁p + x₂p² + …

Only one inverse, modulo a small prime, is ever computed; each further digit of the answer costs two
products of a matrix and a vector, exact in float64. Enough digits determine the fractions x.
"""

import math
from functools import cache
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.kernels import modular

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_LIMB = 20  # bits in one digit of A: digit × residue × order stays below 2^53


def prime_below(top: int) -> int:
    """The largest prime below `top`.

    >>> prime_below(100)
    97
    """
    candidate = top - 1
    while any(candidate % q == 0 for q in range(2, math.isqrt(candidate) + 1)):
        candidate -= 1
    return candidate


@cache
def prime_for(order: int) -> int:
    """A prime so small that sums of `order` products of residues are exact in float64."""
    return prime_below(1 << min(21, (52 - max(order, 2).bit_length()) // 2))


def residues(A: Array, p: int) -> Floats:
    """Whole numbers (int64 or Python's own) modulo p, as float64."""
    return np.asarray(A % p, dtype=np.float64)


def pivots(A: Array) -> tuple[Array, Array]:
    """Rows and columns of A that are independent modulo a prime, hence independent.

    Examples
    --------
    >>> rows, columns = pivots(np.array([[1, 2, 3], [2, 4, 6], [0, 0, 5]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 2], [0, 2])
    """
    p = prime_for(max(A.shape))
    size = min(A.shape)
    rows, columns = np.empty(size, np.int64), np.empty(size, np.int64)
    order = np.empty(len(A), np.int64)
    rank = modular.eliminate(np.ascontiguousarray(residues(A, p)), float(p), order, rows, columns)
    return rows[:rank], columns[:rank]


def _inverse_modulo(A: Array) -> tuple[Floats, int] | None:
    n = len(A)
    p = prime_for(n)
    for _ in range(3):
        B = np.hstack([residues(A, p), np.eye(n)])
        if modular.invert(B, float(p)):
            return np.ascontiguousarray(B[:, n:]), p
        p = prime_below(p)
    return None


def _limbs(A: Array) -> list[Floats]:
    """A = Σ Lₖ 2^(20k) with the Lₖ below 2^20 in size, as float64 matrices."""
    limbs = []
    rest, negative = np.abs(A), A < 0
    while np.any(rest):
        low = np.asarray(rest & ((1 << _LIMB) - 1), dtype=np.float64)
        limbs.append(np.where(negative, -low, low))
        rest = rest >> _LIMB
    return limbs or [np.zeros(A.shape)]


def lift(A: Array, c: Array) -> tuple[list[int], int] | None:
    """Solve A x = c in fractions: numerators and their common denominator; None if singular.

    Parameters
    ----------
    A, c : arrays of whole numbers
        Square and matching; int64, or object arrays of Python's own integers.

    Examples
    --------
    >>> lift(np.array([[2, 1], [1, 3]]), np.array([1, 1]))
    ([2, 1], 5)
    """
    modular = _inverse_modulo(A)
    if modular is None:
        return None
    inverse, p = modular
    limbs = _limbs(A)
    small = len(limbs) == 1 and (c.dtype != object or max(map(abs, c)) < 2**40)
    rest = c.astype(np.int64) if small else c.astype(object)
    top = _bits(A) + _bits_of_vector(c) + 1
    wanted = math.ceil((_bits(A) + top + 2) / math.log2(p))
    digits: list[Array] = []
    for stop in sorted({wanted, wanted // 4, wanted // 16} - {0}):
        while len(digits) < stop:
            digit = np.mod(inverse @ residues(rest, p), p)
            digits.append(digit.astype(np.int64))
            product = (limbs[0] @ digit).astype(np.int64)
            if not small:
                product = product.astype(object)
                for k, limb in enumerate(limbs[1:], 1):
                    product += (limb @ digit).astype(np.int64).astype(object) << (_LIMB * k)
            rest = (rest - product) // p
        answer = _fractions(_join(digits, p), p ** len(digits))
        if answer is not None and _solves(A, c, *answer):
            return answer
    return None


def _bits(A: Array) -> float:
    """log₂ of Hadamard's bound on the determinant."""
    if A.dtype != object:
        squares = np.square(A.astype(np.float64))
        lengths = [np.maximum(squares.sum(axis=axis), 1) for axis in (0, 1)]
        return min(float(0.5 * np.log2(length).sum()) for length in lengths) + 1
    by_row = sum(_bits_of_vector(row) for row in A)
    by_column = sum(_bits_of_vector(column) for column in A.T)
    return min(by_row, by_column)


def _bits_of_vector(v: Array) -> float:
    square = sum(int(a) * int(a) for a in v.tolist())
    if square == 0:
        return 0.0
    shift = max(0, square.bit_length() - 900)
    return 0.5 * (math.log2(square >> shift) + shift) + 1e-6


def _join(digits: list[Array], p: int) -> list[int]:
    """Σ digitₖ pᵏ for every entry, by halves."""
    level = [d.astype(object) for d in digits]
    power = p
    while len(level) > 1:
        if len(level) % 2:
            level.append(np.zeros(len(level[0]), dtype=object))
        level = [low + high * power for low, high in zip(level[::2], level[1::2], strict=True)]
        power *= power
    return list(level[0])


def _fractions(values: list[int], modulus: int) -> tuple[list[int], int] | None:
    """Fractions of one denominator, as small as the modulus can tell apart."""
    bound = math.isqrt(modulus // 2)
    denominator, numerators = 1, list[int]()
    for value in values:
        n = value * denominator % modulus
        n = n - modulus if n > modulus // 2 else n
        if abs(n) > bound:
            fraction = _reconstruct(n % modulus, modulus, bound)
            if fraction is None:
                return None
            n, d = fraction
            denominator *= d
            if denominator > bound:
                return None
            numerators = [a * d for a in numerators]
        numerators.append(n)
    return numerators, denominator


def _reconstruct(value: int, modulus: int, bound: int) -> tuple[int, int] | None:
    """n/d ≡ value with |n|, d ≤ bound, by the extended Euclidean algorithm (Wang 1981)."""
    r0, r1, t0, t1 = modulus, value, 0, 1
    while r1 > bound:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        t0, t1 = t1, t0 - q * t1
    if t1 == 0 or abs(t1) > bound:
        return None
    return (r1, t1) if t1 > 0 else (-r1, -t1)


def _solves(A: Array, c: Array, numerators: list[int], denominator: int) -> bool:
    rows = zip(A.tolist(), c.tolist(), strict=True)
    return all(sum(map(mul, row, numerators)) == denominator * right for row, right in rows)
