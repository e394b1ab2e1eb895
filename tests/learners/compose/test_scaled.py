"""`Scaled`: learners see features of one size, and answer in the units of the data."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import dump_svmlight_file, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linsep
from linsep import (
    KernelPerceptron,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    Scaled,
    VotedPerceptron,
)
from linsep.data.toys import height_weight
from linsep.errors import DataError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

WINE, KIND = load_wine(return_X_y=True)
SCALERS = {"mean": StandardScaler, "min-max": MinMaxScaler}
every_way = pytest.mark.parametrize("how", SCALERS)


def expected_failures(estimator):
    if not estimator._order_matters:
        return {}
    reason = "it shuffles the repeated rows, and an online rule depends on their order"
    names = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{name}_data": reason for name in names}


@parametrize_with_checks(
    [
        Scaled(LogisticRegression(tol=1e-9)),
        Scaled(LinearRegression(), how="min-max"),
        Scaled(Perceptron(max_iter=30)),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@every_way
def test_it_is_the_pipeline_with_a_scaler_but_in_the_units_of_the_data(how):
    ours = Scaled(LogisticRegression(tol=1e-10), how=how).fit(WINE, KIND)
    theirs = make_pipeline(SCALERS[how](), LogisticRegression(tol=1e-10)).fit(WINE, KIND)
    np.testing.assert_allclose(
        ours.decision_function(WINE), theirs.decision_function(WINE), rtol=1e-8, atol=1e-8
    )
    in_units = WINE @ ours.coef_.T + ours.intercept_
    np.testing.assert_allclose(in_units, ours.decision_function(WINE), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(WINE).sum(axis=1), 1)
    assert (ours.rank(WINE)[:, 0] == ours.predict(WINE)).all()


@every_way
def test_the_frame_is_scikit_learns(how):
    model = Scaled(Perceptron(max_iter=1), how=how).fit(WINE, KIND)
    scaler = SCALERS[how]().fit(WINE)
    wanted = (scaler.mean_, scaler.scale_) if how == "mean" else (WINE.min(0), 1 / scaler.scale_)
    np.testing.assert_allclose(model.centre_, wanted[0], rtol=1e-13)
    np.testing.assert_allclose(model.scale_, wanted[1], rtol=1e-13)


@every_way
@pytest.mark.parametrize(
    "learner", [LogisticRegression(tol=1e-9), LinearSVC(tol=1e-9), LinearRegression()], ids=repr
)
def test_optima_of_sparse_rows_are_those_of_dense_ones(learner, how):
    """A free intercept makes up for the centre, so dividing alone is enough."""
    rows = WINE * (np.median(WINE, axis=0) < WINE)
    y = KIND == 0 if is_classifier(learner) else WINE[:, 0]
    dense = Scaled(learner, how=how).fit(rows, y)
    sparse = Scaled(learner, how=how).fit(sp.csr_array(rows), y)
    assert not sparse.centre_.any()
    np.testing.assert_allclose(sparse.scale_, dense.scale_, rtol=1e-12)
    scale = dense.scale_
    np.testing.assert_allclose(sparse.coef_ * scale, dense.coef_ * scale, rtol=2e-3, atol=2e-4)


def test_sparse_rows_are_never_written_out(monkeypatch):
    for layout in (sp.csr_array, sp.csr_matrix):
        monkeypatch.setattr(layout, "toarray", lambda self: pytest.fail("densified"))
    noise = sp.random(200, 100_000, 1e-4, "csr", rng=np.random.default_rng(0))
    wide = sp.hstack([sp.csr_array(np.arange(200.0)[:, None]), noise], format="csr")
    model = Scaled(Perceptron(max_iter=5, shuffle=False)).fit(wide, np.arange(200) > 99)
    assert model.predict(wide).shape == (200,)


def test_weights_of_rows_count_in_the_frame_and_absent_rows_do_not():
    weights = np.arange(len(KIND)) % 3
    weighted = Scaled(LogisticRegression(tol=1e-10)).fit(WINE, KIND, weights)
    repeated = Scaled(LogisticRegression(tol=1e-10)).fit(
        WINE.repeat(weights, axis=0), KIND.repeat(weights)
    )
    np.testing.assert_allclose(weighted.centre_, repeated.centre_, rtol=1e-12)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-12)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-8)


@every_way
def test_regression_by_descent_reaches_the_exact_line_in_kilograms_per_centimetre(how):
    X, y = height_weight()
    exact = LinearRegression().fit(X, y)
    descent = LinearRegression("batch", scale=False, tol=1e-14, max_iter=5000)
    model = Scaled(descent, how=how).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, rtol=1e-5)
    assert model.coef_.shape == (1,)
    assert np.ndim(model.intercept_) == 0
    assert model.score(X, y) == pytest.approx(exact.score(X, y))


def test_features_of_very_different_size_no_longer_hold_the_perceptron_back():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2)) * [1.0, 1e4] + [0.0, 5e4]
    y = np.where(X[:, 0] + (X[:, 1] - 5e4) / 1e4 > 0, 1, -1)
    keep = np.abs(X[:, 0] + (X[:, 1] - 5e4) / 1e4) > 0.3
    X, y = X[keep], y[keep]
    raw = Perceptron(max_iter=10_000).fit(X, y)
    model = Scaled(Perceptron(max_iter=10_000)).fit(X, y)
    assert model.status_.name == "separated"
    assert model.learner_.mistakes_ < 100
    assert raw.mistakes_ > 100 * model.learner_.mistakes_
    assert (y * (X @ model.coef_[0] + model.intercept_) > 0).all()


@pytest.mark.parametrize("size", [1e-160, 1e160, 1e307])
@every_way
def test_features_of_any_size_have_a_frame(size, how):
    X = np.array([[-1.0, 0.0], [1.0, 1.0], [-1.0, 2.0], [1.0, 3.0]]) * [size, 1.0]
    model = Scaled(LogisticRegression(), how=how).fit(X, [0, 1, 0, 1])
    assert model.predict(X).tolist() == [0, 1, 0, 1]
    small = Scaled(LogisticRegression(), how=how).fit(X / [size, 1.0], [0, 1, 0, 1])
    np.testing.assert_allclose(model.coef_ * [size, 1.0], small.coef_, rtol=1e-9, atol=1e-12)


def test_a_column_without_spread_is_left_in_peace():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0)])
    model = Scaled(LogisticRegression()).fit(X, X[:, 1] > 9)
    assert model.coef_[0, 0] == 0
    assert model.scale_[0] == 1


def test_single_precision_stays_single():
    model = Scaled(LogisticRegression()).fit(WINE.astype(np.float32), KIND)
    assert model.coef_.dtype == np.float32
    assert model.decision_function(WINE.astype(np.float32)).dtype == np.float32


def test_threads_do_not_change_a_byte_of_the_frame():
    X = np.random.default_rng(0).normal(size=(20_000, 5))
    y = X[:, 0] > 0
    ends = {Scaled(Perceptron(max_iter=1, n_jobs=n)).fit(X, y).coef_.tobytes() for n in (1, 2, 4)}
    assert len(ends) == 1


def test_it_works_where_learners_work():
    search = GridSearchCV(
        make_pipeline(Scaled(LogisticRegression())),
        {"scaled__how": ["mean", "min-max"], "scaled__learner__C": [0.1, 1.0]},
        cv=3,
    ).fit(WINE, KIND)
    assert search.best_score_ > 0.95
    assert cross_val_score(Scaled(LinearSVC()), WINE, KIND, cv=3).min() > 0.9
    assert is_classifier(Scaled(Perceptron()))
    assert is_regressor(Scaled(LinearRegression()))
    assert is_regressor(Scaled(Ridge()))
    assert Scaled(Ridge()).fit(WINE, KIND).coef_.shape == (13,)
    named = Scaled(Perceptron()).fit(pd.DataFrame(WINE, columns=list("abcdefghijklm")), KIND)
    assert named.feature_names_in_.tolist() == list("abcdefghijklm")


def test_learners_without_weights_are_scaled_too():
    for learner in (KernelPerceptron("rbf"), VotedPerceptron()):
        model = Scaled(learner).fit(WINE, KIND)
        assert not hasattr(model, "coef_")
        assert model.score(WINE, KIND) > 0.95
    assert not hasattr(Scaled(Perceptron()), "predict_proba")
    assert not hasattr(Scaled(LinearRegression()), "decision_function")


def test_bad_input_is_refused_in_the_words_of_learners():
    bad = WINE.copy()
    bad[3, 2] = np.inf
    with pytest.raises(DataError, match="X contains infinity: row 3, column 2"):
        Scaled(Perceptron()).fit(bad, KIND)
    with pytest.raises(ParameterError, match="how is 'max'; choose one of 'mean', 'min-max'"):
        Scaled(Perceptron(), how="max").fit(WINE, KIND)
    with pytest.raises(ParameterError, match="learner is 'svm'; give a classifier or regressor"):
        Scaled("svm").fit(WINE, KIND)
    with pytest.raises(DataError, match="one class"):
        Scaled(Perceptron()).fit(WINE, [1] * len(KIND))


def test_what_a_callback_hears_goes_through():
    heard = []
    Scaled(Perceptron()).fit(WINE, KIND, callback=heard.append)
    assert heard[-1].mistakes == 0


@pytest.mark.parametrize("how", ["mean", "min-max"])
@pytest.mark.parametrize("memory", [0, 1 << 30], ids=["disk", "memory"])
@pytest.mark.parametrize("name", ["t.csv", "t.svm"])
def test_a_file_is_scaled_as_an_array_is(tmp_path, name, memory, how):
    path = tmp_path / name
    if name == "t.csv":
        np.savetxt(path, np.column_stack([WINE, KIND]), "%.17g", ",")
    else:
        dump_svmlight_file(WINE, KIND, str(path), zero_based=False)
    model = Scaled(LogisticRegression(), how=how).fit(linsep.read(path, memory=memory))
    wanted = Scaled(LogisticRegression(), how=how).fit(*linsep.read(path).load())
    assert model.coef_.tobytes() == wanted.coef_.tobytes()
    assert model.encoding_.n_features == WINE.shape[1]
