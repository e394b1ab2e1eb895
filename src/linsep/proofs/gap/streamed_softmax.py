"""The second count of softmax fits whose rows times classes are too many to keep scores of.

Scores, probabilities and sums of a few rows at a time; nothing is kept for a row. Biases are not
moved until classes are in balance, which would take scores again and again: with Tₖ = Σ Cᵢpᵢₖ, and
class k of weight wₖ, p′ = (1 − ε)p + εq with q the same for every row is in balance for

    ε = maxₖ (1 − wₖ/Tₖ),   εqₖ ΣC = wₖ − (1 − ε)Tₖ ≥ 0,   H(p′) ≥ (1 − ε)H(p),

and v becomes (1 − ε)v + ε(M − q mᵀ), with Mₖ = Σ Cᵢxᵢ over the rows of class k and m their sum.
Where that costs too much, more looks are taken from biases that are nearer to balance.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import spans
from linsep.data.blocks.page_release import PageRelease
from linsep.parallel import sum_over
from linsep.proofs.gap.certificate import (
    Bound,
    Certificate,
    FittedProblem,
    gamma,
    length,
    plus,
)
from linsep.proofs.gap.products import UNIT, Products

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

KEPT = 1 << 24  # scores up to which they are kept instead
AT_ONCE = 1 << 19  # scores that are looked at together
LOOKS = 4
COST = 100.0  # of the objective, for each share that is mixed: more than it ever costs


class Shares(NamedTuple):
    """Sums over rows for all classes; the first fields as of `linsep.proofs.gap.certificate.Sides`.

    Attributes
    ----------
    dual : E
    given, taken : what flows out of each class, and into it
    mass : Σ Cᵢ by class
    pull : a bound on Σ Cᵢ‖xᵢ‖
    moved : a bound on Σ ‖mᵢ‖‖xᵢ‖, for v = Σ mᵢxᵢᵀ
    v : the combination of rows
    """

    loss: float
    slope: float
    tilt: float
    reach: float
    terms: float
    fuzz: float
    dual: float
    given: Array
    taken: Array
    mass: Array
    pull: float
    moved: float
    v: Floats


def too_many(problem: FittedProblem) -> bool:
    """Whether the scores of all rows and classes had better not be kept (dense rows only)."""
    n, K = problem.X.shape[0], len(problem.W)
    return not sp.issparse(problem.X) and n * K > KEPT and any(problem.penalty)


def streamed_softmax(problem: FittedProblem) -> Certificate:
    """Count again for multinomial logistic regression, with the probabilities of the weights.

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> problem = FittedProblem(X, codes, 1.0, np.zeros((3, 1)), np.zeros(3), True)
    >>> values = streamed_softmax(problem)
    >>> round(values.primal, 6), values.dual < values.primal  # 3 log 3
    (3.295837, True)
    """
    shift = np.zeros(len(problem.W))
    best, step, mixed = _evaluate(problem, shift)
    for _ in range(LOOKS - 1):
        if best.gap <= problem.wanted or COST * mixed <= best.gap:
            break  # near enough, or what is missing is not for want of balance
        shift = shift - np.clip(step, -4.0, 4.0)
        again, step, mixed = _evaluate(problem, shift)
        if not again.dual > best.dual:
            break
        best = again
    return best


def _evaluate(problem: FittedProblem, shift: Floats) -> tuple[Certificate, Floats, float]:
    """The certificate from biases moved by `shift`, Newton's step for each of them, and ε."""
    (W, b), K, products = problem.beside(problem), len(problem.W), Products(problem.X, 2)
    pages = PageRelease(problem.X, products.pointers)

    def of(span: tuple[int, int]) -> Shares:
        rows, C, codes = products.part(span), problem.caps(span), problem.codes[slice(*span)]
        own = codes, np.arange(len(C))
        S = rows.scores(W)
        S += b[:, None]
        S -= S.max(axis=0)
        mine = S[own]
        losses = np.log(np.exp(S).sum(axis=0)) - mine
        if shift.any():
            S += shift[:, None]
            S -= S.max(axis=0)
            mine = S[own]
        P = np.exp(S)
        total = P.sum(axis=0)
        P /= total
        H = np.log(total) - np.einsum("ki,ki->i", P, S)
        bend = P @ C - np.einsum("ki,ki,i->k", P, P, C)  # Σ Cp(1 − p), for a step of the biases
        P[own] = 0.0  # the own class has what is left of one
        P *= -C * (1 - gamma(4 * K))  # a hair less: no rounding lets the others have more than all
        out = -P.sum(axis=0)
        taken = -P.sum(axis=1)
        P[own] = out
        given, mass = (np.bincount(codes, one, minlength=K) for one in (out, C))
        far, dual, charged = rows.size * length(C), float(C @ H), float(C @ losses)
        fuzz = K * (2 * dual + charged + 40 * float(C.sum()) - float(C @ mine))
        classes = sp.csr_array((C, codes, np.arange(len(C) + 1)), shape=(len(C), K))
        sums = np.asarray(classes.T @ problem.X[slice(*span)].astype(np.float64, copy=False))
        pages.advance(len(C))
        return Shares(
            charged, 2 * far, 2 * float(C.sum()), 0.0, dual + charged, fuzz, dual,
            np.stack([given, bend]), taken, mass, far,
            rows.size * length(P.ravel()), np.stack([rows.total(P), sums]),
        )  # fmt: skip

    few = max(256, AT_ONCE // K)
    with np.errstate(all="ignore"):
        sums = sum_over(of, spans(problem.X.shape[0], few), plus, problem.n_jobs)
        (v, M), (given, curved) = sums.v, sums.given
        added = products.added + 16 + K
        left, slip, error = 1.0, 0.0, 8 * gamma(added) * sums.moved
        if problem.free:
            left, slip = balance(sums, given, added + K)
            v = mixed(v, M, sums, given, left)
            error += 2 * (slip + (1.0 - left) * gamma(added)) * sums.pull
        bound = Bound(left * float(sums.dual), v, error, slip)
        certificate = problem.judge(sums, bound, products, lambda t: 0.0)
        return certificate, (sums.taken - given) / curved, 1.0 - left


def balance(sums: Shares, given: Floats, terms: float) -> tuple[float, float]:
    """1 − ε, and a bound on the share by which rounding has it wrong."""
    weight = sums.mass - given + sums.taken
    slip = float((4 * gamma(terms) * (given + sums.taken) / weight).max()) + 8 * UNIT
    return 1.0 - min(1.0, max(0.0, float(((sums.taken - given) / weight).max()))), slip


def mixed(v: Floats, M: Floats, sums: Shares, given: Floats, left: float) -> Floats:
    """v of mixed probabilities."""
    q = sums.mass - left * (sums.mass - given + sums.taken)  # times ε Σ C
    return np.asarray(left * v + (1.0 - left) * M - np.outer(q / sums.mass.sum(), M.sum(axis=0)))
