"""Hyperplanes at work: products of rows and weights."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.model.linear import SHARE, LinearModel, product


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 3])
def test_sparse_rows_are_multiplied_in_parts_to_the_same_bytes(dtype, columns):
    rng = np.random.default_rng(0)
    X = sp.random(20_000, 300, 0.2, "csr", dtype=dtype, rng=rng)
    X = sp.csr_matrix(sp.vstack([X, sp.csr_matrix((5_000, 300), dtype=dtype)]))  # empty rows too
    assert X.nnz >= 2 * SHARE
    W = rng.standard_normal((300, columns)).astype(dtype)
    assert product(X, W).tobytes() == np.asarray(X @ W).tobytes()


def test_one_long_row_is_a_product_too():
    X = sp.csr_matrix(np.ones((1, 2 * SHARE)))
    assert LinearModel(np.ones((1, 2 * SHARE)), np.ones(1)).scores(X) == [2 * SHARE + 1]
