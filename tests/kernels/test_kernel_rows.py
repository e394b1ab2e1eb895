"""Rows as the compiled kernels see them: right sums, and nothing read that is not there."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import rows as kernels
from linsep.rows.rows import as_rows


def table(n, d, dtype, sparse, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)
    X[np.abs(X) < 0.7] = 0.0
    return sp.csr_array(X) if sparse else X


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [0, 1, 7, 16, 33, 100])
def test_products_of_a_row_are_those_of_exact_sums(dtype, sparse, d):
    X = table(4, d, dtype, sparse)
    w = np.random.default_rng(1).normal(size=d).astype(dtype)
    full = (X.toarray() if sparse else X).astype(np.longdouble)
    for i in range(4):
        size = float(np.abs(full[i]) @ np.abs(w)) + 1e-30
        error = abs(float(kernels.dot(as_rows(X), i, w)) - float(full[i] @ w))
        assert error <= (d + 1) * np.finfo(dtype).eps * size
        assert kernels.square(as_rows(X), i) == pytest.approx(float(full[i] @ full[i]), rel=1e-15)
    lengths = np.empty(4)
    kernels.squares(as_rows(X), lengths)
    assert lengths == pytest.approx((full * full).sum(axis=1).astype(float), rel=1e-15)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_and_weights_that_do_not_belong_together_are_refused(sparse):
    rows = as_rows(table(4, 6, np.float64, sparse))
    with pytest.raises(ValueError, match="no such row"):
        kernels.dot(rows, 4, np.zeros(6))
    with pytest.raises(ValueError, match="a weight for each feature"):
        kernels.dot(rows, 0, np.zeros(5))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.dot(rows, 0, np.zeros(6, np.float32))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.dot(rows, 0, np.zeros(12)[::2])


def test_a_part_of_sparse_rows_is_the_same_rows():
    X = table(9, 5, np.float64, True)
    part, w = as_rows(X).part(3, 7), np.arange(5.0)
    got = [kernels.dot(part, i, w) for i in range(4)]
    assert got == [kernels.dot(as_rows(X), 3 + i, w) for i in range(4)]


@pytest.mark.parametrize(
    ("indices", "indptr", "d", "sound"),
    [
        ([0, 2], [0, 1, 2], 3, True),
        ([0, 3], [0, 1, 2], 3, False),
        ([0, 2], [0, 2, 1], 3, False),
        ([0, 2], [0, 1, 3], 3, False),
        ([], [0], 0, True),
        ([9], [0, 0], 1, True),  # an entry that no row holds
    ],
)
def test_sparse_rows_are_sound_if_nothing_outside_of_them_is_read(indices, indptr, d, sound):
    assert kernels.sound(np.array(indices, np.uint32), np.array(indptr, np.int64), d) is sound
