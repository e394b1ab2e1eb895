"""Proximal Newton steps on working sets: the optimum, its bound, whatever shape the rows have."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LogisticRegression, Status
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.losses import Logistic, SquaredHinge
from linsep.train.convex.parts import quadratic_model
from linsep.train.convex.parts.outputs import Softmax
from linsep.train.convex.penalties import LASSO, Elastic
from linsep.train.convex.problem import Problem
from linsep.train.convex.solvers.prox_newton import ProxNewton


def fit_l1(X, y, weights, C, penalty, *, tol=1e-4, n_jobs=1, fit_intercept=True, loss=None):
    problem = Problem.of(X, y, weights, C, loss or Logistic(), fit_intercept)
    return drive(ProxNewton(problem._replace(penalty=penalty), n_jobs), Goal(tol, 1000))


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
    found = []
    for matrix in (True, False):
        monkeypatch.setattr(ProxNewton, "_has_matrix", lambda self, made=matrix: made)
        found.append(fit_l1(X, y, None, 1.0, LASSO, tol=1e-9))
    assert found[1].primal == pytest.approx(found[0].primal, rel=2e-9)
    np.testing.assert_allclose(found[1].w, found[0].w, atol=1e-3)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("free", [True, False])
def test_the_same_holds_for_several_classes(free, sparse, monkeypatch):
    X, _ = drawn(200, 12)
    codes = (X @ np.random.default_rng(2).normal(size=(12, 4))).argmax(axis=1)
    X, found = sp.csr_array(X) if sparse else X, []
    for matrix in (True, False):
        monkeypatch.setattr(ProxNewton, "_has_matrix", lambda self, made=matrix: made)
        settings = {"fit_intercept": free, "loss": Softmax(4), "tol": 1e-9}
        found.append(fit_l1(X, codes, None, 0.5, Elastic(0.8, 0.2), **settings))
    assert found[0].status is found[1].status is Status.converged
    assert found[1].primal == pytest.approx(found[0].primal, rel=2e-9)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Softmax(2)], ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_each_feature_may_have_a_penalty_of_its_own_or_none(loss, l2):
    """Slopes are weightⱼ l1 where weights are not zero, and those of no penalty are zero."""
    X, y = drawn(300, 6)
    y = (y > 0).astype(np.int64) if isinstance(loss, Softmax) else y
    weight = np.array([1.0, 0.0, 3.0, 0.5, 100.0, 1.0])
    found = fit_l1(X, y, None, 0.1, Elastic(1.0, l2, weight), tol=1e-10, loss=loss)
    w, b = np.atleast_2d(found.w), np.atleast_1d(found.b)
    if isinstance(loss, Softmax):
        S = X @ w.T + b
        p = np.exp(S - S.max(axis=1)[:, None])
        slope = 0.1 * (p / p.sum(axis=1)[:, None] - np.eye(2)[y]).T @ X
    else:
        z = y * (X @ w[0] + b[0])
        a = 1 / (1 + np.exp(z)) if isinstance(loss, Logistic) else 2 * np.maximum(0, 1 - z)
        slope = -0.1 * ((a * y) @ X)[None]
    slope += l2 * weight * w
    np.testing.assert_allclose((slope + weight * np.sign(w))[w != 0], 0.0, atol=2e-5)
    assert (np.abs(slope) <= weight + 2e-5).all() and (w[:, 1] != 0).any()
    assert found.status is Status.converged


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


def test_columns_far_from_zero_or_huge_have_the_optimum_of_those_near_one():
    X, y = drawn(200, 4)
    near = LogisticRegression(l1_ratio=1.0).fit(X, y)
    far = LogisticRegression(l1_ratio=1.0).fit(X + 1e6, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-5)
    with np.errstate(over="ignore"):
        for layout in (np.asarray, sp.csr_array):
            huge = fit_l1(layout(X * 2.0**600), y, None, 1.0, Elastic(2.0**600, 0.0), tol=1e-8)
            assert huge.primal == pytest.approx(near.objective_, rel=1e-6)


def test_a_wide_fit_holds_more_columns_only_as_they_are_needed(monkeypatch):
    X, y = SHAPES["wide sparse rows"]()
    sizes = []
    step = ProxNewton._step

    def counted(self):
        sizes.append(len(self._chosen))
        return step(self)

    monkeypatch.setattr(ProxNewton, "_step", counted)
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
    monkeypatch.setattr(quadratic_model, "WIDEST", 0)
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


def test_a_weight_that_newton_takes_too_far_does_not_hold_up_the_others():
    """Sixty rows at a margin of −6 alone have the last column: its curvature is next to none."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20_000, 8)), np.linspace(-2, 2, 8)
    S = X @ w
    y = np.where(S + rng.logistic(size=len(S)) > 0, 1, -1).astype(np.int8)
    rare, some = np.zeros(len(S)), np.argsort(np.abs(S + 6.0))[:60]
    rare[some], y[some[5:]], y[some[:5]] = 1.0, 1, -1
    problem = Problem.of(np.column_stack([X, rare]), y, None, 1.0, Logistic(), True)
    solver = ProxNewton(problem._replace(penalty=LASSO), 1, (np.append(w, 0.0), 0.0))
    with solver.pool:
        last = next(seen for seen in solver.candidates() if seen.within(1e-4))
    assert last.n_iter <= 4


def test_many_columns_that_depend_on_each_other_take_few_steps():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9_000, 8)) @ rng.normal(size=(8, 1_100)) + rng.normal(size=(9_000, 1_100))
    signs = np.where(X @ rng.normal(size=1_100) + 100.0 * rng.normal(size=9_000) > 0, 1, -1)
    found = fit_l1(X, signs.astype(np.int8), None, 1.0, LASSO, tol=1e-4)
    assert found.status is Status.converged and found.n_iter < 10
