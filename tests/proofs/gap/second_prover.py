"""An oracle for `linsep.proofs.gap`: the same bounds, by code that shares nothing with it.

    P(w, b) = ½‖w‖² + Σ Cᵢ φ(zᵢ),   zᵢ = yᵢ(⟨w, xᵢ⟩ + b),   b not penalised (or absent)
    D(α)    = -½‖Σ αᵢ yᵢ xᵢ‖² - Σ Cᵢ φ*(-αᵢ/Cᵢ),   Σ αᵢ yᵢ = 0 where b is free

    hinge          φ = max(0, 1-z)     -Cφ*(-α/C) = α              0 ≤ α ≤ C
    squared hinge  φ = max(0, 1-z)²    -Cφ*(-α/C) = α - α²/4C      0 ≤ α
    logistic       φ = log(1 + e⁻ᶻ)    -Cφ*(-α/C) = C H(α/C)       0 ≤ α ≤ C, H the entropy in nats

With the penalty Ω(w) = l1‖w‖₁ + ½ l2‖w‖² in place of ½‖w‖², ½‖v‖² becomes its conjugate
Ω*(v) = Σ max(0, |vⱼ| - l1)²/(2 l2), which for l2 = 0 asks for |vⱼ| ≤ l1.

Any feasible α gives D(α) ≤ min P: that is the proof. A good α is read off the primal point; it is
then put on a grid so coarse that Σ αᵢ yᵢ is a sum of whole numbers and vanishes exactly, and every
rounding error left is bounded and taken off (Boyd and Vandenberghe, *Convex Optimization*, ch. 5).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import brentq, lsq_linear, minimize_scalar
from scipy.special import expit, log_softmax, softmax, xlog1py, xlogy

from linsep.data.blocks.blocks import spans
from linsep.parallel import tree_sum
from proofs.gap.flows import break_even, take

Array = npt.NDArray[Any]

_BLOCK = 256  # short sums keep their error bound near 256 roundings, whatever the number of rows
_UNIT = 2.0**-53


class Penalty(NamedTuple):
    """Ω(w) = l1‖w‖₁ + ½ l2‖w‖² and its conjugate, rounded to the safe side."""

    l1: float = 0.0
    l2: float = 1.0

    def above(self, W: Array) -> float:
        """Ω(W), before rounding is allowed for."""
        square = float(np.sum(np.square(W, dtype=np.float64)))
        return self.l1 * float(np.abs(W).sum(dtype=np.float64)) + 0.5 * self.l2 * square

    def conjugate(self, size: Array) -> float:
        """Ω* of a vector with these sizes |v|, rounded up."""
        over = np.maximum(0.0, size - self.l1)
        if self.l2 == 0:
            return 0.0 if not over.any() else math.inf
        return float(np.sum(over**2)) / (2 * self.l2) * (1 + (size.size + 8) * 2 * _UNIT)

    def room(self, size: Array) -> float:
        """The largest s ≤ 1 with Ω*(s·v) finite, a hair less where that is not all."""
        largest = float(size.max(initial=0.0))
        if self.l2 > 0 or largest <= self.l1:
            return 1.0
        return self.l1 / largest * (1 - 1e-12)


RIDGE = Penalty()


class Loss(NamedTuple):
    """φ, the multiplier -φ', the dual term -φ*(-u), and the largest multiplier."""

    value: Callable[[Array], Array]
    multiplier: Callable[[Array], Array]
    dual: Callable[[Array], Array]
    most: float
    slope: Callable[[Array], Array]  # a bound on |φ'| near z, for the error of φ(z)


HINGE = Loss(
    lambda z: np.maximum(0, 1 - z),
    lambda z: (z < 1).astype(np.float64),
    lambda u: u,
    1.0,
    lambda z: np.ones_like(z),
)
SQUARED_HINGE = Loss(
    lambda z: np.maximum(0, 1 - z) ** 2,
    lambda z: 2 * np.maximum(0, 1 - z),
    lambda u: u - u * u / 4,
    math.inf,
    lambda z: 2 * np.maximum(0, 1 - z) + 1,
)
LOGISTIC = Loss(
    lambda z: np.logaddexp(0, -z),
    lambda z: expit(-z),
    lambda u: -xlogy(u, u) - xlog1py(1 - u, -u),
    1.0,
    lambda z: np.ones_like(z),
)


