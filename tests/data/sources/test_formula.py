"""Formulas: the features of formulaic, computed again by trees that a model keeps."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import linsep
from linsep import LinearRegression, LogisticRegression, OrdinalRegression, Scaled, read
from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.formula import Formula
from linsep.data.sources.formula import formula
from linsep.errors import DataError, LinsepError, ParameterError
from linsep.model.files.store import from_bytes, to_bytes
from linsep.views.cli import group

formulaic = pytest.importorskip("formulaic")

N = 150


def test_the_trees_of_a_formula_are_read_back_and_nothing_else_is():
    made = Formula("y ~ a:b", ("a:b",), (("*", ("x", 0), ("x", 1)),))
    document = json.loads(json.dumps(made.to_json()))
    assert Formula.from_json(document, 2) == made
    bad = [{"trees": [["*", ["x", 0], ["x", 2]]]}, {"trees": [["system", ["x", 0]]]},
           {"names": []}, {"intercept": 1}, {"texts": [["t", 0, 3]]}]  # fmt: skip
    for change in bad:
        with pytest.raises(LinsepError):
            Formula.from_json(document | change, 2)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "a": rng.normal(size=N), "b": rng.normal(size=N), "size": rng.lognormal(size=N),
        "region": rng.choice(["north", "south", "east"], N),
        "kind": rng.choice(["p", "q"], N), "grade": rng.integers(1, 4, N),
    })  # fmt: skip
    score = table["a"] - table["b"] + (table["region"] == "north") + rng.logistic(size=N)
    return table.assign(y=np.where(score > 0, "yes", "no"))


TEXTS = [
    "y ~ a + b",
    "y ~ a * b + I(a ** 2)",
    "y ~ region",
    "y ~ a + C(region) + log(size):b",
    "y ~ region * kind + a:kind",
    "y ~ region:kind",
    "y ~ a:region + kind",
    "y ~ (a + b + kind) ** 2",
    "y ~ 0 + region + a",
    "y ~ 0 + a + region:kind",
    "y ~ C(grade) + np.sqrt(size) + exp(a):b",
    "y ~ np.log(size) + I(-a / (1 + b ** 2))",
    "y ~ . - grade",
]


@pytest.mark.parametrize("text", TEXTS)
def test_features_are_those_of_formulaic(text, frame):
    rows, labels = formula(text, frame).load()
    with warnings.catch_warnings(action="ignore"):
        wanted = formulaic.model_matrix(text, frame.drop(columns="y").assign(y=1.0)).rhs
    wanted = wanted[[name for name in wanted.columns if name != "Intercept"]].to_numpy()
    assert rows.shape == wanted.shape
    np.testing.assert_allclose(rows, wanted, rtol=1e-12)
    assert labels.tolist() == frame["y"].tolist()


def test_the_reference_is_the_text_that_was_told(frame):
    model = LogisticRegression(np.inf).fit(formula("y ~ a + C(region, ref='north')", frame))
    names = ["a", "C(region, ref='north')[east]", "C(region, ref='north')[south]"]
    assert model.feature_names_in_.tolist() == names
    other = LogisticRegression(np.inf).fit(formula("y ~ a + C(region, ref='south')", frame))
    np.testing.assert_allclose(other.coef_[0, 2], -model.coef_[0, 2], rtol=1e-8)
    assert model.summary().columns["name"] == ["(intercept)", *names]
    scaled = Scaled(LogisticRegression(np.inf)).fit(
        formula("y ~ a + C(region, ref='north')", frame)
    )
    errors = scaled.summary().columns["std err"]
    np.testing.assert_allclose(errors, model.summary().columns["std err"], rtol=1e-6)


@pytest.mark.parametrize("kind", [LogisticRegression, lambda: Scaled(LogisticRegression())])
@pytest.mark.parametrize("loaded", [False, True])
def test_frames_records_and_files_predict_the_same(kind, loaded, frame, tmp_path):
    model = kind().fit(formula("y ~ a + C(region, ref='north') + log(size):b + C(grade)", frame))
    wanted = model.predict_proba(formula("y ~ a + C(region, ref='north') + log(size):b + C(grade)",
                                         frame).load()[0])  # fmt: skip
    if loaded:
        model = from_bytes(to_bytes(model))
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    new = frame.drop(columns=["y", "kind"])
    for rows in (frame, new, new.to_dict("list"), read(path, like=model)):
        np.testing.assert_array_equal(model.predict_proba(rows), wanted)
    records = new.to_dict("records")
    np.testing.assert_array_equal(model.predict_proba(records[:5]), wanted[:5])
    np.testing.assert_array_equal(model.predict_proba(records), wanted)
    assert model.score(frame) == model.score(read(path, like=model))
    again = kind().fit(formula("y ~ a + C(region, ref='north') + log(size):b + C(grade)", path))
    np.testing.assert_array_equal(again.predict_proba(new), wanted)


def test_numbers_are_predicted_and_levels_too(frame):
    line = LinearRegression().fit(formula("size ~ a + region", frame))
    assert line.predict(frame).shape == (N,)
    assert OrdinalRegression().fit(formula("grade ~ a + region", frame)).predict(frame).shape == (
        N,
    )


def test_missing_numbers_are_means_and_missing_texts_are_refused(frame):
    gaps = frame.assign(size=frame["size"].where(frame.index != 3))
    model = LogisticRegression().fit(formula("y ~ log(size) + region", gaps))
    filled = frame.assign(size=gaps["size"].fillna(gaps["size"].mean()))
    other = LogisticRegression().fit(formula("y ~ log(size) + region", filled))
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
    with pytest.raises(DataError, match=r"'region' is missing, or holds a text .* at row 0"):
        model.predict([{"size": 1.0, "region": None}])
    with pytest.raises(DataError, match="region"):
        model.predict(frame.assign(region="west"))
    with pytest.raises(DataError, match=r"log\(size\) is nan at row 0"):
        model.predict([{"size": -1.0, "region": "north"}])


@pytest.mark.parametrize("suffix", ["py", "sql", "onnx"])
def test_exports_hold_the_formula(suffix, frame, tmp_path):
    if suffix == "onnx":
        pytest.importorskip("onnx")
    text = "y ~ a + C(region, ref='north'):kind + log(size):b + sqrt(size) + I((a / 2 - 1) ** 2)"
    model = LogisticRegression().fit(formula(text, frame))
    path = tmp_path / f"model.{suffix}"
    assert linsep.export(model, path).rows == 40
    new = frame.drop(columns="y")
    if suffix == "py":
        module = {"__name__": "exported"}
        exec(path.read_text(), module)
        assert module["predict"](new.to_dict("records")) == model.predict(new).tolist()
        with pytest.raises(ValueError, match="region"):
            module["predict"]([{**new.to_dict("records")[0], "region": "west"}])
    if suffix == "sql":
        duckdb = pytest.importorskip("duckdb")
        base = duckdb.connect()
        base.register("data", pd.concat([new, new[:1].assign(region="west")]))
        answers = base.execute(path.read_text()).fetchdf()
        scores = model.decision_function(new)
        np.testing.assert_allclose(answers["linsep_score"][:N], scores, rtol=1e-9, atol=1e-9)
        assert answers["linsep_label"][:N].tolist() == model.predict(new).tolist()
        assert answers["linsep_label"][N:].isna().all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y ~ foo", "names 'foo', which is no column"),
        ("y ~ a + __import__('os').system('x')", "cannot be"),
        ("y ~ a.real", "cannot be computed"),
        ("y ~ poly(a, 2)", "cannot be computed"),
        ("y ~ a | b", "other parts"),
        ("y + 1 ~ a", "on its left"),
        ("~ a", "on its left"),
        ("y ~ y", "but the labels"),
        ("y ~ 1", "but the labels"),
        ("y ~ a +* b", "cannot be read"),
        ("y ~ log(region)", "it has texts"),
        ("y ~ C(region, ref='west')", "the texts are east, north, south"),
        ("y ~ C(a + b)", "write C"),
        ("y ~ (lambda: 3)()", "cannot be read"),
        (3, "give a formula"),
    ],
)
def test_what_is_no_formula_is_refused(text, said, frame):
    with pytest.raises(ParameterError, match=said):
        formula(text, frame)


def test_intercepts_are_what_the_formula_says(frame):
    bare = formula("y ~ 0 + a + b", frame)
    with pytest.raises(ParameterError, match="has no intercept"):
        LogisticRegression().fit(bare)
    with pytest.raises(ParameterError, match="has no intercept"):
        Scaled(LogisticRegression()).fit(bare)
    assert LogisticRegression(fit_intercept=False).fit(bare).intercept_ == [0.0]
    with pytest.raises(ParameterError, match="has an intercept"):
        LogisticRegression(fit_intercept=False).fit(formula("y ~ a", frame))


def test_documents_of_formulas_are_checked_field_by_field(frame):
    encoding = formula("y ~ a + C(region) + log(size):b", frame).encoding
    document = json.loads(json.dumps(encoding.to_json()))
    assert Encoding.from_json(document) == encoding
    bad = [
        ("trees", [["x", 0]]), ("trees", [["x", 99]] * 4), ("trees", [["eval", ["x", 0]]] * 4),
        ("trees", [["+", 1.0]] * 4), ("trees", [float("nan")] * 4), ("trees", [[]] * 4),
        ("names", ["a"] * 4), ("names", [1, 2, 3, 4]), ("texts", [["region", 0, 99]]),
        ("texts", [["region"]]), ("text", 1), ("intercept", 1),
    ]  # fmt: skip
    for name, value in bad:
        broken = {**document, "formula": {**document["formula"], name: value}}
        with pytest.raises(DataError, match="formula"):
            Encoding.from_json(broken)
    deep = 1.0
    for _ in range(60):
        deep = ["log", deep]
    with pytest.raises(LinsepError):
        Encoding.from_json({**document, "formula": {**document["formula"], "trees": [deep] * 4}})


def test_the_command_line_takes_a_formula(frame, tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.linsep"
    frame.to_csv(path, index=False)
    asked = ["fit", str(path), "--formula", "y ~ a + log(size)", "--out", str(model), "--cv", "3"]
    done = CliRunner().invoke(group, asked)
    assert done.exit_code == 0, done.output
    assert linsep.load(model).feature_names == ["a", "log(size)"]
    said = CliRunner().invoke(group, ["predict", str(model), str(path)]).stdout.split()
    assert said == linsep.load(model).predict(frame).tolist()
    twice = CliRunner().invoke(group, [*asked, "--target", "y"])
    assert "names the labels" in str(twice.exception)
