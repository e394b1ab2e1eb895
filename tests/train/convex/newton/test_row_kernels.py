"""Products with dense and sparse rows are the same."""

import numpy as np
import scipy.sparse as sp

from linsep.train.convex.newton.row_kernels import curve, squares
from linsep.train.convex.newton.row_layouts import Dense, Sparse


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


def test_products_with_the_hessian_are_those_of_the_matrix():
    rng = np.random.default_rng(1)
    X, D, p = rng.standard_normal((20, 5)), rng.random(20) * (rng.random(20) < 0.7), np.arange(6.0)
    Z, product, diagonal = np.column_stack([X, np.ones(20)]), np.zeros(6), np.zeros(6)
    curve(Dense(X), D, p, product)
    squares(Dense(X), D, diagonal)
    H = Z.T @ (D[:, None] * Z)
    assert np.allclose(product, H @ p) and np.allclose(diagonal, H.diagonal())
