"""The layers of a model file, each by itself: what passes, and the sentence for what does not."""

import json
import math

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from test_hostile_files import resealed

import linsep
from linsep.errors import ModelFileError, ParameterError
from linsep.model.files import document as documents
from linsep.model.files import store
from linsep.model.files.container import LONGEST, MOST, ZEROS, parse, seal, spell, unseal
from linsep.model.files.values import DEEP, Unsaved, pack, pack_classes, unpack, unpack_classes

HEADER = {"__metadata__": {"linsep": "x", "sha256": ZEROS}}
NUMBERS = {"a": {"data_offsets": [0, 16], "dtype": "F64", "shape": [2]}}


def with_header(header, room=16, tail=b""):
    """A file of this header, its digest right, and zeros for its numbers."""
    text = header if isinstance(header, bytes) else spell(header).encode() + tail
    text += b" " * (-len(text) % 8)
    return resealed(len(text).to_bytes(8, "little") + text + bytes(room))


def test_a_file_without_numbers_is_its_document_and_ends_with_its_header():
    assert unseal(seal("x", {}), "f") == ("x", {})


@pytest.mark.parametrize("kind", ["<f8", "<f4", "<i8", "<i4", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (0, 2)])
def test_numbers_of_every_kind_and_shape_come_back_in_their_order(kind, shape):
    first = np.arange(math.prod(shape)).reshape(shape).astype(kind)
    second = np.asfortranarray(first[..., None] if first.ndim < 2 else first) + 1
    text, tensors = unseal(seal("é", {"b": second, "a": first}), "f")
    assert text == "é"
    assert list(tensors) == ["a", "b"]
    for name, array in (("a", first), ("b", second)):
        assert tensors[name].shape == array.shape
        assert tensors[name].dtype == array.dtype.newbyteorder("<")
        assert np.array_equal(tensors[name], array)
        assert tensors[name].flags.writeable and tensors[name].flags.c_contiguous


def test_text_is_spelled_in_one_way():
    assert spell({"b": [1.0, "é"], "a": None}) == '{"a":null,"b":[1.0,"\\u00e9"]}'
    with pytest.raises(ValueError, match="JSON compliant"):
        spell(math.nan)


def test_the_hand_made_files_of_these_tests_are_read():
    _, tensors = unseal(with_header(HEADER | NUMBERS), "f")
    assert tensors["a"].tolist() == [0.0, 0.0]


def put(**change):
    """The header with fields of its one tensor changed."""
    return HEADER | {"a": NUMBERS["a"] | change}


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"__metadata__": HEADER["__metadata__"] | {"more": ""}} | NUMBERS, "metadata are not"),
        ({"__metadata__": {"linsep": 1, "sha256": ZEROS}}, "begins with"),
        (put(more=1), "other fields than type, shape and offsets"),
        (HEADER | {"a": ["data_offsets", "dtype", "shape"]}, "other fields"),
        (put(dtype="F16"), "has the type 'F16'"),
        (put(dtype=["F64"]), "has the type"),
        (put(shape=2), "has shape 2"),
        (put(shape=[2, 1, 1]), "has shape"),
        (put(shape=[1 << 62]), "has shape"),
        (put(shape=[-2]), "has shape"),
        (put(shape=[True, 2]), "has shape"),
        (put(data_offsets=[0]), "offsets"),
        (put(data_offsets=[0, 16, 16]), "and offsets"),
        (put(data_offsets=[0, 8]), "lies at .0, 8., not at 0"),
        (put(data_offsets=[8, 24]), "lies at"),
        (put(shape=[3], data_offsets=[0, 24]), "lies at"),
        (put(shape=[1], data_offsets=[0, 8]), "take 8 bytes, but 16 are there"),
        (HEADER, "take 0 bytes, but 16 are there"),
    ],
)  # fmt: skip
def test_headers_that_lie_are_refused_in_the_sentence_for_it(header, said):
    with pytest.raises(ModelFileError, match=said):
        unseal(with_header(header), "f")


def test_a_tensor_of_two_dimensions_is_read_and_a_size_of_nothing():
    _, tensors = unseal(with_header(put(shape=[1, 2])), "f")
    assert tensors["a"].shape == (1, 2)
    _, tensors = unseal(with_header(put(shape=[0], data_offsets=[0, 0]), room=0), "f")
    assert tensors["a"].shape == (0,)


