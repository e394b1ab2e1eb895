"""Every command speaks JSON, with the fields that the documents list."""

import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commands import LINSEP, run

from linsep.views.cli import Commands

DOCS = Path(__file__).parents[3] / "docs"


def documented(name):
    """Fields and types of a command in docs/json.md."""
    text = (DOCS / "json.md").read_text()
    part = text.split(f"## `{name}`\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([a-z ]+) \|", part, re.MULTILINE))


KINDS = {
    "string": str, "number": (int, float), "integer": int, "boolean": bool, "array": list,
    "object": dict, "label": (str, int, float, bool), "null": type(None),
}  # fmt: skip


def fits(value, kinds):
    asked = kinds.split(" or ")
    if isinstance(value, bool):
        return "boolean" in asked or "label" in asked
    return any(isinstance(value, KINDS[kind]) for kind in asked)


@pytest.mark.parametrize("name", Commands().list_commands(None))
def test_every_command_takes_json_and_has_a_schema(name):
    options = [one for parameter in Commands().get_command(None, name).params
               for one in parameter.opts]  # fmt: skip
    assert "--json" in options
    assert documented(name)


def assert_documented(name, text):
    record = json.loads(text)
    fields = documented(name)
    assert not set(record) - set(fields)
    assert not [key for key, value in record.items() if not fits(value, fields[key])]
    return record


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["x1 & x2"], {"proof", "network"}),
        (["x1 ^ x2"], {"unit"}),
        (["x1 | x2", "--network", "--no-table"], {"proof", "truth_table"}),
    ],
    ids=["unit", "impossible", "network"],  # a set has no order, and tests need one
)
def test_logic_speaks_json_as_documented(arguments, absent):
    record = assert_documented("logic", run("logic", *arguments, "--json").stdout)
    assert set(documented("logic")) - set(record) == absent


@pytest.mark.parametrize(
    ("arguments", "told"),
    [([], {"exercises"}), (["1.1"], {"title", "question", "form"})],
    ids=["list", "question"],
)
def test_exercises_are_told_as_documented(arguments, told):
    record = assert_documented("exercise", run("exercise", *arguments, "--json").stdout)
    assert set(record) - {"command", "linsep", "number"} == told
    assert ("number" in record) == bool(arguments)


@pytest.mark.parametrize("right", [True, False])
def test_a_checked_answer_is_told_as_documented(right, tmp_path):
    answer = tmp_path / "answer.py"
    answer.write_text(f"print(7)\nanswer = 1, 1, 1, {-2 if right else -3}\n")
    done = run("exercise", "1.1", answer, "--json")
    assert done.stderr == "7\n"
    record = assert_documented("exercise", done.stdout)
    assert (record["number"], record["right"], done.exit_code) == ("1.1", right, int(not right))
    assert record["sentence"] in run("exercise", "1.1", answer).stdout


def test_the_demo_speaks_json_as_documented(tmp_path):
    done = run("demo", "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    record = assert_documented("demo", done.stdout)
    assert set(record) == set(documented("demo"))
    assert [one["changes"] for one in record["epochs"]][-1] == 0
    assert sum(one["changes"] for one in record["epochs"]) == record["mistakes"] <= record["bound"]
    assert record["same_bytes"] and record["proof_holds"]
    assert "epoch  changes" in done.stderr


def test_the_lab_says_its_address_as_json():
    pytest.importorskip("uvicorn")
    with subprocess.Popen(
        [*LINSEP, "lab", "--port", "0", "--no-browser", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as started:  # fmt: skip
        record = assert_documented("lab", started.stdout.readline())
        assert record["address"].startswith("http://127.0.0.1:")
        assert record["address"] in started.stderr.readline()
        started.send_signal(signal.SIGINT)
        assert started.wait(30) == 0, started.stderr.read()


def test_commands_of_a_thin_python_speak_it_too():
    done = subprocess.run(
        [sys.executable, "-m", "linsep", "logic", "x1", "--json"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["realizable"]


@pytest.mark.parametrize(
    "name", ["fit", "score", "predict", "check", "inspect", "export", "certify", "compare", "film"]
)
def test_json_is_as_documented(name, people, model, tmp_path):
    if name == "film":
        run("fit", "iris", "--learner", "Perceptron", "--trace", tmp_path / "run.jsonl")
    asked = {
        "fit": ["fit", people],
        "score": ["score", model, people],
        "predict": ["predict", model, people, "--scores", "--proba"],
        "check": ["check", people],
        "inspect": ["inspect", model],
        "export": ["export", model, model.with_suffix(".sql")],
        "certify": ["certify", "xor"],
        "compare": ["compare", "iris"],
        "film": ["film", tmp_path / "run.jsonl", tmp_path / "run.html"],
    }[name]
    done = run(*asked, "--json")
    assert done.exit_code == 0, done.output
    for line in done.stdout.splitlines():
        record = json.loads(line)
        fields = documented(name)
        assert set(record) == set(fields)
        wrong = [key for key, value in record.items() if not fits(value, fields[key])]
        assert not wrong


@pytest.mark.parametrize("arguments", [[], ["xor"], ["mnist", "--folder", "nowhere"]])
def test_data_sets_are_told_as_documented(arguments):
    done = run("data", *arguments, "--json")
    record = assert_documented("data", done.stdout)
    if arguments[-1:] == ["nowhere"]:
        assert record["missing"] == record["files"] != []


def test_a_data_set_of_another_name_is_refused(tmp_path):
    done = run("data", "mnits")
    assert done.exit_code == 2
    assert "'mnits'" in done.output and "mnist" in done.output


def test_a_file_that_is_there_is_told_as_there(tmp_path):
    (tmp_path / "mushrooms").mkdir()
    (tmp_path / "mushrooms" / "mushrooms.gz").touch()
    assert "there    mushrooms.gz" in run("data", "mushrooms", "--folder", tmp_path).stdout


def test_the_command_after_a_data_set_runs_from_the_same_folder(tmp_path, monkeypatch):
    folder = tmp_path / "my data" / "winequality"
    folder.mkdir(parents=True)
    with gzip.open(folder / "winequality-white.csv.gz", "wt") as file:
        file.write("acid;sugar;quality\n7;20;6\n6;2;5\n8;7;6\n7;9;4\n")
    monkeypatch.chdir(tmp_path)
    told = run("data", "winequality", "--folder", "my data").stdout
    command = shlex.split(told.split("Then: ")[1])
    assert command[:2] == ["linsep", "fit"]
    done = run(*command[1:], "-q")
    assert done.exit_code == 0, done.output
    assert "LinearRegression on" in done.output
