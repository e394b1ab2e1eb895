"""Multipliers to propose for hinges where a model has none: at its kink a hinge has many slopes.

Whatever stands here, the proof makes it feasible and trusts nothing of it; a poor proposal costs a
loose bound.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import lsq_linear

from linsep.proofs.gap.certificate import FittedProblem

Array = npt.NDArray[Any]

WIDTHS = (1e-9, 1e-7, 1e-5, 1e-3, 1e-2, 1e-1)  # how far from its kink a row may lie
FEW = 400  # rows at the kink, at most


def hinge_multipliers(problem: FittedProblem, k: int, signs: Array) -> Array:
    """α of plane k from w = Σ αᵢyᵢxᵢ: C inside the margin, 0 outside, least squares at z = 1."""
    X, C, w = problem.X, problem.caps((0, len(signs))), problem.W[k]
    apart = 1.0 - signs * (X @ w + problem.b[k])
    if problem.told is not None:  # Σ αyx is known where weights are at no bound and no corner
        told, (l1, l2) = (
            problem.told.plane(k) if len(problem.W) > 1 else problem.told,
            problem.penalty,
        )
        apart -= 0.0 if told.offset is None else signs * told.offset
        held = (w > told.low[0]) & (w < told.high[0]) & ((w != 0.0) | (told.weight * l1 == 0.0))
        X, w = X[:, held], (told.weight * (l2 * w + l1 * np.sign(w)))[held]
    inside = np.where(apart > 0, C, 0.0)
    most = np.sort(np.abs(apart))[min(len(apart), FEW) - 1]
    best, least = inside, math.inf
    for width in WIDTHS:
        kink = np.flatnonzero(np.abs(apart) <= min(width, most))[: FEW + 100]
        alpha = inside.copy()
        alpha[kink] = 0.0
        if len(kink):
            Z = X[kink].toarray() if sp.issparse(X) else X[kink]
            A, target = (Z * signs[kink, None]).T.astype(np.float64), w - X.T @ (alpha * signs)
            if problem.free:  # one more equation: Σ αᵢ yᵢ = 0, made heavy
                heavy = 1e2 * (1 + np.abs(A).max())
                A = np.vstack([A, heavy * signs[kink]])
                target = np.append(target, -heavy * float(alpha @ signs))
            share = lsq_linear(A * C[kink], target, (0, 1), method="bvls", tol=1e-14).x
            alpha[kink] = C[kink] * np.clip(share, 0, 1)
        miss = float(np.linalg.norm(w - X.T @ (alpha * signs))) + abs(float(alpha @ signs))
        if miss < least:
            best, least = alpha, miss
        if miss <= 1e-9 * float(np.linalg.norm(w)):
            break
    return best


def joint_multipliers(problem: FittedProblem) -> Array:
    """All of Cᵢ to the class that costs most: a slope of the loss, and a bound, if a loose one."""
    own = np.arange(problem.X.shape[0]), problem.codes
    S = problem.X @ problem.W.T + (problem.b + 1.0)
    S[own] -= 1.0
    A = np.zeros_like(S)
    A[own[0], S.argmax(axis=1)] = -problem.caps((0, len(S)))
    return A