def test_files_are_refused_in_the_order_of_their_layers():
    whole = seal("x", {})
    for content, said in (
        (b"", "has 0 bytes, too few"),
        (whole[:15], "has 15 bytes, too few"),
        (whole[:16], "announce a header"),
        ((8).to_bytes(8, "little") + b'{"__meta', "begins with"),
        (whole[:-1] + b"x", "SHA-256"),
        (whole[:-1], "announce a header"),
        (_without_digest(), "has no digest"),
        (with_header(HEADER, 0, tail=b" " * 8), "spelling"),
        (with_header(spell(HEADER).encode().replace(b'"x"', b'"x" '), 0), "spelling"),
        (with_header(spell(HEADER).encode()[:-1], 0), "not valid JSON"),
    ):  # fmt: skip
        with pytest.raises(ModelFileError, match=said):
            unseal(content, "f")


def _without_digest():
    text = spell(HEADER).encode().replace(b"sha256", b"sha257")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def test_a_digest_outside_the_header_is_none():
    content = _without_digest() + b'"sha256":"' + ZEROS.encode()
    with pytest.raises(ModelFileError, match="no digest"):
        unseal(content, "f")


def test_headers_as_large_as_may_be_are_read_and_no_larger():
    text = '{"__metadata__":{"linsep":"%s","sha256":"' + ZEROS + '"}}'
    room = LONGEST - len(text) + 2
    assert len(unseal(seal("a" * (room // 8 * 8), {}), "f")[0]) == room // 8 * 8
    with pytest.raises(ModelFileError, match="more than"):
        seal("a" * (room + 8), {})
    assert len(unseal(seal("[" * (MOST - 2), {}), "f")[0]) == MOST - 2
    with pytest.raises(ModelFileError, match=f"{MOST + 1} opening brackets"):
        seal("[" * (MOST - 1), {})


@pytest.mark.parametrize(
    ("text", "said"),
    [('{"a":1,"a":1}', "twice"), ("[NaN]", "NaN is no JSON number"), ("[-Infinity]", "-Infinity"),
     ("[", "valid JSON"), ("[" * 100_000, "valid JSON")],
)  # fmt: skip
def test_text_that_is_no_plain_json_is_refused(text, said):
    with pytest.raises(ModelFileError, match=said):
        parse(text, "f")


VALUES = [
    None, True, False, "", "é", 0, -1, 2**53, -(2**53), 2**53 + 1, -(2**53) - 1, 10**30, 0.5, -0.0,
    math.inf, -math.inf, b"", b"\0\xff", [], [1, [2.5]], (), (1, ("a",)), {},
    {1: "a", b"k": [None]},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_with_its_type(value):
    again = unpack(json.loads(spell(pack(value))))
    assert again == value and repr(again) == repr(value)


def test_numbers_of_numpy_and_what_has_no_form_come_back_as_what_they_can_be():
    assert math.isnan(unpack(pack(math.nan)))
    assert unpack(pack(np.float32(0.5))) == 0.5
    assert unpack(pack(np.int64(2**60))) == 2**60
    array = unpack(pack(np.array([[1.5, 2.0]])))
    assert array.tolist() == [[1.5, 2.0]] and array.dtype == np.float64
    assert pack(np.array([1, 2])) == {"array": {"list": [1, 2]}}
    assert pack(np.array(["a"])) == {"unsaved": "ndarray"}
    assert pack((1,)) == {"tuple": [1]} and pack([1]) == {"list": [1]}
    gone = unpack(pack(object()))
    assert type(gone) is Unsaved and gone == "object"
    assert pack(2**53) == 2**53 and pack(2**53 + 1) == {"int": "9007199254740993"}


def nested(deep):
    value = {"list": []}
    for _ in range(deep - 1):
        value = {"list": [value]}
    return value


def test_lists_lie_within_lists_so_often_and_no_more():
    unpack(nested(DEEP))
    with pytest.raises(ValueError, match="no value of a known kind"):
        unpack(nested(DEEP + 1))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2**53 + 1, "too large for a plain"), (-(2**53) - 1, "too large"), ([], "known kind"),
        ({}, "known kind"), ({"int": "1", "float": "inf"}, "known kind"), ({"set": []}, "'set'"),
        ({"int": 1}, "as a text"), ({"int": "1" * 4001}, "as a text"), ({"int": "1"}, "not how"),
        ({"int": "9007199254740992"}, "not how"), ({"int": "+9007199254740993"}, "not how"),
        ({"int": "x"}, "invalid literal"), ({"float": "1"}, "only inf"), ({"float": 1}, "only inf"),
        ({"bytes": 1}, "bytes must"), ({"bytes": "€"}, "latin"), ({"list": 1}, "as a list"),
        ({"tuple": "ab"}, "as a list"), ({"dict": {}}, "as pairs"), ({"dict": [[1]]}, "as pairs"),
        ({"dict": ["ab"]}, "as pairs"), ({"dict": [[1, 2, 3]]}, "as pairs"),
        ({"dict": [[None, 1]]}, "plain value"), ({"array": {"list": ["a"]}}, "hold numbers"),
        ({"array": None}, "hold numbers"), ({"unsaved": 1}, "must be a text"),
    ],
)  # fmt: skip
def test_what_pack_does_not_write_is_no_value(value, said):
    with pytest.raises(ValueError, match=said):
        unpack(value)


def test_a_text_of_four_thousand_figures_is_a_number():
    assert unpack({"int": "1" * 4000}) == int("1" * 4000)


LABELS = [
    np.array(["a", "é"]), np.array([b"a", b"b"]), np.array([False, True]),
    np.array([1, 2**60]), np.array([1, 2], np.uint8), np.array([0.5, 1.5]),
    np.array([0.5, 1.5], np.float32), np.array(["a", 1], object), np.array([2, 1], object),
]  # fmt: skip


@pytest.mark.parametrize("classes", LABELS, ids=repr)
def test_classes_come_back(classes):
    again = unpack_classes(json.loads(spell(pack_classes(classes))))
    assert again.dtype.kind == classes.dtype.kind and again.tolist() == classes.tolist()
    assert classes.dtype.kind in "OUS" or again.dtype == classes.dtype


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("int64", [1], "fewer than two"), ("int64", (1, 2), "fewer than two"),
        ("int64", "ab", "fewer than two"), ("complex64", [1, 2], "have the type"),
        (["int64"], [1, 2], "have the type"), ("int64", [1, 2.0], "not of the type int64"),
        ("int64", [False, True], "not of the type int64"), ("float64", [1, 2], "not of the type"),
        ("bool", [0, 1], "not of the type bool"), ("str", [1, 2], "not of the type str"),
        ("bytes", ["a", "b"], "not of the type bytes"), ("int64", [2, 1], "not sorted"),
        ("float64", [0.5, {"float": "inf"}], "NaN or infinite"), ("int64", [1, 1], "occurs twice"),
        ("object", ["a", "a"], "occurs twice"), ("int8", [1, 300], "does not fit into int8"),
        ("uint8", [-1, 1], "does not fit into uint8"), ("float32", [0.1, 0.2], "does not fit"),
        ("object", [0.5, {"float": "nan"}], "NaN or infinite"),
    ],
)  # fmt: skip
def test_classes_that_are_none_are_refused(kind, values, said):
    with pytest.raises(ValueError, match=said):
        unpack_classes({"type": kind, "values": values})


