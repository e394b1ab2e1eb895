"""The within-class spread of rows that are not many beside their columns, from their products.

With Z the rows about the means of their classes, ZZᵀ = LLᵀ (`pivots`) and Q = L₁⁻¹Z₁, of the r
independent rows Z₁, has orthonormal rows that span those of Z = LQ. So

    Σ = ZᵀZ = QᵀLᵀLQ,    Σ⁺ = Qᵀ(LᵀL)⁻¹Q,    x − QᵀQx: the part of x without spread,

Z⁺ = Qᵀ(LᵀL)⁻¹Lᵀ,

and with a ridge (Σ + λI)⁻¹ = (I − Zᵀ(ZZᵀ + λI)⁻¹Z)/λ. What rounding costs of either is put back
by products with the rows themselves, until it is known to be small.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg as sl

from linsep.train.closed.centred_rows import CentredRows
from linsep.train.closed.frame import in_units
from linsep.train.closed.moments import Floats, require_room
from linsep.train.closed.pivots import LEAST, Pivots, pivots

CORRECTIONS = 4
WHOLE = 1024  # rows whose products are made at once
SKETCH = 3  # random combinations of the dependent rows that must be nothing but rounding
SETTLED = 1e-9  # relative size of a last correction


class LostDigitsError(ArithmeticError):
    """Rounding has left too little of an answer: another way is needed."""


@dataclass
class RowAxes:
    """The spread of `rows`, with what `whitening` asks of it.

    Attributes
    ----------
    unit, noise : as in `whitening.Axes`
    rows : CentredRows in these units
    found : factor of their products, with the ridge on its diagonal
    rest : the ridge, which is the variance in every direction
    shrinkage : how far the variances were moved towards their mean
    largest : ‖z‖² of the longest row
    """

    unit: Floats
    noise: Floats
    rows: CentredRows
    found: Pivots
    rest: float
    shrinkage: float
    largest: float
    blurred: float = 0.0

    def __post_init__(self) -> None:
        self._others = self.found.dependent
        self._inner = np.eye(len(self._others)) + self._others @ self._others.T

    @property
    def rank(self) -> int:
        """How many directions have spread of their own."""
        return self.found.rank

    def covariance(self, exponents: Any) -> Floats:
        """The covariance in the units of the data."""
        require_room(len(self.unit), len(self.unit))
        S = self.rows.scatter()
        S.flat[:: len(S) + 1] += self.rest
        return in_units(S * self.unit * self.unit[:, None], exponents)

    def outside(self, B: Floats) -> Floats:
        """Vectors, (k, d), without their parts along directions with spread."""
        if self.rest:
            return np.zeros_like(B)
        for _ in range(CORRECTIONS):
            B = B - self._from(self._along(B))
        return B

    def inside(self, B: Floats) -> Floats:
        """(d, m) columns A with ⟨b, Σ⁺b'⟩ = bAAᵀb' for the vectors of B."""
        B = B if self.rest else B - self.outside(B)
        Y = self._solved(B)
        for _ in range(CORRECTIONS):
            change = self._solved(B - self._spread(Y))
            Y += change
            if (abs(change).max(axis=1) <= SETTLED * abs(Y).max(axis=1)).all():
                values, E = np.linalg.eigh(B @ Y.T)
                keep = values > 1e-14 * values[-1]
                return np.asarray(Y.T @ (E[:, keep] / np.sqrt(values[keep])))
        raise LostDigitsError

    def shortest(self, T: Floats) -> Floats:
        """(k, d) shortest A with ZAᵀ next to T, (n, k)."""
        A, left, r = np.zeros((T.shape[1], len(self.unit))), T, self.rank
        for _ in range(CORRECTIONS):
            left = left[self.found.order]
            v = self._balanced(left[:r] + self._others.T @ left[r:])
            step = self._from(self.found.solve(v))
            A += step
            if (abs(step).max(axis=1) <= 1e-3 * SETTLED * abs(A).max(axis=1)).all():
                return A
            left = T - self.rows.dot(A)
        raise LostDigitsError

    def _balanced(self, v: Floats) -> Floats:
        """(I + WᵀW)⁻¹v, with W = L₂L₁⁻¹"""
        W = self._others
        return np.asarray(v - W.T @ sl.solve(self._inner, W @ v, assume_a="pos"))

    def _spread(self, Y: Floats) -> Floats:
        return self.rows.back(self.rows.dot(Y)) + self.rest * Y

    def _along(self, B: Floats) -> Floats:
        """QBᵀ"""
        return self.found.solve(self.rows.dot(B)[self.found.order[: self.rank]])

    def _from(self, c: Floats) -> Floats:
        """cᵀQ"""
        V = np.zeros((len(self.found.order), c.shape[1]))
        V[self.found.order[: self.rank]] = self.found.solve(c, back=True)
        return self.rows.back(V)

    def _solved(self, B: Floats) -> Floats:
        """BΣ⁺, or B(Σ + λI)⁻¹, but for rounding."""
        if self.rest:
            return np.asarray((B - self._from(self._along(B))) / self.rest)
        v = self._balanced(self.found.solve(self._along(B), back=True))
        return self._from(self.found.solve(v))

    def confirmed(self) -> bool:
        """Whether the rows left over depend on the others but for rounding."""
        order = self.found.order
        some = np.random.default_rng(0).standard_normal((len(self._others), SKETCH))
        V = np.empty((len(order), SKETCH))
        V[order[self.rank :]], V[order[: self.rank]] = some, -self._others.T @ some
        seen, given = self.rows.back(V), np.sqrt(np.square(V).sum(axis=0))
        limit = self.rounding + 64 * len(V) * 2.0**-53 * math.sqrt(self.largest)
        return bool((np.sqrt(np.square(seen).sum(axis=1)) <= limit * given).all())

    @property
    def rounding(self) -> float:
        """What rounding of the data makes of a row."""
        roots = self.rows.roots
        heaviest = len(self.found.order) ** -0.5 if roots is None else roots.max()
        return float(2 * np.sqrt(np.square(self.noise).sum()) * heaviest)


def row_axes(
    unit: Floats, noise: Floats, rows: CentredRows, rest: float, shrinkage: float, n_jobs: int
) -> RowAxes:
    """The axes of rows in these units.

    Raises
    ------
    LostDigitsError
        Where some row is neither independent of the others nor a sum of them.
    """

    n = len(rows.full)
    G = rows.products(slice(None), slice(None)) if n <= WHOLE else None

    def products(i: Any, j: Any) -> Floats:
        part = rows.products(i, j) if G is None else G[i][:, j]
        return part + rest * np.equal.outer(i, j) if rest else part

    squares = rows.squares() if G is None else G.diagonal()
    found = pivots(squares + rest, products, n_jobs)
    if found is None:
        raise LostDigitsError
    axes = RowAxes(unit, noise, rows, found, rest, shrinkage, float(squares.max()))
    least = LEAST * axes.largest
    if not (rest or (least > (2 * axes.rounding) ** 2 and axes.confirmed())):
        raise LostDigitsError
    return axes
