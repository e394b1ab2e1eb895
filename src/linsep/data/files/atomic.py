"""Files that are replaced whole: after a crash at any moment the old one is there, or the new one.

Only regular files are: a pipe or a device is written to as it is, a folder or a socket refused.

Every call to the operating system that a save makes is a method of `Disk`, so that a test can let
each of them fail once, or stop the process there, and look at what is left.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from linsep.data.files.special_files import open_special
from linsep.data.files.system_errors import explain
from linsep.errors import StorageError

T = TypeVar("T")

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


def replace(path: str | os.PathLike[str], pieces: Iterable[Bytes]) -> int:
    """Write `pieces` to `path` so that no crash leaves half a file there; returns how many bytes.

    They go to a temporary file in the same folder, which is flushed, renamed over `path`, and the
    folder flushed. A link is followed, and stays. A pipe, a device such as /dev/null, or a file
    that is open already such as /dev/stdout gets the pieces as they come.

    Raises
    ------
    StorageError
        Naming the file, the step that failed and what the system said. Whatever stood at `path`
        before stands there still, or the new content does, whole.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "note"
    ...     _ = replace(path, [b"first"])
    ...     count = replace(path, [b"sec", b"ond"])
    ...     path.read_bytes(), count, len(list(Path(folder).iterdir()))
    (b'second', 6, 1)
    """
    disk, steps = DISK, _Steps(path)
    special = steps.take("opening it", open_special, path)
    if special is not None:
        try:
            return _write(disk, steps, special, pieces)
        finally:
            steps.take("closing it", disk.close, special)
    final = os.path.realpath(path)  # a link keeps pointing where it did
    folder, name = os.path.split(final)
    beside = str(Path(folder, f".{name}.{os.getpid()}.tmp"))
    steps.safe = True
    try:
        file = steps.take("making a file beside it", _create, disk, beside)
        try:
            count = _write(disk, steps, file, pieces)
            steps.take("bringing it to the disk", disk.flush, file)
        finally:
            steps.take("closing it", disk.close, file)
        steps.take("putting it in its place", disk.rename, beside, final)
        steps.take("bringing its name to the disk", disk.flush_folder, folder)
    except BaseException:
        with suppress(OSError):
            disk.remove(beside)
        raise
    return count


class _Steps:
    """Calls to the system for one path: where one fails, that is told by path and step."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.safe = False  # whether what stood there before is kept

    def take(self, doing: str, operation: Callable[..., T], *arguments: object) -> T:
        try:
            return operation(*arguments)
        except StorageError:
            raise
        except OSError as problem:
            kept = " What was there before is untouched, or the new file is there whole."
            raise StorageError(
                f"{self.path} could not be written, on {doing}: "
                f"{explain(problem, 'Choose another folder.')}{kept if self.safe else ''}"
            ) from problem


def _create(disk: Disk, path: str) -> int:
    try:
        return disk.create(path)
    except FileExistsError:  # left by a process of the same number that was killed
        disk.remove(path)
        return disk.create(path)


def _write(disk: Disk, steps: _Steps, file: int, pieces: Iterable[Bytes]) -> int:
    """Write all pieces; an error in making them is none of writing."""
    count = 0
    for piece in pieces:
        rest = memoryview(piece).cast("B")
        count += len(rest)
        while rest:
            rest = rest[steps.take("writing", disk.write, file, rest) :]
    return count
