"""The nastiest files: a right answer, or an error that names file, place and what to do."""

import bz2
import gzip
import subprocess
import sys

import numpy as np
import pytest

import linsep
from linsep.data.table import delimited
from linsep.errors import DataError, ParameterError

pa = pytest.importorskip("pyarrow")


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder, text, name="t.csv", **more):
    X, y = linsep.read(write(folder, text, name), **more).load()
    return X.tolist(), y.tolist()


PLAIN = "a,b,y\n1,2,p\n3,4,q\n5,6,p\n"
ANSWER = ([[1, 2], [3, 4], [5, 6]], ["p", "q", "p"])


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN + "\n\n",
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        "a,b,y\r\n1,2,p\n3,4,q\r\n5,6,p\n",
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", "|"),
        PLAIN.replace(",", ", "),
        PLAIN.replace(",", " "),
        "1,2,p\n3,4,q\n5,6,p\n",
        'a,b,y\n"1","2","p"\n"3",4,"q"\n5,"6",p\n',
        "a,b,y\n'1','2','p'\n'3','4','q'\n'5','6','p'\n",
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-16-be"),
        "a;b;y\n1,0;2,0;p\n3,0;4,0;q\n5,0;6,0;p\n",
        "a,b,y\n1e0,2.,p\n+3,.4e1,q\n0005,6.0,p \n",
        gzip.compress(PLAIN.encode(), mtime=0),
        gzip.compress(PLAIN[:9].encode(), mtime=0) + gzip.compress(PLAIN[9:].encode(), mtime=0),
        bz2.compress(PLAIN[:9].encode()) + bz2.compress(PLAIN[9:].encode()),
        pa.compress(PLAIN.encode(), "zstd", asbytes=True),
    ],
    ids=str,
)
def test_the_same_table_however_it_is_written(tmp_path, text):
    assert read(tmp_path, text) == ANSWER


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b,y\n1,2,p\n3,4\n5,6,q\n", r"t\.csv, line 3: the row has 2 cells where 3"),
        ("a,b,y\n1,2,p\n3,4,q,7\n5,6,q\n", r"t\.csv, line 3: the row has 4 cells where 3"),
        ("a,b,y\n1,2,p\n3,4,\n5,6,q\n", r"t\.csv, line 3, column 'y': '' is a missing value"),
        ("a,b,y\n1,2,p\n3,1e400,p\n5,6,q\n", r"line 3, column 'b': '1e400' is not a finite"),
        ("a,b,y\n1,2,p\n3,0x1A,p\n5,6,q\n", r"line 3, column 'b': '0x1A' is not a finite"),
        ("a,b,y\n1,2,p\n3,1_000,p\n5,6,q\n", r"line 3, column 'b': '1_000' is not a finite"),
        ("a,b,y\n1,2,p\n3,−4,p\n5,6,q\n", r"line 3, column 'b': '−4' is not a finite"),
        ("a,b,y\n1,2,p\n3,#4,p\n5,6,q\n", r"line 3, column 'b': '#4' is not a finite"),
        ("a,b,y\n1,2,p\n3,#DIV/0!,p\n5,6,q\n", r"line 3, column 'b': '#DIV/0!' is not a finite"),
        ("a,b,y\n1,2,p\n3,1.#INF,p\n5,6,q\n", r"line 3, column 'b': '1.#INF' is not a finite"),
        ("a,b,y\n1,2,p\n3,inf,p\n5,6,q\n", r"line 3, column 'b': 'inf' is not a finite"),
        (b"a,b,y\n1,2,p\n3,4,\xff\n5,6,q\n", r"line 3 is not UTF-8 text.*encoding='latin-1'"),
        ("a,b,y\n", r"t\.csv holds one line, 'a,b,y'; rows are wanted"),
        ("", r"t\.csv is empty"),
        ("\n\n\n", r"t\.csv is empty"),
        ("About this file\n\na,b,y\n1,2,p\n3,4,q\n", r"line 1 has 1 cells where most lines have 3"),
        ("a,b,y\n1,2,p\n3,4,q\n\nz,w\n5,6\n", r"line 5: the row has 2 cells where 3"),
        ('a,b,y\n1,2,p\n3,4,"q\n5,6,p\n', r"t\.csv, line 3: unexpected end of data .*quote"),
        (gzip.compress(PLAIN.encode() * 500, mtime=0)[:-30], r"cannot be unpacked or read"),
        (bz2.compress(PLAIN.encode())[:-10], r"cannot be unpacked or read"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_bad_table_is_refused_with_the_place(tmp_path, text, told):
    with pytest.raises(DataError, match=told):
        read(tmp_path, text)


def test_missing_numbers_become_the_mean_and_missing_texts_nothing(tmp_path):
    text = "n,t,y\n1,x,0\n?,NA,1\n3,?,0\n,x,1\nNaN,z,0\n"
    chunks = linsep.read(write(tmp_path, text))
    X, y = chunks.load()
    assert chunks.encoding.feature_names == ["n", "t=NA", "t=x", "t=z"]  # NA may be Namibia
    assert X[:, 0].tolist() == [1, 2, 3, 2, 2]
    assert X[2, 1:].tolist() == [0, 0, 0] and y.tolist() == [0, 1, 0, 1, 0]
    assert "n 3, t 1" in " ".join(chunks.notes) or "t 1, n 3" in " ".join(chunks.notes)


def test_a_column_of_numbers_that_turns_into_text_late_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 5000)
    lines = [f"{i},{i % 7},{'pq'[i % 2]}" for i in range(20_000)]
    lines[17_000] = "17000,seven,p"
    path = write(tmp_path, "id,v,y\n" + "\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"t\.csv, line 17002, column 'v': 'seven' .*'text'"):
        linsep.read(path).load()
    chunks = linsep.read(path, bad_rows="skip")
    assert chunks.load()[0].shape == (19_999, 2) and chunks.skipped == 1
    X, _ = linsep.read(path, columns={"v": "text", "id": "drop"}).load()
    assert X.shape == (20_000, 8)


def test_a_quoted_cell_may_span_lines_and_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 16)
    cells = ['"one\nline, and\n""another"""', "plain", '"x,\ny"'] * 20
    text = "t,v,y\n" + "".join(f"{c},{i},{i % 2}\n" for i, c in enumerate(cells))
    chunks = linsep.read(write(tmp_path, text))
    X, _ = chunks.load()
    assert X.shape == (60, 4)
    assert chunks.encoding.columns[0].categories == ('one\nline, and\n"another"', "plain", "x,\ny")
    bad = text + "oops\n"
    with pytest.raises(DataError, match=rf"line {bad.count(chr(10))}: the row has 1 cells"):
        linsep.read(write(tmp_path, bad)).load()