def two_class(
    loss: Loss,
    X: Any,
    signs: Array,
    w: Array,
    b: float,
    C: Array,
    intercept: bool = True,
    alpha: Array | None = None,
    penalty: Penalty = RIDGE,
) -> tuple[float, float]:
    """P(w, b), rounded up, and D at a feasible point made from (w, b) or `alpha`, rounded down.

    Parameters
    ----------
    loss : Loss
        HINGE, SQUARED_HINGE or LOGISTIC.
    X : dense or CSR rows
    signs : array of -1 and +1
    w, b : weights and bias
    C : array
        Cᵢ > 0 for each row.
    intercept : bool
        Whether b is free; False means that it is absent.
    alpha : array, optional
        A dual point the solver already has; made feasible before use, never trusted.
    penalty : Penalty
        Ω, in place of ½‖w‖².

    Examples
    --------
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    >>> primal, dual = two_class(HINGE, X, y, np.array([1.0]), 0.0, np.ones(2))
    >>> round(primal, 6), round(dual, 6)  # w = 1 is optimal
    (0.5, 0.5)
    """
    signs = np.asarray(signs, np.float64)
    w = np.asarray(w, np.float64)
    s, e = _scores(X, w, float(b))
    z = signs * s
    losses = C * (loss.value(z) + e * loss.slope(z))
    primal = (penalty.above(w) + _sum(losses)) * (1 + (len(w) + 200) * 2 * _UNIT)
    if alpha is not None:
        alpha = np.clip(np.asarray(alpha, np.float64), 0, C * loss.most)
    elif loss is HINGE:
        alpha = _hinge_multipliers(X, signs, z, w, C, intercept)
    else:
        shift = _rebalance(loss, signs, s, C) if intercept else 0.0
        alpha = C * loss.multiplier(z + signs * shift)
    if intercept:
        alpha = _balance(alpha, signs)
    alpha = alpha * _best_scale(loss, X, signs, alpha, C, penalty)
    alpha = _on_grid(alpha, signs if intercept else None)
    return primal, _dual_below(loss, X, signs, alpha, C, penalty)


def _dual_below(
    loss: Loss, X: Any, signs: Array, alpha: Array, C: Array, penalty: Penalty = RIDGE
) -> float:
    """D(α) less everything that rounding can have added."""
    v, error = _combination(X, alpha * signs)
    conjugate = penalty.conjugate(np.abs(v) + error)
    terms = C * loss.dual(np.minimum(alpha / C, loss.most))
    # u = α/C is rounded; the slope of the entropy, log((1-u)/u), stays below 40 for floats u < 1
    slack = 200 * _UNIT * _sum(np.abs(terms)) + 128 * _UNIT * _sum(alpha)
    return max(0.0, _sum(terms) - slack - conjugate)  # P ≥ 0 anyway


def _scores(X: Any, w: Array, b: float) -> tuple[Array, Array]:
    """⟨w, xᵢ⟩ + b and a bound on its rounding error."""
    s, e = np.empty(X.shape[0]), np.empty(X.shape[0])
    for start, stop in spans(X.shape[0], 16 * _BLOCK):
        part = X[start:stop].astype(np.float64, copy=False)
        s[start:stop] = part @ w + b
        e[start:stop] = abs(part) @ np.abs(w) + abs(b)
    return s, 2 * (X.shape[1] + 4) * _UNIT * e


def _combination(X: Any, a: Array) -> tuple[Array, Array]:
    """Σ aᵢxᵢ and a bound on the rounding error of each coordinate; a may have several columns."""

    def part(span: tuple[int, int]) -> Array:
        rows, weights = X[span[0] : span[1]].astype(np.float64, copy=False), a[span[0] : span[1]]
        return np.stack([rows.T @ weights, abs(rows).T @ np.abs(weights)])

    cuts = spans(X.shape[0], _BLOCK)
    v, size = tree_sum(map(part, cuts), np.add)
    return v, (_BLOCK + math.log2(len(cuts)) + 8) * 1.01 * _UNIT * size


def _sum(values: Array) -> float:
    return math.fsum(values.ravel().tolist())