@pytest.mark.parametrize("classes", [None, [], {"type": "int64"}, {"type": "str", "values": ["a",
                                     "b"], "more": 1}])  # fmt: skip
def test_classes_are_a_type_and_values(classes):
    with pytest.raises(ValueError, match="a type and values"):
        unpack_classes(classes)


def test_labels_without_a_form_are_refused_when_saved():
    with pytest.raises(ParameterError, match="has the type complex128"):
        pack_classes(np.array([1j, 2j]))
    with pytest.raises(ParameterError, match="is a tuple"):
        pack_classes(np.array([None, (1, 2)], object)[1:])


def described(**change):
    """A document of a perceptron of two columns, and its tensors."""
    model = store.as_model(linsep.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]))
    answers = store.selftest.answers(model.form, model.n_features_in_)
    document = json.loads(spell(documents.write(model, answers)))
    return document | change, model.form.tensors()


def classes_of(values):
    return {"type": "int64", "values": values}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 4}, "it has format 4"), ({"format": 0}, "it has format 0"),
        ({"format": True}, "it has format True"), ({"format": 2.0}, "it has format 2"),
        ({"format": "2"}, "it has format 2"), ({"more": 1}, "'more' is missing or unknown"),
        ({"format": 3}, "'steps' is missing"), ({"learner": "SVC"}, "learner is 'SVC'"),
        ({"learner": None}, "learner is 'None'"), ({"status": "done"}, "status is 'done'"),
        ({"n_features": 0}, "n_features is 0"), ({"n_features": 1.0}, "n_features is 1.0"),
        ({"n_features": True}, "n_features is True"), ({"n_features": 1 << 53}, "n_features is"),
        ({"classes": None}, "Perceptron without classes"),
        ({"learner": "LinearRegression"}, "LinearRegression with classes"),
        ({"rows_kept": 1}, "to hold 1 training rows"), ({"rows_kept": -1}, "rows_kept is -1"),
        ({"feature_names": ["a"]}, "are not 2 texts"), ({"feature_names": "ab"}, "not 2 texts"),
        ({"feature_names": ["a", 1]}, "not 2 texts"), ({"feature_names": []}, "not 2 texts"),
        ({"parameters": []}, "at most 100"),
        ({"parameters": {f"p{k}": 1 for k in range(101)}}, "at most 100"),
        ({"parameters": {"a b": 1}}, "no name"), ({"parameters": {"a" * 101: 1}}, "no name"),
        ({"results": {}}, "results are other"), ({"results": None}, "results are other"),
        ({"certificate": 1}, "certificate is '1'"), ({"scaled": "max"}, "scaled is 'max'"),
        ({"scaled": 1}, "scaled is '1'"), ({"linsep": 1}, "linsep is '1'"),
        ({"data": {}}, "a number of rows and digests"), ({"data": 1}, "a number of rows"),
        ({"self_test": []}, "has not 5 rows"), ({"self_test": 1}, "has not 5 rows"),
        ({"self_test": [[0.0]] * 6}, "has not 5 rows"), ({"self_test": [[0]] * 5}, "not 1 scores"),
        ({"self_test": [[0.0, 0.0]] * 5}, "not 1 scores"), ({"self_test": [0.0] * 5}, "1 scores"),
    ],
)  # fmt: skip
def test_a_document_that_does_not_add_up_is_refused_in_a_sentence(change, said):
    with pytest.raises(ValueError, match=said):
        documents.read(*described(**change))


