"""What the operating system refused, in words: its own sentence, the error's name, and what helps.

No space left on device (ENOSPC). Free some space there, or choose another folder.
"""

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from linsep.errors import StorageError

_ADVICE = {
    "ENOSPC": "Free some space there, or choose another folder.",
    "EDQUOT": "Your share of that disk is used up: remove files of yours, or choose another disk.",
    "EFBIG": "Files may not become so large there: raise the limit (ulimit -f), or choose another "
    "folder.",
    "EMFILE": "Too many files are open in this process: close some, or raise the limit (ulimit "
    "-n).",
    "ENFILE": "Too many files are open on this system: end some programs.",
    "ENOMEM": "Memory or address space is used up: free some, or raise the limit (ulimit -v).",
    "EAGAIN": "The system is short of threads, processes or memory: end some programs, or raise "
    "the limit (ulimit -u).",
    "EACCES": "Its rights do not allow that: change them, or choose another path.",
    "EPERM": "Its rights do not allow that: change them, or choose another path.",
    "EROFS": "That file system can only be read: choose another folder.",
    "ENOENT": "Check the path.",
    "ENOTDIR": "Check the path: a part of it is a file, where a folder was wanted.",
    "EISDIR": "Check the path: it is a folder, where a file was wanted.",
    "EEXIST": "Check the path: something of that name is there already.",
    "ELOOP": "Check the path: links in it lead round in a circle.",
    "ENAMETOOLONG": "Choose a shorter name.",
    "EIO": "The disk or the network failed: look at the messages of the system, or choose another "
    "folder.",
    "ESTALE": "The network folder has gone: mount it again.",
    "EPIPE": "Whoever was to read it has gone.",
    "ENXIO": "Nobody is there to take it.",
}


def said(problem: BaseException) -> str:
    """What the system said, with the name of the error.

    >>> said(OSError(errno.ENOSPC, "No space left on device"))
    'No space left on device (ENOSPC)'
    >>> said(OSError("odd")), said(OSError())
    ('odd', 'OSError')
    """
    number = getattr(problem, "errno", None)
    if number is None:
        return str(problem).rstrip(".") or type(problem).__name__
    sentence = getattr(problem, "strerror", None) or os.strerror(number)
    return f"{sentence} ({errno.errorcode.get(number, number)})"


def advice(problem: BaseException, otherwise: str = "") -> str:
    """What helps against this error; `otherwise` where nothing is known of it.

    >>> advice(OSError(errno.EROFS, "Read-only file system"))
    'That file system can only be read: choose another folder.'
    """
    number = getattr(problem, "errno", None)
    if number is None and is_short_of_memory(problem):
        number = errno.ENOMEM
    return _ADVICE.get(errno.errorcode.get(number, "") if number else "", otherwise)


_SHORT = re.compile(
    "failed to map segment|cannot allocate memory|unable to allocate|can't start new thread"
)


def is_short_of_memory(problem: BaseException | None) -> bool:
    """Whether memory was used up, which libraries and threads that fail say in words only."""
    while problem is not None:
        if isinstance(problem, MemoryError) or _SHORT.search(str(problem).lower()):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def explain(problem: BaseException, otherwise: str = "") -> str:
    """Both, as they end a message."""
    return " ".join(filter(None, (f"{said(problem)}.", advice(problem, otherwise))))


@contextmanager
def storing(failure: str, elsewhere: str = "") -> Iterator[None]:
    """Turn what the system raises here into a StorageError that begins by `failure`.

    `elsewhere` says how to choose another folder, for errors against which that helps.
    """
    try:
        yield
    except StorageError:
        raise
    except OSError as problem:
        helps = elsewhere and "another" in advice(problem, "another")
        more = f" {elsewhere}" if helps else ""
        raise StorageError(f"{failure}: {explain(problem)}{more}") from problem


def temporary_folder() -> str:
    """Where temporary files go, in words that are never an error themselves."""
    try:
        return tempfile.gettempdir()
    except OSError:
        return "the folder of temporary files"
