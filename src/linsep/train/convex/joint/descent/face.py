"""Steps of all multipliers at no bound, where one row of Crammer and Singer's machine at a time
is too slow.

With a = U e_y − A, the multipliers of the bounds of a row are not negative and add up to U. As long
as none of those above zero meets it (a face), D is quadratic in them. Their best change δ adds up
to zero in every row and solves linear equations:

    maximise   ⟨s, δ⟩ − ½‖Σᵢ δᵢ x̃ᵢᵀ‖²,   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ + [k ≠ yᵢ],   x̃ = (x, √ρ)

They are solved by conjugate gradients, with ‖x̃ᵢ‖² as preconditioner, which is the same for all
multipliers of a row. The step is projected onto the bounds, and halved while that lets D rise more,
as in `linsep.train.convex.dual.face`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.rows.rows import CSR
from linsep.train.convex.dual.design import SMALL
from linsep.train.convex.joint.descent.sweep import combine, score_chosen

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

BEYOND = 0.1  # part of the multipliers that may be led beyond their bounds before products end
PROGRESS = 0.1  # part of what the best product gained below which others wait for another face
FLAT = 1e-9  # curvature of a direction, of what the lengths alone give, that counts as none
HALVINGS = 12  # of a step, at most


class Products:
    """Products with some of the rows, by threads that change no byte.

    Parameters
    ----------
    rows : all rows
    chosen : numbers of some
    W : weights, of which the layout is taken
    pool : threads
    Z : these rows as an array in their own precision, where they may be written out
    """

    def __init__(
        self, rows: Any, chosen: Array, W: Floats, pool: Pool, Z: Array | None = None
    ) -> None:
        self._rows, self._chosen, self._shape, self._pool = rows, chosen, W.shape, pool
        self._wide = W.shape[1] if isinstance(rows, CSR) else W.shape[0]
        self._Z, n = Z, len(chosen)
        halves = n * W.size >= SMALL
        self._spans = [(0, n // 2), (n // 2, n)] if halves else [(0, n)]

    def weights(self, delta: Floats) -> Floats:
        """Σ δᵢxᵢᵀ"""
        V = np.zeros((len(self._spans), *self._shape))
        calls = [
            (self._rows, self._chosen[first:last], delta[first:last], v)
            for (first, last), v in zip(self._spans, V, strict=True)
        ]
        self._pool.run(combine, calls)
        return V[0] if len(V) == 1 else V[0] + V[1]

    def scores(self, V: Floats) -> Floats:
        """⟨vₖ, xᵢ⟩, a row for each of the rows"""
        S = np.empty((len(self._chosen), self._wide))
        calls = [
            (self._rows, self._chosen[first:last], V, S[first:last]) for first, last in self._spans
        ]
        self._pool.run(score_chosen, calls)
        return S

    def gram(self, delta: Floats) -> Floats:
        """Σⱼ ⟨xᵢ, xⱼ⟩ δⱼ, to the digits that a direction needs"""
        if self._Z is None:
            return self.scores(self.weights(delta))
        V = self._Z.T @ delta.astype(self._Z.dtype, copy=False)
        return np.asarray(self._Z @ V, np.float64)


class FaceStep(NamedTuple):
    """A change of the multipliers on a face.

    Attributes
    ----------
    a : the multipliers after it
    moved : what the weights of −A change by
    gain : what D rises by; zero where no step was made
    met : whether a bound was met
    products : how often the rows were gone through
    """

    a: Floats
    moved: Floats
    gain: float
    met: bool
    products: int


class JointFace:
    """Rows with several multipliers above zero, and the quadratic that D is of these.

    Parameters
    ----------
    products : with these rows
    a, s : multipliers and what D gains by each of them, at first
    caps, lengths : Uᵢ and ‖x̃ᵢ‖²
    rho : how much a change pulls at the intercepts
    """

    def __init__(
        self, products: Products, a: Floats, s: Floats, caps: Floats, lengths: Floats, rho: float
    ) -> None:
        self._rows, self._a, self._s, self._caps, self._rho = products, a, s, caps, rho
        self._free = a > 0.0
        self._count = self._free.sum(axis=1)[:, None]
        self._lengths = lengths[:, None]

    def step(self, goal: float, most: int) -> FaceStep:
        """The best change, as far as `most` products tell; these rows may go on to lack `goal`."""
        delta, products = self._direction(goal, most)
        step = self._search(delta)
        return step._replace(products=step.products + products)

    def _within(self, r: Floats) -> Floats:
        """The part of r that adds up to zero in every row, and is zero at bounds."""
        r = r * self._free
        r -= r.sum(axis=1)[:, None] / self._count
        r *= self._free
        return r

    def _direction(self, goal: float, most: int) -> tuple[Floats, int]:
        """δ and the products made.

        They end where these rows lack no more than `goal`, or a product gains little beside the
        best one before it (Moré and Toraldo), or many multipliers are led beyond their bounds.
        """
        delta, r = np.zeros_like(self._a), self._within(self._s)
        q = r / self._lengths
        rho = float(np.vdot(r, q))
        largest, products, many = 0.0, 0, BEYOND * float(self._count.sum())
        while products < most and float(self._caps @ np.abs(r).max(axis=1)) > goal:
            Qq = self._within(self._rows.gram(q) + self._rho * q.sum(axis=0))
            products += 1
            curved = float(np.vdot(q, Qq))
            if curved <= FLAT * float(np.vdot(q, self._lengths * q)):
                break
            t = rho / curved
            gain = 0.5 * t * rho
            largest = max(largest, gain)
            delta += t * q
            r -= t * Qq
            if gain <= PROGRESS * largest or np.count_nonzero(self._a + delta < 0.0) > many:
                break
            z = r / self._lengths
            rho, before = float(np.vdot(r, z)), rho
            q = z + rho / before * q
        return delta, products

    def _search(self, delta: Floats) -> FaceStep:
        """The longest halving of δ, projected onto the bounds, that gains more than its half."""
        best = FaceStep(self._a, np.zeros(0), 0.0, True, 0)
        for k in range(HALVINGS):
            a = self._a + 0.5**k * delta
            met = bool((a < 0.0).any())
            a = projected(a, self._free, self._caps) if met else a
            change = a - self._a
            V, pulled = self._rows.weights(change), change.sum(axis=0)
            curved = float(np.vdot(V, V)) + self._rho * float(pulled @ pulled)
            gain = float(np.vdot(self._s, change)) - 0.5 * curved
            if gain > best.gain:
                best = FaceStep(a, V, gain, met, 0)
            elif best.gain > 0.0:
                break
            if not met:
                break
        return best._replace(products=k + 1)


def projected(a: Floats, free: Array, caps: Floats) -> Floats:
    """The nearest multipliers that are not negative and add up to the caps, zero where not free.

    >>> one = np.array([[0.9, -0.2, 0.3, 7.0]])
    >>> projected(one, np.array([[True, True, True, False]]), np.ones(1)).round(12)
    array([[0.8, 0. , 0.2, 0. ]])
    """
    down = -np.sort(np.where(free, -a, np.inf), axis=1)
    over = np.cumsum(np.where(np.isfinite(down), down, 0.0), axis=1) - caps[:, None]
    over /= np.arange(1, a.shape[1] + 1)
    last = np.count_nonzero(down > over, axis=1) - 1
    return np.where(free, np.maximum(a - over[np.arange(len(a)), last][:, None], 0.0), 0.0)
