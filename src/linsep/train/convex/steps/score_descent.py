"""Descent on penalised losses of scores: whole batches with a line search, folds, or single rows.

    J(w, b) = Σ cᵢ ℓ(sᵢ) / Σ c + λ Ω(w),    s = ⟨w, x⟩ + b,   λ = 1/(C Σ c),    so J = P/(C Σ c)

Columns are seen through a lens z = (x·2^-e − m)/s (`linsep.train.convex.steps.standardise`), so
that one step suits all of them; w = f·a with f = 2^-e/s, and the penalty is that of w. After each
pass all rows are looked at. With the intercepts at their best for these weights, the multipliers
R = ∂ℓ/∂s are balanced and bound the optimum from below:

    J ≥ D = Σ cᵢ(−ℓ*(−|Rᵢ|)) / Σ c − λ Ω*(V),     V = Σ cᵢRᵢxᵢ / (λ Σ c).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.train.closed.frame import frame_of
from linsep.train.convex.penalties import Elastic, highest
from linsep.train.convex.steps.score_losses import ScoreLoss
from linsep.train.convex.steps.standardise import View, lens_of, raw_lens
from linsep.train.problem import Block, Problem
from linsep.train.run.state import Stateful, record
from linsep.train.run.trace import Trace

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LARGEST = 1e150  # of f², so that products with it stay finite


@record
class Evaluation(NamedTuple):
    """All rows seen from (a, b): objective, its parts' slopes, and the bound from below."""

    a: Floats
    b: Floats
    value: float
    loss: float
    parts: Floats  # of the mean loss, as the loss tells them apart
    mistakes: int
    slope: Floats  # of the mean loss, in a
    slope_b: Floats
    dual: float