def test_a_quote_that_is_never_closed_does_not_swallow_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST", 2000)
    monkeypatch.setattr(delimited, "PIECE", 500)
    text = 't,v,y\na,1,0\n"b,2,1\n' + "".join(f"c,{i},{i % 2}\n" for i in range(2000))
    with pytest.raises(DataError, match=r'opened near .*\\?"b,2,1.* not closed'):
        linsep.read(write(tmp_path, text), quote='"').load()


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"delimiter": "::"}, "delimiter is '::'; give one character"),
        ({"quote": ""}, "quote is ''; give one character"),
        ({"skip": -1}, "skip is -1; give a whole number >= 0"),
        ({"skip": "2"}, "skip is '2'; give a whole number"),
        ({"header": "no"}, "header is 'no'; give True or False"),
        ({"encoding": 8}, "encoding is 8; give the name of an encoding"),
        ({"encoding": "klingon"}, "encoding is 'klingon', which is not known"),
        ({"missing": 0}, "missing is 0; give a word, or a list of words"),
    ],
    ids=str,
)
def test_a_layout_that_no_file_has_is_refused(tmp_path, layout, message):
    with pytest.raises(ParameterError, match=message):
        linsep.read(write(tmp_path, "a,y\n1,p\n2,q\n"), **layout).load()


def test_one_word_may_stand_for_missing_numbers(tmp_path):
    path = write(tmp_path, "a,y\n1,p\nnix,q\n3,q\n")
    for word in ("nix", ["nix"], ("nix", "-")):
        assert linsep.read(path, missing=word).load()[0].tolist() == [[1.0], [2.0], [3.0]]


