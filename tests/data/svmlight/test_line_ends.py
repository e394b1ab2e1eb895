"""A look at the two ends of svmlight lines tells labels, places and the range of indices."""

import numpy as np
import pytest

from linsep.data.svmlight.line_ends import LEAST, MOST, ROWS, last_index, look

LINES = b"1 3:0.5 7:2\n-1.5 \n\n2 1:1 12:1e3 \r\n"


def padded(text):
    """The bytes after a margin of newlines, with 24 behind them; as bytes and as words."""
    words = np.full((64 + len(text) + 32) // 8 + 1, 0x0A0A0A0A0A0A0A0A, np.uint64)
    words.view(np.uint8)[64 : 64 + len(text)] = np.frombuffer(text, np.uint8)
    return words.view(np.uint8), words


def seen(function, lines):
    text, words = padded(lines)
    labels, starts, bits = np.zeros(9), np.zeros(9, np.int64), np.zeros(1, np.uint64)
    summary = np.array([0, 1 << 40, -1])
    function(text, words, 64, 64 + len(lines), True, labels, starts, summary, bits, bits.view("f8"))
    n = max(0, int(summary[ROWS]))
    return summary, labels[:n].tolist(), (starts[:n] - 64).tolist()


def test_labels_places_and_indices_are_those_of_the_lines():
    summary, labels, starts = seen(look, LINES)
    assert (summary[ROWS], summary[LEAST], summary[MOST]) == (3, 1, 12)
    assert labels == [1.0, -1.5, 2.0]
    assert starts == [0, LINES.index(b"-1.5"), LINES.index(b"2 1:1")]


@pytest.mark.parametrize("line", [b"one 1:2\n", b"1 x:2\n", b"1 2\n", b"1 1:2 3\n"])
def test_a_line_that_is_not_plainly_label_and_pairs_is_left_to_the_parser(line):
    assert seen(look, line)[0][ROWS] == -1


@pytest.mark.parametrize(("line", "index"), [(b"1 3:4", 3), (b"1 3:4 \t", 3), (b"1 x", -2)])
def test_the_last_index_of_a_line(line, index):
    text, words = padded(line)
    assert last_index(text, words, 64 + len(line) - 1) == index
