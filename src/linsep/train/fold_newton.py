"""Two-class logistic regression for all folds and all C at once, on dense rows.

    P(w, b) = ½‖w‖² + C Σ log(1 + e^{−zᵢ})  over the rows that fold f keeps,   F = P / (C n_f)

Folds differ little, and so do neighbouring C. One pass sums the Hessians of the rows of each home,

    G_h = Σ_{i at home in h} σ(zᵢ)σ(−zᵢ) x̃ᵢx̃ᵢᵀ     at the mean of the folds' weights,

and every fold and C has its own from them, H = Σ_{h ≠ f} G_h / n_f + 1/(C n_f): a pass with
Hessians serves all folds, and as long as the weights do not move far, all C. The first step for a
new C needs no pass at all, for the gradient of the losses is known from the C before. Each fit
ends on its own certified gap.
"""

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.data.chunks import BLOCK
from linsep.errors import OverflowedError
from linsep.train.blocks import Blocks, Columns, Crew, add_up, prepare, spread
from linsep.train.curvature import Curvature
from linsep.train.folds import Folded
from linsep.train.logistic_problem import duality_gap
from linsep.train.logistic_sums import CHUNK, LogisticSums, Sums, add_chunk, gathered
from linsep.train.quasi_newton import Memory

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

WIDEST = 256  # features up to which Hessians are cheap beside the passes they save
FAR = 10  # times the gap asked for, from where on new Hessians are worth their pass
PAIRS = 8  # past steps that correct a fold's Hessian where it has gone its own way
TOGETHER = 3  # blocks that a thread takes at a time
LOOKS = 40  # at most, for one C
SLOW = 2.0  # a step that makes the gap this much wider was made with the wrong Hessian


def suits(X: Array, fit_intercept: bool) -> bool:
    """Whether sums over these rows need no care, and Hessians of their features are small."""
    n, d = X.shape
    if d > WIDEST or n < 4 * d:
        return False
    with np.errstate(all="ignore"):
        about = spread(X)
        return not prepare(X, about, fit_intercept, 1.0).scale.size


def fit_folds(
    X: Array,
    signs: Array,
    home: Array,
    Cs: Floats,
    *,
    fit_intercept: bool,
    tol: float,
    n_jobs: int | None = None,
) -> Folded | None:
    """Fit every fold at every C, from the smallest to the largest.

    Parameters
    ----------
    X : checked C-contiguous array that `suits`
    signs : array of −1 and +1, both met in every fold's rows
    home : number of the fold that leaves each row out
    Cs : ascending and finite
    tol : the relative gap asked for

    Returns
    -------
    Folded, or None where the steps do not get there; then fold by fold is the way.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> signs = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    >>> found = fit_folds(X, signs, np.arange(60) % 3, np.array([0.1, 1.0]),
    ...     fit_intercept=True, tol=1e-8)
    >>> found.W.shape, bool((found.gap <= 1e-8).all())
    ((3, 2, 2), True)
    """
    with Crew(n_jobs) as crew, np.errstate(all="ignore"):
        run = _Run(X, signs, home, fit_intercept, crew)
        F, m = run.count, len(Cs)
        found = Folded(
            np.empty((F, m, X.shape[1])), np.empty((F, m)), np.empty((F, m)), np.empty((len(X), m)),
            np.empty((0, m)),
        )  # fmt: skip
        try:
            for c, C in enumerate(Cs):
                gap = run.settle(float(C), tol)
                if gap is None:
                    return None
                found.W[:, c], found.b[:, c], found.gap[:, c] = run.U[:, :-1], run.U[:, -1], gap
        except OverflowedError:
            return None
        crew.map(lambda k: _held(X, home, found.W, found.b, found.scores, *k), run.spans)
    return found


