"""`linsep film`: a recorded run as a page that plays it, or as moving pictures."""

import sys
from typing import Any

import click

from linsep.views import arguments


@click.command("film", short_help="Show a recorded run as a page or as moving pictures.")
@click.argument("trace", type=arguments.FILE)
@click.argument("out", type=arguments.FILE)
@arguments.as_json
def command(trace: str, out: str, as_json: bool) -> None:
    """Show the run recorded in TRACE as OUT: a page (.html) or moving pictures (.gif).

    TRACE is what `linsep fit --trace FILE` wrote; - is standard input. The page is one file that
    plays, steps and scrubs the run in the space of rows and in the space of weights, says why each
    correction was made, and shows what is proved. It asks for nothing from elsewhere.

    \b
    Examples:
      linsep fit points.csv --learner Perceptron --trace run.jsonl
      linsep film run.jsonl run.html
    """
    import json

    from linsep import __version__
    from linsep.views.film import film

    made = film(_read(trace), out)
    if as_json:
        record: dict[str, Any] = {
            "command": "film",
            "linsep": __version__,
            "trace": trace,
            "out": out,
        }
        record |= {"format": made.format, "bytes": made.size, "frames": made.frames}
        click.echo(json.dumps(record | {"corrections": made.corrections, "rows": made.rows}))
        return
    click.echo(
        f"{out}: {made.size:,} bytes, {made.frames:,} frames of a run of {made.corrections:,} "
        f"corrections on {made.rows:,} rows."
    )


def _read(path: str) -> object:
    from linsep.train.run.trace import Trace
    from linsep.train.run.trace_file import read_into

    if path != "-":
        return Trace.load(path)
    trace = Trace("", {}, [])
    read_into(trace, sys.stdin, "standard input")
    return trace
