"""Exported models answer as the model does, in the programs they are made for."""

import sqlite3

import numpy as np
import pytest

import linsep
from linsep.data.encoding.encoding import Column, Encoding
from linsep.errors import ModelFileError, ParameterError
from linsep.model.export import export as exporting
from linsep.model.export.sql import number

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

LEARNERS = {
    "perceptron": linsep.Perceptron(max_iter=20),
    "average vote": linsep.VotedPerceptron(decide="average"),
    "logistic": linsep.LogisticRegression(),
    "svm": linsep.LinearSVC(),
    "discriminant": linsep.LinearDiscriminantAnalysis(),
    "fisher": linsep.FisherDiscriminant(),
    "scaled": linsep.Scaled(linsep.LogisticRegression()),
    "scaled discriminant": linsep.Scaled(linsep.LinearDiscriminantAnalysis(), how="min-max"),
}
LABELS = {
    "texts": np.array(["ham", 'it\'s "spam"; --']),
    "three": np.array([3, 5, 2**60]),
    "truths": np.array([False, True]),
    "bytes": np.array([b"a", b"\xff"]),
    "floats": np.array([1.0, 2.0]),
}


def rows(n, seed, offset=0.0):
    return np.random.default_rng(seed).normal(size=(n, 4)) * [1, 10, 0.1, 5] + offset


def fitted(learner, labels="texts", offset=0.0):
    X, classes = rows(80, 0), LABELS[labels]
    code = (X @ [1.0, 0.1, 5.0, -0.2] > 0).astype(int) + (len(classes) > 2) * (X[:, 1] > 5)
    return LEARNERS[learner].fit(X + offset, classes[code])


def shown(label):
    return label.decode("latin-1") if isinstance(label, bytes) else label


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_onnxruntime_gives_the_same_labels_and_scores(learner, labels, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    model = fitted(learner, labels)
    made = linsep.export(model, tmp_path / "m.onnx")
    assert made.difference < 1e-8
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    X = rows(200, 1)
    found = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}),
                     strict=True))  # fmt: skip
    wanted = model.decision_function(X)
    assert found["scores"].reshape(wanted.shape) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert found["label"].tolist() == [shown(label) for label in model.predict(X).tolist()]
    if hasattr(model, "predict_proba"):
        assert found["probabilities"] == pytest.approx(model.predict_proba(X), abs=1e-12)


