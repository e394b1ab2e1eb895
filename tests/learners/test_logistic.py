"""LogisticRegression: the optimum in many digits, its certificate, and honest endings."""

import warnings

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linsep
from linsep import LogisticRegression, Status
from linsep.errors import LinsepError, NotConverged, ParameterError


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def newton(X, signs, C, digits=50, steps=60):
    """Newton's method in `digits` digits: the oracle."""
    with mpmath.workdps(digits):
        A = mpmath.matrix([[*map(mpmath.mpf, row), mpmath.mpf(1)] for row in X.tolist()])
        y = [mpmath.mpf(s) for s in signs.tolist()]
        n, d = A.rows, A.cols
        ridge = mpmath.zeros(d, d)
        if np.inf != C:
            for j in range(d - 1):
                ridge[j, j] = mpmath.mpf(1) / C
        u = mpmath.zeros(d, 1)
        for _ in range(steps):
            z = A * u
            p = [1 / (1 + mpmath.exp(y[i] * z[i])) for i in range(n)]
            g = ridge * u - A.T * mpmath.matrix([y[i] * p[i] for i in range(n)])
            weighted = A.copy()
            for i in range(n):
                for j in range(d):
                    weighted[i, j] *= p[i] * (1 - p[i])
            step = mpmath.lu_solve(A.T * weighted + ridge, g)
            u = u - step
            if mpmath.norm(step) < mpmath.mpf(10) ** -30 * (1 + mpmath.norm(u)):
                break
        return np.array([float(v) for v in u])


@pytest.mark.parametrize("C", [0.1, 10.0, np.inf])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("change", ["benign", "shifted by 1e6", "times 1e8", "times 1e-8"])
def test_twelve_digits_agree_with_arithmetic_of_fifty(C, seed, change):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    signs = np.where(X @ [1.0, -2.0, 0.5] + rng.normal(size=40) * 2 > 0, 1.0, -1.0)
    if change == "shifted by 1e6":
        X = np.round(X, 3) + 1e6  # the numbers as stored are the data
    elif change != "benign":
        X = X * float(change.split()[1])
    if change.startswith("times") and np.isfinite(C):
        C = C * float(change.split()[1]) ** -2  # the same problem in other units
    learner = LogisticRegression(C, tol=3e-14).fit(X, signs)
    exact = newton(X, signs, C)
    got = np.append(learner.coef_[0], learner.intercept_[0])
    wanted = 1e-12 if change != "shifted by 1e6" else 1e-8  # offsets cost digits of X itself
    np.testing.assert_allclose(got, exact, rtol=wanted * 50, atol=1e-13 * np.abs(exact).max())


def test_all_solvers_agree_and_bound_each_other(cancer):
    X, y = cancer
    found = [
        LogisticRegression(solver="newton", tol=1e-10).fit(X, y),
        LogisticRegression(solver="dual", tol=1e-10).fit(X, y),
        LogisticRegression(tol=1e-10).fit(sp.csr_array(X), y),
    ]
    for one in found:
        assert one.gap_ <= 2e-10  # what was asked for, and what rounding hides
        np.testing.assert_allclose(one.coef_, found[0].coef_, atol=1e-4)
        certificate = linsep.gap(one, X, y)
        assert certificate.dual <= found[0].objective_ * (1 + 1e-12)


def test_it_agrees_with_scikit_learn_where_that_converges():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    peer = Peer(tol=1e-10, max_iter=10_000).fit(X, y)
    learner = LogisticRegression(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(learner.predict_proba(X), peer.predict_proba(X), atol=1e-4)


def test_separable_data_without_a_penalty_have_no_finite_optimum_and_that_is_said():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(NotConverged, match="no finite optimum"):
        learner = LogisticRegression(np.inf).fit(X[y < 2], y[y < 2])
    assert learner.status_ is Status.no_optimum
    assert learner.score(X[y < 2], y[y < 2]) == 1.0


def test_maximum_likelihood_does_not_depend_on_the_encoding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=200) > 0
    base = LogisticRegression(np.inf, tol=1e-12).fit(X, y).decision_function(X)
    for seed in range(20):
        maps = np.random.default_rng(seed)
        for scale in (1.0, 1e-6, 1e6):
            A = maps.normal(size=(4, 4)) * scale
            Z = X @ A + maps.normal(size=4) * 10 * scale
            s = LogisticRegression(np.inf, tol=1e-12).fit(Z, y).decision_function(Z)
            np.testing.assert_allclose(s, base, rtol=1e-5, atol=1e-5)


def test_probabilities_are_those_of_the_scores_and_draws_follow_them():
    X, y = load_iris(return_X_y=True)
    learner = LogisticRegression().fit(X, y)
    p = learner.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(p), learner.predict_log_proba(X), atol=1e-9)
    assert (learner.classes_[p.argmax(axis=1)] == learner.predict(X)).all()
    row = X[[100]]
    draws = learner.draw(np.repeat(row, 20_000, axis=0), random_state=1)
    share = np.bincount(draws, minlength=3) / 20_000
    np.testing.assert_allclose(share, learner.predict_proba(row)[0], atol=0.02)
    assert (learner.rank(X)[:, 0] == learner.predict(X)).all()
    two = LogisticRegression().fit(X[y > 0], y[y > 0])  # P(y | x) = σ(y f(x)) of both labels
    f = two.decision_function(X)
    both = 1 / (1 + np.exp(-np.outer(f, [-1, 1])))
    np.testing.assert_allclose(two.predict_proba(X), both, rtol=1e-9)


def test_weight_k_is_k_copies(cancer):
    X, y = cancer[0][:150], cancer[1][:150]
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = LogisticRegression(tol=1e-12).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(tol=1e-12).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_no_byte(n_jobs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = rng.integers(0, 3, 20_000)
    one, other = LogisticRegression(n_jobs=n_jobs).fit(X, y), LogisticRegression().fit(X, y)
    assert one.coef_.tobytes() == other.coef_.tobytes()


def test_a_solver_that_cannot_do_it_says_so(cancer):
    X, y = cancer
    with pytest.raises(ParameterError, match="finite C"):
        LogisticRegression(np.inf, solver="dual").fit(X, y)
    wide = sp.csr_array(np.tile(X, (1, 40)))
    with pytest.raises(ParameterError, match="sparse"):
        LogisticRegression(solver="newton").fit(wide, y)


def test_it_replaces_scikit_learns_in_a_pipeline_a_grid_search_and_calibration():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert CalibratedClassifierCV(pipeline, cv=3).fit(X, y).predict_proba(X).shape == (len(y), 2)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_magnitudes_end_in_a_finite_answer_or_a_named_error(factor, C):
    X = np.random.default_rng(2).normal(size=(12, 3)) * factor
    y = np.array([0, 1] * 6)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        try:
            learner = LogisticRegression(C).fit(X, y)
        except LinsepError as problem:
            assert "X" in str(problem)
            return
    assert np.isfinite(learner.coef_).all()
    assert np.isfinite(learner.predict_proba(X)).all()
