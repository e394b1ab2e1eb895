"""More of what is found in real files: each is read right, or refused by file, line and column."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linsep
from linsep.errors import DataError

HEAD = "a,b,y\n"


def read(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    chunks = linsep.read(path)
    X, y = chunks.load()
    X = X.toarray() if hasattr(X, "toarray") else X
    return chunks.encoding.feature_names, X.tolist(), y.tolist()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a,b,y\ncm,kg,-\n1,2,p\n3,4,q\n5,6,p\n", r"line 2, column 'a': 'cm' is not a finite"),
        (HEAD + "1,2,p\n3,4,q\n5,6,p\nSource: us\n", r"line 5: the row has 1 cells where 3"),
        (HEAD + "1,2,p\n3;4;q\n5,6,p\n", r"line 3: the row has 1 cells where 3"),
        ('a,t,y\n1,"x "the" z",p\n2,"b",q\n', r"line 2: ',' expected after '\"'.*not doubled"),
        ('a,t,y\n1,"x \\"the\\" z",p\n2,"b",q\n', r"line 2: ',' expected after '\"'"),
        ('a,t,y\n1,"x ""y"" z",p\n2,"b "c" d",q\n', r"line 3: ',' expected after '\"'"),
        (b"a,b,y\n1,2,p\n3,\x004,q\n5,6,p\n", r"line 3, column 'b': '\\x004' is not a finite"),
        (HEAD + "1,2,p\n3,5‰,q\n5,6,p\n", r"line 3, column 'b': '5‰' is not a finite"),
        (HEAD + '1,2,p\n3,"1,23",q\n5,6,p\n', r"line 3, column 'b': '1,23' is not a finite"),
        (HEAD + "1,2,p\n3,1 23,q\n5,6,p\n", r"line 3, column 'b': '1 23' is not a finite"),
        (
            b"a,b,y\n" + b"1,2,p\n3,4,q\n" * 100_000 + b"1,\xff,q\n",
            r"line 200002, column 'b': .* is not UTF-8 text; pass encoding='latin-1'",
        ),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_what_cannot_be_meant_is_refused_with_the_place(tmp_path, content, told):
    with pytest.raises(DataError, match=rf"t\.csv, {told}"):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "names", "rows", "labels"),
    [
        ("a,a,y\n1,2,p\n3,4,q\n", ["a", "a.2"], [[1, 2], [3, 4]], ["p", "q"]),
        (",b,y\n1,2,p\n3,4,q\n", ["0", "b"], [[1, 2], [3, 4]], ["p", "q"]),
        ("n,y\n١٢٣,p\n4,q\n", ["n"], [[123], [4]], ["p", "q"]),
        ("b,y\nTRUE,p\nFALSE,q\n", ["b"], [[1], [0]], ["p", "q"]),
        ("b,y\n2020-01-02,p\n2020-01-01,q\n", ["b"], [[18263], [18262]], ["p", "q"]),
        ("b,y\n2,p\n5%,q\n", ["b"], [[2], [5]], ["p", "q"]),
        ('b,y\n2,p\n"$1,234.5",q\n', ["b"], [[2], [1234.5]], ["p", "q"]),
        ("b,y\n2,p\n1 234,q\n", ["b"], [[2], [1234]], ["p", "q"]),
        ("b,y\n2,p\n(300),q\n", ["b"], [[2], [-300]], ["p", "q"]),
        ("c,y\nNA,p\nDE,q\n", ["c=DE", "c=NA"], [[0, 1], [1, 0]], ["p", "q"]),
        ("b,y\n0012,p\n3,q\n", ["b"], [[12], [3]], ["p", "q"]),
        ("b,y\n1,p\n2,P\n3,p \n", ["b"], [[1], [2], [3]], ["p", "P", "p"]),
        ('t,y\n"5"" pipe",p\n"a, b",q\n', ["t=5\" pipe", "t=a, b"], [[1, 0], [0, 1]], ["p", "q"]),
        ('n,t,y\n1,5" pipe,p\n2,ab,q\n', ["n", "t=5\" pipe", "t=ab"], [[1, 1, 0], [2, 0, 1]],
         ["p", "q"]),
    ],
    ids=lambda v: repr(v)[:30],
)  # fmt: skip
def test_what_looks_odd_but_is_right_is_read(tmp_path, content, names, rows, labels):
    assert read(tmp_path, content) == (names, rows, labels)


def test_minus_zero_keeps_its_sign(tmp_path):
    _, rows, _ = read(tmp_path, HEAD + "1,-0,p\n3,-0.0,q\n5,0,p\n")
    assert np.signbit(np.array(rows)[:, 1]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("content", "rows", "labels"),
    [
        (b"\xef\xbb\xbf1 1:1\n-1 2:1\n", [[1, 0], [0, 1]], [1, -1]),
        (b"1 1:1\r-1 2:1\r", [[1, 0], [0, 1]], [1, -1]),
        (b"1\n-1 2:1\n1 1:2\n", [[0, 0], [0, 1], [2, 0]], [1, -1, 1]),
        (b"1 1:1 # a:b 3:4\n-1 2:1\n", [[1, 0], [0, 1]], [1, -1]),
        (b"+1 1:1\n-1 2:1", [[1, 0], [0, 1]], [1, -1]),
    ],
    ids=repr,
)
def test_svmlight_marks_ends_empty_rows_and_comments(tmp_path, content, rows, labels):
    assert read(tmp_path, content, "t.svm")[1:] == (rows, labels)


Y = [0, 1, 0]


def table(folder, columns, **how):
    path = folder / "t.parquet"
    parquet.write_table(pa.table(columns), path, **how)
    X, y = linsep.read(path, target="y").load()
    return X.tolist(), y.tolist()


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (pa.array(np.array([1, 2, 3], np.float16)), [[1], [2], [3]]),
        (pa.array([1, 2, 3], pa.date32()), [[1], [2], [3]]),
        (pa.array([1.0, float("nan"), None]), [[1], [1], [1]]),
        (pa.array([1, 2, 3], pa.decimal128(10, 2)), [[1], [2], [3]]),
        (pa.array(["x", "y", "x"], pa.large_string()), [[1, 0], [0, 1], [1, 0]]),
        (pa.array(["x", "y", "x"], pa.string_view()), [[1, 0], [0, 1], [1, 0]]),
        (pa.array(["x", None, "y"]), [[1, 0], [0, 0], [0, 1]]),
    ],
    ids=lambda v: str(getattr(v, "type", "")),
)
def test_parquet_columns_of_rare_types_are_read(tmp_path, cells, rows):
    assert table(tmp_path, {"a": cells, "y": Y}) == (rows, Y)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2, 3], pa.duration("s")),
        pa.array([[1.0, 2], [3, 4], [5, 6]], pa.list_(pa.float64(), 2)),
        pa.array([[("k", 1)], [], []], pa.map_(pa.string(), pa.int64())),
        pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
        pa.array([b"0" * 16] * 3, pa.uuid()),
    ],
    ids=lambda v: str(v.type),
)
def test_parquet_columns_without_one_number_or_text_are_named(tmp_path, cells):
    with pytest.raises(DataError, match=r"column 'a' holds values of the type .*Drop it"):
        table(tmp_path, {"a": cells, "y": Y})


def test_parquet_in_thousands_of_row_groups_or_in_none(tmp_path):
    values, labels = np.arange(3000.0), np.arange(3000) % 2
    X, y = table(tmp_path, {"a": values, "y": labels}, row_group_size=1)
    assert values[:, None].tolist() == X and y == labels.tolist()
    path = tmp_path / "none.parquet"
    parquet.ParquetWriter(path, pa.schema([("a", pa.float64()), ("y", pa.int64())])).close()
    with pytest.raises(DataError, match=r"none\.parquet gave no row"):
        linsep.read(path).load()


def test_old_times_of_parquet_are_days(tmp_path):
    times = pa.array([0, 86_400_000_000_000, 43_200_000_000_000], pa.timestamp("ns"))
    found = table(tmp_path, {"a": times, "y": Y}, use_deprecated_int96_timestamps=True)
    assert found == ([[0], [1], [0.5]], Y)


@pytest.mark.parametrize("where", [0, 5000, 40_000])
def test_an_infinite_cell_is_named_by_its_row_whatever_batch_it_is_in(tmp_path, where):
    cells = np.ones(50_000)
    cells[where] = -np.inf
    with pytest.raises(DataError, match=rf"t\.parquet, row {where}, column 'a': 'infinity'"):
        table(tmp_path, {"a": cells, "b": np.ones(50_000), "y": np.arange(50_000) % 2})
    cells[where] = 1.7e308
    cells[where + 1] = 1.7e308  # finite, though their sum is not
    X, _ = table(tmp_path, {"a": cells, "y": np.arange(50_000) % 2})
    assert X[where] == [1.7e308]