@pytest.mark.parametrize("learner", ["logistic", "discriminant", "scaled"])
def test_the_graph_of_a_model_in_single_precision_takes_single_precision(learner, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X = rows(80, 0).astype(np.float32)
    model = LEARNERS[learner].fit(X, X[:, 0] > 0)
    linsep.export(model, tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    label, scores, p = session.run(["label", "scores", "probabilities"], {"X": X})
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores[:, 0], model.decision_function(X), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_kernels_go_into_a_graph_too(kernel, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X = rows(60, 0) / 5
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 3] > 1)
    model = linsep.KernelPerceptron(kernel, max_iter=5).fit(X, y)
    linsep.export(model, tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    new = rows(100, 1) / 5
    label, scores = session.run(None, {"X": new})
    assert scores == pytest.approx(model.decision_function(new), rel=1e-9, abs=1e-9)
    assert label.tolist() == model.predict(new).tolist()


def ask_sqlite(query, names, table):
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE data ({', '.join(names)})")
    base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", table)
    found = base.execute(query).fetchall()
    base.close()
    return found


def ask_duckdb(query, names, table):
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    texts = [any(isinstance(row[k], str) for row in table) for k in range(len(names))]
    kinds = [f"{n} {'VARCHAR' if t else 'DOUBLE'}" for n, t in zip(names, texts, strict=True)]
    base.execute(f"CREATE TABLE data ({', '.join(kinds)})")
    base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", table)
    return base.execute(query).fetchall()


DATABASES = {"sqlite": ask_sqlite, "duckdb": ask_duckdb}


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_databases_give_the_same_labels_and_scores(learner, labels, database, tmp_path):
    model = fitted(learner, labels)
    linsep.export(model, tmp_path / "m.sql")
    X = rows(50, 1)
    names = [f"x{j}" for j in range(4)]
    found = DATABASES[database]((tmp_path / "m.sql").read_text(), names, X.tolist())
    wanted = model.decision_function(X)
    scores = np.array([row[4:-1] for row in found], float).reshape(wanted.shape)
    assert scores == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert [row[-1] for row in found] == [shown(label) for label in model.predict(X).tolist()]


@pytest.mark.parametrize("database", DATABASES)
def test_texts_gaps_and_names_of_any_kind_are_encoded_by_the_query(database, tmp_path):
    hostile = 'size"; DROP TABLE data; --'
    texts = ("Lima, Peru", "O'Brien", 'q"uote', "\\", "é\n")
    encoding = Encoding.of([Column(hostile, mean=2.5), Column("a b", "text", categories=texts)])
    rng = np.random.default_rng(0)
    cells = {hostile: rng.normal(size=80), "a b": [texts[k] for k in rng.integers(0, 5, 80)]}
    X = encoding.apply(cells)
    model = linsep.LogisticRegression().fit(X, X @ [1.0, 2, -2, 1, 0, -1] > 0)
    model.encoding_ = encoding
    linsep.export(model, tmp_path / "m.sql")
    table = [[1.5, "O'Brien"], [None, "Lima, Peru"], [-3.0, None], [0.0, "unknown"], [9.0, "é\n"]]
    names = ['"size""; DROP TABLE data; --"', '"a b"']
    found = DATABASES[database]((tmp_path / "m.sql").read_text(), names, table)
    numbers = np.array([np.nan if row[0] is None else row[0] for row in table])
    new = encoding.apply({hostile: numbers, "a b": [row[1] for row in table]})
    assert [row[2] for row in found] == pytest.approx(model.decision_function(new), abs=1e-9)
    assert [bool(row[3]) for row in found] == model.predict(new).tolist()


@pytest.mark.parametrize("database", DATABASES)
def test_blanks_around_a_text_are_left_out_as_in_the_fit(database, tmp_path):
    file = tmp_path / "d.csv"
    file.write_text("size,job,y\n" + "".join(f"{k}, {'ab'[k % 2]} ,{k % 2}\n" for k in range(8)))
    model = linsep.LogisticRegression().fit(linsep.read(file, target="y"))
    linsep.export(model, tmp_path / "m.sql")
    table = [[k, text] for k in range(3) for text in ("a", " a", "b ", " b ")]
    found = DATABASES[database]((tmp_path / "m.sql").read_text(), ["size", "job"], table)
    cells = {
        "size": np.array([row[0] for row in table], float),
        "job": [row[1].strip() for row in table],
    }
    wanted = model.decision_function(model.encoding_.apply(cells))
    assert [row[2] for row in found] == pytest.approx(wanted, abs=1e-9)


def test_texts_that_a_database_holds_as_truth_values_are_compared_as_such(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "d.csv"
    file.write_text("size,flag,y\n" + "".join(f"{k},{k % 2 > 0},{k % 2}\n" for k in range(8)))
    model = linsep.LogisticRegression().fit(linsep.read(file, target="y"))
    linsep.export(model, tmp_path / "m.sql")
    base = duckdb.connect()
    base.execute(f"CREATE TABLE data AS FROM read_csv('{file}')")
    found = base.execute((tmp_path / "m.sql").read_text()).fetchall()
    assert [row[-1] for row in found] == [k % 2 for k in range(8)]


def test_a_regression_is_a_sum(tmp_path):
    X = rows(40, 0)
    model = linsep.LinearRegression().fit(X, X @ [1.0, 2.0, 3.0, 4.0] + 1e6)
    for suffix in ("sql", "onnx"):
        linsep.export(model, tmp_path / f"m.{suffix}")
    found = ask_sqlite((tmp_path / "m.sql").read_text(), ["x0", "x1", "x2", "x3"], X.tolist())
    assert [row[-1] for row in found] == pytest.approx(model.predict(X), rel=1e-12)


def test_a_thousand_columns_do_not_nest_too_deep(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1200))
    model = linsep.LinearSVC().fit(X, X[:, 0] > 0)
    assert linsep.export(model, tmp_path / "m.sql").rows == 40


def test_far_from_the_origin_digits_are_kept(tmp_path):
    model = fitted("discriminant", offset=1e8)
    linsep.export(model, tmp_path / "m.sql")
    X = rows(20, 1, 1e8)
    found = ask_sqlite((tmp_path / "m.sql").read_text(), ["x0", "x1", "x2", "x3"], X.tolist())
    assert [row[-1] for row in found] == model.predict(X).tolist()


def test_a_file_that_answers_otherwise_is_not_kept(tmp_path, monkeypatch):
    model = fitted("logistic")
    path = tmp_path / "m.sql"
    path.write_text("-- the old one")
    real = exporting.planes_of
    monkeypatch.setattr(
        exporting, "planes_of", lambda *a: real(*a)._replace(intercept=np.array([0.125]))
    )
    with pytest.raises(ModelFileError, match="not kept"):
        linsep.export(model, path)
    assert path.read_text() == "-- the old one"


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (lambda: fitted("svm"), "m.pmml", "pmml"),
        (lambda: linsep.VotedPerceptron().fit(rows(9, 0), np.arange(9) % 2), "m.onnx", "average"),
        (lambda: linsep.KernelPerceptron().fit(rows(9, 0), np.arange(9) % 2), "m.sql", "kept rows"),
    ],
    ids=["suffix", "vote", "kernel"],
)
def test_what_cannot_be_exported_is_said(make, name, said, tmp_path):
    with pytest.raises(ParameterError, match=said):
        linsep.export(make(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_hashed_columns_and_names_without_letters_are_refused(tmp_path):
    model = fitted("logistic")
    model.encoding_ = Encoding.of([Column("a"), Column("b", "hash", bins=3)])
    with pytest.raises(ParameterError, match="hashed"):
        linsep.export(model, tmp_path / "m.sql")
    model.encoding_ = Encoding.of([Column("a"), Column("b\0"), Column("c"), Column("d")])
    with pytest.raises(ParameterError, match="character"):
        linsep.export(model, tmp_path / "m.sql")


def test_numbers_in_a_query_are_the_floats_themselves():
    chance = np.random.default_rng(0)
    for value in [0.0, 5e-324, 1.7976931348623157e308, *chance.normal(size=500)]:
        assert float(number(value)) == value