class _Run:
    """Where the folds are, what the last pass showed there, and the Hessians they share."""

    def __init__(self, X: Array, signs: Array, home: Array, fit_intercept: bool, crew: Crew):
        self.X, self.home, self.fit_intercept, self.crew = X, home, fit_intercept, crew
        self.count = int(home.max()) + 1
        self.signs = signs.astype(np.int8)
        n, d = X.shape
        self.sizes = n - np.bincount(home, minlength=self.count)
        nothing = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
        self.blocks = Blocks(X, nothing)
        self.spans = [self.blocks.span(k) for k in range(len(self.blocks))]
        kept = [np.where(home == f, 0.0, 1.0 / self.sizes[f]) for f in range(self.count)]
        self.sums = [LogisticSums(self.blocks, self.signs, c, crew) for c in kept]
        self.U = np.zeros((self.count, d + 1))
        if fit_intercept:
            share = np.array([c[signs > 0].sum() for c in kept])
            self.U[:, -1] = np.log(share) - np.log1p(-share)
        self.seen = self._look(range(self.count))
        self.H = self._hessians()
        self.pairs: list[deque[tuple[Floats, Floats]]]
        self.pairs = [deque(maxlen=PAIRS) for _ in range(self.count)]

    def settle(self, C: float, tol: float) -> Floats | None:
        """Bring every fold to its gap at this C; returns the relative gaps."""
        ridge = np.append(np.ones(self.U.shape[1] - 1), 0.0)
        ridges = ridge / (C * self.sizes[:, None])
        gap = np.full(self.count, np.inf)
        left, shared = np.arange(self.count), False
        for _ in range(LOOKS):
            last, value, before = self.U.copy(), self._values(ridges), gap.copy()
            slopes = [s.gradient for s in self.seen]
            self._step(left, ridges)
            self._look_and_retreat(left, ridges, last, value)
            value = self._values(ridges)
            for f in left:
                self.pairs[f].append((self.U[f] - last[f], self.seen[f].gradient - slopes[f]))
                gap[f] = self._gap(f, ridges[f]) / value[f]
            left = left[gap[left] > tol]
            slow = left[gap[left] > SLOW * before[left]]
            if not len(left):
                return gap
            if not shared and (gap[left] > FAR * tol).any():
                self.H, shared = self._hessians(), True
                self._forget(range(self.count))
            else:
                for f in slow:
                    self.H[f] = self._own_hessian(f)
                self._forget(slow)
        return None

    def _look_and_retreat(self, which: Any, ridges: Floats, last: Floats, value: Floats) -> None:
        """Look; halve the steps that led upwards until they do not."""
        for _ in range(LOOKS):
            for f, s in zip(which, self._look(which), strict=True):
                self.seen[f] = s
            now = self._values(ridges)
            which = [f for f in which if not now[f] <= value[f] * (1 + 1e-13)]
            if not which:
                return
            for f in which:
                self.U[f] = 0.5 * (self.U[f] + last[f])

    def _forget(self, which: Any) -> None:
        for f in which:
            self.pairs[f].clear()

    def _values(self, ridges: Floats) -> Floats:
        """F of every fold as last seen"""
        losses = np.array([float(s.loss.sum()) for s in self.seen])
        return 0.5 * (ridges * self.U * self.U).sum(axis=1) + losses

    def _gradient(self, f: Any, ridge: Floats) -> Floats:
        g = ridge * self.U[f] + self.seen[f].gradient
        if not self.fit_intercept:
            g[-1] = 0.0
        return g

    def _gap(self, f: Any, ridge: Floats) -> float:
        return duality_gap(ridge, self._gradient(f, ridge), self.seen[f], self.fit_intercept)

    def _step(self, which: Any, ridges: Floats) -> None:
        for f in which:
            H = self.H[f] + np.diag(ridges[f])
            if not self.fit_intercept:
                H[-1] = H[:, -1] = 0.0
            memory = Memory(PAIRS)
            for s, y in self.pairs[f]:
                memory.add(s, y + ridges[f] * s)
            self.U[f] -= memory.apply(self._gradient(f, ridges[f]), Curvature(H).solve)
        if not np.isfinite(self.U).all():
            raise OverflowedError("the weights of a fold overflow")

    def _look(self, which: Any) -> list[Sums]:
        """One pass over all rows for these folds."""
        which, d = np.array(list(which), np.int64), self.X.shape[1]
        count = len(self.spans)
        parts = np.empty((count, len(which), 2 * d + 5))
        known = (self.X, self.signs, self.home, which, 1.0 / self.sizes, self.U)

        def some(first: int) -> None:
            _sum(*known, first, min(count, first + TOGETHER), parts)

        self.crew.map(some, range(0, count, TOGETHER))
        return [gathered(total) for total in add_up(parts)]

    def _hessians(self) -> Floats:
        """Every fold's Hessian of the losses, at the mean of the folds' weights."""
        u = self.U.mean(axis=0)
        w, b, d = np.ascontiguousarray(u[:-1]), float(u[-1]), self.X.shape[1]

        def one(span: tuple[int, int]) -> Floats:
            start, stop = span
            B = np.empty((stop - start, d + 1))
            ends = _weigh(self.X[start:stop], self.home[start:stop], self.count, w, b, B)
            parts = np.zeros((self.count, d + 1, d + 1))
            for h in range(self.count):
                some = B[ends[h] : ends[h + 1]]
                parts[h] = np.dot(some.T, some)
            return parts

        G = add_up(np.array(self.crew.map(one, self.spans)))
        return np.array([np.delete(G, f, axis=0).sum(axis=0) / n for f, n in enumerate(self.sizes)])

    def _own_hessian(self, f: int) -> Floats:
        """A fold's Hessian at its own weights, for one that has gone its own way."""
        hessian = self.sums[f].at(self.U[f], np.float64).hessian
        assert hessian is not None
        return hessian