def test_a_quote_that_swallows_every_row_of_a_short_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"opened near '1,\"2,p' is not closed before the file"):
        linsep.read(write(tmp_path, 'a,b,y\n1,"2,p\n3,4,q\n5,6,p\n')).load()
    with pytest.raises(DataError, match="line 4: unexpected end of data"):
        linsep.read(write(tmp_path, 'a,b,y\n1,2,p\n3,4,q\n5,"6,p\n')).load()


def test_wide_tables_long_names_and_odd_names(tmp_path):
    width = 3000
    head = ",".join([*(f"c{j}" for j in range(width)), "y"])
    body = "".join(",".join(["1"] * width + [label]) + "\n" for label in "pq")
    assert linsep.read(write(tmp_path, f"{head}\n{body}")).load()[0].shape == (2, width)
    long = "n" * 600_000
    chunks = linsep.read(write(tmp_path, f"{long},x,x,,y\n1,2,3,4,p\n5,6,7,8,q\n"))
    assert chunks.encoding.feature_names == [long, "x", "x.2", "3"]


def test_text_round_trips_to_the_same_floats(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3)) * 10.0 ** rng.integers(-300, 300, (500, 3))
    X[0] = [-0.0, 5e-324, 1.7976931348623157e308]
    text = "\n".join(",".join([*map(repr, x.tolist()), "pq"[i % 2]]) for i, x in enumerate(X))
    read_X, _ = linsep.read(write(tmp_path, text)).load()
    assert read_X.tobytes() == X.tobytes()


def test_every_row_and_place_where_a_delimiter_is_missing_or_extra_is_named(tmp_path):
    rows = [["a", "b", "y"], *([str(i), str(i + 1), "pq"[i % 2]] for i in range(8))]
    for line in range(2, 10):
        for place in range(1, 3):
            cells = rows[line - 1]
            for broken in (",".join(cells[:place]) + "".join(cells[place:]),
                           ",".join(cells[:place]) + ",," + ",".join(cells[place:])):  # fmt: skip
                if broken.count(",") == 2:
                    continue
                lines = [",".join(row) for row in rows]
                lines[line - 1] = broken
                path = write(tmp_path, "\n".join(lines) + "\n")
                with pytest.raises(DataError, match=rf"line {line}: the row has"):
                    linsep.read(path).load()
                skipping = linsep.read(path, bad_rows="skip")
                assert skipping.load()[0].shape[0] == 7 and skipping.skipped == 1


def test_latin_letters_are_read_when_the_encoding_is_told(tmp_path):
    text = "t,v,y\ncafé,1,0\nthé,2,1\n".encode("latin-1")
    chunks = linsep.read(write(tmp_path, text), encoding="latin-1")
    assert chunks.encoding.columns[0].categories == ("café", "thé")
    with pytest.raises(ParameterError, match="not known"):
        linsep.read(tmp_path / "t.csv", encoding="klingon").load()


def test_other_rows_of_other_classes_are_left_out_and_counted(tmp_path):
    path = write(tmp_path, "a,y\n1,p\n2,q\n3,r\n4,p\n")
    chunks = linsep.read(path, classes=["p", "q"])
    assert chunks.load()[1].tolist() == ["p", "q", "p"] and chunks.left_out == 1
    numbers = linsep.read(write(tmp_path, "a,y\n1,0\n2,1\n3,2\n"), classes=[0, "1"])
    assert numbers.load()[1].tolist() == [0, 1] and numbers.n_rows == 2


def test_a_question_makes_the_labels(tmp_path):
    path = write(tmp_path, "delay,x\n20,1\n15,2\n16,3\n")
    chunks = linsep.read(path, target="delay > 15")
    X, y = chunks.load()
    assert X.tolist() == [[1], [2], [3]] and y.tolist() == [True, False, True]
    assert [part.tolist() for _, part in chunks.blocks(2)] == [[True, False], [True]]


