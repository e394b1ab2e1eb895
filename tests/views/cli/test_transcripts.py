"""What the page about the command line shows of three messy tables is what the commands print."""

import re

import pytest
from transcripts import PAGE, commands, make_tables, said, section, shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("messy")
    make_tables(made)
    return made


NUMBER = re.compile(r"\d+\.\d+(?:e-?\d+)?")
SIZE = re.compile(r"(?<=churn\.py: )[\d,]+(?= bytes)")  # weights in decimals: as long as they are


def alike(actual, lines):
    """The same lines; decimals may differ as processors, or another step of a solver, make them."""
    actual, lines = ([SIZE.sub("#", line) for line in some] for some in (actual, lines))
    assert [NUMBER.sub("#", line) for line in actual] == [NUMBER.sub("#", line) for line in lines]
    for one, other in zip(actual, lines, strict=True):
        if "by at most" not in one:  # what is left of a gap is rounding
            pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
            assert all(abs(float(a) - float(b)) <= 3e-4 + 1e-3 * float(b) for a, b in pairs), one
    return True


def test_the_transcripts_of_three_messy_tables_are_true(folder):
    text = PAGE.read_text()
    start, end = section(text)
    blocks = re.findall(r"```console\n(.*?)\n```", text[start:end], re.DOTALL)
    told = 0
    for block in blocks:
        for command, lines in commands(block):
            assert alike(shown(lines, said(command, folder)), lines), command
            told += 1
    assert told >= 9
    for line in re.findall(r"^(\S.*rows wrong;.*)$", text[start:end], re.MULTILINE):
        assert "Cross-validation" in line or "Held-out" in line  # of rows that no fit has seen
