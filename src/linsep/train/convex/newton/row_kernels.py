"""Dense rows times the roots of their weights, compiled."""

import numpy as np

from linsep._compile import kernel


@kernel
def weigh(X, D, B):  # type: ignore[no-untyped-def]
    """√Dᵢ (xᵢ, 1), so that BᵀB is the sum of their products"""
    n, d = X.shape
    for i in range(n):
        root = np.sqrt(D[i])
        for j in range(d):
            B[i, j] = root * X[i, j]
        B[i, d] = root
