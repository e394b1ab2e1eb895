"""The svmlight parser reads what scikit-learn's does, rounds correctly, names what it cannot."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

import linsep
from linsep.data.svmlight import parser as svmlight
from linsep.errors import DataError

rows = st.lists(
    st.tuples(
        st.integers(-3, 3),
        st.dictionaries(st.integers(1, 400), st.floats(-1e300, 1e300), max_size=6),
        st.sampled_from(["", " # a comment with 1:2", "#x", "  ", "\t"]),
    ),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(pairs for _, pairs, _ in rows))


@given(
    rows,
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.sampled_from([" ", "  ", "\t"]),
    st.booleans(),
)
def test_valid_files_are_read_as_scikit_learn_reads_them(rows, newline, space, closed):
    lines = [
        space.join([str(label), *(f"{i}:{v!r}" for i, v in sorted(pairs.items()))]) + tail
        for label, pairs, tail in rows
    ]
    text = newline.join(lines) + (newline if closed else "")
    part = svmlight.parse_piece(text.encode())
    X, y = load_svmlight_file(io.BytesIO(text.replace("\r", "\n").encode()), zero_based=False)
    assert part.bad == []
    assert part.labels.tolist() == y.tolist()
    assert part.counts.tolist() == np.diff(X.indptr).tolist()
    assert (part.places - 1).tolist() == X.indices.tolist()
    assert part.values.tobytes() == X.data.tobytes()


def load(tmp_path, text, **more):
    path = tmp_path / "t.svm"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return linsep.read(path, format="svmlight", **more)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 1:1\n1 2:x\n", r"line 2, column 3: '2:x' has no finite number"),
        ("1 1:1\n\n# c\nspam 2:1\n", r"line 4, column 1: 'spam' is no label"),
        ("1 1:1\n1 3:1 2:1\n", r"line 2, column 7: '2:1' does not have a larger index"),
        ("1 1:1\n1 3:1 3:1\n", r"line 2, column 7: '3:1' does not have a larger index"),
        ("1 1:1\n1 -3:1\n", r"line 2, column 3: '-3:1' has no index"),
        ("1 1:1\n1 2147483647:1\n", r"line 2, column 3: .* has an index above"),
        ("1 1:1\n1 99999999999999999999:1\n", r"line 2, column 3: .* has an index above"),
        ("1 1: 2\n", r"line 1, column 3: '1:' has no finite number"),
        ("1 1:2 trailing\n", r"line 1, column 7: 'trailing' has no index"),
        ("1 1:2 7\n", r"line 1, column 7: '7' is no index:value pair"),
        ("1,2 1:2\n", r"line 1, column 1: '1,2' is no label"),
        ("1 1:nan\n", r"line 1, column 3: '1:nan' has no finite number"),
        ("1 1:1e400\n", r"line 1, column 5: '1e400' is beyond the largest float"),
        ("nan 1:1\n", r"line 1, column 1: 'nan' is no label"),
        ("1 1:0x1A\n", r"line 1, column 3: '1:0x1A' has no finite number"),
        ("1 1:1_0\n", r"line 1, column 3: '1:1_0' has no finite number"),
        ("1 1:1:1\n", r"line 1, column 3: '1:1:1' has no finite number"),
        ("1 1:1\n1 2:\n", r"line 2, column 3: '2:' has no finite number"),
        (b"1 1:1\n1 2:\xff\n", r"line 2, column 3"),
        (b"1 1:1\n\0\0\0\n", r"line 2, column 1"),
        ("1 qid:x 1:1\n", r"line 1, column 3: 'qid:x' has no finite number"),
        ("1\n2\n", "holds no index:value pair"),
        ("# nothing\n\n", "gave no row"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_bad_line_is_named_by_line_and_column(tmp_path, text, told):
    with pytest.raises(DataError, match=told):
        load(tmp_path, text).load()


@pytest.mark.parametrize("line", ["1 -1:1", "1 1: 2", "1,2", "a b c", "1 :2"])
@pytest.mark.parametrize("name", ["t.svm", "t.libsvm", "t.svmlight"])
def test_a_file_named_svmlight_is_never_taken_for_a_table(tmp_path, name, line):
    path = tmp_path / name
    path.write_text(f"{line}\n-1 2:1\n")
    with pytest.raises(DataError, match="line 1, column"):
        linsep.read(path).load()
    path.with_suffix(".txt").write_text("1 1:2\n-1 2:1\n")  # other names leave it to the lines
    assert linsep.read(path.with_suffix(".txt")).load()[0].shape == (2, 2)


def test_bad_lines_can_be_skipped_counted_and_listed(tmp_path):
    text = "1 1:1\nbad\n2 2:1e999\n3 2:1 1:1\n-1 2:0.5\n"
    skipped = load(tmp_path, text, bad_rows="skip")
    X, y = skipped.load()
    assert X.toarray().tolist() == [[1, 0], [0, 0.5]] and y.tolist() == [1, -1]
    assert skipped.skipped == 3
    listed = load(tmp_path, text, bad_rows=tmp_path / "bad.csv")
    listed.load()
    lines = (tmp_path / "bad.csv").read_text().splitlines()
    assert len(lines) == 4 and [line.split(",")[1] for line in lines[1:]] == ["2", "3", "4"]
    assert lines[1].endswith(",bad") and "t.svm" in lines[1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_where_counting_begins_is_settled_by_all_lines_not_piece_by_piece(
    tmp_path, monkeypatch, n_jobs
):
    text = "1 1:1 3:1\n" * 500 + "-1 0:1\n" + "1 2:1\n" * 500
    monkeypatch.setattr(svmlight, "PIECE", 100)
    chunks = load(tmp_path, text, n_jobs=n_jobs)
    X, _ = chunks.load()
    assert X.shape == (1001, 4) and chunks.encoding.base == 0
    assert X[[0]].toarray().tolist() == [[0, 1, 0, 1]]
    with pytest.raises(DataError, match="has the index 0, but features were said to count from 1"):
        load(tmp_path, text, base=1).load()
    assert load(tmp_path, "1 1:1 3:1\n").load()[0].shape == (1, 3)
    assert load(tmp_path, "1 1:1 3:1\n", base=0).load()[0].shape == (1, 4)


def test_marks_query_ids_and_a_missing_last_newline_are_no_obstacle(tmp_path):
    chunks = load(tmp_path, b"\xef\xbb\xbf+1 qid:7 1:1 # x\r\n-1 qid:8 2:.5")
    X, y = chunks.load()
    assert X.toarray().tolist() == [[1, 0], [0, 0.5]] and y.tolist() == [1, -1]
    assert "2 query ids" in chunks.notes[0]


def test_a_huge_index_costs_no_memory_for_what_is_not_there(tmp_path):
    X, _ = load(tmp_path, "1 2000000000:1\n-1 1:1\n").load()
    assert X.shape == (2, 2_000_000_000) and X.nnz == 2


def test_features_that_no_training_row_had_carry_no_weight(tmp_path):
    first = load(tmp_path, "1 1:1\n-1 2:1\n")
    encoding = first.encoding
    again = load(tmp_path, "1 1:3 9:7\n", like=encoding)
    X, y = next(iter(again))
    assert X.toarray().tolist() == [[3, 0]] and y.tolist() == [1]


def test_a_line_longer_than_a_piece_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight, "PIECE", 1000)
    line = " ".join(f"{i}:1" for i in range(1, 3001))
    X, _ = load(tmp_path, f"1 {line}\n-1 1:1\n").load()
    assert X.shape == (2, 3000) and X.nnz == 3001


@given(st.binary(max_size=80))
def test_any_bytes_are_rows_or_bad_lines_and_never_a_crash(content):
    part = svmlight.parse_piece(content + b"\n")
    assert part.counts.sum() == len(part.values) == len(part.places)
    assert np.isfinite(part.values).all() and np.isfinite(part.labels).all()


@given(st.text(alphabet="0123456789:. -+e#qid\n\r\t", max_size=60))
def test_text_that_is_almost_right_is_rows_or_bad_lines(text):
    part = svmlight.parse_piece(text.encode() + b"\n")
    assert part.counts.sum() == len(part.values) == len(part.places)
    assert np.isfinite(part.values).all()
    for bad in part.bad:
        assert 1 <= bad.line <= part.lines


PLACES = {
    "plain": b"1 1:2\n-1 3:4 5:6\n1 2:1\n" * 40,
    "no last newline": b"1 1:2\n-1 3:4 5:6\n1 2:1",
    "empty lines": b"\n\n1 1:2\n\n\n-1 3:4\n\n",
    "a long line": b"1 1:2\n1 " + b" ".join(b"%d:1" % k for k in range(1, 9000)) + b"\n-1 1:1\n",
    "carriage returns": b"1 1:2\r\n-1 3:4\r1 5:1\n",
    "a mark": b"\xef\xbb\xbf1 1:2\n-1 3:4\n",
    "bad lines": b"1 1:2\nx\n-1 3:4\n1 5:\n1 2:1e999\n1 1:1\n# said\n1 3:1 2:1\n",
}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000, 1 << 20])
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("text", PLACES)
def test_lines_are_the_same_wherever_threads_begin_to_read(tmp_path, text, jobs, size):
    content = PLACES[text]
    if size < 7 and len(content) > 10_000:
        size = 501
    path = tmp_path / "t.svm"
    path.write_bytes(content)
    whole = svmlight.parse_piece(content.removeprefix(b"\xef\xbb\xbf"))
    found = list(svmlight.parts(path, jobs, size))
    for name in ("labels", "counts", "places", "values"):
        joined = np.concatenate([getattr(part, name) for part in found])
        assert joined.tolist() == getattr(whole, name).tolist()
    assert [row for part in found for row in part.bad] == whole.bad
    assert sum(part.lines for part in found) == whole.lines
    assert max(part.most for part in found) == whole.most


@pytest.mark.parametrize("n", [1, 7, 8, 9, 4096, 1 << 16])
def test_rows_end_where_the_text_ends_whatever_a_thread_parsed_before(n):
    svmlight.parse_piece(b"1 1:123456789\n" * 2000)
    digits = "7" * n
    part = svmlight.parse_piece(f"1 1:{digits}".encode())
    assert part.values.tolist() == [float(digits)] if n < 309 else not len(part.values)
