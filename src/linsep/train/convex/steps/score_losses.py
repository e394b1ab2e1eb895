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
from linsep.train.convex.losses import Loss

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
        return np.asarray(self.loss.value(self.signs(codes, S.shape[1]) * S).sum(axis=1))

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
        find = _weighted_corner if self.corner else _balance
        return np.array([find(self.loss, S[:, k], y[:, k], c, b[k]) for k in range(S.shape[1])])

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
        """By Newton's method, with steps halved until the loss falls."""
        share = np.bincount(codes, c, minlength=S.shape[1])

        def value(t: Array) -> float:
            return float(c @ self.losses(S + t, codes))

        b, now = b - b.mean(), value(b - b.mean())
        for _ in range(50):
            p = special.softmax(S + b, axis=1)
            g = c @ p - share
            if np.abs(g).max() <= 1e-14 * share.sum():
                break
            H = np.diag(c @ p) - (p * c[:, None]).T @ p
            if not np.isfinite(H).all():  # scores have left the range of floats
                break
            step = np.linalg.lstsq(H, g, rcond=1e-13)[0]
            size = 1.0
            while size > 1e-4 and not value(b - size * step) <= now:
                size /= 2
            if size <= 1e-4:
                break
            b, before = b - size * step, now
            now = value(b)
            if before - now <= 1e-16 * now and np.abs(g).max() <= 1e-12 * share.sum():
                break  # rounding is all that is left
        return b

    def balanced(self, R: Array, c: Array) -> Array:
        return R


ScoreLoss = Planes | Softmax


def _balance(loss: Loss, s: Array, y: Array, c: Array, b: float) -> float:
    """Where Σ c y (−ℓ′) = 0, by Newton's method between brackets that shrink."""
    low, high, reach = -np.inf, np.inf, 1.0
    far = 1e6 * (1.0 + float(np.abs(s).max()))
    signed, previous = c * y, np.inf
    for _ in range(200):
        z = y * (s + b)
        now = float(signed @ loss.slope(z))
        if now == 0.0 or previous <= 1e-16 * abs(b):
            break
        low, high = (low, b) if now > 0 else (b, high)
        bend = float(c @ loss.curvature(z))
        trial = b - now / bend if bend > 0 else np.nan
        if not low < trial < high:
            wide = np.isfinite(low) and np.isfinite(high)
            trial = 0.5 * (low + high) if wide else b - np.copysign(reach, now)
            reach *= 2
        if trial in (low, high) or abs(trial) > far:
            break  # one side only, or no digit left
        previous, b = abs(trial - b), trial
    return b


def _weighted_corner(loss: Loss, s: Array, y: Array, c: Array, b: float) -> float:
    """For the hinge: the corner b = yᵢ − sᵢ at which the slope of Σ c ℓ changes sign."""
    ends = y - s
    order = np.argsort(ends, kind="stable")
    # left of all corners every row with y = +1 is charged: slope −Σ c⁺; each corner adds its c
    slopes = np.cumsum(c[order]) - float(c[y > 0].sum())
    k = int(np.searchsorted(slopes, 0.0))
    return float(ends[order[min(k, len(order) - 1)]])
