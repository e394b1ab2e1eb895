"""Crammer and Singer's machine: one objective for all classes, certified, as scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as Other
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
import linsep.data.toys
from linsep import LinearSVC
from linsep.data import toys
from linsep.errors import ParameterError


def joint(**given):
    return LinearSVC(multiclass="crammer-singer", **given)


def objective(X, codes, W, b, C):
    S = X @ W.T + b + 1.0
    own = np.arange(len(codes)), codes
    S[own] -= 1.0
    return 0.5 * np.sum(W**2) + np.sum(C * (S.max(axis=1) - S[own]))


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@parametrize_with_checks([joint()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_without_intercepts_it_is_scikit_learns(iris, C):
    X, y = iris
    mine = joint(C=C, fit_intercept=False, tol=1e-10).fit(X, y)
    theirs = Other(
        C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=20_000
    ).fit(X, y)
    value = objective(X, y, theirs.coef_, 0.0, C)
    assert mine.objective_ <= value * (1 + 1e-9)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-4)


def test_free_intercepts_agree_with_a_general_minimiser():
    X, y = toys.three_classes(n=12, spread=1.5, seed=0)
    mine = joint(tol=1e-9).fit(X, y)
    n, K, d = len(y), 3, X.shape[1]
    size = K * d + K + n  # W, b and a slack for each row
    rows = []
    for i in range(n):
        for k in set(range(K)) - {int(y[i])}:
            row = np.zeros(size)
            row[y[i] * d : (y[i] + 1) * d], row[k * d : (k + 1) * d] = X[i], -X[i]
            row[K * d + y[i]], row[K * d + k], row[K * d + K + i] = 1.0, -1.0, 1.0
            rows.append(row)
    rows.append(np.zeros(size))
    best = minimize(
        lambda u: 0.5 * u[: K * d] @ u[: K * d] + u[K * d + K :].sum(),
        np.append(np.zeros(K * d + K), np.ones(n)),
        jac=lambda u: np.concatenate([u[: K * d], np.zeros(K), np.ones(n)]),
        bounds=[(None, None)] * (K * d + K) + [(0, None)] * n,
        constraints=LinearConstraint(np.array(rows[:-1]), 1.0, np.inf),
        method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert mine.objective_ == pytest.approx(best.fun, rel=1e-7)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000), C=st.sampled_from([0.01, 1.0, 30.0]), free=st.booleans(),
    K=st.integers(3, 5),
)  # fmt: skip
def test_the_bounds_of_the_proof_hold_the_optimum_between_them(seed, C, free, K):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(K), rng.integers(0, K, 20))
    X = rng.normal(size=(len(y), 3)) + y[:, None] * rng.normal(size=3)
    weights = rng.integers(0, 3, len(y)) + (np.arange(len(y)) < K)
    mine = joint(C=C, fit_intercept=free, tol=1e-5, max_iter=3000).fit(X, y, weights)
    proof = linsep.gap(mine, X, y, weights)
    value = objective(X, y, mine.coef_, mine.intercept_, C * weights)
    assert proof.primal == pytest.approx(value, rel=1e-9)
    assert mine.objective_ == pytest.approx(value, rel=1e-9)
    assert 0 <= proof.relative <= 2e-5
    other = joint(C=C, fit_intercept=free).set_params(tol=0.3, max_iter=1)
    other.coef_ = mine.coef_ + rng.normal(size=mine.coef_.shape)
    other.intercept_ = mine.intercept_ + free * rng.normal(size=K)
    other.classes_ = mine.classes_
    far = linsep.gap(other, X, y, weights)  # no multipliers: looser, and still true
    assert far.dual <= proof.primal
    assert far.primal >= proof.dual


def test_two_classes_are_the_plain_machine_with_twice_the_C(iris):
    X, y = iris[0][50:], iris[1][50:]
    mine, plain = joint(C=0.5, tol=1e-9).fit(X, y), LinearSVC(C=1.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(mine.coef_, plain.coef_, rtol=1e-8)
    pair = np.vstack([-mine.coef_, mine.coef_]) / 2
    value = objective(X, y - 1, pair, np.append(-mine.intercept_, mine.intercept_) / 2, 0.5)
    assert mine.objective_ == pytest.approx(value, rel=1e-9)
    assert linsep.gap(mine, X, y).primal == pytest.approx(value, rel=1e-9)


def test_sparse_rows_single_floats_and_shifted_columns_change_nothing(iris):
    X, y = iris
    plain = joint(tol=1e-8, max_iter=5000).fit(X, y)
    for other in (sp.csr_array(X), X.astype(np.float32), X + 1000.0):
        tol = 1e-8 if other.dtype == np.float64 else 1e-6  # weights are stored as single floats
        again = joint(tol=tol, max_iter=5000).fit(other, y)
        assert again.objective_ == pytest.approx(plain.objective_, rel=1e-5)
        np.testing.assert_allclose(again.coef_, plain.coef_, atol=1e-3)


def test_the_multipliers_make_up_the_weights_and_a_warm_start_knows_them(iris):
    X, y = iris
    learner = joint(tol=1e-6, warm_start=True).fit(X, y)
    np.testing.assert_allclose(learner.dual_coef_ @ X[learner.support_], learner.coef_, atol=1e-4)
    np.testing.assert_allclose(learner.dual_coef_.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(learner.dual_coef_.sum(axis=1), 0, atol=1e-9)
    first = learner.n_iter_
    assert learner.fit(X, y).n_iter_ <= first


@pytest.mark.parametrize("wrong", [{"loss": "squared_hinge"}, {"solver": "sgd"}])
def test_what_the_joint_machine_cannot_do_is_said(iris, wrong):
    with pytest.raises(ParameterError, match=r"crammer-singer.*Use these"):
        joint(**wrong).fit(*iris)
