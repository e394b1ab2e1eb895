"""The losses' quadratic model on one working set, and its minimum."""

import numpy as np
import numpy.typing as npt

from linsep.train.convex.l1.design import Part
from linsep.train.convex.l1.loss_terms import Terms
from linsep.train.convex.l1.quadratic import at_best_intercept, by_columns, by_matrix
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.steps.proximal_newton import on_faces

Floats = npt.NDArray[np.float64]

SWEEPS = 30
FACES = 1000  # columns up to which linear systems help where sweeps are slow
AGED = 0.03  # share by which curvatures may have changed since their matrix was made
MANY = 600  # rows from which on making a matrix costs more than sweeping over it
DEAR = 100  # columns from which on a matrix may serve twice


class Model:
    """The quadratic model on one working set."""

    def __init__(self, part: Part, free: bool, penalty: Elastic) -> None:
        self.part, self.free, self.penalty = part, free, penalty
        self.curved: Floats = np.empty(0)
        self._H: Floats | None = None
        self._h: Floats = np.empty(0)  # AᵀD1, what the intercept has in common with the columns

    def minimum(
        self,
        terms: Terms,
        g: Floats,
        w: Floats,
        accuracy: float,
        damping: Floats,
        unit: float = np.inf,
    ) -> tuple[Floats, float]:
        """The change of the weights and of the intercept that minimises the model.

        `damping` is added to the diagonal of H; `accuracy` and `unit` are as of `by_matrix`.
        """
        H, (l1, l2) = self._matrix(terms.curved), self.penalty
        D = self.curved
        h0 = float(D.sum()) if self.free else 0.0
        h = self._h if h0 > 0 else np.zeros(len(g))
        pull = terms.slope / h0 if h0 > 0 else 0.0
        change = np.zeros(len(g))
        if H is None:
            rows = self.part.columns(np.sqrt(D))
            moved = np.zeros(len(D))
            by_columns(
                rows, h, h0, g - pull * h, w, l1, l2, change, moved, damping, accuracy, unit,
                SWEEPS,
            )  # fmt: skip
        else:
            H = at_best_intercept(H, h, h0, damping)
            unit *= max(1.0, len(D) / MANY)
            there = by_matrix(H, g - pull * h, w, l1, l2, change, accuracy, unit, SWEEPS)
            if not there and len(g) <= FACES:
                corner, ridge = np.full(len(g), l1), np.full(len(g), l2)
                change = on_faces(H, g - pull * h, w, corner, ridge, change, 1e-9)
        bias = -(terms.slope + float(h @ change)) / h0 if h0 > 0 else 0.0
        return change, bias

    def _matrix(self, D: Floats) -> Floats | None:
        """AᵀDA, or one made before while D has hardly changed."""
        if self._H is not None and len(self._H) >= DEAR:
            aged = float(np.abs(D - self.curved).sum())
            if aged <= AGED * float(D.sum()):
                return self._H
        self.remake(D)
        return self._H

    def remake(self, D: Floats) -> None:
        self._H, self.curved = self.part.matrix(D), D
        if self.free:
            self._h = self.part.total(D)
