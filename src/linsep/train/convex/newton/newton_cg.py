"""Logistic regression and the squared hinge by Newton's method with conjugate gradients.

    minimise   P(w, b) = ½‖w‖² + Σ Uᵢ ℓ(zᵢ),      zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

A step solves H s = −∇P for H = I + Σ Dᵢx̃ᵢx̃ᵢᵀ, Dᵢ = Uᵢℓ″(zᵢ), only as far as it is worth (Lin, Weng
and Keerthi, *Trust region Newton method for logistic regression*, 2008), by products with the rows:
no matrix of products of features is made, so that features may be many and rows sparse. What makes
the products few is the preconditioner. It is the diagonal of H; and for dense rows H of a sample,
its diagonal raised to that of H, so that features the sample misses are not left out.

A step goes as far along its direction as P falls, which costs no look at X: scores change by the
scores of the step. The multipliers α = −Uℓ′ of each point, those of the heavier class shrunk until
Σ αᵢyᵢ = 0, bound the optimum from below.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep._compile import kernel
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks, Columns, prepare, spread
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate, Goal, drive
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge, curvature, dual, slope, value
from linsep.train.convex.newton.row_products import RowProducts
from linsep.train.convex.newton.smoothed_hinge import RoundedHinge as SmoothedHinge
from linsep.train.convex.sampling import scattered
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LOSSES: dict[str, Any] = {
    "hinge": Hinge(),
    "logistic": Logistic(),
    "squared_hinge": SquaredHinge(),
}
FORCING = 0.1  # part of the gradient that a step may leave
AIM = 0.3  # part of the gap asked for that the last step aims at
MOST = 300  # products for a step, at most
WIDTH = 2.0  # of the smoothed kink at first: all rows at w = 0 lie in it
NARROWING = 0.5  # the least part of a width that the next one is
LEAST = 1e-7  # width below which the rows near the kink are too few to steer by
PER_FEATURE = 6  # rows of a sample for each feature: fewer make a poor preconditioner
WIDEST = 4096  # features up to which a matrix of their products is factored
WIDEST_SPARSE = 1024  # the same where rows are sparse, and products of features costly beside them
PATIENCE = 60  # steps with one loss that may fail to halve the gap
WORTH = 2.0  # times its price in products that a step takes before a new preconditioner is due
ENTRY, PRODUCT, SYSTEM = 0.5, 0.035, 0.012  # ns of an entry, of n·d² and d³ of the preconditioner
SHORTEST = 1e-10  # part of a step


class Point(NamedTuple):
    """Weights that all rows were seen from, by a smooth loss.

    Attributes
    ----------
    u, z : weights and intercept; margins
    loss : the smooth loss
    value, gradient : of the objective with it
    alpha, D : multipliers made feasible, and Uℓ″, of each row
    primal, dual : P of the loss asked for, and a bound on its minimum
    kink : what is left of the gap once the gradient is zero
    """

    u: Floats
    z: Floats
    loss: Any
    value: float
    gradient: Floats
    alpha: Floats
    D: Floats
    primal: float
    dual: float
    kink: float

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)


class NewtonCG:
    """Truncated Newton steps as a solver.

    Parameters
    ----------
    X : checked array or CSR matrix
    signs : −1 or +1 for each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty, positive and finite
    loss : 'logistic', 'squared_hinge', or 'hinge', whose kink is smoothed less and less
    fit_intercept : whether b is free, or zero
    n_jobs : threads; never changes the bytes of the result
    start : weights and intercept to begin from
    """

    name = "newton-cg"
    tol = 1e-4
    _at: tuple[Point, float, int] | None = None  # point; gap last halved at, steps since

    def __init__(
        self,
        X: Any,
        signs: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        loss: str = "logistic",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, float] | None = None,
    ) -> None:
        n = X.shape[0]
        self._X, self._y = X, signs.astype(np.float64)
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        self._loss, self._free, self._start = LOSSES[loss], fit_intercept, start
        self.pool = Pool(n_jobs)
        self.n_iter = 0

    def _begin(self) -> None:
        X, self._columns = _moderate(self._X, self._free)
        self._rows = RowProducts(X, self.pool)
        d = X.shape[1]
        scale = self._columns.scale.astype(np.float64) if self._columns.scale.size else np.ones(d)
        self._ridge = np.append(scale * scale, 0.0)
        u = np.zeros(d + 1)
        if self._start is not None:
            w, b = self._columns.inside(np.asarray(self._start[0], np.float64), self._start[1])
            u = np.append(w, b if self._free else 0.0)
        self._inverse: Any = None
        self._made: Point | None = None  # where the preconditioner was made
        self._price, self._used, self._foretold = 0.0, 0, False
        smooth = SmoothedHinge(WIDTH) if isinstance(self._loss, Hinge) else self._loss
        self._lowest = self._highest = self._look(u, self._y * self._rows.scores(u), smooth)

    def candidates(self) -> Iterator[Candidate]:
        """A step, and a look at all rows after it."""
        if self._at is None:
            self._begin()
            self._at, self.n_iter = (self._lowest, math.inf, 0), 1
        p, halved, since = self._at
        while since <= PATIENCE:
            self._at = p, halved, since
            gap = self._lowest.primal - self._highest.dual
            halved, since = (gap, 0) if gap <= 0.5 * halved else (halved, since + 1)
            active = int(np.count_nonzero(p.D))
            yield Candidate(self.n_iter, self._lowest.primal, self._highest.dual, active)
            step = self._step(p)
            turned, t = self._y * self._rows.scores(step), 1.0
            falls = -0.5 * float(p.gradient @ step)
            smooth = self._narrower(p, falls)
            if smooth is p.loss:
                t = self._length(p, step, turned)
            if t == 0.0 or smooth is None:
                return
            q = self._look(p.u + t * step, p.z + t * turned, smooth)
            self._foretold = smooth is p.loss and abs(p.value - q.value - falls) < 0.1 * falls
            since = since if smooth is p.loss else 0
            p, self.n_iter = q, self.n_iter + 1
            if p.primal < self._lowest.primal:
                self._lowest = p
            if p.dual > self._highest.dual:
                self._highest = p

    def _narrower(self, p: Point, falls: float) -> Any:
        """The loss to go on with: a narrower kink where it is the kink that holds the gap up."""
        if not isinstance(p.loss, SmoothedHinge):
            return p.loss
        if p.kink <= max(self.tol * p.primal, 20.0 * falls):
            return p.loss
        narrow = math.sqrt(0.5 * self.tol * p.primal / p.kink)
        h = p.loss.h * min(0.7, max(NARROWING, narrow))
        return SmoothedHinge(h) if h >= LEAST else None

    def _look(self, u: Floats, z: Floats, smooth: Any) -> Point:
        """P, its gradient and a bound on the optimum at u, from the margins z there."""
        alpha, D, sums = np.empty_like(z), np.empty_like(z), np.empty(4)
        _losses(smooth, self._loss, z, self._y, self._caps, alpha, D, sums)
        penalty = 0.5 * float(self._ridge @ (u * u))
        pulled = self._rows.pull(alpha, self._y)
        gradient = self._ridge * u - pulled.sum(axis=0)
        if not (math.isfinite(sums[0] + penalty) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        if not self._free:
            gradient[-1] = 0.0
        shrink = np.ones(2)
        least, largest = sorted((float(sums[2]), float(sums[3])))
        if self._free and largest > 0.0:
            shrink[0 if sums[2] > sums[3] else 1] = least / largest
        v = (shrink @ pulled)[:-1]
        # Σ Uℓ(z) + αz − (bound): the part of the gap that the gradient has no share in
        kink = float(sums[1]) + float(alpha @ z) - _bound(self._loss, alpha, self._caps)
        alpha *= np.where(self._y > 0.0, *shrink)
        bound = _bound(self._loss, alpha, self._caps) - 0.5 * float(v @ (v / self._ridge[:-1]))
        value, primal = penalty + float(sums[0]), penalty + float(sums[1])
        return Point(u, z, smooth, value, gradient, alpha, D, primal, bound, kink)

    def _step(self, p: Point) -> Floats:
        """Nearly H⁻¹(−∇P), by preconditioned conjugate gradients."""
        self._precondition(p)
        s, r = np.zeros_like(p.u), -p.gradient
        y = self._solve(r)
        q, rho = y.copy(), float(r @ y)
        left = FORCING**2
        if self._foretold and p.gap > 0.0:  # P is as good as quadratic here: go all the way
            left = min(left, max(1e-10, AIM * self.tol * p.primal / p.gap))
        stop, self._used = left * rho, 0
        while rho > stop and self._used < MOST:
            Hq = self._ridge * q + self._rows.curve(p.D, q)
            if not self._free:
                Hq[-1] = 0.0
            self._used += 1
            bent = float(q @ Hq)
            if not bent > 0.0:
                break
            s += rho / bent * q
            r -= rho / bent * Hq
            y = self._solve(r)
            rho, before = float(r @ y), rho
            q = y + rho / before * q
        return s

    def _precondition(self, p: Point) -> None:
        """Make a preconditioner where there is none, or where a new one would save its price."""
        if self._inverse is not None and self._used <= WORTH * self._price:
            return
        self._made = p
        d, curved = self._rows.d, np.flatnonzero(p.D)
        m = max(1024, PER_FEATURE * d)
        price = (PRODUCT * min(m, len(curved)) * d + SYSTEM * d * d) * d
        price /= ENTRY * self._rows.entries
        widest = WIDEST_SPARSE if sp.issparse(self._rows.X) else WIDEST
        factored = d <= widest and price <= MOST
        if len(curved) <= 2 * m and factored:
            self._inverse, self._price = self._factored(curved, p.D[curved], 0.0), price
            return
        squares = self._rows.squares(p.D)
        if factored:
            some = curved[scattered(len(curved), m)]
            D = p.D[some] * (len(curved) / len(some))
            self._inverse, self._price = self._factored(some, D, squares), price
            return
        diagonal = self._ridge + squares
        diagonal[diagonal <= 0.0] = 1.0
        self._inverse, self._price = partial(np.multiply, 1.0 / diagonal), 1.0

    def _factored(self, some: Array, D: Floats, squares: Any) -> Callable[[Floats], Floats]:
        """H of some rows factored, its diagonal raised to that of all."""
        for real in sorted({self._rows.X.dtype, np.dtype(np.float64)}, key=_itemsize):
            H = self._rows.products(some, D, real)
            H[np.diag_indices(len(H))] += self._ridge + np.maximum(0.0, squares - H.diagonal())
            if not self._free:
                H[-1] = H[:, -1] = 0.0
            factor = Curvature(H, 4.0 * float(np.finfo(real).eps))
            if not factor.singular:
                break
        return factor.solve

    def _solve(self, r: Floats) -> Floats:
        y = np.asarray(self._inverse(r))
        if not self._free:
            y[-1] = 0.0
        return y

    def _length(self, p: Point, step: Floats, turned: Floats) -> float:
        """How far to go: the whole step, or the longest halving of it after which P has fallen."""
        slope_ = float(p.gradient @ step)
        a, b = float(self._ridge @ (p.u * step)), 0.5 * float(self._ridge @ (step * step))
        rest = p.value - 0.5 * float(self._ridge @ (p.u * p.u))
        t = 1.0
        while t > SHORTEST:
            rose = _along(p.loss, p.z, turned, t, self._caps) - rest + t * (a + t * b)
            if rose <= 1e-4 * t * slope_ + 4e-15 * p.value:
                return t
            t *= 0.5
        return 0.0

    def state(self) -> dict[str, Any]:
        assert self._at is not None
        p, halved, since = self._at
        seen = (p, self._lowest, self._highest, self._made)
        points = [q and (q.u, q.z, getattr(q.loss, "h", 0.0)) for q in seen]
        step = (self._used, self._foretold)
        return {"points": points, "since": (halved, since), "n_iter": self.n_iter, "step": step}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        p, self._lowest, self._highest, *made = (
            self._look(u, z, SmoothedHinge(h) if isinstance(self._loss, Hinge) else self._loss)
            for u, z, h in filter(None, state["points"])
        )
        if made:
            self._precondition(made[0])
        self._at, self.n_iter = (p, *state["since"]), state["n_iter"]
        self._used, self._foretold = state["step"]

    def interrupted(self) -> None:
        if not hasattr(self, "_lowest"):
            self._begin()

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once: there is no other way here."""

    def solution(self) -> Solution:
        low, high = self._lowest, self._highest
        w, b = self._columns.outside(low.u[:-1], float(low.u[-1]))
        gap = max(0.0, low.primal - high.dual)
        b = float(b) if self._free else 0.0
        return Solution(np.asarray(w), b, high.alpha, low.primal, high.dual, gap, self.n_iter)


