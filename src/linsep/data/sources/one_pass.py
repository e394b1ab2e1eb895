"""Rows of a long svmlight file that pass by once: parsed in blocks where they lie, kept nowhere.

A look at the ends of all lines, at the speed of memory, tells the labels, the number of rows and of
features, and where each block of rows begins. Then blocks can be had in any order, by several
threads, and a pass that wants each of them once needs no binary copy. What the look has told is
checked against what the parser finds: a file with comments, lines that cannot be read or anything
else that the look does not know is `ScanMismatch`, and is read in the usual way instead.
"""

import io
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import BLOCK
from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.label_statistics import Labels, LabelStatistics
from linsep.data.files.compression import PIECE, about, open_bare, open_plain
from linsep.data.svmlight.decimals import POWERS
from linsep.data.svmlight.parser import (
    AT,
    END,
    ENTRY,
    FINE,
    LARGEST,
    LEAST,
    MARGIN,
    MOST,
    QUERIES,
    ROW,
    TOUGH,
    Part,
    parse_piece,
    read_at,
)  # fmt: skip
from linsep.errors import DataError
from linsep.kernels.parse import line_ends, lines
from linsep.kernels.tables import sum_of_squares
from linsep.parallel import in_order, threads

Array = npt.NDArray[Any]

LONG = 1 << 26
"""Bytes of text from which on a single pass takes rows as they come."""
WIDE = 1 << 25
"""Bytes of text in a block, at most."""

_SEGMENT = 1 << 22
_MARGIN = 512
_PLACES = 1 << 20  # places of lines that are remembered, at most


class ScanMismatch(Exception):  # noqa: N818
    """The rows are not what the look at the ends of lines has told."""


class Scan(NamedTuple):
    """What the look at the ends of all lines tells."""

    n_rows: int
    least: int
    most: int
    labels: LabelStatistics
    starts: Array
    """Where every `stride`-th row begins."""
    stride: int
    size: int


class ParsedBlock(NamedTuple):
    """Consecutive rows with indices from zero; valid until the next are asked for."""

    number: int
    values: Array
    places: Array
    pointers: Array
    codes: Array


def may_stream(chunks: Any) -> bool:
    """Whether these rows are one long, plain svmlight file of which nothing was read so far."""
    from linsep.data.sources.svmlight import SvmlightSource

    source = chunks.source
    if not isinstance(source, SvmlightSource) or len(source.paths) > 1 or not chunks.untouched:
        return False
    path = source.paths[0]
    if not hasattr(os, "preadv") or not path.is_file() or about(path).st_size < LONG:
        return False
    with open_plain(path) as file:
        return type(file) is io.BufferedReader and file.read(3) != b"\xef\xbb\xbf"


def stream_of(chunks: Any) -> "OnePassStream | None":
    """The rows of a file that `may_stream`, as told by the ends of its lines; None for other files.

    Two classes are wanted, each a whole number. Nothing is settled in `chunks` yet.
    """
    if not may_stream(chunks):
        return None
    source = chunks.source
    source.version.check(source.paths[0])
    scan = survey(source.paths[0], source.n_jobs)
    source.begin()
    source.least, source.most, source.n = scan.least, scan.most, scan.n_rows
    try:
        encoding, labels = source.settled(), scan.labels.finish()
    except DataError:  # told in the usual way
        return None
    if labels.classes is None or len(labels.classes) != 2 or scan.n_rows == 0:
        return None
    return OnePassStream(source.paths[0], scan, encoding, labels, source.n_jobs)


