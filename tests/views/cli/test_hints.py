"""Every hint that a command prints is a command, or an option, that works."""

import json
import re
import shlex

import numpy as np
import pytest
from commands import run

from linsep.errors import LinsepError
from linsep.views.arguments import in_options
from linsep.views.cli import group

USAGE, BAD_DATA = 2, 3
PLACEHOLDERS = re.compile(r"\b(NAME|NUMBER|SIGN|FOLDER|FILE|VALUE|COLUMN|MODEL|DATA|NEW_DATA)\b")
OPTION = re.compile(r"(--[a-z][a-z-]+)((?:[ =](?:'[^']*'|[^\s,;:)]+))?)")


def table(head, *columns, sep=","):
    """A CSV text from columns of cells."""
    return (
        "\n".join([head, *(sep.join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n"
    )


K = range(60)
X = [(37 * k) % 61 for k in K]
Y = ["yes" if (13 * k) % 31 > 14 else "no" for k in K]
SENTENCES = [
    f"the {w} one of {(7 * k) % 60} was not so good in {k}" for k, w in zip(K, Y, strict=True)
]

ZOO = {
    "ids": table("id,x,y", [f"C-{k}" for k in K], X, Y),
    "numbers that count": table("row,x,y", K, X, Y),
    "spaces and signs in names": table("my id,a=b,it's,y", [f"C{k}" for k in K], [1] * 60, X, Y),
    "unicode": table("größe,naïve idé,y", X, [f"ä{k}" for k in K], Y),
    "semicolons": table("x;z;y", X, [f"{k},5" for k in X], Y, sep=";"),
    "thousands": table("x,y", [f'"1,{k:03d}"' for k in X], Y),
    "a word for missing": table("x,y", ["unknown" if k % 9 == 0 else X[k] for k in K], Y),
    "words for missing": table("x,z,y", ["n/k" if k % 9 == 0 else X[k] for k in K],
                               ["o'clock" if k % 7 == 0 else X[k] for k in K], Y),
    "gaps": table("x,z,y", ["" if k % 3 == 0 else X[k] for k in K], X[::-1], Y),
    "empty column": table("x,z,y", X, [""] * 60, Y),
    "case": table("x,plan,y", X, [["Pro", "pro", "FREE", "free"][k % 4] for k in K], Y),
    "dates": table("x,when,y", X, [f"2023-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in K], Y),
    "days first": table("x,when,y", X, [f"{k % 28 + 1}/{k % 12 + 1}/2023" for k in K], Y),
    "leak": table("x,gone,y", X, ["2024-01-01" if one == "yes" else "" for one in Y], Y),
    "again": table("x,z,w,y", X, X, [2.5 * one + 1 for one in X], Y),
    "sentences": table("x,note,y", X, SENTENCES, Y),
    "few positives": table("x,y", X, ["yes" if k % 25 == 0 else "no" for k in K]),
    "a number to predict": table("x,y", X, [f"{one * 1.7 + k % 7:.3f}" for k, one in enumerate(X)]),
    "ragged": table("x,z,y", X, X[::-1], Y) + "1,2\n1,2,3,yes\n",
    "texts among numbers": table("x,y", [f"{k}?" if k in (3, 50) else X[k] for k in K], Y),
    "repeated rows": table("x,y", [k % 3 for k in K], ["a" if k % 3 else "b" for k in K]),
    "wide": table("y," + ",".join(f"g{j}" for j in range(80)), Y,
                  *np.random.default_rng(0).normal(size=(80, 60)).round(3).tolist()),
    "infinite": table("x,y", ["inf" if k == 7 else X[k] for k in K], Y),
    "a byte order mark": "\ufeff" + table("x,y", X, Y),
}  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def works(*command):
    done = run(*command)
    assert done.exit_code == 0, (command, done.exit_code, done.output, done.stderr)


def next_commands(text):
    """Whole commands that a text says to go on with."""
    for line in text.splitlines():
        for told in re.findall(r"(?:Next|Then|Try): (linsep .*)", line):
            for one in told.split(" · "):
                if not PLACEHOLDERS.search(one) and "linsep " in one:
                    yield shlex.split(one.rstrip("."))[1:]


@pytest.mark.parametrize("name", ZOO)
def test_what_check_says_to_do_works(name, place):
    path = place / "t.csv"
    path.write_text(ZOO[name])
    fit = ["fit", path, "--target", "y"]
    done = run("check", path, "--target", "y")
    assert done.exit_code in (0, BAD_DATA), done.output
    commands = list(next_commands(done.stderr))
    assert commands
    skip = ["--bad-rows", "skip"] if "--bad-rows skip" in done.stderr else []
    learner = ["--learner", "LinearRegression"] if "numbers to predict" in done.output else []
    for command in commands:
        works(*command, *skip, *learner)
    for option in re.findall(r"(--read (?:'[^']*'|\S+))$", done.stderr, re.MULTILINE):
        works(*fit, *shlex.split(option), *skip)
    for one in json.loads(run("check", path, "--target", "y", "--json").stdout)["findings"]:
        for option in (one["option"] or "").split(", or "):
            if option:
                words = shlex.split(option.replace("VALUE", "20"))
                base = fit[:2] if "--target" in words else fit
                works(*base, *words, *skip)


@pytest.mark.parametrize("name", ZOO)
def test_what_an_error_or_an_ending_says_to_do_can_be_typed(name, place):
    """Options that are named exist; those with a value are taken by the command."""
    path = place / "t.csv"
    path.write_text(ZOO[name])
    for command in (
        ["fit", path], ["fit", path, "--target", "z"], ["certify", path, "--target", "y"],
        ["fit", path, "--target", "y", "--learner", "Perceptron", "-p", "max_iter=2"],
        ["fit", path, "--target", "y", "--out", "m.linsep"],
    ):  # fmt: skip
        done = run(*command)
        said = done.stderr
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            assert isinstance(done.exception, LinsepError)
            said += in_options(str(done.exception))
        for other in next_commands(said):
            works(*other)
        known = {one for part in group.get_command(None, command[0]).params for one in part.opts}
        for option, value in OPTION.findall(said):
            assert option in known, (command, option, said)
            value = value.strip(" =")
            if value and not PLACEHOLDERS.search(value) and option in ("--column", "--bad-rows"):
                again = run(*command, option, *shlex.split(value))
                assert again.exit_code != USAGE, (command, option, value, again.stderr)
                if done.exception is not None:  # it settles what was wrong, or meets the next
                    assert str(again.exception) != str(done.exception), (command, option, value)
