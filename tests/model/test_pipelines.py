"""Pipelines of linsep's own parts are saved, loaded, exported and reported as one model."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linsep
from linsep.errors import ModelFileError, ParameterError
from linsep.model.files.container import parse, seal, spell, unseal
from linsep.model.files.store import from_bytes, to_bytes
from linsep.rows.feature_maps import PairMap, RadialMap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = {"two": (X[:, 0] * X[:, 1] > 0).astype(int), "three": np.digitize((X**2).sum(1), [1, 3])}

PIPELINES = {
    "pairs": lambda: make_pipeline(linsep.PairProducts(), linsep.LogisticRegression()),
    "squares": lambda: make_pipeline(
        linsep.PairProducts([(0, 0), (1, 2)], include_input=False), linsep.LinearSVC()
    ),
    "radial": lambda: make_pipeline(
        linsep.Radial(include_input=True), linsep.Scaled(linsep.LogisticRegression())
    ),
    "both": lambda: make_pipeline(
        linsep.Radial([[0.0, 0, 0], [1, 1, 1]], squared=True, include_input=True),
        linsep.PairProducts(4),
        linsep.LinearDiscriminantAnalysis(),
    ),
}


@pytest.mark.parametrize("classes", Y)
@pytest.mark.parametrize("name", PIPELINES)
def test_a_saved_pipeline_answers_as_it_did(tmp_path, name, classes):
    pipeline = PIPELINES[name]().fit(X, Y[classes])
    linsep.save(pipeline, tmp_path / "m.linsep")
    model = linsep.load(tmp_path / "m.linsep")
    new = RNG.normal(size=(50, 3))
    expected = pipeline.decision_function(new)
    assert model.decision_function(new).tobytes() == np.asarray(expected).tobytes()
    assert model.predict(new).tolist() == pipeline.predict(new).tolist()
    assert model.n_features_in_ == 3
    assert len(model.weight_names) == model.coef_.shape[1]
    assert to_bytes(model) == (tmp_path / "m.linsep").read_bytes()
    again = model.to_estimator().decision_function(new)
    np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("suffix", ["py", "sql", "onnx"])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_exported_whole(tmp_path, name, suffix):
    if suffix == "onnx":
        pytest.importorskip("onnx")
    pipeline = PIPELINES[name]().fit(X, Y["two"])
    assert linsep.export(pipeline, tmp_path / f"m.{suffix}").difference < 1e-8


def test_a_pipeline_is_reported(tmp_path):
    pytest.importorskip("matplotlib")
    pipeline = PIPELINES["pairs"]().fit(X, Y["two"])
    linsep.report(pipeline, X, Y["two"], tmp_path / "r.html")
    linsep.save(pipeline, tmp_path / "m.linsep")
    linsep.report(linsep.load(tmp_path / "m.linsep"), X, Y["two"], tmp_path / "s.html")
    for name in "rs":
        assert "x0 x1" in (tmp_path / f"{name}.html").read_text()


IMAGES = RNG.normal(size=(60, 5 * 6 * 2))
CHANNELS = {"shape": [5, 6], "colours": 2, "cell": [2, 3], "orientations": 3, "name": "Channels"}


def channels():
    maps = linsep.Channels((5, 6), colours=2, cell=(2, 3), orientations=3)
    pipeline = make_pipeline(maps, linsep.Scaled(linsep.LogisticRegression()))
    return pipeline.fit(IMAGES, IMAGES[:, :9].sum(axis=1) > 0)


def test_a_pipeline_of_channels_is_saved_reported_and_refused_by_exports(tmp_path):
    pipeline = channels()
    linsep.save(pipeline, tmp_path / "m.linsep")
    model = linsep.load(tmp_path / "m.linsep")
    expected = np.asarray(pipeline.decision_function(IMAGES))
    assert model.decision_function(IMAGES).tobytes() == expected.tobytes()
    assert model.weight_names == pipeline[0].get_feature_names_out().tolist()
    assert to_bytes(model) == (tmp_path / "m.linsep").read_bytes()
    again = model.to_estimator()
    np.testing.assert_array_equal(again.decision_function(IMAGES), expected)
    assert again[0].transform(IMAGES[:2]).tolist() == pipeline[0].transform(IMAGES[:2]).tolist()
    for suffix in ("py", "sql", "onnx"):
        with pytest.raises(ParameterError, match="a Channels, which no export holds"):
            linsep.export(model, tmp_path / f"m.{suffix}")
    pytest.importorskip("matplotlib")
    linsep.report(model, IMAGES, IMAGES[:, :9].sum(axis=1) > 0, tmp_path / "r.html")
    assert "edge60_0_1" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [6, 5]}, {"shape": [30, 1]}, {"shape": 30}, {"shape": [5.0, 6]}, {"colours": 0},
        {"colours": 1}, {"cell": [0, 3]}, {"cell": [6, 3]}, {"cell": [True, 3]}, {"cell": None},
        {"orientations": 0}, {"orientations": 1 << 40}, {"orientations": 4}, {"more": 1},
        {"name": "HOG"},
    ],
)  # fmt: skip
def test_a_file_whose_channels_do_not_add_up_is_refused(change):
    text, tensors = unseal(to_bytes(channels()), "m")
    document = parse(text, "m")
    assert document["steps"] == [CHANNELS]
    changed = document | {"steps": [CHANNELS | change]}
    with pytest.raises(ModelFileError):
        from_bytes(seal(spell(changed), tensors))


def test_other_images_are_refused_by_a_file_and_hog_with_its_reason(tmp_path):
    wide = linsep.Channels((1, 1 << 20), cell=(1, 1 << 20), orientations=8)
    one = np.zeros((4, 1 << 20), np.float32)
    one[::2, 0] = 1
    with pytest.raises((ValueError, ParameterError), match="other images"):
        linsep.save(make_pipeline(wide, linsep.Perceptron()).fit(one, [0, 1, 0, 1]), tmp_path / "m")
    pytest.importorskip("skimage")
    pipeline = make_pipeline(
        linsep.HOG((5, 12), cell=(5, 6)), linsep.Perceptron(max_iter=2, tol=1.0)
    )
    with pytest.raises(ParameterError, match="HOG needs scikit-image, and loading"):
        linsep.save(pipeline.fit(IMAGES, IMAGES[:, 0] > 0), tmp_path / "m")


@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_maps_are_the_transformers(seed, include, squared):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(5, 4)) * (rng.random((5, 4)) < 0.6)
    pairs = linsep.PairProducts(3, include_input=include).fit(rows)
    radial = linsep.Radial(rows[:2], squared=squared, include_input=include).fit(rows)
    maps = (PairMap(pairs.pairs_, include), RadialMap(radial.centres_, squared, include))
    for kind in (np.asarray, sp.csr_array):
        for transformer, one in zip((pairs, radial), maps, strict=True):
            made, expected = one.apply(kind(rows)), transformer.transform(kind(rows))
            assert type(made) is type(expected)
            dense = [m.toarray() if sp.issparse(m) else m for m in (made, expected)]
            np.testing.assert_array_equal(*dense)
            assert one.width(4) == made.shape[1]
            assert (
                one.names(list("abcd")) == transformer.get_feature_names_out(list("abcd")).tolist()
            )


def test_other_steps_are_refused_by_name(tmp_path):
    pipeline = make_pipeline(StandardScaler(), linsep.Perceptron(max_iter=2, tol=1.0))
    with pytest.raises(
        ParameterError, match="StandardScaler; a model file can hold PairProducts, R"
    ):
        linsep.save(pipeline.fit(X, Y["two"]), tmp_path / "m.linsep")
    with pytest.raises(ParameterError, match="not fitted"):
        linsep.save(PIPELINES["pairs"](), tmp_path / "m.linsep")


@pytest.mark.parametrize(
    "change",
    [
        {"steps": []}, {"steps": None}, {"steps": [{"name": "HOG"}]}, {"steps": "PairProducts"},
        {"steps": [{"name": "PairProducts", "include_input": 1}]},
        {"steps": [{"name": "PairProducts", "include_input": False}]},
        {"steps": [{"name": "Radial", "include_input": True, "squared": True}]},
        {"steps": [{"name": "PairProducts", "include_input": True, "more": 1}]},
        {"format": 2}, {"n_features": 2}, {"n_features": 4},
    ],
)  # fmt: skip
def test_a_file_whose_steps_do_not_add_up_is_refused(change):
    content = to_bytes(PIPELINES["pairs"]().fit(X, Y["two"]))
    text, tensors = unseal(content, "m")
    document = parse(text, "m")
    assert document["format"] == 3
    with pytest.raises(ModelFileError):
        from_bytes(seal(spell(document | change), tensors))
    for wrong in (-1, 3):
        bad = tensors | {"step0.pairs": np.where(tensors["step0.pairs"] == 0, wrong, 1)}
        with pytest.raises(ModelFileError, match="not there"):
            from_bytes(seal(spell(document), bad))
    assert json.loads(text)["steps"] == [{"include_input": True, "name": "PairProducts"}]
