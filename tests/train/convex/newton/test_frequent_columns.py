"""Columns in the order of their use, and the preconditioner that the most frequent ones make."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.parallel import Pool
from linsep.status import Status
from linsep.train.convex.drive import solve
from linsep.train.convex.losses import Logistic
from linsep.train.convex.newton import frequent_columns
from linsep.train.convex.newton.newton_cg import NewtonCG
from linsep.train.convex.newton.point import Point
from linsep.train.convex.newton.row_products import RowProducts


def clicks(n=1500, d=4000, entries=8, seed=0):
    """Rows of a few ones in columns that are used very unequally, and signs that depend on them."""
    rng = np.random.default_rng(seed)
    columns = rng.permutation(d)[(d * rng.random((n, entries)) ** 6).astype(int)]
    X = sp.csr_matrix((np.ones(n * entries), (np.repeat(np.arange(n), entries), columns.ravel())))
    X.resize(n, d)
    X.sum_duplicates()
    signs = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1, -1)
    return X, signs


def test_scores_are_the_same_in_either_order_of_the_columns():
    X, _ = clicks()
    near, order = frequent_columns.by_use(X)
    w = np.random.default_rng(1).normal(size=X.shape[1])
    assert near @ order.inside(w) == pytest.approx(X @ w)
    used = np.flatnonzero(X.getnnz(axis=0))
    assert order.outside(order.inside(w), X.shape[1])[used].tolist() == w[used].tolist()


def test_columns_come_by_their_use_and_those_without_entries_are_left_out():
    X, _ = clicks()
    counts = frequent_columns.by_use(X)[0].getnnz(axis=0)
    assert (np.diff(counts) <= 0).all() and counts[-1] > 0


def test_columns_in_order_stay_as_they_are():
    near, _ = frequent_columns.by_use(clicks()[0])
    again, order = frequent_columns.by_use(near)
    assert again is near and order.old is None


def test_the_preconditioner_of_all_columns_is_the_inverse_of_the_hessian():
    X, signs = clicks(300, 30)
    near, _ = frequent_columns.by_use(X)
    n, d = near.shape
    loss = Logistic()
    with Pool(1) as pool:
        rows = RowProducts(near, signs.astype(np.int8), np.ones(1), pool)
        rows.evaluate(np.zeros(d + 1), loss, loss)
        ridge = np.append(np.ones(d), 0.0)
        invert = frequent_columns.factored(rows.frequent_products(d), ridge + rows.squares())
    A = np.column_stack([near.toarray(), np.ones(n)])
    H = np.diag(ridge) + 0.25 * A.T @ A
    r = np.random.default_rng(2).normal(size=d + 1)
    assert invert(r) == pytest.approx(np.linalg.solve(H, r), rel=1e-8, abs=1e-10)


def test_a_matrix_that_is_not_positive_has_no_factor():
    assert frequent_columns.factored(np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2)) is None


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("free", [True, False])
def test_long_steps_factor_frequent_columns_and_end_at_the_same_optimum(monkeypatch, loss, free):
    X, signs = clicks()
    made = []
    products = RowProducts.frequent_products
    monkeypatch.setattr(
        RowProducts, "frequent_products", lambda self, k: made.append(k) or products(self, k)
    )
    settings = {"loss": loss, "fit_intercept": free, "C": 100.0, "tol": 1e-8, "frequent": True}
    with_block = solve(NewtonCG, X, signs, **settings)
    assert made and with_block.status is Status.converged
    monkeypatch.setattr(frequent_columns, "factored", lambda H, diagonal: None)
    without = solve(NewtonCG, X, signs, **settings)
    assert with_block.primal == pytest.approx(without.primal, rel=2e-8)


def test_threads_do_not_change_a_byte():
    X, signs = clicks(20_000, 4000)
    one, two = (solve(NewtonCG, X, signs, C=100.0, n_jobs=n, frequent=True) for n in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.b == two.b


def test_a_heading_is_followed_only_as_far_as_the_objective_falls():
    X, signs = clicks()
    start = np.zeros(X.shape[1]), 0.0
    best = solve(NewtonCG, X, signs, tol=1e-6)
    ahead = solve(NewtonCG, X, signs, tol=1e-6, start=start, heading=(best.w, best.b))
    assert ahead.n_iter == 1  # the heading leads to the optimum, in steps of a quarter
    uphill = solve(NewtonCG, X, signs, tol=1e-6, start=start, heading=(-best.w, -best.b))
    assert uphill.status is Status.converged


def test_the_gap_of_a_point_is_what_lies_between_its_bounds():
    p = Point(np.zeros(2), None, 3.0, np.zeros(2), np.ones(2), 0, primal=3.0, dual=1.0, kink=0.0)
    assert p.gap == 2.0
    assert p._replace(dual=4.0).gap == 0.0
