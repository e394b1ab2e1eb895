"""The command line as a user meets it: real processes, real streams."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

import linsep as linsep_package
from linsep.learners.base import LinearClassifier
from linsep.views.cli import Commands, group
from linsep.views.cli.compare import LEARNERS, UNORDERED, _chosen

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


def linsep(*arguments: str, **options):
    return subprocess.run([*LINSEP, *arguments], capture_output=True, text=True, **options)


def commands() -> list[str]:
    return Commands().list_commands(None)


@pytest.mark.parametrize("arguments", [[], ["demo"], ["logic"]])
def test_help_imports_neither_the_compiler_nor_scikit_learn(arguments):
    script = (
        "import sys\n"
        "from linsep.views.cli import group\n"
        f"group({[*arguments, '--help']!r}, standalone_mode=False)\n"
        "print(sorted({'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_of_the_folder_is_in_the_help_with_a_sentence():
    text = CliRunner().invoke(group, ["--help"]).output
    for name in commands():
        line = next(line for line in text.splitlines() if line.startswith(f"  {name} "))
        assert len(line.split()) > 3
        assert line.endswith("."), f"cut off: {line}"


@pytest.mark.parametrize("name", commands())
def test_every_option_says_what_it_is_for(name):
    command = Commands().get_command(None, name)
    assert command.help
    for parameter in command.params:
        assert parameter.param_type_name == "argument" or parameter.help, parameter.name


@pytest.mark.parametrize(
    "words",
    ["fit", "fit a.csv --out", "fit a.csv --test", "fit a.csv --report", "fit a.csv --bad-rows",
     "check", "certify", "compare", "predict", "predict m", "score m", "inspect", "export",
     "export m", "film", "film t", "lab"],
)  # fmt: skip
def test_shells_complete_names_of_files(words):
    shell = BashComplete(group, {}, "linsep", "_LINSEP_COMPLETE")
    assert [item.type for item in shell.get_completions(words.split(), "")] == ["file"]


def test_shells_complete_embedded_sets_where_no_file_has_such_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = BashComplete(group, {}, "linsep", "_LINSEP_COMPLETE")
    assert [item.value for item in shell.get_completions(["fit"], "dig")] == ["digits", "digits01"]
    (tmp_path / "digs.csv").touch()
    assert [item.type for item in shell.get_completions(["fit"], "dig")] == ["file"]


def test_version_is_the_package_version():
    import linsep

    assert linsep.__version__ in linsep_output("--version")


def linsep_output(*arguments: str) -> str:
    return linsep(*arguments, check=True).stdout


def test_an_unknown_command_is_a_usage_error_on_stderr():
    done = linsep("frobnicate")
    assert (done.returncode, done.stdout) == (2, "")
    assert "frobnicate" in done.stderr


def test_demo_prints_the_lecture_table_and_reads_new_digits(tmp_path):
    done = linsep("demo", "--out", str(tmp_path), check=True)
    table = done.stdout.split("epoch  changes  train error  test error\n")[1].split("\n\n")[0]
    changes = [int(line.split()[1]) for line in table.splitlines()]
    assert changes[-1] == 0
    assert table.splitlines()[-1].split()[2] == "0.00%"
    share = float(done.stdout.split("New images read correctly: ")[1].split("%")[0])
    assert share > 85
    matrix = done.stdout.split("true \\ read")[1].splitlines()[1:11]
    counts = [[0 if c == "·" else int(c) for c in line.split()[1:]] for line in matrix]
    assert sum(map(sum, counts)) == 597
    assert sum(counts[k][k] for k in range(10)) / 597 == pytest.approx(share / 100, abs=1e-3)
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")
    assert "zeros-and-ones.html, " in done.stdout
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    assert "scores the new images with the same bytes" in done.stdout
    assert linsep_package.load(tmp_path / "digits.linsep").learner == "Perceptron"
    assert "SQLite agrees on 40 sample rows" in done.stdout
    assert (tmp_path / "digits.sql").read_text().startswith("-- Perceptron")


def test_a_closed_pipe_ends_the_demo_quietly(tmp_path):
    demo = subprocess.Popen(
        [*LINSEP, "logic", "x1 & x2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    demo.stdout.close()
    assert "Traceback" not in demo.stderr.read()
    demo.stderr.close()
    demo.wait()


def test_fit_offers_the_learners_and_nothing_else():
    from linsep.model.files import document
    from linsep.views import arguments

    offered = arguments.LEARNERS
    assert list(document.LEARNERS) == offered
    assert all(hasattr(getattr(linsep_package, name), "fit") for name in offered)
    assert {"Perceptron", "LinearRegression"} <= set(offered)


def test_learners_are_known_in_any_case():
    names = []
    for given in ("Perceptron", "perceptron"):
        done = CliRunner().invoke(group, ["fit", "iris", "--learner", given, "--json", "--quiet"])
        assert done.exit_code == 0, done.output
        names.append(json.loads(done.stdout)["learner"])
    assert names == ["Perceptron", "Perceptron"]


def test_demo_ends_with_a_proof_and_a_bound_that_holds(tmp_path):
    last = linsep("demo", "--out", str(tmp_path), check=True).stdout.splitlines()[-2:]
    assert last[0].startswith("Proof (checked in exact arithmetic), zeros against ones: Separable")
    words = last[1].split()
    made, most = int(words[3]), int(words[8])
    assert made <= most


def test_compare_shows_every_learner_and_agrees_with_its_json():
    table = linsep("compare", "iris", check=True).stdout
    rows = [json.loads(line) for line in linsep("compare", "iris", "--json").stdout.splitlines()]
    assert [row["learner"] for row in rows] == UNORDERED
    for row in rows:
        line = next(line for line in table.splitlines() if line.startswith(row["learner"] + " "))
        assert f"{row['test_error']:.2%}" in line
        assert row["status"] in line
    made = {row["learner"]: row for row in rows}
    assert made["Perceptron"]["train_error"] == 0  # it separates the rows, or says why not


def test_compare_takes_every_classifier_there_is_or_those_asked_for(capsys):
    found = {name: getattr(linsep_package, name) for name in linsep_package.__all__}
    classifiers = {
        name for name, one in found.items() if LinearClassifier in getattr(one, "__bases__", ())
    }
    assert set(LEARNERS) == classifiers
    asked = linsep("compare", "iris", "--learner", "LinearSVC", "--json", check=True).stdout
    assert [json.loads(line)["learner"] for line in asked.splitlines()] == ["LinearSVC"]
    assert set(LEARNERS) - set(_chosen((), 10_000)) == {"OrdinalRegression"}  # if asked for
    assert set(_chosen((), 10_000)) - set(_chosen((), 10_001)) == {"KernelPerceptron", "KernelSVC"}
    assert "--learner KernelPerceptron" in capsys.readouterr().err
    assert _chosen(("KernelPerceptron",), 10_001) == ["KernelPerceptron"]


def test_data_that_is_not_there_is_named_and_exits_with_three():
    done = linsep("compare", "nowhere.csv")
    assert (done.returncode, done.stdout) == (3, "")
    assert "nowhere.csv" in done.stderr


def test_errors_of_reading_name_options_of_the_command_line(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("1 0:1 3:2\n0 1:1 2:2\n")
    done = linsep("fit", str(path), "--base", "1")
    assert done.returncode == 3 and "pass --base 0" in done.stderr
    table = tmp_path / "t.csv"
    table.write_text("a,b,y\n1,2,p\n3,x,q\n5,6,p\n7,8,q\n9,1,p\n")
    done = linsep("fit", str(table))
    assert done.returncode == 3
    assert "--column 'b=text'" in done.stderr and "--bad-rows skip" in done.stderr


def test_what_check_says_to_do_next_keeps_what_was_asked(tmp_path):
    file = tmp_path / "some rows.csv"
    file.write_text("size,day,delay\n" + "".join(f"{k},{k % 3},{5 * k}\n" for k in range(9)))
    given = [str(file), "--target", "delay > 15", "--column", "day=drop", "--read", "decimal=,"]
    done = CliRunner().invoke(group, ["check", *given])
    assert done.stderr.splitlines()[-1].endswith(
        f"Next: linsep fit '{file}' --target 'delay > 15' --column day=drop --read decimal=,"
    )


def test_check_doubts_a_target_of_texts_and_shows_no_long_ones(tmp_path):
    file = tmp_path / "messages.tsv"
    lines = [f"{'spam' if k % 3 else 'ham'}\tmessage {k} {'is long ' * 9}\n" for k in range(60)]
    file.write_text("".join(lines))
    done = CliRunner().invoke(group, ["check", str(file)])
    assert "Pass it as --target." in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 1000
    assert "--target" not in CliRunner().invoke(group, ["check", str(file), "--target", "0"]).stdout


def test_check_names_options_in_the_reasons_of_bad_rows(tmp_path):
    file, listed = tmp_path / "d.csv", tmp_path / "bad.csv"
    good = "".join(f"{k},{k % 2}\n" for k in range(1200))
    file.write_text(f"size,y\n{good}many,1\n1,2,3,4\n")
    done = CliRunner().invoke(group, ["check", str(file), "--bad-rows", str(listed)])
    assert done.exit_code == 3
    assert "--column 'size=text'" in done.stderr and "columns=" not in done.stderr
    reasons = [row["reason"] for row in csv.DictReader(listed.read_text().splitlines())]
    assert reasons[0].startswith("'many' is not")
    assert reasons[1].startswith("the row has")


def test_how_a_fit_ended_is_told_in_words_of_the_command_line(tmp_path):
    file = tmp_path / "d.csv"
    rows = ((k * 1e6, k % 7, (k * k) % 5 > 2) for k in range(60))
    file.write_text("size,day,y\n" + "".join(f"{a},{b},{int(c)}\n" for a, b, c in rows))
    done = CliRunner().invoke(group, ["fit", str(file), "-p", "max_iter=1", "-p", "tol=1e-15"])
    assert "--scale mean" in done.stdout and "Scale" not in done.stdout, done.stdout
    never = ["fit", "xor", "--learner", "Perceptron", "-p", "max_iter=3", "-q"]
    done = CliRunner().invoke(group, never)
    assert "linsep certify proves" in done.stdout and "proof_" not in done.stdout


def test_the_documented_exit_codes_are_those_of_the_program():
    from linsep.views import cli
    from linsep.views.cli.fit import NOT_CONVERGED

    text = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| ([^|]+) \|", text, re.MULTILINE))
    codes = {cli.FAILURE, cli.USAGE, cli.BAD_DATA, cli.BAD_MODEL, cli.INTERRUPTED, NOT_CONVERGED}
    assert {int(code) for code in rows} == {0} | codes
