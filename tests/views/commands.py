"""Commands of linsep, run in this process or in one of their own."""

import subprocess
import sys

from click.testing import CliRunner

from linsep.views.cli import group

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


def run(*arguments, **options):
    return CliRunner().invoke(group, [str(one) for one in arguments], **options)


def process(*arguments, data=None):
    """Exit code, stdout and stderr of a real process."""
    done = subprocess.run(
        [*LINSEP, *map(str, arguments)], input=data, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode()
