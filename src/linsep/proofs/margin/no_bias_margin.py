"""The widest margin of a linear machine without a free bias, by dual coordinate ascent.

    minimise ½‖W‖²  subject to  ⟨w_yᵢ - wₖ, x̃ᵢ⟩ ≥ 1 for every row i and every other class k,

where x̃ = (x, c) carries the constant feature c. Its value is 1/(2γ²), with γ the largest margin of
Kesler's construct. Each dual variable is maximised in turn (Hildreth 1957). What is found here is
a proposal only: `linsep.proofs.mistakes.mistake_bound` measures it again.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.kernels.designs import norms
from linsep.kernels.halfspaces import kesler_sweep
from linsep.rows.rows import as_rows

Array = npt.NDArray[Any]

_WORK = 2e9  # numbers read before giving up: a limit that does not depend on the machine's speed
_ROUNDS = 300


def max_margin_without_bias(
    X: Any, codes: Array, n_classes: int, constant: float, tolerance: float = 1e-3
) -> tuple[Array, Array, float, float]:
    """Search for the widest margin; weights (K, d), weights on the constant feature, two bounds.

    Returns
    -------
    W, v : arrays
        v·constant is the bias. Not necessarily separating.
    lower, upper : float
        In floating point: the margin of (W, v), at most 0 where it does not separate, and a bound
        on the margin of any weights, from the dual.
    """
    rows = as_rows(X)
    n, d = X.shape
    squares = np.empty(n)
    norms(rows, squares)
    W, v, s = np.zeros((n_classes, d)), np.zeros(n_classes), np.zeros(n_classes)
    alpha = np.zeros((n, n_classes))
    codes = np.ascontiguousarray(codes, np.int32)
    own = np.arange(n), codes
    best = (W.copy(), v.copy(), -np.inf)
    upper = np.inf
    everyone = np.arange(n)
    size = max(1, X.data.size if hasattr(X, "indptr") else X.size) * n_classes
    for _ in range(int(min(_ROUNDS, max(3, _WORK / (4 * size))))):
        kesler_sweep(rows, codes, squares, everyone, constant, alpha, W, v, s)
        support = np.flatnonzero(alpha.max(axis=1) > 0)
        for _ in range(10):
            kesler_sweep(rows, codes, squares, support, constant, alpha, W, v, s)
        norm, total = np.sqrt((W**2).sum() + (v**2).sum()), alpha.sum()
        if not (np.isfinite(norm) and norm > 0):
            break
        S = X @ W.T + v * constant
        lead = S[own][:, None] - S
        lead[own] = np.inf
        lower = float(lead.min() / norm)
        if lower > best[2]:
            best = (W.copy(), v.copy(), lower)
        upper = min(upper, float(norm / total))  # γ ≤ ‖Σ λz‖ for weights λ of sum one
        if best[2] >= (1 - tolerance) * upper:
            break
    return best[0], best[1], best[2], upper
