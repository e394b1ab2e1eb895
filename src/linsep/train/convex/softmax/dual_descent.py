"""Logistic regression with many classes on sparse rows, by descent on its dual.

    minimise over W     P = ½‖W‖² + Σ Uᵢ (log Σₖ e^{sᵢₖ} − sᵢ,yᵢ),          sᵢ = xᵢᵀW
    maximise over p     D = −½‖W‖² − Σ Uᵢ Σₖ pᵢₖ log pᵢₖ,     W = Σ xᵢAᵢ,   Aᵢ = Uᵢ(e_y − pᵢ)

where each pᵢ is a distribution over the classes. A visit moves all K numbers of one row to their
best place: with t = U‖x‖², the new p is where log pₖ + t pₖ − (sₖ + t oldₖ) is the same for every
class, found by two steps of Newton's method in log p. What P and D lack at a row is

    slackᵢ = Uᵢ KL(pᵢ ‖ softmax(sᵢ)) ≥ 0,

and the duality gap is the sum of all slacks. Passes carry the weights in single precision; the gap
is computed in double precision from the rows. (Yu, Huang and Lin, 2011, move two classes at a
time.)
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import fetch, inline, kernel, weighted_add
from linsep.rows.rows import WIDEST, aligned, bring, scores
from linsep.status import Status
from linsep.train.convex.dual.kernels import inner
from linsep.train.order import block_order
from linsep.train.run.loop import UNCOUNTED, Listener, Pass

Floats = npt.NDArray[np.float64]

BLOCK = 4  # neighbouring rows visited in one go
STIFF = 4.0  # the largest t for which two steps of Newton's method are enough
FINEST = 1e-6  # smaller gaps are left to others: weights in single precision are not enough
PASSES = 40  # at most


@inline
def add_classes(data, indices, start, stop, W, a):  # type: ignore[no-untyped-def]
    """W[j] ← W[j] + x · a over the entries of one row."""
    k = 0
    while W.shape[1] - k >= WIDEST:
        weighted_add(data, indices, start, stop, W, k, 24, a)
        k += WIDEST
    left = W.shape[1] - k
    if left == 20:
        weighted_add(data, indices, start, stop, W, k, 20, a)
    elif left == 16:
        weighted_add(data, indices, start, stop, W, k, 16, a)
    elif left == 12:
        weighted_add(data, indices, start, stop, W, k, 12, a)
    elif left == 8:
        weighted_add(data, indices, start, stop, W, k, 8, a)
    elif left == 4:
        weighted_add(data, indices, start, stop, W, k, 4, a)


@inline
def best_place(s, old, t, p, logs):  # type: ignore[no-untyped-def]
    """p ← where log p + tp − s − t·old is the same for all classes; returns KL(old ‖ softmax(s)),
    nearly."""
    K = old.shape[0]
    top = s[0]
    for k in range(1, K):
        top = max(top, s[k])
    mass = 0.0
    for k in range(K):
        p[k] = np.exp(s[k] - top)
        mass += p[k]
    lack = 0.0
    shift = top + np.log(mass)
    for k in range(K):
        p[k] /= mass
        logs[k] = s[k] - shift
        lack += (p[k] - old[k]) ** 2 / (p[k] + old[k])
    for _ in range(2):
        above = below = mass = 0.0
        for k in range(K):
            h = p[k] / (1.0 + t * p[k])
            above += h * (logs[k] + t * (p[k] - old[k]) - s[k])
            below += h
        for k in range(K):
            left = logs[k] + t * (p[k] - old[k]) - s[k] - above / below
            logs[k] -= left / (1.0 + t * p[k])
            p[k] = np.exp(logs[k])
            mass += p[k]
        shift = np.log(mass)
        for k in range(K):
            p[k] /= mass
            logs[k] -= shift
    return lack


@kernel
def sweep(rows, codes, caps, squares, blocks, A, W):  # type: ignore[no-untyped-def]
    """Visit all rows, block by block; changes A and W, returns about the gap as it was met."""
    n, K = A.shape
    s, step = np.zeros(W.shape[1]), np.zeros(W.shape[1], W.dtype)
    old, p, logs = np.zeros(K), np.zeros(K), np.zeros(K)
    gap, last = 0.0, blocks.shape[0] - 1
    for q in range(blocks.shape[0]):
        start = BLOCK * blocks[q]
        later = BLOCK * blocks[min(q + 1, last)] - start
        for i in range(start, min(start + BLOCK, n)):
            soon = min(i + later, n - 1)
            bring(rows, soon)
            fetch(A, soon * K)
            U, y = caps[i], codes[i]
            if not U > 0.0:
                continue
            scores(rows, i, W, s)
            for k in range(K):
                old[k] = (k == y) - A[i, k] / U
            gap += U * best_place(s, old, U * squares[i], p, logs)
            for k in range(K):
                new = U * ((k == y) - p[k])
                step[k] = new - A[i, k]
                A[i, k] = new
            add_classes(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], W, step)
    return gap


@kernel
def slacks(S, codes, caps, A):  # type: ignore[no-untyped-def]
    """Σ U(log Σ eˢ − s_y) and Σ U KL(p ‖ softmax(s))."""
    losses = gap = 0.0
    for i in range(S.shape[0]):
        U, y = caps[i], codes[i]
        if not U > 0.0:
            continue
        top = S[i, 0]
        for k in range(1, S.shape[1]):
            top = max(top, S[i, k])
        mass = 0.0
        for k in range(S.shape[1]):
            mass += np.exp(S[i, k] - top)
        shift = top + np.log(mass)
        losses += U * (shift - S[i, y])
        slack = 0.0
        for k in range(S.shape[1]):
            p = (k == y) - A[i, k] / U
            if p > 0.0:
                slack += p * (np.log(p) - S[i, k] + shift)
        gap += U * max(slack, 0.0)
    return losses, gap


class Descent(NamedTuple):
    """Where passes have led, and why they ended.

    Attributes
    ----------
    A, S, W : multipliers, scores, and weights as `Products.weights` gives them
    primal, gap : P(W), and how far above D it is
    """

    A: Floats
    S: Floats
    W: Floats
    primal: float
    gap: float
    passes: int
    status: Status


def suits(products: Any, caps: Floats, tol: float) -> bool:
    """Whether passes end quickly: rows short enough for their caps, and no last digits wanted."""
    return tol >= FINEST and float((caps * products.design.lengths[:, 0]).max()) <= STIFF


def descend(
    products: Any, codes: Any, caps: Floats, tol: float, max_iter: int, listeners: list[Listener]
) -> Descent:
    """Make passes until the gap is at most `tol` of P, without intercepts.

    Parameters
    ----------
    products : the `Products` of `linsep.train.convex.softmax.row_space`
    codes : class number of each row
    caps : Uᵢ = C cᵢ
    tol : the relative gap asked for
    max_iter : most passes
    listeners : told of every look at all rows; one that returns True ends the run
    """
    n, K = products.n, products.K
    A, codes = np.zeros((n, K)), np.asarray(codes, np.int64)
    squares = np.ascontiguousarray(products.design.lengths[:, 0])
    W = aligned((products.d, products.width), np.float32)
    most = min(PASSES, max_iter)
    met = gap = float(caps.sum()) * np.log(K)
    aim, status = tol * met, None
    for number in range(1, most + 1):
        blocks = block_order(-(-n // BLOCK), 0, number, True)
        before = met
        try:
            met = float(sweep(products.rows, codes, caps, squares, blocks, A, W))
        except KeyboardInterrupt:  # comes after a pass, never amid one
            status = Status.interrupted
        foretold = met * min(1.0, met / before if before > 0.0 else 1.0)
        if foretold > aim and number < most and status is None:
            continue
        done = _look(products, codes, caps, A, number)
        if done.gap <= tol * done.primal:
            status = status or Status.converged
        else:
            asked = [one(Pass(number, UNCOUNTED, 1, done.primal)) is True for one in listeners]
            status = status or (Status.stopped if any(asked) else None)
        if status is not None:
            return done._replace(status=status)
        if done.gap > 0.7 * gap:
            break
        gap, aim = done.gap, tol * done.primal * min(1.0, foretold / done.gap)
    return done


def _look(products: Any, codes: Any, caps: Floats, A: Floats, passes: int) -> Descent:
    """P and D at these multipliers, in double precision."""
    W = products.weights(A)
    S = products.scores(W)
    losses, gap = slacks(S, codes, caps, A)
    primal = losses + 0.5 * inner(W.reshape(-1), W.reshape(-1))
    return Descent(A, S, W, primal, gap, passes, Status.budget)
