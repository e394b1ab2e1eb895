"""A path of penalties: the same fits as one by one, and the choice between them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, cross_val_score

from linsep import LinearSVC, LogisticRegression, Perceptron, path
from linsep.errors import ParameterError
from linsep.learners.model_selection import fold_fits
from linsep.learners.model_selection.path import _chosen

X, y = load_breast_cancer(return_X_y=True)
X = X / X.std(axis=0)
CS = [1e-3, 1e-1, 10.0]


LEARNERS = [LogisticRegression(tol=1e-8), LinearSVC(tol=1e-8), LogisticRegression(solver="dual")]


@pytest.mark.parametrize("learner", LEARNERS)
def test_warm_starts_change_no_score(learner):
    found = path(learner, X, y, Cs=CS, fold_tol=1e-8)
    assert (found.gaps <= 1.05e-8).all()  # as asked for, and what rounding hides
    folds = StratifiedKFold(5)
    for k, C in enumerate(CS):
        assert found.scores[:, k] == pytest.approx(
            cross_val_score(learner.set_params(C=C), X, y, cv=folds)
        )


def test_the_model_is_the_one_fitted_to_all_rows():
    found = path(LogisticRegression(tol=1e-9), X, y, Cs=CS)
    alone = LogisticRegression(C=found.C, tol=1e-9).fit(X, y)
    assert found.model.coef_ == pytest.approx(alone.coef_)
    assert found.model.get_params()["warm_start"] is False


def test_the_choice_is_that_of_scikit_learn():
    found = path(LogisticRegression(tol=1e-8), X, y, Cs=CS)
    theirs = LogisticRegressionCV(
        Cs=CS,
        cv=5,
        max_iter=5000,
        tol=1e-8,
        use_legacy_attributes=False,
        l1_ratios=(0,),
        scoring="accuracy",
    ).fit(X, y)
    assert pytest.approx(theirs.C_) == found.C


def test_one_standard_error_prefers_the_simpler_model():
    scores = np.array([[0.5, 0.89, 0.90, 0.91], [0.5, 0.91, 0.93, 0.91], [0.5, 0.90, 0.90, 0.91]])
    assert _chosen(scores, "best") == 2  # means 0.5, 0.9, 0.91, 0.91; the first of equals
    assert _chosen(scores, "one-standard-error") == 1  # 0.9 is within 0.01 of the best


def test_several_classes_and_sparse_rows():
    rows, kinds = load_iris(return_X_y=True)
    dense = path(LogisticRegression(tol=1e-8), rows, kinds, Cs=[0.1, 1.0])
    sparse = path(LogisticRegression(tol=1e-8), sp.csr_matrix(rows), kinds, Cs=[0.1, 1.0])
    assert sparse.scores == pytest.approx(dense.scores)


def test_folds_that_share_passes_give_the_answers_of_separate_fits():
    rng = np.random.default_rng(1)
    rows = sp.random(900, 2500, 0.1, "csr", rng=rng)
    w = np.where(rng.random(2500) < 0.1, rng.normal(size=2500), 0.0)
    kinds = np.asarray(rows @ w) > 0
    splits = list(StratifiedKFold(5).split(rows, kinds))
    overlapping = [*splits[:4], (splits[4][0], np.append(splits[4][1], splits[0][1][:1]))]
    for scoring in (None, "neg_log_loss"):
        shared = path(LogisticRegression(), rows, kinds, Cs=CS, fold_tol=1e-7, scoring=scoring)
        alone = path(
            LogisticRegression(), rows, kinds, Cs=CS, fold_tol=1e-7, scoring=scoring, cv=overlapping
        )  # no row may be left out twice where folds share passes: these are fitted one by one
        assert shared.scores[:4] == pytest.approx(alone.scores[:4], abs=0.006)  # 1 row in 180
        assert shared.C == alone.C
        assert shared.model.gap_ <= 1e-6
        assert (shared.gaps <= 1e-7).all()


def test_folds_are_fitted_to_the_gap_asked_for():
    loose = path(LogisticRegression(), X, y, Cs=CS)
    assert 1e-8 < loose.gaps.max() <= 1e-3
    assert path(LogisticRegression(), X, y, Cs=CS, fold_tol=1e-7).gaps.max() <= 1e-7
    assert loose.model.gap_ <= 1e-6


def test_labels_may_be_words_and_scores_those_of_scikit_learn():
    words = np.where(y == 1, "benign", "malignant")
    found = path(LogisticRegression(), X, words, Cs=[1.0], scoring="neg_log_loss")
    assert (found.scores < 0).all()
    assert set(found.model.classes_) == {"benign", "malignant"}


def test_the_table_shows_every_value_and_marks_the_one_chosen():
    table = str(path(LogisticRegression(), X, y, Cs=CS))
    assert table.count("±") == 3
    assert table.count("chosen") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"Cs": 0}, "Cs is 0"),
        ({"Cs": [1.0, -1.0]}, "above zero"),
        ({"Cs": "many"}, "Cs is 'many'"),
        ({"choose": "worst"}, "choose"),
        ({"fold_tol": -1.0}, "fold_tol is -1.0"),
        ({"cv": [(np.arange(400), np.arange(400, 569))]}, "two are the least"),
    ],
)
def test_what_cannot_be_is_said(options, said):
    with pytest.raises(ParameterError, match=said):
        path(LogisticRegression(), X, y, **options)


def test_a_learner_without_a_penalty_has_no_path():
    with pytest.raises(ParameterError, match="no penalty C"):
        path(Perceptron(), X, y)


def test_more_folds_than_rows_of_a_class_are_refused_by_name():
    X = np.arange(30.0)[:, None]
    with pytest.raises(ParameterError, match=r"cv is 40.*n_splits=40"):
        path(LogisticRegression(), X, np.arange(30) % 2, cv=40)


def test_wide_rows_are_scored_as_in_all_their_features(monkeypatch):
    """More features than rows: the path is made in the space of the rows, with the same scores."""
    from linsep.learners.model_selection import path as module

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 90))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=40) > 0).astype(int)
    widths = []
    in_row_space = module._in_row_space

    def noted(learner, X):
        rows = in_row_space(learner, X)
        widths.append(rows.shape[1])
        return rows

    monkeypatch.setattr(module, "_in_row_space", noted)
    Cs = [1e-3, 1e-1, 10.0]
    near = path(LogisticRegression(), X, y, Cs=Cs, fold_tol=1e-8)
    monkeypatch.setattr(module, "_in_row_space", lambda learner, X: X)
    far = path(LogisticRegression(), X, y, Cs=Cs, fold_tol=1e-8)
    assert widths == [40]
    np.testing.assert_allclose(near.scores, far.scores, atol=1e-12)
    assert near.C == far.C
    np.testing.assert_allclose(near.model.coef_, far.model.coef_, atol=1e-3)


@pytest.mark.parametrize(("n", "d"), [(900, 300), (300, 260), (400, 90)])
def test_folds_of_dense_rows_are_fitted_together(n, d, monkeypatch):
    calls = []
    fit_folds = fold_fits.fit_folds
    monkeypatch.setattr(
        fold_fits, "fit_folds", lambda *a, **k: calls.append(1) or fit_folds(*a, **k)
    )
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d)) / np.sqrt(np.arange(1, d + 1))
    y = X[:, 0] + 0.5 * rng.normal(size=n) > 0
    found = path(LogisticRegression(), X, y, Cs=[0.01, 1.0, 100.0], cv=3)
    assert calls
    assert (found.gaps <= 1e-3).all()
    folds = list(StratifiedKFold(3).split(X, y))
    for f, (train, test) in enumerate(folds):
        for c, C in enumerate(found.Cs):
            alone = LogisticRegression(C=C, tol=1e-8).fit(X[train], y[train])
            assert abs(found.scores[f, c] - alone.score(X[test], y[test])) <= 3 / len(test)
