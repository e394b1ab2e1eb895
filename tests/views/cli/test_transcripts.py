"""What the page about the command line shows of three messy tables is what the commands print."""

import re

import pytest
from transcripts import PAGE, commands, make_tables, said, section, shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("messy")
    make_tables(made)
    return made


def rounded(lines):
    """Long decimals cut, and rounding errors left out: they differ between processors."""
    short = [re.sub(r"(\d\.\d{7})\d+", r"\1", line) for line in lines]
    return [re.sub(r"by at most \S+\.", "by at most little.", line) for line in short]


def test_the_transcripts_of_three_messy_tables_are_true(folder):
    text = PAGE.read_text()
    start, end = section(text)
    blocks = re.findall(r"```console\n(.*?)\n```", text[start:end], re.DOTALL)
    told = 0
    for block in blocks:
        for command, lines in commands(block):
            assert rounded(shown(lines, said(command, folder))) == rounded(lines), command
            told += 1
    assert told >= 9
    for line in re.findall(r"^(\S.*rows wrong;.*)$", text[start:end], re.MULTILINE):
        assert "Cross-validation" in line or "Held-out" in line  # of rows that no fit has seen
