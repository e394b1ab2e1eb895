"""Files that are replaced whole: after a crash at any moment the old one is there, or the new one.

Only regular files are: a pipe or a device is written to as it is, a folder or a socket refused.
Whatever linsep writes goes through `replace`, or through a file `Beside` the one it replaces.
"""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from linsep.data.files import disk
from linsep.data.files.special_files import open_special
from linsep.data.files.system_errors import explain
from linsep.errors import StorageError

T = TypeVar("T")

Bytes = bytes | bytearray | memoryview


def replace(path: str | os.PathLike[str], pieces: Iterable[Bytes]) -> int:
    """Write `pieces` to `path` so that no crash leaves half a file there; returns how many bytes.

    They go to a file `Beside` it, which is flushed, renamed over `path`, and the folder flushed. A
    pipe, a device such as /dev/null, or a file that is open already such as /dev/stdout gets the
    pieces as they come.

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
    steps = _Steps(path)
    special = steps.take("opening it", open_special, path)
    if special is not None:
        try:
            return _write(steps, special, pieces)
        finally:
            steps.take("closing it", disk.DISK.close, special)
    beside = Beside(path)
    try:
        count = _write(beside.steps, beside.file, pieces)
        beside.settle()
    except BaseException:
        beside.discard()
        raise
    return count


class Beside:
    """A new file in the folder of the one it is to replace; a link to that is followed, and stays.

    Its name is no other process's, on whatever machine or in whatever container, and it is locked
    while its writer lives. What killed writers have left in a folder is removed by the next save
    there: files of such names that nobody locks, or that are a day old where there are no locks.

    Attributes
    ----------
    file : its descriptor, open for reading and writing
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.steps = _Steps(path, safe=True)
        self.final = os.path.realpath(path)
        self.folder = os.path.dirname(self.final)  # noqa: PTH120
        self.file = self.steps.take("making a file beside it", self._created)
        self._open = True

    def _created(self) -> int:
        for _ in range(_TRIES):
            self.path = str(Path(self.folder, f".linsep-{os.urandom(8).hex()}.tmp"))
            with suppress(FileExistsError):
                return disk.DISK.create(self.path)
        raise FileExistsError(self.path)

    def settle(self, flush: bool = True) -> None:
        """Bring it to the disk and put it in its place; `flush=False`: a crash may damage it."""
        now, take = disk.DISK, self.steps.take
        if flush:
            take("bringing it to the disk", now.flush, self.file)
        if not disk.LOCKS:
            self._close()
        take("putting it in its place", now.rename, self.path, self.final)
        self._close()  # not before: the lock tells that the writer lives
        if flush:
            take("bringing its name to the disk", now.flush_folder, self.folder)
        with suppress(OSError):
            for name in filter(_OURS, now.names(self.folder)):
                with suppress(OSError):  # another user's, or gone already
                    now.remove_left(str(Path(self.folder, name)))

    def discard(self) -> None:
        """Remove it, whatever has happened to it."""
        with suppress(StorageError):
            self._close()
        with suppress(OSError):
            disk.DISK.remove(self.path)

    def _close(self) -> None:
        if self._open:
            self._open = False
            self.steps.take("closing it", disk.DISK.close, self.file)


_OURS = re.compile(r"\.linsep-[0-9a-f]{16}\.tmp").fullmatch
_TRIES = 9


class _Steps:
    """Calls to the system for one path: where one fails, that is told by path and step."""

    def __init__(self, path: str | os.PathLike[str], safe: bool = False) -> None:
        self.path = path
        self.safe = safe  # whether what stood there before is kept

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


def _write(steps: _Steps, file: int, pieces: Iterable[Bytes]) -> int:
    """Write all pieces; an error in making them is none of writing."""
    count = 0
    for piece in pieces:
        rest = memoryview(piece).cast("B")
        count += len(rest)
        while rest:
            rest = rest[steps.take("writing", disk.DISK.write, file, rest) :]
    return count
