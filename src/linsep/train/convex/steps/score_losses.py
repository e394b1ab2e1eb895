"""Losses of whole score vectors: one plane for each class, or all classes at once.

`steps` goes through rows one after the other by what each asks for, −∂ℓ/∂s: for the logistic
losses the lecture's t − σ. The other methods see all rows at once: S is the (n, K) array of scores
and R = ∂ℓ/∂S.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from linsep.kernels import steps as kernels
from linsep.train.convex.intercept import best_class_intercepts, best_corner, best_smooth_intercept
from linsep.train.convex.losses import Loss
from linsep.train.run.loop import UNCOUNTED

Array = npt.NDArray[Any]


class Planes(NamedTuple):
    """Σₖ ℓ(yₖsₖ): one plane for two classes, or one for each class against the rest."""

    loss: Loss

    def steps(self, rows: Any, *rest: Any) -> None:
        """Steps by single rows or folds (kernels/convex/steps.cpp)."""
        kernels.planes(rows, self.loss, *rest)

    @property
    def bend(self) -> float:
        """The largest second derivative."""
        return self.loss.steepest

    @property
    def corner(self) -> bool:
        """Whether the loss has a corner, so that its slope says little about the optimum."""
        return self.loss.kinked

    def signs(self, codes: Array, planes: int) -> Array:
        """The side of each plane that rows are to be on, which is what `steps` wants to know."""
        own = np.arange(planes) if planes > 1 else np.ones(1, int)
        return np.where(codes[:, None] == own, 1.0, -1.0)

    def losses(self, S: Array, codes: Array) -> Array:
        """The loss of each row."""
        return self.parts(S, codes).sum(axis=1)

    def parts(self, S: Array, codes: Array) -> Array:
        """What it adds up from, a column for each score or one for all."""
        return np.asarray(self.loss.value(self.signs(codes, S.shape[1]) * S))

    def residual(self, S: Array, codes: Array) -> Array:
        """∂ℓ/∂S"""
        y = self.signs(codes, S.shape[1])
        return np.asarray(y * self.loss.slope(y * S))

    def dual(self, R: Array, codes: Array, s: float) -> Array:
        """−ℓ*(−s|R|) of each row."""
        return np.asarray(self.loss.dual(s * np.abs(R)).sum(axis=1))

    def mistakes(self, S: Array, codes: Array) -> int:
        """Rows that some plane has on the wrong side, or on itself."""
        return int(((self.signs(codes, S.shape[1]) * S) <= 0).any(axis=1).sum())

    def best_bias(self, S: Array, codes: Array, c: Array, b: Array) -> Array:
        """The intercepts that make Σ c ℓ smallest for scores S without them."""
        y = self.signs(codes, S.shape[1])
        return np.array([self._best(S[:, k], y[:, k], c, b[k]) for k in range(S.shape[1])])

    def _best(self, s: Array, y: Array, c: Array, b: float) -> float:
        if self.corner:
            return best_corner(y - s, c, float(c @ (y > 0)), b)

        def slopes(t: float) -> tuple[float, float]:
            z = y * (s + t)
            return float((c * y) @ self.loss.slope(z)), float(c @ self.loss.curvature(z))

        return best_smooth_intercept(slopes, b)

    def balanced(self, R: Array, c: Array) -> Array:
        """R with the heavier side of each plane made lighter, so that Σ cR = 0."""
        plus, minus = c @ np.maximum(R, 0.0), c @ np.maximum(-R, 0.0)
        least = np.minimum(plus, minus)
        up = np.divide(least, plus, out=np.zeros_like(least), where=plus > 0)
        down = np.divide(least, minus, out=np.zeros_like(least), where=minus > 0)
        return np.where(R > 0, R * up, R * down)


class Softmax(NamedTuple):
    """−log softmax of the own class."""

    classes: int

    def steps(self, *given: Any) -> None:
        """Steps by single rows or folds (kernels/convex/steps.cpp)."""
        kernels.softmax(*given)

    def signs(self, codes: Array, planes: int) -> Array:
        """One for the own class, else zero."""
        return np.equal.outer(codes, np.arange(planes)).astype(np.float64)

    @property
    def bend(self) -> float:
        return 0.5

    @property
    def corner(self) -> bool:
        return False

    def losses(self, S: Array, codes: Array) -> Array:
        return -special.log_softmax(S, axis=1)[np.arange(len(codes)), codes]

    def parts(self, S: Array, codes: Array) -> Array:
        return self.losses(S, codes)[:, None]

    def residual(self, S: Array, codes: Array) -> Array:
        R = special.softmax(S, axis=1)
        R[np.arange(len(codes)), codes] -= 1.0
        return R

    def dual(self, R: Array, codes: Array, s: float) -> Array:
        """The entropy of probabilities of which s of what had left the own class has left."""
        own = np.arange(len(codes)), codes
        p = s * R
        p[own] = 1.0 + p[own]
        p = np.clip(p, 0.0, 1.0)
        return -special.xlogy(p, p).sum(axis=1)

    def mistakes(self, S: Array, codes: Array) -> int:
        own = np.arange(len(codes)), codes
        rival = S.copy()
        rival[own] = -np.inf
        return int((S[own] <= rival.max(axis=1)).sum())

    def best_bias(self, S: Array, codes: Array, c: Array, b: Array) -> Array:
        return best_class_intercepts(np.ascontiguousarray(S.T), codes, c, b, 1e-14)[2]

    def balanced(self, R: Array, c: Array) -> Array:
        return R


class SquaredError:
    """½(s − t)² of each target t of a row."""

    bend, corner = 1.0, False

    def steps(self, *given: Any) -> None:
        """Steps by single rows or folds (kernels/convex/steps.cpp)."""
        kernels.squares(*given)

    def signs(self, T: Array, planes: int) -> Array:
        """The targets, which are what `steps` wants to know."""
        return T

    def losses(self, S: Array, T: Array) -> Array:
        return self.parts(S, T).sum(axis=1)

    def parts(self, S: Array, T: Array) -> Array:
        return np.asarray(0.5 * np.square(S - T))

    def residual(self, S: Array, T: Array) -> Array:
        return S - T

    def dual(self, R: Array, T: Array, s: float) -> Array:
        return np.asarray((-(0.5 * s * R + T) * s * R).sum(axis=1))

    def mistakes(self, S: Array, T: Array) -> int:
        return UNCOUNTED

    def best_bias(self, S: Array, T: Array, c: Array, b: Array) -> Array:
        return np.asarray(c @ (T - S))

    def balanced(self, R: Array, c: Array) -> Array:
        return np.asarray(R - c @ R)


ScoreLoss = Planes | Softmax | SquaredError
