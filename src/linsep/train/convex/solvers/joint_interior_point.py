"""Crammer and Singer's machine by an interior point method: a dozen steps, whatever the scale.

    minimise over W, b   ½Σ‖wₖ‖² + Σᵢ Uᵢξᵢ,   ξᵢ ≥ zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ],   s = xᵀW + b

Multipliers a of the K bounds of each row, Σₖ aᵢₖ = Uᵢ, and slacks t = ξ − z follow the central path
aᵢₖtᵢₖ = μ as μ falls to zero (Mehrotra, *On the implementation of a primal-dual interior point
method*, 1992). With A = U e_y − a and d = a/t, a step du of all weights solves

    (ridge + Σᵢ (diag dᵢ − dᵢdᵢᵀ/Σdᵢ) ⊗ x̃ᵢx̃ᵢᵀ) du = Σᵢ Aᵢ ⊗ x̃ᵢ − ridge u − Σᵢ qᵢ ⊗ x̃ᵢ

with q of what products at are to become: one matrix of the size of all weights for each step. The
change ds of the scores that it makes asks of every row

    m = Σₖ dₖdsₖ / Σₖ dₖ,   daₖ = qₖ + dₖ(dsₖ − m),   dξ = c + m − ds_y,   dtₖ = c + m − dsₖ

Descent crawls where columns differ in scale or classes overlap a little; here neither matters.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.kernels import crammer_singer as kernels
from linsep.parallel import Pool
from linsep.train.convex.classes.class_hessian import ClassHessian
from linsep.train.convex.classes.joint_problem import JointProblem, even
from linsep.train.convex.coordinates import moderate
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import FINEST, Candidate
from linsep.train.convex.solution import Solution
from linsep.train.run.state import Stateful

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

SLACK = 8.0  # of every bound at first
BACK_OFF = 0.99  # of the way to the boundary
NEGLIGIBLE = 1e-3  # of the penalty: what all rows that a matrix leaves out may come to
PATIENCE = 15  # steps that may fail to lessen the gap
NEAR = 4.0  # tolerances of a gap from which multipliers are tidied
BALANCED = 1e-14  # of Σ A: what Σᵢ Aᵢₖ may be where it should be zero
TINY = 5000  # rows times weights up to which the last digits cost next to nothing
ALONE = 1 << 14  # rows times weights up to which one thread does all


class Path(Stateful):
    """Scores S, multipliers a, ξ, slacks t and d = a/t of all rows, (K, n), and steps of them."""

    state_names = ("S", "a", "xi", "t", "d", "top")

    def __init__(self, codes: Array, caps: Floats, K: int) -> None:
        n = len(codes)
        self.codes, self.caps = codes, caps
        self.S, self.da, self.dt, self.ds = np.zeros((4, K, n))
        self.t, self.d, self.q = np.empty((3, K, n))
        self.dxi, self.c, self.top = np.zeros(n), np.empty(n), np.zeros(n, np.int64)
        # slacks as large, multipliers inverse to them; rows of small caps get more of the former
        each = SLACK * np.sqrt(caps.max() / caps)
        slacks = np.broadcast_to(each, (K, n)).copy()
        slacks[codes, np.arange(n)] += 1.0
        self.xi, self.a = 1.0 + each, 1.0 / slacks
        self.a *= caps / self.a.sum(axis=0)

    def arrive(self, size: float) -> list[float]:
        """Go a part of the last step: Σ at, Σ Uξ of the least ξ and Σ a of other classes there."""
        out = np.empty(3)
        kernels.arrive(
            self.S, self.a, self.xi, self.codes, self.caps, self.ds, self.da, self.dxi, size,
            self.t, self.d, self.top, out,
        )  # fmt: skip
        return out.tolist()

    def aim(self, mu: float, bent: bool) -> None:
        """Have the next step bring every at to mu; `bent`, less what the last one leaves."""
        kernels.aim(self.a, self.t, self.d, self.da, self.dt, mu, bent, self.top, self.q, self.c)

    def follow(self, ds: Floats) -> tuple[float, float, float]:
        """The step for a change of scores: how far it stays inside, and Σ at after a part x of it,
        less what it is now, as two coefficients, of x and x²."""
        out, self.ds = np.empty(3), ds
        kernels.follow(
            ds, self.codes, self.a, self.t, self.d, self.q, self.c, self.top, self.da, self.dt,
            self.dxi, out,
        )  # fmt: skip
        low, across, square = out.tolist()
        return (-1.0 / low if low < 0.0 else math.inf), across, square


class JointInteriorPoint(Stateful):
    """The method as a solver.

    Parameters
    ----------
    problem : of all classes, with few columns
    n_jobs : threads; never changes the bytes of the result
    start : multipliers (n, K) and intercepts, which are enough where they are good enough
    """

    name = "interior_point"
    state_names = ("u", "n_iter", "_mu", "_v", "_best", "_highest", "_since", "_least")

    def __init__(
        self,
        problem: JointProblem,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        self._problem, self._used, self._start = problem, problem.used, start
        size = problem.X.shape[0] * problem.X.shape[1] * problem.n_classes
        self._tol, self._tiny, small = 1e-4, size <= TINY, size <= ALONE
        self.pool = Pool(n_jobs, most=1 if small else None, products=not small)
        self.n_iter, self._restored = 0, False

    @property
    def tol(self) -> float:
        """Tiny problems end at their last digits."""
        return FINEST if self._tiny else self._tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._tol = tol

    def _begin(self) -> None:
        used = self._used
        X = used.X[0 : len(used.codes)] if on_cluster(used.X) else used.X
        X = X.toarray() if sp.issparse(X) else X
        X, self._columns = moderate(np.asarray(X, np.float64), used.intercept)
        n, d = X.shape
        K, free = used.n_classes, used.intercept
        self._Z = np.concatenate([X, np.ones((n, 1))], axis=1) if free else X
        self._ridge, scale = np.zeros(d + free), self._columns.scale.astype(np.float64)
        self._ridge[:d] = scale**2 if scale.size else 1.0
        self._path = Path(used.codes, used.caps, K)
        self._hessian = ClassHessian(X, K, free, self.pool)
        self._lengths = np.einsum("ij,ij,j->i", X, X, 1.0 / self._ridge[:d])
        own = np.zeros((K, n))
        own[used.codes, np.arange(n)] = used.caps
        self._own = own @ self._Z
        self.u, self._size = np.zeros(self._own.shape), 0.0
        self._best: tuple[float, Floats] = (math.inf, self.u)
        self._highest: tuple[float, Floats] = (0.0, np.zeros((n, K)))
        self._since, self._least = 0, (math.inf, math.inf)

    def candidates(self) -> Iterator[Candidate]:
        """Steps along the central path, until rounding lets none succeed."""
        if not self._restored:
            self._begin()
            if self._start is not None:
                self._begin_at(*self._start)
                yield self._candidate()
            self._evaluate()
        while True:
            yield self._candidate()
            if self._since > PATIENCE or not self._step():
                return
            self._evaluate()

    def _begin_at(self, A: Array, b: Array) -> None:
        """What multipliers and intercepts in the units of the data come to."""
        used = self._used
        A = used.moves(used.leaving(A[self._problem.caps > 0.0]))
        if used.intercept:
            self.u[:, -1] = self._columns.inside(A.T @ used.X, b)[1]
            A = even(A, used.codes)
        self._take(A)
        self.u = np.zeros_like(self.u)

    def _candidate(self) -> Candidate:
        n_iter, n = max(1, self.n_iter), len(self._used.codes)
        return Candidate(n_iter, self._best[0], self._highest[0], n)

    def _evaluate(self) -> None:
        """Go the last step; P, D and what is left of the equations there."""
        path = self._path
        self._mu, charge, away = path.arrive(self._size)
        self._v = self._own - path.a @ self._Z
        primal = 0.5 * float(np.vdot(self.u * self._ridge, self.u)) + charge
        if primal < self._best[0]:
            self._best = primal, self.u
        dual = away - self._conjugate(self._v)
        free = self._used.intercept
        balanced = not free or float(np.abs(self._v[:, -1]).max()) <= BALANCED * away
        if balanced and dual > self._highest[0]:
            self._highest = dual, self._used.moves(path.a.T)
        gap = primal - dual
        if gap <= NEAR * self._tol * primal:
            self._tidy()
        lessened = gap < 0.9 * self._least[0] or self._mu < 0.9 * self._least[1]
        self._since = 0 if lessened else self._since + 1
        self._least = min(gap, self._least[0]), min(self._mu, self._least[1])

    def _conjugate(self, v: Floats) -> float:
        d = len(self._ridge) - self._used.intercept
        return 0.5 * float(np.vdot(v[:, :d] / self._ridge[:d], v[:, :d]))

    def _tidy(self) -> None:
        """Go without the multipliers of bounds that hold with room to spare: they end at zero."""
        path, used = self._path, self._used
        for a in (np.where(path.a > path.t * used.caps, path.a, 0.0), path.a):
            A = used.moves(a.T)
            self._take(even(A, used.codes) if used.intercept else A)
            if self._candidate().within(self.tol):
                break

    def _primal(self, u: Floats) -> float:
        used = self._used
        S, own = self._Z @ u.T, used.own
        S += 1.0
        S[own] -= 1.0
        lack = float(used.caps @ (S.max(axis=1) - S[own]))
        return 0.5 * float(np.vdot(u * self._ridge, u)) + lack

    def _take(self, A: Floats) -> None:
        """Weights that multipliers make up, and their bound."""
        v, d = A.T @ self._Z, len(self._ridge) - self._used.intercept
        dual = float(np.maximum(A, 0.0).sum()) - self._conjugate(v)
        u = self.u.copy()
        u[:, :d] = v[:, :d] / self._ridge[:d]
        primal = self._primal(u)
        if primal - dual <= self.tol * primal:  # weights that these multipliers make up
            self._best, self._highest = (primal, u), (dual, A)
        elif self._best[0] - dual <= self.tol * self._best[0] or dual > self._highest[0]:
            self._highest = dual, A

    def _step(self) -> bool:
        """Two solutions with one matrix: where it leads, then what to aim at."""
        path, mu, K = self._path, self._mu, self._used.n_classes
        H = self._hessian(path.d, self._that_count())
        D = len(self._ridge)
        H.flat[:: len(H) + 1] += np.tile(self._ridge, K)
        if self._used.intercept:  # one number more for all intercepts is the same model
            last = slice(D - 1, None, D)
            H[last, last] += np.trace(H[last, last]) / K**2
        inverse = Curvature(H)
        left = self._v - self.u * self._ridge

        def direction(aim: float, bent: bool) -> tuple[float, float, float]:
            path.aim(aim, bent)
            du = inverse.solve((left - path.q @ self._Z).ravel()).reshape(self.u.shape)
            self._du = du
            return path.follow(np.ascontiguousarray(du @ self._Z.T))

        longest, across, square = direction(0.0, False)
        x = min(1.0, longest)
        after = max(0.0, mu + x * across + x * x * square)
        share = (after / mu) ** 3 * mu / path.a.size if mu > 0.0 else 0.0
        longest, _, _ = direction(share, True)
        self._size = min(1.0, BACK_OFF * longest)
        self.u = self.u + self._size * self._du
        self.n_iter += 1
        return bool(np.isfinite(self.u).all() and self._size > 1e-10)

    def _that_count(self) -> Array | None:
        """Rows without which the matrix would be another; None for all of them."""
        d = self._path.d
        if d.size * len(self._ridge) <= ALONE:
            return None
        bent = (d * (1.0 - d / d.sum(axis=0))).max(axis=0)
        heavy = bent * (len(bent) / NEGLIGIBLE)
        used = np.flatnonzero((heavy * self._lengths > 1.0) | (heavy > bent.sum()))
        return used if 4 * len(used) < 3 * len(bent) else None

    def state(self) -> dict[str, Any]:
        return {**super().state(), "path": self._path.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        super().restore(state)
        self._path.restore(state["path"])
        self._restored = True

    def interrupted(self) -> None:
        if not hasattr(self, "_best"):
            self._begin()
            self._evaluate()

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once."""

    def solution(self) -> Solution:
        primal, u = self._best
        free, K = self._used.intercept, self._used.n_classes
        d = len(self._ridge) - free
        W, b = self._columns.outside(u[:, :d].copy(), u[:, -1] if free else np.zeros(K))
        b = b - b.mean() if free else np.zeros(K)
        A = self._problem.spread(self._highest[1])
        dual = self._highest[0]
        return Solution(W, b, A, primal, dual, max(0.0, primal - dual), max(1, self.n_iter))
