"""Crammer and Singer's machine by an interior point method: a dozen steps, whatever the scale.

    minimise over W, b   ½Σ‖wₖ‖² + Σᵢ Uᵢξᵢ,   ξᵢ ≥ zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ],   s = xᵀW + b

Multipliers a of the K bounds of each row, Σₖ aᵢₖ = Uᵢ, and slacks t = ξ − z follow the central path
aᵢₖtᵢₖ = μ as μ falls to zero (Mehrotra's predictor and corrector). With A = U e_y − a, which is
what `crammer_singer` calls multipliers, and d = a/t, a step du of all weights solves

    (ridge + Σᵢ (diag dᵢ − dᵢdᵢᵀ/Σdᵢ) ⊗ x̃ᵢx̃ᵢᵀ) du = Σᵢ Aᵢ ⊗ x̃ᵢ − ridge u − Σᵢ qᵢ ⊗ x̃ᵢ

with q as in `central_path`: one matrix of the size of all weights for each step. Descent crawls
where columns differ in scale or classes overlap a little; here neither matters.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.parallel import Pool
from linsep.train.convex.coordinates import moderate
from linsep.train.convex.curvature import Curvature
from linsep.train.convex.drive import FINEST, Candidate
from linsep.train.convex.joint.balance import even
from linsep.train.convex.joint.central_path import CentralPath
from linsep.train.convex.joint.class_hessian import ClassHessian
from linsep.train.convex.joint.last_digits import last_digits
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

SLACK = 8.0  # of every bound at first
BACK_OFF = 0.99  # of the way to the boundary
NEGLIGIBLE = 1e-3  # of the penalty: what all rows that a matrix leaves out may come to
PATIENCE = 15  # steps that may fail to lessen the gap
TINY = 5000  # rows times weights up to which the last digits are worth a few steps more
FEW = 5000  # rows up to which they are looked for
ALONE = 1 << 14  # rows times weights up to which one thread does all


class JointInteriorPoint:
    """The method as a solver.

    Parameters
    ----------
    X : checked array or CSR matrix of few columns
    codes : class number of each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty
    n_classes : K
    fit_intercept : whether intercepts are free, or zero
    n_jobs : threads; never changes the bytes of the result
    start : multipliers (n, K) and intercepts, which are enough where they are good enough

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    >>> solution = drive(JointInteriorPoint(X, codes, C=10.0, n_classes=3), Goal(1e-10))
    >>> solution.status.name, (X @ solution.w.T + solution.b).argmax(axis=1)
    ('converged', array([0, 1, 2]))
    """

    name = "interior"

    def __init__(
        self,
        X: Any,
        codes: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        n_classes: int,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n = X.shape[0]
        self._X, self._codes, self._K, self._free = X, codes, n_classes, bool(fit_intercept)
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        small = n * X.shape[1] * n_classes <= ALONE
        self._tol, self._tiny, self._exact = 1e-4, n * X.shape[1] * n_classes <= TINY, False
        self.pool = Pool(n_jobs, most=1 if small else None, products=not small)
        self.n_iter, self._restored, self._start = 0, False, start

    @property
    def tol(self) -> float:
        """Tiny problems end at their last digits, which cost next to nothing."""
        return FINEST if self._tiny and not self._exact else self._tol

    @tol.setter
    def tol(self, tol: float) -> None:
        self._tol = tol

    def _begin(self) -> None:
        X = self._X[0 : len(self._codes)] if on_cluster(self._X) else self._X
        X = X.toarray() if sp.issparse(X) else X
        X, self._columns = moderate(np.asarray(X, np.float64), self._free)
        self._used = self._caps > 0.0
        X = X if self._used.all() else X[self._used]
        n, d = X.shape
        self._codes_used, caps = self._codes[self._used].astype(np.int64), self._caps[self._used]
        self._Z = np.concatenate([X, np.ones((n, 1))], axis=1) if self._free else X
        self._ridge = np.zeros(self._Z.shape[1])
        scale = self._columns.scale.astype(np.float64)
        self._ridge[:d] = scale**2 if scale.size else 1.0
        self._diagonal = np.tile(self._ridge, self._K)
        self._path = CentralPath(self._codes_used, caps, self._K, self.pool)
        self._path.begin(SLACK)
        self._hessian = ClassHessian(X, self._K, self._free, self.pool)
        self._lengths = np.einsum("ij,ij,j->i", X, X, 1.0 / self._ridge[:d])
        own = np.zeros((self._K, n))
        own[self._codes_used, np.arange(n)] = caps
        self._own, self._U = own @ self._Z, caps
        self.u, self._size = np.zeros(self._own.shape), 0.0
        self._best: tuple[float, Floats] = (math.inf, self.u)
        self._highest: tuple[float, Floats] = (0.0, np.zeros((n, self._K)))
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
        A = A[self._used]
        if self._free:
            self.u[:, -1] = self._columns.inside(A.T @ (self._X[self._used]), b)[1]
        self._take(A)
        self.u = np.zeros_like(self.u)

    def _candidate(self) -> Candidate:
        return Candidate(
            max(1, self.n_iter), self._best[0], self._highest[0], len(self._codes_used)
        )

    def _evaluate(self) -> None:
        """Go the last step; P, D and what is left of the equations there."""
        self._mu, charge, away = self._path.evaluate(self._size)
        self._v = self._own - self._path.a @ self._Z
        primal = 0.5 * float(np.vdot(self.u * self._ridge, self.u)) + charge
        if primal < self._best[0]:
            self._best = primal, self.u
        dual = away - self._conjugate(self._v)
        balanced = not self._free or float(np.abs(self._v[:, -1]).max()) <= 1e-14 * away
        if balanced and dual > self._highest[0]:
            self._highest = dual, self._multipliers(self._path.a)
        gap = primal - dual
        if gap <= 4.0 * self._tol * primal and not self._exact:
            self._tidy()
        lessened = gap < 0.9 * self._least[0] or self._mu < 0.9 * self._least[1]
        self._since = 0 if lessened else self._since + 1
        self._least = min(gap, self._least[0]), min(self._mu, self._least[1])

    def _conjugate(self, v: Floats) -> float:
        w = v[:, :-1] if self._free else v
        ridge = self._ridge[:-1] if self._free else self._ridge
        return 0.5 * float(np.vdot(w / ridge, w))

    def _multipliers(self, a: Floats) -> Floats:
        """A, (n, K), of multipliers of the bounds."""
        A = -np.ascontiguousarray(a.T)
        own = np.arange(len(A)), self._codes_used
        A[own] = 0.0
        A[own] = -A.sum(axis=1)
        return A

    def _tidy(self) -> None:
        """Go without the multipliers of bounds that hold with room to spare: they end at zero."""
        path = self._path
        if len(self._U) <= FEW:
            given = self._Z, self._codes_used, self._U, self._ridge, path.a, path.t
            exact = last_digits(*given)
            self._exact = exact is not None and self._taken(*exact)
        if self._exact:
            return
        for a in (np.where(path.a > path.t * self._U, path.a, 0.0), path.a):
            A = self._multipliers(a)
            self._take(even(A, self._codes_used) if self._free else A)
            if self._candidate().within(self._tol):
                break

    def _taken(self, u: Floats, a: Floats) -> bool:
        """Whether weights and multipliers of the bounds close the gap, as good as wholly."""
        A = self._multipliers(a)
        v = A.T @ self._Z
        primal, dual = self._primal(u), float(np.maximum(A, 0.0).sum()) - self._conjugate(v)
        if self._free and float(np.abs(v[:, -1]).max()) > 1e-9 * float(self._U.sum()):
            return False
        if abs(primal - dual) > 10.0 * FINEST * primal:
            return False
        self._best, self._highest = (primal, u), (min(primal, dual), A)
        return True

    def _primal(self, u: Floats) -> float:
        S, rows = u @ self._Z.T, np.arange(len(self._U))
        own = S[self._codes_used, rows]
        S += 1.0
        S[self._codes_used, rows] = own
        return 0.5 * float(np.vdot(u * self._ridge, u)) + float(self._U @ (S.max(axis=0) - own))

    def _take(self, A: Floats) -> None:
        """Weights that multipliers make up, and their bound."""
        v, d = A.T @ self._Z, len(self._ridge) - self._free
        dual = float(np.maximum(A, 0.0).sum()) - self._conjugate(v)
        u = self.u.copy()
        u[:, :d] = v[:, :d] / self._ridge[:d]
        primal = self._primal(u)
        if primal - dual <= self._tol * primal:  # weights that these multipliers make up
            self._best, self._highest = (primal, u), (dual, A)
        elif self._best[0] - dual <= self._tol * self._best[0] or dual > self._highest[0]:
            self._highest = dual, A

    def _step(self) -> bool:
        """Two solutions with one matrix: where it leads, then what to aim at."""
        path, mu = self._path, self._mu
        H = self._hessian(path.d, self._that_count())
        D = len(self._ridge)
        H.flat[:: len(H) + 1] += self._diagonal
        if self._free:  # one number more for all intercepts is the same model
            last = slice(D - 1, None, D)
            H[last, last] += np.trace(H[last, last]) / self._K**2
        inverse = Curvature(H)
        left = self._v - self.u * self._ridge

        def direction(aim: float, bent: bool) -> tuple[float, float, float]:
            path.aim(aim, bent)
            du = inverse.solve((left - path.q @ self._Z).ravel()).reshape(self.u.shape)
            self._du = du
            return path.follow(du @ self._Z.T)

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
        path = self._path
        known = {"S": path.S, "a": path.a, "xi": path.xi, "u": self.u, "n_iter": self.n_iter}
        seen = {"mu": self._mu, "v": self._v, "t": path.t, "d": path.d, "top": path.top}
        best = {"best": self._best, "highest": self._highest}
        more = {"since": self._since, "least": self._least, "exact": self._exact}
        return {**known, **seen, **best, **more}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        path = self._path
        for name in ("S", "a", "xi", "t", "d", "top"):
            getattr(path, name)[...] = state[name]
        self.u, self._mu, self._v, self.n_iter = (state[k] for k in ("u", "mu", "v", "n_iter"))
        self._best, self._highest = state["best"], state["highest"]
        self._since, self._least, self._exact = (state[k] for k in ("since", "least", "exact"))
        self._restored = True

    def interrupted(self) -> None:
        if not hasattr(self, "_best"):
            self._begin()
            self._evaluate()

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once."""

    def solution(self) -> Solution:
        primal, u = self._best
        d = len(self._ridge) - self._free
        b = u[:, -1] if self._free else np.zeros(self._K)
        W, b = self._columns.outside(u[:, :d].copy(), b)
        A = np.zeros((len(self._codes), self._K))
        A[self._used] = self._highest[1]
        gap = max(0.0, primal - self._highest[0])
        b = b - b.mean() if self._free else np.zeros(self._K)
        return Solution(W, b, A, primal, self._highest[0], gap, max(1, self.n_iter))
