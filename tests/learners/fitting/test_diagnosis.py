"""What learners say of a fit that did not reach its goal, or whose answer is not settled."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_wine

from linsep import LinearSVC, LogisticRegression, Perceptron, Status
from linsep.data import toys
from linsep.errors import NotConverged


def test_on_xor_it_says_that_no_separator_exists_and_holds_the_proof():
    X, y = toys.xor()
    with pytest.warns(NotConverged, match="no separator exists"):
        learner = Perceptron().fit(X, y)
    assert learner.status_ is Status.not_separable
    assert learner.proof_.verify(X, y)


def test_out_of_passes_on_separable_points_it_says_that_a_separator_exists():
    X, y, _ = toys.separated(n=50, d=5, margin=0.01, seed=0)
    with pytest.warns(NotConverged, match="although a separator exists"):
        learner = Perceptron(max_iter=1).fit(X, y)
    assert learner.status_ is Status.separable
    assert learner.proof_.separable
    assert learner.proof_.verify(X, y)


def test_without_an_intercept_the_proof_is_about_planes_through_the_origin():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0]]), np.array([0, 1, 1])
    with pytest.warns(NotConverged, match="no separator exists"):
        learner = Perceptron(fit_intercept=False).fit(X, y)
    assert learner.status_ is Status.not_separable
    assert learner.proof_.fit_intercept is False
    assert learner.proof_.verify(X, y)
    X, y, _ = toys.separated(n=50, d=5, margin=0.01, seed=0)
    with pytest.warns(NotConverged, match="although a separator exists"):
        learner = Perceptron(fit_intercept=False, max_iter=1).fit(X, y)
    assert learner.proof_.bias == 0


def test_an_intercept_that_stays_as_it_was_given_is_not_asked_about():
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    with pytest.warns(NotConverged):
        learner = Perceptron(fit_intercept=False, init=([0.0], [-9.0]), max_iter=2).fit(X, y)
    assert learner.status_ is Status.budget
    assert learner.proof_ is None


def test_large_data_are_not_asked_the_question():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 20)), rng.integers(0, 2, 5000)
    with pytest.warns(NotConverged, match="Raise max_iter"):
        learner = Perceptron(max_iter=2).fit(X, y)
    assert learner.status_ is Status.budget
    assert learner.proof_ is None


def test_after_a_few_short_passes_the_question_is_not_asked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 4)), rng.integers(0, 2, 100)
    with pytest.warns(NotConverged, match="run certify"):
        assert Perceptron(max_iter=2).fit(X, y).status_ is Status.budget
    with pytest.warns(NotConverged, match="no separator exists"):
        assert Perceptron(max_iter=200).fit(X, y).proof_.verify(X, y)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_a_long_run_that_missed_a_separator_is_told_that_there_is_one(load):
    X, y = load(return_X_y=True)
    with pytest.warns(NotConverged):
        learner = Perceptron().fit(X, y)
    assert learner.status_ is Status.separable
    assert learner.proof_.verify(X, y)


def test_logistic_regression_without_a_penalty_says_that_separable_data_have_no_optimum():
    X, y, _ = toys.separated(n=50, d=3, margin=0.3, seed=0)
    with pytest.warns(NotConverged, match="no finite optimum"):
        learner = LogisticRegression(np.inf).fit(X, y)
    assert learner.status_ is Status.no_optimum
    assert (np.sign(learner.decision_function(X)) == y).all()
    assert learner.proof_.separable
    assert learner.proof_.verify(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_an_intercept_separable_means_by_planes_through_the_origin(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X @ rng.standard_normal((3, n_classes))).argmax(axis=1)
    with pytest.warns(NotConverged, match="no finite optimum"):
        learner = LogisticRegression(np.inf, fit_intercept=False).fit(X, y)
    assert learner.status_ is Status.no_optimum
    assert learner.proof_.separable
    assert not np.any(learner.proof_.bias)
    assert learner.proof_.verify(X, y)


def people(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=n), "income": 1e6 * rng.normal(size=n)})
    y = X["age"] + X["income"] / 1e6 + rng.normal(size=n) > 0
    return X, y


@pytest.mark.parametrize("learner", [
    LogisticRegression(solver="gradient", scale=False, max_iter=3),
    LinearSVC(solver="dual", max_iter=1),
    LinearSVC(solver="dual", multiclass="crammer-singer", max_iter=1),
])  # fmt: skip
def test_features_of_uneven_scale_are_named_with_their_ratio_and_the_gap(learner):
    X, y = people()
    with pytest.warns(NotConverged, match=r"column 'income' varies 1e\+06 times .* column 'age'"):
        learner.fit(X, y)
    assert learner.status_ is Status.gap_left
    assert f"a duality gap of {learner.gap_:.1e}, above tol" in learner.diagnosis_
    with pytest.warns(NotConverged, match=r"column 1 varies"):
        learner.fit(sp.csr_array(X.to_numpy()), y)


def test_a_budget_that_ended_says_the_gap_and_what_to_raise():
    X, y = toys.overlapping(n=200)
    with pytest.warns(NotConverged, match=r"duality gap of .*Raise max_iter or tol"):
        learner = LogisticRegression(solver="gradient", max_iter=1, tol=1e-9).fit(X, y)
    assert "column" not in learner.diagnosis_


def test_without_a_penalty_collinear_columns_are_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "noise"])
    X["sum"] = 5.0 * X["a"] - X["b"] + 3.0
    y = X["a"] + rng.normal(size=200) > 0
    learner = LogisticRegression(np.inf).fit(X, y)
    assert learner.status_.good
    assert "is a combination of" in learner.diagnosis_
    assert {name for name in X if f"'{name}'" in learner.diagnosis_} == {"a", "b", "sum"}
    assert "4 columns hold 3 different ones" in learner.diagnosis_
    assert LogisticRegression(np.inf).fit(X.drop(columns="sum"), y).diagnosis_ is None
    assert LogisticRegression().fit(X, y).diagnosis_ is None
