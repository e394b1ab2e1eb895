"""A visit of descent on the dual of Crammer and Singer's machine."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.rows.rows import as_rows
from linsep.train.convex.joint.descent.sweep import charges, combine, sweep


def test_a_visit_moves_the_multipliers_of_a_row_to_their_best_place():
    X = sp.csr_array(np.random.default_rng(0).standard_normal((1, 3)))
    y, K = np.array([2]), 4
    rows, U, q = as_rows(X), np.array([0.7]), np.array([float((X.toarray() ** 2).sum())])
    A, W, rest = np.zeros((1, K)), rows.weights(K, 3), np.zeros((1, 2), np.int64)
    s, step, gap = np.zeros(4), np.zeros(4), np.zeros(1)
    b = np.array([0.3, -0.2, 0.1, 0.25])
    sweep(rows, y, U, q, np.arange(1), 0.0, 0.0, A, W, b, rest, s, step, gap)
    assert gap[0] == pytest.approx(0.7 * (1 + 0.3 - 0.1))  # U times the loss, before the visit

    def worth(A):
        return q[0] / 2 * (A @ A) + b @ A - A[2]

    rng = np.random.default_rng(0)
    for leave in rng.dirichlet(np.ones(4), 2000) * 0.7:
        other = -leave
        other[2] = leave.sum() - leave[2]
        assert worth(A[0]) <= worth(other) + 1e-12
    again = np.zeros_like(W)
    combine(rows, np.arange(len(A)), A, again)
    np.testing.assert_allclose(again, W, atol=1e-14)
    S = X.toarray() @ W + b + 1
    S[0, 2] -= 1
    lost = 0.7 * (S.max() - S[0, 2])
    assert charges(rows, y, U, W, b, s) == pytest.approx(lost)
