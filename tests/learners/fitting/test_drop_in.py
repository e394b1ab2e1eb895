"""Programs written for scikit-learn run here, or are told what to write instead."""

import inspect
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression as TheirLine
from sklearn.linear_model import LogisticRegression as TheirRegression
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.svm import LinearSVC as TheirMachine

import linsep
from linsep import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    errors,
)
from linsep.errors import ParameterError

EXAMPLE = Path(__file__).parents[3] / "examples" / "drop_in.py"
OURS = "from linsep import LinearDiscriminantAnalysis, LinearSVC, LogisticRegression"
THEIRS = """
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
"""
X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def test_the_example_comes_to_the_same_under_both_libraries(capsys):
    pytest.importorskip("pandas")
    text = EXAMPLE.read_text("utf-8")
    assert OURS in text
    found = []
    for program in (text, text.replace(OURS, THEIRS)):
        names: dict = {}
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            exec(compile(program, EXAMPLE.name, "exec"), names)
        found.append(names["found"])
    ours, theirs = found
    assert ours["the C chosen"] == theirs["the C chosen"]
    assert ours["names of columns"] == theirs["names of columns"]
    assert ours["probabilities"] == pytest.approx(theirs["probabilities"], abs=1e-3)
    assert ours["calibrated"] == pytest.approx(theirs["calibrated"], abs=0.05)  # another intercept
    for name in ("after a pickle", "discriminant", "with weights"):
        assert np.mean(ours[name] == theirs[name]) > 0.99, name
    assert "the C chosen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (LogisticRegression, TheirRegression),
        (LinearSVC, TheirMachine),
        (LinearDiscriminantAnalysis, TheirAnalysis),
        (LinearRegression, TheirLine),
        (Perceptron, TheirPerceptron),
    ],
)
def test_every_parameter_of_scikit_learn_is_known(ours, theirs):
    assert set(inspect.signature(theirs).parameters) <= set(inspect.signature(ours).parameters)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"])
def test_solvers_of_the_same_objective_have_the_same_answer(solver):
    plain = LogisticRegression().fit(X, Y)
    named = LogisticRegression(solver=solver, penalty="l2", dual=False).fit(X, Y)
    assert named.coef_.tobytes() == plain.coef_.tobytes()
    assert named.solver_ == plain.solver_


def test_old_words_for_penalties_agree_with_new_ones():
    lasso = LogisticRegression(penalty="l1", l1_ratio=1.0, solver="saga").fit(X, Y)
    assert lasso.coef_.tobytes() == LogisticRegression(l1_ratio=1.0).fit(X, Y).coef_.tobytes()
    LogisticRegression(penalty="elasticnet", l1_ratio=0.5).fit(X, Y)
    without = LogisticRegression(solver="liblinear", fit_intercept=False, tol=1e-8).fit(X, Y)
    theirs = TheirRegression(solver="liblinear", fit_intercept=False, tol=1e-8).fit(X, Y)
    assert without.coef_ == pytest.approx(theirs.coef_, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (LogisticRegression(penalty="l1", l1_ratio=0.5), r"l1_ratio=1\.0"),
        (LogisticRegression(penalty="l2", l1_ratio=0.5), r"l1_ratio=0\.0"),
        (LogisticRegression(penalty="none"), "l1_ratio"),
        (LogisticRegression(solver="liblinear"), "penalises the intercept"),
        (LogisticRegression(intercept_scaling=10), "Leave it out"),
        (LogisticRegression(dual="yes"), "True"),
        (LinearSVC(penalty="l1"), r"LogisticRegression\(l1_ratio=1\.0\)"),
        (LinearSVC(multi_class="both"), "'ovr', 'crammer_singer'"),
        (LinearSVC(intercept_scaling=2.0), "Leave it out"),
        (LogisticRegression(multi_class="ovr"), "OneVsRestClassifier"),
        (LogisticRegression(multi_class="all"), "'multinomial'"),
        (Perceptron("batch", penalty="l2"), "rule='online'"),
        (Perceptron(n_iter_no_change=0), "n_iter_no_change"),
        (LinearRegression("sgd", positive=True), "exact"),
        (LinearDiscriminantAnalysis(solver="qr"), "leave it out"),
        (LinearDiscriminantAnalysis(tol=0.1), "Leave it out"),
        (LinearDiscriminantAnalysis(covariance_estimator="OAS"), "an estimator with fit"),
    ],
    ids=str,
)
def test_what_would_mean_something_else_is_refused_with_the_words_for_it(learner, words):
    with pytest.raises(ParameterError, match=words):
        learner.fit(*load_iris(return_X_y=True))


def test_words_for_several_classes_are_accepted_where_they_mean_the_same():
    iris = load_iris(return_X_y=True)
    plain, joint = LogisticRegression().fit(*iris), LogisticRegression(multi_class="multinomial")
    assert joint.fit(*iris).coef_.tobytes() == plain.coef_.tobytes()
    two, apart = LogisticRegression().fit(X, Y), LogisticRegression(multi_class="ovr").fit(X, Y)
    assert two.coef_.tobytes() == apart.coef_.tobytes()
    with pytest.raises(ParameterError, match=r"C=2\.0"):
        joint.fit(X, Y)


def test_parameters_of_scikit_learn_without_effect_change_nothing():
    iris = load_iris(return_X_y=True)
    named = Perceptron(penalty=None, alpha=0.1, early_stopping=False, max_iter=3)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        plain = Perceptron(max_iter=3).fit(*iris)
        assert named.fit(*iris).coef_.tobytes() == plain.coef_.tobytes()
    line = LinearRegression(copy_X=False, positive=False, n_jobs=1, tol=1e-6).fit(X, Y)
    assert line.coef_.tobytes() == LinearRegression().fit(X, Y).coef_.tobytes()


@pytest.mark.parametrize("name", [*linsep._LEARNERS, "Layer", "Scaled"])
def test_names_that_no_parameter_has_are_refused_in_words(name):
    kind = getattr(linsep, name)
    with pytest.raises(ParameterError, match=f"{name} has no parameter sovler[.;] .*It has "):
        kind(sovler="auto")
    with pytest.raises(TypeError):
        kind(sovler="auto")


def test_a_name_that_is_nearly_right_is_suggested():
    with pytest.raises(ParameterError, match="did you mean max_iter"):
        Perceptron(max_itre=3)


def test_an_ending_that_is_bad_is_a_convergence_warning_of_scikit_learn():
    assert issubclass(errors.NotConverged, ConvergenceWarning)
    assert pickle.loads(pickle.dumps(errors.NotConverged)) is errors.NotConverged
    with pytest.warns(ConvergenceWarning, match="Stopped"):
        Perceptron(max_iter=1).fit(*load_iris(return_X_y=True))
    with pytest.raises(AttributeError, match="NotConvergd"):
        errors.NotConvergd
