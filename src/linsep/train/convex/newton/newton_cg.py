"""Logistic regression and the squared hinge by Newton's method with conjugate gradients.

    minimise   P(w, b) = ½‖w‖² + Σ Uᵢ ℓ(zᵢ),      zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

A step solves H s = −∇P for H = I + Σ Dᵢx̃ᵢx̃ᵢᵀ, Dᵢ = Uᵢℓ″(zᵢ), only as far as it is worth (Lin, Weng
and Keerthi, *Trust region Newton method for logistic regression*, 2008), by products with the rows:
no matrix of products of features is made, so that features may be many and rows sparse. What makes
the products few is the preconditioner. It is the diagonal of H; and for dense rows H of a sample,
its diagonal raised to that of H, so that features the sample misses are not left out; for sparse
rows, once a step takes long, H of the columns with most entries (`frequent_columns`).

A step is taken whole, or in the largest part of it that lets P fall. The multipliers α = −Uℓ′ of
each point, those of the heavier class shrunk until Σ αᵢyᵢ = 0, bound the optimum from below. All of
it is sums over rows (`linsep.train.convex.newton.row_products`), wherever these lie.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import Blocks, Columns, prepare, spread
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import Candidate
from linsep.train.convex.losses import Hinge, Logistic, SmoothedHinge, SquaredHinge
from linsep.train.convex.newton import frequent_columns
from linsep.train.convex.newton.frequent_columns import NONE, ColumnOrder, by_use
from linsep.train.convex.newton.point import Point
from linsep.train.convex.newton.row_products import RowProducts
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LOSSES: dict[str, Any] = {
    "hinge": Hinge(),
    "logistic": Logistic(),
    "squared_hinge": SquaredHinge(),
}
FORCING = 0.1  # part of the gradient that a step may leave, unless it is told
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
SHORTER = 0.5 ** np.arange(1.0, 34.0)  # parts of a step that are tried where all of it fails
AT_FIRST = 6  # of those
AHEAD = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0])  # parts of a heading that are tried


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
    heading : of weights and intercept; the start is first moved that way as far as P falls
    forcing : part of the gradient that a step may leave
    multipliers : whether the solution brings those of all rows
    patience : products that may fail to halve the gap
    frequent : whether sparse columns are numbered by their use, and the most frequent ones factored
        where a step takes long; rows on a cluster have no such order, and give other last digits
    like : a solver that has ended, of the same features and C: its columns and its preconditioner
        serve again
    """

    name = "newton-cg"
    tol = 1e-4
    _at: tuple[Point, float, int] | None = None  # point; gap last halved at, steps since
    _columns: Columns
    _order: ColumnOrder  # its columns by their use
    _rows: RowProducts
    _price: float  # of the preconditioner, in products
    _single: bool  # whether it is summed in single precision

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
        heading: tuple[Array, float] | None = None,
        forcing: float = FORCING,
        multipliers: bool = True,
        patience: float = math.inf,
        frequent: bool = False,
        like: "NewtonCG | None" = None,
    ) -> None:
        self._X, self._signs = X, signs.astype(np.int8, copy=False)
        self._caps = np.array([float(C)]) if weights is None else C * np.asarray(weights, float)
        self._multipliers, self._patience, self._products = multipliers, patience, 0
        self._loss, self._free, self._start = LOSSES[loss], fit_intercept, start
        self._heading, self._forcing = heading, forcing
        self.pool = Pool(n_jobs)
        self.n_iter, self._like, self._frequent = 0, like, frequent

    def _begin(self) -> None:
        like, known = self._like, None if self._like is None else self._like._columns
        X, scaled, self._columns = _moderate(self._X, self._free, known)
        self._order = NONE if like is None else like._order
        if like is not None and self._order is not NONE:
            X = like._rows.X
        elif self._frequent and sp.issparse(X) and X.shape[1] > WIDEST_SPARSE:
            X, self._order = by_use(X)
        self._rows = RowProducts(X, self._signs, self._caps, self.pool, scaled)
        d = X.shape[1]
        scale = self._columns.scale.astype(np.float64) if self._columns.scale.size else np.ones(d)
        self._ridge = np.append(scale * scale, 0.0)
        u = np.zeros(d + 1) if self._start is None else self._inside(*self._start)
        smooth = SmoothedHinge(WIDTH) if isinstance(self._loss, Hinge) else self._loss
        if self._heading is not None:
            u = self._ahead(u, self._inside(*self._heading), smooth)
        self._inverse: Any = None if like is None else like._inverse
        self._made: Point | None = None  # where the preconditioner was made
        self._price = 0.0 if like is None else like._price
        self._single = X.dtype == np.float32 and (like is None or like._single)
        self._used, self._foretold, self._block = 0, False, False
        self._lowest = self._highest = self._evaluate(u, smooth)

    def _inside(self, w: Array, b: float) -> Floats:
        """Weights of the data as those of the rows that are read."""
        w, b = self._columns.inside(np.asarray(w, np.float64), b)
        return np.append(self._order.inside(w), b if self._free else 0.0)

    def _ahead(self, u: Floats, step: Floats, smooth: Any) -> Floats:
        """u + t·step with the t that P is lowest at, of a few."""
        a, b = float(self._ridge @ (u * step)), 0.5 * float(self._ridge @ (step * step))
        P = self._rows.along(u, smooth, step, AHEAD) + AHEAD * (a + AHEAD * b)
        return np.asarray(u + AHEAD[np.argmin(P)] * step)

    def candidates(self) -> Iterator[Candidate]:
        """A step, and an evaluation over all rows after it."""
        if self._at is None:
            self._begin()
            self._at, self.n_iter = (self._lowest, math.inf, 0), 1
        p, halved, since = self._at
        while since <= PATIENCE and self._products <= self._patience:
            self._at = p, halved, since
            gap = self._lowest.primal - self._highest.dual
            if gap <= 0.5 * halved:
                halved, since, self._products = gap, 0, 0
            else:
                since += 1
            yield Candidate(self.n_iter, self._lowest.primal, self._highest.dual, p.curved)
            step = self._step(p)
            falls = -0.5 * float(p.gradient @ step)
            smooth = self._narrower(p, falls)
            if smooth is None:
                return
            q = self._evaluate(p.u + step, smooth)
            if smooth is p.loss and not self._fell(p, q, step):
                t = self._length(p, step)
                if t == 0.0:
                    return
                q = self._evaluate(p.u + t * step, smooth)
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

    def _evaluate(self, u: Floats, smooth: Any) -> Point:
        """P, its gradient and a bound on the optimum at u."""
        s = self._rows.evaluate(u, smooth, self._loss)
        penalty = 0.5 * float(self._ridge @ (u * u))
        gradient = self._ridge * u - s.pulled.sum(axis=0)
        if not (math.isfinite(s.smooth + penalty) and np.isfinite(gradient).all()):
            raise OverflowedError("X has entries so large that sums over its rows overflow.")
        if not self._free:
            gradient[-1] = 0.0
        shrink = np.ones(2)
        least, largest = sorted(s.weight.tolist())
        if self._free and largest > 0.0:
            shrink[0 if s.weight[0] > s.weight[1] else 1] = least / largest
        v = (shrink @ s.pulled)[:-1]
        # Σ Uℓ(z) + αz − (bound): the part of the gap that the gradient has no share in
        kink = s.loss + s.tail - float(s.dual.sum())
        dual = s.dual
        if shrink.min() < 1.0 and isinstance(self._loss, Logistic):
            dual = self._rows.shrunk_dual(shrink)
        elif shrink.min() < 1.0:  # the hinges: rα, less (rα)²/4U where it is squared
            dual = shrink * s.weight - shrink * shrink * (s.weight - s.dual)
        bound = float(dual.sum()) - 0.5 * float(v @ (v / self._ridge[:-1]))
        value, primal = penalty + s.smooth, penalty + s.loss
        return Point(u, smooth, value, gradient, shrink, s.curved, primal, bound, kink)

    def _fell(self, p: Point, q: Point, step: Floats) -> bool:
        """Whether P is lower after the whole step, by enough."""
        return q.value - p.value <= 1e-4 * float(p.gradient @ step) + 4e-15 * p.value

    def _step(self, p: Point) -> Floats:
        """Nearly H⁻¹(−∇P), by preconditioned conjugate gradients."""
        self._precondition(p)
        s, r = np.zeros_like(p.u), -p.gradient
        y = self._solve(r)
        q, rho = y.copy(), float(r @ y)
        left = self._forcing**2
        if self._foretold and p.gap > 0.0:  # P is as good as quadratic here: go all the way
            left = min(left, max(1e-10, AIM * self.tol * p.primal / p.gap))
        stop, self._used = left * rho, 0
        while rho > stop and self._used < MOST:
            if self._used >= self._order.price and not (self._block and self._made is p):
                self._factor_frequent(p, self._rows.squares())  # dear, but the step is dearer
                y = self._solve(r)
                q, rho = y.copy(), float(r @ y)
                stop = left * float(p.gradient @ self._solve(p.gradient))
                continue
            Hq = self._ridge * q + self._rows.curve(q)
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
        self._products += self._used
        return s

    def _precondition(self, p: Point) -> None:
        """Make a preconditioner where there is none, or where a new one would save its price."""
        if self._inverse is not None and self._used <= WORTH * self._price:
            return
        self._made = p
        d, m = self._rows.d, max(1024, PER_FEATURE * self._rows.d)
        price = (PRODUCT * min(m, p.curved) * d + SYSTEM * d * d) * d
        price /= ENTRY * self._rows.entries
        widest = WIDEST_SPARSE if self._rows.sparse else WIDEST
        factored = d <= widest and price <= MOST
        if p.curved <= 2 * m and factored:
            self._inverse, self._price = self._factored(math.inf, 0.0), price
            return
        squares = self._rows.squares()
        if factored:
            self._inverse = self._factored(self._rows.rate(m), squares)
            self._price = price
            return
        if self._block:
            self._factor_frequent(p, squares)
            return
        diagonal = self._ridge + squares
        diagonal[diagonal <= 0.0] = 1.0
        self._inverse, self._price = partial(np.multiply, 1.0 / diagonal), 1.0

    def _factor_frequent(self, p: Point, squares: Floats) -> None:
        """H of the most frequent columns factored, and the diagonal of the others."""
        diagonal = self._ridge + squares
        diagonal[diagonal <= 0.0] = 1.0
        H = self._rows.frequent_products(self._order.k)
        H[:-1, -1] *= self._free
        block = frequent_columns.factored(H, diagonal)
        self._made, self._block = p, block is not None
        if block is None:
            self._order = self._order._replace(price=math.inf)
        else:
            self._inverse, self._price = block, self._order.price

    def _factored(self, rate: float, squares: Any) -> Callable[[Floats], Floats]:
        """H of the rows drawn at a rate factored, its diagonal raised to that of all."""
        while True:
            real = np.float32 if self._single else np.float64
            H = self._rows.products(rate, real)
            H[np.diag_indices(len(H))] += self._ridge + np.maximum(0.0, squares - H.diagonal())
            if not self._free:
                H[-1] = H[:, -1] = 0.0
            curvature = Curvature(H, 4.0 * float(np.finfo(real).eps))
            if not (curvature.singular and self._single):
                return curvature.solve
            self._single = False  # nor would it do nearer to the optimum

    def _solve(self, r: Floats) -> Floats:
        y = np.asarray(self._inverse(r))
        if not self._free:
            y[-1] = 0.0
        return y

    def _length(self, p: Point, step: Floats) -> float:
        """How far to go: the longest halving of a step after which P has fallen."""
        slope = float(p.gradient @ step)
        a, b = float(self._ridge @ (p.u * step)), 0.5 * float(self._ridge @ (step * step))
        rest = p.value - 0.5 * float(self._ridge @ (p.u * p.u))
        for sizes in (SHORTER[:AT_FIRST], SHORTER[AT_FIRST:]):
            losses = self._rows.along(p.u, p.loss, step, sizes)
            rose = losses - rest + sizes * (a + sizes * b)
            enough = np.flatnonzero(rose <= 1e-4 * sizes * slope + 4e-15 * p.value)
            if len(enough):
                return float(sizes[enough[0]])
        return 0.0

    def state(self) -> dict[str, Any]:
        assert self._at is not None
        p, halved, since = self._at
        seen = (self._lowest, self._highest, self._made, p)
        points = [q and (q.u, getattr(q.loss, "h", 0.0)) for q in seen]
        step = (self._used, self._foretold, self._products, self._single, self._block)
        return {"points": points, "since": (halved, since), "n_iter": self.n_iter, "step": step}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        low, high, made, now = state["points"]
        *step, self._single, self._block = state["step"]
        self._lowest, self._highest = self._seen(low), self._seen(high)
        if made:
            self._precondition(self._seen(made))
        p = self._seen(now)  # the last: products are with the curvatures of what was looked at last
        self._at, self.n_iter = (p, *state["since"]), state["n_iter"]
        self._used, self._foretold, self._products = step

    def _seen(self, point: tuple[Floats, float]) -> Point:
        u, h = point
        return self._evaluate(u, SmoothedHinge(h) if isinstance(self._loss, Hinge) else self._loss)

    def interrupted(self) -> None:
        if not hasattr(self, "_lowest"):
            self._begin()

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once: there is no other way here."""

    def solution(self) -> Solution:
        low, high = self._lowest, self._highest
        w, b = self._columns.outside(low.u[:-1], float(low.u[-1]))
        w = self._order.outside(w, self._X.shape[1])
        gap = max(0.0, low.primal - high.dual)
        b = float(b) if self._free else 0.0
        alpha = None
        if self._multipliers:
            alpha = self._rows.multipliers(high.u, high.loss, high.shrink)
        return Solution(np.asarray(w), b, alpha, low.primal, high.dual, gap, self.n_iter)


def _moderate(
    X: Any, free: bool, known: Columns | None = None
) -> tuple[Any, Columns | None, Columns]:
    """X in columns of moderate scale: itself, or a copy where dense columns are extreme.

    Columns that are `known` are taken. Rows on a cluster stay as they are: the second says how they
    are scaled where they are read.
    """
    nothing = Columns(np.empty(0, X.dtype), np.empty(0, X.dtype))
    if sp.issparse(X):
        return X, None, nothing
    columns = prepare(X, spread(X), free, 1.0) if known is None else known
    blocks = Blocks(X, columns)
    if blocks.plain:
        return X, None, nothing
    if on_cluster(X):
        return X, columns, columns
    return blocks.rows(slice(0, len(X))), None, columns