def survey(path: Path, n_jobs: int | None = None) -> Scan:
    """Look at the ends of all lines; raises `ScanMismatch` where they do not tell."""
    size = about(path).st_size
    own = threading.local()

    def segment(first: int) -> tuple[int, int, Array, Array]:
        if not hasattr(own, "text"):
            own.text = np.empty(_SEGMENT + 2 * _MARGIN + MARGIN, np.uint8)
            own.labels, own.starts = np.empty(_SEGMENT // 2 + 1), np.empty(_SEGMENT // 2 + 1, "i8")
        text, origin = own.text, first - _MARGIN
        text[:_MARGIN] = 10
        room = text[max(0, -origin) : 2 * _MARGIN + _SEGMENT]
        n = max(0, -origin) + read_at(file.fileno(), room, max(0, origin))
        text[n : n + MARGIN] = 10
        end = _MARGIN + min(_SEGMENT, size - first)
        if origin + n < size and n < end + _MARGIN:
            raise ScanMismatch("the file became shorter")
        end += int(end == n and text[n - 1] != 10)  # the last line may lack its newline
        counts = np.array([0, LARGEST + 1, -1])
        begins = bool(text[_MARGIN - 1] == 10)
        line_ends(text, _MARGIN, end, begins, own.labels, own.starts, counts, POWERS)
        n_rows, low, high = counts.tolist()
        if n_rows < 0:
            raise ScanMismatch("a line is not plainly a label and pairs")
        labels = np.unique(own.labels[:n_rows])
        starts = own.starts[:n_rows] + origin
        return low, high, labels, starts

    statistics, least, most, n_rows = LabelStatistics(), LARGEST + 1, -1, 0
    kept, held, stride = [], 0, 1
    with open_bare(path) as file:
        for low, high, labels, starts in in_order(segment, range(0, size, _SEGMENT), n_jobs):
            statistics.add(labels)
            least, most = min(least, low), max(most, high)
            kept.append(starts[-n_rows % stride :: stride])
            n_rows += len(starts)
            held += len(kept[-1])
            if held > _PLACES:
                kept = [np.concatenate(kept)[::2].copy()]
                held, stride = len(kept[0]), 2 * stride
    return Scan(n_rows, least, most, statistics, np.concatenate(kept), stride, size)


def _last_newline(text: Array, n: int) -> int:
    """The place of the last newline in text[:n], or −1."""
    for first in (max(0, n - (1 << 14)), 0):
        place = text[first:n].tobytes().rfind(b"\n")
        if place >= 0:
            return first + place
    return -1


class _Room:
    """Memory that blocks are parsed into, one after the other."""

    def __init__(self, text: int) -> None:
        rows = BLOCK + PIECE // 2  # more than scanned are noticed after a piece
        self.text = np.empty(PIECE + 64, np.uint8)
        self.labels, self.pointers = np.empty(rows + 1), np.empty(rows + 2, np.int64)
        self.places, self.values = np.empty(text // 4 + 2, np.int32), np.empty(text // 4 + 2)
        self.tough = np.empty((PIECE // 2 + 1, 3), np.int64)

    def arrays(self, state: Array) -> tuple[Array, ...]:
        """What the kernel `lines` takes."""
        return (self.text, state, self.labels, self.pointers[1:], self.places, self.values,
                self.tough, POWERS)  # fmt: skip


class OnePassStream:
    """The rows of one file, to be had block by block in any order.

    Attributes
    ----------
    n_rows, n_features, classes : as told by the look at the ends of lines
    n_entries, counts : how many entries the blocks had so far, and rows of each class
    """

    def __init__(
        self, path: Path, scan: Scan, encoding: Encoding, labels: Labels, n_jobs: int | None
    ) -> None:
        assert labels.classes is not None
        self.path, self.scan = path, scan
        self.base = encoding.base or 0
        self.n_rows, self.n_features = scan.n_rows, encoding.n_features
        self.classes, self._labels = labels.classes, labels
        self.n_jobs = n_jobs
        self.n_entries, self.counts = 0, np.zeros(len(labels.classes), np.int64)
        self.least, self.most, self.squares = LARGEST + 1, -1, 0.0
        self.seen = 0
        step = BLOCK // scan.stride
        if BLOCK % scan.stride:
            raise ScanMismatch("blocks begin between the places that are known")
        self._begins = np.append(scan.starts[::step], scan.size)
        self._longest = int(np.diff(self._begins).max())
        if self._longest > WIDE:
            raise ScanMismatch("a block of rows is too long")

    def blocks(self, numbers: Iterable[int]) -> Iterator[ParsedBlock]:
        """The blocks of these numbers, in their order; raises `ScanMismatch` where one differs."""
        halt = threading.Event()
        rooms: SimpleQueue[_Room] = SimpleQueue()
        for _ in range(threads(self.n_jobs) + 2):
            rooms.put(_Room(self._longest))

        def parse(number: int) -> tuple[_Room, ParsedBlock, Array]:
            room = self._free(rooms, halt)
            return room, *self._parsed(file, room, int(number))

        with open_bare(self.path) as file:
            for room, seen, state in in_order(parse, numbers, self.n_jobs, halt):
                self._note(seen, state)
                yield seen
                rooms.put(room)

    @staticmethod
    def _free(rooms: "SimpleQueue[_Room]", halt: threading.Event) -> _Room:
        while not halt.is_set():
            try:
                return rooms.get(timeout=0.1)
            except Empty:
                continue
        raise ScanMismatch("given up")

    def _note(self, seen: ParsedBlock, state: Array) -> None:
        self.seen += len(seen.codes)
        self.n_entries += len(seen.values)
        self.counts += np.bincount(seen.codes, minlength=len(self.counts))
        self.least = min(self.least, int(state[LEAST]))
        self.most = max(self.most, int(state[MOST]))

    def _parsed(self, file: Any, room: _Room, number: int) -> tuple[ParsedBlock, Array]:
        """Parse one block, a piece of text after the other."""
        place, stop = int(self._begins[number]), int(self._begins[number + 1])
        n_rows = min(BLOCK, self.n_rows - number * BLOCK)
        state = np.array([0, 0, 0, 0, 0, LARGEST + 1, -1, 0, 0, 0])
        room.pointers[0] = 0
        left = 0  # bytes of a line begun before
        while place < stop or left:
            here = room.text[left : min(PIECE, left + stop - place)]
            n = left + read_at(file.fileno(), here, place)
            place += n - left
            end = n
            if place < stop:
                end = _last_newline(room.text, n) + 1
            elif room.text[n - 1] != 10:
                end = n + 1
            if end == 0 or (n == left and place < stop):
                raise ScanMismatch("a line is too long, or the file became shorter")
            rest = room.text[end:n].copy()
            room.text[end - 1] = 10
            room.text[end : end + 24] = 10
            self._parse(room, state, end, n_rows)
            left = len(rest)
            room.text[:left] = rest
        return self._checked(room, state, number, n_rows), state

    def _parse(self, room: _Room, state: Array, end: int, n_rows: int) -> None:
        text = room.text
        state[AT], state[END], state[TOUGH] = 0, end, 0
        if lines(*room.arrays(state)) != FINE or state[ROW] > n_rows:
            raise ScanMismatch("a line cannot be read")
        for entry, first, last in room.tough[: int(state[TOUGH])].tolist():
            value = float(text[first:last].tobytes())
            if entry < 0 or not np.isfinite(value):
                raise ScanMismatch("a number is out of range")
            room.values[entry] = value

    def _checked(self, room: _Room, state: Array, number: int, n_rows: int) -> ParsedBlock:
        """A block with the rows, labels, indices and numbers it is to have; or `ScanMismatch`."""
        n, entries = int(state[ROW]), int(state[ENTRY])
        labels = room.labels[:n]
        if n != n_rows or state[QUERIES]:
            raise ScanMismatch("there are other rows than scanned")
        codes = np.minimum(self._labels.codes(labels), len(self.classes) - 1)
        if np.any(self.classes[codes] != labels):
            raise ScanMismatch("there are other labels than scanned")
        if state[MOST] > self.scan.most or state[LEAST] < self.scan.least:
            raise ScanMismatch("there are other features than scanned")
        places, values = room.places[:entries], room.values[:entries]
        if self.base:
            places -= np.int32(self.base)
        square = sum_of_squares(values)
        limits = np.finfo(np.float64)
        if not float(limits.tiny) * entries <= square <= float(limits.max) / 1e6:
            raise ScanMismatch("numbers are near the ends of the range of floats")
        return ParsedBlock(number, values, places.view(np.uint32), room.pointers[: n + 1], codes)

    def require_as_scanned(self) -> None:
        """After all blocks: whether rows, features and labels were those of the look before."""
        scan = self.scan
        if (self.seen, self.least, self.most) != (scan.n_rows, scan.least, scan.most):
            raise ScanMismatch("there are fewer features than scanned")
        if not self.counts.all():
            raise ScanMismatch("there are fewer labels than scanned")

    def rows(self, numbers: Array) -> Part:
        """Some rows, read where they lie; indices from zero."""
        scan = self.scan
        lines = []
        with open_plain(self.path) as file:
            for row in numbers.tolist():
                file.seek(int(scan.starts[row // scan.stride]))
                line = b""
                for _ in range(row % scan.stride + 1):
                    line = file.readline()
                    while not line.strip():  # an empty line is no row
                        line = file.readline()
                lines.append(line.rstrip(b"\n") + b"\n")
        part = parse_piece(b"".join(lines))
        return part._replace(places=part.places - np.int32(self.base))

    def codes(self, labels: Array) -> Array:
        """Labels as places among the classes."""
        return self._labels.codes(labels)
