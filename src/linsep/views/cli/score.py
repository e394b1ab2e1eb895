"""`linsep score`: how well a model does on labelled rows."""

import click

from linsep.views import arguments


@click.command("score", short_help="Compare what a model says of rows with their labels.")
@click.argument("model", type=arguments.FILE)
@click.argument("data", type=arguments.DATA)
@click.option(
    "--target", metavar="QUESTION",
    help="Another column or question for the labels than the one the model was fitted with.",
)  # fmt: skip
@arguments.classes
@arguments.bad_rows
@arguments.base
@arguments.reading
@arguments.strict_drift
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@arguments.as_json
def command(
    model: str,
    data: str,
    target: str | None,
    classes: str | None,
    bad_rows: str,
    base: str | None,
    reading: tuple[str, ...],
    strict: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compare what MODEL says of the rows of DATA with their labels.

    Prints the share of rows wrong, beside that of always saying the most frequent class, and the
    table of true against predicted classes; for a regression the root mean squared error and R².

    \b
    Example:
      linsep score people.linsep new-people.csv
    """
    import json

    from linsep import __version__
    from linsep.views.output_paths import require_other
    from linsep.views.scoring import score_rows, tell_drift
    from linsep.views.sources import left_out, open_source
    from linsep.views.stored import open_model

    require_other(data, {"--bad-rows": bad_rows})
    known = open_model(model)
    kept = arguments.split_classes(classes)
    how = arguments.how_to_read((), base, reading)
    source = open_source(data, target, kept, bad_rows, like=known, **how)
    figures = score_rows(known, source, "scoring", quiet)
    tell_drift(source, strict)
    if source.skipped:
        click.echo(f"{left_out(source.skipped)}.", err=True)
    if as_json:
        record = {"command": "score", "linsep": __version__, "model": model, "data": data}
        record |= {"learner": known.learner, "skipped": source.skipped}
        click.echo(json.dumps(record | figures.record()))
    else:
        click.echo(figures.text())
    if getattr(figures, "strangers", False):
        from linsep.errors import DataError

        raise DataError(
            "none of the labels is a class of the model: are they spelled as in the fit? "
            "linsep inspect MODEL lists its classes."
        )
