"""Steps of all multipliers that are at no bound, where one row at a time is too slow.

As long as no multiplier meets a bound, D is quadratic in those of the rows on the margin (a face of
the box), and the best change δ of these alone solves linear equations with their Gram matrix:

    maximise   ⟨r, δ⟩ − ½ δᵀQδ   with   Σ yᵢδᵢ = 0   if b is free,
    Qᵢⱼ = yᵢyⱼ⟨xᵢ − μ, xⱼ − μ⟩ + [i = j] hᵢ,     rᵢ = 1 − yᵢ(⟨w, xᵢ − μ⟩ + b) − hᵢαᵢ

(h is 0 for the hinge, 1/(2U) for its square). They are solved by conjugate gradients, with the
diagonal of Q as preconditioner and the constraint kept by projection (Gould, Hribar and Nocedal,
2001); a product with Q costs what a pass over these rows costs. The step is projected onto the
bounds, and halved while that lets D rise more: where it met one, the equations are solved again on
the face that is left. Moré and Toraldo (1991) find the next face by projected gradients; here it is
descent that goes on from there.
"""

from threading import Event
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.dual import kernels as compiled
from linsep.train.convex.dual.design import SMALL, Design

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

BEYOND = 0.1  # part of the rows that may be led beyond their bounds before products end
FLAT = 1e-9  # curvature of a direction, of what the diagonal alone gives, that counts as none
LEAST = 1e-12  # part of the largest diagonal entry that the others count for at least
HALVINGS = 30  # of a step, at most


class FaceStep(NamedTuple):
    """A change of the multipliers on a face.

    Attributes
    ----------
    alpha : the multipliers after it
    moved : what the weights change by
    gain : what D rises by; zero where no step was made
    met : whether a bound was met
    products : how often the rows were gone through
    """

    alpha: Floats
    moved: Floats
    gain: float
    met: bool
    products: int


