"""A class that no row of any weight belongs to: probability zero, and the others as without it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import BaggingClassifier

import linsep
from linsep import LinearSVC, LogisticRegression
from linsep.status import Status

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 3))
Y = np.array(["ash", "elm", "fir", "oak"])[RNG.integers(0, 4, 90)]


def without(*names):
    return (~np.isin(Y, names)).astype(float)


@pytest.mark.parametrize("rows", [X, sp.csr_array(X), X.astype(np.float32)], ids=type)
@pytest.mark.parametrize(
    "how", [{}, {"C": np.inf}, {"l1_ratio": 0.5}, {"solver": "gradient"}], ids=str
)
def test_the_other_classes_are_fitted_as_without_it(rows, how):
    c = without("elm")
    learner = LogisticRegression(**how).fit(rows, Y, sample_weight=c)
    alone = LogisticRegression(**how).fit(rows[c > 0], Y[c > 0])
    kept = [0, 2, 3]
    assert learner.classes_.tolist() == ["ash", "elm", "fir", "oak"]
    assert learner.status_ is Status.converged
    assert learner.coef_[kept] == pytest.approx(alone.coef_, abs=1e-5)
    assert not learner.coef_[1].any()
    p = learner.predict_proba(rows)
    assert p[:, kept] == pytest.approx(alone.predict_proba(rows), abs=1e-5)
    assert float(p[:, 1].max()) < 1e-200
    assert "elm" not in learner.predict(rows)
    assert learner.objective_ == pytest.approx(alone.objective_, rel=1e-5)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_two_classes_that_are_left_are_penalised_as_two_of_several(ratio):
    c = without("elm", "fir")
    learner = LogisticRegression(l1_ratio=ratio, tol=1e-7).fit(X, Y, sample_weight=c)
    nearly = np.where(c > 0, 1.0, 1e-9)
    limit = LogisticRegression(l1_ratio=ratio, tol=1e-7).fit(X, Y, sample_weight=nearly)
    ours, theirs = (one.coef_[3] - one.coef_[0] for one in (learner, limit))
    assert ours == pytest.approx(theirs, abs=1e-3)  # for ratio 1 how they share it is open
    assert learner.objective_ == pytest.approx(limit.objective_, rel=1e-5)
    assert linsep.gap(learner, X, Y, sample_weight=c).relative < 1e-6


@pytest.mark.parametrize("names", [("elm", "fir", "oak"), ("ash", "elm", "fir")], ids=str)
def test_one_class_with_all_the_weight_is_that_of_every_row(names):
    learner = LogisticRegression().fit(X, Y, sample_weight=without(*names))
    assert len(set(learner.predict(X))) == 1
    assert (learner.objective_, learner.gap_) == (0.0, 0.0)
    two = np.isin(Y, ("ash", "oak"))
    pair = LogisticRegression().fit(X[two], Y[two], sample_weight=without(*names)[two])
    assert set(pair.predict(X)) == set(learner.predict(X))


def test_bags_that_miss_a_rare_class_are_fitted():
    rare = np.where(np.arange(90) == 7, "yew", Y)
    bags = BaggingClassifier(LogisticRegression(), 20, random_state=0).fit(X, rare)
    assert any("yew" not in rare[rows] for rows in bags.estimators_samples_)
    assert bags.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("names", [("elm",), ("elm", "fir"), ("elm", "fir", "oak")], ids=str)
def test_machines_have_probabilities_without_it(names):
    learner = LinearSVC(probability=True).fit(X, Y, sample_weight=without(*names))
    p = learner.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert (learner.classes_[p.argmax(axis=1)] == learner.predict(X)).all()
    assert np.median(p[:, np.isin(learner.classes_, names)]) < 0.05
