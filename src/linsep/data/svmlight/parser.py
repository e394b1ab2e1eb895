"""The svmlight (libsvm) format: `label [qid:n] index:value … # comment`, one row a line.

Pieces of whole lines are parsed by compiled code, several at a time. Indices must increase within
a line; whether they count from zero or one is settled once for all rows, never piece by piece.
"""

import io
import os
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.files.bad_rows import BadRow
from linsep.data.files.compression import PIECE, open_plain, unpacking, whole_lines
from linsep.data.svmlight.decimals import POWERS
from linsep.kernels.parse import lines
from linsep.parallel import in_order, read_in_order

Array = npt.NDArray[Any]

LARGEST = 2**31 - 2  # kernels keep indices in 32 bits

# Where the parser stands: next byte, lines begun, rows, entries, hard numbers, the least and the
# largest index, rows with a query id, the place of an error, the end of the text.
AT, LINE, ROW, ENTRY, TOUGH, LEAST, MOST, QUERIES, WRONG, END = range(10)

FINE, NO_LABEL, NO_PAIR, NO_INDEX, LARGE_INDEX, NOT_RISING, NO_VALUE = range(7)

_REASONS = {
    NO_LABEL: "is no label; a line begins with one number (lists of labels are not read)",
    NO_PAIR: "is no index:value pair; separate pairs by one or more spaces",
    NO_INDEX: "has no index before the colon; indices are whole numbers, zero or more",
    LARGE_INDEX: f"has an index above {LARGEST}; hash or renumber the features",
    NOT_RISING: "does not have a larger index than the pair before it; sort each line, once each",
    NO_VALUE: "has no finite number right after the colon",
}


class Part(NamedTuple):
    """Rows of one piece of text, indices as written, and lines that could not be read."""

    labels: Array
    counts: Array
    places: Array
    values: Array
    least: int
    most: int
    queries: int
    lines: int
    bad: list[BadRow]


NO_ROWS = Part(
    np.empty(0),
    np.empty(0, np.int64),
    np.empty(0, np.int32),
    np.empty(0),
    LARGEST + 1,
    -1,
    0,
    0,
    [],
)
MARGIN = 24  # bytes that the kernel wants behind the text
SLACK = 1 << 13  # bytes that are looked at for the end of a line


