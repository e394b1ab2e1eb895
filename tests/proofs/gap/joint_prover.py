"""The oracle of Crammer and Singer's machine: bounds rounded to the safe side.

    P(W, b) = ½‖W‖² + Σ Cᵢ max(0, maxₖ(1 + sᵢₖ − sᵢ,yᵢ)),   sᵢₖ = ⟨wₖ, xᵢ⟩ + bₖ
    D(L)    = Σ Lᵢₖ − ½‖Σᵢ(Σₖ Lᵢₖ e_yᵢ − Lᵢ) xᵢᵀ‖²,   L ≥ 0,   Σₖ Lᵢₖ ≤ Cᵢ

where, with free intercepts, every class must give in L what it gets. Multipliers that a solver has
are taken as a hint, made feasible and never trusted.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from proofs.gap.second_prover import (
    _UNIT,
    RIDGE,
    _best_part,
    _combination,
    _flow_on_grid,
    _moves,
    _scores,
    _sum,
)

Array = npt.NDArray[Any]


def joint_hinge(
    X: Any,
    codes: Array,
    W: Array,
    b: Array,
    C: Array,
    intercept: bool = True,
    hint: Array | None = None,
) -> tuple[float, float]:
    """P(W, b), rounded up, and D at a feasible point made from `hint` or from W, rounded down.

    Parameters
    ----------
    X : dense or CSR rows
    codes : class number of each row
    W, b : weights (K, d) and intercepts (K,)
    C : Cᵢ > 0 for each row
    intercept : whether b is free; False means that it is absent
    hint : (n, K) multipliers, negative where a row leaves for another class

    Examples
    --------
    >>> X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    >>> joint_hinge(X, codes, np.zeros((3, 1)), np.zeros(3), np.ones(3))[0].__round__(6)
    3.0
    """
    n, K = X.shape[0], len(W)
    own = np.arange(n), codes
    brackets = [_scores(X, np.asarray(W[k], np.float64), float(b[k])) for k in range(K)]
    S = np.column_stack([s for s, _ in brackets]) + 1.0
    S[own] -= 1.0
    error = np.max([e for _, e in brackets], axis=0) + 4 * _UNIT * np.abs(S).max(axis=1)
    losses = C * (S.max(axis=1) - S[own] + 2 * error)
    primal = (RIDGE.above(W) + _sum(losses)) * (1 + (np.size(W) + 200) * 2 * _UNIT)
    leave = _leaving(S, codes, C) if hint is None else np.maximum(0.0, -hint)
    leave[own] = 0.0
    sums = leave.sum(axis=1)
    over = sums > C
    leave[over] *= (C[over] / sums[over])[:, None]
    leave *= 1 - 16 * K * _UNIT  # a hair less, so that no rounding lets more than Cᵢ leave a row
    leave = _flow_on_grid(leave, codes, C, intercept)
    leave *= _best_scale(X, codes, leave)
    leave = _flow_on_grid(leave, codes, C, intercept)
    return primal, _dual_below(X, codes, leave)


def _leaving(S: Array, codes: Array, C: Array) -> Array:
    """All of Cᵢ to the class that costs most: a slope of the loss, and a bound, if a loose one."""
    leave = np.zeros_like(S)
    leave[np.arange(len(S)), S.argmax(axis=1)] = C
    return leave


def _best_scale(X: Any, codes: Array, leave: Array) -> float:
    v, error = _combination(X, _moves(leave, codes))
    total = float(leave.sum())
    return _best_part(np.abs(v) + error, lambda s: s * total, RIDGE)


def _dual_below(X: Any, codes: Array, leave: Array) -> float:
    """D(L) less everything that rounding can have added."""
    v, error = _combination(X, _moves(leave, codes))
    total = _sum(leave)
    conjugate = RIDGE.conjugate(np.abs(v) + error)
    return max(0.0, total * (1 - 8 * _UNIT) - conjugate * (1 + 8 * _UNIT))  # P ≥ 0 anyway
