"""The two products with X that a certificate needs, block by block."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.gap.products import Products


@pytest.mark.parametrize("planes", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_blocks_add_up_to_the_products_themselves(layout, dtype, planes):
    rng = np.random.default_rng(planes)
    X = (rng.standard_normal((5000, 30)) * (rng.random((5000, 30)) < 0.3)).astype(dtype)
    W, A = rng.standard_normal((planes, 30)), rng.standard_normal((planes, 5000))
    products = Products(layout(X), planes)
    assert [a for a, _ in products.spans[1:]] == [b for _, b in products.spans[:-1]]
    parts = [(span, products.part(span)) for span in products.spans]
    S = np.concatenate([part.scores(W) for _, part in parts], axis=1)
    V = sum(part.total(np.ascontiguousarray(A[:, slice(*span)])) for span, part in parts)
    assert np.allclose(S, W @ X.T.astype(float), atol=1e-11)
    assert np.allclose(V, A @ X.astype(float), atol=1e-9)
    for span, part in parts:  # lengths are bounds: never below the truth
        true = np.linalg.norm(X[slice(*span)].astype(float))
        assert true <= part.size <= 1.1 * true + 1e-30
    assert products.terms >= (X != 0).sum(axis=1).max()


@pytest.mark.parametrize("size", [1e200, 1e-200, 0.0])
def test_lengths_beyond_the_range_of_squares_are_bounds_too(size):
    X = np.full((10, 4), size)
    part = Products(X, 1).part((0, 10))
    true = size * np.sqrt(40)
    assert true <= part.size * (1 + 1e-12) and part.size <= 1.01 * true
