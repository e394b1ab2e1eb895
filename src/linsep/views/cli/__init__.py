"""The command line: a thin shell over the library.

Data go to stdout, everything else to stderr. Commands load on first use, and what they need loads
inside them, so that `linsep --help` brings in neither the compiler nor scikit-learn.
"""

import os
import sys
from importlib import import_module
from pkgutil import iter_modules

import click

from linsep import __version__, _face
from linsep.errors import DataError, LinsepError, ModelFileError, ParameterError

FAILURE, USAGE, BAD_DATA, BAD_MODEL, INTERRUPTED = 1, 2, 3, 4, 130


class Commands(click.Group):
    """One command per module of this folder, each holding an object named `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in iter_modules(__path__))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{__name__}.{name}").command
        return command


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try `linsep demo`.",
)
@click.version_option(__version__, prog_name="linsep")
def group() -> None:
    """Linear classification that is fast, exact where it can be, and proves its answers."""


def _told(problem: Exception) -> str:
    from linsep.views.arguments import in_options

    return in_options(str(problem))


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _face.own_process = True
    try:
        group(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        sys.exit(INTERRUPTED)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except DataError as problem:
        click.echo(f"Error: {_told(problem)}", err=True)
        sys.exit(BAD_DATA)
    except ModelFileError as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(BAD_MODEL)
    except ParameterError as problem:
        click.echo(f"Error: {_told(problem)}", err=True)
        sys.exit(USAGE)
    except LinsepError as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(FAILURE)
    except BrokenPipeError:
        sys.stderr.close()  # the reader left; there is nobody to tell
        os._exit(0)  # closing stdout at exit would complain once more
