"""Sums over rows: the same bytes by any number of threads, in whatever columns they are read."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.coordinates import Columns
from linsep.train.convex.designs.design import Design


def table(n, d, dtype, sparse):
    X = np.random.default_rng(n + d).normal(size=(n, d)).astype(dtype)
    X[np.abs(X) < 0.5] = 0.0
    return (sp.csr_array(X) if sparse else X), np.c_[X.astype(np.float64), np.ones(n)]


@pytest.mark.parametrize("sparse", [False, True])
def test_sums_have_the_same_bytes_by_any_number_of_threads(sparse):
    X, _ = table(70_000, 12, np.float64, sparse)
    D = np.random.default_rng(0).uniform(size=70_000)
    grams = []
    for threads in (1, 2, 5):
        with Pool(threads) as pool:
            grams.append(Design(X).gram(D, pool).tobytes())
    assert len(set(grams)) == 1


def test_shifted_and_scaled_columns_are_those_of_a_copy():
    X, _ = table(500, 6, np.float64, False)
    columns = Columns(np.arange(6.0), np.ldexp(1.0, np.arange(6)))
    u = np.random.default_rng(2).normal(size=(1, 7))
    with Pool(1) as pool:
        found = Design(X, columns).product(u, pool)[0]
    w, b = columns.outside(u[0, :-1], u[0, -1])
    np.testing.assert_allclose(found, X @ w + b, atol=1e-11)
