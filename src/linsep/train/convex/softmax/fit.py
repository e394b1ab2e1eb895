"""Multinomial logistic regression on dense rows: a sample, then a few passes, then a proof.

    P(W, b) = ½‖W‖² + C Σ cᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ,   b not penalised

Many parameters: preconditioned L-BFGS (`descent`), driven by `linsep.train.convex.drive`.
Few: Newton's method with the full Hessian, as here and in `newton`. Of many rows an even
sample gives a first point; one pass from there shows which rows are still undecided, and a sample
that prefers those stands for all from then on. Every pass over all rows gives the true gradient g,
and the next point minimises

    F_sample(W) − ⟨∇F_sample(Wₖ) − g, W⟩

by limited-memory BFGS with the inverse Hessian of a smaller sample. The biases are always at their
best and cost nothing. The run stops on the duality gap.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError, ParameterError
from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.basis import better_basis
from linsep.train.convex.coordinates import Blocks, Columns, prepare, spread
from linsep.train.convex.curvature import asked_for
from linsep.train.convex.drive import Candidate, Goal, Savepoint, drive
from linsep.train.convex.lbfgs import Memory
from linsep.train.convex.sampling import distances, draw
from linsep.train.convex.softmax.descent import SoftmaxDescent, require_classes
from linsep.train.convex.softmax.newton import Inverse, by_newton, few_parameters
from linsep.train.convex.softmax.problem import Objective, Point, descend
from linsep.train.convex.softmax.sums import SoftmaxSums
from linsep.train.convex.solution import Solution, end_of_newton
from linsep.train.run.loop import UNCOUNTED, Listener, Pass

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_MANY = 24576  # rows from which a sample pays


def _first(n: int, d: int) -> int:
    """Rows of the even sample."""
    return min(max(4096, 96 * d), n // 14)


def _second(n: int, d: int) -> int:
    """Rows of the sample that prefers undecided and distant ones."""
    return min(max(12288, 768 * d), n // 4)


def fit_softmax(
    X: Array,
    codes: Array,
    weights: Floats | None = None,
    C: float = 1.0,
    *,
    n_classes: int,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 100,
    n_jobs: int | None = None,
    start: tuple[Array, Array] | None = None,
    listener: Listener | None = None,
    savepoint: Savepoint | None = None,
) -> Solution:
    """Minimise ½‖W‖² + C Σ cᵢ × softmax loss and say how near the minimum is.

    Parameters
    ----------
    X : checked C-contiguous float32 or float64 array
    codes : class number of each row, 0 .. n_classes − 1
    weights : cᵢ ≥ 0, or None where each row counts once
    C : weight of the losses; infinity stands for no penalty (maximum likelihood)
    n_classes : how many classes there are
    fit_intercept : whether the biases are free; otherwise they are 0
    tol : the relative gap asked for; without a penalty many digits of the weights always are (see
        `linsep.train.convex.curvature.asked_for`)
    max_iter : most passes over all rows
    n_jobs : threads; never changes the bytes of the result
    start : (W, b) to start from
    listener : called after each pass; True stops the run
    savepoint : where descent stands, or where an earlier one stood; Newton's method begins again

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [0.5]]), np.array([0, 1, 2, 1])
    >>> found = fit_softmax(X, codes, C=1.0, n_classes=3, tol=1e-10)
    >>> found.w.round(4).ravel(), found.status.name
    (array([-0.599 , -0.1242,  0.7232]), 'converged')
    """
    if not C > 0:
        raise ParameterError(f"C is {C!r}; it must be positive, or infinite for no penalty.")
    options: dict[str, Any] = {
        "n_classes": n_classes,
        "fit_intercept": fit_intercept,
        "tol": asked_for(tol, C),
        "max_iter": max_iter,
        "n_jobs": n_jobs,
        "listener": listener,
        "savepoint": savepoint,
    }
    basis = better_basis(X, C, fit_intercept)
    if basis is None:
        return _solve(X, codes, weights, float(C), start, options)
    if start is not None:
        start = basis.inside(start[0], np.asarray(start[1]))
    found = _solve(basis.Z, codes, weights, float(C), start, options)
    W, b = basis.outside(found.w, found.b)
    return replace(found, w=W, b=b if fit_intercept else np.zeros(n_classes))


def _solve(
    X: Array,
    codes: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, Array] | None,
    options: dict[str, Any],
) -> Solution:
    K, d = options["n_classes"], X.shape[1]
    if few_parameters(d, K, math.isinf(C)):
        return _by_newton(X, codes, weights, C, start, options)
    found = _by_descent(X, codes, weights, C, start, options)
    stuck = found.status is Status.budget and found.n_iter < options["max_iter"]
    if not (stuck and few_parameters(d, K, True)):
        return found
    left = options | {"max_iter": options["max_iter"] - found.n_iter}
    more = _by_newton(X, codes, weights, C, (found.w, found.b), left)
    return replace(more, n_iter=found.n_iter + more.n_iter)


def _by_descent(
    X: Array,
    codes: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, Array] | None,
    options: dict[str, Any],
) -> Solution:
    """L-BFGS under the one driver."""
    listener: Listener | None = options["listener"]
    unit = float(len(codes) if weights is None else weights.sum())
    unit *= C if math.isfinite(C) else 1.0

    def heard(seen: Candidate) -> Any:
        assert listener is not None
        return listener(Pass(seen.n_iter, UNCOUNTED, 1, seen.primal / unit))

    known = {key: options[key] for key in ("n_classes", "fit_intercept", "tol", "n_jobs")}
    solver = SoftmaxDescent(X, codes, weights, C, start=start, **known)
    tell = None if listener is None else heard
    goal = Goal(options["tol"], options["max_iter"], tell, savepoint=options["savepoint"])
    return drive(solver, goal)


def _by_newton(
    X: Array,
    codes: Array,
    weights: Floats | None,
    C: float,
    start: tuple[Array, Array] | None,
    options: dict[str, Any],
) -> Solution:
    with Pool(options["n_jobs"]) as pool, np.errstate(all="ignore"):
        for careful in (False, True):
            try:
                return _Run(options, pool).solve(X, codes, weights, C, start, careful)
            except OverflowedError:
                if careful:
                    raise
    raise AssertionError  # both ways out are above


class _Run:
    """One fit: where it is, how many passes it took, and how it ends."""

    def __init__(self, options: dict[str, Any], pool: Pool) -> None:
        self.tol = max(options["tol"], 1e-15)
        self.max_iter: int = options["max_iter"]
        self.listener: Listener | None = options["listener"]
        self.n_classes: int = options["n_classes"]
        self.fit_intercept: bool = options["fit_intercept"]
        self.pool = pool
        self.passes = 0
        self.best: Point | None = None
        self.gap = math.inf
        self.status: Status | None = None

    def told(self, p: Point, promised: float = math.inf) -> bool:
        """Count a pass over all rows and say whether it is the last."""
        self.passes += 1
        gap = self.full.gap(p)
        free = not self.full.ridge.any()
        if free:  # no dual bound: twice what the last step promised
            gap = promised if p.gradient.any() else 0.0
        if self.best is None or p.value <= self.best.value * (1 + 1e-6) or gap <= self.gap:
            self.best, self.gap = p, gap
        if self.listener and self.listener(Pass(self.passes, UNCOUNTED, 1, p.value)) is True:
            self.status = Status.stopped
        elif free and self.full.sums.margins(p.b)[0] > 0:
            self.status = Status.no_optimum
        elif gap <= self.tol * p.value:
            self.status = Status.converged
        elif self.passes >= self.max_iter:
            self.status = Status.budget
        return self.status is not None

    def solve(
        self,
        X: Array,
        codes: Array,
        weights: Floats | None,
        C: float,
        start: tuple[Array, Array] | None,
        careful: bool,
    ) -> Solution:
        n, d = X.shape
        K = self.n_classes
        total = float(n if weights is None else weights.sum())
        self.unit = C * total if math.isfinite(C) else total
        penalty = 1 / self.unit if math.isfinite(C) else 0.0
        if X.size <= 1 << 21:
            X = X.astype(np.float64, copy=False)
        self.about = spread(X, careful)
        self.columns = prepare(X, self.about, self.fit_intercept, penalty, careful)
        scale = self.columns.scale.astype(np.float64) if self.columns.scale.size else np.ones(d)
        self.ridge = penalty * scale * scale
        c = np.array([1 / n]) if weights is None else weights / total
        blocks = Blocks(X, self.columns)
        self.full = self._objective(SoftmaxSums(blocks, codes, c, K, self.pool, np.float64))
        if self.tol < 1e-8:
            self.full.sums.enough = 1e-14
        require_classes(self.full.sums.share, self.fit_intercept)
        W, b = np.zeros((K, d)), np.zeros(K)
        if self.fit_intercept:
            b = np.log(self.full.sums.share)
            b -= b.mean()
        if start is not None:
            W, b = self.columns.inside(np.asarray(start[0], np.float64), np.asarray(start[1]))
        try:
            self._by_passes(W, b, start is None)
        except KeyboardInterrupt:
            self.status = Status.interrupted
        return self._ending(W, b)

    def _objective(self, sums: SoftmaxSums) -> Objective:
        return Objective(sums, self.ridge, self.fit_intercept)

    def _by_passes(self, W: Floats, b: Floats, cold: bool) -> None:
        sums, n = self.full.sums, self.full.sums.blocks.n_rows
        sampled = n >= _MANY
        if sampled and cold:
            W, b = self._from_even_sample(W, b)
        value, b = self.full.value(W, b)
        doubt = sums.undecided() if sampled else np.empty(0)
        p = Point(W, b, value, self.full.slope(W))
        self.told(p)
        if sampled and self.status is None:
            p = self._by_sample(p, doubt, Memory(30))
        if self.status is not None:
            return
        found = by_newton(self.full, p, self.tol, self.max_iter, self.passes, self.listener)
        self.best, self.gap, self.passes, self.status = found

    def _sample(self, rows: Array, chance: Any) -> Objective:
        """F over chosen rows."""
        sums, nothing = self.full.sums, Columns(np.empty(0), np.empty(0))
        c = (sums.c if len(sums.c) == 1 else sums.c[rows]).astype(np.float64) / chance
        blocks = Blocks(sums.blocks.rows(rows), nothing)
        return self._objective(
            SoftmaxSums(blocks, sums.codes[rows], c, self.n_classes, self.pool, sums.real)
        )

    def _from_even_sample(self, W: Floats, b: Floats) -> tuple[Floats, Floats]:
        """A first point from evenly spaced rows."""
        n, d = self.full.sums.blocks.X.shape
        rows = np.arange(_first(n, d)) * n // _first(n, d)
        sample = self._sample(rows, len(rows) / n)
        p = sample.point(W, b)
        for _ in range(4):
            p = descend(sample, p, self._inverse(sample, p), Memory(6), 6, 1e-3 * p.value)
        return p.W, p.b

    def _inverse(self, objective: Objective, p: Point) -> Inverse:
        """The inverse Hessian of a problem with few parameters."""
        objective.value(p.W, p.b)
        return Inverse(objective)

    def _by_sample(self, p: Point, doubt: Floats, memory: Memory) -> Point:
        """Passes that correct the solution of a sample of undecided and distant rows."""
        sums, (n, d) = self.full.sums, self.full.sums.blocks.X.shape
        far = np.minimum(distances(sums.blocks, self.about, self.pool), 1e6)
        c = np.broadcast_to(sums.c, n).astype(np.float64)
        chance = c * (0.6 * doubt / float(c @ doubt) + 0.2 + 0.2 * far)
        chance = np.minimum(1.0, _second(n, d) * chance)
        rows = draw(chance, 0)
        sample, few = self._sample(rows, chance[rows]), rows[::3]
        fewer = self._sample(few, chance[few] / 3)  # enough for a first guess at the Hessian
        inverse = self._inverse(fewer, p)
        gap, q = math.inf, sample.point(p.W, p.b)
        while self.gap < 0.5 * gap and self.status is None:
            gap, promised = self.gap, float(np.vdot(p.gradient, inverse(p.gradient)))
            if promised > 1e-5 * p.value and self.passes > 1:
                inverse = self._inverse(fewer, p)
                memory.clear()
            q = sample.tilt(q, p.gradient)
            q = descend(sample, q, inverse, memory, 12, 0.01 * promised)
            new = self.full.point(q.W, q.b)
            self.told(new)
            if new.value > p.value:
                break
            memory.add(new.W - p.W, new.gradient - p.gradient)
            p = new
        return p

    def _ending(self, W: Floats, b: Floats) -> Solution:
        p, unit = self.best, self.unit
        status = self.status or Status.budget
        if p is not None:
            W, b = p.W, p.b
        W, b = self.columns.outside(W, b)
        if not self.fit_intercept:
            b = np.zeros(self.n_classes)
        value, gap = (p.value, self.gap) if p else (math.inf, math.inf)
        return end_of_newton(W, b, value, gap, unit, self.passes, status)
