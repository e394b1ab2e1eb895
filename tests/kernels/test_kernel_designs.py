"""Products with rows and sums of their products are those of matrices written out."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import designs, factors
from linsep.parallel import Pool
from linsep.rows.rows import as_rows
from linsep.train.convex.coordinates import Columns
from linsep.train.convex.designs.design import Design


def table(n, d, dtype, sparse):
    X = np.random.default_rng(n + d).normal(size=(n, d)).astype(dtype)
    X[np.abs(X) < 0.5] = 0.0
    return (sp.csr_array(X) if sparse else X), np.c_[X.astype(np.float64), np.ones(n)]


LAYOUTS = [(kind, sparse) for kind in (np.float64, np.float32) for sparse in (False, True)]


@pytest.mark.parametrize(("dtype", "sparse"), LAYOUTS)
@pytest.mark.parametrize(
    ("n", "d"), [(0, 3), (1, 1), (5, 7), (37, 8), (70, 30), (9, 300), (20_000, 9)]
)
def test_products_and_sums_are_those_of_the_matrix_with_ones(dtype, sparse, n, d):
    X, full = table(n, d, dtype, sparse)
    rng = np.random.default_rng(1)
    W, R, D = rng.normal(size=(3, d + 1)), rng.normal(size=(2, n)), rng.uniform(size=n)
    R[:, ::3] = D[::4] = 0.0
    design = Design(X) if n else None
    if design is None:
        rows, H, width = as_rows(X), np.ones((d + 1, d + 1)), 8
        designs.gram(rows, D, H, np.empty((64 + width, width)))
        assert not H.any()
        return
    with Pool(2) as pool:
        exact = [full @ W.T, R @ full, full.T @ (D[:, None] * full), D @ full**2]
        found = [
            design.product(W, pool).T, design.back_product(R, pool), design.gram(D, pool),
            design.squares(D, pool),
        ]  # fmt: skip
        for one, other in zip(found, exact, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * max(1, n))
        centre, unit = np.zeros(d), np.arange(1.0, d + 1.0)
        centre += 0.0 if sparse else 0.5
        np.testing.assert_allclose(
            design.distances(centre, unit, (0, n)),
            (((full[:, :-1] - centre) * unit) ** 2).sum(axis=1), rtol=1e-12,
        )  # fmt: skip
        few = np.arange(0, d, 2)
        np.testing.assert_allclose(
            design.columns_of(few).product(W[:, : len(few)], pool).T,
            full[:, few] @ W[:, : len(few)].T, atol=1e-12,
        )  # fmt: skip


@pytest.mark.parametrize(("dtype", "sparse"), LAYOUTS)
@pytest.mark.parametrize(("n", "d"), [(0, 3), (37, 8), (70, 300)])
def test_products_with_a_sum_of_products_are_those_of_the_matrix(dtype, sparse, n, d):
    X, full = table(n, d, dtype, sparse)
    rng = np.random.default_rng(1)
    p, D, v = rng.normal(size=d + 1), rng.uniform(size=n), np.full(d + 1, np.nan)
    D[::4] = 0.0
    designs.curved(as_rows(X), D, p, v)
    np.testing.assert_allclose(v, full.T @ (D * (full @ p)), rtol=1e-12, atol=1e-11)
    for wrong in ((D, p[:-1], v), (D, p, v[:-1].copy()), (np.ones(n + 1), p, v)):
        with pytest.raises(ValueError, match="must have"):
            designs.curved(as_rows(X), *wrong)


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


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays_that_do_not_belong_to_the_rows_are_refused(sparse):
    rows = as_rows(table(4, 6, np.float64, sparse)[0])
    with pytest.raises(ValueError, match="a number for each feature"):
        designs.product(rows, np.zeros((1, 5)), np.zeros((1, 4)))
    with pytest.raises(ValueError, match="each plane and row"):
        designs.product(rows, np.zeros((1, 6)), np.zeros((1, 5)))
    with pytest.raises(ValueError, match="each plane and row"):
        designs.back_product(rows, np.zeros((1, 5)), np.zeros((1, 6)))
    with pytest.raises(ValueError, match="a number for each row"):
        designs.gram(rows, np.zeros(5), np.zeros((7, 7)), np.zeros((72, 8)))
    with pytest.raises(ValueError, match="room must be"):
        designs.gram(rows, np.zeros(4), np.zeros((7, 7)), np.zeros((8, 8)))
    with pytest.raises(ValueError, match="a number for each row"):
        designs.squares(rows, np.zeros(5), np.zeros(7))
    with pytest.raises(ValueError, match="a number for each row"):
        designs.norms(rows, np.zeros(5))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        designs.product(rows, np.zeros((1, 6), np.float32), np.zeros((1, 4)))


@pytest.mark.parametrize("n", [1, 2, 17, 60])
def test_a_positive_definite_system_is_solved(n):
    rng = np.random.default_rng(n)
    B, g = rng.normal(size=(4 * n, n)) * 10.0 ** rng.integers(-6, 7, n), rng.normal(size=n)
    A, x = B.T @ B, np.empty(n)
    gain = factors.solve(A, g, np.empty((n + 1, n)), x)
    scale = np.sqrt(A.diagonal())
    np.testing.assert_allclose(A @ x / scale, g / scale, rtol=1e-7, atol=1e-9)
    assert gain == pytest.approx(float(g @ x))


def test_a_singular_system_is_told():
    A, x = np.ones((3, 3)), np.empty(3)
    assert factors.solve(A, np.ones(3), np.empty((4, 3)), x) == -1.0
    with pytest.raises(ValueError, match="A must be square"):
        factors.solve(A, np.ones(2), np.empty((4, 3)), x)
    with pytest.raises(ValueError, match="room must have"):
        factors.solve(A, np.ones(3), np.empty((3, 3)), x)
