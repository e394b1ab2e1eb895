"""Sums over labelled rows against products of matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special

from linsep.parallel import Pool
from linsep.train.convex.losses import Logistic, SquaredHinge
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
        assert rows.products() == pytest.approx(wide.T @ (D[:, None] * wide))
        rate = rows.rate(sums.curved // 2)
        assert np.minimum(1.0, rate * D).sum() == pytest.approx(sums.curved // 2, rel=0.1)
        H = rows.products(rate)
        assert H[-1, -1] == pytest.approx(D.sum(), rel=0.25)


def test_rows_that_hold_the_curvature_are_all_drawn():
    rng = np.random.default_rng(5)
    n, few = 5_000, 40
    X = rng.normal(size=(n, 3))
    y = np.ones(n, np.int8)
    U = np.where(np.arange(n) % (n // few) == 7, 1.0, 1e-9)  # of the others hardly any is left
    loss = SquaredHinge()
    with Pool(2) as pool:
        rows = RowProducts(X, y, U, pool)
        rows.evaluate(np.zeros(4), loss, loss)
        whole = rows.products()
        assert rows.products(rows.rate(100)) == pytest.approx(whole, rel=1e-5, abs=1e-4)
        one = rows.products(rows.rate(500))
    with Pool(1) as pool:
        rows = RowProducts(X, y, U, pool)
        rows.evaluate(np.zeros(4), loss, loss)
        assert rows.products(rows.rate(500)).tobytes() == one.tobytes()


def test_what_a_worker_keeps_is_of_the_last_look_only():
    made = []

    def make():
        made.append(1)
        return np.full(3, len(made)), np.zeros(3)

    first, second = _There("owner", 1), _There("owner", 2)
    assert first.of((0, 3), make)[0][0] == first.of((0, 3), make)[0][0] == 1
    assert second.of((0, 3), make)[0][0] == 2
    assert _There("owner", 2).of((3, 6), make)[0][0] == 3


@pytest.mark.parametrize("n", [3, 5_000])
def test_logistic_losses_are_those_of_the_formulas_for_any_margin(n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-3, 2.5, size=(n, 1))
    y, U = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8), rng.random(n)
    U[0] = 0.0
    u, loss = np.array([2.0, -1.0, 0.3]), Logistic()
    z = y * (X @ u[:2] + u[2])
    s = special.expit(-z)
    terms = U * (special.entr(s) + special.entr(special.expit(z)))
    with Pool(1) as pool:
        rows = RowProducts(X, y, U, pool)
        sums = rows.evaluate(u, loss, loss)
        values = U @ np.logaddexp(0.0, -z)
        assert sums.smooth == sums.loss == pytest.approx(values, rel=1e-13)
        assert sums.weight == pytest.approx([(U * s)[y > 0].sum(), (U * s)[y < 0].sum()], rel=1e-13)
        near = 1e-14 * values
        assert sums.dual == pytest.approx([terms[y > 0].sum(), terms[y < 0].sum()], abs=near)
        assert sums.tail == pytest.approx(U @ (s * z), rel=1e-12)
        D = U * s * special.expit(z)
        assert rows.products()[-1, -1] == pytest.approx(D.sum(), rel=1e-12)
        multipliers = rows.multipliers(u, loss, np.ones(2))
        assert multipliers == pytest.approx(U * s, rel=1e-13, abs=1e-300)
