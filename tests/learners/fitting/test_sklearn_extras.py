"""What users of scikit-learn expect beside the numbers: callbacks, covariances, logs."""

import logging

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf, ShrunkCovariance
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Theirs

import linsep
from linsep.errors import ParameterError
from linsep.train.run.loop import Pass
from linsep.train.run.progress import Progress


@pytest.mark.parametrize("estimator", [LedoitWolf(), ShrunkCovariance(shrinkage=0.3)])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_covariance_estimator_gives_the_model_of_scikit_learn(estimator, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    ours = linsep.LinearDiscriminantAnalysis(covariance_estimator=estimator).fit(X, y)
    theirs = Theirs(solver="lsqr", covariance_estimator=estimator).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_two_ways_to_estimate_the_covariance_are_refused():
    learner = linsep.LinearDiscriminantAnalysis(shrinkage=0.1, covariance_estimator=LedoitWolf())
    with pytest.raises(ParameterError, match="give one of them"):
        learner.fit(*load_iris(return_X_y=True))
    with pytest.raises(ParameterError, match="an estimator with fit"):
        linsep.LinearDiscriminantAnalysis(covariance_estimator="none").fit([[0.0], [1]], [0, 1])


class Heard:
    """A callback of scikit-learn that counts, and stops after so many passes."""

    def __init__(self, most=None):
        self.names, self.most, self.fitted = [], most, None

    def setup(self, estimator, context):
        self.names.append("setup")

    def teardown(self, estimator, context):
        self.names.append("teardown")

    def on_fit_task_begin(self, estimator, context, **given):
        self.names.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **given):
        self.names.append(f"end {context.task_name}")
        self.fitted = fitted_estimator
        return self.most is not None and self.names.count("end pass") >= self.most


def test_callbacks_of_scikit_learn_hear_every_pass():
    pytest.importorskip("sklearn.callback")
    X, y = load_iris(return_X_y=True)
    heard = Heard()
    learner = linsep.Perceptron(max_iter=7, tol=1.0).set_callbacks(heard).fit(X, y)
    passes = ["begin pass", "end pass"] * learner.n_iter_
    assert heard.names == ["setup", "begin fit", *passes, "end fit", "teardown"]
    np.testing.assert_array_equal(heard.fitted.predict(X), learner.predict(X))
    plain = linsep.Perceptron(max_iter=7, tol=1.0).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, learner.coef_)
    stopping = linsep.Perceptron().set_callbacks(Heard(most=2))
    with pytest.warns(linsep.errors.NotConverged):
        assert stopping.fit(X, y).n_iter_ == 2
    assert linsep.Perceptron(max_iter=7, tol=1.0).set_callbacks(heard).set_callbacks().fit(X, y)


def test_progress_goes_to_the_log_on_request(caplog, capsys):
    X, y = load_iris(return_X_y=True)
    with caplog.at_level(logging.INFO, "linsep"):
        linsep.LogisticRegression(verbose="log").fit(X, y)
        linsep.Perceptron(max_iter=3, tol=1.0).fit(X, y, verbose="log")
    assert capsys.readouterr().err == ""
    names = {record.getMessage().partition(":")[0] for record in caplog.records}
    assert names == {"LogisticRegression", "Perceptron"}
    assert all(isinstance(record.passed, Pass) for record in caplog.records)


def test_rates_count_from_the_resume(capsys, monkeypatch):
    clock = iter([0.0, 10.0])
    monkeypatch.setattr("linsep.train.run.progress.time.perf_counter", lambda: next(clock))
    bar = Progress(100, "fit", rows=50)
    bar.go_on_from(40)
    bar(Pass(42, 0, 0, 0.0))
    assert "10 rows/s" in capsys.readouterr().err


def test_words_of_scikit_learn_for_penalties_and_classes_mean_the_same():
    X, y = load_iris(return_X_y=True)
    ours = linsep.LogisticRegression(l1_ratio=1.0, C=0.5).fit(X, y)
    theirs = linsep.LogisticRegression(penalty="l1", C=0.5).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert linsep.gap(theirs, X, y).gap == linsep.gap(ours, X, y).gap
    joint = linsep.LinearSVC(multiclass="crammer-singer").fit(X, y)
    named = linsep.LinearSVC(multi_class="crammer_singer").fit(X, y)
    np.testing.assert_array_equal(joint.coef_, named.coef_)
    assert linsep.gap(named, X, y).gap == linsep.gap(joint, X, y).gap