def _rebalance(loss: Loss, signs: Array, s: Array, C: Array) -> float:
    """The shift of b at which Σ αᵢ yᵢ = 0: the sum falls as b rises."""

    def residual(shift: float) -> float:
        return float((C * signs) @ loss.multiplier(signs * (s + shift)))

    low, high = -1.0, 1.0
    while residual(low) < 0 and low > -1e300:
        low *= 4
    while residual(high) > 0 and high < 1e300:
        high *= 4
    if residual(low) <= 0 or residual(high) >= 0:
        return low if residual(low) <= 0 else high
    return float(brentq(residual, low, high, xtol=1e-300, rtol=8.9e-16, maxiter=200))


def _hinge_multipliers(
    X: Any, signs: Array, z: Array, w: Array, C: Array, intercept: bool
) -> Array:
    """α from w = Σ αᵢyᵢxᵢ: C inside the margin, 0 outside, least squares for rows at z = 1."""
    best, best_miss = C * (z < 1), math.inf
    nearest = np.sort(np.abs(1 - z))
    most = nearest[min(len(z), 400) - 1]
    for width in (1e-9, 1e-7, 1e-5, 1e-3, 1e-2, 1e-1):
        kink = np.flatnonzero(np.abs(1 - z) <= min(width, most))[:500]
        alpha = C * (z < 1)
        alpha[kink] = 0
        v = _combination(X, alpha * signs)[0]
        if len(kink):
            Z = X[kink].toarray() if sp.issparse(X) else X[kink]
            A = (Z.astype(np.float64) * signs[kink, None]).T
            target = w - v
            if intercept:  # one more equation: Σ αᵢ yᵢ = 0, made heavy
                weight = 1e2 * (1 + np.abs(A).max())
                A = np.vstack([A, weight * signs[kink]])
                target = np.append(target, -weight * float(alpha @ signs))
            ceiling = C[kink]
            found = lsq_linear(A * ceiling, target, (0, 1), method="bvls", tol=1e-14)
            alpha[kink] = ceiling * np.clip(found.x, 0, 1)
            v = _combination(X, alpha * signs)[0]
        miss = float(np.linalg.norm(w - v)) + abs(float(alpha @ signs))
        if miss < best_miss:
            best, best_miss = alpha, miss
        if miss <= 1e-9 * float(np.linalg.norm(w)):
            break
    return best


def _balance(alpha: Array, signs: Array) -> Array:
    """Shrink the heavier side until both sides weigh the same, up to rounding."""
    plus, minus = float(alpha[signs > 0].sum()), float(alpha[signs < 0].sum())
    heavier = signs > 0 if plus > minus else signs < 0
    ratio = min(plus, minus) / max(plus, minus) if max(plus, minus) > 0 else 1.0
    return np.where(heavier, alpha * ratio, alpha)


def _best_scale(
    loss: Loss, X: Any, signs: Array, alpha: Array, C: Array, penalty: Penalty = RIDGE
) -> float:
    """The s in [0, 1] with the largest D(s·α): far from the optimum, α points too far."""
    v, error = _combination(X, alpha * signs)
    u = alpha / C
    return _best_part(np.abs(v) + error, lambda s: float(C @ loss.dual(s * u)), penalty)


def _best_part(size: Array, terms: Callable[[float], float], penalty: Penalty) -> float:
    """The s with the largest terms(s) - Ω*(s·v), for v of these sizes."""
    most = penalty.room(size)

    def below(s: float) -> float:
        return penalty.conjugate(s * size) - terms(s)

    asked = {"bounds": (0, most), "method": "bounded", "options": {"xatol": 1e-9 * most}}
    found = minimize_scalar(below, **asked)
    return most if below(most) <= found.fun else float(found.x)


def _on_grid(alpha: Array, signs: Array | None) -> Array:
    """α rounded down to whole multiples of a power of two, with Σ αᵢ yᵢ = 0 exactly."""
    total = float(alpha.sum())
    if not 0 < total < math.inf:
        return np.zeros_like(alpha)
    grid = 2.0 ** max(-1074, math.frexp(total)[1] - 52)
    counts = np.floor(alpha / grid).astype(np.int64)
    if signs is not None:
        surplus = int(counts[signs > 0].sum() - counts[signs < 0].sum())
        side = np.flatnonzero(signs > 0 if surplus > 0 else signs < 0)
        take(counts, side, abs(surplus))
    return np.asarray(counts * grid)


