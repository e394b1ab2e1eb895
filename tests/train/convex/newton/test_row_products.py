"""Sums over labelled rows against products of matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.train.convex.losses import SquaredHinge
from linsep.train.convex.newton.row_numbers import _There
from linsep.train.convex.newton.row_products import RowProducts


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [7, 40_000])
def test_sums(form, dtype, n):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, 9)) < 0.5, rng.normal(size=(n, 9)), 0.0).astype(dtype)
    wide = np.column_stack([X.astype(np.float64), np.ones(n)])
    u, p, U = rng.normal(size=10), rng.normal(size=10), rng.random(n)
    y = np.sign(rng.normal(size=n)).astype(np.int8)
    z = y * (wide @ u)
    alpha, D = 2 * U * np.maximum(0.0, 1 - z), 2 * U * (z < 1)
    loss = SquaredHinge()
    with Pool(2) as pool:
        rows = RowProducts(form(X), y, U, pool)
        sums = rows.evaluate(u, loss, loss)
        assert sums.loss == pytest.approx(U @ np.maximum(0.0, 1 - z) ** 2)
        each = np.array([(alpha * y * (y == side)) @ wide for side in (1, -1)])
        assert sums.pulled == pytest.approx(each, abs=1e-9)
        assert sums.curved == np.count_nonzero(D)
        terms = alpha - alpha**2 / (4 * U)
        assert sums.dual == pytest.approx([terms[y > 0].sum(), terms[y < 0].sum()])
        assert rows.curve(p) == pytest.approx(wide.T @ (D * (wide @ p)))
        assert rows.squares() == pytest.approx(D @ (wide * wide))
        sizes = np.array([0.5, 0.25])
        along = [U @ np.maximum(0.0, 1 - y * (wide @ (u + t * p))) ** 2 for t in sizes]
        assert rows.along(u, loss, p, sizes) == pytest.approx(along)
        assert rows.multipliers(u, loss, np.array([0.5, 1.0])) == pytest.approx(
            alpha * np.where(y > 0, 0.5, 1.0)
        )
        some = np.arange(0, sums.curved, 3)
        B = wide[np.flatnonzero(D)[some]]
        H = B.T @ (D[np.flatnonzero(D)[some], None] * B)
        assert rows.products(some, 2.0) == pytest.approx(2 * H)


def test_what_a_worker_keeps_is_of_the_last_look_only():
    made = []

    def make():
        made.append(1)
        return np.full(3, len(made)), np.zeros(3)

    first, second = _There("owner", 1), _There("owner", 2)
    assert first.of((0, 3), make)[0][0] == first.of((0, 3), make)[0][0] == 1
    assert second.of((0, 3), make)[0][0] == 2
    assert _There("owner", 2).of((3, 6), make)[0][0] == 3