def test_many_files_folders_patterns_and_standard_input(tmp_path):
    for k in (2, 1):
        write(tmp_path, f"a,y\n{k},p\n", f"part-{k}.csv")
    parts = [tmp_path / "part-1.csv", tmp_path / "part-2.csv"]
    for source in (tmp_path, str(tmp_path / "part-*.csv"), parts):
        assert linsep.read(source).load()[0].tolist() == [[1], [2]]
    write(tmp_path, "y,a\nq,3\n", "part-3.csv")
    assert linsep.read(tmp_path).load()[0].tolist() == [[1], [2], [3]]  # by name, not by place
    with pytest.raises(ParameterError, match="twice"):
        linsep.read([parts[0], tmp_path / "." / "part-1.csv"])
    with pytest.raises(DataError, match="no file matches"):
        linsep.read(tmp_path / "none-*.csv")
    write(tmp_path, "1 1:1\n", "part-4.svm")
    with pytest.raises(DataError, match=r"is csv and .*part-4\.svm is svmlight"):
        linsep.read(tmp_path)
    program = "import linsep; print(linsep.read('-').load()[0].tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program], input=PLAIN, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"


def test_a_file_that_changes_or_vanishes_between_two_passes_is_an_error(tmp_path):
    path = write(tmp_path, PLAIN)
    chunks = linsep.read(path)
    chunks.load()
    write(tmp_path, PLAIN + "7,8,q\n")
    with pytest.raises(DataError, match="changed while it was read"):
        list(chunks)
    path.unlink()
    with pytest.raises(DataError, match="moved while it was read"):
        list(chunks)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        linsep.read(path)


def test_arrays_are_memory_mapped_and_bad_rows_in_them_named(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    X[2, 1] = np.nan
    np.savez(tmp_path / "t.npz", X=X, y=np.arange(4) % 2)
    with pytest.raises(DataError, match=r"t\.npz, row 2, column 1: 'nan' is no finite number"):
        linsep.read(tmp_path / "t.npz").load()
    chunks = linsep.read(tmp_path / "t.npz", bad_rows="skip")
    assert chunks.load()[0].tolist() == [[0, 1, 2], [3, 4, 5], [9, 10, 11]]
    rows, _ = chunks.source.opened(tmp_path / "t.npz")
    assert isinstance(rows.base, np.memmap) or isinstance(rows, np.memmap)


def test_texts_as_labels_of_arrays(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.array(["p", "q", "p"]))
    assert linsep.read(tmp_path / "t.npz").load()[1].tolist() == ["p", "q", "p"]


def test_disk_full_while_rows_are_copied_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    from linsep.data.blocks import store
    from linsep.errors import StorageError

    def full(self, values):
        raise OSError(28, "No space left on device")

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(store.Growing, "_write", full)
    with pytest.raises(StorageError, match=r"binary copy.*No space left.*cache="):
        linsep.read(write(tmp_path, PLAIN), memory=0).gather()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_was_found_is_said(tmp_path):
    path = write(tmp_path, "a;b;y\n1,5;x;p\n;y;q\n3,5;x;p\n")
    chunks = linsep.read(path)
    chunks.load()
    assert chunks.notes == [
        "CSV with semicolons, a header, decimal ','; columns: 1 of numbers, 2 of texts.",
        "Missing values filled in: a 1.",
    ]


@pytest.mark.parametrize("sign", ["|", ";", ",", "\t"])
def test_a_delimiter_of_two_signs_is_named_and_not_taken_for_empty_columns(tmp_path, sign):
    lines = [["a", "b", "y"], ["1", "", "u"], ["2", "5", "v"], ["3", "6", "u"]]
    path = tmp_path / "t.csv"
    path.write_text("".join((2 * sign).join(line) + "\n" for line in lines))
    with pytest.raises(DataError, match="between its cells, and a delimiter is one sign"):
        linsep.read(path)
    assert linsep.read(path, delimiter=sign, target="y").n_rows == 3  # as it was asked for


def test_a_column_that_is_empty_now_and_then_is_no_second_sign(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,,u\n2,,v\n3,,u\n")
    assert linsep.read(path).n_features == 2
    path.write_text("1,,0\n2,,1\n3,4,1\n")
    assert linsep.read(path).n_features == 2


def test_a_single_column_asks_for_the_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1::5::0\n2::6::1\n3::7::1\n")
    with pytest.raises(DataError, match="pass delimiter= if another sign"):
        linsep.read(path)
