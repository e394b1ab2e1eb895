"""What the products of rows tell of their spread is what eigenvectors and singular vectors tell."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import FisherDiscriminant, LinearDiscriminantAnalysis
from linsep.train.closed import row_axes, whitening
from linsep.train.closed.centred_rows import CentredRows, sparse_rows
from linsep.train.closed.moments import moments
from linsep.train.closed.pivots import pivots
from linsep.train.problem import Problem

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")


def texts(n, d, K=3, seed=0, copies=0):
    """Rows with few entries, one column stored in all, some rows that occur twice."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.05, rng.random((n, d)), 0.0)
    X[:, 3] = 100.0 + rng.random(n)
    y = np.arange(n) % K
    if copies:
        X[-copies:], y[-copies:] = X[:copies], y[:copies]
        X[-1] = X[0] + X[1 * K] - X[2 * K]  # of one class: depends on three others
        y[-1] = y[0]
    return sp.csr_matrix(X), y


def by_vectors(monkeypatch):
    monkeypatch.setattr(whitening, "FEWEST", 10**9)


SHAPES = [(60, 200, 0), (60, 200, 9), (150, 100, 0), (90, 80, 40)]


@pytest.mark.parametrize(("n", "d", "copies"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shrinkage", [None, 0.2, "auto"])
def test_discriminants_are_those_of_singular_vectors(
    n, d, copies, weighted, shrinkage, monkeypatch
):
    X, y = texts(n, d, copies=copies)
    weights = np.random.default_rng(1).integers(1, 4, n).astype(float) if weighted else None
    quick = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y, weights)
    dense = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X.toarray(), y, weights)
    by_vectors(monkeypatch)
    slow = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y, weights)
    for model in (quick, dense):
        assert model.status_ is slow.status_
        if shrinkage is None:
            assert model.rank_ == slow.rank_
        np.testing.assert_allclose(model.shrinkage_, slow.shrinkage_, rtol=1e-10)
        size = abs(slow.coef_).max()
        np.testing.assert_allclose(model.coef_, slow.coef_, rtol=1e-6, atol=1e-8 * size)
        np.testing.assert_allclose(
            model.decision_function(X), slow.decision_function(X), rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(abs(model.transform(X)), abs(slow.transform(X)), atol=1e-5)
        np.testing.assert_allclose(model.covariance_, slow.covariance_, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(("n", "d", "copies"), SHAPES)
@pytest.mark.parametrize("K", [2, 4])
def test_fishers_discriminant_is_that_of_singular_vectors(n, d, copies, K, monkeypatch):
    X, y = texts(n, d, K, copies=copies)
    quick = FisherDiscriminant().fit(X, y)
    by_vectors(monkeypatch)
    slow = FisherDiscriminant().fit(X, y)
    assert (quick.rank_, quick.status_) == (slow.rank_, slow.status_)
    np.testing.assert_allclose(quick.criterion_, slow.criterion_, rtol=1e-6)
    size = abs(slow.coef_).max()
    np.testing.assert_allclose(quick.coef_, slow.coef_, rtol=1e-6, atol=1e-7 * size)
    np.testing.assert_allclose(quick.scatter_, slow.scatter_, rtol=1e-8, atol=1e-9)


def test_threads_do_not_change_a_byte(monkeypatch):
    monkeypatch.setattr("linsep.train.closed.pivots.CHUNK", 40)
    monkeypatch.setattr("linsep.train.closed.pivots.PANEL", 32)
    X, y = texts(300, 400)
    one, two = (LinearDiscriminantAnalysis(n_jobs=jobs).fit(X, y).coef_ for jobs in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_sparse_rows_are_the_dense_ones_about_their_means():
    X, y = texts(80, 50, copies=10)
    weights = np.random.default_rng(2).random(80)
    problem = Problem(X, y.astype(np.int32), weights, 3)
    sums = moments(problem, scatter=False)
    rows, squares = sparse_rows(problem, sums)
    Z = X.toarray().copy()
    for k in range(3):
        Z[y == k] -= np.average(Z[y == k], axis=0, weights=weights[y == k])
    Z *= np.sqrt(weights / weights.sum())[:, None] / 2.0**sums.frame.exponents
    some, B = np.arange(5, 70), np.random.default_rng(3).standard_normal((4, 50))
    close = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(rows.dot(B), Z @ B.T, **close)
    np.testing.assert_allclose(rows.back(Z[:, :2]), Z[:, :2].T @ Z, **close)
    np.testing.assert_allclose(rows.products(some, slice(3)), Z[some] @ Z[:3].T, **close)
    np.testing.assert_allclose(rows.squares(), np.square(Z).sum(axis=1), **close)
    np.testing.assert_allclose(rows.scatter(), Z.T @ Z, **close)
    np.testing.assert_allclose(squares, np.square(Z).sum(axis=0), **close)
    np.testing.assert_allclose(np.vstack(list(rows.all_products(2))), Z @ Z.T, **close)


def test_pivots_find_the_independent_rows():
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((700, 900))
    Z[300:] = rng.integers(-2, 3, (400, 300)) @ Z[:300] / 20
    found = pivots(np.square(Z).sum(axis=1), lambda i, j: Z[i] @ Z[j].T)
    assert found.rank == 300
    np.testing.assert_allclose(found.L @ found.L.T, (Z @ Z.T)[found.order][:, found.order], rtol=0,
                               atol=1e-9)  # fmt: skip
    first, others = np.split(Z[found.order], [300])
    np.testing.assert_allclose(found.dependent @ first, others, atol=1e-10)


def test_rows_nearly_the_same_are_left_to_the_singular_vectors(monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 100)), np.arange(60) % 2
    X[2] = X[0] + 1e-5 * rng.standard_normal(100)
    assert pivots(np.square(X).sum(axis=1), lambda i, j: X[i] @ X[j].T) is None
    X[2] = X[0] + 1e-9 * rng.standard_normal(100)  # seems a copy, and is none
    Z = CentredRows(X, slice(None))
    with pytest.raises(row_axes.LostDigitsError):
        row_axes.row_axes(np.ones(100), np.full(100, 1e-16), Z, 0.0, 0.0, 1)
    quick = LinearDiscriminantAnalysis().fit(X, y)
    by_vectors(monkeypatch)
    slow = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(quick.coef_, slow.coef_)
