"""The losses' quadratic model on one working set, and its minimum."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.l1.design import Part
from linsep.train.convex.l1.loss_terms import Terms
from linsep.train.convex.l1.quadratic import at_best_intercept, by_columns, by_matrix
from linsep.train.convex.penalties import Elastic
from linsep.train.convex.steps.proximal_newton import on_faces

Floats = npt.NDArray[np.float64]

SWEEPS = 30
FACES = 4096  # columns up to which a linear system costs no more than sweeps that were too slow
AGED = 0.03  # share by which curvatures may have changed since their matrix was made
MANY = 600  # rows from which on making a matrix costs more than sweeping over it
DEAR = 100  # columns from which on a matrix may serve twice


class Way(NamedTuple):
    """Where the model has its minimum, seen from where it was made.

    Attributes
    ----------
    change, bias : what it adds to weights and intercept
    along : (n,) what they add to the scores
    slope : the derivative of the losses along it, and what the penalty changes by; negative
    foretold : how much the model falls; negative
    """

    change: Floats
    bias: float
    along: Floats
    slope: float
    foretold: float


class Model:
    """The quadratic model on one working set."""

    def __init__(self, part: Part, free: bool, penalty: Elastic) -> None:
        self.part, self.free, self.penalty = part, free, penalty
        self.curved: Floats = np.empty(0)
        self._H: Floats | None = None
        self._h: Floats = np.empty(0)  # AᵀD1, what the intercept has in common with the columns
        self.bent = False  # whether curvatures of some rows were replaced since

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
        self._matrix(terms.curved)
        return self._minimum(terms, g, w, accuracy, damping, unit)

    def way(self, terms: Terms, g: Floats, w: Floats, *asked: Any) -> Way:
        """The way to that minimum; `asked` as of `minimum`."""
        self._matrix(terms.curved)
        return self.way_again(terms, g, w, *asked)

    def way_again(self, terms: Terms, g: Floats, w: Floats, *asked: Any) -> Way:
        """The same with the curvatures that are there."""
        change, bias = self._minimum(terms, g, w, *asked)
        along = self.part.scores(change) + bias
        value = self.penalty.value
        slope = float(g @ change) + terms.slope * bias + value(w + change) - value(w)
        foretold = slope + 0.5 * float(self.curved @ np.square(along))
        return Way(change, bias, along, slope, foretold)

    def _minimum(
        self,
        terms: Terms,
        g: Floats,
        w: Floats,
        accuracy: float,
        damping: Floats,
        unit: float = np.inf,
    ) -> tuple[Floats, float]:
        H, D, (l1, l2) = self._H, self.curved, self.penalty[:2]
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

    @property
    def by_matrix(self) -> bool:
        """Whether there is a matrix, which `bend` can change."""
        return self._H is not None

    def bend(self, rows: npt.NDArray[np.int64], curved: Floats) -> None:
        """Give some rows other curvatures: AᵀDA changes by Σ (D′ᵢ − Dᵢ) aᵢaᵢᵀ over them."""
        assert self._H is not None
        more = curved - self.curved[rows]
        H, h = self.part.products(rows, more)
        self._H = self._H + H
        if self.free:
            self._h = self._h + h
        self.curved = self.curved.copy()
        self.curved[rows] = curved
        self.bent = True

    def _matrix(self, D: Floats) -> None:
        """Make AᵀDA, or keep one made before while D has hardly changed."""
        if self._H is not None and len(self._H) >= DEAR and not self.bent:
            aged = float(np.abs(D - self.curved).sum())
            if aged <= AGED * float(D.sum()):
                return
        self.remake(D)

    def remake(self, D: Floats) -> None:
        self._H, self.curved, self.bent = self.part.matrix(D), D, False
        if self.free:
            self._h = self.part.total(D)
