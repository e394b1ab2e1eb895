"""The folder of compiled kernels: files that are written whole, and used only if they are whole.

The cache is a convenience. Whatever is wrong with it (full, read-only, emptied, rotten, gone, not
ours to read), the kernel is compiled, its file is replaced where that can be done, and one line on
stderr says so. Every file begins with a digest of its name and its content: code that was damaged,
or that lies under another kernel's name, is never run; nor is what another user has made, or could
have changed. A file belongs to one kernel and one set of types and is replaced in one step, so that
processes need not wait for each other.
"""

import errno
import hashlib
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

DIGEST = 16  # bytes at the start of each file

trouble = ""
"""The first thing that went wrong with the cache in this process; it has been said."""

unkept = False
"""Whether something that was compiled could not be kept."""


def base() -> Path:
    """Where compiled kernels are kept."""
    place = os.environ.get("LINSEP_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(place).absolute() if place else Path.home() / ".cache") / "linsep"


def load(path: Path) -> bytes | None:
    """What was stored under this name; None if nothing was, or it is not whole any more."""
    try:
        _require_own(path.parent.stat(), path.parent)
        with open(path, "rb", opener=_open_no_link) as file:
            _require_own(os.fstat(file.fileno()), path)
            stored = file.read()
    except FileNotFoundError:
        return None
    except OSError as problem:
        tell(f"a kept kernel cannot be read ({_reason(problem)}), and is compiled again: {path}")
        return None
    content = stored[DIGEST:]
    if stored[:DIGEST] != _digest(path, content):
        tell(f"a damaged file of kept kernels is not used, and made again: {path}")
        return None
    return content


def store(path: Path, content: bytes, quietly: bool = False) -> None:
    """Put a whole file in the place of what is there, if anything can be written at all."""
    global unkept
    own = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    try:
        make_folder(path.parent)
        with open(own, "xb", opener=_open_no_link) as file:
            file.write(_digest(path, content) + content)
        if path.is_dir():  # damage: a name with a digest in it is nobody else's
            shutil.rmtree(path)
        own.replace(path)
    except OSError as problem:
        if not quietly:
            unkept = True
            tell(
                f"compiled kernels cannot be kept ({_reason(problem)}) in {path.parent}; "
                "set LINSEP_CACHE to another folder"
            )
    finally:
        with suppress(OSError):
            own.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder of the cache, in the place of a file if one is in the way."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        for part in (folder.parent, folder):
            if part != base() and base() in part.parents and part.is_file():
                part.unlink()
        folder.mkdir(0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_mode & 0o022 and about.st_uid == _user():
        folder.chmod(0o700)  # what others have put there is theirs, and not used
    _require_own(folder.stat(), folder)


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _require_own(about: os.stat_result, place: Path) -> None:
    """Refuse what another user has made, root excepted, or may change."""
    if about.st_uid not in (_user(), 0):
        raise PermissionError(errno.EPERM, f"{place} belongs to another user")
    if about.st_mode & 0o022 and os.name == "posix":
        raise PermissionError(errno.EPERM, f"other users may write to {place}")


def is_writable(folder: Path) -> bool:
    """Whether a file of a page can be written there now."""
    probe = folder / f".probe-{os.urandom(8).hex()}"
    try:
        make_folder(folder)
        with probe.open("xb") as file:
            file.write(bytes(4096))
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
    return True


def tell(text: str) -> None:
    """Say on stderr what is wrong with the cache, once in a process."""
    global trouble
    if trouble:
        return
    trouble = text
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # closed
            print(f"linsep: {text}", file=sys.stderr)


def _open_no_link(name: str, how: int) -> int:
    return os.open(name, how | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _digest(path: Path, content: bytes) -> bytes:
    name = f"{'/'.join(path.parts[-3:])}\0".encode()  # the first of them stands for all sources
    return hashlib.blake2b(name + content, digest_size=DIGEST).digest()


def _reason(problem: OSError) -> str:
    return problem.strerror or type(problem).__name__
