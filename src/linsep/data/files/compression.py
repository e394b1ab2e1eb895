"""Bytes of a file, unpacked on the way: gzip, bzip2 and zstd, known by their first bytes."""

import bz2
import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from linsep.errors import DataError, ParameterError

PIECE = 1 << 20
"""Bytes of text that are looked at together."""

SUFFIXES = (".gz", ".bz2", ".zst")

_DAMAGED = (EOFError, OSError, zlib.error)


def open_plain(path: Path) -> Any:
    """Open a file for reading bytes, unpacking it if its first bytes say that it is packed."""
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}; check the path.") from None
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


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """Turn what a damaged packed file raises into a DataError that names it."""
    try:
        yield
    except DataError:
        raise
    except _DAMAGED as problem:
        said = getattr(problem, "strerror", None) or problem
        raise DataError(f"{path} cannot be unpacked or read ({said}); fetch it again.") from None


class Identity(NamedTuple):
    """What tells one version of a file from another without reading all of it."""

    size: int
    changed: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> "Identity":
        """Size, time of change, and a digest of 64 places of 4096 bytes spread over the file."""
        try:
            about = path.stat()
            digest = hashlib.blake2b(str(about.st_size).encode(), digest_size=16)
            with path.open("rb") as stream:
                for k in range(64):
                    stream.seek(max(0, about.st_size - 4096) * k // 63)
                    digest.update(stream.read(4096))
        except OSError as problem:
            raise DataError(f"{path} cannot be read: {problem.strerror}; check the path.") from None
        return cls(about.st_size, about.st_mtime_ns, digest.hexdigest())


class Version:
    """The version of each file seen first; another one later is an error, not a mixture."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, int]] = {}

    def check(self, path: Path) -> None:
        """Raise when `path` has changed since the first look at it."""
        try:
            about = path.stat()
        except OSError as problem:
            raise DataError(
                f"{path} cannot be read: {problem.strerror}; was it moved while it was read?"
            ) from None
        now = about.st_size, about.st_mtime_ns
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
