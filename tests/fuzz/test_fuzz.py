"""A short part of `make fuzz`, and what it has found."""

import gc
import hashlib
import io
import json
from dataclasses import replace

import numpy as np
import pytest

import linsep
from fuzz import native
from fuzz.__main__ import run
from fuzz.targets import ROWS, TARGETS, loaded
from linsep.errors import DataError
from linsep.proofs.separability.certificate import Separability, _digest
from linsep.train.run.checkpoint import MAGIC, unpack
from linsep.train.run.trace import Trace
from linsep.train.run.trace_file import read_into


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "address"])
def test_readers_answer_what_nobody_meant_in_their_own_words(name):
    counts, found = run(name, seconds=60, seed=1, most=60)
    assert found == []
    assert counts["inputs"] == 60


@pytest.mark.skipif(native.COMPILER is None, reason="no compiler here")
def test_the_parser_of_lines_reads_as_a_plain_one_does_under_sanitizers():
    counts, found = native.run(seconds=60, seed=1, most=10_000)
    assert found == []
    assert counts["inputs"] == 10_000


def test_a_number_in_a_recording_that_is_beyond_floats_is_refused():
    learner = linsep.Perceptron(trace=True).fit(ROWS, [0, 0, 1, 1, 0, 1])
    lines = [json.loads(line) for line in learner.trace_.lines()]
    update = next(line for line in lines if isinstance(line.get("w"), list))
    update["w"] = np.full(np.shape(update["w"]), 0).tolist()
    update["w"][0] = 10**400
    with pytest.raises(DataError, match="finite numbers"):
        read_into(Trace("", {}, []), map(json.dumps, lines), "run")


def test_a_loss_in_a_recording_that_is_beyond_floats_is_refused():
    learner = linsep.Perceptron(trace=True).fit(ROWS, [0, 0, 1, 1, 0, 1])
    lines = [json.loads(line) for line in learner.trace_.lines()]
    next(line for line in lines if "loss" in line)["loss"] = 10**400
    with pytest.raises(DataError, match="a number was wanted"):
        read_into(Trace("", {}, []), map(json.dumps, lines), "run")


@pytest.mark.parametrize("classes", [2, [0, True]])
def test_a_certificate_whose_classes_are_no_list_of_one_kind_cannot_be_read(classes):
    body = json.loads(linsep.separability(ROWS, [0, 0, 1, 1, 0, 1]).to_json())
    body = {name: value for name, value in body.items() if name != "digest"}
    body |= {"classes": classes}
    with pytest.raises(DataError, match="not a list"):
        Separability.from_json(json.dumps({**body, "digest": _digest(body)}))


@pytest.mark.parametrize("change", [{"margin_upper": []}, {"margin": ["0x1p-1"]}, {"margin": None},
                                    {"bound_rows": [[0, 1], [2, 3]]}])  # fmt: skip
def test_a_certificate_whose_numbers_are_lists_cannot_be_read(change):
    body = json.loads(linsep.separability(ROWS, [0, 0, 1, 1, 0, 1]).to_json())
    body = {name: value for name, value in body.items() if name != "digest"} | change
    with pytest.raises(DataError, match="cannot be read"):
        Separability.from_json(json.dumps({**body, "digest": _digest(body)}))


def test_a_query_of_svmlight_may_end_in_a_comment():
    X, y, _ = loaded(b"1 qid:3# first\n-1 qid:3 1:2#second\n", format="svmlight")
    assert y.tolist() == [1, -1]
    assert X.toarray().tolist() == [[0.0], [2.0]]


@pytest.mark.parametrize("data", [b"a\n1\n", b"a,b\n1,x\n2,y\n"])
def test_what_is_kept_of_a_buffer_is_gone_when_it_is_refused_or_no_longer_needed(
    tmp_path, monkeypatch, data
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    loaded(data, format="csv")
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("header", ["[]", "1", '"x"', "{}", '{"arrays": 1}', '{"arrays": [{}]}',
                                    '{"arrays": [{"dtype": "x", "bytes": 8, "shape": [1]}]}',
                                    '{"arrays": [{"dtype": ",f8", "bytes": 8, "shape": [1]}]}',
                                    "[" * 100_000])  # fmt: skip
def test_a_checkpoint_with_a_digest_and_no_sense_is_damaged_and_nothing_else(header):
    rest = len(header).to_bytes(8, "little") + header.encode() + bytes(8)
    with pytest.raises(ValueError):
        unpack(MAGIC + hashlib.sha256(rest).digest() + rest)


@pytest.mark.parametrize("key", ["'fortran_order'", "b'fortran_order'"])
def test_an_npy_file_whose_header_does_not_end_or_has_other_keys_is_refused(key):
    end = "(2, 2), }" if key.startswith("b") else "(2, 2, "
    text = f"{{'descr': '<f8', {key}: False, 'shape': {end}\n".encode()
    said = loaded(b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text + bytes(32))
    assert "cannot be read as arrays of numbers" in said


def test_a_damaged_page_of_parquet_is_an_error_of_linsep():
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"t": ["a", "b", "a", "c"], "y": [0, 1, 0, 1]}), file)
    whole = file.getvalue()
    said = [loaded(whole[:i] + b"\xff\xff" + whole[i + 2 :]) for i in range(4, 120, 2)]
    assert any(isinstance(one, str) and "cannot be read" in one for one in said)


def test_a_path_of_parquet_that_is_no_utf8_is_an_error_of_linsep():
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"aaaa": [0.5, 1.5], "y": [0, 1]}), file)
    whole = file.getvalue()
    places = [i for i in range(len(whole)) if whole[i : i + 4] == b"aaaa"]
    assert len(places) == 2
    for i in places:  # in the schema and in each chunk of the column
        assert isinstance(loaded(whole[:i] + b"aa\xc7a" + whole[i + 4 :], format="parquet"), str)


@pytest.mark.parametrize("text", [b'"\r\x0b\x0b', b'" \r\x0b'])
def test_a_table_of_a_quote_and_blanks_is_empty(text):
    assert "is empty" in loaded(text, format="csv")


@pytest.mark.parametrize("coded", [False, True])
def test_texts_of_parquet_that_are_no_utf8_are_an_error_of_linsep(coded):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file, texts = io.BytesIO(), pa.array(["aaaa", "bbbb", "aaaa"])
    texts = texts.dictionary_encode() if coded else texts
    pq.write_table(pa.table({"t": texts, "y": [0, 1, 0]}), file, write_statistics=False)
    damaged = file.getvalue().replace(b"aaaa", b"aa\xff\xf1")
    assert "cannot be read" in loaded(damaged, format="parquet")


def test_sizes_of_texts_said_of_numbers_do_not_end_the_process():
    """pyarrow aborts where it is asked about such a column; reading it raises."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array([1, 2, 3], pa.int64()), "y": ["p", "q", "p"]}), file)
    whole = file.getvalue()
    places = [i for i in range(len(whole)) if whole[i : i + 2] == b"\x15\x0c"]  # BYTE_ARRAY
    said = [loaded(whole[:i] + b"\x15\x00" + whole[i + 2 :]) for i in places]
    assert any(isinstance(one, str) and "cannot be read" in one for one in said)


def test_a_margin_without_an_end_is_no_margin():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    found = linsep.separability(X, y)
    assert not replace(found, margin=np.inf).verify(X, y)
    bound = linsep.mistake_bound(X, y)
    assert not replace(bound, radius=np.inf).verify(X, y)
