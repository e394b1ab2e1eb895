"""Rows of low confidence are left undecided on request."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix

import linsep
from linsep import LinearDiscriminantAnalysis, LinearSVC, LogisticRegression, Perceptron, Scaled
from linsep.data.toys import overlapping, three_classes
from linsep.errors import DataError, ParameterError
from views.commands import run

LEARNERS = [
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    LinearSVC(probability=True),
    Scaled(LogisticRegression()),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("data", [overlapping(n=200), three_classes(n=200, spread=1.5)])
def test_a_row_is_decided_exactly_where_a_class_is_likely_enough(learner, data, tmp_path):
    X, y = data
    learner.fit(X, y)
    said = learner.predict(X, reject=0.8)
    sure = learner.predict_proba(X).max(axis=1) >= 0.8
    assert 0 < sure.sum() < len(X)
    assert (said[~sure] == linsep.NO_DECISION).all()
    assert said[sure].tolist() == learner.predict(X)[sure].tolist()
    assert learner.predict(X, reject=0.0).tolist() == learner.predict(X).tolist()
    linsep.save(learner, tmp_path / "m.linsep")
    assert linsep.load(tmp_path / "m.linsep").predict(X, reject=0.8).tolist() == said.tolist()


KINDS = {
    "int": lambda side: side.astype(int),
    "uint8": lambda side: side.astype(np.uint8),
    "signs": lambda side: np.where(side, 1, -1),
    "str": lambda side: np.where(side, "p", "n"),
    "object": lambda side: np.where(side, "spam", "ham").astype(object),
    "bool": lambda side: side,
    "float": lambda side: np.where(side, 1.0, 2.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_take_labels_of_any_kind_with_rows_left_open(kind):
    X, y = overlapping(n=200)
    truth = KINDS[kind](y > 0)
    model = LogisticRegression().fit(X, truth)
    said = model.predict(X, reject=0.8)
    left_open = model.predict_proba(X).max(axis=1) < 0.8
    assert 0 < left_open.sum() < len(X)
    assert (said == linsep.NO_DECISION).tolist() == left_open.tolist()
    assert (said != linsep.NO_DECISION).tolist() == (~left_open).tolist()
    assert [label == linsep.NO_DECISION for label in said.tolist()] == left_open.tolist()
    right = (model.predict(X) == truth) & ~left_open
    assert accuracy_score(truth, said) == right.mean()
    assert confusion_matrix(truth, said).sum(axis=0).max() >= left_open.sum()
    report = classification_report(truth, said, labels=model.classes_, output_dict=True)
    assert report["micro avg"]["recall"] == right.mean()


def test_those_left_undecided_are_the_ones_more_often_wrong():
    X, y = overlapping(n=4000, seed=1)
    said = LogisticRegression().fit(X, y).predict(X, reject=0.9)
    known = said != linsep.NO_DECISION
    always = LogisticRegression().fit(X, y).predict(X)
    assert np.mean(said[known] != y[known]) < 0.05 < np.mean(always != y)


@pytest.mark.parametrize("reject", [1.5, -0.1, "0.9", True])
def test_what_is_no_probability_is_refused(reject):
    X, y = overlapping(n=50)
    with pytest.raises(ParameterError, match="reject is"):
        LogisticRegression().fit(X, y).predict(X, reject=reject)


def test_learners_without_probabilities_and_a_class_of_that_name_are_refused():
    X, y = overlapping(n=50)
    with pytest.raises(ParameterError, match="Perceptron has no probabilities"):
        Perceptron(max_iter=1, tol=1.0).fit(X, y).predict(X, reject=0.9)
    odd = np.where(y > 0, "yes", linsep.NO_DECISION)
    with pytest.raises(DataError, match="another name"):
        LogisticRegression().fit(X, odd).predict(X, reject=0.9)


@pytest.mark.parametrize("names", [(-1, 1), (0, 1), ("n", "p"), ("no", "yes")], ids=str)
def test_the_command_leaves_rows_undecided(names, tmp_path):
    X, y = overlapping(n=60)
    y = np.where(y > 0, names[1], names[0])
    table = tmp_path / "t.csv"
    rows = [f"{a:.6f},{b:.6f},{label}" for (a, b), label in zip(X, y, strict=True)]
    table.write_text("\n".join(["a,b,y", *rows]) + "\n")
    model = tmp_path / "m.linsep"
    fitted = run("fit", table, "--target", "y", "--learner", "LogisticRegression", "--out", model)
    assert fitted.exit_code == 0, fitted.output
    plain = run("predict", model, table).stdout.splitlines()
    some = run("predict", model, table, "--reject", "0.9").stdout.splitlines()
    assert {a for a, b in zip(some, plain, strict=True) if a != b} == {linsep.NO_DECISION}
    known = linsep.load(model).predict(linsep.read(table, target="y"), reject=0.9)
    as_text = [str(linsep.NO_DECISION if one == linsep.NO_DECISION else one) for one in known]
    assert some == as_text
    for given in ("2", "nan", "often"):
        refused = run("predict", model, table, "--reject", given)
        assert refused.exit_code == 2 and "'--reject'" in refused.output
