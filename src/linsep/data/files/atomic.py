"""Files that are replaced whole: after a crash at any moment the old one is there, or the new one.

Every call to the operating system that a save makes is a method of `Disk`, so that a test can let
each of them fail once, or stop the process there, and look at what is left.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from linsep.errors import StorageError

Bytes = bytes | bytearray | memoryview


class Disk:
    """The operations a save consists of, one method each."""

    def create(self, path: str) -> int:
        """Open a file that must not exist yet."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def write(self, file: int, data: memoryview) -> int:
        """Write some of `data`; returns how many bytes were taken."""
        return os.write(file, data)

    def flush(self, file: int) -> None:
        """Return when what was written is on the medium."""
        os.fsync(file)

    def close(self, file: int) -> None:
        os.close(file)

    def rename(self, source: str, destination: str) -> None:
        """Put one file in the place of another, in one step."""
        os.replace(source, destination)  # noqa: PTH105

    def flush_folder(self, folder: str) -> None:
        """Return when the names in a folder are on the medium; some systems cannot."""
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:
            return
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def remove(self, path: str) -> None:
        os.unlink(path)  # noqa: PTH108


DISK = Disk()
"""The disk in use; tests put one that fails in its place."""


def replace(path: str | os.PathLike[str], pieces: Iterable[Bytes]) -> None:
    """Write `pieces` to `path` so that no crash leaves half a file there.

    They go to a temporary file in the same folder, which is flushed, renamed over `path`, and the
    folder flushed.

    Raises
    ------
    StorageError
        Naming the file and what the system said. Whatever stood at `path` before stands there
        still, or the new content does, whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "note"
    ...     replace(path, [b"first"])
    ...     replace(path, [b"sec", b"ond"])
    ...     path.read_bytes(), len(list(Path(folder).iterdir()))
    (b'second', 1)
    """
    final = os.path.realpath(path)  # a link keeps pointing where it did
    folder, name = os.path.split(final)
    beside = str(Path(folder, f".{name}.{os.getpid()}.tmp"))
    disk = DISK
    try:
        _write(disk, beside, pieces)
        disk.rename(beside, final)
        disk.flush_folder(folder)
    except BaseException as problem:
        with suppress(OSError):
            disk.remove(beside)
        if isinstance(problem, OSError):
            said = problem.strerror or str(problem)
            raise StorageError(
                f"{path} could not be written: {said}. What was there before is untouched, or "
                "the new file is there whole. Free some space, or choose another folder."
            ) from problem
        raise


def _write(disk: Disk, path: str, pieces: Iterable[Bytes]) -> None:
    try:
        file = disk.create(path)
    except FileExistsError:  # left by a process of the same number that was killed
        disk.remove(path)
        file = disk.create(path)
    try:
        for piece in pieces:
            rest = memoryview(piece).cast("B")
            while rest:
                rest = rest[disk.write(file, rest) :]
        disk.flush(file)
    finally:
        disk.close(file)
