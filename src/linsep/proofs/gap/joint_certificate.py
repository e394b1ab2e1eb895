"""The second count of fits whose classes share one loss: softmax, and Crammer and Singer's.

    softmax          E = Σ CᵢH(pᵢ),   v = Σ Cᵢ(e_yᵢ − pᵢ)xᵢᵀ,   Σ Cᵢ(e_yᵢ − pᵢ) = 0 where b is free
    Crammer, Singer  E = Σ Lᵢₖ,       v = Σ (Σₖ Lᵢₖ e_yᵢ − Lᵢ)xᵢᵀ, every class gives what it gets

Biases are moved until the probabilities add up to what the classes weigh, which takes scores but
no rows. What rounding leaves of the difference is mended by mixing: with Tₖ = Σ Cᵢpᵢₖ, and class k
of weight wₖ, p′ = (1 − ε)p + εq with q the same for every row,

    ε = maxₖ (1 − wₖ/Tₖ),   εqₖ ΣC = wₖ − (1 − ε)Tₖ ≥ 0,   H(p′) ≥ (1 − ε)H(p),

and v moves by no more than 2ε ΣCᵢ‖xᵢ‖; where that is too much to know, by what the sums of classes
say (see `linsep.proofs.gap.streamed_softmax`). Flows that do not balance are mixed too. Tₖ − wₖ is
what class k takes from rows of others less what its own rows give: rows that are as good as
decided add next to nothing to either, nor to their rounding.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import on_cluster
from linsep.data.blocks.page_release import PageRelease, room_for
from linsep.parallel import sum_over
from linsep.proofs.gap.certificate import (
    Bound,
    Certificate,
    FittedProblem,
    entropies,
    gamma,
    length,
    plus,
)
from linsep.proofs.gap.extended_joint import ExtendedJoint
from linsep.proofs.gap.products import UNIT, Products
from linsep.proofs.gap.streamed_softmax import Shares, balance, mixed, streamed_softmax, too_many
from linsep.proofs.gap.told import certify_told

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

NEXT_TO_NOTHING = 1e-6  # of ‖v‖: what need not be known any better


def certify_softmax(problem: FittedProblem, A: Any = None, dual: Any = None) -> Certificate:
    """Count again for multinomial logistic regression.

    Multipliers A, (n, K), are C(e_y − p) of probabilities to be proposed; those of the weights are
    where None, and where the proposed ones do not show the gap that is wanted. Where rounding is in
    the way sums are made in pairs of doubles, and slopes at (W, b) = `dual` proposed too.

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> values = certify_softmax(FittedProblem(X, codes, 1.0, np.zeros((3, 1)), np.zeros(3), True))
    >>> round(values.primal, 6), values.dual < values.primal  # 3 log 3
    (3.295837, True)
    """
    if problem.told is not None:
        return certify_told("logistic", problem, None, None if A is None else np.asarray(A).T)
    plain = _count_softmax(problem, A)
    if plain.clear(problem):
        return plain
    extended = ExtendedJoint(problem, hinge=False)
    fine = [extended.certificate(one) for one in ((None,) if A is None else (None, A))]
    if dual is not None:
        fine.append(extended.certificate(None, *dual))
    return min(plain, *fine, key=lambda one: one.gap)


def _count_softmax(problem: FittedProblem, A: Any) -> Certificate:
    """In plain sums."""
    if A is not None:
        proposed = _SoftmaxCount(problem, A).certificate()
        if proposed.gap <= problem.wanted or not any(problem.penalty):
            return proposed
        return min(proposed, _count_softmax(problem, None), key=lambda one: one.gap)
    if too_many(problem):
        return streamed_softmax(problem)
    return _SoftmaxCount(problem, None).certificate()


class _SoftmaxCount:
    """The sums of the certificate, with the scores of all rows kept but on a cluster, where they
    are made again where they are needed."""

    def __init__(self, problem: FittedProblem, A: Any) -> None:
        self.problem, self.A = problem, A
        (self.W, self.b), self.K = problem.beside(problem), len(problem.W)
        self.products = Products(problem.X, 2)
        self.pages = PageRelease(problem.X, self.products.pointers)
        self.shift = np.zeros(self.K)
        self.S: Any = None
        if not on_cluster(problem.X):
            shape = (self.K, problem.X.shape[0])
            self.S = room_for(np.broadcast_to(np.float64(0), shape), problem.X)

    def _over(self, function: Callable[[tuple[int, int]], Any], add: Callable[..., Any]) -> Any:
        return sum_over(function, self.products.spans, add, self.problem.n_jobs)

    def _scored(self, span: tuple[int, int]) -> Floats:
        if self.S is not None:
            return np.asarray(self.S[:, slice(*span)])
        return np.add(self.products.part(span).scores(self.W), self.b[:, None])

    def _own(self, span: tuple[int, int]) -> Any:
        return self.problem.codes[slice(*span)], np.arange(span[1] - span[0])

    def _score(self, span: tuple[int, int]) -> int:
        scores = self.products.part(span).scores(self.W)
        np.add(scores, self.b[:, None], out=self.S[:, slice(*span)])
        self.pages.advance(span[1] - span[0])
        return 0

    def _lost(self, span: tuple[int, int]) -> float:
        values = _softmax(self._scored(span))
        return float(self.problem.caps(span) @ (values.spread - values.T[self._own(span)]))

    def _shares(self, span: tuple[int, int]) -> Shares:
        K, rows, C, own = self.K, self.products.part(span), self.problem.caps(span), self._own(span)
        values = _softmax(self._scored(span) + self.shift[:, None])
        P, H = values.P, values.spread - np.einsum("ki,ki->i", values.P, values.T)
        if self.A is not None:
            P = _allowed(self.A[slice(*span)].T, C, own)
            H = entropies(P).sum(axis=0)
        P[own] = 0.0  # the own class has what is left of one
        P *= 1 - gamma(4 * K)  # a hair less: no rounding lets the others have more than all
        out = C * P.sum(axis=0)
        moves = P * -C
        taken = -moves.sum(axis=1)
        moves[own] = out
        given, mass = (np.bincount(own[0], one, minlength=K) for one in (out, C))
        far, dual = rows.size * length(C), float(C @ H)
        fuzz = K * (2 * dual + 40 * float(C.sum()) - float(C @ values.T[own]))
        self.pages.advance(len(C))
        return Shares(
            0.0, 2 * far, 2 * float(C.sum()), 0.0, dual, fuzz, dual, given, taken, mass, far,
            rows.size * length(moves.ravel()), rows.total(moves),
        )  # fmt: skip

    def _entropy(self, span: tuple[int, int], shrink: float) -> float:
        C, own = self.problem.caps(span), self._own(span)
        if self.A is None:
            P = _softmax(self._scored(span) + self.shift[:, None]).P
        else:
            P = _allowed(self.A[slice(*span)].T, C, own)
        P *= shrink
        P[own] += 1.0 - shrink
        return float(C @ entropies(P).sum(axis=0)) - 64 * self.K * UNIT * float(C.sum())

    def certificate(self) -> Certificate:
        problem, products, K = self.problem, self.products, self.K
        with np.errstate(all="ignore"):
            if self.S is not None:
                self._over(self._score, max)
            if self.A is None:
                self.shift = _rebalanced(problem, self._scored, products)
            lost, sums = self._over(self._lost, plus), self._over(self._shares, plus)
            sums = sums._replace(loss=lost, terms=sums.terms + lost, fuzz=sums.fuzz + K * lost)
            left, slip, error = 1.0, 0.0, 8 * gamma(products.added + 16 + K) * sums.moved
            v, terms = sums.v, products.added + 2 * K
            if problem.free:
                left, slip = balance(sums, sums.given, terms)
                v, off = left * v, 2 * (1.0 - left) * sums.pull
                if off > NEXT_TO_NOTHING * length(v.ravel()):
                    M = self._over(self._class_sums, np.add)
                    v, off = mixed(sums.v, M, sums, sums.given, left), gamma(terms + 16) * off
                error += off + 2 * slip * sums.pull

            def again(t: float) -> float:
                return left * float(self._over(partial(self._entropy, shrink=t), plus))

            bound = Bound(left * float(sums.dual), v, error, slip)
            return problem.judge(sums, bound, products, again)

    def _class_sums(self, span: tuple[int, int]) -> Floats:
        """Σ Cᵢxᵢ of each class."""
        classes = np.zeros((self.K, span[1] - span[0]))
        classes[self._own(span)] = self.problem.caps(span)
        self.pages.advance(span[1] - span[0])
        return self.products.part(span).total(classes)


def _allowed(A: Floats, C: Floats, own: Any) -> Floats:
    """The probabilities that multipliers stand for, whatever they are."""
    P = np.maximum(0.0, -A) / np.maximum(C, 1e-300)
    P[own] = 0.0
    P /= np.maximum(1.0, P.sum(axis=0))
    P[own] = np.maximum(0.0, 1.0 - P.sum(axis=0))
    return P


class _Softmax(NamedTuple):
    """Scores less their largest, (K, m), probabilities, and the logarithms of their sums."""

    T: Floats
    P: Floats
    spread: Floats


def _softmax(S: Floats) -> _Softmax:
    T = S - S.max(axis=0)
    P = np.exp(T)
    total = P.sum(axis=0)
    P /= total
    return _Softmax(T, P, np.log(total))


def _rebalanced(
    problem: FittedProblem, scored: Callable[[tuple[int, int]], Floats], products: Products
) -> Floats:
    """The change of the biases at which every class keeps its weight, by Newton's method."""
    K = len(problem.W)
    shift = np.zeros(K)
    if not (problem.free and any(problem.penalty)):
        return shift

    def of(span: tuple[int, int]) -> Floats:
        C, codes = problem.caps(span), problem.codes[slice(*span)]
        P = _softmax(scored(span) + shift[:, None]).P
        taken = P @ C
        g = taken - np.bincount(codes, C, minlength=K)
        return np.vstack([g, np.diag(taken) - (P * C) @ P.T])

    before, best = math.inf, shift
    for _ in range(20):
        g, *H = sum_over(of, products.spans, np.add, problem.n_jobs)
        off = float(np.abs(g).max())
        if not off < before:
            break
        best, before = shift, off
        # b + constant is the same model: the pseudo-inverse leaves that direction alone
        if not np.isfinite(H).all():
            break
        step = np.clip(np.linalg.pinv(np.array(H), 1e-14, hermitian=True) @ g, -4.0, 4.0)
        shift = shift - step
        if float(np.abs(step).max()) <= 1e-7:  # the next one would be rounding
            return shift
    return best


