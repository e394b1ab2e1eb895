"""Logistic regression and the squared hinge by Newton's method with conjugate gradients.

    minimise   P(w, b) = ½‖w‖² + Σ Uᵢ ℓ(zᵢ),      zᵢ = yᵢ(⟨w, xᵢ⟩ + b)

A step solves H s = −∇P for H = I + Σ Dᵢx̃ᵢx̃ᵢᵀ, Dᵢ = Uᵢℓ″(zᵢ), only as far as it is worth (Lin, Weng
and Keerthi, *Trust region Newton method for logistic regression*, 2008), by products with the rows:
no matrix of products of features is made, so that features may be many and rows sparse. What makes
the products few is the `preconditioner`.

A step is taken whole, or in the part of it, of some, that lets P fall most. Where the hinges' steps
fail again and again, they are those of a model that knows where rows turn (`near_kinks`): it needs
H of all rows, and is worth it once failures cost as much. The multipliers α = −Uℓ′ of
each point, those of the heavier class shrunk until Σ αᵢyᵢ = 0, bound the optimum from below. All of
it is sums over rows (`linsep.train.convex.newton.row_products`), wherever these lie.
"""

import math
from collections.abc import Iterator
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
from linsep.train.convex.newton.frequent_columns import NONE, ColumnOrder, by_use
from linsep.train.convex.newton.near_kinks import pieces, settle
from linsep.train.convex.newton.point import Point
from linsep.train.convex.newton.preconditioner import WIDEST_SPARSE, Preconditioner
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
SETTLED = 0.25  # the same where a model knows where rows turn: it solves each width at once
LEAST = 1e-7  # width below which the rows near the kink are too few to steer by
PATIENCE = 60  # steps with one loss that may fail to halve the gap
SHORTER = 0.5 ** np.arange(1.0, 34.0)  # parts of a step that are tried where all of it fails
AT_FIRST = 6  # of those
SHORTENED = 4  # products that the evaluations of a step cost which is shortened
KEPT = 0.5  # part of the fall that a step foretells from which on it has not failed
TURNING = 2.0  # times as long as Newton's: a step that takes rows near their kinks across them
FACTORS = 20  # of the changing Hessian, about, that the model's minimum takes
ROOM = 1 << 26  # bytes of those rows, at most
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
    _inverse: Preconditioner

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
        known_inverse = None if like is None else like._inverse
        self._inverse = Preconditioner(
            self._rows, self._ridge, self._free, self._order, known_inverse
        )
        self._used, self._foretold = 0, False
        self._lost, self._settling = 0.0, False  # products on steps that failed; and no more
        self._left = math.inf  # by which P is still higher than the last model foretold
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
            step, falls = self._settled(p) if self._settling else self._step(p)
            smooth = self._narrower(p, falls)
            if smooth is None:
                return
            q = self._evaluate(p.u + step, smooth)
            if smooth is p.loss and self._fails(p, q, falls):
                self._evaluate(p.u, p.loss)
                step, falls = self._settled(p)
                q = self._evaluate(p.u + step, smooth)
            if smooth is p.loss and not self._fell(p, q, step):
                t = self._length(p, step)
                if t == 0.0:
                    return
                q = self._evaluate(p.u + t * step, smooth)
            self._left = q.value - p.value + falls if smooth is p.loss else math.inf
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
        h = p.loss.h * min(0.7, max(SETTLED if self._settling else NARROWING, narrow))
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

    def _step(self, p: Point) -> tuple[Floats, float]:
        """Nearly H⁻¹(−∇P), by preconditioned conjugate gradients, and the fall it foretells."""
        self._inverse.prepare(p, self._used)
        s, r = np.zeros_like(p.u), -p.gradient
        y = self._inverse.solve(r)
        q, rho = y.copy(), float(r @ y)
        left = self._forcing**2
        if self._foretold and p.gap > 0.0:  # P is as good as quadratic here: go all the way
            left = min(left, max(1e-10, AIM * self.tol * p.primal / p.gap))
        stop, self._used = left * rho, 0
        while rho > stop and self._used < MOST:
            if self._inverse.improve(p, self._used):  # dear, but the step is dearer
                y = self._inverse.solve(r)
                q, rho = y.copy(), float(r @ y)
                stop = left * float(p.gradient @ self._inverse.solve(p.gradient))
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
            y = self._inverse.solve(r)
            rho, before = float(r @ y), rho
            q = y + rho / before * q
        self._products += self._used
        return s, -0.5 * float(p.gradient @ s)

    def _fails(self, p: Point, q: Point, falls: float) -> bool:
        """Whether the step from p to q is the last one that may fail before rows near their kinks
        are looked at."""
        if self._settling or q.value <= p.value - KEPT * falls or pieces(p.loss) is None:
            return False
        self._lost += self._used + SHORTENED
        price = self._inverse.cost(p.curved) + FACTORS * self._inverse.cost(0)
        self._settling = self._inverse.suits and self._lost >= price
        return self._settling

    def _settled(self, p: Point) -> tuple[Floats, float]:
        """The step of a model that knows where rows near their kinks turn, and its fall.

        None at all where the last one kept its word: then it is time for a narrower kink.
        """
        if self._narrower(p, max(0.0, self._left)) is not p.loss:
            return np.zeros_like(p.u), max(0.0, self._left)
        H, loss = self._inverse.hessian(), pieces(p.loss)
        assert loss is not None
        self._products += int(self._inverse.cost(p.curved))
        curvature = Curvature(H)
        step = -curvature.solve(p.gradient)
        if curvature.singular:
            return step, -0.5 * float(p.gradient @ step)
        near = self._rows.near_kinks(loss, step, TURNING, ROOM // (8 * len(H)))
        near.rows[:, -1] *= self._free
        return settle(p.gradient, H, near, loss, step)

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
                return float(sizes[np.argmin(rose)])
        return 0.0

    def state(self) -> dict[str, Any]:
        assert self._at is not None
        p, halved, since = self._at
        seen = (self._lowest, self._highest, self._inverse.made, p)
        points = [q and (q.u, getattr(q.loss, "h", 0.0)) for q in seen]
        step = (self._used, self._foretold, self._products, self._lost, self._settling, self._left)
        inverse = (self._inverse.all_rows, self._inverse.single, self._inverse.block)
        return {
            "points": points, "since": (halved, since), "n_iter": self.n_iter, "step": step,
            "inverse": inverse,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        low, high, made, now = state["points"]
        self._lowest, self._highest = self._seen(low), self._seen(high)
        if made:
            self._inverse.restore(self._seen(made), *state["inverse"])
        p = self._seen(now)  # the last: products are with the curvatures of what was looked at last
        self._at, self.n_iter = (p, *state["since"]), state["n_iter"]
        self._used, self._foretold, self._products, *more = state["step"]
        self._lost, self._settling, self._left = more

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