def solve(
    X: Any,
    signs: Array,
    weights: Array | None = None,
    C: float = 1.0,
    *,
    tol: float = 1e-4,
    max_iter: int = 200,
    listener: Callable[[Candidate], Any] | None = None,
    **settings: Any,
) -> Solution:
    """Fit a two-class linear model to a relative gap of `tol`; `settings` as of `NewtonCG`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    >>> solution = solve(X, y, tol=1e-10)
    >>> solution.w.round(4), round(solution.b, 4), solution.status.name
    (array([0.4529]), -0.6793, 'converged')
    """
    return drive(NewtonCG(X, signs, weights, C, **settings), Goal(tol, max_iter, listener))


def _itemsize(dtype: Any) -> int:
    return int(dtype.itemsize)


def _moderate(X: Any, free: bool) -> tuple[Any, Columns]:
    """X in columns of moderate scale: itself, or a copy where dense columns are extreme."""
    nothing = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
    if sp.issparse(X):
        return X, nothing
    columns = prepare(X, spread(X), free, 1.0)
    blocks = Blocks(X, columns)
    return (X, nothing) if blocks.plain else (blocks.rows(slice(0, len(X))), columns)


@kernel
def _losses(smooth, loss, z, y, caps, alpha, D, sums):  # type: ignore[no-untyped-def]
    """α = −Uφ′ and D = Uφ″ of each row; Σ Uφ, Σ Uℓ, and Σ α of either class, into `sums`"""
    rounded = total = plus = minus = 0.0
    for i in range(z.shape[0]):
        a = -caps[i] * slope(smooth, z[i])
        alpha[i] = a
        D[i] = caps[i] * curvature(smooth, z[i])
        rounded += caps[i] * value(smooth, z[i])
        total += caps[i] * value(loss, z[i])
        plus += a if y[i] > 0 else 0.0
        minus += 0.0 if y[i] > 0 else a
    sums[0], sums[1], sums[2], sums[3] = rounded, total, plus, minus


@kernel
def _bound(loss, alpha, caps):  # type: ignore[no-untyped-def]
    """−Σ Uℓ*(−α/U)"""
    total = 0.0
    for i in range(alpha.shape[0]):
        if caps[i] > 0.0:
            total += caps[i] * dual(loss, alpha[i] / caps[i])
    return total


@kernel
def _along(loss, z, turned, t, caps):  # type: ignore[no-untyped-def]
    """Σ Uℓ(z + t·turned)"""
    total = 0.0
    for i in range(z.shape[0]):
        total += caps[i] * value(loss, z[i] + t * turned[i])
    return total
