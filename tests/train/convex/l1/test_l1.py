"""Proximal Newton steps on working sets: the optimum, its bound, whatever shape the rows have."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LogisticRegression, Status
from linsep.parallel import Pool
from linsep.train.convex.l1 import design, prox_newton
from linsep.train.convex.l1.design import design_of
from linsep.train.convex.l1.loss_terms import dual_terms, feasible, terms_of
from linsep.train.convex.l1.prox_newton import fit_l1
from linsep.train.convex.l1.scaled import suits
from linsep.train.convex.losses import Logistic, SquaredHinge, curvature, dual, slope
from linsep.train.convex.losses import value as value_of
from linsep.train.convex.penalties import LASSO, Elastic


def drawn(n, d, seed=0, dense=True, density=0.1):
    rng = np.random.default_rng(seed)
    X = (
        rng.normal(size=(n, d))
        if dense
        else sp.random_array(
            (n, d), density=density, rng=rng, format="csr", data_sampler=rng.standard_normal
        )
    )
    z = X @ (rng.normal(size=d) * (rng.random(d) < 0.3))
    return X, np.where(z + rng.normal(size=n) > 0, 1, -1).astype(np.int8)


def value(X, y, w, b, penalty, C=1.0):
    return C * np.logaddexp(0, -y * (X @ w + b)).sum() + penalty.value(w)


SHAPES = {
    "tall": lambda: drawn(20_000, 6),
    "square": lambda: drawn(300, 300),
    "wide": lambda: drawn(40, 3000),
    "short sparse rows": lambda: drawn(3000, 500, dense=False, density=0.01),
    "wide sparse rows": lambda: drawn(200, 5000, dense=False, density=0.01),
}


@pytest.mark.parametrize("penalty", [LASSO, Elastic(0.5, 0.5)], ids=["lasso", "elastic"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_bounds_hold_the_optimum_between_them_for_every_shape(shape, penalty):
    X, y = SHAPES[shape]()
    rough = fit_l1(X, y, None, 1.0, penalty, tol=1e-3)
    fine = fit_l1(X, y, None, 1.0, penalty, tol=1e-9)
    assert rough.status is fine.status is Status.converged
    assert rough.gap <= 1e-3 * rough.primal and fine.gap <= 1e-9 * fine.primal
    assert rough.dual <= fine.primal <= rough.primal
    assert fine.primal == pytest.approx(value(X, y, fine.w, fine.b, penalty), rel=1e-12)
    assert rough.n_iter <= fine.n_iter


@pytest.mark.parametrize("shape", ["square", "short sparse rows"])
def test_a_matrix_and_columns_lead_to_the_same_optimum(shape, monkeypatch):
    X, y = SHAPES[shape]()
    by_matrix = fit_l1(X, y, None, 1.0, LASSO, tol=1e-9)
    monkeypatch.setattr(design, "SWEPT", 0.0)
    monkeypatch.setattr(design, "SPARSE_MATRIX", 0)
    by_columns = fit_l1(X, y, None, 1.0, LASSO, tol=1e-9)
    assert by_columns.primal == pytest.approx(by_matrix.primal, rel=2e-9)
    np.testing.assert_allclose(by_columns.w, by_matrix.w, atol=1e-3)


def test_dense_and_sparse_storage_have_the_same_optimum():
    X, y = SHAPES["short sparse rows"]()
    sparse, dense = (fit_l1(one, y, None, 1.0, LASSO, tol=1e-8) for one in (X, X.toarray()))
    assert sparse.primal == pytest.approx(dense.primal, rel=2e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(seed):
    X, y = SHAPES["tall"]()
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = (fit_l1(X[p], y[p], None, 1.0, LASSO, tol=1e-7) for p in (order, slice(None)))
    assert one.primal == pytest.approx(other.primal, rel=2e-7)
    assert abs(one.n_iter - other.n_iter) <= 2


def test_rare_columns_do_not_lead_a_start_on_some_rows_astray():
    """Columns that are not zero in a handful of rows, all of one class."""
    X, y = drawn(20_000, 5)
    rare = np.zeros((20_000, 20))
    for j in range(20):
        rare[np.flatnonzero(y > 0)[j * 50 : j * 50 + 3], j] = 1.0
    found = fit_l1(np.hstack([X, rare]), y, None, 1.0, LASSO, tol=1e-6)
    assert found.status is Status.converged
    assert found.n_iter <= 15


@pytest.mark.parametrize("free", [True, False])
def test_threads_change_no_byte(free):
    X, y = SHAPES["tall"]()
    one, two = (fit_l1(X, y, None, 1.0, LASSO, n_jobs=k, fit_intercept=free) for k in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.b == two.b


@pytest.mark.parametrize("loss", [Logistic(), Logistic(2.0), SquaredHinge()])
def test_terms_are_those_of_the_loss(loss):
    rng = np.random.default_rng(0)
    S, y, c = rng.normal(size=5000) * 3, np.sign(rng.normal(size=5000)).astype(np.int8), np.ones(1)
    with Pool(2) as pool:
        terms = terms_of(loss, S, 0.5, y, c, pool)
        z = y * (S + 0.5)
        a = np.array([-slope(loss, one) for one in z])
        assert terms.loss == pytest.approx(sum(value_of(loss, one) for one in z), rel=1e-13)
        np.testing.assert_allclose(terms.pull, y * a, rtol=1e-12)
        np.testing.assert_allclose(terms.curved, [curvature(loss, one) for one in z], rtol=1e-12)
        assert terms.slope == pytest.approx(-(a @ y), rel=1e-12)
        wanted = sum(dual(loss, one) for one in 0.7 * a)
        assert dual_terms(loss, terms.pull, c, 0.7, pool) == pytest.approx(wanted, rel=1e-11)


def test_feasible_multipliers_lie_in_their_box_and_are_balanced():
    y = np.array([1, 1, -1], np.int8)
    out = np.empty(3)
    feasible(Logistic(), np.array([2.0, 0.3, 0.4]), y, np.ones(1), True, out)
    np.testing.assert_allclose(out, [0.0, 0.0, 0.0])
    feasible(Logistic(), np.array([2.0, 0.5, -0.6]), y, np.ones(1), True, out)
    np.testing.assert_allclose(out, [0.4, 0.2, -0.6])
    feasible(Logistic(), np.array([2.0, -0.5, -0.6]), y, np.ones(1), False, out)
    np.testing.assert_allclose(out, [1.0, 0.0, -0.6])
    feasible(SquaredHinge(), np.array([2.0, -0.5, -0.6]), y, np.ones(1), False, out)
    np.testing.assert_allclose(out, [2.0, 0.0, -0.6])


@pytest.mark.parametrize("dense", [True, False])
def test_products_of_a_part_are_those_of_its_columns(dense):
    X, _ = drawn(5000, 40, dense=dense)
    chosen = np.array([1, 5, 6, 30])
    A = (X if dense else X.toarray())[:, chosen]
    rng = np.random.default_rng(1)
    v, D = rng.normal(size=5000), rng.random(5000)
    with Pool(2) as pool:
        part = design_of(X, pool).part(chosen)
        np.testing.assert_allclose(part.total(v), A.T @ v, atol=1e-11)
        np.testing.assert_allclose(part.scores(np.arange(4.0)), A @ np.arange(4.0), atol=1e-12)
        np.testing.assert_allclose(part.matrix(D), (A.T * D) @ A, atol=1e-11)


@pytest.mark.parametrize(("n", "m"), [(3000, 5), (40, 70)])  # in several parts, and in one
def test_a_matrix_of_sparse_rows_is_symmetric_whatever_the_order_of_their_entries(n, m):
    rng = np.random.default_rng(1)
    X = sp.random_array((n, 70), density=0.3, rng=rng, format="csr")
    for i in range(n):  # entries of a row from right to left
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
    D, found = rng.uniform(0.1, 1.0, n), []
    for jobs in (1, 2):
        with Pool(jobs) as pool:
            found.append(design_of(X, pool).part(np.arange(m)).matrix(D))
    A = X.toarray()[:, :m]
    np.testing.assert_allclose(found[0], (A.T * D) @ A, atol=1e-11)
    assert found[0].tobytes() == found[0].T.tobytes() == found[1].tobytes()


def test_columns_far_from_zero_are_left_to_a_solver_that_scales():
    X, y = drawn(200, 4)
    assert suits(X) and not suits(X + 1e6) and not suits(X * 1e80)
    learner = LogisticRegression(l1_ratio=1.0).fit(X + 1e6, y)
    near = LogisticRegression(l1_ratio=1.0).fit(X, y)
    assert learner.objective_ == pytest.approx(near.objective_, rel=1e-5)


def test_a_wide_fit_holds_more_columns_only_as_they_are_needed(monkeypatch):
    X, y = SHAPES["wide sparse rows"]()
    sizes = []
    step = prox_newton.ProxNewton._step

    def counted(self, model, chosen):
        sizes.append(len(chosen))
        return step(self, model, chosen)

    monkeypatch.setattr(prox_newton.ProxNewton, "_step", counted)
    found = fit_l1(X, y, None, 1.0, LASSO, tol=1e-6)
    assert found.status is Status.converged
    assert max(sizes) < 1000  # of 5,000


def levels(n, columns, count, seed):
    """Codes 0 to count − 1 of each column as zeros and ones, high ones rare, and their labels."""
    rng = np.random.default_rng(seed)
    chances = 1.0 / np.arange(1, count + 1) ** 1.5
    codes = rng.choice(count, (n, columns), p=chances / chances.sum())
    X = (codes[:, :, None] == np.arange(count)).reshape(n, -1).astype(float)
    scores = X @ rng.normal(size=columns * count)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-scores)), 1, -1).astype(np.int8)


@pytest.mark.parametrize("n", [1500, 9000])
def test_columns_that_add_up_to_one_do_not_hold_a_small_fit_up(n):
    X, y = levels(n, 12, 5, seed=3)
    found = fit_l1(X, y, None, 1.0, LASSO, tol=1e-6)
    far = fit_l1(sp.csr_array(X), y, None, 1.0, LASSO, tol=1e-6)
    assert found.status is far.status is Status.converged
    assert found.n_iter <= 30
    assert found.primal == pytest.approx(far.primal, rel=2e-6)


def test_rare_levels_of_sparse_rows_need_no_more_sweeps_than_steps_allow(monkeypatch):
    X, y = levels(20_000, 6, 40, seed=4)
    by_matrix = fit_l1(X, y, None, 1.0, LASSO, tol=1e-6)
    monkeypatch.setattr(design, "SPARSE_MATRIX", 0)
    by_columns = fit_l1(sp.csr_array(X), y, None, 1.0, LASSO, tol=1e-6)
    assert by_columns.status is by_matrix.status is Status.converged
    assert by_columns.n_iter <= 20
    assert by_columns.primal == pytest.approx(by_matrix.primal, rel=2e-6)


@pytest.mark.parametrize("shape", [(2500, 200), (300, 600)], ids=["tall", "wide"])
def test_dense_columns_that_go_together_end_converged(shape):
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape)
    X[:, : shape[1] // 2] += 2.0 * X[:, :1]
    X[:, -1] = X[:, -2]
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
    rough, fine = (fit_l1(X, y, None, 1.0, LASSO, tol=tol) for tol in (1e-4, 1e-8))
    assert rough.status is fine.status is Status.converged
    assert fine.primal * (1 - 1e-8) <= rough.primal <= fine.primal * (1 + 2e-4)
    assert fine.primal == pytest.approx(value(X, y, fine.w, fine.b, LASSO), rel=1e-12)


def texts(n, d, words, seed):
    """Rows of words by a power law, weighed by how rare they are, and labels that follow them."""
    rng = np.random.default_rng(seed)
    drawn = np.minimum(d ** rng.random((n, words)) - 1, d - 1).astype(np.int64)
    ends = np.arange(0, n * words + 1, words)
    X = sp.csr_array((np.ones(n * words), drawn.ravel(), ends), shape=(n, d))
    X.sum_duplicates()
    X.data = 1 + np.log(X.data)
    X = X @ sp.diags_array(np.log(n / (1 + np.bincount(X.indices, minlength=d))) + 1)
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    z = X @ rng.standard_normal(d)
    chances = 1 / (1 + np.exp(-3 * z / z.std()))
    return X, np.where(rng.random(n) < chances, 1, -1).astype(np.int8)


def test_rows_far_on_the_right_side_do_not_make_steps_fail():
    X, y = texts(3000, 20_000, 40, seed=104)
    found = fit_l1(X, y, None, 100.0, LASSO, tol=1e-4)
    assert found.status is Status.converged
    assert found.dual <= found.primal <= found.dual * (1 + 2e-4)
