"""What docs/coming-from.md says is different from scikit-learn is so, and the rest is the same."""

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.svm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import linsep
from linsep.data.toys import overlapping
from linsep.errors import NotConverged

PAGE = (Path(__file__).parents[3] / "docs" / "coming-from.md").read_text(encoding="utf-8")
TABLE = PAGE.split("### What is different", 1)[1].split("### Which learner", 1)[0]
ROWS = [line.split("|")[1].strip() for line in TABLE.splitlines() if line.startswith("| ")][1:]


def default(kind, name):
    return inspect.signature(kind).parameters[name].default


def theirs(name):
    homes = (sklearn.linear_model, sklearn.svm, sklearn.discriminant_analysis)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def test_defaults_that_differ_are_in_the_table():
    differ = {
        (name, parameter)
        for name in ("Perceptron", "LogisticRegression", "LinearSVC", "LinearDiscriminantAnalysis")
        for parameter in inspect.signature(theirs(name)).parameters
        if parameter in inspect.signature(getattr(linsep, name)).parameters
        and default(theirs(name), parameter) != default(getattr(linsep, name), parameter)
    }
    words = {
        "tol": "meaning of `tol`", "loss": "loss of `LinearSVC`", "random_state": "`random_state`",
        "max_iter": "`max_iter` of `LogisticRegression`", "solver": None,
        "store_covariance": "covariance of `LinearDiscriminantAnalysis`",
        "penalty": None,  # every version of scikit-learn says "l2" by another word
    }  # fmt: skip
    assert {parameter for _, parameter in differ} <= set(words)
    assert all(words[parameter] is None or words[parameter] in ROWS for _, parameter in differ)


def test_numbers_of_the_table_are_the_defaults():
    assert default(linsep.LogisticRegression, "tol") == 1e-6
    assert default(linsep.LinearSVC, "tol") == 1e-4
    assert default(linsep.KernelSVC, "tol") == 1e-3
    assert default(linsep.LogisticRegression, "max_iter") == 1000
    assert default(linsep.LinearSVC, "loss") == "hinge"
    assert default(linsep.Perceptron, "tol") == 0
    assert default(linsep.Perceptron, "multiclass") == "kesler"
    assert re.search(r"`LogisticRegression` 1e-6, `LinearSVC` 1e-4, `KernelSVC` 1e-3", TABLE)


def test_the_intercept_of_the_machine_is_free_here_and_penalised_there():
    X, y = overlapping(n=200, seed=0)
    X = X + 5.0
    ours = linsep.LinearSVC(C=0.01, tol=1e-8).fit(X, y)
    both = np.column_stack([X, np.ones(200)])
    penalised = linsep.LinearSVC(C=0.01, tol=1e-8, fit_intercept=False).fit(both, y)
    other = sklearn.svm.LinearSVC(C=0.01, loss="hinge", tol=1e-8, max_iter=10**6).fit(X, y)
    np.testing.assert_allclose(other.coef_[0], penalised.coef_[0, :2], atol=1e-4)
    assert not np.allclose(other.coef_, ours.coef_, rtol=0.05)


def test_squared_hinge_and_logistic_weights_agree_where_nothing_differs():
    X, y = overlapping(n=200, seed=0)
    settings = {"C": 0.5, "tol": 1e-9, "loss": "squared_hinge"}
    ours = linsep.LinearSVC(fit_intercept=False, **settings).fit(X, y)
    other = sklearn.svm.LinearSVC(fit_intercept=False, max_iter=10**5, **settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-3)


def test_several_classes_go_together_here_and_one_against_the_rest_there():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings(action="ignore"):
        kesler = linsep.Perceptron(max_iter=5).fit(X, y)
        apart = linsep.Perceptron(max_iter=5, multiclass="ovr").fit(X, y)
        first = linsep.Perceptron(max_iter=5).fit(X, y == 0)
    assert not np.array_equal(kesler.coef_, apart.coef_)
    np.testing.assert_array_equal(apart.coef_[0], first.coef_[0])


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearDiscriminantAnalysis"])
def test_counts_and_covariances_are_as_the_table_says(name):
    X, y = load_iris(return_X_y=True)
    ours, other = getattr(linsep, name)().fit(X, y), theirs(name)()
    if name == "LogisticRegression":
        with warnings.catch_warnings(action="ignore"):
            passes = other.fit(X, y).n_iter_
        assert (ours.n_iter_.shape, ours.n_iter_.dtype) == (passes.shape, passes.dtype)
    else:
        other.set_params(store_covariance=True).fit(X, y)
        np.testing.assert_allclose(ours.covariance_, other.covariance_)


def test_a_weight_of_two_is_the_same_row_twice_in_a_row():
    X = np.array([[1.0, 3.0], [2.0, -1.0], [-1.0, -2.0], [0.5, 0.5]])
    y = np.array([1, 0, 1, 0])
    twice = np.repeat(np.arange(4), 2)
    with warnings.catch_warnings(action="ignore"):
        weighted = linsep.Perceptron(max_iter=3, shuffle=False).fit(X, y, np.full(4, 2.0))
        repeated = linsep.Perceptron(max_iter=3, shuffle=False).fit(X[twice], y[twice])
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)


def test_the_warning_is_theirs_too():
    assert issubclass(NotConverged, ConvergenceWarning)
