"""How commands are told what to read and where to write, and refuse before the work, not after."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from linsep.views.cli import group

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


def run(*arguments):
    return CliRunner().invoke(group, [str(one) for one in arguments])


def process(*arguments, data=None):
    """Exit code, stdout and stderr of a real process."""
    done = subprocess.run(
        [*LINSEP, *map(str, arguments)], input=data, capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_how_to_read_can_be_told_to_every_command_that_reads(tmp_path):
    table = tmp_path / "t.csv"
    table.write_bytes("made by hand\nname;v;y\nM\xfcller;1,5;p\nMaier;-2;q\n".encode("latin-1")
                      + b"Huber;2,5;p\nLang;?;q\n")  # fmt: skip
    code, out, error = process("check", table)
    assert code == 3 and "pass --read encoding=latin-1" in error
    code, out, error = process("check", table, "--read", "encoding=latin-1")
    assert code == 3 and "pass --read skip=NUMBER to leave out lines" in error
    how = ["--read", "encoding=latin-1", "--read", "skip=1"]
    code, out, error = process("check", table, *how, "--json")
    assert code == 0, error
    seen = json.loads(out)
    assert [c["categories"] for c in seen["columns"]] == [
        ["Huber", "Lang", "Maier", "Müller"],
        None,
    ]
    model = tmp_path / "m.linsep"
    code, out, error = process("fit", table, *how, "--out", model, "--test", table, "--json")
    assert code == 0, error
    assert json.loads(out)["test"]["rows"] == 4
    assert process("predict", model, table, *how)[1].split() == ["p", "q", "p", "q"]
    assert process("score", model, table, *how)[0] == 0
    assert process("certify", table, *how, "--column", "name=drop")[0] == 0
    asked = ["--learner", "FisherDiscriminant", "--test-share", "0.5"]
    code, _, error = process("compare", table, *how, *asked)
    assert code == 0, error
    table.write_text("x,y\n1,p\n-,q\nnix,q\n2,p\n")
    code, out, error = process("check", table, "--read", "missing=-,nix", "--json")
    assert json.loads(out)["columns"][0]["missing"] == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("colour=red", "'colour=red'; give NAME=VALUE, with a name of format, delimiter"),
        ("skip", "'skip'; give NAME=VALUE"),
        ("skip=two", "skip is 'two'; give a whole number >= 0"),
        ("skip=-1", "skip is '-1'; give a whole number >= 0"),
        ("header=1", "header is '1'; give true or false"),
        ("delimiter=::", "delimiter is '::'; give one character, or one of tab, space"),
        ("format=xls", "format is 'xls'; choose one of csv"),
    ],
)
def test_a_way_of_reading_that_is_none_is_a_usage_error(tmp_path, asked, message):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,p\n2,q\n")
    code, _, error = process("check", table, "--read", asked)
    assert code == 2
    assert message in error
    code, _, error = process("check", "iris", "--read", "skip=1")
    assert code == 2 and "built-in set, whose columns are fixed" in error


def test_a_built_in_set_is_not_sent_to_a_cluster():
    code, _, error = process("fit", "iris", "--cluster", "local")
    assert code == 2 and "iris is a built-in set" in error and "leave out --cluster" in error


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--out", "{}/no/model"], 1, "--out is '{}/no/model', but there is no folder '{}/no'"),
        (["--out", "{}"], 1, "--out is '{}', which is a folder; name a file in it"),
        (["--trace", "{}/no/run"], 1, "--trace is '{}/no/run', but there is no folder"),
        (["--report", "{}/no/r.html"], 1, "--report is '{}/no/r.html', but there is no folder"),
        (["--report", "r.pdf"], 2, "--report: 'r.pdf'; end it in .html"),
        (["--report", "-"], 2, "a report is a page: name a file"),
        (["--test", "{}/none.csv"], 3, "--test is '{}/none.csv': no such file"),
        (["--out", "-", "--json"], 2, "--out and --json all want standard output"),
        (["--out", "-", "--trace", "-"], 2, "--out and --trace all want standard output"),
    ],
    ids=str,
)
def test_what_would_be_refused_after_the_fit_is_refused_before_it(tmp_path, options, code, message):
    options = [one.format(tmp_path) for one in options]
    found, out, error = process("fit", "iris", "--learner", "Perceptron", *options)
    assert found == code
    assert message.format(*[tmp_path] * message.count("{}")) in " ".join(error.split())
    assert not out and "pass 1" not in error


def test_standard_input_is_read_once():
    code, _, error = process("fit", "-", "--test", "-", data=b"x,y\n1,p\n2,q\n")
    assert code == 2
    assert "DATA and --test all want standard input" in error


def test_errors_name_standard_input_and_not_where_it_was_kept():
    code, _, error = process("fit", "-", data=b"")
    assert (code, error) == (3, "Error: standard input is empty; rows are wanted.\n")
    lines = b"x,y\n1,p\n2,q\nz,p\n3,q\n4,p\n"
    code, _, error = process("fit", "-", data=lines)
    assert code == 3 and "Error: standard input, line 4, column 'x': 'z' is not a" in error
    code, out, error = process("check", "-", "--json", data=lines)
    assert code == 3 and "1 row (line 4): column 'x': 'z' is not a finite number" in error
    assert json.loads(out)["bad_rows"][0].startswith("standard input, line 4")
    code, _, error = process("fit", "-", "--bad-rows", "skip", data=lines)
    assert code == 0 and "first: standard input, line 4" in error


def test_a_trace_can_go_through_a_pipe():
    code, out, error = process(
        "fit", "iris", "--learner", "Perceptron", "-p", "max_iter=2", "--trace", "-",
    )  # fmt: skip
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[0]["linsep_trace"] == 1 and lines[-1]["kind"] == "end"
    assert "Perceptron on 150 rows" in error


def test_bad_test_rows_are_counted_and_listed_apart(tmp_path):
    train, test, bad = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "bad.csv"
    train.write_text("x,y\n1,p\n2,q\nz,p\n3,q\n4,p\n")
    test.write_text("x,y\n1,p\nhm,q\noh,q\n")
    done = run("fit", train, "--test", test, "--bad-rows", bad, "--json")
    record = json.loads(done.stdout)
    assert (record["skipped"], record["test"]["skipped"]) == (1, 2)
    assert bad.read_text().count("\n") == 2
    assert (tmp_path / "bad-test.csv").read_text().count("\n") == 3
    told = run("fit", train, "--test", test, "--bad-rows", bad).stdout
    assert "2 test rows could not be read and were left out, and listed in" in told
    quiet = run("fit", train, "--bad-rows", "skip", "-q").stdout
    assert "1 training row could not be read and was left out." in quiet
