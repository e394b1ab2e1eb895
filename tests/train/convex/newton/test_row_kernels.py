"""Products with dense and sparse rows are the same."""

import numpy as np
import scipy.sparse as sp

from linsep.train.convex.newton.row_kernels import Dense, Sparse


def test_dense_and_sparse_rows_have_the_same_products():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5)) * (rng.random((20, 5)) < 0.5)
    S = sp.csr_array(X)
    u, i = rng.standard_normal(5), 7
    sums = []
    for rows in (Dense(X), Sparse(S.data, S.indices, S.indptr)):
        added, squared = np.ones(5), np.zeros(5)
        rows.add(i, 2.0, added)
        rows.add_squares(i, 3.0, squared)
        sums.append((rows.dot(i, u), added, squared))
    for product, added, squared in sums:
        assert np.isclose(product, X[i] @ u, rtol=1e-14)
        assert np.allclose(added, 1.0 + 2.0 * X[i]) and np.allclose(squared, 3.0 * X[i] ** 2)
