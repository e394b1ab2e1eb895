"""Every call to the operating system by which linsep changes files, one method each.

Writers go through `DISK` alone, so that a test can let each call fail once, or stop the process
there, and look at what is left.
"""

import io
import os
import stat
import time
from typing import Any

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows: an open file can be neither renamed nor removed there
    flock = None  # type: ignore[assignment]

LOCKS = flock is not None
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # no link, no waiting
OLD = 86_400.0
"""Seconds after which a temporary file is taken for left over where files cannot be locked."""


class Disk:
    """The operations that saves consist of."""

    def create(self, path: str) -> int:
        """Open a file that must not exist yet, locked for as long as its writer lives."""
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if LOCKS:
            try:
                flock(file, LOCK_EX | LOCK_NB)
                taken = os.fstat(file).st_nlink == 0
            except BlockingIOError:
                taken = True
            except OSError:  # a file system without locks
                return file
            if taken:  # by `remove_left` of another process, between these two calls
                os.close(file)
                raise FileExistsError(path)
        return file

    def open_special(self, path: str | os.PathLike[str]) -> int:
        """Open what is no regular file."""
        return os.open(path, os.O_WRONLY)

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

    def names(self, folder: str) -> list[str]:
        return os.listdir(folder)  # noqa: PTH208

    def remove_left(self, path: str) -> None:
        """Remove a temporary file whose writer is gone: nobody holds its lock."""
        file = os.open(path, os.O_RDWR | _AS_IT_IS)
        try:
            about = os.fstat(file)
            gone = time.time() - about.st_mtime > OLD
            if LOCKS:
                try:
                    flock(file, LOCK_EX | LOCK_NB)
                    gone = True
                except BlockingIOError:
                    gone = False
                except OSError:  # a file system without locks
                    pass
            if gone and stat.S_ISREG(about.st_mode):
                os.unlink(path)  # noqa: PTH108
        finally:
            os.close(file)


DISK = Disk()
"""The disk in use; tests put one that fails in its place."""


class Raw(io.RawIOBase):
    """An open file as Python's writers want it; every byte goes through `DISK`."""

    def __init__(self, file: int, closes: bool) -> None:
        self._file, self._closes = file, closes

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return DISK.write(self._file, memoryview(data).cast("B"))

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._closes:
                DISK.close(self._file)
