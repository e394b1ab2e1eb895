"""Bytes of a file, unpacked on the way: gzip, bzip2 and zstd, known by their first bytes."""

import bz2
import gzip
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from linsep.data.files.system_errors import explain, said
from linsep.errors import DataError, LinsepError, ParameterError

PIECE = 1 << 20
"""Bytes of text that are looked at together."""

SUFFIXES = (".gz", ".bz2", ".zst")

_DAMAGED = (EOFError, OSError, zlib.error, zipfile.BadZipFile)

T = TypeVar("T")


def open_plain(path: Path) -> Any:
    """Open a file for reading bytes, unpacking it if its first bytes say that it is packed."""
    try:
        return _open_plain(path)
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _open_plain(path: Path) -> Any:
    with path.open("rb") as stream:
        start = stream.read(4)
    if start[:2] == b"\x1f\x8b":
        return gzip.open(path, "rb")
    if start[:3] == b"BZh":
        return bz2.open(path, "rb")
    if start == b"\x28\xb5\x2f\xfd":
        return _open_zstd(path)
    return path.open("rb")


def _open_zstd(path: Path) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise ParameterError(
            f"{path} is packed by zstd, which needs pyarrow; pip install linsep[io]."
        ) from None
    return pa.CompressedInputStream(pa.OSFile(str(path), "rb"), "zstd")


def unreadable(path: Path, problem: OSError) -> DataError:
    """The error of a file that the system does not let us read."""
    return DataError(f"{path} cannot be read: {explain(problem)}")


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """Turn what a damaged packed file raises, or the system, into a DataError that names it."""
    try:
        yield
    except LinsepError:
        raise
    except _DAMAGED as problem:
        if getattr(problem, "errno", None) is not None:
            raise unreadable(path, problem) from problem  # type: ignore[arg-type]
        raise DataError(f"{path} cannot be unpacked or read ({problem}); fetch it again.") from None


def unpacked(path: Path, pieces: Iterator[T]) -> Iterator[T]:
    """The pieces of a file; only what reading them raises is told of the file."""
    with unpacking(path):
        yield from pieces


def open_bare(path: Path) -> Any:
    """Open a file for reading where one likes."""
    try:
        return path.open("rb", buffering=0)
    except OSError as problem:
        raise unreadable(path, problem) from problem


def about(path: Path) -> os.stat_result:
    """Size and time of change of a file that is to be read."""
    try:
        return path.stat()
    except OSError as problem:
        raise unreadable(path, problem) from problem


class Identity(NamedTuple):
    """What tells one version of a file from another without reading all of it."""

    size: int
    changed: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> "Identity":
        """Size, time of change, and a digest of 64 places of 4096 bytes spread over the file."""
        status = about(path)
        digest = hashlib.blake2b(str(status.st_size).encode(), digest_size=16)
        try:
            with path.open("rb") as stream:
                for k in range(64):
                    stream.seek(max(0, status.st_size - 4096) * k // 63)
                    digest.update(stream.read(4096))
        except OSError as problem:
            raise unreadable(path, problem) from problem
        return cls(status.st_size, status.st_mtime_ns, digest.hexdigest())


class Version:
    """The version of each file seen first; another one later is an error, not a mixture."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, int]] = {}

    def check(self, path: Path) -> None:
        """Raise when `path` has changed since the first look at it."""
        try:
            status = path.stat()
        except OSError as problem:
            raise DataError(
                f"{path} cannot be read: {said(problem)}; was it moved while it was read?"
            ) from problem
        now = status.st_size, status.st_mtime_ns
        if self._seen.setdefault(path, now) != now:
            raise DataError(
                f"{path} changed while it was read ({self._seen[path][0]} bytes before, {now[0]} "
                "now); wait until it is complete, and start again."
            )


def whole_lines(stream: IO[bytes], size: int = PIECE) -> Iterator[bytes]:
    """The bytes of a stream in pieces that end where a line ends; the last may lack its newline.

    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\\ntwo\\nthree"), 5))
    [b'one\\n', b'two\\n', b'three']
    """
    waiting: list[bytes] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if not cut:  # a long line; or lines that end by a carriage return alone
            cut = block.rfind(b"\r", 0, len(block) - 1) + 1
        if not cut:
            waiting.append(bytes(block))
            continue
        view = memoryview(block)  # a slice of bytes would be one more copy
        yield b"".join([*waiting, view[:cut]])
        waiting = [bytes(view[cut:])]
    rest = b"".join(waiting)
    if rest:
        yield rest
