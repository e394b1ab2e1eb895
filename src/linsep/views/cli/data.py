"""`linsep data`: which data sets there are, and which files to put where."""

import shlex
from pathlib import Path

import click

from linsep.views.arguments import as_json
from linsep.views.data_sets import FOLDER, PUBLIC
from linsep.views.sources import EMBEDDED


@click.command("data", short_help="Say where a data set comes from, and where to put its files.")
@click.argument("name", required=False)
@click.option(
    "--folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Folder that holds a folder for each data set.",
)
@as_json
def command(name: str | None, folder: Path, as_json: bool) -> None:
    """List the data sets that pages, tests and benchmarks use, or explain the one NAMEd.

    Nothing is downloaded. Built-in sets need no file. For the others the command says what they
    are, where they come from, and which files to put into which folder.

    \b
    Examples:
      linsep data
      linsep data mnist --folder ~/data
    """
    if name is None:
        _list(folder, as_json)
    elif name in EMBEDDED:
        _embedded(name, as_json)
    elif name in PUBLIC:
        _public(name, folder, as_json)
    else:
        known = ", ".join([*EMBEDDED, *PUBLIC])
        raise click.UsageError(f"NAME is {name!r}; the data sets are {known}.")


def _missing(name: str, folder: Path) -> list[str]:
    return [file for file in PUBLIC[name].files if not (folder / name / file).exists()]


def _list(folder: Path, as_json: bool) -> None:
    there = {name: not _missing(name, folder) for name in PUBLIC}
    if as_json:
        _print({"embedded": list(EMBEDDED), "public": there, "folder": str(folder)})
        return
    click.echo("Built in, ready to use:")
    for name, what in EMBEDDED.items():
        click.echo(f"  {name:<12} {what}")
    click.echo(f"\nPublic, to be put into {folder}/NAME:")
    for name, one in PUBLIC.items():
        click.echo(f"  {name:<12} {'there  ' if there[name] else 'missing'}  {one.what}")
    click.echo("\nlinsep data NAME says which files to put where.")


def _embedded(name: str, as_json: bool) -> None:
    if as_json:
        _print({"name": name, "what": EMBEDDED[name], "files": [], "missing": []})
        return
    click.echo(f"{name}: {EMBEDDED[name]}.\nBuilt in; no file is needed.\nTry: linsep fit {name}")


def _public(name: str, folder: Path, as_json: bool) -> None:
    one, missing = PUBLIC[name], _missing(name, folder)
    if as_json:
        _print(
            {"name": name, "what": one.what, "size": one.size, "source": one.source,
             "folder": str(folder / name), "files": list(one.files), "missing": missing}
        )  # fmt: skip
        return
    click.echo(f"{name}: {one.what}.\n{one.size}; {one.note}.\nFrom: {one.source}")
    click.echo(f"\nPut into {folder / name}:")
    for file in one.files:
        click.echo(f"  {'missing' if file in missing else 'there  '}  {file}")
    click.echo(f"\nThen: {one.command.replace('{}', shlex.quote(str(folder / name)))}")


def _print(record: dict[str, object]) -> None:
    import json

    from linsep import __version__

    click.echo(json.dumps({"command": "data", "linsep": __version__} | record))
