"""Least squares from products of columns or rows: as good as an orthogonal factor, or not taken."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearRegression, Status
from linsep.train.closed import least_squares as closed
from linsep.train.closed.gram import gram
from linsep.train.closed.minimum_norm import minimum_norm
from linsep.train.closed.normal_equations import centred, solve
from linsep.train.problem import Problem


def problem_of(X, weights=None):
    return Problem(X, np.zeros(X.shape[0], np.int32), weights, 1, 1)


def from_products(X, Y, free=True, weights=None):
    problem = problem_of(X, weights)
    given = centred(X, gram(problem, Y, free), free)
    return None if given is None else solve(problem, Y, given)


def with_condition(kappa, n=500, d=6, seed=0):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(n, d)))[0]
    V = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (U * np.geomspace(1.0, 1.0 / kappa, d)) @ V


@pytest.mark.parametrize("kappa", [1.0, 1e2, 1e3])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_refined_weights_have_the_digits_of_an_orthogonal_factor(kappa, noise):
    X = with_condition(kappa)
    w = np.arange(1.0, 7.0)
    Y = (X @ w + noise * np.random.default_rng(1).normal(size=len(X)))[:, None]
    answer = from_products(X, Y, False)
    wanted = np.linalg.lstsq(X, Y)[0] if noise else w[:, None]
    assert answer.rank == 6
    np.testing.assert_allclose(answer.weights, wanted, rtol=1e-15 * kappa**2 + 1e-12)


def test_columns_that_are_nearly_collinear_are_left_to_an_orthogonal_factor():
    X = with_condition(1e9)
    assert from_products(X, np.ones((500, 1)), False) is None


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_indicators_of_categories_get_the_shortest_weights(layout, weighted):
    """Indicators of each column's levels add up to one, so that weights are not settled."""
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(5)[rng.integers(0, 5, 400)], np.eye(4)[rng.integers(0, 4, 400)]])
    X = np.hstack([X, np.ones((400, 1))])
    y = rng.normal(size=400)
    weights = rng.integers(0, 3, 400).astype(float) if weighted else None
    answer = from_products(layout(X), y[:, None], True, weights)
    learner = LinearRegression().fit(layout(X), y, weights)
    c = np.ones(400) if weights is None else weights
    about = X - c @ X / c.sum()
    root = np.sqrt(c)
    wanted = np.linalg.pinv(about * root[:, None]) @ ((y - c @ y / c.sum()) * root)
    assert answer.rank == learner.rank_ == 7
    assert learner.status_ is Status.deficient
    np.testing.assert_allclose(learner.coef_, wanted, atol=1e-13)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("free", [True, False])
def test_few_wide_rows_are_met_by_the_shortest_weights(layout, free):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 400)) * (rng.random((30, 400)) < 0.3)
    Y = rng.normal(size=(30, 2))
    found = minimum_norm(problem_of(layout(X)), Y, free)
    about, level = (X - X.mean(axis=0), Y.mean(axis=0)) if free else (X, 0.0)
    np.testing.assert_allclose(found.weights.T, np.linalg.pinv(about) @ (Y - level), atol=1e-12)
    assert found.rank == 30 - free


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_of_rows_that_depend_on_each_other_the_residual_is_least(layout):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(12, 50)), rng.normal(size=(12, 2))
    X[3], X[7] = X[4], 2 * X[5] - X[6]
    found = minimum_norm(problem_of(layout(X)), Y, True)
    about, level = X - X.mean(axis=0), Y - Y.mean(axis=0)
    wanted = np.linalg.pinv(about, rcond=1e-10) @ level
    np.testing.assert_allclose(found.weights.T, wanted, atol=1e-12)
    left = level - about @ wanted
    assert (found.rank, found.loss) == (9, pytest.approx(np.square(left).sum() / 24))
    learner = LinearRegression().fit(layout(X), Y)
    assert (learner.status_, learner.rank_) == (Status.deficient, 9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(50, 3), (3, 50)])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_entries_that_are_no_numbers_are_named_though_nobody_looked_first(bad, shape, layout):
    X = np.ones(shape) + np.eye(*shape)
    X[1, 2] = bad
    with pytest.raises(ValueError, match="row 1"):
        LinearRegression().fit(layout(X), np.arange(float(shape[0])))


def test_both_ways_agree_on_ordinary_rows(monkeypatch):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(9000, 12)) + 3.0, rng.normal(size=9000)
    quick = LinearRegression().fit(X, y)
    monkeypatch.setattr(closed, "_from_products", lambda *given: None)
    exact = LinearRegression().fit(X, y)
    np.testing.assert_allclose(quick.coef_, exact.coef_, rtol=1e-12)
    assert quick.loss_curve_ == pytest.approx(exact.loss_curve_, rel=1e-14)
