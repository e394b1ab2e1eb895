"""`linsep experiment NAME`: one finding of the lectures, measured again."""

import json
from pathlib import Path

import click

from linsep.views.experiments import names, summary


def _list(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        for name in names():
            click.echo(f"{name:<16} {summary(name)}")
        ctx.exit()


@click.command("experiment", short_help="Measure a finding of the lectures again.")
@click.argument("name", type=click.Choice(names()))
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list,
    help="Say what each experiment shows.",
)  # fmt: skip
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the four MNIST files, for experiments on digits.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for the picture.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
def command(name: str, data: Path | None, out: Path, as_json: bool) -> None:
    """Measure a finding of the lectures again: table, claims and picture.

    Built-in or generated data are used unless --data gives MNIST. Every claim is tested on the
    numbers just measured; the exit code is 1 if one fails.
    """
    from linsep.views.experiments import find

    findings = find(name, data)
    path: Path | None = out / f"{name}.png"
    try:
        findings.save(out / f"{name}.png")
    except ModuleNotFoundError:
        path = None
        click.echo("For the picture: pip install 'linsep[plot]'", err=True)
    if as_json:
        picture = None if path is None else str(path)
        click.echo(json.dumps({"experiment": name, **findings.record(), "picture": picture}))
    else:
        click.echo(str(findings))
    if path is not None:
        click.echo(f"The picture is in {path}", err=True)
    if not findings.hold:
        raise SystemExit(1)