class Face:
    """The rows on the margin, and the quadratic that D is of their multipliers.

    Parameters
    ----------
    design : all rows
    rows : numbers of those on the margin
    y, alpha, caps : signs, multipliers and upper bounds of these
    h : what the loss adds to the diagonal of Q, for each of them
    free : whether b is free
    pool : threads
    """

    def __init__(
        self,
        design: Design,
        rows: Array,
        y: Floats,
        alpha: Floats,
        caps: Floats,
        h: Floats,
        free: bool,
        pool: Pool,
    ) -> None:
        self.design, self.rows, self.pool, self.free = design, rows, pool, free
        self.y, self.alpha, self.caps, self.h = y, alpha, caps, h
        diagonal = design.lengths[rows, 0] + h
        self._diagonal = np.maximum(diagonal, LEAST * diagonal.max())
        self._whole = float((1.0 / self._diagonal).sum())
        n, entries = len(rows), design.entries * len(rows) // max(1, design.shape[0])
        self._spans = [(0, n // 2), (n // 2, n)] if entries >= SMALL else [(0, n)]

    def direction(
        self,
        w: Floats,
        b: float,
        goal: float,
        progress: float,
        most: int,
        halt: Event | None = None,
    ) -> tuple[Floats, float, int]:
        """δ, the change of b that belongs to it, and the products made.

        They end where these rows add no more than `goal` to the duality gap, or a product gains
        less than a part `progress` of the most that one before it has gained (Moré and Toraldo),
        or many rows are led beyond their bounds: then what is left is better sought on another
        face.
        """
        delta = np.zeros(len(self.y))
        r = 1.0 - self.y * (self._scores(w) + b) - self.h * self.alpha
        shift = self._take_off(r)
        z = r / self._diagonal
        q, rho = z, float(r @ z)
        largest, products = 0.0, 1
        while self._slack(r) > goal and products < most and not (halt and halt.is_set()):
            Qq = self._product(q)
            products += 1
            curved = float(q @ Qq)
            if curved <= FLAT * float(q @ (self._diagonal * q)):
                break
            t = rho / curved
            gain = 0.5 * t * rho
            largest = max(largest, gain)
            delta += t * q
            r -= t * Qq
            shift += self._take_off(r)
            z = r / self._diagonal
            rho, before = float(r @ z), rho
            if gain <= progress * largest or self._beyond(delta) > BEYOND:
                break
            q = z + rho / before * q
        return delta, shift, products

    def search(self, w: Floats, delta: Floats) -> FaceStep:
        """The longest halving of δ, projected onto the bounds, that gains more than its half."""
        best = FaceStep(self.alpha, np.zeros(len(w)), 0.0, True, 0)
        for k in range(HALVINGS):
            alpha = self.alpha + 0.5**k * delta
            met = bool(((alpha < 0.0) | (alpha > self.caps)).any())
            alpha = self._projected(alpha) if met else alpha
            change = alpha - self.alpha
            moved = self._weights(change)
            gain = float(change @ (1.0 - self.h * (self.alpha + 0.5 * change)))
            gain -= compiled.inner(w, moved) + 0.5 * compiled.inner(moved, moved)
            if gain > best.gain:
                best = FaceStep(alpha, moved, gain, met, 0)
            elif best.gain > 0.0:
                break
            if not met:
                break
        return best._replace(products=k + 1)

    def _projected(self, alpha: Floats) -> Floats:
        """The nearest multipliers within the bounds that keep Σ αy, by the norm of the diagonal."""
        if not self.free:
            return np.clip(alpha, 0.0, self.caps)
        towards, aim = self.y / self._diagonal, float(self.y @ self.alpha)

        def at(shift: float) -> Floats:
            return np.clip(alpha - shift * towards, 0.0, self.caps)

        def over(shift: float) -> bool:  # Σ αy falls as the shift grows
            return float(self.y @ at(shift)) > aim

        far = float((np.abs(alpha) * self._diagonal).max())
        low, high = -far, far
        while not over(low) and low > -1e300:
            low *= 4.0
        while over(high) and high < 1e300:
            high *= 4.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (middle, high) if over(middle) else (low, middle)
        return at(0.5 * (low + high))

    def _beyond(self, delta: Floats) -> float:
        """The part of the multipliers that δ would bring beyond a bound."""
        alpha = self.alpha + delta
        return float(((alpha < 0.0) | (alpha > self.caps)).mean())

    def _slack(self, r: Floats) -> float:
        """The part of the duality gap that rows with this residual have, at most."""
        squared = self.h[0] > 0.0
        return float((r * r / (2.0 * self.h)).sum() if squared else self.caps @ np.abs(r))

    def _take_off(self, r: Floats) -> float:
        """Take off r what of it is along y, as a free b would: so Σ y·r/diagonal is zero.

        Off r itself, or rounding would bring it back (Gould, Hribar and Nocedal, 2001).
        """
        if not self.free:
            return 0.0
        shift = float(self.y @ (r / self._diagonal)) / self._whole
        r -= shift * self.y
        return shift

    def _product(self, delta: Floats) -> Floats:
        """Qδ"""
        return self.y * self._scores(self._weights(delta)) + self.h * delta

    def _weights(self, delta: Floats) -> Floats:
        """Σ yδ(x − μ)"""
        signed = self.y * delta
        V = np.zeros((len(self._spans), self.design.shape[1]))
        calls = [
            (self.design.rows, self.rows[start:stop], signed[start:stop], v)
            for (start, stop), v in zip(self._spans, V, strict=True)
        ]
        self.pool.run(compiled.add_rows, calls)
        v: Floats = V[0] if len(V) == 1 else V[0] + V[1]
        if len(self.design.centre):
            v -= float(signed.sum()) * self.design.centre
        return v

    def _scores(self, v: Floats) -> Floats:
        """⟨v, x − μ⟩"""
        out = np.empty(len(self.rows))
        level = compiled.inner(self.design.centre, v) if len(self.design.centre) else 0.0
        known = (self.design.rows, self.rows, v, level, out)
        self.pool.run(compiled.score_chosen, [(*known, *span) for span in self._spans])
        return out
