"""Guesses at the inverse Hessian of the softmax loss over dense rows, class by class.

    Hₖ = ridge + Σ cᵢ qᵢₖ (xᵢ − mₖ)(xᵢ − mₖ)ᵀ,   qᵢₖ = pᵢₖ(1 − pᵢₖ),   mₖ the mean by these weights

is the block of class k in the Hessian (the mean is what a free intercept takes up). Probabilities
tilt the distribution of the rows, pₖ ∝ e^{⟨wₖ, x⟩}: a Gaussian so tilted is moved to another centre
and keeps its covariance. So one covariance within classes, from a sample of the rows, serves them
all, with each class's own centre and weight tₖ = Σ cᵢqᵢₖ from all rows; classes of about the same
weight share a factor of ridge + tM. Rows that are far from Gaussian, such as pixels, need a
covariance for each class: later guesses have one where it costs no more than some passes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg as sl

from linsep.data.blocks.blocks import on_cluster
from linsep.parallel import Pool
from linsep.train.convex.classes.class_sums import UNPENALISED, ClassProblem, ClassSums
from linsep.train.convex.sampling import scattered

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FEWEST, PER_FEATURE, MOST = 2048, 4, 16  # rows of a sample, and for each feature
LOOKED_AT, ALL = 2, 1 << 23  # rows for each one drawn; rows times classes that all are looked at
PART = 2048  # of them that a thread works on at a time
DEAREST = 25.0  # passes that a covariance for each class may cost
FRESH = 10.0  # passes more before another that hardly differs
LARGEST = 1 << 24  # numbers that covariances of all classes may have
MISSED = 0.05  # of the variance in a column, below which a sample is taken to have missed it


def sample_size(problem: ClassProblem) -> int:
    """Rows of a sample: those whose m·d² products cost as much as a pass, 4ndK, within limits."""
    n, d = problem.design.n, problem.design.d
    return min(n, max(FEWEST, PER_FEATURE * d, min(MOST * d, 4 * n * problem.K // d)))


def cost(problem: ClassProblem) -> tuple[float, bool]:
    """Passes before another guess, for what it costs, and whether each class has its own then."""
    n, d, K, m = problem.design.n, problem.design.d, problem.K, sample_size(problem)
    one = 4.0 * n * d * K
    own = 2.0 + K * d * d * (m + d / 3) / one
    if K * d * d <= LARGEST and own <= DEAREST:
        return own, True
    return FRESH + 1.5 + (m * d * (d + 4.0 * K) + d**3) / one, False


class ClassCurvature:
    """About H⁻¹ at u.

    Parameters
    ----------
    problem, sums : the rows
    u : where probabilities are taken
    own : whether each class has a covariance of its own

    Attributes
    ----------
    centres : mₖ, (K, d)
    """

    def __init__(
        self, problem: ClassProblem, sums: ClassSums, u: Floats, own: bool, pool: Pool
    ) -> None:
        self._pool, self._problem, self._sums, d = pool, problem, sums, problem.design.d
        tilts, squares = sums.tilts(u)
        t = np.maximum(tilts[:, d], 1e-6 * tilts[:, d].mean() + 1e-300)
        means = tilts[:, :d] / t[:, None]
        self.centres = means if problem.free else np.zeros_like(means)
        self._sample(own, u)
        power = np.arange(problem.K) if own else np.round(np.log2(t))
        alike = [np.flatnonzero(power == p) for p in np.unique(power)]
        # features that the sample has missed count as much as they should
        known = (squares - t @ self.centres**2) / t.sum()
        M = np.empty((0, 0)) if own else self._within(slice(None))
        ridge = problem.ridge[:d]
        if not problem.penalised:
            ridge = np.full(d, UNPENALISED * max(float(t.mean() * known.mean()), 1e-300))
        self._root = np.sqrt(ridge)

        def factor(classes: Array) -> _Factor:
            A = self._within(classes) if own else M.copy()
            A.flat[:: d + 1] += np.where(A.diagonal() < MISSED * known, known, 0.0)
            A *= float(np.exp(np.log(t[classes]).mean())) / self._root / self._root[:, None]
            return _Factor(A, classes)

        far = on_cluster(problem.design.X)
        self._factors = list((map if far else pool.map)(factor, alike))
        del self._rows, self._q

    def _sample(self, own: bool, u: Floats) -> None:
        """Rows to draw from, and their qᵢₖ: all of them where a class has a sample of its own."""
        problem, sums = self._problem, self._sums
        n, K, m = problem.design.n, problem.K, LOOKED_AT * sample_size(problem)
        every = n <= m or (own and n * K <= ALL)
        self._rows = np.arange(n) if every else scattered(n, m)

        def doubts(part: Array) -> Floats:
            P = sums.shares_of(part, u)[1].astype(np.float64)
            return P * (1.0 - P) * problem.c[part]

        parts = [self._rows[k : k + PART] for k in range(0, len(self._rows), PART)]
        far = on_cluster(problem.design.X)  # then the chosen rows are brought here
        self._q = np.concatenate(list((map if far else self._pool.map)(doubts, parts)), axis=1)

    def _within(self, classes: Any) -> Floats:
        """M = Σᵢₖ qᵢₖ (xᵢ − mₖ)(xᵢ − mₖ)ᵀ / Σᵢₖ qᵢₖ of some classes, from rows drawn by their q."""
        sums, centres = self._sums, self.centres[classes]
        rows, counts = drawn(self._q[classes].sum(axis=0), sample_size(self._problem))
        middle, real = centres.mean(axis=0), sums.real
        q, centres = (self._q[classes][:, rows] * counts).astype(real), centres - middle
        x = sums.rows_of(self._rows[rows]) - middle.astype(real)
        own = q @ x - 0.5 * q.sum(axis=1)[:, None] * centres
        cross = centres.T @ own
        each = q.sum(axis=0)
        x *= np.sqrt(each)[:, None]
        square = np.asarray(x.T @ x, np.float64)
        return (square - cross - cross.T) / max(float(each.sum(dtype=np.float64)), 1e-300)

    def __call__(self, G: Floats) -> Floats:
        """H⁻¹G for gradients (K, d)."""
        right, out = G / self._root, np.empty_like(G)

        def one(factor: _Factor) -> None:
            out[factor.classes] = factor.solve(right[factor.classes])

        self._pool.map(one, self._factors)
        return out / self._root


class _Factor:
    """(1 + A)⁻¹ for some classes."""

    def __init__(self, A: Floats, classes: Array) -> None:
        self.classes = classes
        # the share of the largest entries that rounding may have taken away is put back
        A.flat[:: len(A) + 1] += 1 + 1e-6 * A.diagonal().max(initial=0.0)
        self._factor = sl.lapack.dpotrf(A.T, lower=True, overwrite_a=True, clean=False)[0]

    def solve(self, right: Floats) -> Floats:
        """Rows through the factor."""
        half = sl.blas.dtrsm(1.0, self._factor, right.T, lower=1)
        return np.asarray(sl.blas.dtrsm(1.0, self._factor, half, lower=1, trans_a=1)).T


def drawn(weights: Floats, wanted: int) -> tuple[Array, Floats]:
    """About so many rows with chances that are as their weights, and what each stands for.

    >>> drawn(np.array([1.0, 0.0, 1.0, 0.5, 0.5]), 3)
    (array([0, 2, 4]), array([1., 1., 2.]))
    """
    if wanted >= len(weights):
        return np.arange(len(weights)), np.ones(len(weights))
    chance = weights
    for _ in range(3):
        chance = np.minimum(1.0, chance * (wanted / max(float(chance.sum()), 1e-300)))
    whole = np.floor(np.cumsum(chance) + 1e-9)
    rows = np.flatnonzero(np.diff(whole, prepend=0.0))
    return rows, 1.0 / chance[rows]
