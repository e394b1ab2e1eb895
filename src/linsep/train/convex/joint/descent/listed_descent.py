"""Crammer and Singer's machine for many classes of few rows, by descent on listed multipliers.

    maximise over a   D = Σᵢ(Uᵢ − aᵢ,yᵢ) − ½‖W‖²,   W = Σᵢ(Uᵢe_y − aᵢ)xᵢᵀ,   aᵢ ≥ 0, Σₖ aᵢₖ = Uᵢ

With a thousand classes all but a handful of a row's multipliers are zero and stay so. Each row has
a list of those classes that are above zero or would let D rise, and passes score these alone
(Keerthi et al., *A sequential dual method for large scale multi-class linear SVMs*, 2008). Now and
then all classes are scored by products of matrices: that gives P, and adds classes to the lists.
Rows are far fewer than weights here, so that multipliers have one best place and descent does not
crawl.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.errors import OverflowedError
from linsep.parallel import Pool, add_up
from linsep.train.convex.coordinates import TOO_LARGE
from linsep.train.convex.drive import Candidate
from linsep.train.convex.joint.descent.listed_sweep import (
    combine_pairs,
    lack_of_pairs,
    list_classes,
    sweep_listed,
)
from linsep.train.convex.solution import Solution
from linsep.train.order import row_order

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MORE = 8  # classes that one look adds to a row's list, at most
PASSES = 20  # between two looks at all classes, at most
LESS = 0.1  # part of what rows lack at a look that is worth another
AIM = 0.3  # part of the gap that is asked for that passes aim at
NEGLIGIBLE = 0.1  # of its share in what passes aim at: what a row may lack and stay as it is
SINGLE = 1e-6  # relative gap down to which float32 rows are scored as such
LOOKED = 2048  # rows whose classes are scored together
PATIENCE = 300  # passes in which what rows lack is not even halved, after which it ends
PARTS = 2  # that sums of the size of all weights are made in


class ListedDescent:
    """The method as a solver, without intercepts.

    Parameters
    ----------
    X : checked array
    codes : class number of each row
    weights : cᵢ ≥ 0 of each row, or None where each counts once
    C : weight of the losses against the penalty
    n_classes : K
    n_jobs : threads; never changes the bytes of the result
    seed : of the order of the rows
    start : multipliers (n, K) of a neighbouring problem, and intercepts, which are not looked at

    Examples
    --------
    >>> from linsep.train.convex.drive import Goal, drive
    >>> X, codes = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]]), np.array([0, 1, 2])
    >>> solution = drive(ListedDescent(X, codes, C=10.0, n_classes=3), Goal(1e-8))
    >>> solution.status.name, (X @ solution.w.T).argmax(axis=1)
    ('converged', array([0, 1, 2]))
    """

    name = "dual"
    tol = 1e-4

    def __init__(
        self,
        X: Array,
        codes: Array,
        weights: Array | None = None,
        C: float = 1.0,
        *,
        n_classes: int,
        n_jobs: int | None = None,
        seed: int = 0,
        start: tuple[Array, Array] | None = None,
    ) -> None:
        n = X.shape[0]
        self._X, self._K, self._seed, self._start = X, n_classes, seed, start
        self._codes = np.ascontiguousarray(codes, np.int64)
        self._caps = np.full(n, float(C)) if weights is None else C * np.asarray(weights, float)
        self.pool, self.n_iter, self._restored = Pool(n_jobs), 0, False

    def _begin(self) -> None:
        squares = np.einsum("ij,ij->i", self._X, self._X, dtype=np.float64)
        if not np.isfinite(squares).all():
            raise OverflowedError(TOO_LARGE)
        typical = float(np.median(squares)) or float(squares.max(initial=0.0)) or 1.0
        self._squares = np.maximum(squares, 1e-12 * typical)
        self._used = np.flatnonzero(self._caps > 0.0)
        n = len(self._codes)
        self._pointers, self._classes = np.arange(n + 1), self._codes.astype(np.int32)
        self._a, self._W = self._caps.copy(), np.zeros((self._K, self._X.shape[1]))
        self._lowest: tuple[float, Floats] = (float(self._caps.sum()), self._W)
        self._dual, self._lacking = 0.0, self._lowest[0]
        self._halved = self._lacking, 0

    def _first(self) -> None:
        """Lists to begin with: of a start the multipliers above zero, else near classes."""
        if self._start is not None:
            self._take(self._start[0])
            self._look()
            return
        ones = np.ones(len(self._codes))
        counts = np.maximum(1, np.bincount(self._codes, minlength=self._K))
        self._list(self._combined(ones) / counts[:, None], math.inf)

    def _take(self, A: Array) -> None:
        leave = np.maximum(0.0, -A)
        own = np.arange(len(A)), self._codes
        leave[own] = 0.0
        total = leave.sum(axis=1)
        leave *= np.divide(self._caps, total, out=np.ones_like(total), where=total > self._caps)[
            :, None
        ]
        leave[own] = np.maximum(0.0, self._caps - leave.sum(axis=1))
        listed = leave > 0.0
        listed[own] = True
        self._pointers = np.append(0, np.cumsum(listed.sum(axis=1)))
        self._classes = np.nonzero(listed)[1].astype(np.int32)
        self._a = leave[listed]

    def candidates(self) -> Iterator[Candidate]:
        """One for each look at all classes."""
        if not self._restored:
            self._begin()
            self._first()
        else:
            yield self._candidate()
        while self.n_iter - self._halved[1] <= PATIENCE:
            self._pass()
            self._look()
            if self._lacking <= 0.5 * self._halved[0]:
                self._halved = self._lacking, self.n_iter
            yield self._candidate()

    def _candidate(self) -> Candidate:
        active = int(np.count_nonzero(np.diff(self._pointers) > 1))
        return Candidate(max(1, self.n_iter), self._lowest[0], self._dual, active)

    def _pass(self) -> None:
        """Passes until most of what rows lack in their lists is gone."""
        rows = self._used[np.diff(self._pointers)[self._used] > 1]
        known = self._X, self._codes, self._caps, self._squares
        z = np.empty(max(1, int(np.diff(self._pointers).max(initial=1))))
        aim = max(LESS * self._lacking, AIM * self.tol * self._lowest[0])
        least = NEGLIGIBLE * AIM * self.tol * self._lowest[0] / len(self._codes)
        for _ in range(PASSES):
            order = rows[row_order(len(rows), self._seed, self.n_iter, 0, True)]
            pairs = self._pointers, self._classes, self._a, self._W, z
            self.n_iter += 1
            if sweep_listed(*known, order, least, *pairs) <= aim:
                break

    def _combined(self, c: Floats) -> Floats:
        """Σ cᵢₖ e_k xᵢᵀ over all pairs"""

        def one(span: tuple[int, int]) -> Floats:
            V = np.zeros((self._K, self._X.shape[1]))
            combine_pairs(self._X, self._pointers, self._classes, c, *span, V)
            return V

        n = len(self._codes)
        return np.asarray(add_up(np.array(self.pool.map(one, spans(n, -(-n // PARTS))))))

    def _look(self) -> None:
        """All classes of all rows: lists, and both bounds.

        Float32 scores only say which classes to list. Each is right to a millionth, but the largest
        of many lies above the true one, and over all rows that may come to more than the gap: the
        bounds take the scores of the classes listed to all digits.
        """
        counts = np.diff(self._pointers)
        own = self._classes == np.repeat(self._codes, counts)
        A = np.where(own, np.repeat(self._caps, counts) - self._a, -self._a)
        self._W = self._combined(A)
        self._list(self._W)

        def one(span: tuple[int, int]) -> Floats:
            sums = np.zeros(2)
            pairs = self._pointers, self._classes, self._a, self._W
            lack_of_pairs(self._X, self._codes, self._caps, *pairs, *span, sums)
            return sums

        sums = add_up(np.array(self.pool.map(one, spans(len(self._codes), LOOKED))))
        size = 0.5 * float(np.sum(self._W**2))
        primal, self._lacking = size + float(sums[0]), float(sums[1])
        if not math.isfinite(primal):
            raise OverflowedError(TOO_LARGE)
        if primal <= self._lowest[0]:
            self._lowest = primal, self._W.copy()
        self._dual = max(self._dual, float(A[own].sum()) - size)

    def _list(self, W: Floats, further: float = 0.0) -> None:
        """Lists at some weights, of classes down to `further` below those that let D rise."""
        n = len(self._codes)
        real = self._X.dtype if self.tol >= SINGLE else np.dtype(np.float64)
        columns = W.T.astype(real)
        room = np.append(0, np.cumsum(np.diff(self._pointers) + MORE))
        counts, listed = np.zeros(n, np.int64), np.zeros(room[-1], np.int32)
        kept = np.zeros(room[-1])

        def one(span: tuple[int, int]) -> None:
            S = self._X[slice(*span)].astype(real, copy=False) @ columns
            known = self._codes, self._caps, self._pointers, self._classes, self._a
            list_classes(S, span[0], *known, room, MORE, further, counts, listed, kept)

        self.pool.map(one, spans(n, LOOKED))
        self._pointers = np.append(0, np.cumsum(counts))
        taken = np.repeat(room[:-1] - self._pointers[:-1], counts) + np.arange(self._pointers[-1])
        self._classes, self._a = listed[taken], kept[taken]

    def state(self) -> dict[str, Any]:
        pairs = {"pointers": self._pointers, "classes": self._classes, "a": self._a, "W": self._W}
        bounds = {"lowest": self._lowest, "dual": self._dual, "lacking": self._lacking}
        return {**pairs, **bounds, "halved": self._halved, "n_iter": self.n_iter}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        self._pointers, self._classes = state["pointers"], state["classes"]
        self._a, self._W, self._lowest = state["a"], state["W"], tuple(state["lowest"])
        self._dual, self._lacking = state["dual"], state["lacking"]
        self._halved = tuple(state["halved"])
        self.n_iter, self._restored = state["n_iter"], True

    def interrupted(self) -> None:
        """Passes left half done: the bounds of where they got."""
        if not hasattr(self, "_squares"):
            self._begin()
        self._look()

    def rescaled(self) -> None:
        """Rows are taken as they are."""

    def solution(self) -> Solution:
        A = np.zeros((len(self._codes), self._K))
        rows = np.repeat(np.arange(len(self._codes)), np.diff(self._pointers))
        A[rows, self._classes] = -self._a
        own = np.arange(len(self._codes)), self._codes
        A[own] = 0.0
        A[own] = -A.sum(axis=1)
        primal, W = self._lowest
        gap = max(0.0, primal - self._dual)
        b = np.zeros(self._K)
        return Solution(W.copy(), b, A, primal, self._dual, gap, max(1, self.n_iter))