RESULT = {"gap": None, "mistakes": None, "n_iter": None, "objective": None}


@pytest.mark.parametrize("name", RESULT)
@pytest.mark.parametrize("value", [-1, -0.5, 1 << 53, math.nan, "1", True])
def test_results_are_numbers_from_zero_on(name, value):
    with pytest.raises(ValueError, match=f"the result {name} is"):
        documents.read(*described(results=RESULT | {name: value}))


def test_passes_are_whole_and_other_results_may_be_anything_from_zero_on():
    with pytest.raises(ValueError, match=r"n_iter is 1\.0"):
        documents.read(*described(results=RESULT | {"n_iter": 1.0}))
    for value in (0, 0.0, (1 << 53) - 1, 1e300):
        given = RESULT | {"gap": value, "mistakes": value, "objective": value}
        model, _ = documents.read(*described(results=given))
        assert model.results == given
    assert documents.read(*described(results=RESULT | {"n_iter": 0}))[0].results["n_iter"] == 0


DATA = {"rows": 2, "columns": None, "sample": None, "sha256": None}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": 0}, "training rows is 0"), ({"rows": None}, "training rows"),
        ({"columns": 0}, "columns is 0"), ({"sample": "0" * 31}, "not 32 hexadecimal"),
        ({"sample": "G" * 32}, "not 32"), ({"sample": 1}, "not 32"), ({"sha256": "0" * 63}, "64"),
        ({"sha256": "A" * 64}, "not 64"), ({"sha256": ["0"] * 64}, "not 64"),
        ({"more": 1}, "a number of rows and digests"),
    ],
)  # fmt: skip
def test_data_are_numbers_from_one_on_and_digests(change, said):
    with pytest.raises(ValueError, match=said):
        documents.read(*described(data=DATA | change))


def test_what_is_known_of_the_data_comes_back_and_an_old_format_knows_less():
    whole = DATA | {"columns": 1, "rows": 1, "sample": "0f" * 16, "sha256": "ab" * 32}
    assert documents.read(*described(data=whole))[0].data == whole
    old = {"rows": 1, "sha256": "ab" * 32}
    assert documents.read(*described(format=1, data=old))[0].data == DATA | old
    with pytest.raises(ValueError, match="a number of rows"):
        documents.read(*described(format=1, data=DATA))
    with pytest.raises(ValueError, match="a number of rows"):
        documents.read(*described(data=old))


