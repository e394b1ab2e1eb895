"""`linsep export`: a model for other programs."""

from typing import Any

import click

from linsep.views import arguments


@click.command(
    "export", short_help="Write a model as an ONNX graph, an SQL query or a Python file."
)
@click.argument("model", type=arguments.FILE)
@click.argument("out", type=arguments.FILE)
@click.option("--table", default="data", show_default=True, help="For .sql, name of the table.")
@arguments.as_json
def command(model: str, out: str, table: str, as_json: bool) -> None:
    """Write MODEL to OUT: an ONNX graph (.onnx), an SQL query (.sql), a Python file (.py).

    The file is run on sample rows first, and kept only if it answers as the model does.

    \b
    Examples:
      linsep export people.linsep people.onnx
      linsep export people.linsep people.sql --table people
      linsep export people.linsep people.py
    """
    import json

    from linsep import __version__
    from linsep.model.export.export import export
    from linsep.views.stored import open_model

    made = export(open_model(model), out, table=table)
    if as_json:
        record: dict[str, Any] = {
            "command": "export",
            "linsep": __version__,
            "model": model,
            "out": out,
        }
        record |= {"format": made.format, "bytes": made.size, "checked_rows": made.rows}
        click.echo(json.dumps(record | {"largest_difference": made.difference}))
        return
    click.echo(
        f"{out}: {made.size:,} bytes; on {made.rows} sample rows its scores differ from the "
        f"model's by at most {made.difference:.1e}."
    )
