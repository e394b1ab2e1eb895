"""Paths that are no regular files: pipes, devices, sockets, folders, and files this process has
open already, such as /dev/stdout. They are written to as they are or refused, and never replaced.
"""

import contextlib
import os
import stat
import sys
from pathlib import Path

from linsep.data.files import disk
from linsep.data.files.system_errors import explain
from linsep.errors import StorageError

PathLike = str | os.PathLike[str]

_LINKS = 40  # as many as the system follows


def kind_of(path: PathLike) -> str | None:
    """What a path is, with links followed; None for a regular file, and where there is nothing.

    >>> kind_of("/"), kind_of("/no/such/file")
    ('a folder', None)
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise StorageError(f"{path} could not be looked at: {explain(problem)}") from problem
    for is_kind, name in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a disk"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if is_kind(mode):
            return name
    return None


def own_descriptor(path: PathLike) -> int | None:
    """The number of the open file that a path such as /dev/stdout or /dev/fd/3 stands for.

    >>> own_descriptor("/dev/fd/1"), own_descriptor("/dev/null")
    (1, None)
    """
    name = os.fspath(path)
    for _ in range(_LINKS):
        folder, last = os.path.split(Path(name).absolute())
        folder = os.path.realpath(folder)
        if last.isdecimal() and folder in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(last)
        try:
            name = str(Path(folder, Path(folder, last).readlink()))
        except OSError:  # no link
            return None
    return None


def require_writable_kind(path: PathLike, subject: str = "") -> None:
    """Refuse what rows of bytes cannot be written to: a folder, a disk, a socket."""
    kind = kind_of(path)
    if kind in ("a folder", "a disk", "a socket"):
        advice = "name a file in it" if kind == "a folder" else "name a file"
        raise StorageError(f"{subject or path} is {kind}; {advice}.")


def open_special(path: PathLike) -> int | None:
    """A descriptor to write to, where a path is a pipe or a device, or open already; else None.

    Raises
    ------
    OSError
        What the system says.
    StorageError
        Where it is a folder, a disk or a socket.
    """
    number = own_descriptor(path)
    if number is not None:
        for stream in (sys.stdout, sys.stderr):  # what was printed before comes before
            with contextlib.suppress(AttributeError, ValueError):
                stream.flush()
        return os.dup(number)
    require_writable_kind(path)
    return None if kind_of(path) is None else disk.DISK.open_special(path)
