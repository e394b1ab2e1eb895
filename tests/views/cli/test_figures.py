"""Figures of classifiers are scikit-learn's, and those of `fit` are of rows it has not seen."""

import json

import numpy as np
import pytest
from commands import run
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold

import linsep
from linsep.data.sources.raw_table import Slices, splittable
from linsep.model.files.store import as_model
from linsep.views.figures import exact_interval, roc_auc
from linsep.views.metrics import tally_for
from linsep.views.scoring import add_rows
from linsep.views.validation import crossed, tuned


def figures_of(learner, X, y):
    model = as_model(learner)
    seen = tally_for(model.classes_)
    for rows in np.array_split(np.arange(len(y)), 3):
        add_rows(seen, model, X[rows], y[rows])
    return seen.record()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_figures_equal_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    X = X[:, :3].round(0)  # ties among the scores
    learner = linsep.LogisticRegression().fit(X, y)
    found = figures_of(learner, X, y)
    said, p, scores = learner.predict(X), learner.predict_proba(X), learner.decision_function(X)
    area = scores if scores.ndim == 1 else p
    hot = y if scores.ndim == 1 else np.eye(3)[y]
    expected = {
        "accuracy": metrics.accuracy_score(y, said),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, said),
        "roc_auc": metrics.roc_auc_score(y, area, multi_class="ovr"),
        "average_precision": metrics.average_precision_score(hot, area),
        "log_loss": metrics.log_loss(y, p),
        "brier": metrics.brier_score_loss(y, p if scores.ndim > 1 else p[:, 1]),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12), name
    parts = metrics.precision_recall_fscore_support(y, said)
    each = [[one[k] for k in ("precision", "recall", "f1", "rows")] for one in found["per_class"]]
    np.testing.assert_allclose(np.array(each).T, parts, rtol=1e-12)
    assert found["confusion"] == metrics.confusion_matrix(y, said).tolist()


def test_learners_without_probabilities_have_areas_but_no_losses():
    X, y = load_breast_cancer(return_X_y=True)
    learner = linsep.Perceptron(max_iter=5, tol=1.0).fit(X, y)
    found = figures_of(learner, X, y)
    expected = metrics.roc_auc_score(y, learner.decision_function(X))
    assert found["roc_auc"] == pytest.approx(expected, rel=1e-12)
    assert found["log_loss"] is found["brier"] is None


def test_an_exact_interval_covers_its_share_at_least_as_often_as_it_says():
    from scipy.stats import binom

    for p in (0.02, 0.3, 0.9):
        inside = [exact_interval(k, 40).low <= p <= exact_interval(k, 40).high for k in range(41)]
        assert binom.pmf(np.arange(41), 40, p)[inside].sum() >= 0.95


def test_an_area_without_both_classes_is_none():
    assert roc_auc(np.ones(3, bool), np.arange(3.0)) is None


def test_fit_tells_of_rows_it_has_not_seen(tmp_path):
    model = tmp_path / "m.linsep"
    done = run("fit", "iris", "--cv", "3", "--holdout", "0.3", "--json", "--out", model)
    record = json.loads(done.stdout)
    assert record["holdout"]["rows"] == 45 and record["cv"]["rows"] == 150
    assert len(record["cv"]["folds"]) == 3
    X, y = load_iris(return_X_y=True)
    pooled, _ = crossed(
        lambda a, b, _: linsep.LogisticRegression().fit(a, b), Slices(X), y, 3, True
    )
    assert record["cv"]["confusion"] == pooled.matrix
    assert record["train"]["rows"] == 150  # and the model is that of all rows
    assert linsep.load(model).coef_.tolist() == linsep.LogisticRegression().fit(X, y).coef_.tolist()


def test_a_fit_holds_rows_out_unless_asked_not_to():
    assert json.loads(run("fit", "iris", "--json").stdout)["holdout"]["share"] == 0.2
    assert json.loads(run("fit", "iris", "--holdout", "0", "--json").stdout)["holdout"] is None
    done = run("fit", "xor")
    assert "No rows were held out: they are few" in done.stdout


def test_tune_takes_the_C_of_path():
    record = json.loads(run("fit", "cancer", "--tune", "--holdout", "0", "--json").stdout)
    found = linsep.path(linsep.LogisticRegression(), *load_breast_cancer(return_X_y=True))
    assert record["C"] == pytest.approx(found.C)
    assert run("fit", "iris", "--learner", "Perceptron", "--tune").exit_code == 2


def test_tune_learns_nothing_from_rows_that_its_folds_leave_out(tmp_path, monkeypatch):
    """What fills gaps, and which texts have features, is told by the rows of each fold alone."""
    rng = np.random.default_rng(0)
    x, town = rng.normal(size=60), rng.integers(0, 30, 60)
    y = np.where(x + rng.normal(size=60) > 0, "a", "b")
    cells = [f"{'' if k % 7 == 0 else x[k]},t{town[k]},{y[k]}" for k in range(60)]
    path = tmp_path / "t.csv"
    path.write_text("x,town,y\n" + "\n".join(cells) + "\n")
    seen = []
    fit = linsep.LogisticRegression.fit

    def noted(self, X, labels, *more, **named):
        seen.append((X, labels))
        return fit(self, X, labels, *more, **named)

    source = linsep.read(path, target="y")
    X, labels = source.load()
    monkeypatch.setattr(linsep.LogisticRegression, "fit", noted)
    tuned(linsep.LogisticRegression(), splittable(source, X), np.asarray(labels))
    folds = [train for train, _ in StratifiedKFold(5).split(y, y)]
    assert len(seen) == 10 * len(folds)
    for k, train in enumerate(folds):
        gap = train % 7 == 0
        for rows, own in seen[10 * k : 10 * k + 10]:
            rows = rows.toarray() if hasattr(rows, "toarray") else rows
            assert (own == y[train]).all() and rows.shape[1] == 1 + len(set(town[train]))
            np.testing.assert_allclose(rows[gap, 0], x[train][~gap].mean())
