"""The command line: a thin shell over the library.

Data go to stdout, everything else to stderr. Commands load on first use, and what they need loads
inside them, so that `linsep --help` does not bring in scikit-learn.
"""

import atexit
import os
import signal
import sys
import threading
import traceback
from importlib import import_module
from pkgutil import iter_modules
from typing import NoReturn

import click

from linsep import __version__
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


def _where(problem: OSError) -> str:
    """The file that the system named, or standard output where it was in printing."""
    if problem.filename is not None:
        return f"{problem.filename}: "
    frames = traceback.walk_tb(problem.__traceback__)
    printing = any(frame.f_code is click.echo.__code__ for frame, _ in frames)
    return "standard output: " if printing else ""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    _end_as_by_ctrl_c()
    _leave(_run())


def _end_as_by_ctrl_c() -> None:
    """Let SIGTERM, and SIGHUP of a terminal that goes, save as Ctrl-C does; nohup stays so."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if os.name == "posix" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)


def _run() -> int:
    """The exit code of the command."""
    try:
        group(standalone_mode=False)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else FAILURE if ending.code else 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except DataError as problem:
        click.echo(f"Error: {_told(problem)}", err=True)
        return BAD_DATA
    except ModelFileError as problem:
        click.echo(f"Error: {problem}", err=True)
        return BAD_MODEL
    except ParameterError as problem:
        click.echo(f"Error: {_told(problem)}", err=True)
        return USAGE
    except LinsepError as problem:
        click.echo(f"Error: {_told(problem)}", err=True)
        return FAILURE
    except BrokenPipeError:
        sys.stderr.close()  # the reader left; there is nobody to tell
        os._exit(0)  # closing stdout at exit would complain once more
    except OSError as problem:
        from linsep.data.files.system_errors import explain

        click.echo(f"Error: {_where(problem)}{explain(problem)}", err=True)
        return FAILURE
    except (MemoryError, ImportError, RuntimeError, SystemError) as problem:
        from linsep.data.files.system_errors import is_short_of_memory

        if not is_short_of_memory(problem):
            raise
        said = f" ({problem})" if str(problem) else ""
        click.echo(
            f"Error: memory is used up{said}. Free some or raise the limit (ulimit -v), or take "
            "fewer rows or columns.",
            err=True,
        )
        return FAILURE
    return 0


def _leave(code: int) -> NoReturn:
    """End the process: all that was written is out, all that is temporary is gone.

    What is left of the interpreter's own end is to take memory apart piece by piece, a quarter of
    a second after some fits; the system takes it back at once. Threads still at work keep the long
    way, which waits for them.
    """
    if any(one.is_alive() and not one.daemon for one in threading.enumerate()[1:]):
        sys.exit(code)
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # a full disk, a closed pipe: the long way tells of it
        sys.exit(code)
    os._exit(code)
