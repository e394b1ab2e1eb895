"""The convex problem: all that a solver may know.

    P(w, b) = Ω(w) + Σ Uᵢ ℓ(yᵢ(⟨w, xᵢ⟩ + oᵢ + b))    over low ≤ w ≤ high

A solver asks for members and tags, never for the name of a loss, a penalty or a layout.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.train.convex.coordinates import columns_of, prepare, spread
from linsep.train.convex.designs.design import Design
from linsep.train.convex.penalties import NO_PENALTY, RIDGE, Bounds, Elastic

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class Problem(NamedTuple):
    """What is minimised.

    Attributes
    ----------
    design : the rows
    y : −1 or +1 for each row, int8
    weights : Uᵢ ≥ 0 of each row, or one number for all in an array of length one
    loss : ℓ
    penalty : Ω
    offset : oᵢ, added to the score of each row, (n,), or (K, n) for several scores; None stands for
        zeros
    bounds : on the weights; None stands for none
    intercept : whether b is free, or zero
    """

    design: Design
    y: npt.NDArray[np.int8]
    weights: Floats
    loss: Any
    penalty: Elastic = RIDGE
    offset: Floats | None = None
    intercept: bool = True
    bounds: Bounds | None = None

    @classmethod
    def of(
        cls, X: Any, signs: Array, weights: Array | None, C: float, loss: Any, intercept: bool
    ) -> "Problem":
        """Two classes of rows of which each counts C times its weight; no penalty for C = ∞."""
        if not C > 0:
            raise ParameterError(f"C is {C!r}; it must be positive, or infinite for no penalty.")
        free, unit = math.isinf(C), 1.0 if math.isinf(C) else float(C)
        caps = np.array([unit]) if weights is None else unit * np.asarray(weights, np.float64)
        design, y = Design(X, columns_of(X, intercept)), signs.astype(np.int8, copy=False)
        return cls(design, y, caps, loss, NO_PENALTY if free else RIDGE, intercept=intercept)

    def rescaled(self) -> "Problem | None":
        """In columns brought near one by a look at all rows; None where they are already."""
        X, before = self.design.X, self.design.columns
        if self.design.sparse:
            return None
        penalty = self.penalty.l2 / max(1e-300, float(self.weights.max()))
        columns = prepare(X, spread(X, True), self.intercept, penalty, careful=True)
        same = len(before.scale) and np.array_equal(before.scale, columns.scale)
        return None if same else self._replace(design=Design(X, columns))

    def told(self, penalty: Elastic, told: Any) -> "Problem":
        """The same with a penalty, and what is told of it: weights, bounds and offset."""
        bounded = bool(np.isfinite(told.low).any() or np.isfinite(told.high).any())
        offset = told.offset if told.offset is None else np.ascontiguousarray(told.offset.T)
        return self._replace(
            penalty=Elastic(penalty.l1, penalty.l2, told.weight),
            bounds=Bounds(told.low, told.high) if bounded else None,
            offset=offset,
        )

    @property
    def size(self) -> int:
        """Weights and intercept together."""
        return self.design.d + 1

    @property
    def ridge(self) -> Floats:
        """What multiplies ½u² of weights and intercept in the columns of the design."""
        ridge, scale = self.penalty.ridge(self.design.d), self.design.columns.scale
        if scale.size:
            ridge = ridge * scale.astype(np.float64) ** 2
        return np.append(ridge, 0.0)

    def inside(self, w: Array, b: float) -> Floats:
        """Weights of the data as those of the design, the intercept last."""
        w, b = self.design.columns.inside(np.asarray(w, np.float64), float(b))
        return np.append(w, b if self.intercept else 0.0)

    def outside(self, u: Floats) -> tuple[Floats, float]:
        """Weights of the design as those of the data."""
        w, b = self.design.columns.outside(u[:-1].copy(), float(u[-1]))
        return np.asarray(w), float(b) if self.intercept else 0.0

    def of_rows(self, which: Array, factor: Any) -> "Problem":
        """The problem of some rows, each counted `factor` times, a number for all or for each."""
        few = len(self.weights) == 1
        return self._replace(
            design=self.design.some(which),
            y=self.y[which],
            weights=factor * (self.weights if few else self.weights[which]),
            offset=None if self.offset is None else self.offset[..., which],
        )