def certify_crammer_singer(problem: FittedProblem, A: Floats) -> Certificate:
    """Count again for Crammer and Singer's machine, from multipliers A, (n, K).

    An entry is negative where its row leaves for that class.

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> problem = FittedProblem(X, codes, 1.0, np.zeros((3, 1)), np.zeros(3), True)
    >>> certify_crammer_singer(problem, np.zeros((3, 3))).gap
    1.0
    """
    plain = _count_crammer_singer(problem, A)
    if plain.clear(problem):
        return plain
    fine = ExtendedJoint(problem, hinge=True).certificate(A)
    return min(plain, fine, key=lambda one: one.gap)


def _count_crammer_singer(problem: FittedProblem, A: Floats) -> Certificate:
    """In plain sums."""
    K = len(problem.W)
    W, b = problem.beside(problem)
    products = Products(problem.X, 2)
    pages = PageRelease(problem.X, products.pointers)

    def of(span: tuple[int, int]) -> Shares:
        rows, C = products.part(span), problem.caps(span)
        codes = problem.codes[slice(*span)]
        own = codes, np.arange(len(C))
        S = rows.scores(W) + b[:, None]
        mine = S[own]
        S += 1.0
        S[own] = mine
        losses = S.max(axis=0) - mine
        L = np.maximum(0.0, -A[slice(*span)].T)
        L[own] = 0.0
        out = L.sum(axis=0)
        part = np.minimum(1.0, np.divide(C, out, out=np.ones(len(C)), where=out > C))
        L *= part * (1 - gamma(4 * K))  # a hair less: no rounding lets more than C leave a row
        out = L.sum(axis=0)
        moves = -L
        moves[own] = out
        far, charged = rows.size * length(C), float(C @ losses)
        pages.advance(len(C))
        return Shares(
            charged, 2 * far, 2 * float(C.sum()), 0.0, charged + float(out.sum()), charged,
            float(out.sum()), np.bincount(codes, out, minlength=K), L.sum(axis=1),
            np.bincount(codes, C, minlength=K), far, rows.size * length(moves.ravel()),
            rows.total(moves),
        )  # fmt: skip

    with np.errstate(all="ignore"):
        sums = sum_over(of, products.spans, plus, problem.n_jobs)
        error, part, slip = 8 * gamma(products.added + 16 + K) * sums.moved, 0.0, 0.0
        if problem.free:
            rounded = 4 * gamma(products.added + 2 * K) * float(sums.dual)
            lacking = float(np.abs(sums.given - sums.taken).sum())
            least = float(sums.mass[sums.mass > 0].min(initial=math.inf))
            part, slip = min(1.0, lacking / least), rounded / least
            error += 1.5 * (part + slip) * sums.pull
        left = 1.0 - part
        bound = Bound(left * float(sums.dual), left * sums.v, error, slip)
        return problem.judge(sums, bound, products, lambda t: 0.0)
