"""Where a command will write and what else it will read: looked at before the work, not after."""

import os
from pathlib import Path

import click

from linsep.data.files.special_files import kind_of, own_descriptor, require_writable_kind
from linsep.errors import LinsepError


def require_place(option: str, path: str | os.PathLike[str] | None, suffix: str = "") -> None:
    """Refuse a path that could not be written once the work is done.

    >>> require_place("--out", "/no/such/folder/model.linsep")
    Traceback (most recent call last):
    linsep.errors.LinsepError: --out is '/no/such/folder/model.linsep', but there is no folder ...
    """
    if path is None or is_stdout(path):
        return
    place = Path(path)
    if suffix and place.suffix.lower() != suffix:
        raise click.BadParameter(f"{str(path)!r}; end it in {suffix}.", param_hint=option)
    require_writable_kind(place, f"{option} is {str(path)!r}, which")
    if kind_of(place) is not None or own_descriptor(place) is not None:
        if not os.access(place, os.W_OK):
            raise LinsepError(f"{option} is {str(path)!r}, to which nothing may be written.")
        return
    folder = Path(os.path.realpath(place)).parent
    if not folder.is_dir():
        raise LinsepError(
            f"{option} is {str(path)!r}, but there is no folder {str(folder)!r}; make it first, or "
            "choose another."
        )
    if not os.access(folder, os.W_OK):
        raise LinsepError(
            f"{option} is {str(path)!r}, but nothing may be written into {str(folder)!r}; choose "
            "another folder."
        )


def require_other(data: str, writes: dict[str, str | None]) -> None:
    """Refuse to write over what is to be read."""
    for option, path in writes.items():
        if path in (None, "-", "fail", "skip") or not Path(data).exists():
            continue
        if Path(path).exists() and Path(path).samefile(data):
            raise click.UsageError(
                f"{option} is {path!r}, which is the file to be read; name another file."
            )


def is_stdout(path: str | os.PathLike[str] | None) -> bool:
    """Whether a path stands for standard output.

    >>> is_stdout("-"), is_stdout("/dev/stdout"), is_stdout("model.linsep"), is_stdout(None)
    (True, True, False, False)
    """
    return path is not None and (str(path) == "-" or own_descriptor(path) == 1)


def require_one(way: str, claims: dict[str, bool]) -> None:
    """Refuse a command whose options want standard input, or output, more than once."""
    claiming = [option for option, claimed in claims.items() if claimed]
    if len(claiming) > 1:
        raise click.UsageError(
            f"{' and '.join(claiming)} all want standard {way}; name a file for all but one."
        )


def require_matplotlib() -> None:
    """Refuse a report that nothing could draw, before the work is done."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise LinsepError(
            "The pictures of a report are drawn by matplotlib: pip install 'linsep[plot]'"
        ) from None
