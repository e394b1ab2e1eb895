"""The point nearest to the origin, found in whole numbers (Wolfe 1976).

Either that point x of the convex hull of rows z₁, z₂, … is not the origin, and then ⟨zᵢ, x⟩ > 0 for
every row; or it is, and then its weights are non-negative, sum to one and annihilate the rows. No
rounding and no tolerance: the search ends with one answer or the other. Slow, and for that reason
kept for small problems on which floating point has lost its way.
"""

from collections.abc import Callable
from fractions import Fraction
from operator import mul
from typing import NamedTuple

from linsep.proofs.exact import fewest, kernel_basis

Vector = list[int]


class Nearest(NamedTuple):
    """Either a `direction` positive on all rows, or `rows` whose `multipliers` > 0 give zero."""

    direction: Vector | None
    rows: list[int]
    multipliers: list[int]


def nearest(
    Z: list[Vector], start: list[int] | None = None, out_of_time: Callable[[], bool] = bool
) -> Nearest | None:
    """Settle whether some direction is strictly positive on every row.

    Parameters
    ----------
    Z : rows of whole numbers
    start : list of int, optional
        Rows likely to matter, tried first.
    out_of_time : callable
        Asked once a round; True ends the search with None.

    Examples
    --------
    >>> nearest([[1, 2], [2, 1]]).direction
    [1, 2]
    >>> nearest([[1, 2], [-1, -2], [5, 5]])[1:]
    ([0, 1], [1, 1])
    """
    first = min(start or range(len(Z)), key=lambda i: sum(map(mul, Z[i], Z[i])))
    corral, weights = [first], [1]
    waiting = [i for i in start or [] if i != first]
    while not out_of_time():
        x = _combine(Z, corral, weights)
        if not any(x):
            return Nearest(None, corral, weights)
        entering = next((i for i in waiting if sum(map(mul, Z[i], x)) <= 0), None)
        if entering is None:
            waiting = []
            entering = min(range(len(Z)), key=lambda i: sum(map(mul, Z[i], x)))
            if sum(map(mul, Z[entering], x)) > 0:
                return Nearest(x, [], [])
        corral, weights = _settle(Z, [*corral, entering], [*weights, 0])
    return None


def _combine(Z: list[Vector], rows: list[int], weights: list[int]) -> Vector:
    columns = zip(*(Z[i] for i in rows), strict=True)
    x = [sum(map(mul, column, weights)) for column in columns]
    return fewest(x) if any(x) else x


def _settle(Z: list[Vector], corral: list[int], weights: list[int]) -> tuple[list[int], list[int]]:
    """Drop rows until the least point of the corral's plane lies inside its convex hull."""
    while True:
        target = _affine(Z, corral)
        if all(b > 0 for b in target):
            return corral, target
        # Walk from the weights a/A towards b/B until the first weight vanishes:
        # θ = min aB / (aB - bA) over b ≤ 0, and a ← a(1 - θ)B + bAθ
        A, B = sum(weights), sum(target)
        theta = min(
            Fraction(a * B, a * B - b * A) for a, b in zip(weights, target, strict=True) if b <= 0
        )
        top, bottom = theta.as_integer_ratio()
        weights = [
            a * B * (bottom - top) + b * A * top for a, b in zip(weights, target, strict=True)
        ]
        keep = [k for k, a in enumerate(weights) if a > 0]
        corral, weights = [corral[k] for k in keep], fewest([weights[k] for k in keep])


def _affine(Z: list[Vector], corral: list[int]) -> list[int]:
    """Weights, of positive sum, of the least point of the plane through the corral's rows.

    Stationarity: ⟨zᵢ, Σ bⱼzⱼ⟩ = ν for every i. Independent rows leave one such (b, ν).
    """
    gram = [[sum(map(mul, Z[i], Z[j])) for j in corral] for i in corral]
    basis = kernel_basis([[*row, -1] for row in gram], len(corral) + 1)
    b = basis[0][:-1]
    return b if sum(b) > 0 else [-a for a in b]
