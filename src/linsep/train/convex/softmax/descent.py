"""Multinomial logistic regression on dense rows: preconditioned L-BFGS over streamed passes.

    P(W, b) = ½‖W‖² + C Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ,   b not penalised

A pass (`passes`) keeps no number for a row: a million rows of a thousand classes need the
memory of the weights. The first guess at the inverse Hessian comes from a sample of the rows
(`curvature`), is made anew once passes have cost as much as making it, and takes
correlations and units of features out of the way: a few passes do where plain L-BFGS takes dozens
or hundreds.

The gradient of the losses belongs to a dual point, Aₖ = −C ∂F/∂wₖ, so that every pass tells the
duality gap ½‖W − A‖² as well; classes that are out of balance cost a little more.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.errors import DataError, OverflowedError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.coordinates import TOO_LARGE, Blocks, prepare, spread
from linsep.train.convex.drive import Candidate
from linsep.train.convex.lbfgs import Memory
from linsep.train.convex.softmax.curvature import Curvature, rebuilding_cost
from linsep.train.convex.softmax.full_problem import MIXED
from linsep.train.convex.softmax.passes import SoftmaxPasses
from linsep.train.convex.solution import Solution, end_of_newton
from linsep.train.run.state import record

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

BALANCING = 12  # steps of the biases alone, at most, where all but their balance is reached
PAIRS = 1 << 22  # weights that L-BFGS may remember, in steps of which it needs some


@record
class Point(NamedTuple):
    """Weights, the objective divided by C Σ cᵢ, its gradient, and Σ cᵢpᵢₖ(1 − pᵢₖ) by class."""

    W: Floats
    b: Floats
    value: float
    gradient: Floats
    loss: float
    out: Floats
    doubt: Floats


class SoftmaxDescent:
    """The solver, as `linsep.train.convex.drive.drive` wants it.

    Parameters
    ----------
    X : checked C-contiguous float32 or float64 array
    codes : class number of each row
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty, and then what the last step promised
        stands for the gap
    n_classes : how many classes there are
    fit_intercept : whether the biases are free; otherwise they are 0
    tol : the relative gap asked for, which decides the precision of products
    start : (W, b) to start from
    careful : bring columns to one scale first
    """

    def __init__(
        self,
        X: Array,
        codes: Array,
        weights: Floats | None,
        C: float,
        *,
        n_classes: int,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
        careful: bool = False,
    ) -> None:
        self._given = (X, codes, weights, C)
        self._options: dict[str, Any] = {
            "n_classes": n_classes, "fit_intercept": fit_intercept, "tol": tol, "n_jobs": n_jobs,
            "start": start,
        }  # fmt: skip
        self.pool, self.tol, self.n_iter = Pool(n_jobs), tol, 0
        self._careful = careful
        self._best: Point | None = None
        self._gap, self._promised = math.inf, math.inf
        self.separated = self._restored = False

    @property
    def name(self) -> str:
        return "newton"

    def rescaled(self) -> "SoftmaxDescent | None":
        """The same in columns of moderate scale."""
        if self._careful:
            return None
        return SoftmaxDescent(*self._given, **self._options, careful=True)

    def interrupted(self) -> None:
        """A pass changes nothing but its own sums."""
        if self._best is None:
            W, b = self._begin(guess=False)
            self._keep(self._point(W, b))

    def state(self) -> dict[str, Any]:
        """The point, past steps, and where the guess at the Hessian was made: that is made again
        from there, which needs rows but no memory."""
        known = {"point": self._p, "pairs": self._memory.pairs, "guessed": self._guessed}
        known["scale"] = self._curvature.scale
        best = {"best": self._best, "gap": self._gap, "promised": self._promised}
        more = {"spent": self._spent, "n_iter": self.n_iter, "separated": self.separated}
        return {**known, **best, **more}

    def restore(self, state: dict[str, Any]) -> None:
        W, b, stage = self._guessed = state["guessed"]
        self._begin(guess=False)
        self._p, self._best = state["point"], state["best"]
        self._memory = Memory(self._size)
        self._memory.pairs = list(state["pairs"])
        self._curvature = Curvature.at(
            self._passes, self._ridge, W, b, self._free, stage, state["scale"]
        )
        self._gap, self._promised = state["gap"], state["promised"]
        self._spent, self.n_iter, self.separated = (
            state[name] for name in ("spent", "n_iter", "separated")
        )
        self._restored = True

    def candidates(self) -> Iterator[Candidate]:
        """One for each step, after the passes that it took."""
        if not self._restored:
            W, b = self._begin()
            self._p = self._point(W, b)
            self._memory, self._spent = Memory(self._size), 0.0
            self._keep(self._p)
        while True:
            yield self._candidate()
            if self.separated or not self._go_on():
                return
            self._keep(self._p)

    def _go_on(self) -> bool:
        """One step, if need be with another guess at the Hessian; whether there was one."""
        if self._spent >= rebuilding_cost(self._passes, self._curvature.next):
            self._guess_again()
        while (step := self._step(self._p)) is None:
            if self._curvature.final:
                return False  # rounding forbids more
            self._guess_again()
        p = step
        cost = self._imbalance(p)
        if self._ridge.all() and self._bound(p) - cost <= 0.8 * self.tol * p.value < cost:
            p = self._balanced(p)
            self._memory.clear()
        self.separated, self._p = self._all_right(p), p
        return True

    def _guess_again(self) -> None:
        p, stage = self._p, self._curvature.next
        self._curvature = self._curvature.rebuilt(self._passes, self._ridge, p.W, p.b)
        self._guessed, self._memory, self._spent = (p.W, p.b, stage), Memory(self._size), 0.0

    def _begin(self, guess: bool = True) -> tuple[Floats, Floats]:
        """Columns, passes and the first point; the first guess at the Hessian."""
        X, codes, weights, C = self._given
        options = self._options
        n, d = X.shape
        K, free, start = options["n_classes"], options["fit_intercept"], options["start"]
        total = float(n if weights is None else weights.sum())
        self._unit = C * total if math.isfinite(C) else total
        penalty = 1 / self._unit if math.isfinite(C) else 0.0
        about = spread(X, self._careful)
        self._columns = prepare(X, about, free, penalty, self._careful)
        scale = self._columns.scale.astype(np.float64) if self._columns.scale.size else np.ones(d)
        self._ridge = penalty * scale * scale
        c = np.array([1 / n]) if weights is None else weights / total
        real = np.float64 if options["tol"] < 1e-5 else X.dtype
        self._passes = SoftmaxPasses(Blocks(X, self._columns), codes, c, K, self.pool, real)
        require_classes(self._passes.share, free)
        W, b = np.zeros((K, d)), np.zeros(K)
        if free:
            b = np.log(self._passes.share)
            b -= b.mean()
        self._free = free
        if start is not None:
            W, b = self._columns.inside(np.asarray(start[0], np.float64), np.asarray(start[1]))
            W = W - W.mean(axis=0)
        W, b = np.asarray(W, np.float64), np.asarray(b, np.float64)
        self._size = max(6, min(40, PAIRS // (K * (d + 1))))
        if guess:
            self._guessed = W, b, 0
            self._curvature = Curvature.at(self._passes, self._ridge, W, b, free)
        return W, b

    def _point(self, W: Floats, b: Floats) -> Point:
        """One pass over all rows."""
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            raise OverflowedError(TOO_LARGE)
        seen = self._passes(W, b)
        self.n_iter += 1
        value = seen.loss + 0.5 * float(np.vdot(W * self._ridge, W))
        if not math.isfinite(value):
            raise OverflowedError(TOO_LARGE)
        G = seen.W + W * self._ridge
        g = seen.b[:, None] if self._free else np.zeros((len(b), 1))
        gradient = np.concatenate([G, g], axis=1)
        return Point(W, b, value, gradient, seen.loss, seen.b, seen.doubt)

    def _step(self, p: Point) -> Point | None:
        """One step of L-BFGS; None where no point along it is better."""
        memory, curvature = self._memory, self._curvature
        curvature.doubt = p.doubt
        direction = -memory.apply(p.gradient, curvature)
        slope = float(np.vdot(p.gradient, direction))
        if not slope < 0:
            memory.clear()
            direction = -curvature(p.gradient)
            slope = float(np.vdot(p.gradient, direction))
        if not -slope > 1e-14 * abs(p.value):
            return None
        direction -= direction.mean(axis=0)  # one vector more for all classes is the same model
        t, noise = 1.0, 4 * float(np.finfo(self._passes.real).eps) * abs(p.value)
        while t > 1e-6:
            q = self._point(p.W + t * direction[:, :-1], p.b + t * direction[:, -1])
            self._spent += 1.0
            if q.value <= p.value + 1e-4 * t * slope + noise:
                self._learn(t * direction, q.gradient - p.gradient)
                self._promised = -slope
                return q
            t *= max(0.1, min(0.5, -0.5 * slope * t / (q.value - p.value - t * slope)))
        return None

    def _learn(self, s: Floats, y: Floats) -> None:
        """Remember a step and the change of the gradient along it, and scale the guess to it."""
        self._memory.add(s, y)
        guessed = float(np.vdot(y, self._curvature(y))) / self._curvature.scale
        along = float(np.vdot(s, y))
        if guessed > 0.0 and along > 0.0:
            self._curvature.scale = along / guessed

    def _all_right(self, p: Point) -> bool:
        """Whether, without a penalty, every row has more than half for its own class: the losses
        then fall for ever. No row can have less where all losses together are below log 2."""
        least = float(self._passes.c[self._passes.c > 0].min())
        return not self._ridge.any() and p.loss < 0.69 * least

    def _keep(self, p: Point) -> None:
        """The best point so far, by its bound or by its value."""
        gap, best = self._bound(p), self._best
        if best is None or gap <= self._gap or (self._gap > best.value > p.value):
            self._best, self._gap = p, gap

    def _candidate(self) -> Candidate:
        assert self._best is not None
        primal = self._best.value
        return Candidate(self.n_iter, primal * self._unit, (primal - self._gap) * self._unit)

    def _bound(self, p: Point) -> float:
        """F − min F is at most this: the gap, and what bringing classes into balance costs.

        Probabilities mixed with the same q for every row, p′ = (1 − ε)p + εq, are in balance for
        ε = maxₖ (1 − shareₖ/Tₖ); the dual terms fall by a share ε, and A moves by ε(M − q mᵀ).
        """
        G = p.gradient[:, :-1]
        if not self._ridge.all():
            return self._promised if p.gradient.any() else 0.0
        return 0.5 * float(np.vdot(G / self._ridge, G)) + self._imbalance(p)

    def _imbalance(self, p: Point) -> float:
        if not self._free:
            return 0.0
        taken = p.out + self._passes.share
        return MIXED * p.value * max(0.0, float((p.out / np.maximum(taken, 1e-300)).max()))

    def _balanced(self, p: Point) -> Point:
        """The same weights with biases that bring the classes into balance; half a pass each."""
        b, out, doubt = p.b, p.out, p.doubt
        part = 1.0 - 1.0 / len(b)  # right at once where every class is mixed up with every other
        for _ in range(BALANCING):
            b = b - part * np.clip(out / np.maximum(doubt, 1e-300), -1.0, 1.0)
            out, doubt = self._passes.balance(p.W, b)
            over = float((out / (out + self._passes.share)).max())
            if MIXED * over <= 0.1 * self.tol:
                break
        return self._point(p.W, b - b.mean())

    def solution(self) -> Solution:
        """The best weights so far, in the units of the data."""
        p = self._best
        assert p is not None
        W, b = self._columns.outside(p.W, p.b)
        if not self._free:
            b = np.zeros(len(W))
        status = Status.no_optimum if self.separated else Status.budget
        return end_of_newton(W, b, p.value, self._gap, self._unit, self.n_iter, status)


def require_classes(share: Any, fit_intercept: bool) -> None:
    """Refuse a class without weight where its bias is free: it would have no optimum."""
    empty = np.flatnonzero(share == 0)
    if len(empty) and fit_intercept:
        raise DataError(
            f"class number {empty[0]} has no row of positive weight; every class needs one. "
            "Look at sample_weight, or drop the class."
        )
