"""Data on which solvers hang, crash or lie: every learner must answer or refuse by name."""

import numpy as np

N = 60
Y = (np.arange(N) % 3 == 0).astype(int)
X = np.random.default_rng(0).standard_normal((N, 3)) + 1.5 * Y[:, None]


def with_outlier():
    wild = X.copy()
    wild[5, 1] = 1e12
    return wild


CASES = {
    "zero": (np.zeros((N, 3)), Y),
    "minus zero": (np.full((N, 3), -0.0), Y),
    "constant": (np.full((N, 2), 0.1), Y),
    "one constant column": (np.column_stack([X, np.full(N, 0.1)]), Y),
    "duplicate column": (np.column_stack([X, X[:, 0]]), Y),
    "collinear columns": (np.column_stack([X, X @ [0.3, 0.7, -1.1]]), Y),
    "n < d": (np.random.default_rng(1).standard_normal((10, 40)), Y[:10]),
    "two rows": (X[:2], Y[:2]),
    "outlier 1e12": (with_outlier(), Y),
    "mixed scales": (X * [1e-8, 1.0, 1e8], Y),
    "one row against many": (X, np.append(1, np.zeros(N - 1, int))),
    "both labels for each row": (np.repeat(X[:20], 2, axis=0), np.tile([0, 1], 20)),
    "largest floats": (np.where(X > 0, 1.7e308, -1.7e308), Y),
    "smallest float": (np.where(Y[:, None] == 1, 5e-324, 0.0) * np.ones((1, 2)), Y),
    "denormal": (X * 1e-312, Y),
    **{f"times {s:g}": (X * s, Y) for s in (1e150, 1e-150, 1e300, 1e-300)},
    **{f"plus {s:g}": (X + s, Y) for s in (1e6, 1e9, 1e12, 1e15)},
}
