"""Every command speaks JSON, with the fields that the documents list."""

import json
import os
import signal
import subprocess
import sys

import pytest
from test_fit_predict_score import LINSEP, documented, fits, run

from linsep.views.cli import Commands


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


def test_the_demo_speaks_json_as_documented(tmp_path):
    done = run("demo", "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    record = assert_documented("demo", done.stdout)
    assert set(record) == set(documented("demo"))
    assert [one["changes"] for one in record["epochs"]][-1] == 0
    assert sum(one["changes"] for one in record["epochs"]) == record["mistakes"] <= record["bound"]
    assert record["same_bytes"] and record["proof_holds"]
    assert "epoch  changes" in done.stderr


def test_warming_speaks_json_as_documented():
    done = run("warm", "FisherDiscriminant", "--json")
    record = assert_documented("warm", done.stdout)
    assert set(record) == set(documented("warm"))
    assert record["fits"] == 8


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
