"""Products with the rows against products of matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.newton.row_products import RowProducts


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [7, 5000])
def test_products(form, dtype, n):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, 9)) < 0.5, rng.normal(size=(n, 9)), 0.0).astype(dtype)
    wide = np.column_stack([X.astype(np.float64), np.ones(n)])
    u, D, y = (
        rng.normal(size=10),
        rng.random(n) * (rng.random(n) < 0.8),
        np.sign(rng.normal(size=n)),
    )
    with Pool(2) as pool:
        product = RowProducts(form(X), pool)
        assert product.scores(u) == pytest.approx(wide @ u)
        each = [(D * y * (y == side)) @ wide for side in (1, -1)]
        assert product.pull(D, y) == pytest.approx(np.array(each), abs=1e-9)
        assert product.curve(D, u) == pytest.approx(wide.T @ (D * (wide @ u)))
        assert product.squares(D) == pytest.approx(D @ (wide * wide))
        some = np.arange(0, n, 3)
        H = wide[some].T @ (D[some, None] * wide[some])
        assert product.products(some, D[some]) == pytest.approx(H)
