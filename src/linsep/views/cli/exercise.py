"""`linsep exercise 2.3 answer.py`: the exercises of the lectures, and checks of answers."""

import json
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from linsep import __version__

NAME = "answer"


@click.command("exercise", short_help="Exercises of the lectures, each with a check.")
@click.argument("number", required=False)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(number: str | None, file: str | None, as_json: bool) -> None:
    """List the exercises, print the one with NUMBER, or check the answer in FILE.

    FILE is a Python file that ends with the answer in a variable called `answer`; it is run as any
    program of yours. The command ends with 0 where the answer is right, and with 1 otherwise.

    \b
    Examples:
      linsep exercise
      linsep exercise 2.3
      linsep exercise 2.3 answer.py
    """
    from linsep.errors import ParameterError
    from linsep.views.exercises import Exercise, exercise, exercises

    def tell(text: object, **fields: object) -> None:
        record = {"command": "exercise", "linsep": __version__, **fields}
        click.echo(json.dumps(record, ensure_ascii=False) if as_json else text)

    if number is None:
        titles = {known: one.title for known, one in exercises().items()}
        tell("\n".join(map("  ".join, titles.items())), exercises=titles)
        return
    found = exercise(number)  # a number that is none is said before a file is run
    assert isinstance(found, Exercise)
    if file is None:
        tell(found, number=number, title=found.title, question=found.question, form=found.form)
        return
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        given = runpy.run_path(file)
    if NAME not in given:
        raise ParameterError(f"{Path(file).name} has no variable called {NAME}: answer = ...")
    verdict = found.check(given[NAME])
    tell(verdict, number=number, **verdict._asdict())
    raise SystemExit(int(not verdict))
