"""Products in single precision give the weights of double precision, or are not taken."""

import numpy as np
import pytest

from linsep import LinearRegression, Status
from linsep.train.closed import least_squares as closed
from linsep.train.closed.normal_equations import solve
from linsep.train.closed.single_products import WIDE, single_products
from linsep.train.problem import Problem


def problem_of(X, weights=None, jobs=1):
    return Problem(X, np.zeros(X.shape[0], np.int32), weights, 1, jobs)


def rows(n=3000, d=WIDE, offset=0.0, spectrum=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1.0, d + 1) ** -spectrum
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0] + offset
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [{}, {"n": 700}, {"spectrum": 0.5}, {"offset": 1e3}])
def test_weights_are_those_of_an_orthogonal_factor(shape, weighted, free):
    if shape.get("offset") and not free:
        pytest.skip("columns that are all alike belong to an orthogonal factor")
    X, y = rows(**shape)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    problem = problem_of(X, weights)
    given = single_products(problem, y[:, None], free)
    assert given.S.dtype == np.float32
    answer = solve(problem, y[:, None], given)
    c = np.ones(len(y)) if weights is None else weights
    about, level = (X - c @ X / c.sum(), c @ y / c.sum()) if free else (X, 0.0)
    wanted = np.linalg.lstsq(about * np.sqrt(c)[:, None], (y - level) * np.sqrt(c))[0]
    assert answer.rank == WIDE
    np.testing.assert_allclose(answer.weights[:, 0], wanted, atol=2e-11 * np.abs(wanted).max())
    left = (y - level) - about @ wanted
    np.testing.assert_allclose(answer.squares, c @ np.square(left), rtol=1e-10)


def test_weights_of_single_precision_rows_are_right_to_their_last_digit():
    X, y = rows(offset=3.0)
    X = X.astype(np.float32)
    quick = LinearRegression().fit(X, y)
    about = X.astype(float) - X.astype(float).mean(axis=0)
    wanted = np.linalg.lstsq(about, y - y.mean())[0]
    assert quick.coef_.dtype == np.float32
    np.testing.assert_array_max_ulp(quick.coef_, wanted.astype(np.float32), 1)


@pytest.mark.parametrize("n", [700, 4000])
def test_columns_that_depend_on_each_other_are_left_to_double_precision(n):
    X, y = rows(n)
    X[:, 7] = X[:, 3]
    given = single_products(problem_of(X), y[:, None], True)
    assert given is None or solve(problem_of(X), y[:, None], given) is None
    learner = LinearRegression().fit(X, y)
    assert (learner.status_, learner.rank_) == (Status.deficient, WIDE - 1)
    np.testing.assert_allclose(learner.coef_[7], learner.coef_[3], rtol=1e-10)


def test_columns_of_any_size_and_constant_ones_are_taken_care_of(monkeypatch):
    X, y = rows()
    X *= np.geomspace(1e-30, 1e30, WIDE)
    X[:, 11] = 3.7
    quick = LinearRegression().fit(X, y)
    monkeypatch.setattr(closed, "single_products", lambda *given: None)
    exact = LinearRegression().fit(X, y)
    assert quick.rank_ == exact.rank_ == WIDE - 1
    np.testing.assert_allclose(quick.coef_, exact.coef_, rtol=1e-9)


def test_a_rare_entry_that_no_row_of_the_sample_has(monkeypatch):
    X, y = rows()
    X[:, 5] = 0.0
    X[1234, 5], X[1235, 5] = 1e30, -3e30
    quick = LinearRegression().fit(X, y)
    monkeypatch.setattr(closed, "single_products", lambda *given: None)
    np.testing.assert_allclose(quick.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-9)


def test_threads_and_single_rows_change_no_byte():
    X, y = rows(9000, offset=2.0)
    answers = {LinearRegression(n_jobs=k).fit(X, y).coef_.tobytes() for k in (1, 2, 3)}
    assert len(answers) == 1


def test_several_targets_are_refined_together():
    X, y = rows()
    Y = np.stack([y, -2.0 * y + X[:, 9]], axis=1)
    both = LinearRegression().fit(X, Y)
    alone = LinearRegression().fit(X, Y[:, 1])
    np.testing.assert_allclose(both.coef_[1], alone.coef_, rtol=1e-10, atol=1e-12)
