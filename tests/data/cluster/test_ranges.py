"""A text file cut anywhere gives the same rows; needs no cluster."""

import csv
import io

import pytest

import linsep
from linsep.data.cluster import files
from linsep.data.cluster.ranges import FilePart, content, lines_before, quotes, whole

NASTY = (
    b'\xef\xbb\xbfname,note,y\r\n"a ""b""\r\nc",1,no\r\nplain,2,yes\r\n"one\ntwo\n",3,no\r\n'
    b'"",4,yes\r\n"last, ""quoted""",5,no'
)


def halves(path, cut):
    """Both sides of a byte of a file, as tasks read them."""
    inside = quotes(path, 0, cut, b'"') % 2 == 1
    size = path.stat().st_size
    return FilePart(path, 0, cut, (False, inside)), FilePart(path, cut, size, (inside, False))


@pytest.mark.parametrize("text", [NASTY, NASTY.replace(b"\r\n", b"\n"), NASTY + b"\r\n", b"a,b\n"])
def test_a_file_cut_at_every_byte_gives_the_same_rows(tmp_path, text):
    path = tmp_path / "nasty.csv"
    path.write_bytes(text)
    expected = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    for cut in range(len(text) + 1):
        pieces = [content(part, b'"')[0] for part in halves(path, cut)]
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


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"], ids=["CRLF", "LF"])
def test_workers_read_the_same_cells_wherever_a_file_is_cut(tmp_path, line_end):
    path = tmp_path / "nasty.csv"
    path.write_bytes(NASTY.replace(b'"",4', b'" ""\n",4').replace(b"\r\n", line_end))
    source = linsep.read(path, target="name").source
    source.begin()

    def read(*parts):
        """Numbers, texts of the other columns and labels of all rows, in order."""
        rows, labels, texts = [], [], {}
        for part in parts:
            piece, summary = files._read(source, part, 0, None, "fail", None)
            names = list(summary.labels.texts)
            labels += [names[int(k)] for k in piece.labels]
            rows += [] if piece.rows is None else piece.rows.tolist()
            for column, seen in summary.source.statistics._texts.items():
                texts[column] = texts.get(column, set()) | set(seen)
        return rows, labels, texts

    expected = read(FilePart(path))
    assert expected[0] == [[1.0], [2.0], [3.0], [4.0], [5.0]]
    assert len(expected[1]) == 5 and expected[2] == {"y": {"yes", "no"}}
    for cut in range(path.stat().st_size + 1):
        assert read(*halves(path, cut)) == expected, cut
