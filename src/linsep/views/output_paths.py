"""Where a command will write and what else it will read: looked at before the work, not after."""

import os
from pathlib import Path

import click

from linsep.errors import LinsepError


def require_place(option: str, path: str | os.PathLike[str] | None, suffix: str = "") -> None:
    """Refuse a path that could not be written once the work is done.

    >>> require_place("--out", "/no/such/folder/model.linsep")
    Traceback (most recent call last):
    linsep.errors.LinsepError: --out is '/no/such/folder/model.linsep', but there is no folder ...
    """
    if path is None or str(path) == "-":
        return
    place = Path(path)
    if suffix and place.suffix.lower() != suffix:
        raise click.BadParameter(f"{str(path)!r}; end it in {suffix}.", param_hint=option)
    if place.is_dir():
        raise LinsepError(f"{option} is {str(path)!r}, which is a folder; name a file in it.")
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


def require_one(way: str, claims: dict[str, bool]) -> None:
    """Refuse a command whose options want standard input, or output, more than once."""
    claiming = [option for option, claimed in claims.items() if claimed]
    if len(claiming) > 1:
        raise click.UsageError(
            f"{' and '.join(claiming)} all want standard {way}; name a file for all but one."
        )
