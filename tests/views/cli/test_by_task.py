"""The page of commands by task: each command is run as it stands there."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from linsep.views.cli import Commands, group

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "at-the-command-line.md").read_text("utf-8")
COMMANDS = re.findall(r"^\$ linsep (.+)$", PAGE, re.MULTILINE)


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_every_command_of_the_page_succeeds_in_its_order(tmp_path, monkeypatch):
    for path in (DOCS / "tutorial").glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        done = CliRunner().invoke(group, shlex.split(command))
        assert done.exit_code == 0, (command, done.output)
        assert done.stdout, command


def test_every_option_that_the_page_names_exists():
    known = {
        option
        for name in Commands().list_commands(None)
        for parameter in Commands().get_command(None, name).params
        for option in parameter.opts + parameter.secondary_opts
    }
    assert set(re.findall(r"(?<![\w|-])(--[a-z][\w-]*)", PAGE)) <= known | {"--help"}
    assert {command.split()[0] for command in COMMANDS} >= {
        "check", "fit", "predict", "score", "inspect", "certify", "compare", "export", "film",
    }  # fmt: skip