def test_the_fields_of_a_document_become_those_of_the_model():
    answers = described()[0]["self_test"]
    model, expected = documents.read(*described(feature_names=["a", "b"], certificate="proof"))
    assert expected == answers
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.feature_names_in_.dtype == object
    assert (model.learner, model.n_features_in_, model.certificate) == ("Perceptron", 2, "proof")
    assert (model.scaled, model.version) == (None, linsep.__version__)
    assert model.classes_.tolist() == [0, 1] and model.status_ is linsep.Status.separated
    assert model.parameters | {"callback": None} == linsep.Perceptron().get_params()
    assert documents.read(*described(self_test=None))[1] is None
    assert documents.read(*described(parameters={f"p{k}": 1 for k in range(100)}))[0].parameters
    assert documents.read(*described(parameters={"a" * 100: 1}))[0].parameters
    written = documents.write(model, answers)
    assert written["format"] == 2 and written["linsep"] == linsep.__version__
    assert written["feature_names"] == ["a", "b"] and written["rows_kept"] == 0


def test_a_document_in_another_spelling_or_that_is_no_object_is_refused():
    document, tensors = described()
    with pytest.raises(ModelFileError, match="not in the spelling"):
        store.from_bytes(seal(json.dumps(document), tensors))
    with pytest.raises(ModelFileError, match="not an object"):
        store.from_bytes(seal("[]", tensors))
    with pytest.raises(ModelFileError, match="self-test"):
        store.from_bytes(seal(spell(document | {"self_test": [[9.0]] * 5}), tensors))


def fitted():
    return linsep.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_what_a_learner_noted_and_what_is_given_are_kept():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    learner = fitted()
    noted = store.as_model(learner).data
    assert noted["rows"] == 2 and noted["columns"] == 2 and noted["sha256"] is None
    given = store.as_model(learner, (X, y)).data
    assert given == noted | store.fingerprint(X, y)
    assert store.as_model(learner, [X, y]).data["columns"] == 2
    for data in (X, (X,), (X, y, y), "ab", ([[0.0]], y)):
        with pytest.raises(ParameterError, match=r"give \(X, y\)"):
            store.as_model(learner, data)


def test_results_are_single_finite_numbers_or_none():
    learner = fitted()
    learner.n_iter_, learner.gap_, learner.objective_ = np.array([3, 7]), math.inf, None
    results = store.as_model(learner).results
    assert results["n_iter"] == 7 and type(results["n_iter"]) is int
    assert results["gap"] is None and results["objective"] is None
    assert results["mistakes"] == learner.mistakes_


def test_learners_of_others_unfitted_ones_and_functions_are_refused():
    class Perceptron:
        status_ = 1

    with pytest.raises(ParameterError, match=r"model is a Perceptron; linsep\.save takes"):
        store.as_model(Perceptron())
    with pytest.raises(ParameterError, match="model is a int"):
        store.as_model(1)
    with pytest.raises(ParameterError, match="This Perceptron is not fitted"):
        store.as_model(linsep.Perceptron())
    with pytest.raises(ParameterError, match="model is a Scaled"):
        store.as_model(linsep.Scaled(linsep.Perceptron()))
    scaled = linsep.Scaled(linsep.Perceptron(), how="min-max").fit([[0.0], [2.0]], [0, 1])
    assert store.as_model(scaled).learner == "Perceptron"
    assert store.as_model(scaled).scaled == "min-max"


def test_steps_before_a_learner_are_kept():
    pipeline = make_pipeline(linsep.PairProducts(), linsep.Perceptron())
    model = store.as_model(pipeline.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]))
    written = documents.write(model, None)
    assert (model.learner, written["format"], len(written["steps"])) == ("Perceptron", 3, 1)


def test_code_among_the_parameters_is_left_out():
    learner = linsep.Perceptron(schedule=lambda done: 1.0).fit([[0.0], [1.0]], [0, 1])
    assert "schedule" not in store.as_model(learner).parameters
    plain = linsep.Perceptron(schedule="1/t").fit([[0.0], [1.0]], [0, 1])
    assert store.as_model(plain).parameters["schedule"] == "1/t"


def test_a_folder_or_a_device_is_no_model_file(tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot be read: .*directory"):
        linsep.load(tmp_path)
    with pytest.raises(ModelFileError, match="not a regular file"):
        linsep.load("/dev/null")