class ScoreDescent(Stateful):
    """Weights `a` (K, d) and intercepts `b` (K,) of the scaled columns, under way.

    Parameters
    ----------
    problem : rows, classes and weights; every row has weight
    loss : of the K scores of a row
    planes : K
    penalty : Ω
    C : weight of the losses; infinity stands for no penalty
    free : whether there are intercepts
    scale : whether columns are brought to one scale
    start : (W, b) in the units of the data, or None for zero
    labels : what the loss wants to know of each row; the numbers of classes if not given
    """

    state_names = ("a", "b", "kept", "multipliers", "_mean_kept", "_kept_weight", "_clock")

    def __init__(
        self,
        problem: Problem,
        loss: ScoreLoss,
        planes: int,
        penalty: Elastic,
        C: float,
        *,
        free: bool,
        scale: bool,
        start: tuple[Array, Array] | None = None,
        labels: Array | None = None,
    ) -> None:
        n, d = problem.n_rows, problem.n_features
        self.problem, self.loss, self.penalty, self.free = problem, loss, penalty, free
        self.labels = problem.codes if labels is None else labels
        given = problem.weights if problem.weights.size else None
        plain = Problem(problem.X, np.zeros(n, np.int32), given, 1, problem.n_jobs)
        frame = frame_of(plain)
        self.unit = C * problem.total  # P = J · C Σ c
        self.lam = 1.0 / self.unit if np.isfinite(C) else 0.0
        round_part = self.lam * penalty.l2 / loss.bend
        with np.errstate(all="ignore"):
            lens = lens_of(plain, frame, free, round_part) if scale else raw_lens(d)
        self.view = View(plain, frame, lens, free)
        c = np.ones(n) if given is None else given / given.max()
        self.c = c / c.sum()
        self.f = lens.exact * lens.rate
        self.q = np.minimum(self.f * self.f, LARGEST)
        self.a, self.b = np.zeros((planes, d)), np.zeros(planes)
        if start is not None:
            self.begin_at(*start)
        self.kept = np.zeros((n, planes)) if loss.corner else np.zeros((0, 0))
        self._mean_kept, self._kept_weight = np.zeros_like(self.kept), 0.0
        self.multipliers: Floats | None = None
        self._clock = np.zeros(2)  # folds so far, and what is due of the penalty

    def begin_at(self, W: Array, b: Array) -> None:
        """Start from weights in the units of the data."""
        lens, W = self.view.lens, np.asarray(W, np.float64)
        alive = self.f > 0
        self.a = np.zeros_like(self.a)
        np.divide(W, self.f, out=self.a, where=alive)
        level = np.asarray(b, np.float64) + self.a @ (lens.shift * lens.rate)
        self.b = level if self.free else self.b

    def outside(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Weights and intercepts in the units of the data."""
        lens = self.view.lens
        W = np.zeros_like(a)
        np.multiply(a, self.f, out=W, where=a != 0)
        level = np.zeros_like(a)
        np.multiply(a, lens.shift * lens.rate, out=level, where=a != 0)
        b = b - level.sum(axis=1)
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            raise OverflowedError(
                "X has columns so small that their weights leave the range of floats. Multiply X "
                "by a constant."
            )
        return W, b

    def scores(self, a: Floats) -> Floats:
        """⟨a, z⟩ of every row."""
        S = np.empty((self.problem.n_rows, len(a)))

        def of(block: Block) -> int:
            rows = self.problem.X[block.start : block.start + len(block.codes)]
            S[block.start : block.start + rows.shape[0]] = self.view.lens.of(rows) @ a.T
            return 0

        self.problem.sum(of, max)
        return S

    def total(self, R: Floats) -> Floats:
        """Σ cᵢ Rᵢ zᵢᵀ, (K, d)."""

        def of(block: Block) -> Floats:
            rows = slice(block.start, block.start + len(block.codes))
            Z = self.view.lens.of(self.problem.X[rows])
            return np.asarray(Z.T @ (self.c[rows, None] * R[rows])).T

        return self.problem.sum(of, np.add)

    def penalised(self, a: Floats) -> float:
        """λ Ω(w)"""
        if not self.lam:
            return 0.0
        round_part = 0.5 * self.penalty.l2 * float(np.sum(self.q * a * a))
        return self.lam * (round_part + self.penalty.l1 * float(np.abs(a * self.f).sum()))

    def evaluate(self, S: Floats, b: Floats | None = None) -> Evaluation:
        """J, slopes and bound at `a`, whose scores are S; with the best intercepts if b is None.

        The bound is that of the best intercepts in any case: others leave multipliers unbalanced.
        """
        codes, loss = self.labels, self.loss
        best = b is None
        if b is None:
            b = self._best_bias(S)
        T = S + b
        parts = self.c @ loss.parts(T, codes)
        mean = float(parts.sum())
        R = loss.residual(T, codes)
        R = loss.balanced(R, self.c) if best and self.free and not loss.corner else R
        slope = self.total(R)
        if best or loss.corner or not (self.free and self.lam):
            dual = self._bound(R, slope)
        else:
            R_best = loss.balanced(loss.residual(S + self._best_bias(S), codes), self.c)
            dual = self._bound(R_best, self.total(R_best))
        value = mean + self.penalised(self.a)
        wrong = loss.mistakes(T, codes)
        slope_b = self.c @ R * self.free
        return Evaluation(self.a, b, value, mean, parts, wrong, slope, slope_b, dual)

    def _best_bias(self, S: Floats) -> Floats:
        if not self.free:
            return np.zeros_like(self.b)
        return self.loss.best_bias(S, self.labels, self.c, self.b)

    def _bound(self, R: Floats, slope: Floats) -> float:
        """D at these multipliers; for a loss with a corner, at their mean over passes."""
        if not self.lam:
            return 0.0
        if self.loss.corner:
            if not self._kept_weight:
                return 0.0
            R = -self._mean_kept / self._kept_weight
            R = self.loss.balanced(R, self.c) if self.free else R
            slope = self.total(R)
            self.multipliers = self.c[:, None] * np.abs(R) * self.unit
        V = np.zeros_like(slope)
        np.divide(slope, self.lam * self.f, out=V, where=self.f > 0)
        if not np.isfinite(V).all():
            return 0.0
        codes = self.labels
        _, D = highest(
            lambda s: float(self.c @ self.loss.dual(R, codes, s)) * self.unit, self.penalty, V
        )
        return D / self.unit

    def fold_pass(
        self, eta: float, size: int, seed: int, epoch: int, shuffle: bool | str, trace: Trace | None
    ) -> int:
        """One pass in folds of `size` rows, drawn anew; returns the number of steps."""
        pace = self.c * self.problem.n_rows if self.problem.weights.size else np.empty(0)
        decay = self.penalty.l1 * np.abs(self.f), self.penalty.l2 * self.q
        K, every, codes, steps = len(self.b), self._every(size), self.labels, 0
        s, pulls, room = np.zeros(K), np.zeros((size, K)), np.empty(self.problem.n_features)
        lens = tuple(self.view.lens.seen(self.problem.rows))
        for block, order in self.problem.in_order(seed, epoch, shuffle):
            span = slice(block.start, block.start + len(order))
            targets, kept = self.loss.signs(codes[span], K), self.kept[span]
            cut = 0
            while cut < len(order):
                last = len(order) if trace is None else min(len(order), cut + size * trace.wait())
                made = -(-(last - cut) // size)
                self.loss.steps(
                    block.rows, lens, (targets, pace[span], order[cut:last]), size,
                    (np.full(made, eta), np.full(made, eta * self.lam), every), decay,
                    (self.a, self.b, bool(self.free)), (s, pulls, kept, self._clock), room,
                )  # fmt: skip
                if trace is not None:
                    row = int(block.start + order[last - 1]) if size == 1 else None
                    w, b = self.outside(self.a, self.b)
                    trace.update(made, epoch, row, s, eta * pulls[(last - cut - 1) % size], w, b)
                cut, steps = last, steps + made
        if self.loss.corner:  # later passes, nearer to the optimum, count for more
            self._mean_kept += epoch * self.kept
            self._kept_weight += epoch
        return steps

    def _every(self, size: int) -> int:
        """After how many folds the penalty has its share of their steps."""
        X = self.problem.X
        if not sp.issparse(X):
            return 1
        per_fold = size * max(1, X.nnz // max(1, X.shape[0]))  # weights that the rows touch
        return max(1, min(X.shape[1] // per_fold, X.shape[0] // size))

    def step(self, eta: float, seen: Evaluation) -> Floats:
        """Where a step of the whole batch from `seen` leads, the penalty taken implicitly."""
        a = seen.a - eta * seen.slope
        if not self.lam:
            return a
        share = eta * self.lam
        a = np.sign(a) * np.maximum(np.abs(a) - share * self.penalty.l1 * np.abs(self.f), 0.0)
        return a / (1.0 + share * self.penalty.l2 * self.q)
