"""Bad rows are named, counted and listed; packed files are read as they are, damaged ones named."""

import bz2
import csv
import gzip
import io

import pytest

from linsep.data.files.bad_rows import BadRow, BadRows
from linsep.data.files.compression import Identity, Version, open_plain, unpacked, whole_lines
from linsep.errors import DataError

ROW = BadRow(3, "age", "x" * 80, "is not a number", "the whole line")


def test_the_first_bad_row_is_an_error_that_names_its_place():
    with pytest.raises(DataError, match=r"t\.csv, line 5, column 'age': .*is not a number"):
        BadRows().take("t.csv", [ROW.moved(2)])


def test_skipped_rows_are_counted_and_grouped_by_reason():
    bad = BadRows("skip")
    bad.take("t.csv", [ROW, ROW.moved(1), BadRow(9, None, "", "the row has 2 cells")])
    assert bad.count == 3 and len(bad.first) == 3
    assert bad.groups["age", "is not a number"].rows == [3, 4]
    bad.begin()
    assert bad.count == 0 and not bad.groups


def test_a_file_lists_every_bad_row(tmp_path):
    bad = BadRows(tmp_path / "bad.csv")
    bad.take("t.csv", [ROW, ROW.moved(1)])
    bad.close()
    head, *rows = csv.reader((tmp_path / "bad.csv").read_text().splitlines())
    assert head == ["file", "line", "column", "reason", "text"]
    assert [row[:3] for row in rows] == [["t.csv", "3", "age"], ["t.csv", "4", "age"]]
    assert all("…" in row[3] for row in rows)  # a long cell is shown in part


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_what_was_packed_is_read(tmp_path, pack):
    path = tmp_path / "t"
    path.write_bytes(pack(b"one\ntwo\n"))
    with open_plain(path) as stream:
        assert stream.read() == b"one\ntwo\n"


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(b"one\n" * 1000)[:-9])
    with pytest.raises(DataError, match=r"t\.gz cannot be unpacked"):
        list(unpacked(path, whole_lines(open_plain(path))))


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_pieces_end_where_lines_end(size):
    text = b"one\n\ntwo and more\r\nthree"
    pieces = list(whole_lines(io.BytesIO(text), size))
    assert b"".join(pieces) == text and all(piece.endswith(b"\n") for piece in pieces[:-1])


def test_a_file_that_changes_is_another(tmp_path):
    path, version = tmp_path / "t", Version()
    path.write_bytes(b"one")
    version.check(path)
    before = Identity.of(path)
    assert before == Identity.of(path)
    path.write_bytes(b"more")
    assert Identity.of(path) != before
    with pytest.raises(DataError, match="changed while it was read"):
        version.check(path)
