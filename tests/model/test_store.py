"""What is saved comes back: the same predictions, byte by byte, whatever was learned."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep.data.check.fingerprint import sample_digest, sample_of, sampled
from linsep.data.encoding.encoding import Column, Encoding
from linsep.errors import DataError, ParameterError, StorageError
from linsep.model.files.document import LEARNERS
from linsep.model.files.store import fingerprint, from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    **{name: getattr(linsep, name)() for name in LEARNERS},
    "Perceptron": linsep.Perceptron(max_iter=20),
    "Perceptron average": linsep.Perceptron(keep="average", max_iter=20),
    "VotedPerceptron": linsep.VotedPerceptron(max_iter=3),
    "VotedPerceptron average": linsep.VotedPerceptron(decide="average"),
    "VotedPerceptron rbf": linsep.VotedPerceptron(kernel="rbf", max_iter=3),
    "VotedPerceptron poly last": linsep.VotedPerceptron(kernel="poly", decide="last"),
    "KernelPerceptron": linsep.KernelPerceptron(max_iter=5),
    "LogisticRegression inf": linsep.LogisticRegression(C=np.inf),
    "Perceptron scaled": linsep.Scaled(linsep.Perceptron(max_iter=20)),
    "LogisticRegression scaled": linsep.Scaled(linsep.LogisticRegression(), how="min-max"),
    "VotedPerceptron scaled": linsep.Scaled(linsep.VotedPerceptron(max_iter=3)),
}


def cloud(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 4))


def fitted(name, layout=np.asarray, classes=2, offset=0.0):
    X = cloud(60, 0)
    y = np.arange(60) % 3 if classes == 3 else X[:, 0] + X[:, 1] ** 2 > 1
    if name == "LinearRegression":
        y = X @ [1.0, 2.0, 0.0, -1.0]
    return CASES[name].fit(layout(X + offset), y)


def single(X):
    return X.astype(np.float32)


LAYOUTS = {"dense": np.asarray, "sparse": sp.csr_array, "single": single}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_predicts_with_the_same_bytes(name, classes, layout):
    learner = fitted(name, LAYOUTS[layout], classes)
    model = from_bytes(to_bytes(learner))
    again = model.to_estimator()
    new = cloud(300, 1)
    for X in (new, sp.csr_array(new), single(new), new + 1e7):
        assert model.predict(X).tobytes() == learner.predict(X).tobytes()
        assert again.predict(X).tobytes() == learner.predict(X).tobytes()
        if hasattr(learner, "coef_"):
            assert model.coef_.tobytes() == np.asarray(learner.coef_).tobytes()
        for method in ("decision_function", "rank", "predict_proba", "transform"):
            if hasattr(learner, method):
                wanted = getattr(learner, method)(X)
                assert getattr(model, method)(X).tobytes() == wanted.tobytes()
                assert getattr(again, method)(X).tobytes() == wanted.tobytes()
    assert model.status_ is learner.status_
    assert type(again) is type(learner)
    assert repr(again.get_params()) == repr(learner.get_params())


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "LinearRegression"])
def test_digits_far_from_the_origin_are_kept(name):
    learner = fitted(name, offset=1e9)
    X = cloud(50, 2) + 1e9
    assert from_bytes(to_bytes(learner)).predict(X).tobytes() == learner.predict(X).tobytes()


@pytest.mark.parametrize("name", CASES)
def test_saving_a_loaded_model_gives_the_same_file(name):
    content = to_bytes(fitted(name))
    assert to_bytes(from_bytes(content)) == content
    assert to_bytes(fitted(name)) == content


@pytest.mark.parametrize(
    "labels",
    [
        ["ham", "spam"],
        ["é", "\U0001f600", "\ud800"],
        ["", " ", '"\\'],
        [b"a", b"\xff"],
        [False, True],
        [-1, 1],
        [2**53 + 1, 2**60],
        np.array([1, 2**63 + 1], np.uint64),
        [1, 2**80],
        [1.0, 2.0],
        np.array([3, 5, 7], np.int8),
        np.array([0, 1], np.float32),
    ],
    ids=range(12),
)
def test_classes_come_back_with_their_values_and_types(labels):
    y = [label for label in labels for _ in range(2)]
    if isinstance(labels, np.ndarray):
        y = np.repeat(labels, 2)
    learner = linsep.Perceptron().fit(np.arange(len(y), dtype=float)[:, None] ** 2, y)
    found = from_bytes(to_bytes(learner)).classes_
    assert found.dtype == learner.classes_.dtype
    assert found.tolist() == learner.classes_.tolist()
    assert [type(a) for a in found.tolist()] == [type(a) for a in learner.classes_.tolist()]


def test_labels_that_no_file_holds_are_refused():
    y = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")
    learner = linsep.Perceptron().fit([[0.0], [1.0]], y)
    with pytest.raises(ParameterError, match="datetime64"):
        to_bytes(learner)


def test_parameters_of_every_kind_come_back():
    kinds = {"class_weight": {0: 2.0, 1: 1.0}, "init": np.array([[0.5, 1.0]]), "max_iter": 7}
    learner = linsep.Perceptron(random_state=np.random.RandomState(0), **kinds)
    learner.fit([[0.0], [1.0]], [0, 1])
    model = from_bytes(to_bytes(learner))
    assert model.parameters["class_weight"] == {0: 2.0, 1: 1.0}
    assert model.parameters["init"].tolist() == [[0.5, 1.0]]
    assert model.parameters["random_state"] == "RandomState"  # a state of chance is not kept
    assert model.to_estimator().random_state == 0
    inf = from_bytes(to_bytes(fitted("LogisticRegression inf")))
    assert inf.parameters["C"] == np.inf


def test_a_kernel_that_is_a_function_is_not_written_down():
    learner = linsep.KernelPerceptron(lambda A, B: A @ B.T).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="holds no code"):
        to_bytes(learner)


@pytest.mark.parametrize("model", [object(), linsep.Perceptron(), None])
def test_what_is_no_fitted_learner_is_refused(model, tmp_path):
    with pytest.raises(ParameterError, match=r"not fitted|takes the learners"):
        linsep.save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_names_encoding_proof_and_fingerprint_are_kept():
    import pandas as pd

    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "sex=f": [0.0, 1.0, 0.0, 1.0]})
    learner = linsep.Perceptron(max_iter=5).fit(X, [0, 1, 1, 0])
    learner.encoding_ = Encoding.of([Column("age", mean=2.5), Column("sex", "text", 0.0, ("f",))])
    model = from_bytes(to_bytes(learner, data=(X.to_numpy(), [0, 1, 1, 0])))
    assert model.feature_names_in_.tolist() == ["age", "sex=f"]
    assert model.encoding_ == learner.encoding_
    assert model.data == learner.data_ | fingerprint(X.to_numpy(), [0, 1, 1, 0])
    assert model.data["rows"] == 4
    assert json.loads(model.certificate)["separable"] is False
    assert model.results["n_iter"] == learner.n_iter_
    assert model.predict(X).tolist() == learner.predict(X).tolist()
    with pytest.raises(DataError, match="'age'"):
        model.predict(X[["sex=f", "age"]])
    assert model.to_estimator().feature_names_in_.tolist() == ["age", "sex=f"]


def test_a_fingerprint_changes_with_any_entry_label_or_shape():
    X, y = cloud(5, 0), [0, 1, 0, 1, 1]
    other = X.copy()
    other[3, 2] = np.nextafter(other[3, 2], 9)
    made = [
        fingerprint(X, y), fingerprint(other, y), fingerprint(X, y[::-1]),
        fingerprint(single(X), y), fingerprint(sp.csr_array(X), y), fingerprint(X.T, y),
    ]  # fmt: skip
    assert len({one["sha256"] for one in made}) == len(made)


def test_a_file_says_what_its_model_was_fitted_on(tmp_path):
    X, y = cloud(200, 0), np.arange(200) % 2
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    told = from_bytes(to_bytes(linsep.Perceptron(max_iter=3).fit(X, y))).data
    assert (told["rows"], told["columns"], told["sha256"]) == (200, 4, None)
    for memory in (0, 1 << 20):
        chunks = linsep.read(tmp_path / "t.npy", memory=memory)
        assert linsep.Perceptron(max_iter=3).fit(chunks).data_["sample"] == told["sample"]
    other = X.copy()
    other[77, 2] = np.nextafter(other[77, 2], 9)
    for rows, labels, weights in ((other, y, None), (X, 1 - y, None), (X, y, y + 1.0)):
        found = linsep.Perceptron(max_iter=3).fit(rows, labels, weights).data_
        assert found["sample"] != told["sample"]
    parts = linsep.Perceptron().partial_fit(X, y)
    assert from_bytes(to_bytes(parts)).data is None


@pytest.mark.parametrize("n", [20, 5000])
@pytest.mark.parametrize("labels", [np.int64, np.float64])
def test_a_digest_asked_for_later_is_of_the_rows_as_they_were(n, labels):
    rng = np.random.default_rng(0)
    X, y, weights = rng.standard_normal((n, 3)), np.arange(n).astype(labels) % 2, np.ones(n)
    then, later = sample_digest(X, y, weights), sampled(X, y, weights)
    for array in (X, y, weights):
        array[:] = 7
    assert later() == then != sample_digest(X, y, weights)


def test_a_sampled_digest_knows_the_rows_it_looks_at_and_the_count_of_classes():
    X, y = np.zeros((70_000, 2)), np.arange(70_000) % 2
    whole, chosen = sample_digest(X, y, None), sample_of(X)
    assert len(chosen) < len(X)
    X[chosen[-1], 1] = 1e-300
    assert sample_digest(X, y, None)["sample"] != whole["sample"]
    left = np.setdiff1d(np.arange(70_000), chosen)[0]
    y[left] = 1 - y[left]
    assert sample_digest(np.zeros_like(X), y, None)["sample"] != whole["sample"]


def test_a_model_of_an_old_format_is_saved_in_the_new_one():
    old = linsep.load(GOLDEN / "1-logistic.linsep")
    assert old.data is None
    assert from_bytes(to_bytes(old)).predict([[0.0, 1.0, 2.0]]) == old.predict([[0.0, 1.0, 2.0]])


@pytest.mark.parametrize("name", CASES)
def test_only_kernels_and_votes_hold_training_rows(name):
    X = cloud(60, 0)
    content = to_bytes(fitted(name))
    held = sum(row.tobytes() in content for row in X)
    model = from_bytes(content)
    assert held == (0 if model.scaled else model.carries_rows)
    assert (model.carries_rows > 0) == (model.form.name in ("vote", "kernel"))


def test_a_restored_learner_starts_anew_and_does_not_pretend_to_go_on():
    learner = from_bytes(to_bytes(fitted("Perceptron"))).to_estimator()
    with pytest.raises(ParameterError, match="checkpoint"):
        learner.partial_fit(cloud(60, 0), np.arange(60) % 2)
    fresh = fitted("Perceptron")
    X = cloud(60, 0)
    y = X[:, 0] + X[:, 1] ** 2 > 1
    assert learner.fit(X, y).coef_.tobytes() == fresh.coef_.tobytes()
    learner.partial_fit(X, y)


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([[1.0, 2.0]], "2 features"),
        ([1.0, 2.0, 3.0, 4.0], "reshape"),
        ([[1.0, 2.0, np.nan, 4.0]], "NaN: row 0, column 2"),
        ([[1.0, 2.0, np.inf, 4.0]], "infinity"),
        ([["a", "b", "c", "d"]], "numbers"),
        ([[1e308, 1e308, 1e308, 1e308]], "leave the range"),
        ([[1.0], [1.0, 2.0]], "rows of numbers"),
    ],
    ids=range(7),
)
def test_rows_that_cannot_be_scored_are_named(X, said):
    model = from_bytes(to_bytes(fitted("LinearSVC")))
    with pytest.raises(DataError, match=said):
        model.predict(X)


def test_what_a_model_does_not_have_is_said():
    model = from_bytes(to_bytes(fitted("LinearSVC")))
    with pytest.raises(ParameterError, match="LogisticRegression"):
        model.predict_proba(cloud(2, 0))
    with pytest.raises(ParameterError, match="no axes"):
        model.transform(cloud(2, 0))
    with pytest.raises(AttributeError, match="kept rows"):
        from_bytes(to_bytes(fitted("KernelPerceptron"))).coef_
    line = from_bytes(to_bytes(fitted("LinearRegression")))
    with pytest.raises(ParameterError, match="predicts numbers"):
        line.decision_function(cloud(2, 0))


def test_several_targets_and_scores_come_back():
    X = cloud(40, 3)
    Y = X @ np.arange(8.0).reshape(4, 2) + cloud(40, 4)[:, :2]
    learner = linsep.LinearRegression().fit(X, Y)
    model = from_bytes(to_bytes(learner))
    assert model.predict(X).tobytes() == learner.predict(X).tobytes()
    assert model.score(X, Y) == pytest.approx(learner.score(X, Y), abs=1e-12)
    svc = fitted("LinearSVC")
    y = X[:, 0] > 0
    assert from_bytes(to_bytes(svc)).score(X, y) == svc.score(X, y)


def test_any_safetensors_reader_can_open_the_file(tmp_path):
    from safetensors import safe_open

    learner = fitted("LogisticRegression", classes=3)
    linsep.save(learner, tmp_path / "m.safetensors")
    with safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        assert file.get_tensor("coef").tobytes() == learner.coef_.tobytes()
        assert json.loads(file.metadata()["linsep"])["learner"] == "LogisticRegression"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StorageError, match="nowhere"):
        linsep.save(fitted("Perceptron"), tmp_path / "nowhere" / "m")


def test_loading_and_predicting_take_neither_compiler_nor_scikit_learn(tmp_path):
    linsep.save(fitted("LogisticRegression"), tmp_path / "linear")
    linsep.save(fitted("VotedPerceptron rbf"), tmp_path / "vote")
    script = (
        "import sys, linsep\n"
        "X = [[0.0, 1.0, 2.0, 3.0]]\n"
        f"model = linsep.load({str(tmp_path / 'linear')!r})\n"
        "model.predict(X), model.rank(X), model.score(X, [True])\n"
        "assert 'scipy' not in sys.modules\n"
        "model.predict_proba(X)\n"
        f"linsep.load({str(tmp_path / 'vote')!r}).predict(X)\n"
        "print(sorted({'sklearn', 'pandas'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def golden():
    return [(path, name) for path in sorted(GOLDEN.glob("*.json"))
            for name in json.loads(path.read_text())]  # fmt: skip


@pytest.mark.parametrize(("path", "name"), golden(), ids=[f"{p.stem}-{n}" for p, n in golden()])
def test_files_of_every_format_load_for_ever(path, name):
    wanted = json.loads(path.read_text())[name]
    model = linsep.load(GOLDEN / name)
    X = np.array(wanted["rows"])
    found = model.predict(X)
    if model.classes_ is None:
        assert found == pytest.approx(np.array(wanted["predict"]), rel=1e-12)
        return
    assert [str(label) for label in found.tolist()] == wanted["predict"]
    assert model.decision_function(X) == pytest.approx(np.array(wanted["scores"]), rel=1e-9)
    assert model.to_estimator().predict(X).tolist() == found.tolist()
