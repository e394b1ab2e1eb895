"""`linsep exercise 2.3 answer.py`: the exercises of the lectures, and checks of answers."""

import runpy
from pathlib import Path

import click

NAME = "answer"


@click.command("exercise", short_help="Exercises of the lectures, each with a check.")
@click.argument("number", required=False)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
def command(number: str | None, file: str | None) -> None:
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
    from linsep.views.exercises import Verdict, exercise, exercises

    if number is None:
        for known, one in exercises().items():
            click.echo(f"{known}  {one.title}")
        return
    if file is None:
        click.echo(exercise(number))
        return
    exercise(number)  # a number that is none is said before a file is run
    given = runpy.run_path(file)
    if NAME not in given:
        raise ParameterError(f"{Path(file).name} has no variable called {NAME}: answer = ...")
    verdict = exercise(number, given[NAME])
    click.echo(verdict)
    raise SystemExit(0 if isinstance(verdict, Verdict) and verdict.right else 1)
