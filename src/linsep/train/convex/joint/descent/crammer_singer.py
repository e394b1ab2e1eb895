"""Crammer and Singer's support vector machine for several classes, by descent on its dual.

    minimise over W, b   P = ½Σ‖wₖ‖² + Σᵢ Uᵢ max(0, maxₖ(1 + sᵢₖ − sᵢ,yᵢ)),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ
    maximise over A      D = Σᵢ Aᵢ,yᵢ − ½Σ‖wₖ‖²,   wₖ = Σ Aᵢₖxᵢ
    where                Aᵢₖ ≤ 0 for k ≠ yᵢ,   Aᵢ,yᵢ ≤ Uᵢ,   Σₖ Aᵢₖ = 0,   Σᵢ Aᵢₖ = 0 if b is free

The K multipliers of one row are moved to their best place together, which is a projection onto a
simplex (Crammer and Singer, 2001; Keerthi et al., 2008). A row whose multipliers did not move rests
for a few passes. Where passes are many, all multipliers at no bound are moved together between them
(`face`). A free intercept is found by the method of multipliers: in a pass every change
pulls at b, and the next pass starts from b + ρ Σᵢ Aᵢ, until Σᵢ Aᵢ = 0. For the bound D the
multipliers are made to break even first.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK
from linsep.parallel import Pool
from linsep.rows.rows import CSR, as_rows
from linsep.train.convex.drive import Candidate, Goal, drive
from linsep.train.convex.dual.design import middle
from linsep.train.convex.dual.state import EPS
from linsep.train.convex.joint.balance import even
from linsep.train.convex.joint.descent.face import JointFace, Products
from linsep.train.convex.joint.descent.sweep import charges, combine, dimensions, sweep
from linsep.train.convex.solution import Solution
from linsep.train.convex.steps.delta_rule import seen_through
from linsep.train.convex.steps.standardise import Lens
from linsep.train.order import row_order
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

PULL = 0.1  # ρ as a part of the typical ‖x‖²
INNER = 10  # visits to the rows that move, in one pass
BETWEEN = 5  # passes between two evaluations over all rows, at most
NEGLIGIBLE = 0.1  # of its share in the gap that is asked for: what a row may lack and rest
WRITTEN = 1 << 26  # entries up to which dense rows may be written out otherwise
SOON = 10  # passes that are made before the first step on a face
SHARE = 3  # visits that steps on faces may take, for each of descent
FEWEST = 8  # products that are worth a step on a face
AIM = 0.1  # part of the gap that is asked for: what the rows of a face may be left with
LEFT = 0.01  # part of what faces gained that another must gain to be worth one more
DEARER, WASTED = 1.3, 24  # an entry by itself, against one of a dense row; what such a row adds


class Joint(Stateful):
    """The problem in rows z = (x − μ)/scale, and where the descent is."""

    state_names = ("A", "W", "b", "rest", "lacking", "visits", "spent")

    def __init__(self, X: Any, codes: Array, caps: Floats, K: int, free: bool) -> None:
        n, d = X.shape
        sparse = sp.issparse(X)
        self.X, self.codes, self.free = X, codes.astype(np.int64), free
        self.centre = middle(X) if free and not sparse else np.zeros(d)
        largest = max(float(abs(X).max()) if X.size else 0.0, float(np.abs(self.centre).max()))
        if not sparse and free:
            largest = max(float(np.abs(part - self.centre).max()) for _, part in self._raw())
        self.scale = 2.0 ** float(np.clip(np.ceil(np.log2(largest)), -400, 400)) if largest else 1.0
        exact = np.full(d, 1.0 / self.scale)
        self.lens = Lens(exact, self.centre * exact, np.ones(d))
        self.rows = as_rows(self.lens.of(X)) if sparse else self._dense_rows()
        self.caps = caps * self.scale**2  # ½‖w‖² = ½‖v‖²/scale²: for v the caps are larger
        self.squares = np.concatenate([_squares(Z) for _, Z in self._blocks()])
        typical = float(np.median(self.squares))
        typical = typical if typical > 0.0 else float(self.squares.max()) or 1.0
        self.squares = np.maximum(self.squares, 1e-12 * typical)
        self.rho = PULL * typical if free else 0.0
        self.A = np.zeros((n, K))
        self.W = self.rows.weights(K, d) if isinstance(self.rows, CSR) else np.zeros((K, d))
        self.b, self.rest = np.zeros(K), np.zeros((n, 2), np.int64)
        self.lacking = float(self.caps.sum())
        self.visits = self.spent = 0  # of rows, by passes and by steps on faces

    def _dense_rows(self) -> Any:
        """Entry by entry, all classes at each, where rows are short or mostly zero."""
        n, d = self.X.shape
        if n * d <= WRITTEN:
            Z = self.lens.of(self.X)
            if DEARER * np.count_nonzero(Z) <= n * (d + WASTED):
                return as_rows(sp.csr_matrix(Z.astype(np.float64, copy=False)))
        return seen_through(self.lens, as_rows(self.X))

    def _raw(self) -> Any:
        for start in range(0, self.X.shape[0], BLOCK):
            yield slice(start, start + BLOCK), self.X[start : start + BLOCK]

    def _blocks(self) -> Any:
        for rows, part in self._raw():
            yield rows, self.lens.of(part)

    def combination(self, A: Floats) -> Floats:
        """Σᵢ Aᵢ zᵢᵀ, as the rows want their weights."""
        total = np.zeros_like(self.W)
        if isinstance(self.rows, CSR):
            wide = np.zeros((len(A), self.W.shape[1]))
            wide[:, : len(self.b)] = A
            combine(self.rows, np.arange(len(A)), wide, total)
            return total
        for rows, Z in self._blocks():
            total += np.asarray(Z.T @ A[rows]).T
        return total

    def by_class(self, W: Floats) -> Floats:
        """Weights as (K, d)."""
        return self.rows.by_class(W, len(self.b)) if isinstance(self.rows, CSR) else W

    def begin(self, A: Floats, b: Floats) -> None:
        """Start from multipliers and intercepts in the units of the data."""
        self.A = self._feasible(A * self.scale**2)
        self.W = self.combination(self.A)
        shift = self.by_class(self.W) @ (self.centre / self.scale)
        self.b = b + shift if self.free else self.b

    def _feasible(self, A: Floats) -> Floats:
        own = np.arange(len(A)), self.codes
        leave = np.maximum(0.0, -A)
        leave[own] = 0.0
        sums = leave.sum(axis=1)
        leave *= np.divide(self.caps, sums, out=np.ones_like(sums), where=sums > self.caps)[:, None]
        A = -leave
        A[own] = leave.sum(axis=1)
        return A

    def go(self, seed: int, number: int, aim: float) -> tuple[int, bool]:
        """One pass, and a few more over the rows that moved, each in an order of its own.

        b is pulled on after each. Returns how many rows moved at most, and whether what rows lack
        will soon be `aim`, if it goes on to fall as it does.
        """
        width = self.W.shape[1] if isinstance(self.rows, CSR) else len(self.b)
        s, step, gap, moved, soon = np.zeros(width), np.zeros(width), np.zeros(1), 0, False
        known = (self.rows, self.codes, self.caps, self.squares)
        least = NEGLIGIBLE * aim / len(self.codes)
        order = np.arange(len(self.codes))
        for turn in range(INNER):
            order = order[row_order(len(order), seed, number, turn, True)]
            state = (self.A, self.W, self.b, self.rest, s, step, gap)
            self.visits += len(order)
            moved = max(moved, int(sweep(*known, order, self.rho, least, *state)))
            if self.free:
                self.b += self.rho * self.A.sum(axis=0)
            order = order[self.rest[order, 0] == 0]
            before, self.lacking = self.lacking, float(gap[0])
            soon = self.lacking * min(1.0, self.lacking / max(before, 1e-300)) <= aim
            if soon or not len(order):
                break
        return moved, soon

    def step_on_faces(self, goal: float, pool: Pool) -> None:
        """Steps from face to face, until one meets no bound or gains little, or visits are made.

        On a face of more dimensions than there are weights D is flat along some of them, so that
        most multipliers would end at a bound: which of them, descent finds sooner.
        """
        last, gained, K = SHARE * self.visits, 0.0, len(self.b)
        if dimensions(self.A, self.codes, self.caps) > K * self.X.shape[1]:
            return
        rows, a = self._on_face(np.arange(len(self.codes)))
        while len(rows) and last - self.spent >= FEWEST * len(rows):
            products = Products(self.rows, rows, self.W, pool, self._written(rows))
            own = np.arange(len(rows)), self.codes[rows]
            s = products.scores(self.W)
            s[:, :K] += self.b + 1.0
            s[own] -= 1.0
            lengths = self.squares[rows] + self.rho
            face = JointFace(products, a, s, self.caps[rows], lengths, self.rho)
            step = face.step(goal, (last - self.spent) // len(rows))
            self.spent += (step.products + 1) * len(rows)
            if step.gain <= 0.0:
                break
            A = -step.a[:, :K]
            A[own] = 0.0
            A[own] = -A.sum(axis=1)
            self.b += self.rho * (A - self.A[rows]).sum(axis=0)
            self.A[rows] = A
            self.W -= step.moved
            gained += step.gain
            if not step.met or step.gain <= LEFT * gained:
                break
            rows, a = self._on_face(rows)

    def _written(self, rows: Array) -> Array | None:
        """Some rows as an array, where they are dense: by products of matrices they cost half."""
        if isinstance(self.rows, CSR) or len(rows) * self.X.shape[1] > WRITTEN:
            return None
        return np.ascontiguousarray(self.lens.of(self.X[rows]))

    def _on_face(self, rows: Array) -> tuple[Array, Floats]:
        """Those of the rows with several multipliers a = U e_y − A above zero, and these."""
        a = np.zeros((len(rows), self.W.shape[1] if isinstance(self.rows, CSR) else len(self.b)))
        np.negative(self.A[rows], out=a[:, : len(self.b)])
        a[np.arange(len(rows)), self.codes[rows]] += self.caps[rows]
        a[a <= 1e-12 * self.caps[rows, None]] = 0.0
        several = np.count_nonzero(a, axis=1) > 1
        return rows[several], a[several]

    def evaluate(self) -> tuple[float, float, Floats]:
        """P at (W, b), D at the multipliers that break even, and these."""
        own = np.arange(len(self.codes)), self.codes
        A = even(self.A, self.codes) if self.free else self.A
        self.W = self.combination(self.A)  # without the rounding of many small changes
        shaken = EPS * float(np.linalg.norm(self.centre)) / self.scale
        charge = self._charge()
        size = float(np.sum(self.W**2))
        primal = 0.5 * size + charge + shaken * float(self.caps.sum()) * size**0.5
        V = self.combination(A) if self.free else self.W
        return primal, float(A[own].sum()) - 0.5 * float(np.sum(V**2)), A

    def _charge(self) -> float:
        if isinstance(self.rows, CSR):
            known = (self.rows, self.codes, self.caps, self.W, self.b)
            return float(charges(*known, np.zeros(self.W.shape[1])))
        total = 0.0
        for rows, Z in self._blocks():
            S = np.asarray(Z @ self.W.T) + self.b + 1.0
            S[np.arange(len(S)), self.codes[rows]] -= 1.0
            lack = S.max(axis=1) - S[np.arange(len(S)), self.codes[rows]]
            total += float(self.caps[rows] @ lack)
        return total

    def outside(self, W: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Weights and intercepts in the units of the data."""
        W = np.ascontiguousarray(self.by_class(W)) / self.scale
        return W, b - W @ self.centre