def many_class(
    X: Any,
    codes: Array,
    W: Array,
    b: Array,
    C: Array,
    intercept: bool = True,
    penalty: Penalty = RIDGE,
) -> tuple[float, float]:
    """Bounds for multinomial logistic regression: ½‖W‖² + Σ Cᵢ(log Σₖ exp sᵢₖ - sᵢ,yᵢ).

    The dual is Σ Cᵢ H(pᵢ) - ½‖Σ Cᵢ(e_yᵢ - pᵢ) xᵢᵀ‖² over probabilities pᵢ with
    Σ Cᵢ(e_yᵢ - pᵢ) = 0 where b is free.

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> primal, dual = many_class(X, codes, np.zeros((3, 1)), np.zeros(3), np.ones(3))
    >>> round(primal, 6), dual <= primal  # 3 log 3
    (3.295837, True)
    """
    n, K = X.shape[0], len(W)
    brackets = [_scores(X, np.asarray(W[k], np.float64), float(b[k])) for k in range(K)]
    S = np.column_stack([s for s, _ in brackets])
    error = np.max([e for _, e in brackets], axis=0)
    own = np.arange(n), codes
    losses = C * (-log_softmax(S, axis=1)[own] * (1 + 16 * K * _UNIT) + 2 * error)
    primal = penalty.above(W) + _sum(losses)
    primal *= 1 + (np.size(W) + 200) * 2 * _UNIT
    if intercept:
        S = S + _rebalance_many(S, codes, C)
    leave = C[:, None] * softmax(S, axis=1)  # aᵢₖ = Cᵢpᵢₖ: of row i leaves for class k
    leave[own] = 0
    # a hair less, so that no rounding lets more than Cᵢ leave a row
    leave *= _best_scale_many(X, codes, leave, C, penalty) * (1 - 16 * K * _UNIT)
    leave = _flow_on_grid(leave, codes, C, intercept)
    return primal, _dual_below_many(X, codes, leave, C, penalty)


def _moves(leave: Array, codes: Array) -> Array:
    """Cᵢ(e_yᵢ - pᵢ): what leaves a row's own class arrives in the others."""
    A = -leave
    A[np.arange(len(codes)), codes] = leave.sum(axis=1)
    return A


def _entropy(leave: Array, codes: Array, C: Array) -> Array:
    """Cᵢ H(pᵢ)"""
    p = leave / C[:, None]
    stay = np.maximum(0, 1 - p.sum(axis=1))
    return C * (-xlogy(p, p).sum(axis=1) - xlogy(stay, stay))


def _dual_below_many(X: Any, codes: Array, leave: Array, C: Array, penalty: Penalty) -> float:
    v, error = _combination(X, _moves(leave, codes))
    conjugate = penalty.conjugate(np.abs(v) + error)
    terms = _entropy(leave, codes, C)
    slack = 64 * leave.shape[1] * _UNIT * (_sum(terms) + _sum(C))
    return max(0.0, _sum(terms) - slack - conjugate)  # P ≥ 0 anyway


def _rebalance_many(S: Array, codes: Array, C: Array) -> Array:
    """The change of the biases at which every class keeps its weight, by Newton's method."""
    own = np.arange(len(codes)), codes
    shift = np.zeros(S.shape[1])
    weight = np.bincount(codes, C, minlength=S.shape[1])

    def value(t: Array) -> float:
        return float(C @ -log_softmax(S + t, axis=1)[own])

    for _ in range(50):
        P = softmax(S + shift, axis=1)
        gradient = C @ P - weight
        if np.abs(gradient).max() <= 1e-15 * C.sum():
            break
        hessian = np.diag(C @ P) - (P * C[:, None]).T @ P
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        size = 1.0
        while size > 1e-8 and value(shift - size * step) > value(shift):
            size /= 2
        if size <= 1e-8:
            break
        shift = shift - size * step
    return shift


def _best_scale_many(X: Any, codes: Array, leave: Array, C: Array, penalty: Penalty) -> float:
    v, error = _combination(X, _moves(leave, codes))
    return _best_part(
        np.abs(v) + error, lambda s: float(_entropy(s * leave, codes, C).sum()), penalty
    )


def _flow_on_grid(leave: Array, codes: Array, C: Array, intercept: bool) -> Array:
    """Round down to a grid; where b is free, take flows away until every class breaks even."""
    total = float(leave.sum())
    if not 0 < total < math.inf:
        return np.zeros_like(leave)
    grid = 2.0 ** max(-1074, math.frexp(total)[1] - 52)
    counts = np.floor(leave / grid).astype(np.int64)
    if intercept:
        break_even(counts, codes)
    return np.asarray(counts * grid)
