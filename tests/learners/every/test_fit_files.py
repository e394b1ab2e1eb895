"""A fit on a file gives the same bytes as a fit on the same rows in arrays, however it is read."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.datasets import dump_svmlight_file
from test_sklearn_contract import learners

import linsep
from linsep import (
    LinearSVC,
    LogisticRegression,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)
from linsep.data.blocks.blocks import BLOCK
from linsep.data.svmlight import parser as svmlight
from linsep.data.table import delimited
from linsep.errors import DataError, NotConverged, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

# Bytes of text read together: about one row, seven, a thousand, all of them.
PIECES = {"one": 60, "seven": 420, "thousand": 60_000, "all": 1 << 30}

KINDS = {
    **{kind.__name__: kind() for kind in learners()},
    "Perceptron, 3 passes": Perceptron(max_iter=3),
    "Perceptron, batch": Perceptron("batch", max_iter=3),
    "Perceptron, minibatch": Perceptron("minibatch", max_iter=3, keep="average"),
    "PassiveAggressive, 3 passes": PassiveAggressive(max_iter=3),
    "LinearRegression, sgd": linsep.LinearRegression("sgd", max_iter=3),
    "LinearSVC, squared": linsep.LinearSVC(loss="squared_hinge", tol=1e-3),
}
SLOW = {"Perceptron", "KernelPerceptron", "VotedPerceptron", "LinearSVC"}


def rows(n, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    return rng.standard_normal((n, 3)) + codes[:, None] * 0.7, codes


def write_csv(path, X, y):
    lines = [",".join([*map(repr, x.tolist()), f"c{k}"]) for x, k in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    return path


def state(learner):
    """Everything a fit leaves that prediction depends on."""
    names = ("coef_", "intercept_", "classes_", "status_", "n_iter_", "dual_coef_", "survival_")
    found = {name: getattr(learner, name) for name in names if hasattr(learner, name)}
    return {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in found.items()}


@pytest.mark.parametrize("name", KINDS)
def test_every_learner_fits_a_file_as_it_fits_the_array(tmp_path, name):
    learner = KINDS[name]
    X, y = rows(300 if name in SLOW else BLOCK + 300)
    numbers = is_regressor(learner)
    if numbers:
        path = tmp_path / "t.csv"
        np.savetxt(path, np.column_stack([X, X @ [1.0, 2.0, 3.0]]), "%.17g", ",")
        read_X, read_y = linsep.read(path).load()
    else:
        path = write_csv(tmp_path / "t.csv", X, y)
        read_X, read_y = linsep.read(path).load()
        assert np.array_equal(read_X, X)
    from_array = state(learner.fit(read_X, read_y))
    assert learner.encoding_ is None
    for memory in (0, 1 << 30):
        assert state(learner.fit(linsep.read(path, memory=memory))) == from_array
        assert learner.encoding_.n_features == 3


@pytest.mark.parametrize("name", KINDS)
def test_every_learner_fits_the_same_bytes_whatever_is_read_together(tmp_path, monkeypatch, name):
    learner = KINDS[name]
    X, y = rows(150)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    if is_regressor(learner):
        y = X @ [1.0, 2.0, 3.0]
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), "%.17g", ",")
    dump_svmlight_file(sp.csr_array(X), y, str(tmp_path / "t.svm"), zero_based=False)
    for file in ("t.csv", "t.svm"):
        expected = state(learner.fit(*linsep.read(tmp_path / file).load()))
        for piece in PIECES.values():
            with monkeypatch.context() as patch:
                patch.setattr(delimited, "PIECE", piece)
                patch.setattr(svmlight, "PIECE", piece)
                assert state(learner.fit(linsep.read(tmp_path / file, memory=0))) == expected


@pytest.mark.parametrize("memory", [0, 1 << 30], ids=["disk", "memory"])
@pytest.mark.parametrize("piece", PIECES)
def test_the_size_of_what_is_read_together_changes_no_byte(tmp_path, monkeypatch, piece, memory):
    X, y = rows(400 if piece == "one" else BLOCK + 300, classes=3)
    sparse = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    write_csv(tmp_path / "t.csv", X, y)
    dump_svmlight_file(sparse, y, str(tmp_path / "t.svm"), zero_based=False)
    learner = Perceptron(max_iter=2)
    expected = [
        state(learner.fit(*linsep.read(tmp_path / name).load())) for name in ("t.csv", "t.svm")
    ]
    monkeypatch.setattr(delimited, "PIECE", PIECES[piece])
    monkeypatch.setattr(svmlight, "PIECE", PIECES[piece])
    for name, wanted in zip(("t.csv", "t.svm"), expected, strict=True):
        chunks = linsep.read(tmp_path / name, memory=memory)
        assert state(learner.fit(chunks)) == wanted
        assert chunks.gather().on_disk == (memory == 0)


@pytest.mark.parametrize("memory", [0, 1 << 30], ids=["disk", "memory"])
def test_blocks_are_the_same_before_and_after_rows_were_gathered(tmp_path, memory):
    X, y = rows(BLOCK + 300)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"))
    for path in (write_csv(tmp_path / "t.csv", X, y), tmp_path / "t.svm"):
        before = list(linsep.read(path).blocks(1000))
        chunks = linsep.read(path, memory=memory)
        chunks.gather()
        after = list(chunks.blocks(1000))
        assert len(after) == len(before)
        for (X0, y0), (X1, y1) in zip(before, after, strict=True):
            assert y0.dtype == y1.dtype and np.array_equal(y0, y1)
            same = (X0 != X1).nnz == 0 if sp.issparse(X0) else np.array_equal(X0, X1)
            assert same and X0.dtype == X1.dtype


@pytest.mark.parametrize("size", [1, 7, 1000, 10**6])
def test_blocks_of_any_size_hold_the_same_rows_in_the_same_order(tmp_path, size):
    X, y = rows(2500)
    chunks = linsep.read(write_csv(tmp_path / "t.csv", X, y))
    parts = list(chunks.blocks(size))
    assert all(len(part) == size for part, _ in parts[:-1])
    assert np.array_equal(np.concatenate([part for part, _ in parts]), X)
    assert np.concatenate([labels for _, labels in parts]).tolist() == [f"c{k}" for k in y]


@pytest.mark.parametrize(
    "learner",
    [Perceptron(keep="average"), Perceptron("minibatch"), PassiveAggressive(), VotedPerceptron()],
    ids=repr,
)
def test_partial_fit_on_a_file_is_one_pass_over_its_rows(tmp_path, learner):
    X, y = rows(BLOCK + 300)
    path = write_csv(tmp_path / "t.csv", X, y)
    read_X, read_y = linsep.read(path).load()
    again = type(learner)(**learner.get_params())
    blockwise = state(learner.partial_fit(linsep.read(path)))
    whole = state(again.partial_fit(read_X, read_y))
    assert blockwise.pop("n_iter_") == 2 * whole.pop("n_iter_")  # two blocks, two calls
    assert blockwise == whole


@pytest.mark.parametrize(
    "learner", [LogisticRegression(solver="sgd"), LinearSVC(solver="sgd")], ids=repr
)
def test_partial_fit_on_a_file_takes_in_block_after_block(tmp_path, learner):
    X, y = rows(BLOCK + 300)
    path = write_csv(tmp_path / "t.csv", X, y)
    again = type(learner)(**learner.get_params())
    for part, labels in linsep.read(path):
        again.partial_fit(part, labels)
    learner.partial_fit(linsep.read(path))
    assert learner.coef_.tobytes() == again.coef_.tobytes()
    assert learner.intercept_.tobytes() == again.intercept_.tobytes()


def test_predictions_for_a_file_are_those_for_its_rows(tmp_path):
    X, y = rows(BLOCK + 300)
    chunks = linsep.read(write_csv(tmp_path / "t.csv", X, y))
    model = Perceptron(max_iter=3).fit(chunks)
    assert np.array_equal(model.predict(chunks), model.predict(X))
    assert model.score(chunks) == model.score(*chunks.load())
    other = linsep.read(write_csv(tmp_path / "u.csv", X[:, ::-1], y), columns={"a": "hash"})
    with pytest.raises(ParameterError, match="like=model"):
        model.predict(other)
    turned = tmp_path / "v.csv"
    turned.write_text("c,a,b\n" + "".join(f"{c!r},{a!r},{b!r}\n" for a, b, c in X.tolist()))
    again = linsep.read(turned, like=model)
    assert np.array_equal(model.predict(again), model.predict(X))


def test_labels_come_from_the_file_alone(tmp_path):
    X, y = rows(50)
    chunks = linsep.read(write_csv(tmp_path / "t.csv", X, y))
    with pytest.raises(ParameterError, match="leave y out"):
        Perceptron().fit(chunks, y)
    with pytest.raises(DataError, match="one class, 'c0'"):
        Perceptron().fit(linsep.read(tmp_path / "t.csv", classes=["c0"]))


def test_a_kept_copy_is_used_again_only_if_it_is_whole_and_of_this_file(tmp_path):
    X, y = rows(BLOCK + 300)
    path, kept = write_csv(tmp_path / "t.csv", X, y), tmp_path / "copy"
    learner = Perceptron(max_iter=2)
    expected = state(learner.fit(linsep.read(path, cache=kept)))
    again = linsep.read(path, cache=kept)
    assert state(learner.fit(again)) == expected
    assert again.source.statistics.missing == {}  # no look at the file was needed
    rows_file = kept / "rows"
    damaged = bytearray(rows_file.read_bytes())
    damaged[1000] ^= 1
    rows_file.write_bytes(damaged)
    assert state(learner.fit(linsep.read(path, cache=kept))) == expected
    write_csv(path, X[::-1], y)
    other = state(learner.fit(linsep.read(path, cache=kept)))
    assert other == state(learner.fit(*linsep.read(path).load())) != expected


@pytest.mark.skipif(sys.platform == "win32", reason="an open file has a name there")
def test_the_temporary_copy_has_no_name_that_a_killed_process_could_leave(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "here"))
    (tmp_path / "here").mkdir()
    X, y = rows(200)
    chunks = linsep.read(write_csv(tmp_path / "t.csv", X, y), memory=0)
    Perceptron(max_iter=2).fit(chunks)
    assert chunks.gather().on_disk
    assert list((tmp_path / "here").iterdir()) == []


def test_warnings_of_a_fit_on_a_file_point_at_the_caller(tmp_path):
    X, y = rows(200)
    path = write_csv(tmp_path / "t.csv", X, y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", NotConverged)
        Perceptron(max_iter=1).fit(linsep.read(path))
    assert [one.filename for one in told] == [__file__]


ANSWERS = ("predict", "decision_function", "rank", "predict_proba", "transform", "score")


@pytest.mark.parametrize("name", [*(kind.__name__ for kind in learners()), "scaled", "scaled line"])
def test_a_file_is_asked_as_the_array_is_also_of_a_loaded_model(tmp_path, name):
    around = {"scaled": linsep.LogisticRegression(), "scaled line": linsep.LinearRegression()}
    learner = linsep.Scaled(around[name]) if name in around else getattr(linsep, name)()
    X, y = rows(120)
    if is_regressor(learner):
        path = tmp_path / "t.csv"
        np.savetxt(path, np.column_stack([X, X @ [1.0, 2.0, 3.0]]), "%.17g", ",")
    else:
        path = write_csv(tmp_path / "t.csv", X, y)
    learner.fit(linsep.read(path))
    linsep.save(learner, tmp_path / "m.linsep")
    loaded = linsep.load(tmp_path / "m.linsep")
    X, y = linsep.read(path).load()
    asked = [name for name in ANSWERS if hasattr(learner, name)]
    assert {"predict", "score"} <= set(asked)
    for method in asked:
        more = (y,) if method == "score" else ()
        expected = np.asarray(getattr(learner, method)(X, *more))
        for model in (learner, loaded):
            found = np.asarray(getattr(model, method)(linsep.read(path)))
            np.testing.assert_array_equal(found, expected)
    other = tmp_path / "other.csv"
    other.write_text("a,b,z,y\n1,2,3,4\n5,6,7,9\n")
    for model in (learner, loaded):
        with pytest.raises(ParameterError, match="another way than the rows"):
            model.predict(linsep.read(other))


def test_a_copy_in_use_keeps_its_rows_while_another_takes_its_place(tmp_path):
    path, kept = tmp_path / "t.csv", tmp_path / "copy"
    path.write_text("a,y\n" + "1,x\n2,z\n" * 5000)
    first = linsep.read(path, cache=kept).gather()
    path.write_text("a,y\n7,x\n8,z\n")
    second = linsep.read(path, cache=kept).gather()
    assert first.X.sum() == 15_000 and second.X.sum() == 15
    assert linsep.read(path, cache=kept).gather().X.sum() == 15
    assert {one.name for one in kept.iterdir()} == {"codes", "labels", "manifest.json", "rows"}