@kernel
def _sum(X, signs, home, which, shares, U, first, last, parts):  # type: ignore[no-untyped-def]
    """Blocks first..last for several folds, a few rows at a time while they are in the cache."""
    n, d = X.shape
    room = np.empty((6, CHUNK))
    whole = np.empty(CHUNK, np.int64)
    v = np.empty((2, d))
    parts[first:last] = 0.0
    for start in range(first * BLOCK, min(n, last * BLOCK), CHUNK):
        stop = min(n, start + CHUNK)
        for k in range(which.shape[0]):
            f = which[k]
            kept = 0
            for i in range(start, stop):
                room[0, i - start] = 0.0 if home[i] == f else shares[f]
                kept += home[i] != f
            if kept > 0:
                rows, y, out = X[start:stop], signs[start:stop], parts[start // BLOCK, k]
                add_chunk(rows, y, U[f, :d], U[f, d], room, whole, v, out)


@kernel
def _weigh(X, home, count, w, b, B):  # type: ignore[no-untyped-def]
    """Rows √(σ(z)σ(−z)) (x, 1), home by home, into B; returns where each home begins."""
    n, d = X.shape
    ends = np.zeros(count + 1, np.int64)
    for i in range(n):
        ends[home[i] + 1] += 1
    for h in range(count):
        ends[h + 1] += ends[h]
    place = ends.copy()
    for i in range(n):
        s = b
        for j in range(d):
            s += X[i, j] * w[j]
        e = np.exp(-0.5 * abs(s))
        root = e / (1.0 + e * e)  # √(σ(z)σ(−z))
        k = place[home[i]]
        place[home[i]] = k + 1
        for j in range(d):
            B[k, j] = root * X[i, j]
        B[k, d] = root
    return ends


@kernel
def _held(X, home, W, b, scores, start, stop):  # type: ignore[no-untyped-def]
    """What the fold that leaves a row out says of it, for every C."""
    for i in range(start, stop):
        f = home[i]
        for c in range(W.shape[1]):
            s = b[f, c]
            for j in range(X.shape[1]):
                s += X[i, j] * W[f, c, j]
            scores[i, c] = s
