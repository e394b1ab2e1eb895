"""The svmlight (libsvm) format: `label [qid:n] index:value … # comment`, one row a line.

Pieces of whole lines are parsed by compiled code, several at a time. Indices must increase within
a line; whether they count from zero or one is settled once for all rows, never piece by piece.
"""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.bad_rows import BadRow
from linsep.data.chunks import read_in_order
from linsep.data.packed import PIECE, open_plain, unpacking, whole_lines

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


class _Room:
    """Arrays that a piece of n bytes is parsed into; kept by each thread from piece to piece."""

    def __init__(self, n: int) -> None:
        self.words = np.empty(n // 8 + 4, np.uint64)
        self.text = self.words.view(np.uint8)
        rows = n // 2 + 1  # a row has a sign and an end; what is not written to is never there
        self.labels, self.ends = np.empty(rows), np.empty(rows, np.int64)
        self.places, self.values = np.empty(n // 4 + 1, np.int32), np.empty(n // 4 + 1)
        self.tough = np.empty((n // 2 + 1, 3), np.int64)
        self.bits = np.empty(1, np.uint64)
        self.n = n

    def arrays(self, state: Array) -> tuple[Array, ...]:
        """What the kernel takes."""
        return (self.text, self.words, state, self.labels, self.ends, self.places, self.values,
                self.tough, self.bits, self.bits.view(np.float64))  # fmt: skip


_rooms = threading.local()


def _room(n: int) -> _Room:
    found: _Room | None = getattr(_rooms, "last", None)
    if found is None or found.n < n:
        found = _Room(n + n // 8)
        _rooms.last = found if n <= 4 * PIECE else None
    return found


def _parser() -> Any:
    """The kernel `parse`."""
    from linsep.data.svmlight_lines import parse

    return parse


def parse_piece(piece: bytes) -> Part:
    """All rows of whole lines; bad lines are numbered from 1 within the piece."""
    if piece[-1:] != b"\n":
        piece += b"\n"
    n = len(piece)
    room = _room(n)
    room.text[:n] = np.frombuffer(piece, np.uint8)
    room.text[n : n + 24] = 10
    state = np.array([0, 0, 0, 0, 0, LARGEST + 1, -1, 0, 0, n])
    bad: list[BadRow] = []
    while True:
        with np.errstate(over="ignore"):  # where the kernel is plain Python
            wrong = _parser()(*room.arrays(state))
        if wrong == FINE:
            break
        bad.append(_bad_line(piece, state, _REASONS[wrong]))
    labels, ends, values = room.labels, room.ends, room.values
    dropped = _settle(piece, state, labels, ends, values, room.tough, bad)
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
    piece: bytes, state: Array, labels: Array, ends: Array, values: Array, tough: Array,
    bad: list[BadRow],
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
            line = len(piece[:begin].splitlines())
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
    _parser()  # in one thread, before several ask for it
    with unpacking(path), open_plain(path) as stream:
        if (start := stream.read(3)) == b"\xef\xbb\xbf":
            start = b""
        for part in read_in_order(
            parse_piece, _rejoined(start, whole_lines(stream, size or PIECE)), n_jobs
        ):
            yield part._replace(bad=[one.moved(line) for one in part.bad])
            line += part.lines


def _rejoined(start: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    if start or first:
        yield start + first
    yield from pieces
