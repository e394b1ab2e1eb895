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

from linsep.proofs.exact.integers import fewest, kernel_basis

Vector = list[int]


class Nearest(NamedTuple):
    """A `direction` positive on all rows, or None, and the point's own rows and multipliers > 0.

    Where `direction` is None, the multipliers annihilate the rows.
    """

    direction: Vector | None
    rows: list[int]
    multipliers: list[int]


def nearest(
    Z: list[Vector],
    out_of_time: Callable[[], bool] = bool,
    gap: Fraction | None = None,
) -> Nearest | None:
    """Settle whether some direction is strictly positive on every row.

    Parameters
    ----------
    Z : rows of whole numbers
    out_of_time : callable
        Asked once a round; True ends the search with None.
    gap : Fraction, optional
        Go on until the point is nearest to the origin within this relative distance; without it
        any positive direction ends the search.

    Examples
    --------
    >>> nearest([[1, 2], [2, 1]], gap=Fraction(0)).direction
    [1, 1]
    >>> nearest([[1, 2], [-1, -2], [5, 5]])
    Nearest(direction=None, rows=[0, 1], multipliers=[1, 1])
    """
    first = min(range(len(Z)), key=lambda i: sum(map(mul, Z[i], Z[i])))
    corral, weights = [first], [1]
    while not out_of_time():
        columns = zip(*(Z[i] for i in corral), strict=True)
        x = [sum(map(mul, column, weights)) for column in columns]  # Σ aᵢzᵢ: the point times Σ aᵢ
        if not any(x):
            return Nearest(None, corral, weights)
        entering = min(range(len(Z)), key=lambda i: sum(map(mul, Z[i], x)))
        least = sum(map(mul, Z[entering], x))
        enough = 1 if gap is None else (1 - gap) * sum(map(mul, x, x)) / sum(weights)
        if least > 0 and (least >= enough or entering in corral):
            return Nearest(fewest(x), corral, weights)
        corral, weights = _settle(Z, [*corral, entering], [*weights, 0])
    return None


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