class _Room:
    """Arrays that a piece of n bytes is parsed into; kept by each thread from piece to piece."""

    def __init__(self, n: int) -> None:
        self.text = np.empty(n + MARGIN, np.uint8)
        rows = n // 2 + 1  # a row has a sign and an end; what is not written to is never there
        self.labels, self.ends = np.empty(rows), np.empty(rows, np.int64)
        self.places, self.values = np.empty(n // 4 + 1, np.int32), np.empty(n // 4 + 1)
        self.tough = np.empty((n // 2 + 1, 3), np.int64)
        self.n = n

    def arrays(self, state: Array) -> tuple[Array, ...]:
        """What the kernel takes."""
        return (self.text, state, self.labels, self.ends, self.places, self.values, self.tough,
                POWERS)  # fmt: skip


_rooms = threading.local()


def _room(n: int) -> _Room:
    room: _Room | None = getattr(_rooms, "last", None)
    if room is None or room.n < n:
        room = _Room(n + n // 8)
        _rooms.last = room if n <= 4 * PIECE else None
    return room


def parse_piece(piece: bytes) -> Part:
    """All rows of whole lines; bad lines are numbered from 1 within the piece."""
    room = _room(len(piece) + 1)
    room.text[: len(piece)] = np.frombuffer(piece, np.uint8)
    return _parsed(room, 0, len(piece))


def _parsed(room: _Room, begin: int, n: int) -> Part:
    """The rows of the lines in text[begin:n] of a room; the last line may lack its newline."""
    if n == 0 or room.text[n - 1] != 10:
        room.text[n] = 10
        n += 1
    room.text[n : n + MARGIN] = 10
    state = np.array([begin, 0, 0, 0, 0, LARGEST + 1, -1, 0, 0, n])
    bad: list[BadRow] = []
    while True:
        wrong = lines(*room.arrays(state))
        if wrong == FINE:
            break
        bad.append(_bad_line(room.text[:n].tobytes(), state, _REASONS[wrong]))
    labels, ends, values = room.labels, room.ends, room.values
    dropped = []
    if state[TOUGH]:
        piece = room.text[:n].tobytes()
        dropped = _settle(piece, begin, state, labels, ends, values, room.tough, bad)
    n_rows, n_entries = int(state[ROW]), int(state[ENTRY])
    counts = np.diff(ends[:n_rows], prepend=0)
    part = Part(
        labels[:n_rows].copy(), counts, room.places[:n_entries].copy(), values[:n_entries].copy(),
        int(state[LEAST]), int(state[MOST]), int(state[QUERIES]), int(state[LINE]), bad,
    )  # fmt: skip
    return without(part, dropped) if dropped else part


def without(part: Part, dropped: list[int]) -> Part:
    """The part without some of its rows."""
    keep = np.ones(len(part.labels), bool)
    keep[dropped] = False
    entries = np.repeat(keep, part.counts)
    places = part.places[entries]
    return part._replace(
        labels=part.labels[keep], counts=part.counts[keep], places=places,
        values=part.values[entries], least=int(places.min(initial=LARGEST + 1)),
        most=int(places.max(initial=-1)),
    )  # fmt: skip


def _bad_line(piece: bytes, state: Array, reason: str) -> BadRow:
    """What is wrong with the line at state[AT]; moves on to the next line."""
    begin, at = int(state[AT]), int(state[WRONG])
    ends = [place for place in (piece.find(b"\n", at), piece.find(b"\r", at)) if place >= 0]
    stop = min(ends)
    row = BadRow(int(state[LINE]) + 1, at - begin + 1, _word(piece, at), reason,
                 piece[begin:stop].decode("utf-8", "replace"))  # fmt: skip
    state[AT] = stop + (2 if piece[stop : stop + 2] == b"\r\n" else 1)
    state[LINE] += 1
    return row


def _word(piece: bytes, at: int) -> str:
    return re.split(rb"[ \t\r\n]", piece[at : at + 40], maxsplit=1)[0].decode("utf-8", "replace")


def _settle(
    piece: bytes, first: int, state: Array, labels: Array, ends: Array, values: Array,
    tough: Array, bad: list[BadRow],
) -> list[int]:  # fmt: skip
    """Let Python round the numbers left to it; rows with one beyond all floats are bad."""
    dropped = []
    for entry, start, stop in tough[: int(state[TOUGH])].tolist():
        value = float(piece[start:stop])
        if not np.isfinite(value):
            row = (
                -1 - entry
                if entry < 0
                else int(np.searchsorted(ends[: int(state[ROW])], entry, "right"))
            )
            begin = max(piece.rfind(b"\n", 0, start), piece.rfind(b"\r", 0, start)) + 1
            line = len(piece[first:begin].splitlines())
            whole = piece[begin : piece.find(b"\n", start)].decode("utf-8", "replace")
            reason = "is beyond the largest float, 1.8e308; scale the data"
            bad.append(BadRow(line + 1, start - begin + 1, _word(piece, start), reason, whole))
            dropped.append(row)
        elif entry < 0:
            labels[-1 - entry] = value
        else:
            values[entry] = value
    bad.sort(key=lambda one: one.line)
    return sorted(set(dropped))


def parts(path: Path, n_jobs: int | None = None, size: int | None = None) -> Iterator[Part]:
    """The rows of a file, piece by piece; bad lines are numbered from 1 within the file."""
    line = 0
    with unpacking(path), open_plain(path) as stream:
        start = stream.read(3)
        marked = start == b"\xef\xbb\xbf"
        if _seekable(stream, size or PIECE):
            parts = _by_place(stream.fileno(), 3 if marked else 0, n_jobs, size or PIECE)
        else:
            pieces = _rejoined(b"" if marked else start, whole_lines(stream, size or PIECE))
            parts = read_in_order(parse_piece, pieces, n_jobs)
        for part in parts:
            yield part._replace(bad=[one.moved(line) for one in part.bad])
            line += part.lines


def _seekable(stream: Any, size: int) -> bool:
    """Whether threads may read this file wherever they like, and find lines by their newlines."""
    if type(stream) is not io.BufferedReader or not hasattr(os, "preadv"):
        return False
    about = os.fstat(stream.fileno())
    return stat.S_ISREG(about.st_mode) and b"\n" in os.pread(stream.fileno(), max(size, 1 << 16), 0)


def _by_place(file: int, begin: int, n_jobs: int | None, size: int) -> Iterator[Part]:
    """The rows of a file, read where they lie by each thread for itself."""
    end = os.fstat(file).st_size

    def parse(first: int) -> Part:
        last = min(end, first + size)
        head = first - int(first > begin)  # is a newline where a line begins at `first`
        room = _room(last - head + SLACK)
        n = read_at(file, room.text[: last - head], head)
        start = 0 if head == first else _newline(room.text, 0, n) + 1
        if start == n or (head < first and start == 0):
            return NO_ROWS  # no line begins here
        while room.text[n - 1] != 10 and head + n < end:  # the last line goes on beyond
            if n + SLACK > room.n:
                room = _larger(room, n)
            more = read_at(file, room.text[n : n + SLACK], head + n)
            newline = _newline(room.text, n, n + more)
            if more == 0:
                break
            n = n + more if newline < 0 else newline + 1
        return _parsed(room, start, n)

    return in_order(parse, range(begin, end, size), n_jobs)


def _larger(room: _Room, n: int) -> _Room:
    """Room for a line that goes on for long."""
    new = _room(2 * n + 2 * SLACK)
    new.text[:n] = room.text[:n]
    return new


def read_at(file: int, room: Array, place: int) -> int:
    """Fill the room with the bytes from this place on; returns how many there were."""
    got, view = 0, memoryview(room.data)
    while got < len(room):
        n = os.preadv(file, [view[got:]], place + got)
        if n == 0:
            break
        got += n
    return got


def _newline(text: Array, first: int, last: int) -> int:
    """The place of the first newline in text[first:last]; −1 if there is none."""
    for at in range(first, last, SLACK):
        newline = text[at : min(last, at + SLACK)].tobytes().find(b"\n")
        if newline >= 0:
            return at + newline
    return -1


def _rejoined(start: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    if start or first:
        yield start + first
    yield from pieces
