"""A text file cut anywhere gives the same rows; needs no cluster."""

import csv
import io

import pytest

from linsep.data.cluster.ranges import FilePart, content, lines_before, quotes, whole

NASTY = (
    b'\xef\xbb\xbfname,note,y\r\n"a ""b""\r\nc",1,no\r\nplain,2,yes\r\n"one\ntwo\n",3,no\r\n'
    b'"",4,yes\r\n"last, ""quoted""",5,no'
)


@pytest.mark.parametrize("text", [NASTY, NASTY.replace(b"\r\n", b"\n"), NASTY + b"\r\n", b"a,b\n"])
def test_a_file_cut_at_every_byte_gives_the_same_rows(tmp_path, text):
    path = tmp_path / "nasty.csv"
    path.write_bytes(text)
    expected = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    for cut in range(len(text) + 1):
        inside = quotes(path, 0, cut, b'"') % 2 == 1
        ends = (quotes(path, 0, len(text), b'"') % 2 == 1) and False
        parts = [
            FilePart(path, 0, cut, (False, inside)),
            FilePart(path, cut, len(text), (inside, ends)),
        ]
        pieces = [content(part, b'"')[0] for part in parts]
        assert b"".join(pieces) == text, cut
        rows = []
        for piece in pieces:
            rows += csv.reader(io.StringIO(piece.decode("utf-8-sig"), newline=""))
        assert rows == expected, cut


def test_lines_are_counted_and_packed_files_are_known(tmp_path):
    import gzip

    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n1,2\n3,4\n")
    assert lines_before(path, 8) == 2
    assert not whole(path)
    packed = tmp_path / "b.csv"
    packed.write_bytes(gzip.compress(b"x,y\n1,2\n"))
    assert whole(packed)
