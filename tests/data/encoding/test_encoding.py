"""An encoding is settled once, travels as plain JSON, and gives new rows the same features."""

import copy
import dataclasses
import json

import numpy as np
import pytest

from linsep.data.encoding.encoding import Encoding
from linsep.data.table.column import Column, Texts, bin_of
from linsep.data.table.target import Target, find_target
from linsep.errors import DataError, ParameterError

COLUMNS = [
    Column("age", mean=30.5),
    Column("color", "text", categories=("blue", "red")),
    Column("city", "hash", bins=4),
]
ENCODING = Encoding.of(COLUMNS, Target("delay", ">", 15.0))
TABLE = {
    "age": [1.0, np.nan, 3.0],
    "color": ["red", None, "green"],
    "city": Texts(np.array([0, -1, 0]), ["Paris"]),
}


def test_numbers_stay_texts_become_columns_and_gaps_are_filled():
    X = ENCODING.apply(TABLE)
    paris = 3 + bin_of("Paris", 4)
    expected = np.zeros((3, 7))
    expected[:, 0] = [1.0, 30.5, 3.0]
    expected[0, 2] = 1.0
    expected[[0, 2], paris] = 1.0
    np.testing.assert_array_equal(X, expected)


def test_many_categories_make_the_rows_sparse_and_equal_to_the_dense_ones():
    texts = [f"t{i}" for i in range(50)]
    encoding = Encoding.of([Column("x"), Column("t", "text", categories=tuple(texts))])
    rows = encoding.apply({"x": np.arange(4.0), "t": Texts(np.array([0, 49, -1, 7]), texts)})
    assert encoding.sparse and rows.has_canonical_format
    expected = np.zeros((4, 51))
    expected[:, 0] = np.arange(4.0)
    expected[[0, 1, 3], [1, 50, 8]] = 1.0
    np.testing.assert_array_equal(rows.toarray(), expected)


def test_a_document_makes_the_same_encoding_again():
    text = json.dumps(ENCODING.to_json())
    assert Encoding.from_json(json.loads(text)) == ENCODING
    plain = Encoding(n_features=5, base=1)
    assert Encoding.from_json(json.loads(json.dumps(plain.to_json()))) == plain
    assert plain.feature_names == ["1", "2", "3", "4", "5"]


def test_columns_that_are_not_used_keep_their_places():
    unused = ((0, "id"), (2, "note"), (5, "delay"))
    encoding = dataclasses.replace(ENCODING, unused=unused, decimal=",")
    document = json.loads(json.dumps(encoding.to_json()))
    assert document["version"] == 4 and Encoding.from_json(document) == encoding
    assert encoding.table == ["id", "age", "note", "color", "city", "delay"]
    assert ENCODING.table == ["age", "color", "city", "delay"]
    for wrong in (1, [1], [[0]], [["a", 0]], [[2, "a"], [1, "b"]], [[-1, "a"]], [[9, "a"]],
                  [[0, "age"]], [[0, "a"], [1, "a"]], [[True, "a"]]):  # fmt: skip
        with pytest.raises(DataError, match="unused"):
            Encoding.from_json({**document, "unused": wrong})
    for wrong in (None, "", ";", 1):
        with pytest.raises(DataError, match="decimal"):
            Encoding.from_json({**document, "decimal": wrong})


def test_feature_names_say_where_each_feature_comes_from():
    assert ENCODING.feature_names[:3] == ["age", "color=blue", "color=red"]


def places(document, way=()):
    """Every place in a document of dicts and lists."""
    yield way
    items = document.items() if isinstance(document, dict) else ()
    items = enumerate(document) if isinstance(document, list) else items
    for key, value in items:
        yield from places(value, (*way, key))


@pytest.mark.parametrize(
    "hostile", [-1, 2**63, True, None, "", [], {}, float("nan"), [[[]]]], ids=repr
)
def test_every_field_set_to_a_wrong_value_is_refused_or_harmless(hostile):
    for way in places(ENCODING.to_json()):
        document = copy.deepcopy(ENCODING.to_json())
        if not way:
            document = hostile
        else:
            inside = document
            for key in way[:-1]:
                inside = inside[key]
            inside[way[-1]] = hostile
        try:
            encoding = Encoding.from_json(document)
        except DataError:
            continue
        assert json.loads(json.dumps(encoding.to_json())) == document  # then it was a valid value


def test_unknown_and_missing_fields_are_refused():
    with pytest.raises(DataError, match="extra"):
        Encoding.from_json({**ENCODING.to_json(), "extra": 1})
    short = ENCODING.to_json()
    del short["header"]
    with pytest.raises(DataError, match="header"):
        Encoding.from_json(short)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(DataError, match="no column 'color'; there are age, city"):
        ENCODING.apply({k: v for k, v in TABLE.items() if k != "color"})
    with pytest.raises(DataError, match="'age' holds texts"):
        ENCODING.apply({**TABLE, "age": Texts(np.array([0]), ["old"])})


@pytest.mark.parametrize(
    "asked, target",
    [
        ("delay", Target("delay")),
        (0, Target("delay")),
        ("-1", Target("a > b")),
        (None, Target("a > b")),
        ("a > b", Target("a > b")),
        ("delay>15", Target("delay", ">", 15.0)),
        ("delay >= -1e3", Target("delay", ">=", -1000.0)),
        ("`a > b` != 2", Target("a > b", "!=", 2.0)),
        ('city = "15"', Target("city", "==", "15")),
        ("city == New York", Target("city", "==", "New York")),
        ("0 < 3", Target("delay", "<", 3.0)),
    ],
    ids=str,
)
def test_a_target_is_a_name_a_position_or_a_question(asked, target):
    assert find_target(asked, ["delay", "city", "a > b"]) == target


@pytest.mark.parametrize(
    "asked", ["nothing", "nothing > 3", "__import__('os')", "delay >", "> 3", 7, "9", "delay => 3"]
)
def test_a_target_that_is_no_column_is_refused(asked):
    with pytest.raises(ParameterError, match="target is"):
        find_target(asked, ["delay", "city"])


def test_a_question_about_texts_needs_a_text():
    with pytest.raises(DataError, match="put the value in quotes"):
        Target("city", "==", 3.0).answer(np.array(["a"]))
    assert Target("city", "!=", "a").answer(np.array(["a", "b"])).tolist() == [False, True]
