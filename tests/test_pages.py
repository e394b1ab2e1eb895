"""The guides say what holds: transcripts are repeated, tables are compared with the code."""

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import linsep
from linsep.views.cli import group
from linsep.views.data_sets import PUBLIC
from linsep.views.sources import EMBEDDED

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def plain(line):
    """A line of a transcript without what differs between machines: times, last digits, blanks."""
    line = re.sub(r"[-+]?\d+\.\d{3,}(e[-+]\d+)?|\d+\.\d+ s\b|\d(\.\d)?e[-+]\d+", "#", line)
    line = re.sub(r"\d+,\d{3}(?= bytes)", "#", line)  # as long as its decimals
    return " ".join(line.split())


def transcripts(page):
    """Commands of a page, each with the lines shown for it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield shlex.split(command), [line for line in lines if line and line != "…"]


def repeat(page):
    for command, lines in transcripts(page):
        assert command[0] == "linsep"
        done = CliRunner().invoke(group, command[1:])
        code = 0
        if lines and lines[-1].startswith("(exit code"):
            code = int(re.search(r"\d+", lines.pop())[0])
        assert done.exit_code == code, (command, done.output)
        printed = [plain(line) for line in done.output.splitlines()]
        for line in lines:
            assert plain(line) in printed, (command, line, done.output)


def test_the_tutorial_shows_what_the_commands_print(tmp_path, monkeypatch):
    for file in (DOCS / "tutorial").glob("*.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    repeat("tutorial.md")


def test_the_page_of_data_sets_shows_what_the_command_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    repeat("data-sets.md")


def test_every_data_set_is_on_its_page():
    text = (DOCS / "data-sets.md").read_text(encoding="utf-8")
    for name, one in PUBLIC.items():
        assert f"| `{name}` | {one.what} | {one.size} |" in text
        assert one.source in text
    assert all(f"`{name}`" in text for name in EMBEDDED)


@pytest.mark.parametrize("status", linsep.Status)
def test_every_ending_is_on_its_page_with_what_to_do(status):
    good, other = (DOCS / "endings.md").read_text(encoding="utf-8").split("## Endings that need")
    part = good if status.good else other
    rows = [line for line in part.splitlines() if line.startswith(f"| `{status.name}` |")]
    assert len(rows) == 1
    _, _, sentence, advice, _ = (cell.strip() for cell in rows[0].split("|"))
    assert sentence == status.value
    assert advice


def test_every_extra_is_on_the_page_of_installing():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (DOCS / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`linsep\[(\w+)\]`", text)) == set(project["optional-dependencies"])


AROUND = {"Layer", "ThresholdNetwork"}


@pytest.mark.parametrize("name", sorted({*linsep._LEARNERS, *AROUND}))
def test_every_learner_has_a_guide_with_all_its_parts(name):
    index = (DOCS / "learners/index.md").read_text(encoding="utf-8")
    file = re.search(rf"\| \[{name}\]\(([\w-]+\.md)\)", index)[1]
    text = (DOCS / "learners" / file).read_text(encoding="utf-8")
    assert text.startswith(f"# {name}\n")
    headings = " ".join(re.findall(r"^## (.+)$", text, re.MULTILINE)).lower()
    for part in ("objective", "update", "complexity", "when not to use it", "references"):
        assert part in headings, (name, part)
    assert "$" in text  # formulas
    assert ">>> " in text


def test_every_formula_of_the_pages_can_be_drawn(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from typeset import drawing

    formulas = set()
    for page in sorted(DOCS.rglob("*.md")):
        if not {"_build", "gallery"} & set(page.relative_to(DOCS).parts):
            text = re.sub(
                r"```.*?```|^ {4}.*?$|`[^`]*`",
                "",
                page.read_text(encoding="utf-8"),
                flags=re.DOTALL | re.MULTILINE,
            )
            formulas |= set(re.findall(r"\$\$(.+?)\$\$|(?<!\$)\$([^$]+)\$(?!\$)", text, re.DOTALL))
    assert len(formulas) > 30
    for block, inline in formulas:
        assert drawing(block or inline, 13).startswith("<svg")
