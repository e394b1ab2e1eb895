"""A positive semi-definite matrix, ready to be solved with and to measure lengths by."""

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg as sl

Floats = npt.NDArray[np.float64]


class Curvature:
    """H⁻¹, or the pseudo-inverse where H is singular to the digits it has.

    Rows and columns are scaled to a unit diagonal first, so that the units of the features do not
    decide what counts as singular. Columns that are zero keep a zero weight.

    Parameters
    ----------
    H : symmetric matrix
    digits : relative error of its entries

    Attributes
    ----------
    singular : whether directions are left out

    Examples
    --------
    >>> Curvature(np.array([[4.0, 0.0], [0.0, 0.0]])).solve(np.array([8.0, 0.0]))
    array([2., 0.])
    """

    def __init__(self, H: Floats, digits: float = 1e-15) -> None:
        diagonal = H.diagonal()
        self.scale = np.zeros(len(H))
        np.divide(1.0, np.sqrt(diagonal), out=self.scale, where=diagonal > 0)
        A = H * self.scale * self.scale[:, None]
        A.flat[:: len(A) + 1] = 1.0 + digits
        # LAPACK without its wrappers, which take longer than a factor of few numbers.
        self._factor, failed = sl.lapack.dpotrf(A.T, lower=1, overwrite_a=1)
        least = float(self._factor.diagonal().min())
        self.singular = bool(failed) or not least**2 > len(A) * digits  # or not a number
        self._digits = digits
        self._scaled = H * self.scale * self.scale[:, None] if self.singular else H[:0]

    @cached_property
    def _directions(self) -> tuple[Floats, Floats]:
        """Those that H bends along, each divided by the root of how much, and those left out."""
        if not np.isfinite(self._scaled).all():  # so that steps say that sums overflow
            return np.full((len(self.scale), 1), np.nan), np.zeros((len(self.scale), 0))
        values, vectors = np.linalg.eigh(self._scaled)
        keep = values > 4 * len(values) * self._digits * max(1.0, float(values[-1]))
        scale = self.scale[:, None]
        return vectors[:, keep] / np.sqrt(values[keep]) * scale, vectors[:, ~keep] * scale

    def solve(self, g: Floats) -> Floats:
        """H⁻¹g"""
        if self.singular:
            root = self._directions[0]
            return np.asarray(root @ (root.T @ g))
        y: Any = sl.lapack.dpotrs(self._factor, self.scale * g, lower=1)[0]
        return self.scale * y

    def overlooks(self, g: Floats) -> bool:
        """Whether g falls along a direction that was left out by more than its last digits.

        Then nothing that H says bounds how far F can still fall.
        """
        if not self.singular:
            return False
        left_out = g @ self._directions[1]
        return float(np.linalg.norm(left_out)) > 64 * float(np.finfo(np.float64).eps)

    def whiten(self) -> Floats:
        """Q with QQᵀ = H⁻¹, so that ‖Qᵀx‖ is the length of x measured by H⁻¹."""
        if self.singular:
            return self._directions[0]
        inverse: Any = sl.solve_triangular(
            self._factor, np.diag(self.scale), lower=True, check_finite=False
        )
        return np.asarray(inverse.T)


def asked_for(tol: float, C: float) -> float:
    """The relative gap to ask for, given `tol` and the weight of the losses.

    Without a penalty a small gap says little about the weights, and Newton's last steps are the
    quickest: the run ends on the decrement, ‖step‖² by the Hessian, at eight digits or more.

    >>> asked_for(1e-4, 1.0), asked_for(1e-4, math.inf)
    (0.0001, 1e-10)
    """
    return min(tol, 1e-10) if math.isinf(C) else tol


def decrease_left(decrement2: float, radius2: float) -> float:
    """A bound on F − min F from Newton's decrement, for losses whose third derivative along a line
    is at most r times the second (logistic, multinomial).

    Along any unit direction (measured by the Hessian H) F″ falls no faster than e^{−rt}, with r the
    largest change of a score. Integrating from slope −δ, δ² = gᵀH⁻¹g, gives for rδ < 1

        F − min F ≤ (rδ + (1 − rδ) log(1 − rδ)) / r²  →  ½δ²  as rδ → 0,

    and no statement otherwise (Bach, *Self-concordant analysis for logistic regression*, 2010).

    >>> decrease_left(1e-8, 1.0) < 0.51e-8, decrease_left(4.0, 1.0)
    (True, inf)
    """
    x = math.sqrt(max(0.0, decrement2 * radius2))
    if not x < 1:
        return math.inf
    if x < 1e-4:
        return 0.5 * decrement2 * (1 + x)
    return decrement2 * (x + (1 - x) * math.log1p(-x)) / (x * x)


def at_rounding(decrement2: float, before: float, value: float, fell: float) -> bool:
    """Whether rounding holds up Newton's method: at its floor, or steps no longer keep their word.

    A step promises a fall of half the squared decrement `before` it; `fell` is what came of it.
    """
    floor = decrement2 > before / 4 and decrement2 < 1e-16 * value
    return floor or (fell < 0.1 * before and decrement2 < 1e-9 * value)
