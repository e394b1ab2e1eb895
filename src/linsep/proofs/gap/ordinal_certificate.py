"""The gap of proportional odds, counted again from data and stored weights.

With s = ⟨w, x⟩ and levels 0 < 1 < … between thresholds θ₀ ≤ θ₁ ≤ …,

    P = ½ l2‖w‖² + Σ_k [Σ_{level k} Cᵢ ζ(sᵢ − θₖ) + Σ_{level k+1} Cᵢ ζ(θₖ − sᵢ)]
        + Σ_k Nₖ h(θₖ − θₖ₋₁)

where ζ(z) = log(1 + eᶻ), h(δ) = −log(1 − e^{−δ}) and Nₖ is the sum of C over level k. For each
threshold the bracket is a logistic regression of the level above against the level below, with the
weights w and the intercept −θₖ: its sums are those of `linsep.proofs.gap.certificate`, and so are
the bounds on rounding. Both functions are convex, so for any multipliers 0 ≤ αᵢ, βᵢ ≤ Cᵢ of the
rows below and above a threshold, and any Gₖ ≥ 0, Fenchel's inequality gives

    P ≥ ½ l2‖w‖² + ⟨w, Σ (α − β)x⟩ + Σ_k θₖ (Σ_{level k+1} β − Σ_{level k} α − Gₖ + Gₖ₊₁) + E,
    E = −Σ Cζ*(α/C) − Σ Cζ*(β/C) + Σ_k Nₖ [log(1 + gₖ) + gₖ log(1 + 1/gₖ)],    gₖ = Gₖ / Nₖ,

as −h*(−g) = log(1 + g) + g log(1 + 1/g) for g ≥ 0. The brackets of θ vanish where Gₖ₊₁ = Gₖ +
Σ_{level k} α − Σ_{level k+1} β from G = 0 below the lowest level to G = 0 above the highest, which
asks for Σ α = Σ β: the heavier of the two is shrunk by the exact ratio. What is left is minimised
over w in closed form, −‖Σ (α − β)x‖² / 2 l2. E is concave and zero at zero, so that E(tα) ≥ tE(α).
"""

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.proofs.gap.certificate import (
    Bound,
    Certificate,
    FittedProblem,
    Plane,
    Sides,
    gamma,
    plus,
)
from linsep.proofs.gap.products import UNIT, Products

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class _Terms(NamedTuple):
    """How many numbers make up a sum, as `Products` says it."""

    terms: float
    added: float


def certify_ordinal(
    problem: FittedProblem, dual: tuple[Floats, Floats] | None = None
) -> Certificate:
    """Bounds on the objective.

    Parameters
    ----------
    problem : with the level of each row for its code, weights (1, d) and intercepts −θ (K − 1,)
    dual : (W, b) whose slopes are proposed; the stored ones where None

    Examples
    --------
    >>> X, levels = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 2])
    >>> thresholds = np.array([-0.5, 0.5])
    >>> problem = FittedProblem(X, levels, 1.0, np.zeros((1, 1)), -thresholds, True)
    >>> bounds = certify_ordinal(problem)
    >>> round(bounds.primal, 6), 0 < bounds.dual < bounds.primal
    (3.354983, True)
    """
    n, K = len(problem.codes), len(problem.b) + 1
    C = problem.caps((0, n))
    weight = np.array([math.fsum(C[problem.codes == k]) for k in range(K)])
    sums, products = [], Products(problem.X, 1)
    for k in range(K - 1):
        there = (problem.codes == k) | (problem.codes == k + 1)
        own = problem._replace(
            codes=problem.codes - k, C=np.where(there, C, 0.0), b=problem.b[k : k + 1]
        )
        other = own if dual is None else own._replace(W=dual[0], b=dual[1][k : k + 1])
        with np.errstate(all="ignore"):
            sums.append(Plane("logistic", own, 1, None, other).sum())
    held, size = _apart(weight, np.diff(-np.asarray(problem.b, np.float64)))
    bound, terms = _bound(sums, weight, products.added + K)
    whole = reduce(plus, sums)
    whole = whole._replace(
        loss=whole.loss + held, reach=0.0,
        terms=whole.terms + held + terms, fuzz=whole.fuzz + size + terms,
    )  # fmt: skip
    counted: Any = _Terms(products.terms, products.added + K)
    return problem.judge(whole, bound, counted, lambda t: 0.0)


