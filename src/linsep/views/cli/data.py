"""`linsep data`: which data sets there are, and which files to put where."""

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
    help="Where to look for the folders of the data sets.",
)
@as_json
def command(name: str | None, folder: Path, as_json: bool) -> None:
    """List the data sets that pages, tests and benchmarks use, or explain the one NAMEd.

    Nothing is fetched. Embedded sets need no file. Of the others you are told what they are, where
    they come from, and which files belong into which folder.

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
    click.echo("Embedded, ready to use:")
    for name, what in EMBEDDED.items():
        click.echo(f"  {name:<12} {what}")
    click.echo(f"\nPublic, looked for in {folder}:")
    for name, one in PUBLIC.items():
        click.echo(f"  {name:<12} {'there  ' if there[name] else 'missing'}  {one.what}")
    click.echo("\nlinsep data NAME says which files to put where.")


def _embedded(name: str, as_json: bool) -> None:
    if as_json:
        _print({"name": name, "what": EMBEDDED[name], "files": [], "missing": []})
        return
    click.echo(f"{name}: {EMBEDDED[name]}.\nEmbedded; no file is needed.\nTry: linsep fit {name}")


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
    click.echo(f"\nThen, in that folder or beside it: {one.command}")


def _print(record: dict[str, object]) -> None:
    import json

    from linsep import __version__

    click.echo(json.dumps({"command": "data", "linsep": __version__} | record))
