"""A score of exactly zero means the same class wherever a model is asked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.model.export.sql import answers_of, query_of
from linsep.model.files.store import as_model, from_bytes, to_bytes
from linsep.model.linear import FIRST_AT_ZERO
from linsep.views.cli import group

CLASSIFIERS = [name for name in linsep._LEARNERS if name != "LinearRegression"]
X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["no", "no", "yes", "yes"])
ZERO = np.zeros((1, 1))


def blind(name: str) -> Any:
    """A fitted learner that scores every row zero."""
    learner = getattr(linsep, name)().fit(X, y)
    if name == "VotedPerceptron":
        learner.set_params(decide="average").fit(X, y)
    if name.startswith("Kernel"):
        learner._coefficients[:] = 0.0
    else:
        learner.coef_[:] = 0.0
    learner.intercept_[:] = 0.0
    if hasattr(learner, "_planes") and hasattr(learner._planes, "at_centre"):
        nothing = np.zeros_like(learner._planes.weights), np.zeros(1)
        learner._planes = learner._planes._replace(weights=nothing[0], at_centre=nothing[1])
    assert learner.decision_function(ZERO).tolist() == [0.0]
    return learner


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_exit_gives_a_score_of_zero_the_same_class(name: str, tmp_path: Path) -> None:
    learner = blind(name)
    wanted = "no" if name in FIRST_AT_ZERO else "yes"
    other = "yes" if wanted == "no" else "no"
    assert learner.predict(ZERO).tolist() == [wanted]
    assert learner.rank(ZERO).tolist() == [[wanted, other]]
    model = from_bytes(to_bytes(learner))
    assert model.predict(ZERO).tolist() == [wanted]
    assert model.rank(ZERO).tolist() == [[wanted, other]]
    assert model.to_estimator().predict(ZERO).tolist() == [wanted]
    if hasattr(learner, "predict_proba"):
        for one in (learner, model):
            assert one.classes_[one.predict_proba(ZERO).argmax(axis=1)].tolist() == [wanted]
    if model.form.name != "kernel":
        _, labels = answers_of(query_of(as_model(learner)), "data", {"x0": [0.0]})
        assert labels == [wanted]
    linsep.save(learner, tmp_path / "model.linsep")
    (tmp_path / "rows.csv").write_text("0.0,no\n0.0,yes\n")
    files = [str(tmp_path / "model.linsep"), str(tmp_path / "rows.csv")]
    assert CliRunner().invoke(group, ["predict", *files]).stdout.split()[-1:] == [wanted]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_graph_gives_a_score_of_zero_the_same_class(name: str) -> None:
    pytest.importorskip("onnx")
    from linsep.model.export.onnx_graph import answers, graph_of

    learner = blind(name)
    assert answers(graph_of(as_model(learner)), ZERO)[1] == learner.predict(ZERO).tolist()


@pytest.mark.parametrize("name", FIRST_AT_ZERO)
def test_learners_named_as_in_scikit_learn_agree_with_it(name: str) -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    kinds: list[Any] = [LinearDiscriminantAnalysis, LinearSVC, LogisticRegression]
    theirs = next((one for one in kinds if one.__name__ == name), LogisticRegression)().fit(X, y)
    theirs.coef_, theirs.intercept_ = np.zeros((1, 1)), np.zeros(1)
    assert blind(name).predict(ZERO).tolist() == theirs.predict(ZERO).tolist()


def test_calibrated_probabilities_name_the_class_predicted_at_zero() -> None:
    learner = linsep.LinearSVC(probability=True).fit(np.tile(X, (5, 1)) + 0.1, np.tile(y, 5))
    learner.coef_, learner.intercept_ = np.zeros((1, 1)), np.zeros(1)
    learner.sigmoids_ = np.array([[1.0, 0.3]])  # says "yes" of a score of zero
    for one in (learner, from_bytes(to_bytes(learner))):
        assert one.predict(ZERO).tolist() == ["no"]
        assert one.classes_[one.predict_proba(ZERO).argmax(axis=1)].tolist() == ["no"]


def test_files_of_old_formats_follow_the_rule_of_their_learner() -> None:
    golden = sorted((Path(__file__).parents[2] / "model" / "golden").rglob("*.linsep"))
    seen = set()
    for path in golden:
        model = linsep.load(path)
        if model.classes_ is not None and len(model.classes_) == 2:
            first = model.places(np.zeros(1)).tolist() == [0]
            assert first == (model.learner in FIRST_AT_ZERO), path.name
            seen.add(model.learner)
    assert seen & set(FIRST_AT_ZERO)
    assert seen - set(FIRST_AT_ZERO)


def test_the_rule_is_the_same_in_the_table_and_in_the_learners() -> None:
    first = [name for name in CLASSIFIERS if getattr(linsep, name)._first_at_zero]
    assert sorted(first) == sorted(FIRST_AT_ZERO)
