"""Lines of numbers: every float is the nearest, and no text leads out of the arrays."""

import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.data.svmlight.decimals import POWERS
from linsep.data.svmlight.parser import AT, ENTRY, FINE, LARGEST, ROW, TOUGH
from linsep.kernels import parse

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.tuples(st.integers(0, 10**20), st.integers(-340, 300)).map(lambda p: f"{p[0]}e{p[1]}"),
    st.tuples(st.integers(0, 99), st.integers(0, 10**18)).map(lambda p: f"+{p[0]}.{p[1]:020d}"),
    st.sampled_from([".5", "5.", "-0", "+1", "1E5", "00012", "1e-400", "4.9e-324", "1e23",
                     "9007199254740993", "179769313486231570000e289", "0.3e-0"]),
)  # fmt: skip


def room_for(text, rows=None, entries=None):
    """The arrays that lines are read into, and where the parser stands."""
    n = len(text)
    padded = np.frombuffer(text + b"\n" * 24, np.uint8)
    rows = n // 2 + 1 if rows is None else rows
    entries = n // 4 + 1 if entries is None else entries
    state = np.array([0, 0, 0, 0, 0, LARGEST + 1, -1, 0, 0, n])
    return (
        padded, state, np.zeros(rows), np.zeros(rows, np.int64), np.zeros(entries, np.int32),
        np.zeros(entries), np.zeros((n // 2 + 1, 3), np.int64), POWERS,
    )  # fmt: skip


def label(text):
    """The number a line begins with; None where it is left to Python."""
    room = room_for(text.encode() + b"\n")
    assert parse.lines(*room) == FINE and room[1][ROW] == 1
    if room[1][TOUGH]:
        assert room[6][0].tolist() == [-1, 0, len(text)]
        return None
    return room[2][0]


@given(numbers)
def test_a_number_is_the_float_python_makes_of_it(text):
    value = label(text)
    assert value is None or struct.pack("d", value) == struct.pack("d", float(text))


def test_few_numbers_are_left_to_python():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(2000) * 10.0 ** rng.integers(-30, 15, 2000)
    assert sum(label(repr(value)) is None for value in values.tolist()) < 20


WORD = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def row_of(line):
    """Label, indices and values of a line as Python reads it: () for none, None for a bad one."""
    words = re.split(rb"[ \t]+", line.split(b"#")[0].strip(b" \t"))
    if words == [b""]:
        return ()
    pairs = [word.split(b":") for word in words[1:] if not re.fullmatch(rb"qid:\d+", word)]
    good = all(
        len(pair) == 2 and pair[0].isdigit() and WORD.fullmatch(pair[1]) and int(pair[0]) <= LARGEST
        for pair in pairs
    )
    if not WORD.fullmatch(words[0]) or not good:
        return None
    indices = [int(index) for index, _ in pairs]
    if sorted(set(indices)) != indices:
        return None
    return float(words[0]), indices, [float(value) for _, value in pairs]


pieces = st.one_of(
    numbers.map(str.encode),
    st.sampled_from([b"1", b"-2", b" ", b"\t", b":", b"\n", b"\r", b"\r\n", b"#", b"qid:", b"qid",
                     b"q", b"e", b".", b"-", b"99999999", b"2147483646", b"2147483647",
                     b"9" * 40, b"0" * 30, b"1:2", b" 3:4", b" 12345678:1e400", b"1e99999999"]),
    st.binary(max_size=3).filter(lambda text: not re.search(rb"[\x00-\x08\x0b-\x1f]", text)),
)  # fmt: skip


@given(st.lists(pieces, max_size=30).map(b"".join))
def test_any_text_is_read_as_python_reads_it_line_by_line(text):
    text += b"\n"
    room = room_for(text)
    state, ends, places, values, tough = room[1], *room[3:7]
    expected = [row_of(line) for line in re.split(rb"\r\n|\r|\n", text)[:-1]]
    wrong = parse.lines(*room)
    if wrong == FINE:
        assert None not in expected
        rows = [row for row in expected if row]
    else:
        line = state[1]
        assert expected[line] is None and None not in expected[:line]
        assert state[AT] == sum(map(len, re.split(rb"(\r\n|\r|\n)", text)[: 2 * line]))
        rows = [row for row in expected[:line] if row]
    labels, entry = room[2], 0
    for owner, first, last in tough[: state[TOUGH]].tolist():
        (labels if owner < 0 else values)[-1 - owner if owner < 0 else owner] = text[first:last]
    assert state[ROW] == len(rows) and state[ENTRY] == sum(len(row[1]) for row in rows)
    for r, (own, indices, numbers_) in enumerate(rows):
        assert struct.pack("d", labels[r]) == struct.pack("d", own)
        assert places[entry : ends[r]].tolist() == indices
        assert values[entry : ends[r]].tobytes() == np.array(numbers_).tobytes()
        entry = ends[r]


def test_what_there_is_no_room_for_is_refused():
    text = b"1 1:2 2:3\n-1 7:1\n"
    for rows, entries, what in ((1, 9, "rows"), (2, 2, "entries")):
        with pytest.raises(ValueError, match=f"no room for the {what}"):
            parse.lines(*room_for(text, rows, entries))
    short = (np.frombuffer(text + b"\n" * 20, np.uint8), *room_for(text)[1:])
    with pytest.raises(ValueError, match="24 bytes must follow"):
        parse.lines(*short)
    with pytest.raises(ValueError, match="end with a newline"):
        parse.lines(*room_for(b"1 1:2"))
    open_end = np.frombuffer(b"1" * 60, np.uint8)
    with pytest.raises(ValueError, match="newline must end the text or follow"):
        parse.line_ends(
            open_end, 0, 9, True, np.zeros(9), np.zeros(9, "i8"), np.zeros(3, "i8"), POWERS
        )


def looked_at(lines):
    """(rows, least, most), labels and places of lines with newlines before and behind them."""
    text = np.frombuffer(b"\n" * 64 + lines + b"\n" * 24, np.uint8)
    labels, starts = np.zeros(len(lines) + 1), np.zeros(len(lines) + 1, np.int64)
    found = np.array([0, 1 << 40, -1])
    parse.line_ends(text, 64, 64 + len(lines), True, labels, starts, found, POWERS)
    n = max(0, int(found[0]))
    return found.tolist(), labels[:n].tolist(), (starts[:n] - 64).tolist()


def test_labels_places_and_indices_are_those_of_the_lines():
    lines = b"1 3:0.5 7:2\n-1.5 \n\n2 1:1 12:1e3 \r\n"
    found, labels, starts = looked_at(lines)
    assert found == [3, 1, 12] and labels == [1.0, -1.5, 2.0]
    assert starts == [0, lines.index(b"-1.5"), lines.index(b"2 1:1")]


@pytest.mark.parametrize("line", [b"one 1:2\n", b"1 x:2\n", b"1 2\n", b"1 1:2 3\n", b"1 1:2 x\n"])
def test_a_line_that_is_not_plainly_label_and_pairs_is_left_to_the_parser(line):
    assert looked_at(line)[0][0] == -1


@given(st.lists(pieces, max_size=30).map(b"".join))
def test_where_the_ends_of_lines_tell_they_tell_what_the_parser_finds(text):
    text = text.replace(b"\r", b"") + b"\n"
    found, labels, _ = looked_at(text)
    room = room_for(text)
    if found[0] >= 0 and parse.lines(*room) == FINE and not room[1][TOUGH]:
        assert found[0] == room[1][ROW] and labels == room[2][: found[0]].tolist()
        assert found[2] == room[1][6]
