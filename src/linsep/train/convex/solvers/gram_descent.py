"""Support vector machines in a kernel's feature space, by descent on the dual.

    max  Σ αᵢ − ½ Σᵢⱼ βᵢβⱼ κ(xᵢ, xⱼ),   βᵢ = yᵢαᵢ,   0 ≤ αᵢ ≤ Cᵢ,   and Σ βᵢ = 0 with an intercept

The rows that violate the optimality conditions most make up a working set; within it multipliers
move two at a time (one at a time without an intercept), each step chosen by what it gains to second
order (Fan, Chen and Lin, 2005); then the scores f = Kβ of all rows follow at once (Joachims, 1998).
Only the rows of the Gram matrix that a working set has asked for are ever computed, and they are
kept while they fit. The scores give primal and dual value: each evaluation certifies the gap.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.kernels import gram as kernels
from linsep.rows.kernels import Each, Kernel, Matrix

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WORKING = 256  # rows in a working set
STEPS = 40  # moves inside a working set, for each of its rows
INNER = 0.1  # the part of its violation that a working set is left with


class GramCache:
    """Rows of the Gram matrix of X that have been asked for, the latest of them.

    Parameters
    ----------
    kernel : κ
    X : checked rows
    cache : bytes that rows kept in memory may take
    each : how to go through pieces of X
    """

    def __init__(self, kernel: Kernel, X: Matrix, cache: float, each: Each = map) -> None:
        self.kernel, self.X, self.each = kernel, X, each
        n = X.shape[0]
        room = min(n, max(2 * WORKING, int(cache // (8 * n))))
        self.kept = np.empty((room, n))  # memory is taken as rows are written
        self.place = np.full(n, -1)
        self._owner = np.full(room, -1)
        self._used = np.full(room, -1)
        self._clock = 0

    def hold(self, rows: Array) -> Array:
        """Where in `kept` these rows lie; those that are missing are computed."""
        self._clock += 1
        known = rows[self.place[rows] >= 0]
        self._used[self.place[known]] = self._clock
        missing = rows[self.place[rows] < 0]
        if len(missing):
            free = np.argsort(self._used, kind="stable")[: len(missing)]  # the longest unused
            gone = self._owner[free]
            self.place[gone[gone >= 0]] = -1
            everyone = range(self.X.shape[0])
            self.kept[free] = self.kernel(
                self.X[missing], self.X, missing, everyone, each=self.each
            )
            self.place[missing], self._owner[free] = free, missing
            self._used[free] = self._clock
        return self.place[rows]


class Evaluation(NamedTuple):
    """Both values at the multipliers, and the intercept of the primal one."""

    primal: float
    dual: float
    bias: float

    @property
    def gap(self) -> float:
        """How far above the optimum the primal value can be at most."""
        return max(0.0, self.primal - self.dual)


def evaluate(
    alpha: Floats, f: Floats, y: Floats, caps: Floats, free: bool, error: Floats | float = 0.0
) -> Evaluation:
    """Primal and dual value, given the scores f = Kβ without intercept.

    Where rounding has left Σβ ≠ 0, the dual value is charged for it; so it is for what the scores
    may be off, by `error`: the losses of rows within reach of their margin, and ‖w‖².
    """
    square = float((y * alpha) @ f)
    b = best_bias(f, y, caps) if free else 0.0
    primal = 0.5 * square + float(caps @ np.maximum(0.0, 1.0 - y * (f + b)))
    off = abs(float(y @ alpha) * b) if free else 0.0
    reach = 1.0 - y * (f + b) + error > 0.0
    off += float((alpha + caps * reach) @ np.broadcast_to(error, alpha.shape))
    return Evaluation(primal, float(alpha.sum()) - 0.5 * square - off, b)


def best_bias(f: Floats, y: Floats, caps: Floats) -> float:
    """The b that minimises Σ Cᵢ max(0, 1 − yᵢ(fᵢ + b)), exactly: where its slope changes sign."""
    at = y - f  # where row i reaches its margin
    order = np.argsort(at, kind="stable")
    slopes = np.cumsum(caps[order]) - caps[y > 0].sum()  # to the right of each
    k = int(np.argmax(slopes >= -1e-12 * caps.sum()))
    here = at[order]
    flat = abs(slopes[k]) <= 1e-12 * caps.sum() and k + 1 < len(here)
    return float(0.5 * (here[k] + here[k + 1]) if flat else here[k])


class GramDescent:
    """The machine of one class against others, under way.

    Parameters
    ----------
    cache : rows of the Gram matrix, shared by the machines of all classes
    y : +1 and −1
    caps : C times the weight of each row
    free : whether there is an intercept
    """

    def __init__(self, cache: GramCache, y: Floats, caps: Floats, free: bool) -> None:
        self.cache, self.y, self.caps, self.free = cache, y, caps, free
        self.alpha, self.f = np.zeros(len(y)), np.zeros(len(y))
        self._last = np.zeros(0, np.int64)
        self.stuck = False

    def step(self) -> int:
        """Work on the rows that violate most; returns the number of moves."""
        rows, violation = self._worst()
        if not len(rows) or violation <= 0.0:
            self.stuck = True
            return 0
        places = self.cache.hold(rows)
        q = len(rows)
        moves = kernels.work(
            self.cache.kept, places, rows, self.y, self.caps, self.free, INNER * violation,
            STEPS * q, self.alpha, self.f, np.empty((q + 2, q)),
        )  # fmt: skip
        self._last = rows
        self.stuck = moves == 0
        return int(moves)

    def evaluate(self) -> Evaluation:
        """Both values where it stands."""
        return evaluate(self.alpha, self.f, self.y, self.caps, self.free)

    def _worst(self) -> tuple[Array, float]:
        """The working set, half of it new, and by how much it violates optimality."""
        v, y = self.y - self.f, self.y
        below, above = self.alpha < self.caps, self.alpha > 0.0
        if not self.free:
            lack = y * v
            charge = np.where((lack > 0) & below, lack, np.where((lack < 0) & above, -lack, 0.0))
            return self._set([-charge], [charge > 0]), float(charge.max(initial=0.0))
        rises, falls = np.where(y > 0, below, above), np.where(y > 0, above, below)
        if not rises.any() or not falls.any():
            return np.zeros(0, np.int64), 0.0
        top, low = float(v[rises].max()), float(v[falls].min())
        return self._set([-v, v], [rises & (v > low), falls & (v < top)]), top - low

    def _set(self, keys: list[Floats], allowed: list[Array]) -> Array:
        """The first of each key among the allowed, and of the set before what is left of room."""
        share = WORKING // (2 * len(keys))
        chosen: list[Array] = []
        for key, which in zip(keys, allowed, strict=True):
            places = np.flatnonzero(which)
            if len(places) > share:
                places = places[np.argpartition(key[places], share)[:share]]
            chosen.append(places)
        rows = np.unique(np.concatenate(chosen))
        moving = (self.alpha[self._last] > 0) & (self.alpha[self._last] < self.caps[self._last])
        old = np.concatenate([self._last[moving], self._last[~moving]])
        old = old[~np.isin(old, rows)][: WORKING - len(rows)]
        return np.sort(np.concatenate([rows, old]))
