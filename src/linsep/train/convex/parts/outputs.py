"""Losses of the scores of all rows: one score for two classes, or one for each of several.

    z = ys,   r = αy with α = −Uℓ′(z),   D = Uℓ″(z);    or   r = U(e_y − p),   D = U(diag p − ppᵀ)

A step whose scores are `along` foretells the multipliers r − D·along, which meet the conditions of
the model's minimum; brought within their bounds, and balanced where intercepts are free, they bound
the optimum from below.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool
from linsep.train.convex.designs.design import Design
from linsep.train.convex.parts import row_terms
from linsep.train.convex.parts.row_terms import SUMS
from linsep.train.convex.problem import Problem

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

POINTS = 9  # of a step that are looked at together
EVEN = 1e-14  # of Σ α: what either class may have more without being shrunk


class Terms(NamedTuple):
    """What scores give: Σ Uℓ; r, (K, n); what D is made of, (K, n); Σ Uℓ as it is meant, and by how
    much more that is than the same multipliers say, which is what is left once P is smallest."""

    loss: float
    pull: Floats
    curved: Floats
    meant: float
    corner: float = 0.0


class _Several(NamedTuple):
    classes: int


class Softmax(_Several):
    """−log softmax of the own class, a score for each."""

    kinked = False


class Margins:
    """Two classes, told apart by one score.

    Parameters
    ----------
    problem : whose losses are summed up
    pool : threads that share the spans
    """

    K = 1

    def __init__(self, problem: Problem, pool: Pool) -> None:
        self._problem, self._pool = problem, pool
        self._spans = problem.design.spans

    def _cut(self, span: tuple[int, int]) -> tuple[slice, Array, Floats]:
        cut, U = slice(*span), self._problem.weights
        return cut, self._problem.y[cut], U if len(U) == 1 else U[cut]

    def at(self, S: Floats) -> Terms:
        """Losses and their derivatives at scores."""
        pull, curved = np.empty_like(S), np.empty_like(S)

        def part(span: tuple[int, int]) -> Floats:
            cut, y, U = self._cut(span)
            R, sums = np.empty((2, len(y))), np.empty(SUMS)
            row_terms.terms(self._problem.loss, S[0, cut], y, U, R, curved[0, cut], sums)
            np.add(R[0], R[1], out=pull[0, cut])
            return sums

        smooth, meant, _, _, above, below, product = self._summed(part).tolist()
        return Terms(smooth, pull, curved, meant, meant + product - above - below)

    def _summed(self, part: Any) -> Floats:
        if len(self._spans) == 1:
            return np.asarray(part(self._spans[0]))
        return self._pool.sum(part, self._spans)

    def odds(self) -> Floats:
        """Intercepts at zero weights, about: the log-odds of the classes."""
        U, up = self._problem.weights, self._problem.y > 0
        share = float(up.mean() if len(U) == 1 else U @ up / U.sum())
        return np.array([np.log(share / (1.0 - share)) if 0.0 < share < 1.0 else 0.0])

    def matrix(self, design: Design, curved: Floats) -> Floats:
        """AᵀDA of the columns of a design and an intercept, (K, m + 1, K, m + 1)."""
        return design.gram(curved[0], self._pool)[None, :, None]

    def foretold(self, pull: Floats, curved: Floats, along: Floats) -> Floats:
        return np.asarray(pull - curved * along)

    def energy(self, curved: Floats, along: Floats) -> float:
        """⟨along, D along⟩"""
        return float((curved[0] * along[0]) @ along[0])

    def along(self, S: Floats, to: Floats, penalty: Callable[[float], float]) -> float:
        """The part of a step at which the objective is about smallest."""
        low, high = 0.0, 1.0
        for _ in range(3):
            t = np.linspace(low, high, POINTS)

            def part(span: tuple[int, int], t: Floats = t) -> Floats:
                (cut, y, U), slopes = self._cut(span), np.empty((len(t), 2))
                row_terms.along(self._problem.loss, S[0, cut], to[0, cut], y, U, t, slopes)
                return slopes

            slopes = self._summed(part)[:, 0] + [penalty(one) for one in t.tolist()]
            k = int(np.argmax(slopes > 0.0))
            if not slopes[k] > 0.0:
                return high
            if k == 0:
                return low
            low, high = float(t[k - 1]), float(t[k])
            if high <= 2.0 * low:
                break
        return low + (high - low) * float(slopes[k - 1] / (slopes[k - 1] - slopes[k]))

    def feasible(self, pull: Floats) -> Floats:
        """Multipliers that the loss allows, with as much weight on either side where b is free."""
        out = np.empty_like(pull)

        def part(span: tuple[int, int]) -> Floats:
            (cut, y, U), sums = self._cut(span), np.empty(2)
            row_terms.clipped(self._problem.loss, pull[0, cut], y, U, out[0, cut], sums)
            return sums

        sums = self._summed(part)
        least, most = float(sums.min()), float(sums.max())
        if self._problem.intercept and most - least > EVEN * most:
            heavy = out > 0.0 if sums[0] > sums[1] else out < 0.0
            np.multiply(out, least / most, out=out, where=heavy)
        return out

    def dual(self, pull: Floats, share: float) -> float:
        """E(share · α)"""

        def part(span: tuple[int, int]) -> Floats:
            cut, _, U = self._cut(span)
            return np.array([row_terms.dual_terms(self._problem.loss, pull[0, cut], U, share)])

        return float(self._summed(part)[0])

    def alpha(self, pull: Floats) -> Floats:
        """Multipliers as a solution has them."""
        return np.abs(pull[0])


class Classes:
    """The softmax of several scores; parameters as of `Margins`, with the number of each class."""

    def __init__(self, problem: Problem, pool: Pool, K: int) -> None:
        self._problem, self._pool, self.K = problem, pool, K
        self._own = problem.y.astype(np.intp), np.arange(problem.design.n)
        self._U = np.broadcast_to(problem.weights, (problem.design.n,))
        self._counts = np.bincount(self._own[0], self._U, K)

    def at(self, S: Floats) -> Terms:
        top = S.max(axis=0)
        p = np.exp(S - top)
        total = p.sum(axis=0)
        p *= self._U / total
        loss = float(self._U @ (np.log(total) + top - S[self._own]))
        return Terms(loss, self._owed(p), p, loss)

    def _owed(self, p: Floats) -> Floats:
        """U(e_y − p) of Up"""
        pull = -p
        pull[self._own] += self._U
        return pull

    def odds(self) -> Floats:
        with np.errstate(divide="ignore"):
            b = np.log(self._counts / self._counts.sum())
        return np.where(self._counts > 0.0, b, 0.0)

    def matrix(self, design: Design, curved: Floats) -> Floats:
        H = np.empty((self.K, design.d + 1, self.K, design.d + 1))
        inverse = np.divide(1.0, self._U, out=np.zeros(len(self._U)), where=self._U > 0.0)
        for k in range(self.K):
            for j in range(k + 1):
                D = curved[k] * ((j == k) - curved[j] * inverse)
                H[k, :, j] = design.gram(D, self._pool)
                H[j, :, k] = H[k, :, j].T
        return H

    def foretold(self, pull: Floats, curved: Floats, along: Floats) -> Floats:
        return np.asarray(pull - curved * (along - self._mean(curved, along)))

    def along(self, S: Floats, to: Floats, penalty: Callable[[float], float]) -> float:
        return 1.0

    def energy(self, curved: Floats, along: Floats) -> float:
        return float((along * (along - self._mean(curved, along)) * curved).sum())

    def _mean(self, curved: Floats, along: Floats) -> Floats:
        """Σₖ pₖ·alongₖ of each row"""
        U = self._U
        return np.divide((curved * along).sum(axis=0), U, out=np.zeros(len(U)), where=U > 0.0)

    def feasible(self, pull: Floats) -> Floats:
        """Those of probabilities; where intercepts are free, each class gets the weight it has.

        Mixed with the same probabilities for all rows, as few as that takes.
        """
        p = np.maximum(-pull, 0.0)
        p[self._own] = np.maximum(self._U - pull[self._own], 0.0)
        p *= np.divide(self._U, p.sum(axis=0), out=np.zeros(len(self._U)), where=self._U > 0.0)
        if self._problem.intercept:
            given, total = p.sum(axis=1), self._counts.sum()
            over = given > self._counts
            left = float(np.min(self._counts / given, where=over, initial=1.0))
            if left < 1.0 - EVEN:
                rest = np.maximum(self._counts - left * given, 0.0) / total
                p = left * p + np.outer(rest, self._U)
        return self._owed(p)

    def dual(self, pull: Floats, share: float) -> float:
        p = -share * pull
        p[self._own] += self._U
        U = np.broadcast_to(self._U, p.shape)
        ratio = np.divide(p, U, out=np.ones_like(p), where=(p > 0.0) & (U > 0.0))
        return -float((p * np.log(ratio)).sum())

    def alpha(self, pull: Floats) -> Floats:
        return np.ascontiguousarray(pull.T)


def outputs_of(problem: Problem, pool: Pool) -> Margins | Classes:
    """The scores that the loss of a problem takes."""
    K = getattr(problem.loss, "classes", 1)
    return Margins(problem, pool) if K == 1 else Classes(problem, pool, K)
