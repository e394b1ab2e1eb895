"""Coordinate descent on the dual of Crammer and Singer's machine (`classes.joint_problem`).

The K multipliers of one row are moved to their best place together, which is a projection onto a
simplex (Crammer and Singer, 2001; Keerthi et al., *A sequential dual method for large scale
multi-class linear SVMs*, 2008). A row whose multipliers did not move rests for a few passes. Where
passes are many, all multipliers at no bound are moved together between them (`Face`). A free
intercept is found by the method of multipliers: in a pass every change pulls at b, and the next
pass starts from b + ρ Σᵢ Aᵢ, until Σᵢ Aᵢ = 0. For the bound D multipliers are made to break even
first. Rows are taken as (x − μ)/scale: features far from zero would hold intercepts up.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import BLOCK, on_cluster, spans
from linsep.kernels import crammer_singer as kernels
from linsep.kernels import designs
from linsep.parallel import Pool
from linsep.rows.rows import CSR, LANES, aligned, as_rows
from linsep.train.convex.classes.joint_face import Face
from linsep.train.convex.classes.joint_problem import JointProblem, even
from linsep.train.convex.coordinates import middle, unit_of
from linsep.train.convex.drive import Candidate
from linsep.train.convex.solution import Solution
from linsep.train.order import row_order
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Start = tuple[Array, Array] | None
"""Multipliers (n, K) and intercepts of a neighbouring problem."""

PULL = 0.1  # ρ as a part of the typical ‖x‖²
INNER = 10  # visits to the rows that move, in one pass
BETWEEN = 5  # passes between two evaluations over all rows, at most
NEGLIGIBLE = 0.1  # of its share in the gap asked for: what a row may lack and rest, or a face
SOON = 10  # passes that are made before the first step on a face
SHARE = 3  # visits that steps on faces may take, for each of descent
FEWEST = 8  # products that are worth a step on a face
LEFT = 0.01  # part of what faces gained that another must gain to be worth one more
SHORT = 80  # features up to which dense rows are quicker entry by entry, all classes at each
MOSTLY = 0.7  # part of the entries that are not zero, up to which they are quicker as well
DOUBLE = 1 << 24  # entries up to which float32 rows are written out in double


class JointDescent(Stateful):
    """Descent as a solver.

    Parameters
    ----------
    problem : of all classes
    max_iter : most passes
    seed : of the order of the rows
    start : multipliers and intercepts to begin from
    n_jobs : threads for whoever takes over; rows are visited one after the other
    """

    name = "dual_descent"
    tol = 1e-4
    state_names = (
        "_A", "_b", "_rest", "_lowest", "_highest", "n_iter", "_moving", "_part", "_lacking",
        "_visits", "_spent",
    )  # fmt: skip

    def __init__(
        self,
        problem: JointProblem,
        max_iter: int = 1000,
        seed: int = 0,
        start: Start = None,
        n_jobs: int | None = 1,
    ) -> None:
        self._whole, self._problem = problem, problem.used
        self.max_iter, self._seed, self._start = max_iter, seed, start
        self.pool, self.n_iter, self._moving = Pool(n_jobs), 0, -1
        self._part = 1.0  # of the gap that is asked for: what rows may lack before all are read

    def _begin(self) -> None:
        problem = self._problem
        n, K = len(problem.codes), problem.n_classes
        self._Z, self._centre, self._scale = _prepared(problem)
        self._rows = as_rows(self._Z)
        self._caps = problem.caps * self._scale**2  # of v, w = v/scale: ½‖w‖² = ½‖v‖²/scale²
        self._squares = np.empty(n)
        designs.norms(self._rows, self._squares)
        typical = float(np.median(self._squares)) or float(self._squares.max()) or 1.0
        np.maximum(self._squares, 1e-12 * typical, out=self._squares)
        self._rho = PULL * typical if problem.intercept else 0.0
        self._A, self._b, self._rest = np.zeros((n, K)), np.zeros(K), np.zeros((n, 2), np.int64)
        self._W, self._visits, self._spent = self._weights(self._A), 0, 0
        self._lacking = float(self._caps.sum())
        self._lowest: Any = (self._lacking, self._W, self._b)
        self._highest: Any = (0.0, self._A.copy())
        if self._start is not None:
            A, b = self._start
            A = A[self._whole.caps > 0.0]
            self._A = problem.moves(problem.leaving(A)) * self._scale**2
            self._W = self._weights(self._A)
            self._b = b + self._by_class(self._W) @ self._centre / self._scale
            self._b *= problem.intercept

    def _weights(self, A: Floats) -> Floats:
        """Σ Aᵢxᵢᵀ, as rows want their weights: without the rounding of many small changes."""
        K, d = self._problem.n_classes, self._problem.X.shape[1]
        sparse = isinstance(self._rows, CSR)
        W = aligned((d, -(-K // LANES) * LANES), np.float64) if sparse else np.zeros((K, d))
        kernels.combine(self._rows, A, W)
        return W

    def _by_class(self, W: Floats) -> Floats:
        return self._rows.by_class(W, self._problem.n_classes)

    def candidates(self) -> Iterator[Candidate]:
        """Passes; an evaluation where the gap may be reached, and every few passes."""
        if self._moving < 0:
            self._begin()
        else:
            yield self._candidate()
        while True:
            self.n_iter += 1
            aim = self._part * self.tol * self._lowest[0]
            if self.n_iter > SOON:
                self._step_on_faces(NEGLIGIBLE * aim)
            soon = self._pass(aim)
            over = soon or not self._moving or self.n_iter >= self.max_iter
            if not over and self.n_iter % BETWEEN != 1:
                continue
            if not self._moving:
                self._rest[:] = 0
            self._evaluate()
            if self._gap > self.tol * self._lowest[0]:  # the estimate was too low
                self._part = min(1.0, max(0.1, self._lacking / self._gap))
            yield self._candidate()

    def _pass(self, aim: float) -> bool:
        """One pass, and a few more over the rows that moved, each in an order of its own.

        Returns whether what rows lack will soon be `aim`, if it goes on to fall as it does.
        """
        least = NEGLIGIBLE * aim / len(self._caps)
        order, self._moving = np.arange(len(self._caps)), 0
        for turn in range(INNER):
            order = order[row_order(len(order), self._seed, self.n_iter, turn, True)]
            self._visits += len(order)
            before, self._lacking = self._lacking, kernels.sweep(
                self._rows, self._problem.codes, self._caps, self._squares, order, self._rho,
                least, self._A, self._W, self._b, self._rest,
            )  # fmt: skip
            if self._problem.intercept:
                self._b += self._rho * self._A.sum(axis=0)
            order = order[self._rest[order, 0] == 0]
            self._moving = max(self._moving, len(order))
            if self._lacking * min(1.0, self._lacking / max(before, 1e-300)) <= aim:
                return True
            if not len(order):
                break
        return False

    def _step_on_faces(self, goal: float) -> None:
        """Steps from face to face, until one meets no bound or gains little, or visits are made.

        On a face of more dimensions than there are weights D is flat along some of them, so that
        most multipliers would end at a bound: which of them, descent finds sooner.
        """
        last, gained, problem = SHARE * self._visits, 0.0, self._problem
        rows, a = self._on_face(np.arange(len(self._caps)))
        if np.count_nonzero(a) - len(rows) > problem.n_classes * problem.X.shape[1]:
            return
        while len(rows) and last - self._spent >= FEWEST * len(rows):
            Z, own = self._Z[rows], (np.arange(len(rows)), problem.codes[rows])
            if sp.issparse(Z) and 10 * Z.nnz >= len(rows) * Z.shape[1]:
                Z = Z.toarray()  # products of matrices are the quicker ones
            s = Z @ self._by_class(self._W).T + (self._b + 1.0)
            s[own] -= 1.0
            lengths = self._squares[rows] + self._rho
            face = Face(Z, a, s, self._caps[rows], lengths, self._rho)
            delta, products = face.direction(goal, (last - self._spent) // len(rows))
            to, gain, met = face.step(delta)
            self._spent += (products + 2) * len(rows)
            if gain <= 0.0:
                break
            self._b -= self._rho * (to - a).sum(axis=0)
            to[own] = 0.0
            self._A[rows] = -to
            self._A[rows, own[1]] = to.sum(axis=1)
            self._W = self._weights(self._A)
            gained += gain
            if not met or gain <= LEFT * gained:
                break
            rows, a = self._on_face(rows)

    def _on_face(self, rows: Array) -> tuple[Array, Floats]:
        """Those of the rows with several multipliers a = U e_y − A above zero, and these."""
        a = -self._A[rows]
        a[np.arange(len(rows)), self._problem.codes[rows]] += self._caps[rows]
        a[a <= 1e-12 * self._caps[rows, None]] = 0.0
        several = np.count_nonzero(a, axis=1) > 1
        return rows[several], a[several]

    def _evaluate(self) -> None:
        """P at (W, b), D at the multipliers that break even; the better ones are kept."""
        problem = self._problem
        A = even(self._A, problem.codes) if problem.intercept else self._A
        self._W = self._weights(self._A)
        lack = kernels.charge(self._rows, problem.codes, self._caps, self._W, self._b)
        primal = 0.5 * float(np.sum(self._W**2)) + lack
        V = self._weights(A) if problem.intercept else self._W
        dual = float(A[problem.own].sum()) - 0.5 * float(np.sum(V**2))
        if primal <= self._lowest[0] * (1.0 + 1e-14):  # as good: later weights are nearer
            self._lowest = primal, self._W.copy(), self._b.copy()
        if dual > self._highest[0]:
            self._highest = dual, A.copy()

    @property
    def _gap(self) -> float:
        return max(0.0, float(self._lowest[0]) - float(self._highest[0]))

    def _candidate(self) -> Candidate:
        unit = self._scale**2
        bounds = self._lowest[0] / unit, self._highest[0] / unit
        return Candidate(self.n_iter, *bounds, self._moving)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "W": self._W}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = None
        self._begin()
        super().restore(state)
        self._W[...] = state["W"]

    def interrupted(self) -> None:
        if not hasattr(self, "_highest"):
            self._begin()
        self._evaluate()

    def rescaled(self) -> None:
        """Rows are scaled as a whole already."""

    def solution(self) -> Solution:
        primal, W, b = self._lowest
        W = np.ascontiguousarray(self._by_class(W)) / self._scale
        unit = self._scale**2
        bounds = primal / unit, self._highest[0] / unit, self._gap / unit
        b = b - W @ self._centre
        A = self._whole.spread(self._highest[1] / unit)
        return Solution(W, b, A, *bounds, max(1, self.n_iter))


def _prepared(problem: JointProblem) -> tuple[Any, Floats, float]:
    """Rows (x − μ)/scale, μ and a scale, a power of two, that brings the largest entry near one."""
    X, centre = problem.X, np.zeros(problem.X.shape[1])
    X = X.in_one_place if on_cluster(X) else X
    if sp.issparse(X):
        scale = unit_of(float(abs(X).max()) if X.nnz else 0.0)
        return X if scale == 1.0 else sp.csr_matrix(X * (1.0 / scale)), centre, scale
    n, d = X.shape
    if problem.intercept:
        centre = middle(X)
    parts = [slice(*span) for span in spans(n, BLOCK)]
    largest = max(float(np.abs(X[part] - centre).max(initial=0.0)) for part in parts)
    scale = unit_of(largest)
    Z = np.empty((n, d), np.float64 if n * d <= DOUBLE else X.dtype)
    for part in parts:
        Z[part] = (X[part] - centre) * (1.0 / scale)
    if d <= SHORT or np.count_nonzero(Z) <= MOSTLY * n * d:
        return sp.csr_matrix(Z), centre, scale
    return Z, centre, scale
