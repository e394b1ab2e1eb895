"""Text files cut by bytes where rows end: each worker reads its own stretch, and no row is lost.

A line end inside quotes ends no row. Whether a byte lies inside quotes is told by the number of
quotes before it, which workers count, each in its own stretch; the first byte of a row is then the
same whoever looks for it.
"""

from pathlib import Path
from typing import Any, NamedTuple

from linsep.data.files.compression import SUFFIXES

RANGE = 1 << 25
"""Bytes of a text file that one task reads, about."""
STEP = 1 << 20


class FilePart(NamedTuple):
    """A stretch of a file: from the first row that begins at `start` or later, up to `stop`.

    `inside` says of both ends whether they lie inside quotes; a `stop` of None is a whole file.
    """

    path: Path
    start: int = 0
    stop: int | None = None
    inside: tuple[bool, bool] = (False, False)


def whole(path: Path) -> bool:
    """Whether a file is packed, so that it can only be read from its beginning."""
    if path.suffix in SUFFIXES:
        return True
    with path.open("rb") as file:
        start = file.read(4)
    return start[:2] == b"\x1f\x8b" or start[:3] == b"BZh" or start == b"\x28\xb5\x2f\xfd"


def quotes(path: Path, start: int, stop: int, quote: bytes) -> int:
    """How many quotes there are between two bytes of a file."""
    count = 0
    with path.open("rb") as file:
        file.seek(start)
        while start < stop and (block := file.read(min(STEP, stop - start))):
            count += block.count(quote)
            start += len(block)
    return count


def row_begin(file: Any, at: int, inside: bool, quote: bytes) -> int:
    """The first byte, at `at` or later, with which a row begins; or the end of the file."""
    if at == 0:
        return 0
    file.seek(at - 1)
    before = file.read(1)
    if before == b"\n" and not inside:
        return at
    while block := file.read(STEP):
        here = 0
        while (end := block.find(b"\n", here)) >= 0:
            inside ^= bool(quote) and block.count(quote, here, end) % 2 == 1
            here = end + 1
            if not inside:
                return at + here
        inside ^= bool(quote) and block.count(quote, here) % 2 == 1
        at += len(block)
    return int(at)


def content(part: FilePart, quote: bytes) -> tuple[bytes, int]:
    """The rows of a stretch of a file, and with which byte they begin."""
    with part.path.open("rb") as file:
        first = row_begin(file, part.start, part.inside[0], quote)
        assert part.stop is not None
        last = row_begin(file, part.stop, part.inside[1], quote)
        file.seek(first)
        return file.read(max(0, last - first)), first


def lines_before(path: Path, at: int) -> int:
    """How many lines end before a byte of a file."""
    return quotes(path, 0, at, b"\n")
