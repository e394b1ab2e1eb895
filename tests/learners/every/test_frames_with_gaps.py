"""Frames: one rule for missing numbers, names of features, and texts that the fit has not seen."""

import warnings

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep import LinearRegression, LogisticRegression, Scaled, read
from linsep.errors import DataError, ParameterError
from linsep.model.files.store import from_bytes, to_bytes

N = 40
B = np.random.default_rng(0).normal(size=N)
LABELS = np.where(B > 0, "p", "q")
GAP = "X has missing numbers in 'a' \\(1\\); the mean of the column"


def frame(text, gap):
    a = np.arange(float(N))
    if gap:
        a[3] = np.nan
    columns = {"a": a, "b": B} | ({"c": ["u", "v"] * (N // 2)} if text else {})
    return pd.DataFrame(columns)


def polars_frame(text, gap):
    polars = pytest.importorskip("polars")
    return polars.from_pandas(frame(text, gap))


def arrow_table(text, gap):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame(text, gap))


def columns(text, gap):
    given = {name: cells.tolist() for name, cells in frame(text, gap).items()}
    return {k: [None if c != c else c for c in cells] for k, cells in given.items()}


def records(text, gap):
    return frame(text, gap).to_dict("records")


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("table", [frame, polars_frame, arrow_table, columns, records])
@pytest.mark.parametrize("kind", [LogisticRegression, lambda: Scaled(LogisticRegression())])
def test_missing_numbers_of_any_table_are_filled_with_the_mean_and_told_once(kind, table, text):
    with pytest.warns(UserWarning, match=GAP) as told:
        learner = kind().fit(table(text, True), LABELS)
    assert len(told) == 1 and told[0].filename == __file__
    filled = frame(text, True).fillna({"a": frame(text, True)["a"].mean()})
    with warnings.catch_warnings(action="error"):
        wanted = kind().fit(filled, LABELS)
        assert learner.predict(table(text, True)).tolist() == wanted.predict(filled).tolist()
    np.testing.assert_allclose(learner.coef_, wanted.coef_, rtol=1e-6)


def test_integers_of_pandas_that_are_missing_are_filled_too():
    X = pd.DataFrame({"a": pd.array([1, None, 3, 4], "Int64"), "b": [1, 0, 1, 0]})
    with pytest.warns(UserWarning, match=GAP):
        learner = LogisticRegression().fit(X, [0, 1, 0, 1])
    assert learner.encoding_.columns[0].mean == pytest.approx(8 / 3)


def test_arrays_and_models_that_hold_no_means_refuse_missing_numbers():
    with pytest.raises(DataError, match="NaN: row 3, column 0"):
        LogisticRegression().fit(frame(False, True).to_numpy(), LABELS)
    learner = LogisticRegression().fit(frame(False, False), LABELS)
    with pytest.raises(DataError, match="NaN: row 3, column 0 \\('a'\\)"):
        learner.predict(frame(False, True))


@pytest.mark.parametrize("kind", [LogisticRegression, lambda: Scaled(LogisticRegression())])
def test_features_made_of_texts_have_names_that_belong_to_the_weights(kind):
    learner = kind().fit(frame(True, False), LABELS)
    names = ["a", "b", "c=u", "c=v"]
    assert learner.feature_names_in_.tolist() == names
    assert learner.feature_names_in_.dtype == object
    assert len(names) == learner.n_features_in_ == learner.coef_.shape[1]
    again = from_bytes(to_bytes(learner)).to_estimator()
    assert again.feature_names_in_.tolist() == names
    with warnings.catch_warnings(action="error"):
        assert (again.predict(frame(True, False)) == learner.predict(frame(True, False))).all()
        from_file = kind().fit(read(frame(True, False).assign(y=LABELS), target="y"))
        assert from_file.feature_names_in_.tolist() == names
        learner.fit(frame(True, False)[["b", "a"]].to_numpy().tolist(), LABELS)
    assert not hasattr(learner, "feature_names_in_")
    assert not hasattr(kind(), "feature_names_in_")


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("ask", ["predict", "predict_proba", "decision_function"])
def test_texts_that_the_fit_has_not_seen_are_told_once_in_a_call(ask, loaded):
    X = frame(True, False)
    model = LogisticRegression().fit(X, LABELS)
    if loaded:
        model = from_bytes(to_bytes(model))
    other = X.assign(c=["w", "x", "w"] + ["u"] * (N - 3))
    for rows in (other, other.to_dict("records"), other.to_dict("list"),
                 other.astype({"c": "category"}), pd.concat([other] * 40)):  # fmt: skip
        with pytest.warns(UserWarning, match="'c' holds texts that were not in the fit") as told:
            getattr(model, ask)(rows)
        assert len(told) == 1 and told[0].filename == __file__
        assert "'w' (" in str(told[0].message) and "They count as missing" in str(told[0].message)
    with pytest.warns(UserWarning, match="not in the fit, in 3 rows") as told:
        model.predict(read(other, like=model))
    assert len(told) == 1
    missing = X.assign(c=[None] * N)
    with warnings.catch_warnings(action="error"):
        getattr(model, ask)(missing)
        getattr(model, ask)(X.assign(c=pd.Categorical(X["c"], ["u", "v", "never met"])))
        getattr(model, ask)(missing.head(3).to_dict("records"))


def test_no_penalty_ignores_its_strength_and_says_so_as_scikit_learn_does():
    X, y = np.column_stack([B, B**2]), LABELS == "p"
    y[:6] = ~y[:6]
    plain = LogisticRegression(penalty=None).fit(X, y)
    with pytest.warns(UserWarning, match="penalty=None will ignore the C and l1_ratio"):
        other = LogisticRegression(penalty=None, C=2.0).fit(X, y)
    assert (plain.coef_ == other.coef_).all() and other.C == 2.0
    with pytest.raises(ParameterError, match="penalty is None"):
        linsep.path(LogisticRegression(penalty=None), X, y)


def test_a_regression_has_no_probabilities_because_it_predicts_numbers():
    with pytest.raises(AttributeError, match="predicts numbers, not classes"):
        _ = LinearRegression().fit([[0.0], [1.0]], [0, 1]).predict_proba


def test_a_failed_fit_with_firths_penalty_leaves_nothing_of_an_earlier_one():
    X, y = np.column_stack([B, B**2]), LABELS == "p"
    y[:6] = ~y[:6]
    learner = LogisticRegression(penalty="firth").fit(X, y)
    with pytest.raises(DataError, match="sums of others"):
        learner.fit(np.column_stack([X, B]), y)
    for name in ("coef_", "intercept_", "objective_", "status_", "n_iter_", "gap_"):
        assert not hasattr(learner, name)
