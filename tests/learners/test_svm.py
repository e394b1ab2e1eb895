"""LinearSVC: the optimum, its certificate, and what happens on hard data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linsep
from linsep import LinearSVC
from linsep.data import toys
from linsep.errors import LinsepError, NotConverged

LOSSES = ["hinge", "squared_hinge"]


def objective(w, b, X, signs, C, loss, weights=1.0):
    lack = np.maximum(0, 1 - signs * (X @ w + b))
    return 0.5 * w @ w + C * np.sum(weights * (lack if loss == "hinge" else lack**2))


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_certificate_bounds_the_distance_to_the_optimum(cancer, loss, C):
    X, y = cancer
    learner = LinearSVC(C, loss=loss, tol=1e-6).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    w, b = learner.coef_[0], learner.intercept_[0]
    value = objective(w, b, X, signs, C, loss)
    assert value == pytest.approx(learner.objective_, rel=1e-10)
    assert learner.gap_ <= 1e-6
    found = linsep.gap(learner, X, y)
    assert found.primal == pytest.approx(value, rel=1e-10)
    assert found.dual <= value


def test_the_squared_hinge_agrees_with_a_general_minimiser(cancer):
    X, y = cancer[0][:, :5], cancer[1]
    signs = np.where(y == 1, 1.0, -1.0)
    best = minimize(
        lambda u: objective(u[:-1], u[-1], X, signs, 1.0, "squared_hinge"), np.zeros(6),
        method="BFGS", options={"gtol": 1e-9},
    )  # fmt: skip
    learner = LinearSVC(loss="squared_hinge", tol=1e-10).fit(X, y)
    assert learner.objective_ <= best.fun * (1 + 1e-12)
    np.testing.assert_allclose(learner.coef_[0], best.x[:-1], atol=1e-5)


def test_support_rows_lie_on_or_inside_the_margin_and_make_up_the_weights(cancer):
    X, y = cancer
    learner = LinearSVC(tol=1e-10).fit(X, y)
    z = np.where(y == 1, 1, -1) * learner.decision_function(X)
    assert (z[learner.support_] <= 1 + 1e-9).all()
    assert (np.delete(z, learner.support_) >= 1 - 1e-9).all()
    np.testing.assert_allclose(learner.dual_coef_ @ X[learner.support_], learner.coef_, atol=1e-10)
    assert learner.dual_coef_.sum() == pytest.approx(0, abs=1e-9)  # the intercept is free


def test_a_row_that_supports_nothing_can_be_left_out(cancer):
    X, y = cancer
    learner = LinearSVC().fit(X, y)
    idle = np.setdiff1d(np.arange(len(y)), learner.support_)[:50]
    without = LinearSVC().fit(np.delete(X, idle, axis=0), np.delete(y, idle))
    np.testing.assert_allclose(without.coef_, learner.coef_, rtol=1e-8, atol=1e-10)


def test_large_C_finds_the_largest_margin_of_separable_points():
    X, y, _ = toys.separated(n=80, d=3, margin=0.2, seed=1)
    learner = LinearSVC(C=1e6, tol=1e-8).fit(X, y)
    proof = linsep.separability(X, y, gap=1e-6)
    assert learner.margin_ == pytest.approx(proof.margin, rel=1e-5)
    assert learner.margin_ <= proof.margin_upper * (1 + 1e-9)


def test_the_lecture_form_is_the_same_problem(cancer):
    X, y = cancer
    lam, n = 0.01, len(y)
    learner = LinearSVC(C=1 / (2 * lam * n)).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)

    def lecture(w, b):
        return lam * w @ w + np.maximum(0, 1 - signs * (X @ w + b)).mean()

    at = lecture(learner.coef_[0], learner.intercept_[0])
    assert at == pytest.approx(2 * lam * learner.objective_, rel=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(50):
        nearby = lecture(
            learner.coef_[0] + 1e-3 * rng.normal(size=X.shape[1]),
            learner.intercept_[0] + 1e-3 * rng.normal(),
        )
        assert at <= nearby + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_k_is_k_copies_and_weight_zero_is_none(cancer, loss):
    X, y = cancer[0][:120], cancer[1][:120]
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = LinearSVC(loss=loss).fit(X, y, sample_weight=times)
    repeated = LinearSVC(loss=loss).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-7, atol=1e-9)


def test_several_classes_are_each_held_against_the_rest():
    X, y = load_digits(return_X_y=True)
    learner = LinearSVC(C=0.01).fit(X, y)
    three = LinearSVC(C=0.01).fit(X, y == 3)
    np.testing.assert_allclose(learner.coef_[3], three.coef_[0], rtol=1e-4, atol=1e-6)
    assert learner.score(X, y) > 0.97
    assert learner.margin_.shape == (10,)


def test_dense_and_sparse_rows_give_the_same_answer(cancer):
    X, y = cancer
    dense, sparse = LinearSVC().fit(X, y), LinearSVC().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_no_byte(cancer, n_jobs):
    X, y = cancer
    assert (
        LinearSVC(n_jobs=n_jobs).fit(X, y).coef_.tobytes() == LinearSVC().fit(X, y).coef_.tobytes()
    )


def test_it_replaces_scikit_learns_in_a_pipeline_a_grid_search_and_calibration():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    calibrated = CalibratedClassifierCV(pipeline, cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (len(y), 2)


DEGENERATE = {
    "zero": np.zeros((8, 2)),
    "constant column": np.column_stack([np.ones(8), np.arange(8.0)]),
    "duplicate columns": np.column_stack([np.arange(8.0)] * 3),
    "more columns than rows": np.random.default_rng(0).normal(size=(8, 30)),
    "one outlier": np.vstack([np.random.default_rng(1).normal(size=(7, 2)), [[1e12, 1e12]]]),
    "times 1e150": np.random.default_rng(2).normal(size=(8, 3)) * 1e150,
    "times 1e-150": np.random.default_rng(2).normal(size=(8, 3)) * 1e-150,
    "times 1e300": np.random.default_rng(2).normal(size=(8, 3)) * 1e300,
    "times 1e-300": np.random.default_rng(2).normal(size=(8, 3)) * 1e-300,
    "offset 1e6": np.random.default_rng(3).normal(size=(8, 3)) + 1e6,
    "offset 1e15": np.random.default_rng(3).normal(size=(8, 3)) + 1e15,
    "conflicting duplicates": np.repeat(np.arange(4.0), 2)[:, None],
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_hard_data_end_in_a_finite_answer_or_a_named_error(name, loss):
    X, y = DEGENERATE[name], np.array([0, 1] * 4)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        try:
            learner = LinearSVC(loss=loss).fit(X, y)
        except LinsepError as problem:
            assert "X" in str(problem)
            return
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.intercept_).all()
    assert learner.status_.value


@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_callbacks_hear_of_all_classes_and_can_stop_them(solver):
    X, y = load_digits(return_X_y=True)
    told = []
    heard = LinearSVC(solver=solver).fit(X, y, callback=told.append)
    passes = [done.epoch for done in told]
    assert passes == sorted(passes)
    assert len(told) >= 10  # each class looks at all rows at least once
    unheard = LinearSVC(solver=solver).fit(X, y)
    assert heard.coef_.tobytes() == unheard.coef_.tobytes()
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        stopped = LinearSVC(solver=solver).fit(X, y, callback=lambda done: True)
    assert stopped.status_ is linsep.Status.stopped