def _squares(Z: Any) -> Floats:
    return np.asarray(
        Z.multiply(Z).sum(axis=1) if sp.issparse(Z) else np.sum(Z * Z, axis=1)
    ).ravel()


class Best(Stateful):
    """The lowest P and the highest D met, from W = 0 and A = 0 on."""

    state_names = ("W", "b", "A", "primal", "dual")

    def __init__(self, joint: Joint) -> None:
        self.W, self.b, self.A = np.zeros_like(joint.W), np.zeros_like(joint.b), joint.A * 0.0
        self.primal, self.dual = float(joint.caps.sum()), 0.0

    @property
    def gap(self) -> float:
        return max(0.0, self.primal - self.dual)

    def update(self, joint: Joint) -> None:
        """Keep what is better."""
        primal, dual, A = joint.evaluate()
        if primal <= self.primal * (1.0 + 1e-14):  # as good: later weights are nearer
            self.primal, self.W, self.b = primal, joint.W.copy(), joint.b.copy()
        if dual > self.dual:
            self.dual, self.A = dual, A.copy()


class CrammerSinger:
    """All classes at once, as a solver.

    Parameters
    ----------
    X : checked array or CSR matrix
    codes : class number of each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty
    n_classes : K
    fit_intercept : whether intercepts are free, or zero
    max_iter : most passes
    n_jobs : threads for whoever takes over; rows are visited one after the other
    seed : of the order of the rows
    start : multipliers (n, K) and intercepts of a neighbouring problem
    """

    name = "dual"
    tol = 1e-4
    _moved: int | None = None  # rows that the last pass moved
    _part = 1.0  # of the gap that is asked for, what rows may lack before all are looked at

    def __init__(
        self,
        X: Any,
        codes: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        n_classes: int,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        n_jobs: int | None = 1,
        seed: int = 0,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n = X.shape[0]
        caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, np.float64)
        self._given = (X, codes, caps, n_classes, fit_intercept)
        self.max_iter, self._seed, self._start = max_iter, seed, start
        self.pool, self.n_iter = Pool(n_jobs), 0

    def _begin(self) -> None:
        self.joint = Joint(*self._given)
        if self._start is not None:
            self.joint.begin(*self._start)
        self.best = Best(self.joint)

    def candidates(self) -> Iterator[Candidate]:
        """Passes; an evaluation where the gap may be reached, and every few passes."""
        if self._moved is None:
            self._begin()
        else:
            yield self._seen(self._moved)
        joint, best = self.joint, self.best
        while True:
            self.n_iter += 1
            aim = self._part * self.tol * best.primal
            if self.n_iter > SOON:
                joint.step_on_faces(AIM * aim, self.pool)
            moved, soon = joint.go(self._seed, self.n_iter, aim)
            over = soon or not moved or self.n_iter >= self.max_iter
            if not over and self.n_iter % BETWEEN != 1:
                continue
            if not moved:
                joint.rest[:] = 0
            best.update(joint)
            if best.gap > self.tol * best.primal:  # the estimate was too low: ask for as much less
                self._part = min(1.0, max(0.1, joint.lacking / best.gap))
            self._moved = moved
            yield self._seen(moved)

    def _seen(self, moved: int) -> Candidate:
        unit = self.joint.scale**2
        return Candidate(self.n_iter, self.best.primal / unit, self.best.dual / unit, moved)

    def state(self) -> dict[str, Any]:
        parts = {"joint": self.joint.state(), "best": self.best.state()}
        return {**parts, "n_iter": self.n_iter, "moved": self._moved, "part": self._part}

    def restore(self, state: dict[str, Any]) -> None:
        self._start, self._moved, self.n_iter = None, state["moved"], state["n_iter"]
        self._part = state["part"]
        self._begin()
        self.joint.restore(state["joint"])
        self.best.restore(state["best"])

    def interrupted(self) -> None:
        if not hasattr(self, "best"):
            self._begin()
        self.best.update(self.joint)

    def rescaled(self) -> None:
        """Rows are scaled as a whole already."""

    def solution(self) -> Solution:
        W, b = self.joint.outside(self.best.W, self.best.b)
        unit = self.joint.scale**2
        bounds = (self.best.primal / unit, self.best.dual / unit, self.best.gap / unit)
        return Solution(W, b, self.best.A / unit, *bounds, self.n_iter)


def solve(
    X: Any,
    codes: Array,
    weights: Array | None = None,
    C: float = 1.0,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    listener: Callable[[Candidate], Any] | None = None,
    **settings: Any,
) -> Solution:
    """Fit all classes at once to a relative gap of `tol`; `settings` as of `CrammerSinger`.

    Examples
    --------
    >>> X, codes = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    >>> solution = solve(X, codes, C=10.0, n_classes=3, tol=1e-10)
    >>> solution.status.name, (X @ solution.w.T + solution.b).argmax(axis=1)
    ('converged', array([0, 1, 2]))
    """
    solver = CrammerSinger(X, codes, weights, C, max_iter=max_iter, **settings)
    return drive(solver, Goal(tol, max_iter, listener))
