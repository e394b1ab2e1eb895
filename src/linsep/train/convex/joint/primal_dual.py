"""Crammer and Singer's machine on wide dense rows of many classes: weights and multipliers in turn.

    min over W, max over p   ½‖W‖² + Σᵢ Uᵢ⟨pᵢ, zᵢ⟩,   zᵢₖ = sᵢₖ − sᵢ,yᵢ + [k ≠ yᵢ],   pᵢ ∈ Δ

with Δ = {p ≥ 0, Σ pₖ = 1}. The weights answer the multipliers, held near their last place by what
the rows have in common, T = τ Σ Uᵢxᵢxᵢᵀ, the same for all classes; the multipliers answer where the
weights would be after another such step (Chambolle and Pock, *A first-order primal-dual algorithm
for convex problems with applications to imaging*, 2011; Condat, *A primal-dual splitting method*,
2013, with relaxation γ):

    W' = W + (1 + T)⁻¹(V − W),  V = Σ Uᵢ(e_y − pᵢ)xᵢᵀ;   p' = projection of p + ρz(2W' − W)
    W ← W + γ(W' − W),  p ← p + γ(p' − p)

One product of all rows with W' − W, and sums over the few multipliers above zero. Products of all
classes allow τ = ρ; but multipliers that move are few in each row, so that far less is enough:

    τ/ρ ≥ ‖V' − V‖²_{G⁻¹} / Σ Uᵢ‖p'ᵢ − pᵢ‖²,   G = Σ Uᵢxᵢxᵢᵀ

is taken from the steps that are made (Malitsky and Pock, *A first-order primal-dual algorithm with
linesearch*, 2018). ρ balances how far weights and multipliers have to go (Applegate et al.,
*Practical large-scale linear programming using primal-dual hybrid gradient*, 2021).

With about as many weights as multipliers above zero Newton's method solves ill-conditioned
equations many times, and descent by rows crawls; here each pass costs the same.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import OverflowedError
from linsep.parallel import Pool
from linsep.train.convex.coordinates import TOO_LARGE, Blocks, Columns, moderate
from linsep.train.convex.drive import Candidate
from linsep.train.convex.joint.smoothed_rows import SmoothedRows
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FIRST = 0.1  # ρ at first
BALANCE, FOLLOWS, KNOWN = 1.5, 0.1, 10  # of ρ, how fast it follows, and from which pass on
RELAXED = 1.8  # γ
SAFE, FALLS = 0.8, 0.9  # of τ/ρ: the part of it that steps may need, and how fast it falls
FLAT = 1e-7  # of the largest eigenvalue of G: what the least counts as
BETWEEN = 10  # passes between two candidates
FRESH = 50  # passes after which scores are made anew
PATIENCE = 300  # passes without half the gap
SINGLE = 1e-6  # relative gap down to which float32 rows are multiplied as such
ROUNDED = 5e-7  # what float32 scores of about one add to the loss of a row
MATTERS, NEAR = 0.3, 30.0  # part of the gap asked for that all rows may add; times that: a gap near


class PrimalDual:
    """The method as a solver, without intercepts.

    Parameters
    ----------
    X : checked array
    codes : class number of each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty
    n_classes : K
    max_iter : of nine tenths of these passes it makes use; the rest is left for who takes over
    n_jobs : threads; never changes the bytes of the result
    start : multipliers (n, K) of a neighbouring problem, and intercepts, which are not looked at

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    >>> solution = drive(PrimalDual(X, codes, C=10.0, n_classes=3), Goal(1e-6))
    >>> solution.status.name, (X @ solution.w.T).argmax(axis=1)
    ('converged', array([0, 1, 2]))
    """

    name = "primal-dual"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        codes: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        n_classes: int,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n = X.shape[0]
        self._X, self._codes, self._K = X, codes, n_classes
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        self.pool, self.n_iter, self._start, self._restored = Pool(n_jobs), 0, start, False
        self._most, self._single = max(1, max_iter * 9 // 10), X.dtype == np.float32

    def _begin(self) -> None:
        used = self._caps > 0.0
        self._used: Any = slice(None) if used.all() else used
        X, self._columns = moderate(self._X[self._used], False)
        scale = self._columns.scale.astype(np.float64)
        self._root = scale if scale.size else np.ones(X.shape[1])
        self._own = np.ascontiguousarray(self._codes[self._used], np.int64)
        self._U = np.ascontiguousarray(self._caps[self._used])
        self._take(X)
        G = self._rows.gram()[:-1, :-1] / (self._root[:, None] * self._root)
        if not np.isfinite(G).all():
            raise OverflowedError(TOO_LARGE)
        self._G, self._turn = np.linalg.eigh(G)
        self._G = np.maximum(self._G, FLAT * self._G[-1] + 1e-300)
        self._W = self._V = np.zeros((self._K, X.shape[1]))
        self._lowest: tuple[float, Floats] = (math.inf, self._W)
        self._highest: tuple[float, Array] = (-math.inf, self._rows.P)
        self._halved, self._since = math.inf, 0
        self._rho, self._ratio = FIRST, 1.0

    def _take(self, X: Array) -> None:
        """Rows in the precision that the tolerance asks for."""
        self._single = self._single and self.tol >= SINGLE
        blocks = Blocks(X, Columns(np.empty(0, X.dtype), np.empty(0, X.dtype)))
        real = np.float32 if self._single else np.float64
        self._rows = SmoothedRows(blocks, self._own, self._U, self._K, self.pool, real)

    def _first(self) -> None:
        """Multipliers to begin with: those given, or all of every row at its own class."""
        rows, own = self._rows, np.arange(len(self._own))
        rows.centre[own, self._own] = 1.0
        if self._start is None:
            sums = rows.class_sums()[:, :-1]
            self._W = self._inside(sums - sums.mean(axis=0)) / (1.0 + self._G)
        else:
            A = self._start[0][self._used] / self._U[:, None]
            rows.centre[:] = np.maximum(0.0, -A)
            rows.centre[own, self._own] = 0.0
            total = rows.centre.sum(axis=1)
            rows.centre /= np.maximum(1.0, total)[:, None]
            rows.centre[own, self._own] = np.maximum(0.0, 1.0 - total)
            moves = -rows.centre.astype(np.float64) * self._U[:, None]
            moves[own, self._own] += self._U
            self._W = self._V = self._inside(moves.T @ rows.blocks.X)
        self._score()

    def _inside(self, V: Floats) -> Floats:
        """Weights of the rows in the coordinates in which G is diagonal."""
        return self._turned(V / self._root, self._turn)

    def _outside(self, W: Floats) -> Floats:
        """Back, with a zero for the intercept."""
        V = np.zeros((self._K, len(self._root) + 1))
        V[:, :-1] = self._turned(W, self._turn.T) / self._root
        return V

    def _turned(self, W: Floats, turn: Floats) -> Floats:
        parts = np.array_split(W, 2)
        return np.concatenate(self.pool.map(lambda part: part @ turn, parts))

    def _score(self) -> None:
        self._rows.scores(self._outside(self._W), self._rows.S)

    def candidates(self) -> Iterator[Candidate]:
        """One every few passes."""
        if not self._restored:
            self._begin()
            self._first()
        else:
            yield self._candidate()
        while self._since <= PATIENCE and self.n_iter < self._most:
            if self._single and self._rounding_matters():
                self._single, centre = False, self._rows.centre
                self._take(self._rows.blocks.X)
                self._rows.centre[:] = centre
                self._score()
                self._lowest = math.inf, self._W  # what was known is known to few digits
            self._pass()
            primal, dual = self._last
            over = primal - dual <= self.tol * primal or self.n_iter == self._most
            if over or self.n_iter % BETWEEN == 0:
                self._keep()
                yield self._candidate()

    def _rounding_matters(self) -> bool:
        """Whether float32 scores would keep the gap from what is asked for.

        Where rows have next to no loss P is small, and what rounding adds to each of them is not.
        """
        if self.tol < SINGLE:
            return True
        primal, rounded = self._lowest[0], ROUNDED * float(self._U.sum())
        gap = primal - self._highest[0]
        return rounded > MATTERS * self.tol * primal and gap <= NEAR * rounded

    def _candidate(self) -> Candidate:
        return Candidate(max(1, self.n_iter), self._lowest[0], self._highest[0], len(self._own))

    def _pass(self) -> None:
        """One step of the weights and one of the multipliers."""
        rows = self._rows
        if self.n_iter and self.n_iter % FRESH == 0:
            self._score()
        step = (self._V - self._W) / (1.0 + self._ratio * self._rho * self._G)
        rows.scores(self._outside(step), rows.dS)
        sums, V = rows.reflect(self._rho, RELAXED)
        charge, away, change, far, size = sums.tolist()
        self._at, V = self._W + step, self._inside(V[:, :-1])
        primal = 0.5 * float(np.sum(self._at**2)) + charge
        if not math.isfinite(primal):
            raise OverflowedError(TOO_LARGE)
        self._last = primal, away - 0.5 * float(np.sum(V**2))
        moved = V - self._V
        needed = float(np.sum(moved**2 / self._G)) / (SAFE * max(change, 1e-300))
        self._ratio = min(1.0, max(needed, FALLS * self._ratio))
        self._W, self._V = self._W + RELAXED * step, self._V + RELAXED * moved
        self.n_iter += 1
        self._since += 1
        if self.n_iter >= KNOWN and far > 0.0 and size > 0.0:
            wanted = BALANCE * math.sqrt(far / (size * self._ratio))
            self._rho *= (wanted / self._rho) ** FOLLOWS

    def _keep(self) -> None:
        primal, dual = self._last
        if primal < self._lowest[0]:
            self._lowest = primal, self._at
        if dual > self._highest[0]:
            self._highest = dual, self._rows.P.copy()
        gap = self._lowest[0] - self._highest[0]
        if gap <= 0.5 * self._halved:
            self._halved, self._since = gap, 0

    def state(self) -> dict[str, Any]:
        rows = self._rows
        known = {"W": self._W, "V": self._V, "centre": rows.centre, "S": rows.S}
        steps = {"rho": self._rho, "ratio": self._ratio, "n_iter": self.n_iter}
        best = {"lowest": self._lowest, "highest": self._highest}
        return {
            **known,
            **steps,
            **best,
            "halved": self._halved,
            "since": self._since,
            "single": self._single,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._single = state["single"]
        self._begin()
        self._rows.centre[...], self._rows.S[...] = state["centre"], state["S"]
        self._W, self._V, self.n_iter = state["W"], state["V"], state["n_iter"]
        self._rho, self._ratio = state["rho"], state["ratio"]
        self._lowest, self._highest = tuple(state["lowest"]), tuple(state["highest"])
        self._halved, self._since, self._restored = state["halved"], state["since"], True

    def interrupted(self) -> None:
        """A pass left half done: the best points are whole."""
        if not hasattr(self, "_rows"):
            self._begin()
            self._first()
        if not math.isfinite(self._lowest[0]):
            self._score()
            self._rows.dS[:] = 0.0
            self._pass()
            self._keep()

    def rescaled(self) -> None:
        """Columns of extreme scale are brought near one at once."""

    def solution(self) -> Solution:
        primal, W = self._lowest
        w, _ = self._columns.outside(W @ self._turn.T / self._root, np.zeros(self._K))
        own, P = np.arange(len(self._own)), self._highest[1]
        moves = -P.astype(np.float64) * self._U[:, None]
        moves[own, self._own] = 0.0
        moves[own, self._own] = -moves.sum(axis=1)
        A = np.zeros((len(self._codes), self._K))
        A[self._used] = moves
        dual = self._highest[0]
        gap = max(0.0, primal - dual)
        return Solution(w, np.zeros(self._K), A, primal, dual, gap, max(1, self.n_iter))
