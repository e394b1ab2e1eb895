"""The commands on real files, as docs/command-line.md shows them; skipped where absent."""

import gzip
import json

import pytest
from click.testing import CliRunner

from linsep.views.cli import group


def linsep(*arguments, data=None):
    done = CliRunner().invoke(group, [str(one) for one in arguments], input=data)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_census_with_texts_and_gaps_goes_all_the_way(shared_data, tmp_path):
    folder = shared_data("adult")
    checked = json.loads(linsep("check", folder / "adult-train.csv.gz", "--json"))
    assert (checked["rows"], checked["features"], checked["skipped"]) == (32561, 105, 0)
    assert {c["name"]: c["missing"] for c in checked["columns"] if c["missing"]} == {
        "1": 1836, "6": 1843, "13": 583,
    }  # fmt: skip
    model = tmp_path / "adult.linsep"
    made = json.loads(linsep("fit", folder / "adult-train.csv.gz", "--out", model, "--json"))
    assert made["train"]["error"] == pytest.approx(0.147, abs=0.002)
    text = gzip.decompress((folder / "adult-test.csv.gz").read_bytes()).decode()
    clean = tmp_path / "test.csv"
    clean.write_text(text.replace("K.\n", "K\n"))
    scored = json.loads(linsep("score", model, clean, "--json"))
    assert scored["rows"] == 16281
    assert scored["error"] == pytest.approx(0.147, abs=0.002)
    assert len(linsep("predict", model, clean).splitlines()) == 16281
    for name in ("adult.sql", "adult.onnx"):
        assert "40 sample rows" in linsep("export", model, tmp_path / name)


def test_zeros_and_ones_of_mnist_are_checked_and_separated(shared_data):
    folder = shared_data("mnist")
    checked = json.loads(linsep("check", folder, "--classes", "0,1", "--json"))
    assert [one["rows"] for one in checked["classes"]] == [5923, 6742]
    made = json.loads(
        linsep("fit", folder, "--classes", "0,1", "--learner", "Perceptron", "--json")
    )
    assert (made["status"], made["train"]["error"]) == ("separated", 0.0)


def test_a9a_is_read_whatever_its_first_feature_is_called(shared_data, tmp_path):
    folder = shared_data("a9a")
    model = tmp_path / "a9a.linsep"
    linsep("fit", folder / "a9a.gz", "--learner", "PassiveAggressive", "-p", "keep=average",
           "-p", "max_iter=5", "--out", model)  # fmt: skip
    refused = CliRunner().invoke(group, ["score", str(model), str(folder / "a9a.t.bz2")])
    assert refused.exit_code != 0
    scored = json.loads(linsep("score", model, folder / "a9a.t.bz2", "--base", "0", "--json"))
    assert scored["error"] < 0.17 < scored["baseline_error"]