def _apart(weight: Floats, delta: Floats) -> tuple[float, float]:
    """Σ Nₖ h(δₖ), and the sizes that are rounded in it; levels without rows count nothing."""
    inner, some = weight[1:-1], weight[1:-1] > 0.0
    if not (delta[some] > 0.0).all():
        return np.inf, np.inf
    h = -np.log(-np.expm1(-delta[some]))
    return float(inner[some] @ h), float(inner[some] @ (h + 1.0))


def _bound(sums: list[Sides], weight: Floats, added: float) -> tuple[Bound, float]:
    """The dual terms and Σ (α − β)x of slopes that are shrunk into balance, and E of h alone.

    Levels below the lowest with rows, or above the highest, have no weight: a threshold there goes
    to infinity for nothing, so that the multipliers at it must be zero.
    """
    K = len(weight)
    present = np.flatnonzero(weight > 0.0)
    E, A, pull = np.zeros((2, K)), np.zeros((2, K)), np.zeros((2, K))
    V = np.zeros((2, K, sums[0].v.shape[1]))
    for k, one in enumerate(sums):
        for side in (0, 1):  # α of the level below threshold k, β of the level above
            if k + side != present[-1 if side == 0 else 0]:
                E[side, k + side], A[side, k + side] = one.dual[side], one.weight[side]
                V[side, k + side], pull[side, k + side] = one.v[side], one.pull
    total = A.sum(axis=1)
    shares, G = _balanced(A, present) if total.all() else (-np.ones_like(A), A[0])
    if not (shares >= 0.0).all():
        return Bound(0.0, np.zeros((1, V.shape[2])), 0.0), 0.0
    # Balance is exact for shares near these: by a part, or by so much where they were mended.
    slip = gamma(added + 16)
    apart = 4.0 * K * slip * float(total.sum())
    mended = shares != shares.max(axis=1, keepdims=True)
    off = np.where(mended, np.minimum(1.0, apart / np.where(A > 0.0, A, 1.0)), 0.0)
    inner = present[1:-1]
    g = np.maximum(0.0, G[inner] - apart) / weight[inner] * (1.0 - 4.0 * UNIT)
    h = np.log1p(g) + g * np.log1p(1.0 / np.where(g > 0.0, g, 1.0))  # rises with g
    own = float(weight[inner] @ h)
    terms = float(np.sum((shares - off) * E)) + own
    error = 3.0 * slip * sum(one.pull for one in sums) + float(np.sum(off * pull))
    return Bound(terms, np.tensordot(shares, V, 2)[None], error), own


def _balanced(A: Floats, present: Array) -> tuple[Floats, Floats]:
    """Shares of α and β of each level with which all is in balance, and G of each.

    The heavier side is shrunk; and β of a level where G would be negative, which α of the highest
    level but one makes up for, if it can: a negative share says that it cannot.
    """
    total = A.sum(axis=1)
    shares = np.broadcast_to((total.min() / total)[:, None], A.shape).copy()
    G, mended = np.zeros(A.shape[1]), False
    for k in range(1, A.shape[1]):
        G[k] = G[k - 1] + shares[0, k - 1] * A[0, k - 1] - shares[1, k] * A[1, k]
        if G[k] < 0.0 and k < present[-1]:
            shares[1, k] = max(0.0, shares[1, k] + G[k] / A[1, k])
            G[k], mended = 0.0, True
    last = present[-2]
    if mended:
        shares[0, last] -= G[present[-1]] / A[0, last]
    return shares, G
