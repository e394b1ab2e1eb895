"""What stands for the inverse Hessian in conjugate gradients."""

import numpy as np
import pytest

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import SquaredHinge
from linsep.train.convex.newton import preconditioner
from linsep.train.convex.newton.frequent_columns import NONE
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.newton.point import Point
from linsep.train.convex.newton.preconditioner import Preconditioner
from linsep.train.convex.newton.row_products import RowProducts


def made(n=4000, d=6, free=True, seed=0):
    """A preconditioner of rows, the point where they were looked at, and their Hessian."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signs = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1).astype(np.int8)
    rows, loss = RowProducts(X, signs, np.ones(1), Pool(1)), SquaredHinge()
    u = np.append(rng.normal(size=d), 0.0)
    sums = rows.evaluate(u, loss, loss)
    ridge = np.append(np.ones(d), 0.0)
    p = Point(u, loss, sums.loss, np.ones(d + 1), np.ones(2), sums.curved, sums.loss, 0.0, 0.0)
    within = np.hstack([X, np.ones((n, 1))])[signs * (X @ u[:-1]) < 1.0]
    return Preconditioner(rows, ridge, free, NONE), p, np.diag(ridge) + 2.0 * within.T @ within


@pytest.mark.parametrize("free", [True, False])
def test_the_factor_of_all_rows_is_the_inverse_of_the_hessian(free):
    inverse, p, H = made(free=free)
    inverse.restore(p, True, False, False)
    r = np.append(np.linspace(-1.0, 1.0, 6), 0.5 * free)
    if not free:
        H[-1, :-1] = H[:-1, -1] = 0.0
    assert inverse.solve(r) == pytest.approx(np.linalg.solve(H, r), rel=1e-9)


def test_a_slow_step_draws_a_new_sample_and_then_takes_all_rows():
    inverse, p, _ = made(20_000, 4)
    inverse.prepare(p, 0)
    elsewhere = p._replace(value=1.0)
    assert inverse.all_rows is False and inverse.made is p
    assert not inverse.improve(elsewhere, 0)
    assert inverse.improve(elsewhere, 10_000)
    assert inverse.all_rows is False and inverse.made is elsewhere
    assert inverse.improve(elsewhere, 10_000)
    assert inverse.all_rows is True
    assert not inverse.improve(elsewhere, 10_000)


def test_a_diagonal_is_all_there_is_of_many_features(monkeypatch):
    monkeypatch.setattr(preconditioner, "WIDEST", 3)
    inverse, p, H = made()
    inverse.prepare(p, 0)
    assert inverse.all_rows is None and not inverse.suits
    assert inverse.solve(np.ones(7)) == pytest.approx(1.0 / H.diagonal())
    assert not inverse.improve(p, 10_000)


def test_features_of_few_rows_do_not_make_steps_long():
    rng = np.random.default_rng(4)
    often = np.geomspace(0.5, 1e-3, 80)
    X = np.where(rng.random((20_000, 80)) < often, 255.0 * rng.random((20_000, 80)), 0.0)
    y = np.where(X @ rng.normal(size=80) + 40.0 * rng.normal(size=20_000) > 0, 1, -1)
    products = []

    class Counted(NewtonCG):
        def _step(self, p):
            step = super()._step(p)
            products.append(self._used)
            return step

    solution = solve(Counted, X.astype(np.float32), y, tol=1e-6)
    assert solution.status is Status.converged and max(products) < 100


@pytest.mark.parametrize("scale", [1.0, 1e30], ids=["twins", "overflow"])
def test_sums_in_single_precision_give_way_to_double_where_they_do_not_do(scale):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 4))
    X[:, 3] = X[:, 2] + 1e-5 * rng.normal(size=500)
    rows, loss = RowProducts(scale * X, np.ones(500, np.int8), np.ones(1), Pool(1)), SquaredHinge()
    sums = rows.evaluate(np.zeros(5), loss, loss)
    p = Point(np.zeros(5), loss, 0.0, np.ones(5), np.ones(2), sums.curved, 0.0, 0.0, 0.0)
    inverse = Preconditioner(rows, np.zeros(5), True, NONE)
    assert inverse.single
    with np.errstate(all="ignore"):
        inverse.prepare(p, 0)
    assert not inverse.single and inverse.all_rows
    r = np.array([1.0, -1.0, 2.0, 2.0, 0.5])
    data = np.hstack([X, np.ones((500, 1))])
    units = np.array([scale] * 4 + [1.0])
    wanted = np.linalg.solve(2.0 * data.T @ data, r / units) / units
    assert inverse.solve(r) == pytest.approx(wanted, rel=1e-4)
